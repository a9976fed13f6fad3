r"""What the Failures sheet remembers of a row's buyer, so that a corrected buyer is told from an old one's cells.

Failures is written with the buyer columns filled in. When somebody then names another buyer, what was filled in for the old one must not
pass for the row's own. So one column of ours says whose buyers the row's names mean, whom its columns were filled in for, and what was put
into each. The sheet Buyers says the same of each of its rows, so that one that was corrected is told from one that a buyers file has newer.
A person can read it, and nobody has to.

>>> source = Source("may.xlsx", "ACME", ("business", "ACME Ltd", "", "", "a@example.com"))
>>> Source.read(source.text) == source, Source.read("may.xlsx\nACME\nbusiness")
(True, Source(book='may.xlsx', buyer='ACME', filled=('business', '', '', '', '')))
"""

from dataclasses import dataclass

from pipeline.model.columns import HEADER_FIELDS

#: Between an earlier result and the workbook behind it, whose rows or buyers it has.
BEHIND = ": "
#: Where the buyers of a file kept apart come from, as the sheet Buyers says it.
KEPT_APART = "--buyers"
#: In place of the file of a buyer who was entered on the page: no file is called so.
ENTERED = "\0"
_NOTHING = ("",) * len(HEADER_FIELDS)


@dataclass(frozen=True)
class Source:
    """`book` names the workbook whose buyers are meant; `filled` are the cells of HEADER_FIELDS, "" where left alone."""

    book: str
    buyer: str = ""
    filled: tuple[str, ...] = _NOTHING

    @property
    def text(self) -> str:
        """The cell of the result workbook."""
        return "\n".join([self.book, self.buyer, *self.filled]) if any(self.filled) else self.book

    @classmethod
    def read(cls, text: str) -> "Source":
        """The cell read again, be it without the blank lines at its end."""
        book, buyer, *filled = [*text.split("\n"), "", *_NOTHING][: 2 + len(HEADER_FIELDS)]
        return cls(book, buyer, tuple(filled))


def flat(text: str) -> str:
    r"""A cell's text as it is remembered and compared: on one line.

    >>> flat(" a \n b ")
    'a b'
    """
    return " ".join(text.split())
