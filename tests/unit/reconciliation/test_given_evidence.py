"""What is named on the command line as evidence: read once, with what is said of it, and refused where it can be none."""

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pipeline.ledger import gaps
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.job import Task, today
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Profile
from pipeline.reconciliation.given_evidence import (
    Named,
    check_evidence,
    check_ledger,
    check_statement,
    listed_holdings,
    month_of,
    named_evidence,
)
from pipeline.settlement.compare import Period
from tests.unit.reconciliation.desk import PROFILE, Desk, answers_file, line, statement, statement_file

TOKYO = replace(PROFILE, carrier=Carrier(time_zone="Asia/Tokyo"))
SHANGHAI = datetime.timezone(datetime.timedelta(hours=8))
NOW = datetime.datetime.now(datetime.UTC)


def refused(task: Task) -> str:
    with pytest.raises(InputProblem) as raised:
        named_evidence(task)
    return str(raised.value)


def test_each_file_is_read_once_under_whatever_name(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "other.csv").symlink_to(tmp_path / "s.csv")
    statements = (
        statement_file(tmp_path / "s.csv", line(1, "N-01")),
        tmp_path / "there" / ".." / "s.csv",
        tmp_path / "other.csv",
        statement_file(tmp_path / "t.csv", line(2, "N-02")),
    )
    about = [desk.answer(desk.doubt(number), "issued", f"N-0{number}") for number in (3, 4)]
    resolved = tuple(
        answers_file(tmp_path / f"{number}.xlsx", one) for number, one in zip("34", about, strict=True)
    )
    named = named_evidence(desk.task(statements=statements, resolved=(*resolved, *resolved)))
    assert [[one.number for one in each.lines] for each in named.statements] == [["N-01"], ["N-02"]]
    assert [(one.about, one.typed) for one in named.answers] == [(one.about, one.typed) for one in about]
    assert named.complete == ()
    assert named_evidence(desk.task()) == Named((), (), ())


def test_a_statement_is_read_by_the_profile(desk: Desk, tmp_path: Path) -> None:
    above = [("Generated at", "2026-11-01 09:30")]
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"), above=above)
    for profile, made in ((TOKYO, "2026-11-01T00:30"), (PROFILE, "2026-11-01T01:30")):
        (found,) = named_evidence(desk.task(job={"profile": profile}, statements=(path,))).statements
        assert found.said_made == datetime.datetime.fromisoformat(f"{made}+00:00")


@pytest.mark.parametrize(
    ("of_file", "said", "made"),
    [
        ("", "", None),
        ("2026-11-01 09:30", "", "2026-11-01T09:30"),
        ("", "2026-11-02 09:30", "2026-11-02T09:30"),
        ("", "2026-11-02T09:30+09:00", "2026-11-02T08:30"),
        ("2026-11-01 09:30", "2026-11-02T09:30", "2026-11-01T09:30"),
        ("2026-11-03 09:30", "2026-11-02T09:30", "2026-11-02T09:30"),
    ],
)
def test_a_statement_was_made_at_the_earliest_time_that_anybody_says(
    desk: Desk, tmp_path: Path, of_file: str, said: str, made: str | None
) -> None:
    above = [("Generated at", of_file)] if of_file else []
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"), above=above)
    (found,) = named_evidence(desk.task(statements=(path,), made=said)).statements
    wanted = datetime.datetime.fromisoformat(made).replace(tzinfo=SHANGHAI) if made else None
    assert found.said_made == wanted


def test_a_time_without_a_zone_is_the_carriers(desk: Desk, tmp_path: Path) -> None:
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"))
    task = desk.task(job={"profile": TOKYO}, statements=(path,), made="2026-11-02 09:30")
    (found,) = named_evidence(task).statements
    assert found.said_made == datetime.datetime(2026, 11, 2, 0, 30, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    "made", ["2026-11-01", "yesterday", "2026-11-01 25:00", "on 2026-11-01 09:30", "0001-01-01T00:00"]
)
def test_what_is_no_time_is_refused(desk: Desk, made: str) -> None:
    task = desk.task(statements=(Path("s.csv"),), made=made)
    assert refused(task).startswith(f"--statement-made {made}: is not a time; write it like")


def test_a_time_still_to_come_is_refused(desk: Desk, tmp_path: Path) -> None:
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"))
    now = datetime.datetime.now(datetime.UTC)  # and not when the tests began, which may be an hour ago
    made = (now + datetime.timedelta(minutes=9)).astimezone(SHANGHAI).isoformat(timespec="minutes")
    told = refused(desk.task(statements=(path,), made=made))
    assert told.startswith(f"--statement-made {made}: is still to come by this machine's clock")
    # What a clock may be off by is forgiven.
    made = (now + datetime.timedelta(minutes=2)).isoformat()
    assert named_evidence(desk.task(statements=(path,), made=made)).statements


def test_what_is_said_of_a_statement_takes_one(desk: Desk) -> None:
    assert refused(desk.task(made="2026-11-01T09:30")) == (
        "--statement-made goes with --statement: it is said of the statements that are named"
    )
    assert refused(desk.task(complete=("2026-10-01..2026-10-31",))) == (
        "--statement-complete goes with --statement: it is said of a statement that is named"
    )


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-10", (2026, 10, 1), (2026, 10, 31)),
        ("2026-12", (2026, 12, 1), (2026, 12, 31)),
        ("2028-02", (2028, 2, 1), (2028, 2, 29)),
    ],
)
def test_a_month_is_its_days(text: str, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
    assert month_of(text) == Period(datetime.date(*first), datetime.date(*last))
    assert month_of("") is None


@pytest.mark.parametrize("text", ["1999-10", "2026-13", "2026-1", "October", "2026-10-01"])
def test_what_is_no_month_is_refused_before_anything_is_read(desk: Desk, text: str) -> None:
    told = f"--month {text}: is not a month; write it like 2026-10"
    assert refused(desk.task(month=text, statements=(Path("missing.csv"),))) == told


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2026-10-01..2026-10-31", ""),
        ("invoice:2026-10-01..2026-10-31", "invoice"),
        (" Itinerary :2026-10-01..2026-10-31", "itinerary"),
        ("行程单:2026-10-01..2026-10-31", "itinerary"),
    ],
)
@pytest.mark.parametrize("profile", [PROFILE, TOKYO])
def test_a_claim_of_completeness_is_about_the_carriers_days(
    desk: Desk, tmp_path: Path, text: str, kind: str, profile: Profile
) -> None:
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"))
    claims = (text, "2026-11-02..2026-11-02")
    named = named_evidence(desk.task(job={"profile": profile}, statements=(path,), complete=claims))
    zone = ZoneInfo(profile.carrier.time_zone)
    assert [(one.since, one.until, one.text, one.kind) for one in named.complete] == [
        (datetime.datetime(2026, 10, 1, tzinfo=zone), datetime.datetime(2026, 11, 1, tzinfo=zone), text, kind),
        (datetime.datetime(2026, 11, 2, tzinfo=zone), datetime.datetime(2026, 11, 3, tzinfo=zone), claims[1], ""),
    ]  # fmt: skip
    assert {one.since.utcoffset() for one in named.complete} == {NOW.astimezone(zone).utcoffset()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("October", "is not a time [KIND:]FROM..TO"),
        ("2026-10-01..2026-10-32", "is not a time [KIND:]FROM..TO"),
        ("2026-10-32..2026-10-31", "is not a time [KIND:]FROM..TO"),
        ("2026-10-31..2026-10-01", "its two days are swapped"),
        ("ticket:2026-10-01..2026-10-31", "is of no kind of voucher that is known"),
        (":2026-10-01..2026-10-31", "is of no kind of voucher that is known"),
    ],
)
def test_what_is_no_claim_of_completeness_is_refused(
    desk: Desk, tmp_path: Path, text: str, told: str
) -> None:
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"))
    task = desk.task(statements=(path,), complete=(text,))
    assert refused(task).startswith(f"--statement-complete {text}: {told}")


def test_no_statement_is_complete_for_days_to_come_where_the_carrier_is(desk: Desk, tmp_path: Path) -> None:
    path = statement_file(tmp_path / "s.csv", line(1, "N-01"))
    far = (Profile(carrier=Carrier(time_zone=zone)) for zone in ("Pacific/Pago_Pago", "Pacific/Kiritimati"))
    profile = next(one for one in far if today(one) != today(Profile()))  # which day it is says whose it is

    def task(last: datetime.date) -> Task:
        days = (f"2026-10-01..{last}",)
        return desk.task(job={"profile": profile}, statements=(path,), complete=days)

    now = today(profile)
    (claim,) = named_evidence(task(now)).complete
    assert claim.until.date() == now + datetime.timedelta(days=1)
    told = refused(task(now + datetime.timedelta(days=1)))
    assert told.startswith(
        f"--statement-complete 2026-10-01..{now + datetime.timedelta(days=1)}: no statement is"
    )
    assert told.endswith(f"today is {now}")


def test_what_the_ledger_holds_of_a_statements_tickets_is_found(desk: Desk) -> None:
    for number in (1, 2, 3):
        desk.sent(number, Outcome("issued", number=f"N-0{number}"))
    (found,) = statement(line(3, "N-03"), line(1, "N-01"), line(1, "N-02"), line(4, "N-04"))
    held = listed_holdings(found, desk.ledger)
    assert [(one.identity.ticket_no, one.number) for one in held.values()] == [
        ("9990000000001", "N-01"), ("9990000000003", "N-03"),
    ]  # fmt: skip


def test_a_statement_that_calls_invoices_itineraries_is_refused_unless_it_lists_ours_so(desk: Desk) -> None:
    (found,) = statement(*(line(number, f"{number:018}") for number in (1, 2, 3)))
    for check in (
        lambda: check_statement(found, desk.ledger),
        lambda: check_evidence(desk.ledger, Named((found,), (), ())),
    ):
        with pytest.raises(InputProblem, match=r"^s\.csv, row 1: is said to be an itinerary, and its number"):
            check()
    desk.sent(2, Outcome("issued", number=f"{2:018}"))
    check_statement(found, desk.ledger)
    check_evidence(desk.ledger, Named((found,), (), ()))


@pytest.mark.usefixtures("far_off")
@pytest.mark.parametrize("by", ["written", "said_made"])
def test_a_statement_of_times_to_come_is_refused(desk: Desk, by: str) -> None:
    before = NOW - datetime.timedelta(days=1)

    def made(at: datetime.datetime) -> Any:
        (found,) = statement(line(1, "N-01"))
        return replace(found, **{"written": before, "said_made": before, by: at})

    later = (NOW + datetime.timedelta(hours=1)).astimezone(SHANGHAI)
    told = f"^s.csv: was made at {later.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC, which is still to come"
    with pytest.raises(InputProblem, match=told):
        check_statement(made(later), desk.ledger)
    check_statement(made((NOW + datetime.timedelta(minutes=2)).astimezone(SHANGHAI)), desk.ledger)
    check_statement(replace(made(before), said_made=None), desk.ledger)


def test_answers_about_another_ledger_are_refused_and_those_about_an_earlier_epoch_are_not(
    desk: Desk,
) -> None:
    known = desk.answer(desk.doubt(1), "issued", "N-01")
    gaps.mark_gap(desk.ledger._connection, "2026-11-20", verbatim("restored"))
    gaps.close_gaps(desk.ledger._connection, "chen", verbatim("statement"))
    later = desk.ledger.epoch
    answers = (known, replace(known, ledger_id=later))
    check_ledger(desk.ledger, answers)
    check_evidence(desk.ledger, Named((), answers, ()))
    for other, shown in (("elsewhere", "elsewhere"), ("", "not named")):
        strange = replace(known, ledger_id=other, place=verbatim("x.xlsx, row 7"))
        told = (
            rf"^x.xlsx, row 7: is an answer about another ledger \({shown}\), not about this one \({later}\)"
        )
        with pytest.raises(InputProblem, match=told):
            check_ledger(desk.ledger, [known, strange])
        with pytest.raises(InputProblem, match=told):
            check_evidence(desk.ledger, Named((), (strange,), ()))


def test_a_ledger_that_can_not_be_read_is_named(desk: Desk) -> None:
    desk.ledger._connection.close()
    with pytest.raises(LedgerProblem, match=str(desk.ledger.path)):
        check_ledger(desk.ledger, [])
