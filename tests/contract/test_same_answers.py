"""Every question is answered alike by a file and by a shared ledger that hold the same, asked of a small part as of the whole."""

import contextlib
import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.ledger import opening
from pipeline.ledger.ledger_file import LedgerFile
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.settlements import Settlement
from pipeline.ledger_postgresql import server_schema
from pipeline.ledger_postgresql.ledger_copying import copy_to_server
from pipeline.ledger_postgresql.opening_shared import shared_to_read
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.profile import Carrier, Profile
from pipeline.settlement.compare import Period
from tests.contract.ledgers import OWNER, PATIENT
from tests.contract.lived_ledger import TICKETS, ZONE, Life, file_about
from tests.postgresql_server import Server

pytestmark = pytest.mark.slow

SEEDS = range(3)
AS_OF = datetime.date(2026, 11, 26)


def job(path: Path) -> Job:
    carrier = Carrier(base_url=OWNER.base_url, agency=OWNER.agency)
    return Job((), Profile(carrier=carrier), None, ledger=str(path))


class Both(NamedTuple):
    file: LedgerFile
    shared: ReadLedger


@pytest.fixture(scope="module", params=SEEDS)
def both(
    request: pytest.FixtureRequest, postgresql: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """A file, and a shared ledger into which it was copied; read by whoever may only read."""
    path, database = tmp_path_factory.mktemp("lived") / "a.ledger", postgresql.new_database()
    with pytest.MonkeyPatch.context() as changed, contextlib.ExitStack() as stack:
        changed.setenv("XDG_STATE_HOME", str(path.parent))
        Life(path, request.param).lived()
        before = path.with_name("before.ledger")
        with contextlib.closing(opening.open_existing(path, OWNER)) as connection:
            LedgerFile(path, connection)._copy(before, before)
        with connect(postgresql.url(database)) as owner:
            server_schema.prepare(owner, OWNER, PATIENT)
            with contextlib.suppress(Exception):
                owner.execute("CREATE ROLE reader LOGIN")
            owner.execute("GRANT voucher_reader TO reader")
        copy_to_server(job(path), postgresql.url(database), lambda _: None)
        unclosed = stack.enter_context(contextlib.closing(opening.open_existing(before, OWNER)))
        shared = stack.enter_context(shared_to_read(postgresql.url(database, "reader"), OWNER))
        yield Both(LedgerFile(before, unclosed), shared)


def some(values: list[Any], count: int = 5) -> list[Any]:
    """A few of them, from all over."""
    return values[:: max(1, len(values) // count)]


class Known(NamedTuple):
    """What there is to ask about."""

    pairs: list[tuple[str, int]]
    ids: list[int]
    numbers: list[str]
    contents: list[str]
    times: list[str]


def known(file: LedgerFile) -> Known:
    def asked(sql: str) -> list[Any]:
        return [row if len(row) > 1 else row[0] for row in file._connection.execute(sql)]

    return Known(
        asked("SELECT request_id, attempt FROM attempt ORDER BY 1, 2"),
        asked("SELECT attempt_id FROM attempt ORDER BY 1"),
        asked(
            "SELECT number FROM attempt WHERE number <> '' UNION SELECT number FROM elsewhere UNION SELECT red_number FROM reversal"
            " UNION SELECT 'N99999' ORDER BY 1"
        ),
        asked("SELECT DISTINCT sha256 FROM handled UNION SELECT sha256 FROM received_file ORDER BY 1"),
        asked("SELECT DISTINCT ended_at FROM attempt WHERE ended_at IS NOT NULL ORDER BY 1"),
    )


def refusal(ask: Callable[[], None]) -> str:
    try:
        ask()
    except InputProblem as problem:
        return str(problem)
    return ""


def moments(of: Known) -> tuple[datetime.datetime, datetime.datetime]:
    first, last = (datetime.datetime.fromisoformat(of.times[len(of.times) * part // 4]) for part in (1, 3))
    return first, last


#: Each question: what it gives of a ledger, asked about a little and about much.
QUESTIONS: dict[str, Callable[[ReadLedger, Known], Any]] = {
    "its ID": lambda ledger, _: ledger.ledger_id,
    "owner": lambda ledger, _: ledger.owner,
    "epoch": lambda ledger, _: ledger.epoch,
    "epochs": lambda ledger, _: ledger.epochs,
    "gap": lambda ledger, _: ledger.open_gap,
    "lacking": lambda ledger, _: ledger.lacking(),
    "holdings": lambda ledger, _: [ledger.holdings(asked) for asked in (*some([[one] for one in TICKETS], 40), TICKETS, [])],
    "refusals": lambda ledger, _: [ledger.refusals(asked) for asked in (*([one] for one in TICKETS), TICKETS)],
    "issued between": lambda ledger, of: ledger.issued_between(*moments(of)),
    "contents": lambda ledger, of: [ledger.contents(asked) for asked in (*([one] for one in some(of.pairs, 30)), of.pairs)],
    "issued requests": lambda ledger, of: ledger.issued_requests(some(of.pairs, 30)),
    "unsettled": lambda ledger, _: ledger.unsettled(),
    "in flight": lambda ledger, _: ledger.in_flight(),
    "shown elsewhere": lambda ledger, of: [ledger.shown_elsewhere(asked) for asked in ([one] for one in (*TICKETS, *some(of.numbers, 20)))],
    "reversed charges": lambda ledger, _: ledger.reversed_charges(),
    "known": lambda ledger, of: [ledger.known(*one) for one in [*some(of.pairs, 20), ("R0", 1)]],
    "withdrawn before": lambda ledger, of: [
        ledger.withdrawn_before(one, Settlement(state, number, "li", "letter", ""))
        for one in of.ids for state, number in (("not_sent", ""), ("issued", "N00001"))
    ],
    "called not issued": lambda ledger, _: [ledger.called_not_issued(asked) for asked in (*([one] for one in TICKETS), TICKETS)],
    "numbers taken": lambda ledger, of: [ledger.numbers_taken(asked) for asked in (*([one] for one in some(of.numbers, 20)), of.numbers)],
    "reversals": lambda ledger, of: [ledger.reversals_of(asked) for asked in (*([one] for one in of.numbers), of.numbers)],
    "reversed by": lambda ledger, of: [ledger.reversed_by(asked) for asked in (*([one] for one in of.numbers), of.numbers)],
    "charges of a number": lambda ledger, of: [ledger.charges_of_number(one) for one in of.numbers],
    "red numbers": lambda ledger, of: [refusal(lambda one=one: ledger.check_red("N00001", one)) for one in of.numbers],  # type: ignore[misc]
    "handled before": lambda ledger, of: [
        ledger.handled_before(one, kind) for one in of.contents for kind in ("tickets", "statement", "resolved")
    ],
    "known until": lambda ledger, _: ledger.known_until,
    "statements": lambda ledger, of: [ledger.statements_since(at) for at in some(of.times)],
    "held since the gap": lambda ledger, _: ledger.held_since_gap(),
    "runs": lambda ledger, _: [ledger.past_runs(most) for most in (1, 3, 99)],
    "a ticket's rows": lambda ledger, _: [ledger.ticket_rows(one) for one in TICKETS],
    "register": lambda ledger, _: [ledger.register_lines(ZONE, days) for days in (None, (AS_OF, AS_OF + datetime.timedelta(1)))],
    "about files": lambda ledger, of: [
        ledger.about_files([file_about(number, ticket, sha)], ZONE)
        for number, ticket, sha in zip(of.numbers, [*TICKETS, *TICKETS], [*of.contents, *of.contents], strict=False)
    ],
    "with files": lambda ledger, _: ledger.with_files(),
    "not received": lambda ledger, _: [
        ledger.not_received(period, AS_OF, ZONE) for period in (None, Period(AS_OF, AS_OF + datetime.timedelta(1)))
    ],
    "archive": lambda ledger, _: ledger.archived_files(),
    "looked over": lambda ledger, _: ledger.looked_over(),
    "copy": lambda ledger, _: copied(ledger),
}  # fmt: skip


def copied(ledger: ReadLedger) -> Any:
    folder = Path(ledger.path).parent if isinstance(ledger, LedgerFile) else Path()
    sheets = (
        "requests",
        "charges",
        "elsewhere",
        "reversals",
        "withdrawals",
        "judgements",
        "runs",
        "people",
        "files",
    )
    with ledger.as_copy(folder, folder / "wanted") as copy:
        return copy.about, [
            (name, copy.count(name), [*copy.rows(name)])
            for name in (*sheets, "received_files", "gaps_and_moves")
        ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_shared_ledger_answers_as_a_file_does_that_holds_the_same(both: Both, question: str) -> None:
    of = known(both.file)
    assert QUESTIONS[question](both.shared, of) == QUESTIONS[question](both.file, of)


def test_all_questions_are_asked() -> None:
    """Each method of a ledger that is only read, but for those that the others are made of."""
    asked = {name for one in QUESTIONS.values() for name in one.__code__.co_names}
    asked |= {
        name
        for one in QUESTIONS.values()
        for each in one.__code__.co_consts
        if hasattr(each, "co_names")
        for name in each.co_names
    }
    asked |= {*refusal.__code__.co_names, *copied.__code__.co_names, "check_red"}
    there = {name for name in vars(ReadLedger) if not name.startswith("_")}
    assert there - asked == {
        "name", "hears_senders", "as_of_now", "doubt", "outcomes_wait", "note_gap", "note_doubt",
    }  # fmt: skip
