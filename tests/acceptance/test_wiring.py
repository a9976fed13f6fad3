"""What one part of the program hands another, seen from outside: the ledger, what the carrier was asked, and what was told.

A unit takes such values as arguments; only here is it seen whether it is handed the right ones. The carrier is one that issues
whatever it is asked for, as often as it is asked (tests/crash/end_to_end_carrier), and every command is the real program.
"""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import openpyxl
import pytest

from tests.conftest import needs_tool
from tests.crash import failpoint
from tests.crash.counting_carrier import KEYS
from tests.crash.end_to_end_carrier import Carrier
from tests.crash.end_to_end_evidence import true_statement
from tests.crash.end_to_end_office import Office, _rows
from tests.crash.forked import Forks
from tests.crash.forked_reader import HELD

GOOD = {
    "passenger_name": "ZHANG/WEI MR", "charge": "ticket_fare", "product": "", "amount": "1000.00", "market": "domestic",
    "ticket_status": "used", "flight_date": "2027-02-01", "voucher": "itinerary", "header_type": "individual",
    "header_name": "Li Na", "email": "li.na@example.com",
}  # fmt: skip
#: Nothing but this happens to every request.
ALWAYS = 1.0


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    needs_tool("a C compiler", shutil.which("cc"))
    with Forks(failpoint.compiled(tmp_path_factory.mktemp("library"))) as running:
        yield running


@pytest.fixture(scope="module")
def carrier() -> Iterator[Carrier]:
    with Carrier() as listening:
        yield listening


@pytest.fixture
def office(tmp_path: Path, forks: Forks, carrier: Carrier) -> Office:
    return Office(tmp_path / "life", forks, carrier, Random(1), 0)


def fares(count: int, **changes: str) -> list[dict[str, str]]:
    return [{**GOOD, "ticket_no": f"999{at:010}", **changes} for at in range(1, count + 1)]


def states(office: Office) -> dict[str, int]:
    return dict(_rows(office.ledger, "SELECT state, count(*) FROM attempt GROUP BY state"))  # type: ignore[arg-type]


def settle(office: Office, resolution: str = "not issued", number: str = "") -> Path:
    """The newest result workbook, all of its Unknown sheet answered."""
    newest = max(
        (path for path, asked in office.sheets.items() if asked), key=lambda path: path.stat().st_mtime
    )
    book = openpyxl.load_workbook(newest)
    page = book["Unknown"]
    at = {cell.value: cell.column for cell in page[1]}
    for row in range(2, page.max_row + 1):
        for name, text in (
            ("resolution", resolution),
            ("number", number),
            ("resolved_by", "Wang"),
            ("evidence", "tel."),
        ):
            page.cell(row, at[name], text or None)
    book.save(path := newest.with_name("answered.xlsx"))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("again", ["issue", "reconcile"])
def test_a_no_to_what_was_ever_in_doubt_is_a_doubt_whichever_command_sends_it(
    office: Office, again: str
) -> None:
    book = office.add_workbook(fares(2))
    assert office.voucher("issue", book, "--new-ledger", faults={"closed": ALWAYS}).code == 4
    assert office.voucher("reconcile", "--resolved", settle(office)).code in (0, 1)
    assert states(office) == {"not_sent": 2}
    assert office.voucher(again, book, faults={"refused": ALWAYS}).code == 4
    assert states(office) == {"not_sent": 2, "unknown": 2}


def killed_once_answered(office: Office, book: Path, **faults: float) -> None:
    """A run of one request that is killed when its answer is on disk and what it means is not."""
    _killed(office, book, range(1, 40), "IS NOT NULL", faults)


def killed_before_the_answer(office: Office, book: Path) -> None:
    """A run of one request that is killed before it takes the answer."""
    _killed(office, book, range(1), "IS NULL", {})


def _killed(office: Office, book: Path, after: range, answered: str, faults: dict[str, float]) -> None:
    """Kill a run of one request so many calls after it took the answer."""
    before, log = office.folder / "before", office.folder / "calls"
    shutil.copytree(office.desk, before)
    home = shutil.copytree(office.home, office.folder / "home-before")
    kept = list(office.carrier.vouchers)
    office.voucher("issue", book, "--new-ledger", faults=faults, log=log)
    calls = [line.split() for line in log.read_text().splitlines()]
    taken = max(int(number) for number, call, target in calls if target == "socket" and call.startswith("r"))
    for at in after:
        shutil.rmtree(office.desk)
        shutil.rmtree(office.home)
        shutil.copytree(before, office.desk)
        shutil.copytree(home, office.home)
        office.carrier.vouchers[:] = kept
        office.voucher("issue", book, "--new-ledger", faults=faults, kill_at=taken + at)
        if _rows(office.ledger, f"SELECT 1 FROM attempt WHERE state = 'sending' AND answered_at {answered}"):
            return
    raise AssertionError("no moment was found")


@pytest.mark.slow
def test_an_answer_that_a_killed_run_left_is_read_with_the_doubt_and_without_the_key(office: Office) -> None:
    book = office.add_workbook(fares(1, voucher="invoice"))
    office.voucher("issue", book, "--new-ledger", faults={"closed": ALWAYS})
    office.voucher("reconcile", "--resolved", settle(office))
    office.carrier.words = f"no, {' '.join(KEYS.values())}"
    try:
        killed_once_answered(office, book, refused=ALWAYS)
    finally:
        office.carrier.words = "no"
    ran = office.voucher("issue", book)
    assert ran.code == 4
    assert "killed after the carrier answered: 1 answers read from the ledger" in ran.err
    assert states(office) == {"not_sent": 1, "unknown": 1}
    assert office.carrier.requests == 0
    kept = b"".join(path.read_bytes() for path in office.ledger.parent.iterdir())
    assert [key for key in KEYS.values() if key.encode() in kept] == []
    said = _rows(office.ledger, "SELECT detail FROM attempt WHERE state = 'unknown'")
    assert "earlier attempt is unknown" in said[0][0]
    refused = "It was sent, and the answer leaves open whether it was issued: the carrier refused it ("
    assert refused in ran.err
    assert "), and an earlier attempt is unknown: it may be issued already" in ran.err


@pytest.mark.slow
def test_a_gap_is_asked_about_before_anything_is_sent_by_issue_and_by_reconcile(office: Office) -> None:
    done = office.add_workbook(fares(1))
    office.voucher("issue", done, "--new-ledger")
    book = office.add_workbook(fares(3))
    office.voucher("ledger", "mark-gap", "--since", "2027-03-01", "--why", "trial")
    runs = len(_rows(office.ledger, "SELECT 1 FROM run"))
    refused = office.voucher("issue", book)
    assert (refused.code, office.carrier.requests) == (2, 0)
    assert "the 2 requests of this run" in refused.err
    assert len(_rows(office.ledger, "SELECT 1 FROM run")) == runs
    held_up = office.voucher("reconcile", book, "--report", "report.json")
    assert held_up.code == 3
    cure = "Compare it with the carrier's complete statement from then on, then say what that showed: voucher ledger close-gap"
    assert "Nothing is sent: this ledger may lack what was issued after 2027-" in held_up.err
    assert cure in held_up.err
    assert "Running the same command again is safe" not in held_up.err
    assert office.carrier.requests == 0
    rows = json.loads((office.desk / "report.json").read_text())["rows"]
    assert [row["status"] for row in rows] == ["already_issued", "not_sent", "not_sent"]
    assert "may lack what was issued" in rows[1]["reasons"][0]["message"]
    assert office.voucher("issue", done).code == 0, "nothing is to be sent"
    told = office.voucher("reconcile", done)  # there is nothing that the gap holds up, but it is there
    assert (told.code, cure in told.err) == (1, True)
    assert "开具的内容（trial）。请与承运人" in office.voucher("reconcile", "--lang", "zh").err
    open_still = office.voucher("ledger", "close-gap", "--evidence", "statement")
    assert open_still.code == 2
    lacking = "voucher reconcile was given no statement since the gap was found that was made after 2027-"
    assert lacking in open_still.err
    assert "voucher reconcile --statement FILE" in open_still.err
    assert "nothing was changed; to close it all the same, say --yes" in open_still.err
    closed = office.voucher("ledger", "close-gap", "--evidence", "statement", "--yes")
    assert (closed.code, lacking in closed.err) == (0, True)
    ran = office.voucher("reconcile", book)
    assert (ran.code, cure in ran.err) == (0, False)
    assert office.carrier.requests == 2


@pytest.mark.slow
@pytest.mark.parametrize(("concurrency", "rows", "places"), [(4, 6, 4), (4, 2, 2), (1, 3, 1)])
def test_room_for_every_answer_that_may_be_under_way_is_kept_before_the_first_is_sent(
    office: Office, concurrency: int, rows: int, places: int
) -> None:
    book, log = office.add_workbook(fares(rows)), office.folder / "calls"
    office.voucher("issue", book, "--new-ledger", log=log, concurrency=concurrency)
    calls = [line.split() for line in log.read_text().splitlines()]
    first = next(at for at, (_, call, target) in enumerate(calls) if call == "connect" and target == "socket")
    spill = [call for _, call, target in calls[:first] if target.endswith(".spill") and call != "unlink"]
    assert spill == ["write"] * places + ["fsync"]


class Meanwhile:
    """Something that is done once a file's reader has begun, and before it reads."""

    def __init__(self, office: Office, path: Path, done: Callable[[], object]) -> None:
        (folder := office.folder / "held").mkdir()
        os.mkfifo(pipe := folder / path.name)
        self.environment = {HELD: str(folder)}

        def wait() -> None:
            with pipe.open("wb"):  # as soon as the reader does
                pipe.unlink()
                done()

        self._thread = threading.Thread(target=wait, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.mark.slow
def test_a_statement_that_is_written_to_while_it_is_read_is_not_taken(office: Office) -> None:
    office.voucher(
        "issue", office.add_workbook(fares(3)), "--new-ledger", faults={"closed, and issued": ALWAYS}
    )
    given = true_statement(office, "statement.csv")
    path = Path(given.arguments[1])

    def add() -> None:
        with path.open("ab") as file:
            file.write(b"\n")

    writing = Meanwhile(office, path, add)
    ran = office.voucher("reconcile", *given.arguments, environment=writing.environment)
    writing.end()
    assert (ran.code, states(office)) == (2, {"unknown": 3})
    assert "was written to while it was read" in ran.err


@pytest.mark.slow
def test_a_line_of_a_statement_that_can_not_be_read_holds_back_its_ticket_and_no_other(
    office: Office,
) -> None:
    book = office.add_workbook(fares(3))
    path = office.desk / "statement.csv"
    path.write_text("voucher,number,ticket_no,charge\nitinerary,?,9990000000002,ticket_fare\n")
    ran = office.voucher("reconcile", book, "--new-ledger", "--statement", path, "--report", "report.json")
    rows = json.loads((office.desk / "report.json").read_text())["rows"]
    assert [row["status"] for row in rows] == ["issued", "not_sent", "issued"]
    assert "has a line about ticket 9990000000002 that can't be read" in rows[1]["reasons"][0]["message"]
    assert ran.code == 3
    assert {ticket for voucher in office.carrier.vouchers for ticket, _, _ in voucher.charges} == {
        "9990000000001",
        "9990000000003",
    }


@pytest.mark.slow
@pytest.mark.parametrize("ours", [True, False])
def test_an_answer_with_a_number_that_a_statement_showed_for_another_ticket_is_a_doubt(
    office: Office, *, ours: bool
) -> None:
    book = office.add_workbook(fares(2))
    path, number = office.desk / "statement.csv", f"2{1:019}"  # the first that this carrier gives
    ticket = "9990000000001" if ours else "9997777777777"
    path.write_text(f"voucher,number,ticket_no,charge\nitinerary,{number},{ticket},ticket_fare\n")
    assert office.voucher("reconcile", "--new-ledger", "--statement", path).code == 1
    ran = office.voucher("issue", book, "--report", "report.json", concurrency=1)
    rows = json.loads((office.desk / "report.json").read_text())["rows"]
    if ours:  # it is held, and the second ticket's answer brings the number that stands for the first
        assert [row["status"] for row in rows] == ["already_issued", "unknown"]
    else:
        assert [row["status"] for row in rows] == ["unknown", "issued"]
    (doubt,) = [row for row in rows if row["status"] == "unknown"]
    assert ran.code == 4
    assert (
        f"brings number {number}, which a statement showed for ticket {ticket}"
        in doubt["reasons"][0]["message"]
    )


@pytest.mark.slow
def test_a_file_of_the_inbox_that_is_written_to_while_it_is_read_is_left_for_the_next_time(
    office: Office,
) -> None:
    (inbox := office.desk / "in").mkdir()
    (office.desk / "out").mkdir()
    path = office.add_workbook(fares(2)).rename(inbox / "month.csv")
    office.write(path, fares(2))
    nightly = ("reconcile", "--inbox", inbox, "--outbox", office.desk / "out")
    writing = Meanwhile(office, path, lambda: path.write_text(path.read_text().replace("1000.00", "9.00")))
    ran = office.voucher(*nightly, "--new-ledger", "--verbose", environment=writing.environment)
    writing.end()
    assert office.carrier.vouchers == []
    assert "is still being written" in ran.err
    office.touch(path)
    assert office.voucher(*nightly).code == 0
    assert _rows(office.ledger, "SELECT amount FROM charge") == [(900,), (900,)]


@pytest.mark.slow
@pytest.mark.parametrize("only_the_ledger", [True, False])
def test_a_ledger_that_fails_in_a_reconciliation_stops_all_of_it_and_the_next_one_knows_what_was_answered(
    office: Office, *, only_the_ledger: bool
) -> None:
    """Two workbooks in the inbox; from some write on the disk takes nothing more."""
    for folder in ("in", "out"):
        (office.desk / folder).mkdir()
    for name, first in (("a.csv", 0), ("b.csv", 3)):
        office.write(office.desk / "in" / name, fares(6)[first : first + 3])
    nightly = ("reconcile", "--inbox", office.desk / "in", "--outbox", office.desk / "out")
    shutil.copytree(office.desk, office.folder / "before")
    log, changes = (
        office.folder / "calls",
        {"FAILPOINT_ONLY": "changes", "FAILPOINT_FOLDER": str(office.desk)},
    )
    office.voucher(*nightly, "--new-ledger", log=log, environment=changes)
    calls = [line.split() for line in log.read_text().splitlines()]
    room = next(at for at, call in enumerate(calls) if call[1] == "fsync" and call[2].endswith(".spill"))
    sending = next(at for at, call in enumerate(calls) if at > room and call[1] == "fdatasync")
    shutil.rmtree(office.desk)
    shutil.copytree(office.folder / "before", office.desk)
    shutil.rmtree(office.home)
    office.home.mkdir()
    office.carrier.vouchers.clear()
    failing = changes | {"FAILPOINT_WHAT": "28", "FAILPOINT_FOREVER": "" if only_the_ledger else "1"}
    ran = office.voucher(
        *nightly,
        "--new-ledger",
        "--report",
        office.folder / "report.json",
        kill_at=sending + 2,
        environment=failing,
    )
    assert ran.code == 3
    assert len(office.carrier.vouchers) == 1
    told = json.loads((office.folder / "report.json").read_text())
    assert set(told["comparison"].values()) == {0}, "there is nothing to compare with"
    if only_the_ledger:
        assert office.ledger.with_name("o.ledger.spill").exists()
        # Of the second nothing is written to a ledger that is known to have failed.
        assert _rows(office.ledger, "SELECT DISTINCT file FROM judgement") == [("a.csv",)]
    else:
        assert "Could not be kept on disk" in ran.err
    again = office.voucher(*nightly, "--verbose")
    assert ("Taken in from the spill file of an earlier run: 1 outcomes" in again.err) is only_the_ledger
    assert len(office.carrier.vouchers) == 6
    assert office.carrier.twice() == []
    assert office.lacks() == []


@pytest.mark.slow
def test_the_ledger_knows_of_each_run_what_it_was_and_how_it_ended(office: Office) -> None:
    book = office.add_workbook(fares(2))
    first = office.voucher("issue", book, "--new-ledger", "--as-of", "2027-03-05", faults={"closed": ALWAYS})
    second = office.voucher("reconcile", book, "--as-of", "2027-03-06")
    begun = f"A new ledger was begun: {office.ledger}; keep it"
    assert (begun in first.err, "A new ledger" in second.err) == (True, False)
    runs = _rows(office.ledger, "SELECT command, as_of, files, exit_code FROM run ORDER BY run")
    assert [(*run[:2], json.loads(run[2]), run[3]) for run in runs] == [
        ("issue", "2027-03-05", [str(book)], 4),
        ("reconcile", "2027-03-06", [str(book)], 4),
    ]


@pytest.mark.slow
def test_what_is_said_of_concurrency_and_rate_holds_for_the_run(office: Office) -> None:
    book, log = office.add_workbook(fares(4)), office.folder / "calls"
    office.voucher(
        "issue", book, "--new-ledger", "--concurrency", "2", "--rate", "4", log=log, concurrency=16
    )
    calls = [line.split() for line in log.read_text().splitlines()]
    first = next(at for at, (_, call, target) in enumerate(calls) if call == "connect" and target == "socket")
    assert [call for _, call, target in calls[:first] if target.endswith(".spill")].count("write") == 2
    times = sorted(voucher.at for voucher in office.carrier.vouchers)
    assert (times[-1] - times[0]).total_seconds() >= 0.7


@pytest.mark.slow
def test_a_sandbox_inside_the_run_is_reached_without_the_proxy_of_the_profile(office: Office) -> None:
    book = office.add_workbook(fares(1))
    profile = office.desk / "sandbox.toml"
    profile.write_text(
        office.carrier.profile(1, 0)
        .replace("[codes.fee_type]", 'proxy = "http://127.0.0.1:1"\n[codes.fee_type]', 1)
        .replace('base_url = "http:', 'base_url = "https:', 1)
    )
    ran = office.voucher("issue", book, "--sandbox", "--profile", profile, environment={"VOUCHER_LEDGER": ""})
    assert (ran.code, office.carrier.requests) == (0, 0)
    assert "the ledger is thrown away after this run" in ran.err
    assert "A new ledger was begun" not in ran.err
    assert list(office.folder.rglob("*.ledger*")) == [], "a sandbox's run leaves none behind"


@pytest.mark.slow
def test_an_answer_that_a_killed_run_left_is_not_lost_on_who_has_no_keys(office: Office) -> None:
    book = office.add_workbook(fares(1))
    killed_once_answered(office, book)
    given = true_statement(office, "statement")
    without = {"VOUCHER_API_KEY": "", "VOUCHER_ENCRYPTION_KEY": ""}
    ran = office.voucher("reconcile", *given.arguments, environment=without)
    assert (ran.code, states(office)) == (2, {"sending": 1})
    assert "set VOUCHER_API_KEY" in ran.err
    assert office.voucher("reconcile", *given.arguments).code == 0
    assert states(office) == {"issued": 1}


@pytest.mark.slow
def test_why_a_run_stopped_early_is_told_and_nothing_more_was_sent(office: Office) -> None:
    ran = office.voucher("issue", office.add_workbook(fares(12)), "--new-ledger", faults={"closed": ALWAYS})
    assert (ran.code, office.carrier.requests) == (4, 10)
    assert "The run stopped early: 10 outcomes in a row are unknown" in ran.err


@pytest.mark.slow
def test_the_lock_file_says_so_before_a_change_is_written_and_when_it_is_in_the_file(office: Office) -> None:
    """By that a page is known that a power cut has torn."""
    office.voucher("issue", office.add_workbook(fares(1)), "--new-ledger")
    ((number,),) = _rows(office.ledger, "SELECT number FROM attempt")
    for at, command in enumerate(
        (
            ("reverse", number, "--evidence", "letter"),
            ("withdraw", "R1", "--why", "wrong"),
            ("mark-gap", "--since", "2027-03-01", "--why", "trial"),
            ("close-gap", "--evidence", "statement", "--yes"),
        )
    ):
        log = office.folder / f"calls-{at}"
        assert office.voucher("ledger", *command, log=log).code == 0
        calls = [line.split() for line in log.read_text().splitlines()]
        written = [Path(call[2]).name for call in calls if "write" in call[1]]
        names = [name for name in written if name in ("o.ledger", "o.ledger-wal", "o.ledger.lock")]
        assert (names[0], names[-1]) == ("o.ledger.lock", "o.ledger.lock"), (command, calls)


def test_without_keys_nothing_is_begun_that_may_come_to_send(office: Office) -> None:
    book = office.add_workbook(fares(1))
    without = {"VOUCHER_API_KEY": "", "VOUCHER_ENCRYPTION_KEY": ""}
    ran = office.voucher("reconcile", book, "--new-ledger", environment=without)
    assert (ran.code, office.ledger.exists()) == (2, False)
    assert "VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY not set" in ran.err


@pytest.mark.slow
def test_what_a_killed_run_left_in_doubt_is_told_with_the_day_that_it_was_where_the_carrier_is(
    office: Office,
) -> None:
    book = office.add_workbook(fares(1))
    office.wait(16)  # it is one in the morning there, and the day before in UTC
    killed_before_the_answer(office, book)
    ran = office.voucher("issue", book)
    assert ran.code == 4
    assert "killed while sending: 1 requests are now unknown" in ran.err
    for command in (("issue", book), ("reconcile",)):
        office.voucher(*command, "-o", "told.xlsx")
        page = openpyxl.load_workbook(office.desk / "told.xlsx")["Unknown"]
        at = {cell.value: cell.column for cell in page[1]}
        reason = str(page.cell(2, at["reason"]).value)
        assert "since 2027-03-02" in reason, reason
        assert "It was being sent, and what came of it is not recorded" in reason
        (office.desk / "told.xlsx").unlink()


@pytest.mark.slow
def test_who_says_that_the_clock_is_right_is_on_record(office: Office) -> None:
    by_name = ("reconcile", "--by", "Night Shift")
    for at, (command, expected) in enumerate(
        ((by_name, "Night Shift"), (("reconcile",), "ann"), (("issue",), "ann"))
    ):
        book = office.add_workbook(fares(at + 1))
        office.voucher("issue", book, "--new-ledger", error=3600 * 24)
        given = book if command == ("issue",) else true_statement(office, f"statement-{at}.csv").arguments[1]
        said = (*command, *(() if command == ("issue",) else ("--statement",)), given)
        assert office.voucher(*said).code == 2
        office.voucher(*said, "--clock-is-right", environment={"LOGNAME": "ann", "USER": "ann"})
        assert _rows(office.ledger, "SELECT corrected_by FROM clock_correction")[at] == (expected,)
        office.wait(30)


@pytest.mark.slow
def test_a_line_of_the_statement_is_of_the_month_that_it_was_where_the_carrier_is(office: Office) -> None:
    path = office.desk / "statement.csv"
    path.write_text(
        "voucher,number,ticket_no,charge,issued_at\n"
        "itinerary,21111111111111111111,9990000000077,ticket_fare,2027-02-28T20:00:00+00:00\n"
    )
    office.voucher("issue", office.add_workbook(fares(1)), "--new-ledger")
    office.voucher("reconcile", "--statement", path, "--month", "2027-03", "--report", "report.json")
    assert json.loads((office.desk / "report.json").read_text())["comparison"]["not_ours"] == 1


@pytest.mark.slow
def test_without_keys_what_sends_nothing_goes_on(office: Office) -> None:
    office.voucher("issue", office.add_workbook(fares(1)), "--new-ledger")
    without = {"VOUCHER_API_KEY": "", "VOUCHER_ENCRYPTION_KEY": ""}
    assert (
        office.voucher("reconcile", *true_statement(office, "s.csv").arguments, environment=without).code == 0
    )


@pytest.mark.slow
def test_a_ledger_whose_name_leads_elsewhere_at_the_end_is_left_as_it_is(office: Office) -> None:
    """Its -wal stays behind under the name; put together again, both are whole."""
    (inbox := office.desk / "in").mkdir()
    (office.desk / "out").mkdir()
    office.voucher("issue", office.add_workbook(fares(1)), "--new-ledger")
    path = office.add_workbook(fares(1)).rename(inbox / "month.csv")
    office.write(path, fares(1))
    away = office.ledger.with_name("away")
    moving = Meanwhile(office, path, lambda: shutil.move(office.ledger, away))
    nightly = ("reconcile", "--inbox", inbox, "--outbox", office.desk / "out")
    office.voucher(*nightly, environment=moving.environment)
    moving.end()
    away.rename(office.ledger)
    ended = "SELECT command, ended_at IS NOT NULL FROM run ORDER BY run"
    assert _rows(office.ledger, ended) == [("issue", 1), ("reconcile", 0)]
    assert office.voucher(*nightly).code == 0
    assert _rows(office.ledger, ended) == [("issue", 1), ("reconcile", 1), ("reconcile", 1)]


@pytest.mark.slow
def test_a_doubt_of_this_run_is_told_in_the_language_that_was_asked_for(office: Office) -> None:
    book = office.add_workbook(fares(1))
    office.voucher("issue", book, "--new-ledger", "--lang", "zh", "-o", "zh.xlsx", faults={"closed": ALWAYS})
    told = [
        str(cell) for row in openpyxl.load_workbook(office.desk / "zh.xlsx")["Unknown"].values for cell in row
    ]
    assert any("已发送但未收到答复" in cell for cell in told), told


@pytest.mark.slow
def test_a_trace_id_that_is_none_is_not_in_the_log(office: Office) -> None:
    office.carrier.trace = "ZHANG WEI, 13800138000"
    try:
        office.voucher("issue", office.add_workbook(fares(1)), "--new-ledger", "--log-file", "log")
    finally:
        office.carrier.trace = "t"
    text = (office.desk / "log").read_text()
    assert ("request_ended" in text, "ZHANG" in text) == (True, False)


@pytest.mark.slow
def test_a_second_ledger_is_not_begun_beside_the_first(office: Office) -> None:
    book = office.add_workbook(fares(1))
    assert office.voucher("issue", book).code == 0
    second = office.ledger.with_name("second.ledger")
    ran = office.voucher("issue", book, environment={"VOUCHER_LEDGER": str(second)})
    assert (ran.code, "o.ledger may be of the same carrier" in ran.err) == (2, True)
    assert not second.exists()
    assert office.carrier.requests == 0
