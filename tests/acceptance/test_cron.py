"""Run by a timer: silent where nobody is needed, one at a time, and stopped at any moment without harm.

Seen to catch: SIGTERM left as it was (the process dies of it); sending that goes on with the next workbook of the inbox
after it was stopped; a lock that is not taken; a line on stderr of a run that needs nobody.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import Desk, write_workbook
from tests.acceptance.office import at_rest

DAY = ("--as-of", "2026-11-20")
#: Of the first requests alone: so long are they looked at.
SLOW = '[[fault]]\nkind = "latency"\nseconds = 0.5\nfirst = 4\n'
AGAIN = "Running the same command again is safe."


def readers(process: Any) -> list[str]:
    """The processes that read workbooks for it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [pid for pid in children if is_reader(pid)]


def is_reader(pid: str) -> bool:
    with contextlib.suppress(OSError):
        return b"child.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def many(desk: Desk) -> Path:
    """A workbook that takes seconds to read, to judge and to write."""
    book = desk.folder / "many.csv"
    head = "ticket_no,passenger_name,charge,amount,market,ticket_status,flight_date,voucher,header_type,header_name,email\n"
    row = "999{:010},ZHANG/WEI,ticket_fare,1000,domestic,used,2026-10-01,itinerary,individual,Li Na,li.na@example.com\n"
    book.write_text(head + "".join(row.format(number) for number in range(20_000)))
    return book


def being_written(folder: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):  # what is written takes its place meanwhile
        return any(folder.glob(".voucher-*/*"))
    return False


#: A moment, and how it is known from outside: the process, its desk, and what it has said so far.
MOMENTS: dict[str, Callable[[Any, Desk, Path], object]] = {
    "reading": lambda process, _, __: readers(process),
    "judging": lambda _, __, said: "Read 20,000 rows" in said.read_text(),
    "writing": lambda _, desk, __: being_written(desk.folder),
}


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("reading", signal.SIGTERM),
        pytest.param("reading", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("reading", signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param("judging", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("writing", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_a_run_can_be_stopped_at_any_moment_and_leaves_nothing_half_made(
    desk: Any, moment: str, number: signal.Signals
) -> None:
    book = many(desk)
    before = sorted(path.name for path in desk.folder.iterdir())
    with (desk.folder.parent / "said").open("w") as file:
        process = start(desk, "check", book, *DAY, "-o", "out.xlsx", "--report", "out.json", stderr=file)
    said = desk.folder.parent / "said"
    desk.during(process, lambda: MOMENTS[moment](process, desk, said))
    pids = readers(process)
    process.send_signal(number)
    process.communicate(timeout=60)
    told = said.read_text()
    assert (process.returncode, told.strip().splitlines()[-1]) == (3, f"voucher: Interrupted. {AGAIN}")
    assert "Traceback" not in told
    assert sorted(path.name for path in desk.folder.iterdir()) == before
    assert not any(map(is_reader, pids))


def start(desk: Any, *arguments: Any, **given: Any) -> Any:
    """Start a command that does not ignore Ctrl-C, though a test worker may."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return desk.start(*arguments, **given)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_what_is_told_to_ignore_a_closed_terminal_goes_on(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(tickets(8))
    with sandbox(path, faults=SLOW) as carrier:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        try:
            process = desk.start(
                "issue", path, "--profile", desk.profile(carrier.base_url, concurrency=2), *DAY
            )
        finally:
            signal.signal(signal.SIGHUP, before)
        desk.during(process, carrier.issued)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert len(carrier.issued()) == 8


def boxes(desk: Any) -> list[str]:
    (desk.folder / "in").mkdir()
    (desk.folder / "out").mkdir()
    return ["--inbox", "in", "--outbox", "out"]


def inbox_files(desk: Any, *lots: tuple[str, list[dict[str, Any]]]) -> None:
    for name, rows in lots:
        at_rest(write_workbook(desk.folder / "in" / name, rows))


@pytest.mark.slow
def test_a_stopped_night_sends_nothing_of_the_workbooks_after_and_the_next_one_does(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(tickets(12))
    with sandbox(path, faults=SLOW) as carrier:
        arguments = [
            "reconcile",
            *boxes(desk),
            "--ledger",
            "L",
            "--profile",
            desk.profile(carrier.base_url, concurrency=1),
            *DAY,
        ]
        inbox_files(desk, ("a.xlsx", tickets(12)[:6]), ("b.xlsx", tickets(12)[6:]))
        run = desk.begin(*arguments)
        desk.during(run, carrier.issued)
        run.send_signal(signal.SIGTERM)
        stopped = run.end()
        assert stopped.code == 3, stopped.err
        assert "interrupted" in stopped.err
        assert {line["ticket_no"] for line in carrier.issued()} < {row["ticket_no"] for row in tickets(6)}
        assert desk.voucher(*arguments).code == 0
        assert carrier.twice() == []
        assert len(carrier.issued()) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGTERM, id="TERM"), pytest.param(signal.SIGKILL, id="KILL")],
)
def test_two_nights_at_once_the_second_says_so_and_a_lock_dies_with_its_process(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, number: signal.Signals
) -> None:
    path = workbook(tickets(6))
    late = '[[fault]]\nkind = "latency"\nseconds = 3\nwhen = "after"\nfirst = 1\n'
    with sandbox(path, faults=late) as carrier:
        more = "[reconcile]\nsettle_after_hours = 0\n"
        profile = desk.profile(carrier.base_url, concurrency=1, response_timeout=60, more=more)
        arguments = ["reconcile", *boxes(desk), "--ledger", "L", "--profile", profile, *DAY]
        inbox_files(desk, ("a.xlsx", tickets(6)))
        first = desk.begin(*arguments)
        desk.during(first, carrier.issued)
        second = desk.voucher(*arguments)
        assert second.code == 3
        assert "another run is using this ledger" in second.err
        assert len(second.err.splitlines()) == 1
        first.send_signal(number)
        assert first.end().code in (3, -signal.SIGKILL)
        third = desk.voucher(*arguments, "--statement", carrier.statement)
        assert third.code in (0, 4), third.err  # killed just while it sent: what was not issued stays unknown
        assert "another run" not in third.err
        assert carrier.twice() == []


@pytest.mark.slow
def test_a_night_that_needs_nobody_says_nothing(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(2))
    with sandbox(path) as carrier:
        arguments = [
            "reconcile",
            *boxes(desk),
            "--ledger",
            "L",
            "--profile",
            desk.profile(carrier.base_url),
            *DAY,
        ]
        begins = desk.voucher(*arguments)
        assert (begins.code, begins.out) == (0, "")
        assert begins.err.startswith("A new ledger was begun: ")
        empty = desk.voucher(*arguments)
        assert (empty.code, empty.out, empty.err) == (0, "", "")
        inbox_files(desk, ("a.xlsx", tickets(2)))
        issues = desk.voucher(*arguments)
        assert (issues.code, issues.out, issues.err) == (0, "", "")
        assert len(carrier.issued()) == 2
        compares = desk.voucher(*arguments, "--statement", carrier.statement)
        assert (compares.code, compares.out, compares.err) == (0, "", "")


@pytest.mark.slow
def test_a_night_that_needs_somebody_says_so_in_short(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    rows = [*tickets(2), {"ticket_no": "12", "passenger_name": "CANARY/WEI"}]
    path = workbook(tickets(2))
    with sandbox(path) as carrier:
        arguments = [
            "reconcile",
            *boxes(desk),
            "--ledger",
            "L",
            "--profile",
            desk.profile(carrier.base_url),
            *DAY,
        ]
        inbox_files(desk, ("a.xlsx", rows))
        (desk.folder / "in" / "torn.xlsx").write_bytes(b"PK\3\4 half of it")
        at_rest(desk.folder / "in" / "torn.xlsx")
        ran = desk.voucher(*arguments)
    assert (ran.code, ran.out) == (1, "")
    assert "bad_ticket_no" in ran.err
    assert "torn.xlsx" in ran.err
    assert "a.result.xlsx" in ran.err
    assert "CANARY" not in ran.err
    assert len(ran.err.splitlines()) <= 15


def renamed(path: Path, sheet: str, heading: str = "ticket_no", hidden_rows: Sequence[int] = ()) -> None:
    """The workbook's tickets on a sheet of that name, their numbers under that heading."""
    book = openpyxl.load_workbook(path)
    book["Tickets"].title = sheet
    book[sheet]["A1"] = heading
    for row in hidden_rows:
        book[sheet].row_dimensions[row].hidden = True
    book.save(path)


NAMES = ("王小明", "李晓红", "张伟", "陈丽", "赵敏")


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_stands_in_a_cell_is_told_to_nobody_though_columns_have_slipped(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, lang: str
) -> None:
    known, buyer = tickets(2)
    rows = [
        known,
        known | {"ticket_no": "王小明"},
        buyer | {"ticket_status": "李晓红"},
        buyer | {"ticket_no": "9990000000077", "flight_date": "张伟"},
        buyer | {"ticket_no": "9990000000078", "market": "", "charge": "“陈丽” 与”赵敏“"},
        buyer | {"ticket_no": "9990000000079", "header_type": "", "header_name": "", "buyer": "陈丽"},
    ]
    path = workbook(tickets(2))
    with sandbox(path) as carrier:
        profile = desk.profile(carrier.base_url)
        arguments = [*boxes(desk), "--ledger", "L", "--profile", profile, *DAY, "--lang", lang]
        inbox_files(desk, ("slipped.xlsx", rows))
        renamed(write_workbook(desk.folder / "in" / "hidden.xlsx", [known]), "赵敏", hidden_rows=[2])
        renamed(write_workbook(desk.folder / "in" / "unknown.xlsx", [known]), "陈丽", heading="tiket_nmber")
        renamed(write_workbook(desk.folder / "in" / "empty.xlsx", []), "李晓红")
        at_rest(*(desk.folder / "in").iterdir())
        ran = desk.voucher("reconcile", *arguments)
        assert ran.code == 1, ran.err
        assert [name for name in NAMES if name in ran.err] == [], ran.err
        for name in ("slipped.xlsx", "A3", "hidden.xlsx", "unknown.xlsx", "empty.xlsx"):
            assert name in ran.err
        for code in ("bad_ticket_no", "bad_choice", "bad_date", "unknown_buyer"):
            assert code in ran.err
        named = desk.voucher("reconcile", desk.folder / "in" / "unknown.xlsx", *arguments[4:])
        assert named.code == 2
        assert "unknown.xlsx" in named.err
        assert [name for name in NAMES if name in named.err] == [], named.err
        read = desk.voucher("check", desk.folder / "in" / "slipped.xlsx", *arguments[4:])
        assert "王小明" in read.err  # on a terminal, where the workbook's owner sits
    assert "Traceback" not in ran.err + named.err + read.err


@pytest.mark.slow
def test_a_night_that_is_stopped_while_it_watches_its_inbox_has_done_nothing(desk: Any, tickets: Any) -> None:
    arguments = [
        "reconcile",
        *boxes(desk),
        "--ledger",
        "L",
        "--profile",
        desk.profile("http://127.0.0.1:9"),
        *DAY,
    ]
    inbox_files(desk, ("a.xlsx", tickets(2)))
    (desk.folder / "in" / "a.xlsx").touch()
    run = desk.begin(*arguments)
    desk.during(run, lambda: "A new ledger was begun" in run.told())
    time.sleep(0.3)
    run.send_signal(signal.SIGTERM)
    ran = run.end()
    begun, said = ran.err.split("\n", 1)
    assert begun.startswith("A new ledger was begun: ")
    assert (ran.code, said.strip()) == (3, f"voucher: Interrupted. {AGAIN}")
    assert list((desk.folder / "out").iterdir()) == []
    assert desk.voucher("ledger", "check", "--ledger", "L").code == 0
