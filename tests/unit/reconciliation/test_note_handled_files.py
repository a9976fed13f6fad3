"""What is noted of the files that were dealt with."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger.inbox_files import EARLY, NAMED, UNREAD
from pipeline.model.errors import LedgerProblem
from pipeline.model.evidence import Misread
from pipeline.model.message import message
from pipeline.model.places import row_at
from pipeline.reconciliation.comparison_inputs import compared
from pipeline.reconciliation.inbox import Inbox
from pipeline.reconciliation.note_handled_files import note_handled
from pipeline.reconciliation.resubmit import Again
from pipeline.reconciliation.result_changes import fates
from pipeline.settlement.reconciliation_result import Reconciled
from tests.unit.reconciliation.desk import (
    NO_EVIDENCE,
    Desk,
    Tables,
    batch,
    line,
    said_of,
    settled,
    statement,
    unready,
)


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
    empty = replace(given[3], misread=())
    said = replace(
        said_of(desk), statements=(empty, replace(empty, sha256="9" * 64, lines=(line(1, "N-01"),)))
    )
    assert [row[5] for row in handled(desk, Inbox(), said=said)[-2:]] == [f"{NAMED} {EARLY}", NAMED]


def test_a_ledger_that_takes_no_note_is_named(desk: Desk) -> None:
    said = said_of(desk)
    run = desk.run_of(desk.job())
    desk.ledger._connection.close()
    with pytest.raises(LedgerProblem, match=str(desk.ledger.path)):
        note_handled(run, Inbox(), (), Reconciled(said))
