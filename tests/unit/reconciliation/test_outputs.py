"""Where a reconciliation's workbooks go, what is written and what could not be, and what is noted of every file that was dealt with."""

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.ledger.inbox_files import EARLY, NAMED, UNREAD, Handled
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import Evidence, Misread, Statement
from pipeline.model.job import Task
from pipeline.model.message import message
from pipeline.model.places import row_at
from pipeline.model.settled import Decided
from pipeline.model.table import Table
from pipeline.reconciliation.gather import compared
from pipeline.reconciliation.inbox import Batch, Inbox
from pipeline.reconciliation.outputs import note_handled, reconciliation_path, written
from pipeline.reconciliation.resubmit import Again, again, fates
from pipeline.settlement.reconciled import Reconciled, Reconciliation
from tests.unit.reconciliation.desk import BY, Desk, line, statement, ticket

Tables = Callable[..., Table]
NO_EVIDENCE = Evidence((), (), (), None, BY)


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


def batch(
    desk: Desk, table: Table, path: Path | None, before: Handled | None = None, sha256: str = "a" * 64
) -> Again:
    """A batch tried again without keys: nothing of it is sent."""
    run = desk.run_of(desk.job())
    (done,) = again(run, [Batch(table, path, sha256, before)], NO_EVIDENCE, Decided())
    return done


def said_of(desk: Desk, done: Sequence[Again] = (), *statements: Statement, **settled: Any) -> Reconciliation:
    evidence = replace(NO_EVIDENCE, statements=statements)
    decided = desk.settle(statements=statements, **settled)
    return compared(desk.task(), desk.ledger, evidence, decided, done)


def unready(table_of: Tables, number: int = 1, **changes: Any) -> Table:
    return table_of([{"ticket_no": ticket(number), "ticket_status": "open", **changes}])


def settled(table_of: Tables, number: int = 1) -> Table:
    return table_of([{"ticket_no": ticket(number), "ticket_status": "refunded"}])


def tickets_in(book: Path, sheet: str) -> list[str]:
    read = openpyxl.load_workbook(book)[sheet]
    heads = [cell.value for cell in read[1]]
    return [str(row[heads.index("ticket_no")]) for row in read.iter_rows(min_row=2, values_only=True)]


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


def noted(desk: Desk) -> list[tuple[Any, ...]]:
    return desk.rows(
        "SELECT run, sha256, kind, name, result, fates, unfinished FROM handled ORDER BY handled"
    )


def handled(desk: Desk, inbox: Inbox, done: Sequence[Again] = (), **finished: Any) -> list[tuple[Any, ...]]:
    said = finished.pop("said", None) or said_of(desk, done)
    note_handled(desk.run_of(desk.job()), inbox, done, Reconciled(said, **finished))
    return noted(desk)


def test_of_every_file_it_is_noted_what_was_done_with_it(desk: Desk, table_of: Tables) -> None:
    """By its content, with the name under which it came; of rows what became of them, and whether more may come."""
    path, ended, lost, odd = (Path("in") / name for name in ("a.xlsx", "b.xlsx", "c.xlsx", "d\udcff.xlsx"))
    done = [
        batch(desk, unready(table_of, 1), path, sha256="1" * 64),
        batch(desk, settled(table_of, 2), ended, sha256="2" * 64),
        batch(desk, settled(table_of, 3), lost, sha256="3" * 64),
        batch(desk, settled(table_of, 4), odd, sha256="4" * 64),
        batch(desk, unready(table_of, 5), None),
    ]
    inbox = Inbox(
        answers=[([], Path("in/r.xlsx"), "5" * 64), ([], Path("in/r\udcff.xlsx"), "6" * 64)],
        spent=[(Path("in/spent\udcff.result.xlsx"), "7" * 64)],
    )
    results = {path: Path("out/a.2.result.xlsx")}
    assert handled(desk, inbox, done, results=results, unwritten=frozenset([lost])) == [
        (desk.run, "5" * 64, "resolved", "r.xlsx", "", "", 0),
        (desk.run, "6" * 64, "resolved", "r?.xlsx", "", "", 0),
        (desk.run, "1" * 64, "tickets", "a.xlsx", "a.2.result.xlsx", fates(done[0].result), 1),
        (desk.run, "2" * 64, "tickets", "b.xlsx", "", fates(done[1].result), 0),
        (desk.run, "3" * 64, "tickets", "c.xlsx", "", "", 1),
        (desk.run, "4" * 64, "tickets", "d?.xlsx", "", fates(done[3].result), 0),
        (desk.run, "7" * 64, "resolved", "spent?.result.xlsx", "", "", 0),
    ]


def test_evidence_in_trouble_is_weighed_again_the_next_time(desk: Desk) -> None:
    answer = desk.answer(desk.doubt(1), "perhaps")
    (brought,) = statement(line(9, "N-09"))
    evidence = replace(NO_EVIDENCE, statements=(brought,))
    for answers, comes_again in (((answer,), 1), ((), 0)):
        decided = desk.settle(*answers, statements=(brought,))
        said = compared(desk.task(), desk.ledger, evidence, decided, ())
        inbox = Inbox(statements=[(brought, Path("in/s.csv"))], answers=[([], Path("in/r.xlsx"), "1" * 64)])
        found = handled(desk, inbox, said=said)[-2:]
        assert [(kind, unfinished) for _, _, kind, _, _, _, unfinished in found] == [
            ("statement", comes_again), ("resolved", comes_again),
        ]  # fmt: skip


def test_of_a_statement_it_is_noted_how_it_was_taken(desk: Desk) -> None:
    """Whether it came by the inbox, under which name; whether all of it was read, but for lines that are set aside and hold."""
    (plain,) = statement(line(1, "N-01"))

    def misread(number: int) -> Misread:
        return Misread(row_at("s.csv", "s", number), "", message("what?"))

    given = [
        replace(plain, sha256="1" * 64),
        replace(plain, sha256="2" * 64, name="named.csv"),
        replace(plain, sha256="3" * 64, misread=(misread(2),)),
        replace(plain, sha256="4" * 64, misread=(misread(2),), set_aside=(line(2, "2"),)),
        replace(plain, sha256="5" * 64, unread=("Sheet2",)),
    ]
    of_inbox = [(one, Path(f"in/{one.sha256[0]}.csv")) for one in given if one.name != "named.csv"]
    said = replace(said_of(desk), statements=tuple(given))
    assert [row[1:] for row in handled(desk, Inbox(statements=of_inbox), said=said)] == [
        ("1" * 64, "statement", "1.csv", "", "", 0),
        ("2" * 64, "statement", "named.csv", "", NAMED, 0),
        ("3" * 64, "statement", "3.csv", "", UNREAD, 0),
        ("4" * 64, "statement", "4.csv", "", "", 0),
        ("5" * 64, "statement", "5.csv", "", UNREAD, 0),
    ]


@pytest.mark.usefixtures("far_off")
def test_a_statement_that_was_made_before_the_gap_can_not_show_what_it_is_about(desk: Desk) -> None:
    since = datetime.datetime(2026, 11, 1, 9, 30, tzinfo=datetime.UTC)
    moment = datetime.timedelta(milliseconds=1)
    (brought,) = statement(misread=(Misread(row_at("s.csv", "s", 2), "", message("what?")),))
    shanghai = datetime.timezone(datetime.timedelta(hours=8))
    given = [
        replace(brought, sha256=str(at) * 64, said_made=said and said.astimezone(shanghai), written=written_at)
        for at, (said, written_at) in enumerate(
            [
                (since, since + moment), (since - moment, since + moment), (since + moment, since - moment),
                (None, since), (None, since - moment),
            ]
        )
    ]  # fmt: skip
    said = replace(said_of(desk), statements=tuple(given))
    inbox = Inbox(statements=[(given[0], Path("in/s.csv"))])
    assert {row[5] for row in handled(desk, inbox, said=said)} == {UNREAD, f"{NAMED} {UNREAD}"}, "no gap"
    desk.gap(since.isoformat(timespec="milliseconds"))
    assert [row[5] for row in handled(desk, inbox, said=said)[len(given) :]] == [
        UNREAD,
        *(f"{NAMED} {UNREAD} {EARLY}",) * 2,
        f"{NAMED} {UNREAD}",
        f"{NAMED} {UNREAD} {EARLY}",
    ]


def test_a_ledger_that_takes_no_note_is_named(desk: Desk) -> None:
    said = said_of(desk)
    run = desk.run_of(desk.job())
    desk.ledger.connection.close()
    with pytest.raises(LedgerProblem, match=str(desk.ledger.path)):
        note_handled(run, Inbox(), (), Reconciled(said))
