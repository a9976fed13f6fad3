"""A ticket's history: every judgement, attempt, answer and settlement, and what statements showed, in time order.

Each event is told once, as values (for `--json`) and as a line of text made of them.
"""

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.columns import Lang
from pipeline.results.history_words import judged_because, known_reason, say, word
from pipeline.results.plain import one_line
from pipeline.table import money_text

Row = Mapping[str, Any]
#: The order of what happened within one millisecond.
_ORDER = ("judged", "planned", "sending", "answered", "outcome", "settled", "issued_elsewhere")


@dataclass(frozen=True)
class Recorded:
    """What the ledger has of one ticket, as its rows; `attempts` has one for each charge of an attempt."""

    attempts: Sequence[Row] = ()
    judgements: Sequence[Row] = ()
    elsewhere: Sequence[Row] = ()


@dataclass(frozen=True)
class Event:
    """One thing that happened at a time (UTC, ISO 8601), with its values and how it is told."""

    at: str
    name: str
    said: str  # what the line says, by history_words
    values: dict[str, Any]
    words: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> int:
        """Its place among what happened at the same time."""
        return _ORDER.index(self.name) if self.name in _ORDER else _ORDER.index("outcome")

    def text(self, lang: Lang) -> str:
        """The event in one line, without its time."""
        return one_line(say(self.said, lang).format_map(self.words))


def events(recorded: Recorded, lang: Lang) -> list[Event]:
    """Everything that happened with a ticket, in time order."""
    found = [_judged(row, lang) for row in recorded.judgements]
    for _, charges in groupby(recorded.attempts, lambda row: (row["request_id"], row["attempt"])):
        found += _in_order(_of_attempt(list(charges), lang))
    found += [_elsewhere(row, lang) for row in recorded.elsewhere]
    return sorted(found, key=lambda event: (event.at, event.place))


def history_lines(known: Mapping[str, Recorded], lang: Lang, time_zone: str) -> Iterator[str]:
    """Each ticket with its events below it, at the time of that zone; one that the ledger does not know is named."""
    zone = ZoneInfo(time_zone)
    for ticket, recorded in known.items():
        found = events(recorded, lang)
        heading = say("heading" if found else "nothing", lang)
        yield heading.format(ticket=f"{ticket[:3]}-{ticket[3:]}", zone=time_zone)
        yield from (f"  {_local(event.at, zone)}  {event.text(lang)}" for event in found)


def history_json(known: Mapping[str, Recorded], lang: Lang) -> bytes:
    """One object: by ticket, the list of its events. Times are UTC, money is decimal text, numbers are text."""
    said = {
        ticket: [
            {"at": event.at, "event": event.name, **event.values, "text": event.text(lang)}
            for event in events(recorded, lang)
        ]
        for ticket, recorded in known.items()
    }
    return json.dumps(said, ensure_ascii=False, indent=1).encode()


def _local(at: str, zone: ZoneInfo) -> str:
    try:
        moment = datetime.datetime.fromisoformat(at)
    except ValueError:
        return at
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")


def _in_order(found: Iterator[Event]) -> Iterator[Event]:
    """The events of one attempt as they followed each other, also where the clock was set back meanwhile."""
    latest = ""
    for event in found:
        latest = max(latest, event.at)
        yield Event(latest, event.name, event.said, event.values, event.words)


def _charge(row: Row) -> dict[str, Any]:
    """A charge's own values."""
    return {
        "charge": row["charge"],
        "product": row["product"],
        "amount": money_text(row["amount"]),
        "file": row["file"],
        "sheet": row["sheet"],
        "row": row["row"],
    }


def _what(row: Row, lang: Lang) -> str:
    """A charge in words: what it is, and its amount where there is one."""
    name = word(row["charge"], lang)
    if row["product"] not in ("", "flight"):
        name = f"{name}/{word(row['product'], lang)}"
    return f"{name} {money_text(row['amount'])}" if row["amount"] else name


def _row_of(row: Row, lang: Lang) -> str:
    return say("place", lang).format(file=row["file"], sheet=row["sheet"], row=row["row"])


def _judged(row: Row, lang: Lang) -> Event:
    codes = row["reasons"].split()
    values = _charge(row) | {
        "run": row["run"],
        "voucher": row["voucher"],
        "status": row["status"],
        "reasons": codes,
    }
    words = {
        "what": _what(row, lang),
        "voucher": word(row["voucher"], lang),
        "status": word(row["status"], lang),
        "because": judged_because(codes, lang),
        "run": row["run"],
        "place": _row_of(row, lang),
    }
    return Event(row["judged_at"], "judged", "judged" if row["voucher"] else "judged_unread", values, words)


def _of_attempt(charges: Sequence[Row], lang: Lang) -> Iterator[Event]:
    """What happened in one attempt; its rows differ in the charge alone."""
    row = charges[0]
    values = {"request": row["request_id"], "attempt": row["attempt"]}
    words = {"name": say("attempt", lang).format(request=row["request_id"], attempt=row["attempt"])}
    name = "sending" if row["sending_at"] else "planned"
    asked = {
        "run": row["run"],
        "voucher": row["voucher"],
        "buyer": row["header_name"],
        "charges": [_charge(charge) for charge in charges],
    }
    told = {
        "what": say("and", lang).join(_what(charge, lang) for charge in charges),
        "voucher": word(row["voucher"], lang),
        "buyer": row["header_name"],
        "run": row["run"],
        "place": say("and", lang).join(dict.fromkeys(_row_of(charge, lang) for charge in charges)),
    }
    yield Event(row["sending_at"] or row["planned_at"], name, name, values | asked, words | told)
    if row["answered_at"]:
        status = {"http_status": row["http_status"]}
        yield Event(row["answered_at"], "answered", "answered", values | status, words | status)
    if row["ended_at"]:
        yield _outcome(row, values, words, lang)
    if row["settled_as"] is not None:
        settled = {name: row[name] for name in ("settled_as", "settled_by", "evidence")}
        said = "settled_issued" if row["settled_as"] == "issued" else "settled_not_sent"
        number = {"number": row["number"]}
        yield Event(row["settled_at"], "settled", said, values | settled | number, words | settled | number)


def _outcome(row: Row, values: dict[str, Any], words: dict[str, str], lang: Lang) -> Event:
    """How an attempt ended, before anybody settled it."""
    settled = row["settled_as"] is not None
    state = "unknown" if settled else row["state"]
    outcome = {
        "number": "" if settled else row["number"],
        "reason": row["reason"],
        "detail": row["detail"],
        "trace_id": row["trace_id"],
    }
    trace = say("trace", lang).format(trace=row["trace_id"]) if row["trace_id"] else ""
    why = known_reason(row["reason"], row["detail"], lang)
    told = {"number": outcome["number"], "why": why, "trace": trace, "state": word(state, lang)}
    said = "issued" if state == "issued" else "ended"
    return Event(row["ended_at"], state, said, values | outcome, words | told)


def _elsewhere(row: Row, lang: Lang) -> Event:
    amount = None if row["amount"] is None else money_text(row["amount"])
    names = ("run", "charge", "product", "voucher", "number", "buyer", "issued_at", "evidence", "found_by")
    values = {name: row[name] for name in names} | {"amount": amount}
    said = [
        row["buyer"],
        say("issued_at", lang).format(at=row["issued_at"].replace("T", " ")) if row["issued_at"] else "",
    ]
    words = {
        "what": _what({**row, "amount": row["amount"] or 0}, lang),
        "voucher": word(row["voucher"], lang),
        "number": row["number"],
        "more": "".join(f"{say('and', lang)}{part}" for part in said if part),
        "evidence": row["evidence"],
        "by": row["found_by"],
        "run": row["run"],
    }
    return Event(row["found_at"], "issued_elsewhere", "elsewhere", values, words)
