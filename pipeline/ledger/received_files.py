"""Itinerary files that came by mail: what the ledger knows of their vouchers, what each file came to, and which have not come.

Everything about some files is asked as one set, so the time grows with the files, not with the ledger.
"""

import datetime
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any
from zoneinfo import ZoneInfo

import apsw

from pipeline.ledger import clock
from pipeline.ledger.clock import utc_now, utc_text
from pipeline.ledger.part import Part
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    EarlierFile,
    FileStatus,
    KnownVoucher,
    NotReceived,
)
from pipeline.model.message import NOTHING, joined, message, to_text
from pipeline.settlement.itinerary_matching import InLedger, plain

_VOUCHER = """
SELECT attempt.attempt_id, request_id, attempt.attempt, request.voucher,
       CASE WHEN attempt.state <> 'issued' THEN 'unknown' WHEN charge.live THEN 'issued' ELSE 'reversed' END,
       attempt.number, charge.ticket_no, header_name, tax_no, charge.amount, sending_at, attempt.ended_at, was_unknown, attempt.run
"""
# CROSS JOIN: what is asked for comes first, as in `held_charges`.
_BY_NUMBER = f"""{_VOUCHER}
FROM json_each(?) AS asked CROSS JOIN attempt ON attempt.number = asked.value AND attempt.state = 'issued'
     CROSS JOIN request USING (request_id) CROSS JOIN charge USING (attempt_id)
WHERE request.voucher = 'itinerary'
"""
_BY_TICKET = f"""{_VOUCHER}
FROM json_each(?) AS asked CROSS JOIN charge ON charge.ticket_no = asked.value CROSS JOIN attempt USING (attempt_id)
     CROSS JOIN request USING (request_id)
WHERE charge.charge IN ('ticket_fare', 'refund') AND attempt.state IN ('issued', 'unknown', 'sending')
ORDER BY attempt.attempt_id
"""
#: What is shown of a ticket in doubt may be what is in doubt: settling says so, and nothing else.
_ELSEWHERE = """
SELECT NULL, '', 0, voucher, 'issued', number, ticket_no, buyer, '', amount, NULL, NULL, 1, 0
FROM json_each(?) AS asked CROSS JOIN elsewhere ON {which}
WHERE withdrawn = 0 AND live = 1 AND charge IN ('ticket_fare', 'refund') AND NOT EXISTS (
    SELECT 1 FROM charge JOIN attempt USING (attempt_id)
    WHERE charge.ticket_no = elsewhere.ticket_no AND charge.charge IN ('ticket_fare', 'refund')
      AND attempt.state IN ('unknown', 'sending')
)
ORDER BY elsewhere
"""
_ISSUED = """
FROM attempt JOIN request USING (request_id)
WHERE attempt.state = 'issued' AND attempt.ended_at >= ?1 AND attempt.ended_at < ?2 AND request.voucher = 'itinerary'
  AND NOT EXISTS (SELECT 1 FROM reversal WHERE reversal.attempt_id = attempt.attempt_id AND withdrawn = 0)
"""
_NOT_RECEIVED = f"""
SELECT attempt.number, (SELECT min(ticket_no) FROM charge WHERE charge.attempt_id = attempt.attempt_id), header_name, email,
       request.amount, attempt.ended_at, request_id,
       coalesce((SELECT status FROM received_file WHERE received_file.attempt_id = attempt.attempt_id
                 AND status IN ('differs', 'altered') ORDER BY received_file DESC LIMIT 1), 'missing')
{_ISSUED}
  AND NOT EXISTS (SELECT 1 FROM received_file WHERE received_file.attempt_id = attempt.attempt_id
                  AND status = 'received' AND received_file.number = attempt.number)
ORDER BY attempt.ended_at, attempt.attempt_id
"""  # noqa: S608 - SQL of ours


def named(files: Iterable[CheckedFile]) -> Part:
    """The part of a ledger that these files are about."""
    files = [*files]
    said = [file.data for file in files if file.data]
    return Part(
        tickets={ticket for data in said for ticket in data.tickets},
        numbers={number for data in said for number in (data.number, data.red_of) if number},
        contents={file.sha256 for file in files},
        files=True,
        times=True,
    )


def known(connection: apsw.Connection, files: Iterable[CheckedFile], time_zone: str) -> InLedger:
    """What the ledger knows of these files, of their numbers and their tickets, without buyers; days are of that time zone."""
    asked = named(files)
    shown = ("number = asked.value", asked.numbers), ("ticket_no = asked.value", asked.tickets)
    of_numbers, of_tickets = (
        [
            *connection.execute(query, (_list(wanted),)),
            *connection.execute(_ELSEWHERE.format(which=which), (_list(wanted),)),
        ]
        for query, (which, wanted) in zip((_BY_NUMBER, _BY_TICKET), shown, strict=True)
    )
    doubtful = clock.doubtful_runs(connection, (row[-1] for row in (*of_numbers, *of_tickets)))
    zone = ZoneInfo(time_zone)
    by_number: dict[str, KnownVoucher] = {}
    for row in of_numbers:
        if row[3] == "itinerary":
            by_number.setdefault(row[5], _voucher(row, zone, doubtful))
    by_ticket = defaultdict[str, list[KnownVoucher]](list)
    for row in of_tickets:
        one = _voucher(row, zone, doubtful)
        # What an attempt has issued by now is that attempt's, whatever a statement showed before.
        if one.attempt_id is not None or one.number not in {each.number for each in by_ticket[one.ticket_no]}:
            by_ticket[one.ticket_no].append(one)
    return InLedger(
        by_number,
        by_ticket,
        dict(_received(connection, asked.numbers)),
        _noted(connection, asked.contents),
    )


def _voucher(row: Any, zone: ZoneInfo, doubtful: set[int]) -> KnownVoucher:
    sent, ended, was_unknown, run = row[10:]
    first = last = None
    if sent and run not in doubtful:
        first = _day(sent, zone)
        # What was in doubt may have been issued later, but not after today.
        last = datetime.datetime.now(zone).date() if was_unknown else _day(ended, zone)
    return KnownVoucher(*[*row[:10], first, last])


def _day(at: str, zone: ZoneInfo) -> datetime.date:
    return datetime.datetime.fromisoformat(at).astimezone(zone).date()


def _received(connection: apsw.Connection, numbers: Iterable[str]) -> Iterator[tuple[str, EarlierFile]]:
    rows: Any = connection.execute(
        "SELECT number, sha256, status, attempt_id FROM json_each(?) AS asked"
        " CROSS JOIN received_file ON received_file.number = asked.value WHERE status = 'received'",
        (_list(numbers),),
    )
    for number, sha256, status, attempt_id in rows:
        yield number, EarlierFile(sha256, FileStatus(status), attempt_id)


def _noted(connection: apsw.Connection, contents: Iterable[str]) -> dict[str, EarlierFile]:
    rows: Any = connection.execute(
        "SELECT sha256, status, attempt_id FROM json_each(?) AS asked"
        " CROSS JOIN received_file ON sha256 = asked.value ORDER BY received_file",
        (_list(contents),),
    )
    return {
        sha256: EarlierFile(sha256, FileStatus(status), attempt_id) for sha256, status, attempt_id in rows
    }


def buyers(connection: apsw.Connection) -> frozenset[str]:
    """Every name and tax number that was ever asked for. To be looked up only where a file's ticket is not known: all requests are read."""
    rows: Any = connection.execute("SELECT DISTINCT header_name, tax_no FROM request")
    return frozenset(plain(text) for row in rows for text in row if text)


def _list(texts: Iterable[str]) -> str:
    return json.dumps(sorted(texts))


def note(connection: apsw.Connection, run: int, collected: Iterable[CollectedFile]) -> None:
    """Note what files came to, all of them or none; those of which that is known already are left out."""
    at = utc_now()
    with connection:
        connection.executemany(
            "INSERT INTO received_file (run, sha256, status, attempt_id, number, ticket_no, total, seal, place, archived, reasons,"
            " received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((run, *noted(one), at) for one in collected if one.new),
        )


def noted(one: CollectedFile) -> tuple[Any, ...]:
    """What is noted of a file, in the order of the columns between the run and the time."""
    file, data = one.file, one.file.data
    reasons = message("{reasons}", reasons=joined(one.reasons, "sentences")) if one.reasons else NOTHING
    return (
        file.sha256, one.status, one.of.attempt_id if one.of else None, (data and data.number) or "",
        data.tickets[0] if data and data.tickets else "", data.total if data else None, file.seal,
        "/".join(file.place).encode(errors="replace").decode(), file.archived, to_text(reasons),
    )  # fmt: skip


def about_unknown(connection: apsw.Connection) -> frozenset[int]:
    """The IDs of the attempts in doubt about which files came, whatever these came to."""
    rows: Any = connection.execute(
        "SELECT DISTINCT attempt_id FROM attempt JOIN received_file USING (attempt_id) WHERE state = 'unknown'"
    )
    return frozenset(attempt_id for (attempt_id,) in rows)


def archived(connection: apsw.Connection) -> dict[str, str]:
    """By its SHA-256, the path of every file that is kept in the archive, as it was noted last; what came first is first."""
    rows: Any = connection.execute(
        "SELECT sha256, archived FROM received_file WHERE archived <> '' ORDER BY received_file"
    )
    return dict(rows)


def not_received(
    connection: apsw.Connection, since: str, until: str, today: tuple[datetime.date, str]
) -> tuple[int, list[NotReceived]]:
    """(how many itineraries were issued from `since` on and before `until`; those of them of which no file was received).

    Times are UTC, ISO 8601; `today` is the day, and the time zone that days are of. The one that waits longest comes first.
    """
    day, zone = today[0], ZoneInfo(today[1])
    count: int = connection.execute(f"SELECT count(*) {_ISSUED}", (since, until)).get
    found = []
    for number, ticket_no, name, email, amount, at, request, status in connection.execute(
        _NOT_RECEIVED, (since, until)
    ):
        issued = _day(at, zone)
        days = max(0, (day - issued).days)
        found.append(NotReceived(number, ticket_no, name, email, amount, issued, days, status, request))
    return count, found


def bounds(first: datetime.date | None, last: datetime.date | None, time_zone: str) -> tuple[str, str]:
    """The days from the first to the last, of that time zone, as the ledger's times: from, and before."""
    zone = ZoneInfo(time_zone)

    def midnight(day: datetime.date) -> str:
        return utc_text(datetime.datetime.combine(day, datetime.time(), zone))

    return midnight(first) if first else "", midnight(last + datetime.timedelta(days=1)) if last else "~"
