"""Dialogs: what is asked before anything is signed or written, and what is shown in full for a moment."""
