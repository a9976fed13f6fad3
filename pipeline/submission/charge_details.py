"""What a row says of its charge beside what is asked for, for the ledger to keep: components, and columns carried along."""

import functools
import json
import re

from pipeline.ledger.planning import Details
from pipeline.model.columns import COLUMN, COMPONENTS
from pipeline.model.shown_cells import shown
from pipeline.model.table import Table
from pipeline.rules.rows import Rows

#: Of one row: a ledger is kept for years.
_MOST_COLUMNS, _LONGEST = 40, 200
#: Columns that name a person by an identity document: a voucher needs none, and what a ledger keeps stays in it.
_IDENTITY = re.compile(r"身份证|证件|护照|passport|\bid[ _-]?(card|no|number)\b|identity", re.IGNORECASE)


def charge_details(table: Table, rows: Rows) -> Details:
    """By a charge's position in `rows`: its components and its row's own columns, each as a JSON object.

    Components are whole minor units and add up to the charge's amount, or there are none.
    """
    frame, cells = table.frame, table.cells
    parts = {
        name: frame[name].tolist()
        for name in {part for each in COMPONENTS.values() for part in each}
        if name in frame and frame[name].any()
    }
    own = [str(name) for name in cells if name not in COLUMN and not _IDENTITY.search(str(name))][
        :_MOST_COLUMNS
    ]
    carried = [cells[name].tolist() for name in own]
    headings = [_text(name) for name in own]
    lines, charges, amounts = rows.line.tolist(), rows.charge.tolist(), rows.amount.tolist()

    @functools.lru_cache(maxsize=10_000)
    def as_object(*values: str) -> str:
        said = {name: text for name, text in zip(headings, values, strict=True) if text}
        return json.dumps(said, ensure_ascii=False)

    def details(row: int) -> tuple[str, str]:
        line = lines[row]
        names = COMPONENTS.get(charges[row], ()) if parts else ()
        given = {name: parts[name][line] for name in names if name in parts and parts[name][line]}
        values = (_text(column[line]) for column in carried)
        return _adding_up(given, amounts[row]) if given else "{}", as_object(*values)

    return details


def _adding_up(parts: dict[str, int], amount: int) -> str:
    """The components as JSON, if they are what the amount is made of.

    Of a bill of both, a fare and the refund of the rest, the change fee is the fare's (rules/wide_bills.py).
    """
    if sum(parts.values()) != amount:
        parts = {name: part for name, part in parts.items() if name != "change_fee"}
    return json.dumps(parts) if sum(parts.values()) == amount else "{}"


def _text(value: object) -> str:
    """A cell as a text that a ledger takes."""
    if value is None or value == "" or value != value:  # noqa: PLR0124 - what is no number
        return ""
    text = value if isinstance(value, str) else shown(value)
    text = text.strip().encode("utf-8", "replace").decode()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
