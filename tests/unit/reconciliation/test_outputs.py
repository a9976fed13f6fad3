"""Where a reconciliation's workbooks go, what is written and what could not be, and what is noted of every file that was dealt with."""

import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from pipeline.ledger.inbox_files import Handled
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Misread
from pipeline.model.job import Task
from pipeline.model.message import message
from pipeline.model.places import row_at
from pipeline.reconciliation.outputs import reconciliation_path, written
from pipeline.reconciliation.result_changes import fates
from pipeline.settlement.reconciliation_result import Reconciliation
from tests.unit.reconciliation.desk import Desk, Tables, batch, line, said_of, statement, ticket, unready


@pytest.fixture
def boxes(tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / name for name in ("inbox", "outbox")}
    for folder in found.values():
        folder.mkdir()
    return found


def refused(task: Task) -> str:
    with pytest.raises(InputProblem) as raised:
        reconciliation_path(task)
    return str(raised.value)


def test_inbox_and_outbox_go_together(desk: Desk, boxes: dict[str, Path]) -> None:
    for name, folder in boxes.items():
        told = refused(desk.task(**{name: folder}))
        assert told == "--inbox and --outbox go together: name both folders"


def test_the_outbox_is_not_the_inbox_by_whatever_name(desk: Desk, boxes: dict[str, Path]) -> None:
    same = boxes["inbox"] / ".." / "inbox"
    told = refused(desk.task(inbox=boxes["inbox"], outbox=same))
    assert told == f"--outbox {same}: is the inbox itself; name another folder"


def test_an_outbox_must_be_there_wherever_the_workbook_goes(desk: Desk, boxes: dict[str, Path]) -> None:
    gone = boxes["outbox"] / "gone"
    task = desk.task(job={"output": boxes["outbox"] / "out.xlsx"}, inbox=boxes["inbox"], outbox=gone)
    assert refused(task).startswith(
        f"{gone / 'result.xlsx'}: there is no folder {gone}; create it, or choose"
    )


def test_a_report_must_be_one_that_can_be_written(desk: Desk, tmp_path: Path) -> None:
    book = tmp_path / "tickets.xlsx"
    assert refused(desk.task(job={"report": book})).startswith(f"{book}: a report is JSON and would replace")
    assert reconciliation_path(desk.task(tmp_path / "a.xlsx", job={"report": tmp_path / "report.json"}))


def test_the_workbook_goes_where_it_is_wanted(desk: Desk, boxes: dict[str, Path], tmp_path: Path) -> None:
    wanted = tmp_path / "out.xlsx"
    for given in ({}, boxes):
        assert reconciliation_path(desk.task(job={"output": wanted}, **given)) == wanted
    wanted.touch()
    assert reconciliation_path(desk.task(job={"output": wanted})) == tmp_path / "out.2.xlsx"
    text = tmp_path / "out.csv"
    assert "give -o a name that ends in .xlsx" in refused(desk.task(job={"output": text}))


def test_into_an_outbox_it_goes_by_the_month_or_the_day(desk: Desk, boxes: dict[str, Path]) -> None:
    outbox = boxes["outbox"]
    assert reconciliation_path(desk.task(**boxes)) == outbox / "2026-11-20.reconciliation.xlsx"
    by_month = outbox / "2026-10.reconciliation.xlsx"
    assert reconciliation_path(desk.task(month="2026-10", **boxes)) == by_month
    by_month.touch()
    named = desk.task(outbox / "tickets.xlsx", month="2026-10", **boxes)
    assert reconciliation_path(named) == outbox / "2026-10.2.reconciliation.xlsx"


@pytest.mark.parametrize(
    ("inputs", "statements", "resolved", "chosen"),
    [
        (["a.xlsx", "b.xlsx"], ["s.csv"], ["r.xlsx"], "a.reconciliation.xlsx"),
        ([], ["s.csv"], ["r.xlsx"], "s.reconciliation.xlsx"),
        ([], [], ["r.result.xlsx"], "r.reconciliation.xlsx"),
        (["a.reconciliation.xlsx"], [], [], "a.reconciliation.xlsx"),
        (["2026.09.xlsx"], [], [], "2026.09.reconciliation.xlsx"),
        (["october"], [], [], "october/october.reconciliation.xlsx"),
        (["october/../october/."], [], [], "october/october.reconciliation.xlsx"),
    ],
)
def test_else_it_stands_beside_the_first_file_that_was_named(
    desk: Desk, tmp_path: Path, inputs: list[str], statements: list[str], resolved: list[str], chosen: str
) -> None:
    (tmp_path / "october").mkdir()

    def paths(names: list[str]) -> tuple[Path, ...]:
        return tuple(tmp_path / name for name in names)

    task = desk.task(*paths(inputs), statements=paths(statements), resolved=paths(resolved))
    assert reconciliation_path(task).resolve() == tmp_path / chosen


@pytest.mark.parametrize(
    ("inputs", "chosen"),
    [
        ([], "reconciliation.xlsx"),
        (["."], "here.reconciliation.xlsx"),
        ([".."], "../there.reconciliation.xlsx"),
        (["a.xlsx"], "a.reconciliation.xlsx"),
    ],
)
def test_of_nothing_named_or_of_the_folder_at_work_in_it_is_put_there(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: list[str], chosen: str
) -> None:
    here = tmp_path / "there" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    assert reconciliation_path(desk.task(*map(Path, inputs))) == Path(chosen)


def tickets_in(book: Path, sheet: str) -> list[str]:
    read = openpyxl.load_workbook(book)[sheet]
    heads = [cell.value for cell in read[1]]
    return [str(row[heads.index("ticket_no")]) for row in read.iter_rows(min_row=2, values_only=True)]


@pytest.mark.slow
def test_each_file_of_the_inbox_has_its_result_in_the_outbox(
    desk: Desk, boxes: dict[str, Path], table_of: Tables
) -> None:
    paths = [boxes["inbox"] / name for name in ("a.xlsx", "b.result.xlsx", "c.csv")]
    done = [batch(desk, unready(table_of, number), path) for number, path in enumerate(paths)]
    (boxes["outbox"] / "a.result.xlsx").touch()
    finished = written(desk.task(**boxes), said_of(desk, done), done, boxes["outbox"] / "said.xlsx")
    assert {path.name: result.name for path, result in finished.results.items()} == {
        "a.xlsx": "a.2.result.xlsx",
        "b.result.xlsx": "b.result.xlsx",
        "c.csv": "c.result.xlsx",
    }
    for number, path in enumerate(paths):
        assert tickets_in(finished.results[path], "Rows") == [ticket(number)]
    assert (finished.problems, finished.unwritten) == ((), frozenset())


def test_what_is_as_it_was_is_not_written_again(desk: Desk, boxes: dict[str, Path], table_of: Tables) -> None:
    path = boxes["inbox"] / "a.xlsx"
    first = batch(desk, unready(table_of), path)
    before = Handled("a" * 64, "tickets", "a.xlsx", "a.result.xlsx", fates(first.result), True)
    changed = replace(before, fates="other")
    for one, names in ((before, []), (changed, ["a.result.xlsx"])):
        done = [batch(desk, unready(table_of), path, one)]
        written(desk.task(**boxes), said_of(desk), done, boxes["outbox"] / "said.xlsx")
        assert [found.name for found in boxes["outbox"].iterdir()] == names


def test_what_was_named_has_no_result_of_its_own(
    desk: Desk, boxes: dict[str, Path], table_of: Tables
) -> None:
    done = [batch(desk, unready(table_of), None)]
    task = desk.task(**boxes)
    assert written(task, said_of(desk), done, boxes["outbox"] / "said.xlsx").results == {}
    # Without an outbox there is no place for one either.
    done = [batch(desk, unready(table_of), boxes["inbox"] / "a.xlsx")]
    assert written(desk.task(), said_of(desk), done, boxes["outbox"] / "said.xlsx").results == {}


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        (f"{'x' * 250}.xls", "x" * 220),
        (f"{'票' * 80}.xlsx", "票" * 73),
        ("a\udcff.xlsx", "a?"),
    ],
)
def test_a_result_s_name_is_as_long_as_names_may_be_and_a_text(
    desk: Desk, boxes: dict[str, Path], table_of: Tables, name: str, stem: str
) -> None:
    path = boxes["inbox"] / name
    done = [batch(desk, unready(table_of), path)]
    finished = written(desk.task(**boxes), said_of(desk), done, boxes["outbox"] / "said.xlsx")
    assert finished.results[path].name == f"{stem}.result.xlsx"


def test_a_failure_to_write_one_does_not_lose_the_others(
    desk: Desk, boxes: dict[str, Path], table_of: Tables, tmp_path: Path
) -> None:
    paths = [boxes["inbox"] / name for name in ("a.xlsx", "b.xlsx")]
    done = [batch(desk, unready(table_of, number), path) for number, path in enumerate(paths)]
    boxes["outbox"].rmdir()
    report = tmp_path / "report.json"
    task = desk.task(job={"report": report}, **boxes)
    said = said_of(desk, done)
    finished = written(task, said, done, tmp_path / "said.xlsx")
    assert (finished.results, finished.unwritten) == ({}, frozenset(paths))
    assert [str(one).split(": ")[0] for one in finished.problems] == [
        str(boxes["outbox"] / f"{stem}.result.xlsx") for stem in "ab"
    ]
    assert finished.workbook == tmp_path / "said.xlsx"
    assert tickets_in(finished.workbook, "To issue") == [ticket(0), ticket(1)]
    assert (said.exit_code, json.loads(report.read_text())["exit_code"]) == (1, 3)
    # Neither the reconciliation workbook nor the report: each is told, beside what was told before.
    finished = written(
        desk.task(job={"report": tmp_path / "gone" / "r.json"}, **boxes),
        said,
        done,
        tmp_path / "gone" / "s.xlsx",
    )
    assert [str(one).split(": ")[0] for one in finished.problems[2:]] == [
        str(tmp_path / "gone" / "s.xlsx"), str(tmp_path / "gone" / "r.json"),
    ]  # fmt: skip
    assert (finished.workbook, finished.said, finished.unwritten) == (None, said, frozenset(paths))
    assert finished.exit_code == 3


@pytest.mark.slow
def test_a_night_without_anything_to_say_leaves_no_workbook_unless_one_is_asked_for(
    desk: Desk, boxes: dict[str, Path], table_of: Tables
) -> None:
    target = boxes["outbox"] / "said.xlsx"

    def workbook(said: Reconciliation, task: Task) -> Path | None:
        found = written(task, said, (), target).workbook
        if found:
            found.unlink()
        return found

    nothing, inboxed = said_of(desk), desk.task(**boxes)
    assert workbook(nothing, inboxed) is None
    assert workbook(nothing, desk.task(job={"output": target}, **boxes)) == target
    assert workbook(nothing, desk.task()) == target
    entries = said_of(desk, [batch(desk, unready(table_of), None)])
    assert (bool(entries.entries), bool(entries.result.doubts), entries.decided.troubles) == (True, False, ())
    assert workbook(entries, inboxed) == target
    (misread,) = statement(misread=(Misread(row_at("s.csv", "s", 2), "", message("what?")),))
    troubled = said_of(desk, (), misread)
    assert (troubled.entries, troubled.result.doubts, bool(troubled.decided.troubles)) == ((), (), True)
    assert workbook(troubled, inboxed) == target
    desk.doubt(1)
    doubted = replace(said_of(desk), entries=())
    assert (bool(doubted.result.doubts), doubted.decided.troubles) == (True, ())
    assert workbook(doubted, inboxed) == target


def test_the_workbook_and_the_report_tell_what_was_found(desk: Desk, tmp_path: Path) -> None:
    (brought,) = statement(line(4, "N-04"))
    said = said_of(desk, (), brought)
    report = tmp_path / "report.json"
    finished = written(desk.task(job={"report": report}), said, (), tmp_path / "said.xlsx")
    assert finished.workbook is not None
    assert tickets_in(finished.workbook, "Not ours") == [ticket(4)]
    told = json.loads(report.read_text())
    assert (told["comparison"]["not_ours"], told["exit_code"]) == (1, finished.exit_code)
    assert (finished.said, finished.problems) == (said, ())
