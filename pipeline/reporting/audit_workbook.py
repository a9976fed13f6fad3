"""The ledger's export for auditors: every request with its evidence, a sheet a kind, written row by row."""

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.messages.translate import heading_in, rendered, status_word
from pipeline.model.columns import COLUMN, Lang
from pipeline.model.money import MINOR
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.words_audit import heading, tell
from pipeline.reporting.words_history import attempt_reason, judged_reasons, word
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style

#: The sheets in their order, and what each shows.
SHEETS = {
    "Ledger": "",
    "Requests": "requests",
    "Charges": "charges",
    "Issued elsewhere": "elsewhere",
    "Reversals": "reversals",
    "Withdrawals": "withdrawals",
    "Judgements": "judgements",
    "Runs": "runs",
    "People": "people",
    "Files": "files",
    "Itinerary files": "received_files",
    "Gaps and moves": "gaps_and_moves",
}
#: The columns of each.
SHEET_COLUMNS = {
    "requests": (
        "request", "attempt", "run", "voucher", "market", "header_type", "header_name", "tax_no", "phone", "email", "remarks",
        "amount", "charges", "state", "number", "reason", "reason_code", "detail", "planned_at", "sending_at", "answered_at",
        "ended_at", "http_status", "trace_id", "entry", "settled_as", "settled_by", "evidence", "settled_at",
        "epoch_id",
    ),
    "charges": (
        "ticket_no", "charge", "product", "voucher", "amount", "state", "number", "held", "wire", "request", "attempt", "run",
        "file", "sheet", "row", "passenger_name", "components", "carried",
    ),
    "elsewhere": (
        "ticket_no", "charge", "product", "voucher", "number", "amount", "buyer", "issued_text", "evidence", "found_by",
        "found_at", "run", "entry", "held",
    ),
    "reversals": (
        "entry", "voucher", "number", "red_number", "request", "attempt", "reversed_by", "evidence", "reversed_at", "run",
        "in_force",
    ),
    "withdrawals": (
        "entry", "request", "attempt", "settled_as", "number", "evidence", "withdrawn_by", "why", "withdrawn_at",
    ),
    "judgements": (
        "ticket_no", "charge", "product", "voucher", "amount", "status", "reason", "reason_code", "judged_at", "run", "file",
        "sheet", "row",
    ),
    "runs": ("run", "command", "version", "as_of", "files", "started_at", "ended_at", "exit_code"),
    "people": ("run", "role", "person", "plan", "noted_at"),
    "files": ("name", "kind", "sha256", "handled_at", "run", "result", "unfinished"),
    "received_files": (
        "received_at", "status", "number", "ticket_no", "amount", "seal", "archived", "place", "why", "sha256", "request", "attempt",
        "run",
    ),
    "gaps_and_moves": (
        "noted_at", "what", "why", "noted_by", "since", "old", "new", "closed_at", "closed_by", "evidence",
    ),
}  # fmt: skip
_COUNTS = ("entry", "attempt", "run", "charges", "http_status", "exit_code")
_WIDE = {
    "reason": 54, "detail": 40, "evidence": 40, "files": 40, "why": 40, "header_name": 28, "buyer": 28, "remarks": 24,
    "old": 34, "new": 34, "file": 24, "name": 28, "passenger_name": 28, "components": 24, "carried": 30, "value": 60, "fact": 28,
    "place": 40,
}  # fmt: skip
_LONG = ("request", "number", "trace_id", "sha256", "result", "epoch_id", "red_number", "plan", "archived")


@dataclass(frozen=True)
class Audited:
    """What is exported: facts about the ledger, and of each sheet how many rows, which are read as they are written; and whether a sandbox
    issued them.
    """

    facts: Sequence[tuple[str, str]]
    count: Callable[[str], int]
    rows: Callable[[str], Iterable[Mapping[str, Any]]]
    time_zone: str
    sandbox: bool


def write_audit(audited: Audited, path: Path, lang: Lang) -> Path:
    """Write the export; give the path that it has, which is another where `path` was taken.

    Raises Stop where it can't be written; nothing is left behind then.
    """

    def fill(book: Book) -> None:
        facts = [Field(name, heading(name, lang), Style.WRAP, _WIDE[name]) for name in ("fact", "value")]
        told = list(_facts(audited, lang))
        book.add_rows("Ledger", facts, len(told), by_column(told))
        for sheet, name in list(SHEETS.items())[1:]:
            fields = [_field(column, lang, audited.time_zone) for column in SHEET_COLUMNS[name]]
            book.add_rows(sheet, fields, audited.count(name), by_column(_values(audited, name, lang)))

    return write_book(path, Cover(tell("title", lang), lang, audited.sandbox), SHEETS, fill)


def _facts(audited: Audited, lang: Lang) -> Iterator[tuple[str, str]]:
    for name, value in audited.facts:
        yield tell(name, lang), value
    yield tell("times", lang), audited.time_zone
    yield tell("left_out", lang), tell("answers", lang)


def _field(name: str, lang: Lang, time_zone: str) -> Field:
    said = heading(name, lang)
    if name.endswith("_at") or name == "since":
        return Field(name, heading_in(said, time_zone, lang), Style.DATE, 21)
    if name == "amount":
        return Field(name, said, Style.MONEY, 14)
    if name == "row":
        return Field(name, said, Style.LINE, 8)
    if name in _COUNTS:
        return Field(name, said, Style.LINE if name != "charges" else Style.COUNT, 9)
    if name in _WIDE:
        return Field(name, said, Style.WRAP, _WIDE[name])
    usual = COLUMN[name].width if name in COLUMN else 16
    return Field(name, said, Style.IDENTIFIER, 24 if name in _LONG else max(usual, 16))


def _values(audited: Audited, sheet: str, lang: Lang) -> Iterator[list[Any]]:
    """The rows of a sheet, as cells."""
    zone, columns = ZoneInfo(audited.time_zone), SHEET_COLUMNS[sheet]
    for row in audited.rows(sheet):
        yield [_cell(name, row, zone, lang) for name in columns]


def _cell(name: str, row: Mapping[str, Any], zone: ZoneInfo, lang: Lang) -> Any:
    """One value as its cell shows it; None and "" make none."""
    if name == "reason":
        return _reason(row, lang)
    value = row[name]
    if value is None or value == "":
        return None
    if name.endswith("_at") or name == "since":
        return _local(value, zone)
    show = _SHOWN.get(name)
    return show(value, lang) if show else value


def _reason(row: Mapping[str, Any], lang: Lang) -> str:
    """Why, in words: of a row's codes, or of an attempt's one with its detail."""
    if "detail" in row:
        return attempt_reason(row["reason_code"], row["detail"], lang)
    return judged_reasons(row["reason_code"].split(), lang)


def _settled(state: str, lang: Lang) -> str:
    return tell("not_issued", lang) if state == "not_sent" else word(state, lang)


def _yes(value: int, lang: Lang) -> str:
    return tell("yes" if value else "no", lang)


def _names(text: str, _lang: Lang) -> str:
    """The files of a run, which are kept as a JSON list."""
    try:
        return "\n".join(json.loads(text))
    except (ValueError, TypeError):
        return text


def _components(text: str, lang: Lang) -> str:
    """What a charge's amount is made of, a line each."""
    return "\n".join(
        f"{heading(name, lang)}: {minor / MINOR:,.2f}" for name, minor in json.loads(text).items()
    )


def _carried(text: str, _lang: Lang) -> str:
    """The columns carried along with a charge, a line each."""
    return "\n".join(f"{name}: {value}" for name, value in json.loads(text).items())


def _local(at: str, zone: ZoneInfo) -> datetime.datetime | str:
    """A time of the ledger's as a time of day in a zone; what is none stays as it is."""
    try:
        moment = datetime.datetime.fromisoformat(at)
    except ValueError:
        return at
    return moment.astimezone(zone).replace(tzinfo=None) if moment.tzinfo else at


#: How the values of a column are shown, where that is not as they are.
_SHOWN: dict[str, Callable[[Any, Lang], Any]] = {
    "amount": lambda amount, _: amount / MINOR,
    **dict.fromkeys(("detail", "evidence", "why"), rendered),
    "files": _names,
    "components": _components,
    "carried": _carried,
    "held": _yes,
    "unfinished": _yes,
    "in_force": _yes,
    "what": tell,
    "kind": tell,
    "role": tell,
    "settled_as": _settled,
    "seal": status_word,
    **dict.fromkeys(("voucher", "market", "header_type", "charge", "product", "state", "status"), word),
}
