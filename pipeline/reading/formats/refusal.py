"""What ends the reading of one file."""


class Refusal(Exception):
    """A file that is not read: a code that the parent has words and a cure for, and what was seen."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code, self.detail = code, detail
