"""What the template says beside the vocabulary."""

import functools
from dataclasses import dataclass

from pipeline.messages.translate import all_translated
from pipeline.model.columns import Kind, Lang
from pipeline.model.message import N_


@dataclass(frozen=True)
class Words:
    """What the template says beside the vocabulary, in one language."""

    sheet: str
    title: str
    steps_heading: str
    steps: tuple[str, ...]
    after_heading: str
    after: tuple[str, ...]
    statuses_heading: tuple[str, str]
    columns_heading: str
    table_heading: tuple[str, str, str, str]
    permitted: dict[Kind, str]
    check_title: str
    choice_check: str
    buyer_check: str
    checks: dict[Kind, str]
    page: str


_ENGLISH = Words(
    sheet=N_("Instructions"),
    title=N_("How to fill in this workbook"),
    steps_heading=N_("What to fill in"),
    steps=(
        N_(
            "{tickets}: one row is one charge on one ticket. A ticket may have several rows: its fare, a seat, a bag."
        ),
        N_(
            "{buyers}: each buyer once. A ticket row names its buyer in the column {buyer}; with a single buyer it may stay blank."
        ),
        N_(
            "Money: the total in {amount}, or its components (lighter headings), or both; both must add up. Two decimals at most."
        ),
        N_(
            "Ticket numbers, tax numbers and phone numbers are kept as text, so that no digit is lost. Paste values only."
        ),
        N_(
            "Columns may stand in any order. Columns of your own may be added on the right; they come back untouched."
        ),
        N_(
            "Point at a heading to read what belongs below it. The table at the end of this sheet has all of them."
        ),
    ),
    after_heading=N_("What happens then"),
    after=(
        N_(
            "“voucher check” judges every row and sends nothing. “voucher issue” sends to the carrier what is ready,"
            " and writes a result workbook beside this one. Every row ends in exactly one status:"
        ),
    ),
    statuses_heading=(N_("Status"), N_("Meaning, and what to do")),
    columns_heading=N_("The columns"),
    table_heading=(N_("Heading"), N_("Sheet"), N_("Meaning"), N_("Permitted values")),
    permitted={
        Kind.TEXT: N_("text"),
        Kind.TICKET: N_("13 digits, as text"),
        Kind.MONEY: N_("number, two decimals at most"),
        Kind.DATE: N_("date"),
    },
    check_title=N_("Please check this cell"),
    choice_check=N_("Choose one of: {choices}."),
    buyer_check=N_(
        "This name is not in the column {buyer} of the sheet {buyers}. Keep it only if the buyers are in a file of their own."
    ),
    checks={
        Kind.TICKET: N_(
            "A ticket number has 13 digits; a hyphen after the third is allowed. Keep leading zeros."
        ),
        Kind.MONEY: N_("Enter a number such as 1234.50: not negative, no currency sign, no words."),
        Kind.DATE: N_("Enter a date such as 2026-10-31, between 2000 and 2099."),
    },
    page=N_("Page &P of &N"),
)


@functools.cache
def words_in(lang: Lang) -> Words:
    """What the template says in a language."""
    return all_translated(_ENGLISH, lang)
