"""The report: what became of every row and request, and how a comparison came out, for programs (interface.md, Report)."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, repeat, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.file_writing import place_over, scratch_folder
from pipeline.model.encoded_column import EncodedColumn, alike
from pipeline.model.errors import Stop
from pipeline.model.message import system_error
from pipeline.model.money import MINOR, money_text
from pipeline.model.quoting import bounded
from pipeline.model.result import RequestResults, RunResult
from pipeline.model.result_values import ChargeResult, ReasonText, RequestResult, RowResult
from pipeline.model.table import Money, Texts
from pipeline.settlement.compare import KINDS, Compared
from pipeline.settlement.reconciliation_result import Reconciliation
from pipeline.splitting import Requests

VERSION = 1
_BLOCK = 1_000  # lines that are made, and written, at once; for many more memory is fetched anew each time
#: What is said of a request that was not sent, and of a row of one charge: as `_request` and `_row` say it, with a NUL, which JSON has
#: none of, for each thing that is one line's own.
_REQUEST = (
    b'{"request":\0,"attempt":0,"voucher":%b,"status":"ready","number":null,"trace_id":null,"buyer":\0,"market":%b,'
    b'"amount":"\0.\0","rows":[\0]}'
)
_ROW = (
    b'{"index":\0,"file":%b,"sheet":%b,"row":\0,"ticket_no":\0,"charge":%b,%b,"reasons":[],'
    b'"charges":[{"charge":%b,"product":%b,%b}]}'
)
_SAID = b'"voucher":%b,"amount":"\0.\0","status":%b,"number":\0,"request":\0'
_HUNDREDTHS = np.array([b"%02d" % minor for minor in range(MINOR)], dtype=object)


def report(result: RunResult, exit_code: int) -> dict[str, Any]:
    """The report's content: plain values, and requests and rows as the JSON of one after the other."""
    return {
        "version": VERSION,
        "command": result.command,
        "as_of": result.as_of,
        "exit_code": exit_code,
        "ledger": result.ledger,
        "totals": {"rows": len(result.rows), **result.totals},
        "sheets": [dataclasses.asdict(sheet) for sheet in result.table.sheets],
        "requests": _requests(result),
        "rows": _rows(result),
    }


def _request(asked: RequestResult) -> dict[str, Any]:
    request = asked.request
    return {
        "request": request.request_id,
        "attempt": asked.attempt,
        "voucher": request.voucher,
        "status": asked.status,
        "number": asked.number or None,
        "trace_id": asked.trace_id or None,
        "buyer": request.header.header_name,
        "market": request.market,
        "amount": money_text(request.amount),
        "rows": list(asked.rows),
    }


def _requests(result: RunResult) -> Iterator[bytes]:
    """What became of each request. Where none was sent, as in a check, they are made by column."""
    made, asked = result.requests, result.asked
    ready = isinstance(made, RequestResults) and {*made.statuses} == {"ready"}
    if not (ready and isinstance(asked, Requests)):
        return (_text(_request(one)) for one in made)
    kinds = [EncodedColumn.of(asked.texts(name)) for name in ("voucher", "market")]
    forms = _Forms(kinds, lambda voucher, market: _REQUEST % (voucher, market))
    buyers, amounts = asked.texts("header_name"), asked.amounts
    rows, starts = result.columns.charges.line[asked.charges].tolist(), asked.starts.tolist()

    def lines(of: slice) -> list[bytes]:
        each = [sorted({*rows[first:end]}) for first, end in pairwise(starts[of.start : of.stop + 1])]
        numbers = _text(each)[2:-2].split(b"],[")
        return forms.filled(
            of, _each([*asked.ids[of]]), _each(buyers[of].tolist()), *_money(amounts[of]), numbers
        )

    return _by_column(len(made), lines)


def _rows(result: RunResult) -> Iterator[bytes]:
    """What became of each row. Nearly all are one charge that nothing is to be said about: those are made by column."""
    columns, charges = result.columns, result.columns.charges
    if not columns.one_each:
        return (_text(_row(row) | _repeats(result, row.index)) for row in result.rows)
    kinds = (columns.file, columns.sheet, charges.charge, charges.product, charges.voucher)
    forms = _Forms([*map(EncodedColumn.of, kinds), charges.ended], _form_of_rows)
    number = EncodedColumn.of(charges.number)
    numbers, requests = _or_null(number.words), _or_null([*charges.request_ids, ""])
    unlike = [np.flatnonzero((charges.charge == "") | (charges.amount == 0)), *columns.having.values()]
    others = np.unique(np.concatenate(unlike))

    def lines(of: slice) -> list[bytes]:
        places = _each([*range(of.start, of.stop)]), _each(columns.row[of].tolist())
        said = (
            *_money(charges.amount[of]),
            numbers[number.codes[of]].tolist(),
            requests[charges.request[of]].tolist(),
        )
        found = forms.filled(of, *places, _each(columns.ticket_no[of].tolist()), *said, *said)
        for at in others[slice(*np.searchsorted(others, [of.start, of.stop]))].tolist():
            found[at - of.start] = _text(_row(result.rows[at]) | _repeats(result, at))
        return found

    return _by_column(columns.size, lines)


def _form_of_rows(*texts: bytes) -> bytes:
    """What a row of one charge has in common with many."""
    file, sheet, charge, product, voucher, status = texts
    said = _SAID % (voucher, status)
    return _ROW % (file, sheet, charge, said, charge, product, said)


class _Forms:
    """What lines have in common, by the columns that they have it in."""

    def __init__(self, columns: Sequence[EncodedColumn], form: Callable[..., bytes]) -> None:
        same = alike(columns)
        common = zip(*(column.spread(same.first).texts.tolist() for column in columns), strict=True)
        forms = [form(*map(_text, texts)).split(b"\0") for texts in common]
        self._parts, self._form = np.array(forms, dtype=object).T, same.group

    def filled(self, of: slice, *own: Iterable[bytes]) -> list[bytes]:
        """Some of the lines, with what each has for itself."""
        form = self._form[of]
        common = [part[form].tolist() for part in self._parts]
        each = chain.from_iterable(zip_longest(common, own, fillvalue=repeat(b"", len(form))))
        return [*map(b"".join, zip(*each, strict=True))]


def _by_column(size: int, lines: Callable[[slice], list[bytes]]) -> Iterator[bytes]:
    """So many lines, of which many are made at once."""
    blocks = (slice(begin, min(begin + _BLOCK, size)) for begin in range(0, size, _BLOCK))
    return chain.from_iterable(map(lines, blocks))


def _each(values: list[Any]) -> list[bytes]:
    """Texts or whole numbers, each as JSON: they are made at once, a line each, for no text has an end of line in JSON."""
    return _text(values, orjson.OPT_INDENT_2)[4:-2].split(b",\n  ")


def _money(amounts: Money) -> tuple[list[bytes], list[bytes]]:
    """Amounts in main units, and the hundredths of each."""
    return _each((amounts // MINOR).tolist()), _HUNDREDTHS[amounts % MINOR].tolist()


def _or_null(texts: Iterable[str]) -> Texts:
    """Texts, each as JSON; null for a blank one."""
    return np.array([b"null" if text == b'""' else text for text in _each([*texts])], dtype=object)


def _row(row: RowResult) -> dict[str, Any]:
    return {
        "index": row.index,
        "file": row.file,
        "sheet": row.sheet,
        "row": row.row,
        "ticket_no": row.ticket_no,
        **_said(row.shown, row.amount, row.status),
        "reasons": [_reason(reason) for reason in row.reasons],
        "charges": [
            {
                "charge": charge.charge,
                "product": charge.product,
                **_said(charge, charge.amount, charge.status),
            }
            for charge in row.charges
        ],
    }


def _repeats(result: RunResult, index: int) -> dict[str, int]:
    """The row that a row repeats, where it repeats one."""
    return {"repeats": result.repeats[index]} if index in result.repeats else {}


def _said(charge: ChargeResult, amount: int | None, status: str) -> dict[str, Any]:
    """What a row and each of its charges say alike; of several, a row has the total and the worst status."""
    return {
        "charge": charge.charge,
        "voucher": charge.voucher,
        "amount": None if amount is None else money_text(amount),
        "status": status,
        "number": charge.number or None,
        "request": charge.request_id or None,
    }


def _reason(reason: ReasonText) -> dict[str, str]:
    return {"code": reason.code, "column": reason.column, "message": reason.message}


def reconciled_report(done: Reconciliation, exit_code: int) -> dict[str, Any]:
    """The report's content, as plain values."""
    decided = done.decided
    return {
        **report(done.result, exit_code),
        "period": None
        if done.period is None
        else {"from": str(done.period.first), "to": str(done.period.last), "of": "issued"},
        "comparison": {kind: len(done.of(kind)) for kind in KINDS},
        "charges": [_entry(entry) for entry in done.entries],
        "settled": [
            {
                "request": one.attempt.request_id,
                "attempt": one.attempt.attempt,
                "status": one.state,
                "number": one.number or None,
                "settled_by": one.settled_by,
                "evidence": str(one.evidence),
            }
            for one in decided.settled
        ],
        "problems": [
            *(
                {"code": t.code, "place": str(t.place), "message": bounded(str(t.message))}
                for t in decided.troubles
            ),
            *(
                {"code": "unreadable", "place": str(unread.path), "message": bounded(str(unread.problem))}
                for unread in done.unread
            ),
        ],
        "warnings": [str(said) for said in (*decided.warnings, *done.notes)],
        "files": [
            {
                "place": [*one.file.place],
                "status": one.status,
                "sha256": one.file.sha256,
                "archived": one.file.archived or None,
            }
            for one in done.files
        ],
        "unknown": [
            {
                "request": doubt.request_id,
                "attempt": doubt.attempt,
                "voucher": doubt.voucher,
                "amount": money_text(doubt.amount),
            }
            for doubt in done.result.doubts
        ],
    }


def _entry(entry: Compared) -> dict[str, Any]:
    line = entry.line
    return {
        "kind": entry.kind,
        "ticket_no": entry.ticket_no,
        "charge": entry.charge,
        "product": entry.product,
        "voucher": entry.voucher or (line.voucher if line else ""),
        "amount": None if entry.amount is None else money_text(entry.amount),
        "number": entry.number or None,
        "status": entry.status or None,
        "request": entry.request_id or None,
        "last_day": str(entry.last_day) if entry.last_day else None,
        "differing": list(entry.differing),
        "statement": None
        if line is None
        else {
            "voucher": line.voucher,
            "number": line.number,
            "amount": None if line.amount is None else money_text(line.amount),
            "issued_at": line.issued_text or None,
            "place": str(line.place),
        },
    }


def write_report(said: dict[str, Any], path: Path) -> None:
    """Write a report in the place of an earlier one, whole or not at all: what is one of many, such as a row, on a line of its own.

    Raises Stop where it can't be written; an earlier report is still there then.
    """
    target = path.resolve()  # where the path is a link, the link stays
    try:
        with scratch_folder(target.parent) as folder:
            finished = folder / "report.json"
            with finished.open("wb") as file:
                file.writelines(_json(said))
            place_over(finished, target)
    except OSError as problem:
        raise Stop(
            "{file}: the report can't be written ({problem}); nothing is lost, the ledger has it"
            " all: make room or choose another place, and run the same command again",
            file=str(path),
            problem=system_error(problem),
        ) from problem


def _json(content: dict[str, Any]) -> Iterator[bytes]:
    """The report's text, in parts: a million rows are never in memory at once."""
    for at, (name, value) in enumerate(content.items()):
        yield b"%s\n%s: " % (b"," if at else b"{", _text(name))
        if isinstance(value, list | Iterator):
            yield b"["
            lines, apart = value if isinstance(value, Iterator) else map(_text, value), b"\n  "
            while block := list(islice(lines, _BLOCK)):
                yield apart + b",\n  ".join(block)
                apart = b",\n  "
            yield b"\n]"
        else:
            yield _text(value)
    yield b"\n}\n"


def _text(value: Any, option: int = 0) -> bytes:
    try:
        return orjson.dumps(value, option=option)
    except orjson.JSONEncodeError:  # half a character, which a file's name may hold
        return orjson.dumps(_whole(value), option=option)


def _whole(value: Any) -> Any:
    """The same with "?" for every half of a character: UTF-8 has no way to write one."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value
