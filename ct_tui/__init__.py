"""A terminal workstation for the people who curate a Curated Thoughts brain."""

__version__ = "0.1.0"
