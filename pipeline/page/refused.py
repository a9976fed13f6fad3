"""What a handler raises where it does not give what was asked for; the visitor sees it as a page, in their language."""

from pipeline.model.message import Message


class Refused(Exception):
    """An HTTP status, and in words why, and what puts it right."""

    def __init__(self, status: int, said: Message) -> None:
        super().__init__(str(said))
        self.status = status
        self.said = said
