"""Red lines of a statement: which lines reverse a voucher, and which one; carriers call it 红字, 红冲 or 作废."""

import re
from typing import Any

from pipeline.model.evidence import Reversal
from pipeline.model.message import message
from pipeline.reading import cells
from pipeline.reading.cell_words import folded
from pipeline.reading.character_width import one_width
from pipeline.reading.reversal_words import said_of_reversal
from pipeline.reading.statement_cells import amount_of, charge_of, number_of, number_text, voucher_of
from pipeline.reading.statement_lines import NUMBERS, BadCell, Line
from pipeline.reading.statement_words import NO_WORDS, RED_COLUMNS

#: What is told of a cell that may say that its line is red.
_UNCLEAR = {
    "partly": message(
        "says that a part of a voucher was reversed, and not how much; nothing was changed. Ask the carrier; if all of it"
        " was reversed: voucher ledger reverse"
    ),
    "unclear": message(
        "says something about a reversal, and not that one was made; nothing was changed. Ask the carrier; if the voucher was reversed:"
        " voucher ledger reverse; if not, correct the cell (正常). Leave out only a line that is no voucher"
    ),
    "unknown": message(
        "is not a status that is known; whether the voucher is good can't be told. Ask the carrier; if it is good, correct the cell"
        " (正常); if it was reversed: voucher ledger reverse"
    ),
}


def red_column(line: Line) -> str:
    """The column that says that a line reverses another one; "" where none does."""
    said = {name: said_of_reversal(name, line.get(name)) for name in RED_COLUMNS if not line.blank(name)}
    for name, what in said.items():
        if what in _UNCLEAR:
            raise BadCell(name, _UNCLEAR[what])
    if red := [name for name, what in said.items() if what == "red"]:
        return red[0]
    return "amount" if _below_zero(line.get("amount")) is not None else ""


def reversal(line: Line, ticket: str, red: str) -> Reversal:
    """A red line. Raises BadCell where it does not name what it reverses; `red` is the column that says that it is one."""
    if line.blank("original_number"):
        raise BadCell(
            "original_number" if "original_number" in line.page.layout.columns else red,
            message(
                "is of a line that reverses a voucher (red) and does not name it; find out which, then: voucher ledger reverse"
            ),
        )
    original = number_text("original_number", line.get("original_number"))
    number = "" if all(map(line.blank, NUMBERS)) else number_of(line)[1]
    try:
        voucher = voucher_of(line, "")
    except BadCell:
        voucher = ""
    charge, product = ("", "") if line.blank("charge") else charge_of(line, voucher)
    amount = line.get("amount")
    below = _below_zero(amount)
    minor = amount_of(line, amount if below is None else below)
    return Reversal(original, number, voucher, ticket, charge, product, minor, line.place)


def check_original(line: Line, number: str) -> None:
    """A line that names another voucher reverses it, though nothing else may say so."""
    original = re.sub(r"\s", "", cells.text(line.get("original_number")))
    said = re.sub(r"\W", "", folded(original))
    if said and said not in NO_WORDS and original != number:
        raise BadCell(
            "original_number",
            message(
                "names another voucher, as a line that reverses it (red) does, and nothing else in the line says that; nothing"
                " was changed. Ask the carrier; if that voucher was reversed: voucher ledger reverse; if not, clear the cell"
            ),
        )


def _below_zero(cell: Any) -> Any:
    """An amount without the sign or the brackets that say that it is below zero; None where none do."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return -cell if cell < 0 else None
    text = one_width(cell).strip() if isinstance(cell, str) else ""
    found = re.fullmatch(r"-\s*(.+)|([¥￥]?)\s*-\s*(.+)|\((.+)\)", text)
    return "".join(filter(None, found.groups())) if found else None
