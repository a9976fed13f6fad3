"""The refusal that the readers of single cells share."""


class Unreadable(ValueError):
    """A cell that can't be read; its text is the code of a slip (messages/likely_mistakes.py) or ""."""
