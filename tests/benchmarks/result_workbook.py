"""Writing the result workbook of a month, against XlsxWriter alone writing the same cells.

    python -m tests.benchmarks.result_workbook ours MONTH.xlsx RESULT.xlsx
    python -m tests.benchmarks.result_workbook plain MONTH.xlsx PLAIN.xlsx
    python -m tests.benchmarks.result_workbook compare RESULT.xlsx PLAIN.xlsx

Both sides begin with the month's result in memory: each row issued but for some that were refused or got no answer, and
six columns of the office's own, so that a row has 28. `ours` writes the workbook as a run does: formats, links, filters,
row heights, the Summary, and the opening of it for a check. `plain` writes the same cells but the Summary's, in
constant memory, by the method for each cell's type with a format. What they wrote has to be equal to the last cell.
"""

import dataclasses
import gc
import io
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import xlsxwriter
from python_calamine import CalamineWorkbook

from pipeline.messages.reason_rendering import reason_text
from pipeline.model.known_charges import KnownCharges
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Terms
from pipeline.model.request import Request
from pipeline.model.result import RunResult
from pipeline.model.result_values import UnknownAttempt
from pipeline.profile_file import load_profile
from pipeline.reading.tickets import read_table
from pipeline.reporting import result_workbook
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.links import Cell, Places
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.row_stream import Rows
from pipeline.rules.judge import judge
from pipeline.splitting import Judged, split
from tests.benchmarks.months import AS_OF
from tests.benchmarks.timing import REPOSITORY, ROUNDS, Line, alternating, python, run

_COLUMNS = 28
_MODULE = "tests.benchmarks.result_workbook"


def measured(month: Path, rounds: int = ROUNDS) -> list[Line]:
    """The figure; the sides' files are compared in every round."""
    result, plain = month.with_name("written.result.xlsx"), month.with_name("written.plain.xlsx")

    def side(name: str, path: Path) -> Callable[[int], float]:
        def turn(_: int) -> float:
            path.unlink(missing_ok=True)  # a result is never written over another
            return run(python("-m", _MODULE, name, month, path), month.parent).figure("seconds")

        return turn

    def compared(_: int) -> float:
        return run(python("-m", _MODULE, "compare", result, plain), month.parent).figure("cells")

    found = alternating(
        {"ours": side("ours", result), "plain": side("plain", plain), "compare": compared}, rounds
    )
    ours, theirs = found["ours"], found["plain"]
    ratio = ours.median / theirs.median
    figures = (
        f"{ours.median:.2f} s ({ours.spread}) : {theirs.median:.2f} s ({theirs.spread});"
        f" {found['compare'].median:,.0f} cells are equal"
    )
    what = f"result workbook, 100,000 rows × {_COLUMNS} columns, with its formats, links and filters"
    against = "XlsxWriter constant_memory writing the same cells"
    return [Line(what, against, "≤ 0.3 ×", ratio, ratio <= 0.3, figures)]


def result_of(month: Path) -> RunResult:
    """What became of the month, with the office's own columns beside it."""
    table = read_table([month])
    own = {
        f"own {at}": [f"{at} of {row % 997}" for row in range(len(table))] for at in range(_COLUMNS - 8 - 14)
    }
    table = dataclasses.replace(table, cells=table.cells.assign(**own))
    terms = Terms(AS_OF, load_profile(REPOSITORY / "sample_data" / "sandbox.toml"))
    verdicts = judge(table, KnownCharges(), terms)
    requests = split(verdicts, KnownCharges(), terms)
    results = [Result(request, 1, _outcome(at)) for at, request in enumerate(requests)]
    doubts = [_doubt(result.request) for result in results if result.outcome.state == "unknown"]
    facts = RunFacts("issue", terms, "en", "ledger.db", "L-1")
    return make_result(facts, Judged(table, KnownCharges(), verdicts, requests), results, doubts)


def _outcome(at: int) -> Outcome:
    if at % 40 == 7:
        return Outcome(
            "rejected",
            "carrier_rejected",
            trace_id=f"{at:032x}",
            detail=verbatim("the tax number is not known"),
        )
    if at % 500 == 9:
        return Outcome("unknown", "no_answer", detail=verbatim("nothing within 60 s"))
    return Outcome("issued", number=f"{at:018}", trace_id=f"{at:032x}")


def _doubt(request: Request) -> UnknownAttempt:
    reason = reason_text("no_answer", "", "en", {"detail": "nothing within 60 s"})
    inside = tuple((charge.identity, charge.amount) for charge in request.charges)
    return UnknownAttempt(
        "L-1", request.request_id, 1, request.voucher, request.market, request.header.header_name, request.amount, reason, "", inside
    )  # fmt: skip


class _Collecting(Book):
    """Instead of writing rows, keeps the cells that are to be written: None, texts, numbers, days."""

    def __init__(self, of: Any, result: RunResult) -> None:
        super().__init__(of, Cover("Result", result.lang))
        self.collected: dict[str, list[list[Any]]] = {}

    def add_rows(
        self, name: str, fields: Sequence[Field], count: int, rows: Rows, keys: int = 1
    ) -> list[tuple[Any, int]]:
        del keys
        columns = [
            [self._shown(value, field) for value in values]
            for field, values in zip(fields, rows(0, count) if count else [()] * len(fields), strict=True)
        ]
        headings = [field.heading for field in fields]
        self.collected[name] = [headings, *map(list, zip(*columns, strict=True))]
        return []

    def _shown(self, value: Any, field: Field) -> Any:
        value = value.value if isinstance(value, Cell) else value
        return None if value is None or value == "" else self.cells.shown(value, field.style)[0]


def _cells(result: RunResult) -> dict[str, list[list[Any]]]:
    """By sheet the cells of its rows, the headings first."""
    with xlsxwriter.Workbook(io.BytesIO()) as scratch:
        book, places = _Collecting(scratch, result), Places(result)
        for add in result_workbook._SHEETS[1:]:
            add(book, result, places)
    return book.collected


def _write_plain(sheets: dict[str, list[list[Any]]], path: Path) -> None:
    with xlsxwriter.Workbook(str(path), {"constant_memory": True}) as book:
        text, money, day = (book.add_format({"num_format": form}) for form in ("@", "#,##0.00", "yyyy-mm-dd"))
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                for column, value in enumerate(row):
                    if isinstance(value, str):
                        sheet.write_string(at, column, value, text)
                    elif isinstance(value, int | float):
                        sheet.write_number(at, column, value, money)
                    elif value is not None:
                        sheet.write_datetime(at, column, value, day)


def _compare(one: Path, other: Path) -> int:
    """How many cells are equal; one that is not ends it."""
    books = [CalamineWorkbook.from_path(path) for path in (one, other)]
    count = 0
    for name in books[1].sheet_names:
        ours, theirs = (book.get_sheet_by_name(name).to_python(skip_empty_area=False) for book in books)
        if ours != theirs:
            raise ValueError(f"the sheet {name} is not the same in {one} and {other}")
        count += sum(map(len, theirs))
    return count


def main() -> None:
    """One of the sides, or their comparison, in a process of its own."""
    side, first, path = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if side == "compare":
        sys.stdout.write(f"cells={_compare(first, path)}\n")
        return
    result = result_of(first)
    sheets = _cells(result) if side == "plain" else {}
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, processor = time.perf_counter(), time.process_time()
    if side == "plain":
        _write_plain(sheets, path)
    else:
        result_workbook.write_workbook(result, path)
    sys.stdout.write(f"seconds={time.perf_counter() - begun}\nprocessor={time.process_time() - processor}\n")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(f"megabytes={(after - before) / 1024}\n")  # beyond the result's


if __name__ == "__main__":
    main()
