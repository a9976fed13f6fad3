"""The charges that a ledger has as issued, reversed or unknown, by the time at which they were issued: the register of vouchers."""

import datetime
from collections.abc import Iterator
from operator import attrgetter
from zoneinfo import ZoneInfo

import apsw

from pipeline.ledger.clock import utc_text
from pipeline.model.register_line import RegisterLine

# A sum of selects, so that each finds its attempts by an index of its own (attempt_issued_at, attempt_open).
_OF_ATTEMPTS = """
SELECT attempt.number, charge.voucher, charge.ticket_no, charge, product, passenger_name, header_name, tax_no, phone, email, components,
       carried, charge.amount, coalesce(attempt.ended_at, sending_at), attempt.run, file, sheet, row,
       CASE WHEN reversal IS NOT NULL THEN 'reversed' WHEN attempt.state = 'issued' THEN 'issued' ELSE 'unknown' END,
       coalesce(red_number, ''), request_id, received_at, coalesce(archived, ''), coalesce(seal, '')
FROM attempt JOIN request USING (request_id) JOIN charge USING (attempt_id)
     LEFT JOIN reversal ON reversal.attempt_id = attempt.attempt_id AND withdrawn = 0
     LEFT JOIN received_file ON received_file.attempt_id = attempt.attempt_id AND received_file.status = 'received'
                                AND received_file.number = attempt.number
WHERE {which}
"""
_OWN = " UNION ALL ".join(
    (
        _OF_ATTEMPTS.format(
            which="attempt.state = 'issued' AND attempt.ended_at >= ?1 AND attempt.ended_at < ?2"
        ),
        *(
            _OF_ATTEMPTS.format(
                which=f"attempt.state = '{state}' AND coalesce(attempt.ended_at, sending_at) >= ?1"
                " AND coalesce(attempt.ended_at, sending_at) < ?2"
            )
            for state in ("unknown", "sending")
        ),
    )
)
#: What an attempt has issued by now is that attempt's, whatever a statement showed before.
_ELSEWHERE = """
SELECT number, voucher, ticket_no, charge, product, buyer, amount, issued_at, run, evidence, live,
       coalesce((SELECT red_number FROM reversal
                 WHERE reversal.number = elsewhere.number AND reversal.voucher = elsewhere.voucher AND withdrawn = 0), '')
FROM elsewhere WHERE withdrawn = 0 AND NOT EXISTS (
    SELECT 1 FROM attempt JOIN charge USING (attempt_id)
    WHERE attempt.state = 'issued' AND attempt.number = elsewhere.number AND charge.voucher = elsewhere.voucher
      AND charge.ticket_no = elsewhere.ticket_no AND charge.charge = elsewhere.charge
      AND elsewhere.product IN (charge.product, '')
)
"""

#: From the first to the last.
Days = tuple[datetime.date, datetime.date]


def register_lines(
    connection: apsw.Connection, time_zone: str, days: Days | None
) -> tuple[list[RegisterLine], int]:
    """The charges of these days in that time zone (None: all that the ledger has) in the order of their times.

    Also how many charges a statement showed without a day: they are of no days.
    """
    zone = ZoneInfo(time_zone)
    lines = [*_of_attempts(connection, zone, days)]
    undated = 0
    for line in _elsewhere(connection, zone):
        undated += line.issued is None
        if days is None or (line.issued is not None and days[0] <= line.moment.date() <= days[1]):
            lines.append(line)
    lines.sort(key=attrgetter("moment", "number", "ticket_no", "charge", "product"))
    return lines, undated


def _of_attempts(connection: apsw.Connection, zone: ZoneInfo, days: Days | None) -> Iterator[RegisterLine]:
    for row in connection.execute(_OWN, bounds(zone.key, days)):
        told, at, rest, (received_at, *file) = row[:13], row[13], row[14:21], row[21:]
        received = _local(received_at, zone) if received_at else None
        yield RegisterLine._make((*told, _local(at, zone), *rest, False, received, *file))


def bounds(time_zone: str, days: Days | None) -> tuple[str, str]:
    """In the ledger's form, the midnight at which the first day begins and that at which the last ends, in that time zone; days None: ever."""
    if days is None:
        return "", "~"
    first, end, zone = days[0], days[1] + datetime.timedelta(days=1), ZoneInfo(time_zone)
    return utc_text(datetime.datetime.combine(first, datetime.time(), zone)), utc_text(
        datetime.datetime.combine(end, datetime.time(), zone)
    )


def _elsewhere(connection: apsw.Connection, zone: ZoneInfo) -> Iterator[RegisterLine]:
    for (
        number,
        voucher,
        ticket_no,
        charge,
        product,
        buyer,
        amount,
        at,
        run,
        evidence,
        live,
        red,
    ) in connection.execute(_ELSEWHERE):
        yield RegisterLine(
            number, voucher, ticket_no, charge, product, "", buyer, "", "", "", "{}", "{}", amount, _local(at, zone), run,
            evidence, "", 0, "issued" if live else "reversed", red, "", elsewhere=True,
        )  # fmt: skip


def _local(at: str, zone: ZoneInfo) -> datetime.datetime | datetime.date | None:
    """A time of the ledger's or of a statement's as a time of that zone, cut to its second: rounded, it might be of the next month.

    A statement's time without a zone is the carrier's own.
    """
    if len(at) == len("2026-10-31"):
        return datetime.date.fromisoformat(at)
    try:
        moment = datetime.datetime.fromisoformat(at)
    except ValueError:
        return None
    local = moment.astimezone(zone) if moment.tzinfo else moment
    return local.replace(tzinfo=None, microsecond=0)
