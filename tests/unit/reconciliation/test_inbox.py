"""What an inbox holds is taken as what it is, whole and once; what is not taken is left and told, and nothing of it counts."""

import datetime
import hashlib
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openpyxl
import pytest

from pipeline.ledger import inbox_files
from pipeline.ledger.inbox_files import Handled
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import Complete, Evidence
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Reconcile
from pipeline.model.settled import Decided
from pipeline.model.table import Table
from pipeline.reading.fingerprint import origin_of
from pipeline.reconciliation import inbox
from pipeline.reconciliation.given_evidence import Named
from pipeline.reconciliation.inbox import Batch, Inbox, _steady, take_in, weighed_together
from pipeline.reconciliation.resubmit import again
from pipeline.reporting.result_workbook import write_workbook
from tests.unit.reconciliation.desk import (
    BY,
    PROFILE,
    Desk,
    answers_file,
    line,
    old,
    statement,
    statement_file,
    ticket,
    workbook,
)

Tables = Callable[..., Table]
TOKYO = replace(PROFILE, carrier=Carrier(time_zone="Asia/Tokyo", currency="JPY"))


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long it was waited, which it need not be here."""
    found: list[float] = []
    sleeping(monkeypatch, found.append)
    return found


def sleeping(monkeypatch: pytest.MonkeyPatch, sleep: Callable[[float], None]) -> None:
    monkeypatch.setattr(inbox, "time", SimpleNamespace(time=time.time, sleep=sleep))


@pytest.fixture
def box(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


def taken(desk: Desk, box: Path | None, **job: Any) -> Inbox:
    desk.logged.clear()
    return take_in(desk.task(job=job, inbox=box), desk.ledger, desk.watch)


def rows(*numbers: int, **changes: Any) -> list[dict[str, Any]]:
    return [{"ticket_no": ticket(number), **changes} for number in numbers]


def tickets(batch: Batch) -> list[str]:
    return batch.table.tickets()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unread(found: Inbox) -> list[tuple[str, str]]:
    return [(one.path.name, str(one.problem)) for one in found.unread]


def nothing_taken(found: Inbox) -> bool:
    return not (found.batches or found.statements or found.answers or found.spent or found.paths)


def seen_before(desk: Desk, path: Path, kind: str, *, unfinished: bool) -> Handled:
    handled = Handled(sha256(path), kind, path.name, "a.result.xlsx", "0" * 20, unfinished)
    inbox_files.record(desk.ledger._connection, desk.run, handled)
    return handled


def result(desk: Desk, path: Path, table: Table) -> Path:
    """A result of ours, in which nothing was sent."""
    (done,) = again(desk.run_of(desk.job()), [Batch(table)], Evidence((), (), (), None, BY), Decided())
    return old(write_workbook(done.result, path))


def test_without_an_inbox_there_is_nothing(desk: Desk) -> None:
    assert taken(desk, None) == Inbox()


@pytest.mark.slow
def test_every_file_is_taken_as_what_it_is(desk: Desk, box: Path, slept: list[float]) -> None:
    """By what is in it, in the order of the names; the same content is known by its digest."""
    second = workbook(box / "b.xlsx", *rows(1, 2))
    first = workbook(box / "a.xlsx", *rows(3))
    listed = statement_file(box / "c.csv", line(4, "N-04"), line(5, "N-05"), line(6, ""))
    about = desk.answer(desk.doubt(7), "issued", "N-07")
    answered = answers_file(box / "d.xlsx", about, tickets=rows(8))
    found = taken(desk, box)
    assert [(batch.path, batch.sha256, batch.before, tickets(batch)) for batch in found.batches] == [
        (first, sha256(first), None, [ticket(3)]),
        (second, sha256(second), None, [ticket(1), ticket(2)]),
        (answered, sha256(answered), None, [ticket(8)]),
    ]
    ((seen, path),) = found.statements
    assert (path, seen.name, seen.sha256, seen.written) == (
        listed,
        "c.csv",
        sha256(listed),
        origin_of(listed).made,
    )
    assert ([one.number for one in seen.lines], len(seen.misread)) == (["N-04", "N-05"], 1)
    ((answers, path, digest),) = found.answers
    assert (path, digest) == (answered, sha256(answered))
    assert [(str(one.place), one.about, one.typed) for one in answers] == [
        ("d.xlsx, Unknown, row 2", about.about, about.typed)
    ]
    assert found.paths == [first, second, answered, listed, answered]
    assert (found.unread, found.still_written, found.spent) == ([], [], [])
    assert desk.logged == [
        ("read", {"file": "a.xlsx", "kind": "tickets", "rows": 1}),
        ("read", {"file": "b.xlsx", "kind": "tickets", "rows": 2}),
        ("read", {"file": "c.csv", "kind": "statement", "rows": 3}),
        ("read", {"file": "d.xlsx", "kind": "tickets", "rows": 1}),
        ("read", {"file": "d.xlsx", "kind": "resolved", "rows": 1}),
    ]
    assert (desk.noted, desk.warned, slept) == ([], [], [])


def test_a_statement_beside_which_somebody_has_put_answers_is_both(desk: Desk, box: Path) -> None:
    about = desk.answer(desk.doubt(1), "issued", "N-01")
    path = answers_file(box / "a.xlsx", about)
    book = openpyxl.load_workbook(path)
    for cells in (
        ("voucher", "number", "ticket_no", "charge"),
        ("itinerary", "N-02", ticket(2), "ticket_fare"),
    ):
        book["Tickets"].append(cells)
    book.save(path)
    old(path)
    found = taken(desk, box)
    assert [one.number for seen, _ in found.statements for one in seen.lines] == ["N-02"]
    assert [one.about for answers, _, _ in found.answers for one in answers] == [about.about]


def test_what_is_no_workbook_is_left_and_told_and_so_are_folders_but_no_locks(desk: Desk, box: Path) -> None:
    for name in ("notes.txt", "~$a.xlsx", ".a.xlsx", ".~lock.a.xlsx#", "Thumbs.db", "desktop.ini"):
        old((box / name).resolve()) if (box / name).write_text("x") == 0 else None
    for name in ("done.xlsx", "old", "out", ".git"):
        (box / name).mkdir()
    (box / "gone.xlsx").symlink_to(box / "nowhere.xlsx")
    (box / "A.XLSM").write_bytes(b"x")
    old(box / "A.XLSM")
    found = take_in(desk.task(inbox=box, outbox=box / "out"), desk.ledger, desk.watch)
    assert nothing_taken(found)
    assert desk.noted == [
        f"{box}: the folders in it are not looked into (done.xlsx, old); put what is to be read into {box} itself, or give such a folder by itself"
    ]
    told = dict(unread(found))
    assert list(told) == ["gone.xlsx", "notes.txt", "A.XLSM"]
    for name in ("gone.xlsx", "notes.txt"):
        assert (
            told[name] == f"{box / name}: is no workbook, and is not read; save it as .xlsx, or take it away"
        )
    assert "no workbook, and is not read" not in told["A.XLSM"]
    assert desk.logged == [
        ("file_left", {"file": "gone.xlsx", "because": "not a workbook"}),
        ("file_left", {"file": "notes.txt", "because": "not a workbook"}),
        ("file_left", {"file": "A.XLSM", "because": "unreadable"}),
    ]


def test_an_inbox_that_can_not_be_read_is_refused(desk: Desk, box: Path) -> None:
    told = r"^--inbox \S+/gone: can't be read \(No such file or directory\); name a folder that exists$"
    with pytest.raises(InputProblem, match=told):
        taken(desk, box / "gone")


def test_a_file_that_can_not_be_read_is_left_and_the_others_are_taken(
    desk: Desk, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbook(box / "a.xlsx", *rows(1))
    (box / "b.csv").write_text("nothing known\n")
    old(box / "b.csv")
    workbook(box / "c.xlsx", *rows(3))
    (box / "d.csv").write_text("ticket_no,number,voucher number\n")
    old(box / "d.csv")
    started = subprocess.Popen

    def but_for_one(command: list[str], **more: Any) -> Any:
        if command[-1].endswith("c.xlsx"):
            raise PermissionError(13, "Permission denied")
        return started(command, **more)

    monkeypatch.setattr(subprocess, "Popen", but_for_one)
    found = taken(desk, box)
    assert [tickets(batch) for batch in found.batches] == [[ticket(1)]]
    (first, why), second, (third, because) = unread(found)
    assert (first, why.startswith(f"{box / 'b.csv'}: no sheet has the headings of tickets")) == (
        "b.csv",
        True,
    )
    assert second == ("c.xlsx", f"{box / 'c.xlsx'}: can't be read (Permission denied); check its permissions")
    assert (third, because.startswith(f"{box / 'd.csv'}, sheet d: ")) == ("d.csv", True)
    assert desk.logged[1:] == [
        ("file_left", {"file": name, "because": "unreadable"}) for name in ("b.csv", "c.xlsx", "d.csv")
    ]


def test_a_ledger_that_fails_is_no_file_s_fault(desk: Desk, box: Path) -> None:
    workbook(box / "a.xlsx", *rows(1))
    desk.ledger._connection.close()
    with pytest.raises(LedgerProblem, match=str(desk.ledger.path)):
        taken(desk, box)


def test_a_file_that_is_written_to_while_it_is_looked_at_is_left_for_the_next_time(
    desk: Desk, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, growing, gone = (workbook(box / name, *rows(1)) for name in ("a.xlsx", "b.xlsx", "c.xlsx"))
    os.utime(fresh)
    waited = []

    def meanwhile(seconds: float) -> None:
        waited.append(seconds)
        with growing.open("ab") as file:
            file.write(b"more")
        gone.unlink()

    sleeping(monkeypatch, meanwhile)
    found = taken(desk, box)
    assert [batch.path for batch in found.batches] == [fresh]
    assert (found.still_written, found.unread, waited) == ([growing, gone], [], [2.0])
    assert desk.logged[1:] == [
        ("file_left", {"file": name, "because": "still written"}) for name in ("b.xlsx", "c.xlsx")
    ]
    assert desk.noted == [
        f"{path}: is still being written, and is left for the next time" for path in (growing, gone)
    ]


def test_a_file_that_is_away_when_it_is_first_looked_at_is_not_steady(box: Path, slept: list[float]) -> None:
    assert list(_steady([box / "gone.xlsx"])) == [(box / "gone.xlsx", False)]
    assert slept == []


def test_a_file_that_changes_while_it_is_read_is_left_for_the_next_time(
    desk: Desk, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(box / "a.xlsx", *rows(1))
    other = workbook(box.parent / "other.xlsx", *rows(2))
    started = subprocess.Popen

    def meanwhile(*command: Any, **more: Any) -> Any:
        path.write_bytes(other.read_bytes())
        return started(*command, **more)

    monkeypatch.setattr(subprocess, "Popen", meanwhile)
    found = taken(desk, box)
    assert nothing_taken(found)
    assert (found.still_written, found.unread) == ([path], [])
    assert desk.logged == [("file_left", {"file": "a.xlsx", "because": "still written"})]


@pytest.mark.parametrize(
    ("done", "comes_again"),
    [
        ((("tickets", False),), False),
        ((("tickets", True),), True),
        ((("tickets", False), ("resolved", True)), True),
        ((("tickets", True), ("tickets", False)), False),
        ((("statement", False),), False),
        ((("resolved", False),), False),
        ((("statement", True),), True),
    ],
)
def test_a_file_of_a_content_that_is_done_with_is_not_taken_under_any_name(
    desk: Desk, box: Path, done: tuple[tuple[str, bool], ...], comes_again: bool
) -> None:
    path = workbook(box / "a.xlsx", *rows(1))
    noted = [seen_before(desk, path, kind, unfinished=unfinished) for kind, unfinished in done]
    path = path.rename(box / "b.xlsx")
    found = taken(desk, box)
    before = next((one for one in reversed(noted) if one.kind == "tickets"), None)
    assert [(batch.path, batch.before) for batch in found.batches] == (
        [(path, before)] if comes_again else []
    )
    assert (found.unread, found.still_written, found.spent) == ([], [], [])
    assert len(desk.logged) == comes_again


def test_what_nobody_sees_in_a_file_is_told_while_it_is_new(desk: Desk, box: Path) -> None:
    paths = [workbook(box / name, *rows(1, 2)) for name in ("a.xlsx", "b.xlsx")]
    for path in paths:
        book = openpyxl.load_workbook(path)
        book["Tickets"].row_dimensions[3].hidden = True
        book["Tickets"].cell(2, 2).value = path.name
        book.save(path)
        old(path)
    seen_before(desk, paths[0], "tickets", unfinished=True)
    assert len(taken(desk, box).batches) == 2
    assert desk.warned == [
        "b.xlsx, sheet Tickets: hidden or filtered out in the file, and read all the same: 1 of 2 rows"
    ]


def test_a_statement_that_can_be_none_of_this_carrier_s_is_left(desk: Desk, box: Path) -> None:
    """Unless the ledger's own vouchers show that the carrier numbers them so."""
    statement_file(box / "a.csv", line(1, f"{1:018}"))
    statement_file(box / "b.csv", line(2, "2" * 20))
    found = taken(desk, box)
    assert [path.name for _, path in found.statements] == ["b.csv"]
    ((name, why),) = unread(found)
    assert (name, "is said to be an itinerary, and its number" in why) == ("a.csv", True)
    desk.sent(1, Outcome("issued", number=f"{1:018}"))
    assert [path.name for _, path in taken(desk, box).statements] == ["a.csv", "b.csv"]


def test_answers_about_another_ledger_are_left_with_all_that_is_beside_them(desk: Desk, box: Path) -> None:
    about = desk.answer(desk.doubt(1), "issued", "N-01")
    answers_file(box / "a.xlsx", about, replace(about, ledger_id="other"), tickets=rows(2))
    answers_file(box / "b.xlsx", about, tickets=rows(3))
    found = taken(desk, box)
    assert [path.name for path in found.paths] == ["b.xlsx", "b.xlsx"]
    ((name, why),) = unread(found)
    assert (name, "is an answer about another ledger (other)" in why) == ("a.xlsx", True)


def test_files_are_read_by_the_profile_the_team_s_mapping_and_its_buyers(
    desk: Desk, box: Path, tmp_path: Path
) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text('[headings]\n"what it came to" = "amount"\n')
    buyers = workbook(
        tmp_path / "buyers.xlsx", sheets={"Buyers": [("buyer", "header_name"), ("Acme", "Acme Co.")]}
    )
    cells = [("ticket_no", "what it came to", "buyer"), (ticket(1), "JPY 1000", "Acme")]
    workbook(box / "a.xlsx", sheets={"Own": cells})
    statement_file(box / "b.csv", line(2, "2" * 20), above=[("Generated at", "2026-11-01 09:30")])
    found = taken(desk, box, profile=TOKYO, columns=mapping, buyers=buyers)
    assert unread(found) == []
    ((batch,), ((listed, _),)) = (found.batches, found.statements)
    assert (batch.table.frame["amount"].tolist(), batch.table.findings) == ([100_000], ())
    assert batch.table.buyers["header_name"].tolist() == ["Acme Co."]
    assert listed.said_made == datetime.datetime(2026, 11, 1, 0, 30, tzinfo=datetime.UTC)


@pytest.mark.parametrize("heading", ["甲乙丙", "甲 乙（丙）"])
def test_a_text_in_an_older_encoding_is_known_by_the_team_s_own_words(
    desk: Desk, box: Path, tmp_path: Path, heading: str
) -> None:
    """By headings as by values, however they are spaced, as where the file is named."""
    path, mapping = box / "a.csv", tmp_path / "map.toml"
    of_headings, of_values = (
        f'[headings]\n"{heading}" = "amount"\n',
        f'[values.market]\n"{heading}" = "domestic"\n',
    )
    for own, text, column, value in (
        (of_headings, f"ticket_no,{heading}\n{ticket(1)},10.00\n", "amount", 1000),
        (of_values, f"ticket_no,market\n{ticket(1)},{heading}\n", "market", "domestic"),
    ):
        mapping.write_text(own, encoding="utf-8")
        path.write_text(text, encoding="gb18030")
        ((name, why),) = unread(taken(desk, box))
        assert (name, "nothing that is known in it tells" in why) == ("a.csv", True)
        (batch,) = taken(desk, box, columns=mapping).batches
        assert batch.table.frame[column].tolist() == [value]


def test_a_statement_in_an_older_encoding_is_known_by_a_statement_s_headings(desk: Desk, box: Path) -> None:
    path = box / "a.csv"
    path.write_text(
        f"voucher,ticket_no,凭证号码,charge\nitinerary,{ticket(1)},N-01,ticket_fare\n", encoding="gb18030"
    )
    ((listed, _),) = taken(desk, box).statements
    assert [one.number for one in listed.lines] == ["N-01"]


@pytest.mark.slow
def test_of_a_result_of_ours_its_failures_and_its_answers_are_taken(
    desk: Desk, box: Path, table_of: Tables
) -> None:
    about = desk.doubt(1)
    unknown = rows(1, voucher="itinerary", amount="10.00")
    failing = rows(2, passenger_name="")
    path = result(desk, box / "a.result.xlsx", table_of([*unknown, *failing]))
    found = taken(desk, box)
    assert [(batch.path, tickets(batch)) for batch in found.batches] == [(path, [ticket(2)])]
    assert (found.answers, found.spent) == ([], [])
    book = openpyxl.load_workbook(path)
    at = {cell.value: cell.column for cell in book["Unknown"][1]}
    for name, text in (
        ("resolution", "issued"),
        ("number", "N-01"),
        ("resolved_by", "Wang"),
        ("evidence", "tel."),
    ):
        book["Unknown"].cell(2, at[name]).value = text
    book.save(path)
    old(path)
    found = taken(desk, box)
    assert [tickets(batch) for batch in found.batches] == [[ticket(2)]]
    ((answers, _, _),) = found.answers
    assert [(one.request_id, one.typed) for one in answers] == [
        (about.request.request_id, ("issued", "N-01", "Wang", "tel."))
    ]
    for row in range(book["Failures"].max_row, 1, -1):
        book["Failures"].delete_rows(row)
    book.save(path)
    old(path)
    found = taken(desk, box)
    assert (found.batches, len(found.answers), found.spent, found.unread) == ([], 1, [], [])


def test_a_result_of_ours_in_which_nothing_is_to_be_done_is_spent(
    desk: Desk, box: Path, table_of: Tables
) -> None:
    desk.doubt(1)
    path = result(desk, box / "a.result.xlsx", table_of(rows(1, voucher="itinerary", amount="10.00")))
    found = taken(desk, box)
    assert found.spent == [(path, sha256(path))]
    assert (found.batches, found.statements, found.answers, found.unread, found.paths) == ([], [], [], [], [])
    assert desk.logged == []


@pytest.mark.slow
def test_corrected_failures_that_can_not_be_read_are_told_and_never_spent(
    desk: Desk, box: Path, table_of: Tables, tmp_path: Path
) -> None:
    path = result(desk, box / "a.result.xlsx", table_of(rows(1, passenger_name="")))
    ((name, why),) = unread(found := taken(desk, box, buyers=tmp_path / "gone.xlsx"))
    assert (name, "there is no such buyers file" in why, found.spent) == ("a.result.xlsx", True, [])
    book = openpyxl.load_workbook(path)
    book["Failures"].sheet_state = "hidden"
    book.save(path)
    old(path)
    ((name, why),) = unread(found := taken(desk, box))
    assert (name, "hidden sheets alone (Failures)" in why, found.spent) == ("a.result.xlsx", True, [])


def test_all_evidence_is_weighed_together(desk: Desk) -> None:
    """What was named and what came by the inbox; numbers that are no voucher's are set aside, unless ours are listed so."""
    (first,) = statement(line(1, "1" * 20), line(2, "odd"))
    (second,) = statement(line(3, "also-odd"), line(4, "3" * 20))
    desk.sent(3, Outcome("issued", number="other"))
    given = [desk.answer(desk.doubt(number), "issued", "N-01") for number in (5, 6, 7)]
    claim = Complete(*(datetime.datetime(2026, 11, day, tzinfo=datetime.UTC) for day in (1, 2)), "claimed")
    named = Named((first,), (given[0],), (claim,))
    came = Inbox(
        statements=[(second, Path("s.csv"))],
        answers=[([given[1]], Path("a.xlsx"), ""), ([given[2]], Path("b.xlsx"), "")],
    )

    def weighed(hours: float | None = None) -> Any:
        profile = replace(PROFILE, reconcile=Reconcile(settle_after_hours=hours))
        return weighed_together(desk.task(job={"profile": profile}), desk.ledger, named, came)

    found = weighed()
    assert [[one.number for one in each.lines] for each in found.statements] == [
        ["1" * 20],
        ["also-odd", "3" * 20],
    ]
    assert [one.number for one in found.set_aside] == ["odd"]
    assert "is not one of an itinerary as the carrier's interface shows it" in str(found.misread[0].problem)
    assert "its charge is held all the same" not in str(found.misread[0].problem)
    assert (found.answers, found.complete, found.by) == (tuple(given), (claim,), BY)
    assert [weighed(hours).settle_after for hours in (None, 0, 36)] == [
        None,
        datetime.timedelta(0),
        datetime.timedelta(hours=36),
    ]
    desk.gap()
    assert "its charge is held all the same" in str(weighed().misread[0].problem)
