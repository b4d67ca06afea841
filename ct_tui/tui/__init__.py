"""The workstation: what a curator sees and does in a terminal, on top of the same core as the command line."""
