"""The report: what became of every row and request, and how a comparison came out, for programs (interface.md, Report)."""

import dataclasses
import functools
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.file_writing import place_over, scratch_folder
from pipeline.model.errors import Stop
from pipeline.model.message import system_error
from pipeline.model.money import MINOR, money_text
from pipeline.model.quoting import bounded
from pipeline.model.result import (
    ChargeResult,
    ReasonText,
    RequestResult,
    RequestResults,
    RowResult,
    RunResult,
)
from pipeline.settlement.compare import KINDS, Compared
from pipeline.settlement.reconciliation_result import Reconciliation
from pipeline.splitting import Requests

VERSION = 1
_BLOCK = 1_000  # lines that are written at once
#: What is said of a request that was not sent, and of a row of one charge: as `_request` and `_row` say it.
_REQUEST = (
    b'{"request":"%b","attempt":0,"voucher":%b,"status":%b,"number":null,"trace_id":null,"buyer":%b,"market":%b,'
    b'"amount":"%d.%02d","rows":%b}'
)
_ROW = (
    b'{"index":%%d,"file":%b,"sheet":%b,"row":%%d,"ticket_no":%%b,"charge":%b,%b,"reasons":[],'
    b'"charges":[{"charge":%b,"product":%b,%b}]}'
)
_SAID = b'"voucher":%b,"amount":%%b,"status":%b,"number":%%b,"request":%%b'


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
    """What became of each request. Those that were not sent, as all of a check, are made by column."""
    made, asked = result.requests, result.asked
    if not (isinstance(made, RequestResults) and isinstance(asked, Requests)):
        yield from (_text(_request(one)) for one in made)
        return
    rows = result.columns.charges.line[asked.charges].tolist()
    said = functools.cache(_text)
    each = zip(
        made.statuses, asked.ids, asked.kinds(), asked.buyers(), pairwise(asked.starts.tolist()), strict=True
    )
    for at, (status, request_id, (voucher, market, amount), buyer, (start, end)) in enumerate(each):
        if status != "ready":
            yield _text(_request(made[at]))
            continue
        what = said(buyer), said(market), *divmod(amount, MINOR), _text(sorted({*rows[start:end]}))
        yield _REQUEST % (request_id.encode(), said(voucher), said(status), *what)


def _rows(result: RunResult) -> Iterator[bytes]:
    """What became of each row. Nearly all are one charge that nothing is to be said about: those are made by column."""
    columns, charges = result.columns, result.columns.charges
    by_itself = set(np.concatenate([[], *columns.having.values()]).astype(np.int64).tolist())
    if not columns.one_each:
        by_itself = set(range(columns.size))
    ids = [*(b'"%b"' % one.encode() if one else b"null" for one in charges.request_ids), b"null"]
    line = functools.cache(_line)
    of_rows = (columns.file, columns.sheet, columns.row, columns.ticket_no)
    of_charges = (
        charges.charge, charges.product, charges.voucher, charges.status, charges.amount, charges.number, charges.request,
    )  # fmt: skip
    where, what = (zip(*(one.tolist() for one in of), strict=True) for of in (of_rows, of_charges))
    for at, (place, of_charge) in enumerate(zip(where, what, strict=columns.one_each)):
        file, sheet, row, ticket_no = place
        charge, product, voucher, status, amount, number, request = of_charge
        if at in by_itself or not charge:
            yield _text(_row(result.rows[at]) | _repeats(result, at))
            continue
        money = b'"%d.%02d"' % divmod(amount, MINOR) if amount else b"null"
        said = money, _text(number) if number else b"null", ids[request]
        yield line(file, sheet, (charge, product), voucher, status) % (
            at,
            row,
            _text(ticket_no),
            *said,
            *said,
        )


def _line(file: str, sheet: str, what: tuple[str, str], voucher: str, status: str) -> bytes:
    """What a row of one charge has in common with many, to be filled in with what is its own."""
    file_as, sheet_as, charge, product, voucher_as, status_as = (
        _text(text).replace(b"%", b"%%") for text in (file, sheet, *what, voucher, status)
    )
    said = _SAID % (voucher_as, status_as)
    return _ROW % (file_as, sheet_as, charge, said, charge, product, said)


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


def _text(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # half a character, which a file's name may hold
        return orjson.dumps(_whole(value))


def _whole(value: Any) -> Any:
    """The same with "?" for every half of a character: UTF-8 has no way to write one."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value
