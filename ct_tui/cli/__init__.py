"""The command line: one verb a file over the same core as the workstation, for scripts, timers and tests.

Importing this package costs click and nothing more; every verb fetches what it needs when it runs.
"""
