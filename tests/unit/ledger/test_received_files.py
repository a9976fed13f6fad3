"""Itinerary files in the ledger: what is known of them, what they came to, which have not come; and what the database refuses."""

import datetime
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import apsw
import pytest

from pipeline.ledger import (
    export,
    issued_elsewhere,
    planning,
    received_files,
    reversals,
    runs,
    settlements,
    ticket_rows,
    withdrawals,
)
from pipeline.ledger.integrity_check import look
from pipeline.ledger.ledger_file import LedgerFile
from pipeline.ledger.received_files import bounds, known, not_received
from pipeline.ledger.reversals import SaidReversed
from pipeline.ledger.settlements import Settlement
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    FileStatus,
    ItineraryData,
    KnownVoucher,
    SealStatus,
)
from pipeline.model.message import message, verbatim

from .conftest import HEADER, Book

ZONE = "Asia/Shanghai"
TICKETS = [f"999{number:010}" for number in range(5)]
NUMBERS = [f"2026112000000000000{number}" for number in range(5)]
SENT, ENDED = "2026-11-20T23:30:00.000+00:00", "2026-11-21T15:30:00.000+00:00"
#: Where the carrier is.
FIRST = datetime.date(2026, 11, 21)
BUYER = (HEADER.header_name, HEADER.tax_no)


def at_times(book: Book, attempt_id: int, state: str, number: str = "") -> None:
    if state == "sending":
        book.connection.execute(
            "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?", (SENT, attempt_id)
        )
        return
    book.connection.execute(
        "UPDATE attempt SET state = ?, number = ?, ended_at = ? WHERE attempt_id = ?",
        (state, number, ENDED, attempt_id),
    )


@pytest.fixture
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, fare: Any) -> Book:
    """Itineraries of ticket 1 and 2 issued, that of 3 in doubt, an invoice of 4, all in a run of that time."""
    for room in (runs, planning):
        monkeypatch.setattr(room, "utc_now", lambda: "2026-11-20T23:00:00.000+00:00")
    book: Book = request.getfixturevalue("book")
    vouchers = ["itinerary"] * 3 + ["invoice"]
    planned = book.plan(*(fare(number, voucher=kind) for number, kind in enumerate(vouchers, 1)))
    for number, attempt in enumerate(planned, 1):
        at_times(book, attempt.attempt_id, "sending")
        at_times(book, attempt.attempt_id, *(("unknown",) if number == 3 else ("issued", NUMBERS[number])))
    return book


def file(number: int, content: str = "a", **changes: Any) -> CheckedFile:
    data = ItineraryData(NUMBERS[number], (TICKETS[number],), *BUYER, total=100_00)
    return CheckedFile(
        ("mail.eml", f"{content}.ofd"), content * 64, replace(data, **changes), SealStatus.NONE
    )


def collected(
    book: Book, number: int, content: str = "a", status: str = "received", **more: Any
) -> CollectedFile:
    one = file(number, content)
    of = known(book.connection, [one], ZONE).by_number.get(NUMBERS[number])
    return CollectedFile(replace(one, archived="2026-11/a.ofd"), FileStatus(status), **{"of": of, **more})


def rows(book: Book) -> list[tuple[Any, ...]]:
    return list(
        book.connection.execute(
            "SELECT sha256, status, attempt_id, number, archived FROM received_file ORDER BY received_file"
        )
    )


def test_what_is_known_of_files_is_told_by_number_and_by_ticket_and_of_no_others(kept: Book) -> None:
    found = known(kept.connection, [file(1), file(3, "b"), file(4, "c")], ZONE)
    assert found.by_number.keys() == {NUMBERS[1]}
    assert {ticket: [one.state for one in vouchers] for ticket, vouchers in found.by_ticket.items()} == {
        TICKETS[1]: ["issued"],
        TICKETS[3]: ["unknown"],
        TICKETS[4]: ["issued"],
    }
    request = kept.connection.execute("SELECT request_id FROM attempt WHERE attempt_id = 1").get
    assert found.by_number[NUMBERS[1]] == KnownVoucher(
        1, request, 1, "itinerary", "issued", NUMBERS[1], TICKETS[1], *BUYER, 100_00, FIRST, FIRST
    )
    assert found.by_ticket[TICKETS[4]][0].voucher == "invoice"
    assert found.buyers == frozenset()  # nobody asks


def test_days_go_on_until_today_where_the_outcome_was_in_doubt_and_there_are_none_by_a_wrong_clock(
    kept: Book,
) -> None:
    assert [
        (one.first, one.last) for one in known(kept.connection, [file(3)], ZONE).by_ticket[TICKETS[3]]
    ] == [(FIRST, datetime.datetime.now(ZoneInfo(ZONE)).date())]
    kept.connection.execute(
        "INSERT INTO clock_correction (latest, last_run, corrected_by, corrected_at) VALUES ('2027', 1, 'chen', '2026-11-20')"
    )
    wrong = known(kept.connection, [file(1)], ZONE).by_number[NUMBERS[1]]
    assert (wrong.first, wrong.last) == (None, None)


def test_buyers_are_told_where_a_ticket_is_not_known(kept: Book) -> None:
    strange, ledger = file(1, tickets=("9990000000099",), red_of=None), LedgerFile(kept.path, kept.connection)
    assert ledger.about_files([strange], ZONE).buyers == {"exampletradingco.", "91110000600037341l"}
    assert ledger.about_files([file(1)], ZONE).buyers == frozenset()


def test_what_a_statement_alone_shows_is_known_and_what_it_shows_of_ours_is_ours(kept: Book) -> None:
    lines = [
        StatementLine("itinerary", number, ticket, "ticket_fare", "flight", 100_00, None, "Acme", message("s.csv"), "s.csv")
        for number, ticket in ((NUMBERS[0], TICKETS[0]), (NUMBERS[2], TICKETS[2]))
    ]  # fmt: skip
    issued_elsewhere.record(kept.connection, kept.run, [(line, "") for line in lines], "chen")
    found = known(kept.connection, [file(0), file(2, "b")], ZONE)
    assert [found.by_number[NUMBERS[at]].attempt_id for at in (0, 2)] == [None, 2]
    assert [[one.attempt_id for one in found.by_ticket[TICKETS[at]]] for at in (0, 2)] == [[None], [2]]


def test_what_a_statement_shows_of_a_ticket_in_doubt_is_not_taken_for_another_voucher(kept: Book) -> None:
    line = StatementLine(
        "itinerary",
        NUMBERS[3],
        TICKETS[3],
        "ticket_fare",
        "flight",
        100_00,
        None,
        "Acme",
        message("s.csv"),
        "s.csv",
    )
    issued_elsewhere.record(kept.connection, kept.run, [(line, "")], "chen")
    found = known(kept.connection, [file(3)], ZONE)
    assert found.by_number == {}
    assert [one.state for one in found.by_ticket[TICKETS[3]]] == ["unknown"]


def test_what_was_reversed_is_told_so(kept: Book) -> None:
    reversals.reverse(
        kept.connection, SaidReversed(NUMBERS[1], "chen", verbatim("red"), "itinerary", ""), kept.run
    )
    assert known(kept.connection, [file(1)], ZONE).by_number[NUMBERS[1]].state == "reversed"


def test_a_file_is_noted_once_and_again_only_where_it_comes_to_something_else(kept: Book) -> None:
    differs = collected(kept, 1, status="differs", reasons=(message("amount"),))
    received_files.note(kept.connection, kept.run, [differs])
    noted = known(kept.connection, [file(1)], ZONE).noted["a" * 64]
    assert (noted.status, noted.attempt_id) == (FileStatus.DIFFERS, 1)
    received_files.note(kept.connection, kept.run, [replace(differs, new=False)])
    with pytest.raises(apsw.ConstraintError, match="noted already"):
        received_files.note(kept.connection, kept.run, [differs])
    received_files.note(kept.connection, kept.run, [collected(kept, 1)])
    assert [row[:3] for row in rows(kept)] == [("a" * 64, "differs", 1), ("a" * 64, "received", 1)]
    found = known(kept.connection, [file(1)], ZONE)
    assert (found.received[NUMBERS[1]].sha256, found.noted["a" * 64].status) == ("a" * 64, "received")


def test_of_each_file_the_place_in_the_archive_that_was_noted_last_is_told_those_first_that_came_first(
    kept: Book,
) -> None:
    came = [
        (collected(kept, 2, "b", "differs"), "2026-11/b.ofd"),
        (collected(kept, 1, "a", "differs"), "2026-11/a.ofd"),
        (collected(kept, 2, "b"), "2026-11/b-2.ofd"),
        (collected(kept, 1, "c", "unreadable"), ""),
    ]
    for one, place in came:
        received_files.note(kept.connection, kept.run, [replace(one, file=replace(one.file, archived=place))])
    assert [*received_files.archived(kept.connection).items()] == [
        ("b" * 64, "2026-11/b-2.ofd"), ("a" * 64, "2026-11/a.ofd"),
    ]  # fmt: skip


def test_all_files_of_a_note_are_noted_or_none(kept: Book) -> None:
    with pytest.raises(apsw.ConstraintError):
        received_files.note(kept.connection, kept.run, [collected(kept, 1), collected(kept, 3, "b")])
    assert rows(kept) == []


@pytest.mark.parametrize("either", ["", "OR REPLACE", "OR IGNORE"])
@pytest.mark.parametrize(
    "changed",
    [
        {"number": "'20261120000000000009'"},
        {"number": "''"},
        {"attempt_id": "2"},  # another one's
        {"attempt_id": "3"},  # in doubt
        {"attempt_id": "4711"},
        {"attempt_id": "NULL"},
        {"seal": "'broken'"},
        {"seal": "'good'"},
        {"status": "'fine'"},
        {"sha256": "'ab'"},
        {"sha256": f"'{'G' * 64}'"},
        {"run": "4711"},
    ],
)
def test_received_is_one_file_of_an_itinerary_that_is_issued(
    kept: Book, changed: dict[str, str], either: str
) -> None:
    kept.connection.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
    given = {
        "run": str(kept.run), "sha256": f"'{'b' * 64}'", "status": "'received'", "attempt_id": "1", "number": f"'{NUMBERS[1]}'",
        "ticket_no": "''", "total": "1", "seal": "'none'", "place": "'a'", "archived": "''", "reasons": "''", "received_at": "'now'",
    }  # fmt: skip

    def insert(values: dict[str, str]) -> None:
        kept.connection.execute(
            f"INSERT {either} INTO received_file ({', '.join(values)}) VALUES ({', '.join(values.values())})"
        )

    with pytest.raises(apsw.ConstraintError):
        insert(given | changed)
    assert rows(kept) == []
    insert(given)
    with pytest.raises(apsw.ConstraintError, match="one file of an itinerary"):
        insert(given | {"sha256": f"'{'c' * 64}'"})
    runs._end_run(kept.connection, kept.run, 0)
    with pytest.raises(apsw.ConstraintError, match="a run that is on"):
        insert(given | {"sha256": f"'{'d' * 64}'", "status": "'duplicate'"})
    assert len(rows(kept)) == 1


def test_each_itinerary_that_is_issued_is_received_or_missing_the_longest_first(kept: Book) -> None:
    today = (datetime.date(2026, 11, 30), ZONE)

    def waiting(*period: datetime.date | None) -> tuple[int, list[tuple[str, str, int]]]:
        count, found = not_received(kept.connection, *bounds(*(period or (None, None)), ZONE), today)
        return count, [(one.ticket_no, one.status, one.days) for one in found]

    both = [(TICKETS[1], "missing", 9), (TICKETS[2], "missing", 9)]
    assert waiting() == (2, both)
    assert waiting(FIRST, FIRST) == (2, both)
    assert waiting(None, FIRST - datetime.timedelta(days=1)) == (0, [])
    assert waiting(FIRST + datetime.timedelta(days=1), None) == (0, [])
    received_files.note(kept.connection, kept.run, [collected(kept, 1), collected(kept, 2, "b", "differs")])
    assert waiting() == (2, [(TICKETS[2], "differs", 9)])
    received_files.note(kept.connection, kept.run, [collected(kept, 2, "c")])
    assert waiting() == (2, [])
    reversals.reverse(
        kept.connection, SaidReversed(NUMBERS[1], "chen", verbatim("red"), "itinerary", ""), kept.run
    )
    assert waiting() == (1, [])


def test_what_was_settled_and_withdrawn_again_is_received_no_more(kept: Book) -> None:
    settlements.settle(kept.connection, 3, Settlement("issued", NUMBERS[3], "chen", "its file"))
    received_files.note(kept.connection, kept.run, [collected(kept, 3)])
    today = (datetime.date(2026, 11, 30), ZONE)
    assert len(not_received(kept.connection, "", "~", today)[1]) == 2
    withdrawals.withdraw(kept.connection, "S1", withdrawn_by="chen", why="it was another's")
    assert look(kept.connection).wrong == ()
    assert known(kept.connection, [file(3)], ZONE).by_ticket[TICKETS[3]][0].state == "unknown"
    settlements.settle(
        kept.connection, 3, Settlement("issued", NUMBERS[0], "li", "asked the carrier", "asked")
    )
    assert TICKETS[3] in [one.ticket_no for one in not_received(kept.connection, "", "~", today)[1]]


def test_the_full_check_finds_what_the_database_would_have_refused(kept: Book) -> None:
    received_files.note(kept.connection, kept.run, [collected(kept, 1)])
    assert look(kept.connection).wrong == ()
    kept.connection.execute("DROP TRIGGER received_file_stays; DROP TRIGGER received_file_of_what_is_issued")
    kept.connection.execute("UPDATE received_file SET attempt_id = 2")
    received_files.note(kept.connection, kept.run, [collected(kept, 1, "b")])
    wrong = [str(one) for one in look(kept.connection).wrong]
    assert f"an itinerary that two files are received for: {NUMBERS[1]}" in wrong
    assert "a file received for what was not issued under its number: attempt 2" in wrong


def test_a_ticket_s_files_and_the_export_tell_them(kept: Book) -> None:
    differs = collected(kept, 1, "b", "differs", reasons=(message("the seal does not fit the file"),))
    strange = replace(differs, file=file(1, "c", tickets=("9990000000077",)))
    received_files.note(kept.connection, kept.run, [collected(kept, 1), differs, strange])
    found = ticket_rows.received_files(kept.connection, TICKETS[1])
    assert [(row["status"], row["sha256"][0], str(row["detail"]), row["attempt"]) for row in found] == [
        ("received", "a", "", 1),
        ("differs", "b", "the seal does not fit the file", 1),
        ("differs", "c", "the seal does not fit the file", 1),
    ]
    assert [row["sha256"][0] for row in ticket_rows.received_files(kept.connection, "9990000000077")] == ["c"]
    exported = [*export.rows(kept.connection, "received_files")]
    assert [(row["status"], row["archived"], row["place"]) for row in exported] == [
        ("received", "2026-11/a.ofd", "mail.eml/a.ofd"),
        ("differs", "2026-11/a.ofd", "mail.eml/b.ofd"),
        ("differs", "", "mail.eml/c.ofd"),
    ]


def test_of_attempts_in_doubt_it_is_known_that_files_came_about_them(kept: Book) -> None:
    assert received_files.about_unknown(kept.connection) == frozenset()
    doubtful = kept.connection.execute("SELECT attempt_id FROM attempt WHERE state = 'unknown'").get
    kept.connection.execute(
        "INSERT INTO received_file (run, sha256, status, attempt_id, number, ticket_no, seal, place, archived, reasons, received_at)"
        " SELECT run, hex(zeroblob(32)), 'unclear', attempt_id, '', '', 'none', 'a.ofd', '', '', ended_at FROM attempt"
        " WHERE attempt_id = ?",
        (doubtful,),
    )
    assert received_files.about_unknown(kept.connection) == {doubtful}
