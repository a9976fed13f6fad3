"""Batches judged anew and sent: what of the evidence holds a ticket back, what of one batch stops the next, and what is told."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger import reversals
from pipeline.ledger.clock import local_text
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import Evidence, Misread, Reversal
from pipeline.model.message import message
from pipeline.model.outcome import Outcome
from pipeline.model.places import row_at
from pipeline.model.profile import Profile
from pipeline.model.settled import Decided
from pipeline.model.table import Table
from pipeline.reconciliation.inbox import Batch
from pipeline.reconciliation.resubmit import Again, again, with_answers
from pipeline.reconciliation.result_changes import unfinished
from tests.committing import nothing_is_kept
from tests.unit.reconciliation.desk import BY, KEYS, Desk, refusing, statement, ticket

Tables = Callable[..., Table]
NO_EVIDENCE = Evidence((), (), (), None, BY)


def rows(*numbers: int, **changes: Any) -> list[dict[str, Any]]:
    return [{"ticket_no": ticket(number), **changes} for number in numbers]


def tried(
    desk: Desk, *tables: Table, evidence: Evidence = NO_EVIDENCE, decided: Decided | None = None, **job: Any
) -> list[Again]:
    run = desk.run_of(desk.job(**{"secrets": KEYS, **job}))
    return again(run, [Batch(table) for table in tables], evidence, decided or Decided())


def told(done: Sequence[Again]) -> list[list[tuple[str, str]]]:
    """Of each batch: how each row ended, and the reason without the cure."""
    return [
        [(row.status, row.reasons[0].message if row.reasons else "") for row in one.result.rows]
        for one in done
    ]


@pytest.mark.slow
def test_each_batch_is_sent_and_stands_beside_what_came_of_it(desk: Desk, table_of: Tables) -> None:
    batches = [
        Batch(table_of(rows(1, 2)), Path("a.xlsx"), "0" * 64),
        Batch(table_of([*rows(3), *rows(1)]), Path("b.xlsx"), "1" * 64),
    ]
    run = desk.run_of(desk.job(secrets=KEYS, sandbox=True))
    done = again(run, batches, NO_EVIDENCE, Decided())
    assert [one.batch for one in done] == batches
    assert [[row.status for row in one.result.rows] for one in done] == [
        ["issued", "issued"],
        ["issued", "already_issued"],
    ]
    assert [one.ledger_failed for one in done] == [False, False]
    assert [unfinished(one.result) for one in done] == [False, False]


def test_rows_are_judged_by_the_job(desk: Desk, table_of: Tables) -> None:
    """By its day and its profile; and what the carrier refused once is not sent again by itself."""
    bare = Profile()  # in which the carrier has told no code of a fare
    done = tried(desk, table_of(rows(1)), profile=bare)
    assert told(done)[0][0][0] == "ineligible"
    desk.sent(2, Outcome("rejected", "carrier_rejected"))
    refused = {"header_type": "individual", "header_name": "Li Na", "tax_no": "", "phone": "", "email": "l@example.com"}  # fmt: skip
    row = {**rows(2, voucher="itinerary", passenger_name="ZHANG/WEI", amount="10.00")[0], **refused}
    done = tried(desk, table_of([row]))
    assert told(done)[0][0][0] == "rejected"
    assert desk.logged == []


def test_without_keys_nothing_can_be_sent_and_what_needs_no_sending_is_judged(
    desk: Desk, table_of: Tables
) -> None:
    invalid = table_of(rows(1, passenger_name=""))
    done = tried(desk, invalid, secrets=None)
    assert [status for ((status, _),) in told(done)] == ["invalid"]
    with pytest.raises(InputProblem, match=r"VOUCHER_ENCRYPTION_KEY are needed to send"):
        tried(desk, invalid, table_of(rows(2)), secrets=None)
    assert desk.states() == []


def test_a_run_with_a_sandbox_of_its_own_needs_no_keys(desk: Desk, table_of: Tables) -> None:
    run = replace(desk.run_of(desk.job(secrets=None, sandbox=True)), keys=KEYS)
    done = again(run, [Batch(table_of(rows(1)))], NO_EVIDENCE, Decided())
    assert told(done) == [[("issued", "")]]


def test_where_the_ledger_may_lack_something_nothing_is_sent(desk: Desk, table_of: Tables) -> None:
    desk.gap()
    done = tried(desk, *map(table_of, (rows(1), rows(2, passenger_name=""), rows(3))))
    lacking = f"this ledger may lack what was issued after {local_text('2026-11-01T00:00:00.000+00:00')} (a copy was put back)"
    assert [str(one.result.stopped) for one in done] == [lacking, "", lacking]
    assert [[row.status for row in one.result.rows] for one in done] == [
        ["not_sent"], ["invalid"], ["not_sent"],
    ]  # fmt: skip
    assert desk.states() == []


def test_what_stops_the_sending_of_one_batch_stops_that_of_all_after_it(desk: Desk, table_of: Tables) -> None:
    with refusing() as profile:
        batches = (rows(1), rows(2), rows(3, passenger_name=""), rows(4))
        done = tried(desk, *map(table_of, batches), profile=profile)
    first, *others = (str(one.result.stopped) for one in done)
    assert "401" in first
    assert others == [first, "", first]
    assert [[row.status for row in one.result.rows] for one in done] == [
        ["not_sent"], ["not_sent"], ["invalid"], ["not_sent"],
    ]  # fmt: skip
    assert desk.states() == [("not_sent", "")]
    assert [one.ledger_failed for one in done] == [False] * 4


def test_after_a_failed_ledger_no_other_batch_is_looked_at(desk: Desk, table_of: Tables) -> None:
    with nothing_is_kept():
        done = tried(desk, table_of(rows(1)), table_of(rows(2)), sandbox=True)
    assert [(one.ledger_failed, one.result.rows[0].status) for one in done] == [(True, "not_sent")]
    assert "the ledger can't be written" in str(done[0].result.stopped)


def test_tickets_of_which_something_is_not_clear_are_not_sent_by_themselves(
    desk: Desk, table_of: Tables
) -> None:
    """Of a voucher that was reversed, of a line that can't be read, and of a red line; a line without a ticket holds nothing."""
    desk.sent(1, Outcome("issued", number="N-01"))
    reversals.reverse(desk.ledger._connection, reversals.SaidReversed("N-01", "Li", "letter"))

    def misread(number: int) -> Misread:
        return Misread(row_at("s.csv", "s", number), ticket(number) if number else "", message("what?"))

    red = Reversal(
        "N-04", "R-04", "invoice", ticket(4), "ticket_fare", "flight", 1000, row_at("s.csv", "s", 4)
    )
    brought = statement(misread=tuple(map(misread, (0, 1, 2))), reversals=(red,))
    evidence = replace(NO_EVIDENCE, statements=brought)
    table = table_of(
        [
            *rows(1, charge="ancillary", product="seat", purchased_on="2026-10-01"),
            *rows(2, 3, 4, header_name="Other Co.", voucher="itinerary"),
        ]
    )
    (found,) = told(tried(desk, table, evidence=evidence, sandbox=True))
    assert [status for status, _ in found] == ["not_sent", "not_sent", "issued", "not_sent"]
    assert f"a voucher of ticket {ticket(1)} was reversed by the carrier (N-01)" in found[0][1]
    for at in (1, 3):
        assert f"the statement has a line about ticket {ticket(at + 1)} that can't be read" in found[at][1]


def test_nor_is_what_was_settled_as_not_issued_while_an_answer_says_that_it_was(
    desk: Desk, table_of: Tables
) -> None:
    about = desk.doubt(1)
    desk.settle(desk.answer(about, "not issued"))
    evidence = replace(NO_EVIDENCE, answers=(desk.answer(about, "issued", "N-01"),))
    table = table_of(rows(1, 2, header_name="Other Co.", voucher="itinerary"))
    (found,) = told(tried(desk, table, evidence=evidence, sandbox=True))
    assert [status for status, _ in found] == ["not_sent", "issued"]
    assert f"an answer says that a voucher of ticket {ticket(1)} was issued" in found[0][1]


def test_a_ledger_whose_reversals_can_not_be_read_is_named(desk: Desk) -> None:
    run = desk.run_of(desk.job(secrets=KEYS))
    desk.ledger._connection.execute("ALTER TABLE reversal RENAME TO lost")
    with pytest.raises(LedgerProblem, match=str(desk.ledger.path)):
        again(run, [], NO_EVIDENCE, Decided())


def test_an_answer_that_settled_nothing_stands_beside_its_doubt_again(desk: Desk, table_of: Tables) -> None:
    about, other = desk.doubt(1), desk.doubt(2)
    answer = desk.answer(about, "perhaps", "N-01")
    of_another = desk.answer(other, "issued", "N-02", ledger_id="another")
    table = table_of(rows(1, 2, voucher="itinerary", amount="10.00"))
    (done,) = tried(desk, table, decided=Decided(answers=(answer, of_another)))
    assert [(one.request_id, one.attempt, one.typed) for one in done.result.doubts] == [
        (about.request.request_id, 1, answer.typed),
        (other.request.request_id, 1, ("", "", "", "")),
    ]
    typed = with_answers(done.result.doubts, ())
    assert [one.typed for one in typed] == [answer.typed, ("", "", "", "")], "what was there stays"
    later = replace(answer, attempt=2)
    assert with_answers(done.result.doubts[1:], (later,))[0].typed == ("", "", "", "")
