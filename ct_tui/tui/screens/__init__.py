"""What each view looks like and does, one a file; `ct_tui.tui.views` says which there are and opens them."""
