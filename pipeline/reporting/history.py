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

from pipeline.messages.translate import rendered, status_word
from pipeline.model.columns import Lang
from pipeline.model.money import money_shown, money_text
from pipeline.model.quoting import one_line
from pipeline.reporting.words_history import (
    attempt_reason,
    judged_reasons,
    say,
    word,
)

Row = Mapping[str, Any]
#: The order of what happened within one millisecond.
_ORDER = (
    "prepared", "proposed", "approved", "sent", "reconciled", "judged", "planned", "sending", "answered", "outcome", "settled",
    "issued_elsewhere", "reversed", "withdrawn", "file", "stopped",
)  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """What the ledger has of one ticket, as its rows; `attempts` has one for each charge of an attempt."""

    attempts: Sequence[Row] = ()
    judgements: Sequence[Row] = ()
    elsewhere: Sequence[Row] = ()
    settlements: Sequence[Row] = ()
    reversals: Sequence[Row] = ()
    files: Sequence[Row] = ()  # itinerary files
    people: Sequence[Row] = ()  # who had a hand in the runs that asked for it


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
    for name, charges in groupby(recorded.attempts, _attempt_of):
        settlements = [row for row in recorded.settlements if _attempt_of(row) == name]
        found += _in_order(_of_attempt(list(charges), settlements, lang))
    for row in recorded.elsewhere:
        found += _in_order(_with_withdrawal(_elsewhere(row, lang), row, f"E{row['elsewhere']}"))
    for row in recorded.reversals:
        found += _in_order(_with_withdrawal(_reversed(row, lang), row, f"R{row['reversal']}"))
    found += (_file(row, lang) for row in recorded.files)
    found += map(_had_a_hand, recorded.people)
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
    text = json.dumps(said, ensure_ascii=False, indent=1)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text).encode()


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


def _attempt_of(row: Row) -> tuple[str, int]:
    return row["request_id"], row["attempt"]


def _named(row: Row, lang: Lang) -> dict[str, str]:
    return {"name": say("attempt", lang).format(request=row["request_id"], attempt=row["attempt"])}


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
    return f"{name} {money_shown(row['amount'])}" if row["amount"] else name


def _row_of(row: Row, lang: Lang) -> str:
    return say("place", lang).format(file=row["file"], sheet=row["sheet"], row=row["row"])


def _after(joint: str, text: str, lang: Lang) -> str:
    """A text as the end of a sentence; "" stays so."""
    return f"{say(joint, lang)}{text}" if text else ""


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
        "because": _after("because", judged_reasons(codes, lang), lang),
        "run": row["run"],
        "place": _row_of(row, lang),
    }
    return Event(row["judged_at"], "judged", "judged" if row["voucher"] else "judged_unread", values, words)


def _of_attempt(charges: Sequence[Row], settlements: Sequence[Row], lang: Lang) -> Iterator[Event]:
    """What happened in one attempt; its rows differ in the charge alone."""
    row = charges[0]
    values = {"request": row["request_id"], "attempt": row["attempt"]}
    words = _named(row, lang)
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
    for settlement in settlements:
        yield from _with_withdrawal(_settled(settlement, lang), settlement, f"S{settlement['settlement']}")


def _settled(row: Row, lang: Lang) -> Event:
    values = {"request": row["request_id"], "attempt": row["attempt"], "entry": f"S{row['settlement']}"}
    given = {"settled_by": row["settled_by"], "evidence": str(row["evidence"]), "number": row["number"]}
    said = "settled_issued" if row["state"] == "issued" else "settled_not_sent"
    said_of = {"evidence": rendered(row["evidence"], lang)}
    words = {"entry": values["entry"]} | given | said_of | _named(row, lang)
    return Event(row["settled_at"], "settled", said, values | {"settled_as": row["state"]} | given, words)


def _with_withdrawal(event: Event, row: Row, entry: str) -> Iterator[Event]:
    """A piece of evidence, and its being withdrawn if it was."""
    yield event
    if row["withdrawn"]:
        values = {"entry": entry, "withdrawn_by": row["withdrawn_by"], "why": row["why"]}
        yield Event(row["withdrawn_at"], "withdrawn", "withdrawn", values, values)


def _reversed(row: Row, lang: Lang) -> Event:
    entry = {"entry": f"R{row['reversal']}"}
    values = {name: row[name] for name in ("voucher", "number", "red_number", "reversed_by")}
    values["evidence"] = str(row["evidence"])
    asked = {"request": row["request_id"] or "", "attempt": row["attempt"] or 0}
    red = say("red", lang).format(number=row["red_number"]) if row["red_number"] else ""
    told = {"voucher": word(row["voucher"], lang), "red": red, "evidence": rendered(row["evidence"], lang)}
    words = values | entry | told
    return Event(row["reversed_at"], "reversed", "reversed", entry | asked | values, words)


def _file(row: Row, lang: Lang) -> Event:
    values = {name: row[name] for name in ("run", "status", "number", "seal", "place", "archived", "sha256")}
    asked = {"request": row["request_id"] or "", "attempt": row["attempt"] or 0}
    told = {
        "status": status_word(row["status"], lang),
        "seal": status_word(row["seal"], lang),
        "why": _after("why", rendered(row["detail"], lang), lang),
        "kept": say("kept", lang).format(archived=row["archived"]) if row["archived"] else "",
        "sha256": row["sha256"][:12],
    }
    values["detail"] = str(row["detail"])
    return Event(row["received_at"], "file", "file", asked | values, values | told)


def _had_a_hand(row: Row) -> Event:
    values = {name: row[name] for name in ("run", "person", "plan") if row[name]}
    return Event(row["noted_at"], row["role"], f"run_{row['role']}", values, values)


def _outcome(row: Row, values: dict[str, Any], words: dict[str, str], lang: Lang) -> Event:
    """How an attempt ended, before anybody settled it."""
    settled = bool(row["settled"])
    state = "unknown" if settled else row["state"]
    outcome = {
        "number": "" if settled else row["number"],
        "reason": row["reason"],
        "detail": str(row["detail"]),
        "trace_id": row["trace_id"],
    }
    trace = say("trace", lang).format(trace=row["trace_id"]) if row["trace_id"] else ""
    why = _after("why", attempt_reason(row["reason"], row["detail"], lang), lang)
    told = {"number": outcome["number"], "why": why, "trace": trace, "state": word(state, lang)}
    said = "issued" if state == "issued" else "ended"
    return Event(row["ended_at"], state, said, values | outcome, words | told)


def _elsewhere(row: Row, lang: Lang) -> Event:
    amount = None if row["amount"] is None else money_text(row["amount"])
    names = ("run", "charge", "product", "voucher", "number", "buyer", "issued_at", "evidence", "found_by")
    entry = {"entry": f"E{row['elsewhere']}"}
    values = (
        entry | {name: row[name] for name in names} | {"evidence": str(row["evidence"]), "amount": amount}
    )
    said = [
        row["buyer"],
        say("issued_at", lang).format(at=row["issued_at"].replace("T", " ")) if row["issued_at"] else "",
    ]
    words = {
        "what": _what({**row, "amount": row["amount"] or 0}, lang),
        "voucher": word(row["voucher"], lang),
        "number": row["number"],
        "more": "".join(f"{say('and', lang)}{part}" for part in said if part),
        "evidence": rendered(row["evidence"], lang),
        "by": row["found_by"],
        "run": row["run"],
    } | entry
    return Event(row["found_at"], "issued_elsewhere", "elsewhere", values, words)
