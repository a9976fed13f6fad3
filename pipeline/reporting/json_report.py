"""The report: what became of every row and request, for programs (interface.md, Report)."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import orjson

from pipeline.files import place_over
from pipeline.model.errors import Stop
from pipeline.model.message import system_error
from pipeline.model.result import (
    ChargeResult,
    ReasonText,
    RequestResult,
    RowResult,
    RunResult,
)
from pipeline.model.table import money_text

VERSION = 1


def report(result: RunResult, exit_code: int) -> dict[str, Any]:
    """The report's content, as plain values."""
    return {
        "version": VERSION,
        "command": result.command,
        "as_of": result.as_of,
        "exit_code": exit_code,
        "ledger": result.ledger,
        "totals": {"rows": len(result.rows), **result.totals},
        "sheets": [dataclasses.asdict(sheet) for sheet in result.table.sheets],
        "requests": [_request(asked) for asked in result.requests],
        "rows": [_row(row) | _repeats(result, row.index) for row in result.rows],
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


def write_report(said: dict[str, Any], path: Path) -> None:
    """Write a report in the place of an earlier one, whole or not at all.

    Raises Stop where it can't be written; an earlier report is still there then.
    """
    content = _json(said)
    target = path.resolve()  # where the path is a link, the link stays
    try:
        with tempfile.TemporaryDirectory(prefix=".voucher-", dir=target.parent) as folder:
            finished = Path(folder) / "report.json"
            finished.write_bytes(content)
            place_over(finished, target)
    except OSError as problem:
        raise Stop(
            "{file}: the report can't be written ({problem}); nothing is lost, the ledger has it"
            " all: make room or choose another place, and run the same command again",
            file=str(path),
            problem=system_error(problem),
        ) from problem


def _json(content: dict[str, Any]) -> bytes:
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(content, option=options)
    except orjson.JSONEncodeError:  # half a character, which a file's name may hold
        return orjson.dumps(_whole(content), option=options)


def _whole(value: Any) -> Any:
    """The same with "?" for every half of a character: UTF-8 has no way to write one."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value
