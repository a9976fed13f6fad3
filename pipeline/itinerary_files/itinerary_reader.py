"""One file, read: its parts, its fields by the order of trust, its seals, and what all that comes to.

The order of trust is XBRL, tags, page (itinerary-files.md). Where two of them say otherwise the file is altered; so it is where its sums
are wrong or a seal is broken. A page is searched with leniency: what another source says and what stands anywhere on the
page is no disagreement, because no airline's page was to be had.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.itinerary_files.field_values import Value, alike
from pipeline.itinerary_files.ofd_package import Package
from pipeline.itinerary_files.ofd_parts import Parts
from pipeline.itinerary_files.package_seals import check_seals
from pipeline.itinerary_files.page_text import PageText
from pipeline.itinerary_files.read_reasons import Found, Reason, Refused, found
from pipeline.itinerary_files.source_fields import (
    AMOUNTS,
    READERS,
    SourceFields,
    is_itinerary_xbrl,
    names_itinerary,
    page_fields,
    stands_on,
    tag_fields,
    xbrl_fields,
)
from pipeline.model.itinerary_file import FieldSource, FileStatus
from pipeline.model.money import money_shown

#: What is asked of the amounts: the first five come to the total.
_ADDED = ("fare", "fuel", "vat", "fund", "other_taxes")
#: Names are compared by their beginnings where a page breaks a line.
_SHORTEST_NAME = 2
_MOST_SAID, _LONGEST_SAID = 20, 500


@dataclass(frozen=True)
class _Chosen:
    """The fields of a file, where each comes from, and where sources say otherwise."""

    values: dict[str, Value]
    sources: dict[str, FieldSource]
    differences: list[Found]


def read_itinerary(content: bytes, roots: tuple[bytes, ...]) -> dict[str, Any]:
    """What is read of a file, as JSON has it (see `read_answer.py`, which makes it a value of the model)."""
    try:
        return _read(content, roots)
    except Refused as refused:
        return {"problem": refused.status, "reasons": _said([refused.found])}


def _read(content: bytes, roots: tuple[bytes, ...]) -> dict[str, Any]:
    parts = Parts(Package(content))
    documents = [root for root in parts.attachments() if is_itinerary_xbrl(root)]
    page = parts.pages()
    tags = tag_fields(parts.tags(), page.by_id)
    if not documents and not names_itinerary(page, tags):
        raise Refused(FileStatus.NOT_AN_ITINERARY, Reason.OTHER_DOCUMENT)
    sources = (xbrl_fields(documents), tags, page_fields(page))
    chosen = _chosen(sources, page)
    sealing = check_seals(parts, parts.content(), roots)
    reasons = [*sealing.reasons, *chosen.differences, *_wrong_sums(chosen.values, sources)]
    problem = FileStatus.ALTERED if reasons else None
    if not reasons and (unclear := _unclear(chosen.values)):
        problem, reasons = FileStatus.UNCLEAR, unclear
    notes = [*parts.notes, *(note for source in sources for note in source.notes), *sealing.notes]
    return {
        "data": {name: _in_json(value) for name, value in chosen.values.items()},
        "sources": chosen.sources,
        "seal": sealing.status,
        "problem": problem,
        "reasons": _said(reasons),
        "notes": _said(notes),
    }


def _in_json(value: Value) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _said(found: Sequence[Found]) -> list[Any]:
    return [
        [
            str(one.reason),
            {
                name: fact[:_LONGEST_SAID] if isinstance(fact, str) else fact
                for name, fact in one.facts.items()
            },
        ]
        for one in found[:_MOST_SAID]
    ]


def _chosen(sources: Sequence[SourceFields], page: PageText) -> _Chosen:
    chosen = _Chosen({}, {}, [])
    for name in READERS:
        if name == "net":
            continue
        for source in sources:
            others = [other for field, other in source.others if field == name]
            for value in (source.values.get(name), *others):
                if value is None:
                    continue
                first = chosen.values.setdefault(name, value)
                where = chosen.sources.setdefault(name, source.source)
                if not _agree(name, first, value, source.source, page):
                    facts = {"one": _shown(name, first), "other": _shown(name, value)}
                    found_in = {"source": where, "other_source": source.source}
                    chosen.differences.append(found(Reason.DIFFER, field=name, **facts, **found_in))
    return chosen


def _agree(name: str, first: Value, value: Value, source: FieldSource, page: PageText) -> bool:
    """Whether what a source says is what another says, too: a set of tickets may be shown by one of them."""
    if isinstance(first, tuple) and isinstance(value, tuple):
        same = set(first) <= set(value) or set(value) <= set(first)
    elif name in ("buyer_name", "buyer_tax_no"):
        one, other = alike(str(first)), alike(str(value))
        begun = source is FieldSource.PAGE and len(other) >= _SHORTEST_NAME and one.startswith(other)
        same = one == other or begun
    else:
        same = first == value
    return same or (source is FieldSource.PAGE and stands_on(page, name, first))


def _wrong_sums(values: dict[str, Value], sources: Sequence[SourceFields]) -> list[Found]:
    """Where amounts don't come to what they should: only of those that are all there, for one that is not named may be in the total."""
    amounts = {name: value for name in AMOUNTS if isinstance(value := values.get(name), int)}
    wrong = list[Found]()
    if "total" in amounts and set(_ADDED) <= set(amounts):
        together = sum(amounts[name] for name in _ADDED)
        if together != amounts["total"]:
            wrong.append(found(Reason.SUM, one=money_shown(together), other=money_shown(amounts["total"])))
    for source in sources:
        net = source.values.get("net")
        if not isinstance(net, int) or not {"fare", "vat", "total"} <= set(amounts):
            continue
        without_vat = amounts["fare"] + amounts.get("fuel", 0)
        # Of an itinerary's tags it is not known whether the fund, which has no VAT, is in it.
        if net not in (without_vat, amounts["total"] - amounts["vat"]):
            facts = {"one": money_shown(net), "other": money_shown(without_vat)}
            wrong.append(found(Reason.NET, source=source.source, **facts))
    return wrong


def _unclear(values: dict[str, Value]) -> list[Found]:
    """Why an itinerary can't be matched, though nothing in it is wrong."""
    missing = list[Found]()
    if "number" not in values:
        missing.append(found(Reason.NO_NUMBER))
    if "tickets" not in values:
        missing.append(found(Reason.NO_TICKET))
    total = values.get("total")
    if isinstance(total, int) and total < 0 and "red_of" not in values:
        missing.append(found(Reason.RED))
    return missing


def _shown(name: str, value: Value) -> str:
    if name in AMOUNTS and isinstance(value, int):
        return money_shown(value)
    return ", ".join(value) if isinstance(value, tuple) else str(value)
