"""A shared ledger when somebody begins: what killed workers left is put in order, joining, and inviting to what is planned."""

import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger.attempt_changes import Ended, GotAnswer
from pipeline.ledger.planning import NO_DETAILS
from pipeline.ledger.recovery import Unread
from pipeline.ledger.settlements import Settlement
from pipeline.ledger_postgresql import invitations, worker_membership
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.shared_recovery import put_in_order
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import ServerAway
from pipeline.ledger_postgresql.worker_spill import WorkerSpill
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Asked
from tests.contract.conftest import Begin
from tests.contract.ledgers import ROWS, Shared, charge, invoice, issued, itinerary, seal
from tests.contract.test_postgresql_fence import LOST

pytestmark = pytest.mark.slow

YES = Answered(200, b"yes", "7")
NO = Outcome("rejected", "carrier_rejected", trace_id="t")
UNREADABLE = Outcome("unknown", "answer_unreadable")
NOT_ISSUED = Settlement("not_sent", "", "chen", "the carrier's letter")
READ = "Workers were killed after the carrier answered: 1 answers read from the ledger"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def means(outcome: Outcome, seen: list[Any] | None = None) -> Callable[[Unread, Answered], Outcome]:
    def meaning(left: Unread, answer: Answered) -> Outcome:
        if seen is not None:
            seen.append((left.asked, left.doubted, left.accepted, left.beside, answer))
        return outcome

    return meaning


def recovered(ledger: Shared, outcome: Outcome, seen: list[Any] | None = None) -> list[str]:
    """What a worker that starts now says of what it finds."""
    said: list[str] = []
    put_in_order(ledger.connect("worker"), means(outcome, seen), lambda one: said.append(str(one)))
    return said


def answered_and_killed(ledger: Shared, answer: Answered = YES) -> int:
    """A worker records what the carrier has answered to its request, and is killed before it says what that comes to."""
    (attempt,) = ledger.plan(itinerary(1))
    assert ledger.claim(1) == [attempt]
    assert ledger.record(GotAnswer(attempt, answer)) == [None]
    ledger.sender_dies()
    assert ledger.states() == {attempt: "unknown"}
    return attempt


def test_an_answer_that_nobody_read_is_read_once_and_is_the_outcome(begin_shared: Begin) -> None:
    ledger, seen = begin_shared(), list[Any]()
    attempt = answered_and_killed(ledger)
    assert recovered(ledger, issued("N1"), seen) == [READ]
    assert recovered(ledger, issued("N2"), seen) == []
    assert seen == [(Asked("itinerary", ("9990000000001",)), False, True, (), YES)]
    assert ledger.rows("SELECT state, number, reason FROM attempt") == [("issued", "N1", "")]
    ((by, evidence),) = ledger.rows("SELECT settled_by, evidence FROM settlement")
    assert by.startswith("worker ")
    assert "the carrier's answer, which its worker had recorded" in evidence
    assert ledger.rows("SELECT live FROM charge") == [(True,)]
    ledger.plan(itinerary(1))
    assert ledger.claim(5) == []  # it holds its charge
    assert attempt in ledger.states()


def test_a_no_that_nobody_read_lets_its_charge_go(begin_shared: Begin) -> None:
    ledger = begin_shared()
    answered_and_killed(ledger)
    assert recovered(ledger, NO) == [READ]
    assert ledger.rows("SELECT state, reason, trace_id FROM attempt") == [
        ("rejected", "carrier_rejected", "t")
    ]
    assert ledger.rows("SELECT live FROM charge") == [(False,)]


def test_an_answer_that_can_not_be_read_is_left_for_whoever_can(begin_shared: Begin) -> None:
    ledger = begin_shared()
    attempt = answered_and_killed(ledger)
    assert recovered(ledger, UNREADABLE) == []
    assert ledger.states() == {attempt: "unknown"}
    assert recovered(ledger, issued("N1")) == [READ]
    assert ledger.states() == {attempt: "issued"}


def test_the_meaning_of_an_answer_is_what_its_own_sender_said(begin_shared: Begin) -> None:
    ledger = begin_shared()
    attempt = answered_and_killed(ledger)
    (other,) = ledger.plan(itinerary(2))
    ledger.claim(1)
    ledger.record(GotAnswer(other, YES), Ended(other, UNREADABLE))
    ledger.sender_dies()
    seen: list[Any] = []
    recovered(ledger, issued("N1"), seen)
    assert (len(seen), ledger.states()) == (1, {attempt: "issued", other: "unknown"})


def test_a_number_that_another_has_is_not_taken(begin_shared: Begin) -> None:
    ledger = begin_shared()
    attempt = answered_and_killed(ledger)
    (other,) = ledger.plan(itinerary(2))
    ledger.claim(1)
    ledger.record(Ended(other, issued("N1")))
    for _ in range(2):
        recovered(ledger, issued("N1"))
    assert ledger.states() == {attempt: "unknown", other: "issued"}
    assert ledger.rows("SELECT state, taken FROM late_word") == [("issued", False)]


def test_an_answer_frees_nothing_that_evidence_or_another_attempt_holds(begin_shared: Begin) -> None:
    ledger = begin_shared()
    attempt = answered_and_killed(ledger)
    ledger.operations.settle(attempt, Settlement("issued", "N7", "chen", "the carrier's letter"))
    recovered(ledger, NO)
    assert ledger.states() == {attempt: "issued"}
    assert ledger.rows("SELECT live FROM charge") == [(True,)]
    assert ledger.rows("SELECT state, taken FROM late_word") == [("rejected", False)]


def test_an_answer_against_evidence_is_kept_and_holds_its_charge(begin_shared: Begin) -> None:
    ledger, seen = begin_shared(), list[Any]()
    attempt = answered_and_killed(ledger)
    ledger.operations.settle(attempt, NOT_ISSUED)
    assert recovered(ledger, issued("N1"), seen) == [READ]
    assert ledger.states() == {attempt: "not_sent"}
    assert ledger.rows("SELECT state, number, taken FROM late_word") == [("issued", "N1", False)]
    ledger.plan(itinerary(1))
    assert ledger.claim(5) == []


def test_an_answer_that_says_what_evidence_said_is_read_once(begin_shared: Begin) -> None:
    ledger, seen = begin_shared(), list[Any]()
    attempt = answered_and_killed(ledger)
    ledger.operations.settle(attempt, Settlement("issued", "N1", "chen", "the carrier's letter"))
    for _ in range(2):
        recovered(ledger, issued("N1"), seen)
    assert (len(seen), ledger.states()) == (1, {attempt: "issued"})
    assert ledger.rows("SELECT count(*) FROM settlement") == [(1,)]
    assert ledger.rows("SELECT taken FROM late_word") == [
        (True,)
    ]  # else it would hold its charge though it is reversed


def test_whether_the_service_may_have_taken_the_key_is_known_by_what_went_beside(begin_shared: Begin) -> None:
    ledger, refused = begin_shared(), Answered(401, b"")
    beside = {
        "nothing": (False, ()),
        "issued": (True, (Ended, issued("N9"))),
        "rejected": (True, (Ended, NO)),
        "busy": (False, (Ended, Outcome("not_sent", "carrier_busy"))),
        "no answer": (False, (Ended, LOST)),
        "its answer not read yet": (True, (GotAnswer, Answered(200, b""))),
        "another refusal": (False, (GotAnswer, refused)),
        "no answer, and nobody to say so": (True, None),
    }
    expected = {}
    for number, (accepted, other) in enumerate(beside.values(), 1):
        (attempt,) = ledger.plan(itinerary(number))
        ledger.claim(1)
        ledger.record(GotAnswer(attempt, refused))
        if other != ():
            (second,) = ledger.plan(itinerary(100 + number))
            ledger.claim(1)
            if other:
                ledger.record(other[0](second, other[1]))
        ledger.sender_dies()
        ledger.change(lambda _: None)  # another run
        expected[f"{9990000000000 + number}"] = accepted
    seen: list[Any] = []
    recovered(ledger, UNREADABLE, seen)
    assert {one[0].tickets[0]: one[2] for one in seen if one[0].tickets[0] in expected} == expected


def test_a_doubt_goes_with_the_answer(begin_shared: Begin) -> None:
    ledger, seen = begin_shared(), list[Any]()
    (first,) = ledger.plan(invoice(charge(1), charge(2)))
    ledger.claim(1)
    ledger.record(Ended(first, LOST))
    ledger.operations.settle(first, Settlement("issued", "N0", "chen", "the carrier's letter"))
    ledger.change(lambda operations: operations.withdraw("S1", withdrawn_by="chen", why="a mistake"))
    ledger.sender_dies()
    ledger.operations.settle(first, NOT_ISSUED)
    (second,) = ledger.plan(invoice(charge(1), charge(2)))
    ledger.claim(1)
    ledger.record(GotAnswer(second, YES))
    ledger.sender_dies()
    recovered(ledger, UNREADABLE, seen)
    ((asked, doubted, *_),) = seen
    assert (sorted(asked.tickets), doubted) == (["9990000000001", "9990000000002"], True)


# --- spill files -----------------------------------------------------------------------------------


def spilled_and_killed(ledger: Shared, *, told: bool, worker: uuid.UUID | None = None) -> None:
    """A worker gets its answer while the server is away, and is killed; `told`: after it has said what that comes to."""
    ((attempt,),) = ledger.rows("SELECT attempt_id FROM attempt")
    spill = WorkerSpill(ledger.operations.ledger_id, worker or ledger.worker.worker, 1)
    spill.keep(GotAnswer(attempt, YES))
    if told:
        spill.keep(Ended(attempt, issued("N1")))
    spill.close()


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("dead", [True, False])
def test_an_answer_in_a_spill_file_is_kept_and_read(begin_shared: Begin, told: bool, dead: bool) -> None:
    ledger, seen = begin_shared(), list[Any]()
    (attempt,) = ledger.plan(itinerary(1))
    ledger.claim(1)
    spilled_and_killed(ledger, told=told)
    if dead:
        ledger.sender_dies()
    said = recovered(ledger, issued("N1"), seen)
    assert ("Taken in from the spill file of an earlier run: 1 outcomes" in said) is told
    assert ledger.rows("SELECT http_status, answer, retry_after FROM attempt") == [(200, b"yes", "7")]
    if not dead and not told:  # it is read when its worker has been silent for too long
        ledger.sender_dies()
        said = recovered(ledger, issued("N1"), seen)
    assert (READ in said, len(seen)) == ((False, 0) if told else (True, 1))
    assert ledger.states() == {attempt: "issued"}


def test_an_answer_of_an_attempt_that_this_ledger_lacks_is_kept_aside(
    begin_shared: Begin, tmp_path: Path
) -> None:
    ledger = begin_shared()
    (attempt,) = ledger.plan(itinerary(1))
    ledger.claim(1)
    spilled_and_killed(ledger, told=False, worker=uuid.uuid4())
    (said,) = recovered(ledger, issued("N1"))
    assert "holds outcomes that do not fit this ledger" in said
    assert [path.suffix for path in tmp_path.rglob("*.*") if path.is_file()] == [".kept"]
    assert ledger.states() == {attempt: "sending"}


def test_the_times_of_an_answer_that_came_late_are_in_order(begin_shared: Begin) -> None:
    """Else the times of its whole run would be doubted."""
    ledger = begin_shared()
    ledger.plan(itinerary(1))
    ledger.claim(1)
    spilled_and_killed(ledger, told=False)
    ledger.sender_dies()
    recovered(ledger, issued("N1"))
    assert ledger.rows(
        "SELECT answered_at IS NULL OR (answered_at BETWEEN sending_at AND ended_at) FROM attempt"
    ) == [(True,)]


# --- joining ---------------------------------------------------------------------------------------


def test_whoever_was_not_told_that_it_has_joined_joins_again_as_the_same(
    begin_shared: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, asked = begin_shared(), list[uuid.UUID]()

    def joined(connection: LedgerConnection, worker: uuid.UUID) -> Worker:
        one = Worker(connection, worker)
        asked.append(worker)
        if len(asked) == 1:
            raise ServerAway("gone before it had said so")
        return one

    monkeypatch.setattr(worker_membership, "Worker", joined)
    with closing(SharedWriter(ledger.url("worker"), lambda _: None, 1)) as writer:
        assert [str(one) for one in asked] == [writer.worker] * 2
        assert ledger.rows("SELECT count(*) FROM worker") == [(2,)]  # it, and the test's own
    assert ledger.rows("SELECT count(*) FROM worker WHERE left_at IS NULL") == [(1,)]


# --- invitations -----------------------------------------------------------------------------------


def test_workers_are_invited_to_what_is_planned_or_nothing_is(begin_shared: Begin) -> None:
    ledger = begin_shared()
    with closing(connect(ledger.url("owner"))) as owner:
        owner.execute("DROP SCHEMA IF EXISTS procrastinate CASCADE")
        owner.execute(f"BEGIN; {invitations.statements()} COMMIT".encode())
        inviting = PostgresqlLedger(ledger.connect("issuer"), seal, invited=2)
        inviting.plan(ledger.run, [itinerary(1)], ROWS, NO_DETAILS)
        inviting.plan(ledger.run, [itinerary(2), itinerary(3), itinerary(4)], ROWS, NO_DETAILS)
        jobs = "SELECT queueing_lock FROM procrastinate.procrastinate_jobs ORDER BY 1"
        assert ledger.rows(jobs) == [(f"run/{ledger.run}/{one}",) for one in (0, 1)]
        owner.execute("REVOKE INSERT ON procrastinate.procrastinate_jobs FROM voucher_issuer")
        with pytest.raises(Exception, match=r"Database error"):
            inviting.plan(ledger.run, [itinerary(5)], ROWS, NO_DETAILS)
        assert len(ledger.states()) == 4
        owner.execute("DROP SCHEMA procrastinate CASCADE")
    inviting.plan(ledger.run, [itinerary(5)], ROWS, NO_DETAILS)
    assert len(ledger.states()) == 5
