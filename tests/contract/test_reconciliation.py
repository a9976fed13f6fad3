"""What a reconciliation settles in either ledger; and on a shared one, where who sent may still be on, it goes on beside what is no proof yet."""

import datetime
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from pipeline.ledger.attempt_changes import Ended
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer, Complete, Evidence, Statement
from pipeline.model.job import Job, Watch
from pipeline.model.outcome import Outcome
from pipeline.model.places import row_at
from pipeline.model.profile import Carrier, Profile, Reconcile, Secrets
from pipeline.model.settled import Decided
from pipeline.open_ledger import ledger_to_write
from pipeline.reconciliation.record_settlements import settle
from pipeline.submission.sending_run import Run
from tests.contract.conftest import Begin
from tests.contract.ledgers import OWNER, Ledger, charge, invoice, issued
from tests.contract.test_evidence import LOST, line

pytestmark = pytest.mark.slow

DAY = datetime.timedelta(days=1)


def reconciled(ledger: Ledger, *answers: Answer, **given: Any) -> Decided:
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)
    run = Run("reconcile", Job((), Profile(), None), ledger.operations, ledger.run, Secrets("", ""), watch)
    return settle(run, replace(Evidence((), answers, (), None, "cron"), **given))


def answer(ledger: Ledger, number: int, resolution: str, voucher: str = "") -> Answer:
    request = invoice(charge(number)).request_id
    place = row_at("answered.xlsx", "Unknown", number)
    return Answer(ledger.operations.epoch, request, 1, resolution, voucher, "Wang", "tel.", place)


def in_doubt(ledger: Ledger, *numbers: int) -> list[int]:
    ledger.plan(*(invoice(charge(number)) for number in numbers))
    attempts = ledger.claim(len(numbers))
    ledger.record(*(Ended(attempt, LOST) for attempt in attempts))
    return attempts


def problems(decided: Decided) -> list[tuple[str, str]]:
    return [(one.code, str(one.place)) for one in decided.troubles]


def test_answers_and_statements_settle_what_a_dead_sender_left(ledger: Ledger) -> None:
    first, second, third, fourth = in_doubt(ledger, 1, 2, 3, 4)
    ledger.sender_dies()
    listed = Statement(
        "s.csv", "0" * 64, datetime.datetime.now(datetime.UTC), (line("N3", ticket=3), line("E9", ticket=9))
    )
    decided = reconciled(
        ledger, answer(ledger, 1, "issued", "N0001"), answer(ledger, 2, "not issued"), statements=(listed,)
    )
    assert problems(decided) == []
    assert [one.attempt.attempt_id for one in decided.settled] == [first, second, third]
    assert ledger.states() == {first: "issued", second: "not_sent", third: "issued", fourth: "unknown"}
    assert ledger.rows("SELECT ticket_no, live FROM elsewhere") == [("9990000000009", True)]


def test_what_is_no_proof_yet_is_told_and_the_rest_is_settled(begin_shared: Begin) -> None:
    ledger = begin_shared()
    first, second = in_doubt(ledger, 1, 2)
    answers = answer(ledger, 1, "not issued"), answer(ledger, 2, "issued", "N0002")
    decided = reconciled(ledger, *answers)
    assert [one.attempt.attempt_id for one in decided.settled] == [second]
    assert problems(decided) == [("not_settled", f"request {invoice(charge(1)).request_id}, attempt 1")]
    assert f"voucher ledger declare-dead {ledger.worker.worker} --how HOW" in str(decided.troubles[0].message)
    assert ledger.states() == {first: "unknown", second: "issued"}
    ledger.sender_dies()
    assert problems(reconciled(ledger, answers[0])) == []
    assert ledger.states() == {first: "not_sent", second: "issued"}


def test_silence_is_as_old_as_the_statement(begin_shared: Begin) -> None:
    """It was made before the sender was seen dead, so that the request may have left after it; a later one shows that it did not."""
    ledger = begin_shared()
    for number in (1, 2, 3, 4):
        if number == 2:
            (doubtful,) = in_doubt(ledger, 2)
        else:
            ledger.plan(invoice(charge(number)))
            ledger.record(Ended(*ledger.claim(1), issued(f"N{number}")))
    ((at,),) = ledger.rows("SELECT clock_timestamp()")
    ledger.sender_dies()
    listed = Statement(
        "s.csv", "0" * 64, at, tuple(line(f"N{number}", ticket=number) for number in (1, 3, 4))
    )
    # What clocks may differ by, an hour, is taken off what the profile says.
    silent: dict[str, Any] = {
        "complete": (Complete(at - DAY, at + 4 * DAY, "these days", "invoice"),), "settle_after": -datetime.timedelta(hours=1),
    }  # fmt: skip
    decided = reconciled(ledger, statements=(replace(listed, said_made=at),), **silent)
    assert problems(decided) == [("not_settled", f"request {invoice(charge(2)).request_id}, attempt 1")]
    assert "its sender had not ended by" in str(decided.troubles[0].message)
    later = at + DAY
    decided = reconciled(ledger, statements=(replace(listed, written=later, said_made=later),), **silent)
    assert [one.attempt.attempt_id for one in decided.settled] == [doubtful]
    assert ledger.states()[doubtful] == "not_sent"


def test_a_run_does_not_begin_by_a_profile_that_contradicts_the_ledger(begin_shared: Begin) -> None:
    ledger = begin_shared()
    carrier = Carrier(base_url=OWNER.base_url, agency=OWNER.agency)
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)
    for hours, begins in ((0.5, False), (1, True)):
        profile = Profile(carrier=carrier, reconcile=Reconcile(settle_after_hours=hours))
        job = Job((), profile, None, ledger=ledger.url("issuer"))
        with nullcontext() if begins else pytest.raises(InputProblem, match="settle_after_hours"):  # noqa: SIM117 - the second may raise
            with ledger_to_write(job, watch, _never) as opened:
                assert opened.ledger_id == ledger.operations.ledger_id


def _never(*_: object) -> Outcome:
    raise AssertionError("there is no answer to interpret")
