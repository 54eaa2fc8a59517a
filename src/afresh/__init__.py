"""afresh: a coding agent that starts every step afresh and loses nothing."""

__version__ = "0.1.0"
