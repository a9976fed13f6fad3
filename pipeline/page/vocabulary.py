"""The vocabulary of tickets, buyers and statuses in a visitor's language, as templates ask for it."""

from pipeline.messages.reasons import REASON
from pipeline.messages.translate import choice_words, heading, status_word
from pipeline.model.columns import COLUMN, Kind, Lang
from pipeline.model.message import Message, message
from pipeline.model.status import STATUS


class Words:
    """The vocabulary in a language, as templates ask for it."""

    def __init__(self, lang: Lang) -> None:
        self._lang: Lang = lang

    def heading(self, column: str) -> str:
        """A column's heading."""
        return heading(column, self._lang)

    def status(self, status: str) -> str:
        """A status."""
        return status_word(status, self._lang)

    def choices(self, column: str) -> dict[str, str]:
        """The words of a column's choices, by their names."""
        return choice_words(COLUMN[column], self._lang) if column in COLUMN else {}

    def choice(self, column: str, value: str) -> str:
        """A choice's word; any other value as it is."""
        return self.choices(column).get(value, value)

    def meaning(self, status: str) -> Message:
        """What a status means, beside its rows."""
        return message(STATUS[status].meaning)

    def reason(self, code: str) -> Message:
        """In short what is wrong where a reason applies."""
        return message(REASON[code].short) if code in REASON else Message(code)

    def kind(self, column: str) -> str:
        """What a column holds: text, ticket, money, date or choice."""
        return COLUMN[column].kind.value if column in COLUMN else Kind.TEXT.value
