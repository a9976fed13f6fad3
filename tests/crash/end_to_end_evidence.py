"""What people honestly bring to a reconciliation: statements of the carrier's, true or not, and answers on Unknown sheets.

Honest is what tells what somebody saw, and a mistake that the program can find out by what it knows:

- a true statement says of all that the carrier issued until it was made; what is said of its completeness is so;
- a part of one is said to be complete only where, of each kind of voucher that it leaves out something of, it also leaves out
  something that the ledger has as issued, long enough before; or lists nothing of that kind at all;
- another agency's, and an old one that was copied (its file is new, what it lists is not), may be said to be complete;
- a statement with mistakes in it still names every ticket that it would name, or is not said to be complete;
- a statement of one kind of voucher may have lines of the other too, such as those whose numbers the carrier had told: then it is said
  to be complete for the one kind alone;
- what the carrier took back stands on a statement by red lines, or not at all, whatever else is on it;
- an answer says what the carrier's books said of those charges when its Unknown sheet was made. Which number is told may be
  a slip: then it is one that the ledger or the same statement knows for another request's;
- a mistake that nothing can find out is noticed by whoever made it (`mistaken`), and withdrawn: "not issued" of what was issued,
  or a number that somebody made up.
"""

import csv
import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import openpyxl

from tests.crash.counting_carrier import Charge
from tests.crash.end_to_end_carrier import Red, Voucher
from tests.crash.end_to_end_office import CHINA, Asked, Held, Office

_COLUMNS = (
    "voucher", "number", "ticket_no", "charge", "product", "amount", "issued_at", "buyer", "original_number", "status",
)  # fmt: skip
#: What somebody may bring, and how often.
_KINDS = {
    "true": 1, "true then": 2, "true of these days": 1, "one kind": 3, "one kind and more": 2, "a part": 2, "foreign": 2,
    "stale": 3, "mistaken": 2,
}  # fmt: skip
#: Beyond the profile's hours: for clocks that differ, at both ends.
_MARGIN = datetime.timedelta(hours=2)


@dataclass(frozen=True)
class Given:
    """A statement as a person hands it in: what is said of it, and whether something in it is wrong."""

    arguments: tuple[str, ...]
    what: str
    wrong: bool = False


def true_statement(office: Office, name: str, *, complete: bool = True) -> Given:
    """Everything that the carrier has issued until now, and said to be that."""
    made = office.now()
    path = _write(office, name, _lines(office, _listed(office)) + _reds(office), made)
    said = _complete(office, office.start, made) if complete else ()
    return Given(("--statement", str(path), *said, *_made(made)), "true")


def days_statement(office: Office, name: str, first: datetime.date, last: datetime.date) -> Given:
    """Everything of some days, by the carrier's clock, and said to be complete for them."""
    made = office.now()
    vouchers = [v for v in _listed(office) if first <= v.at.astimezone(CHINA).date() <= last]
    reds = _reds(office, lambda red: first <= red.at.astimezone(CHINA).date() <= last)
    path = _write(office, name, _lines(office, vouchers) + reds, made)
    return Given(
        ("--statement", str(path), "--statement-complete", f"{first}..{last}", *_made(made)),
        f"{first}..{last}",
    )


def kind_statement(office: Office, name: str, kind: str, *, more: bool) -> Given:
    """All of one kind, said to be complete; with `more` also what the carrier told of the other kind, and said of the one kind alone."""
    rng, made = office.rng, office.now()
    vouchers = _listed(office)
    days = f"{office.start.astimezone(CHINA).date()}..{made.astimezone(CHINA).date()}"
    part = [voucher for voucher in vouchers if voucher.kind == kind or (more and voucher.told)]
    said = f"{kind}:{days}" if more or rng.random() < 0.3 else days
    path = _write(
        office,
        name,
        _lines(office, part) + _reds(office, lambda red: red.original.number in {one.number for one in part}),
        made,
    )
    what = f"all of kind {kind}" + ", and known ones of the other" * more
    return Given(("--statement", str(path), "--statement-complete", said, *_made(made)), what)


def any_statement(office: Office, name: str) -> Given:  # noqa: PLR0911 - a return for each kind
    """One of the statements that an honest person may bring."""
    rng, made = office.rng, office.now()
    vouchers = _listed(office)
    what = rng.choices(list(_KINDS), weights=list(_KINDS.values()))[0]
    if what == "one kind and more":
        return kind_statement(office, name, rng.choice(("invoice", "itinerary")), more=rng.random() < 0.5)
    if what == "true":
        return true_statement(office, name, complete=rng.random() < 0.8)
    if what == "true of these days" and not office.wrong_clock:
        since = min(office.start + datetime.timedelta(days=rng.randrange(0, 3)), made)
        return days_statement(office, name, since.astimezone(CHINA).date(), made.astimezone(CHINA).date())
    if what == "foreign":
        path = _write(office, name, _foreign(office, made), made)
        return Given(("--statement", str(path), *_complete(office, office.start, made), *_made(made)), what)
    if what == "stale":
        # It was made then; it was copied now, and nobody says when it was made.
        then = office.start + (made - office.start) * rng.random()
        gone = {red.original.number for red in office.carrier.reds if red.at <= then}
        shown = office.red_style != "not at all"
        listed = [
            one
            for one in office.carrier.vouchers
            if one.at <= then and (shown or not one.reversed or one.number not in gone)
        ]
        reds = _reds(office, lambda red: red.at <= then)
        path = _write(office, name, _lines(office, listed) + reds, made)
        return Given(("--statement", str(path), *_complete(office, office.start, made)), what)
    if what == "mistaken":
        lines, named = _mistaken(rng, _lines(office, vouchers))
        lines += _reds(office)
        path = _write(office, name, lines, made)
        said = _complete(office, office.start, made) if named else ()
        return Given(("--statement", str(path), *said, *_made(made)), what, wrong=True)
    part = _part(rng, vouchers) if what == "a part" else _one_kind(office, vouchers)
    path = _write(office, name, _lines(office, part) + _reds(office, lambda _: rng.random() < 0.8), made)
    said = _complete(office, office.start, made) if _shows(office, vouchers, part, made) else ()
    return Given(("--statement", str(path), *said, *_made(made)), what)


def _listed(office: Office) -> list[Voucher]:
    """The vouchers that the carrier's books list: those that it took back are gone, or there beside red lines."""
    shown = office.red_style != "not at all"
    return [voucher for voucher in office.carrier.vouchers if shown or not voucher.reversed]


def _one_kind(office: Office, vouchers: Sequence[Voucher]) -> list[Voucher]:
    """One kind alone, and mostly the one of which the ledger knows the most."""
    known = Counter(len(held.number) for held in office.held().values() if held.state == "issued")
    most = "itinerary" if known[20] > known[18] else "invoice"
    kind = most if office.rng.random() < 0.7 else office.rng.choice(("invoice", "itinerary"))
    return [voucher for voucher in vouchers if voucher.kind == kind]


def _part(rng: Random, vouchers: Sequence[Voucher]) -> list[Voucher]:
    """A page of it, or what somebody filtered."""
    if rng.random() < 0.5:
        return list(vouchers[: rng.randrange(len(vouchers) + 1)])
    return [voucher for voucher in vouchers if rng.random() < 0.7]


def _shows(
    office: Office, vouchers: Sequence[Voucher], part: Sequence[Voucher], made: datetime.datetime
) -> bool:
    """Whether the ledger can tell that a part is none of the whole, for each kind that it lacks something of."""
    known = {held.number for held in office.held().values() if held.state == "issued" and not held.elsewhere}
    last = made - datetime.timedelta(hours=office.hours) - _MARGIN
    for kind in ("invoice", "itinerary"):
        listed = {voucher.number for voucher in part if voucher.kind == kind}
        lacking = [voucher for voucher in vouchers if voucher.kind == kind and voucher.number not in listed]
        seen = any(v.number in known and v.at <= last for v in lacking) and not office.wrong_clock
        if lacking and listed and not seen:
            return False
    return True


def _complete(office: Office, since: datetime.datetime, until: datetime.datetime) -> tuple[str, ...]:
    first, last = (moment.astimezone(CHINA).date() for moment in (since, until))
    kind = office.rng.choice(("", "", "", "invoice:", "itinerary:"))
    both = f"{first}..{last}"
    return ("--statement-complete", f"{kind}{both}")


def _made(made: datetime.datetime) -> tuple[str, ...]:
    return ("--statement-made", made.astimezone(CHINA).strftime("%Y-%m-%dT%H:%M:%S+08:00"))


def _lines(office: Office, vouchers: Iterable[Voucher]) -> list[dict[str, str]]:
    return [
        {
            "voucher": voucher.kind, "number": voucher.number, "ticket_no": ticket, "charge": charge,
            "product": product, "issued_at": voucher.at.astimezone(CHINA).strftime("%Y-%m-%d %H:%M:%S"),
            "amount": voucher.amounts.get((ticket, charge, product), "") if office.shows_amounts else "",
        }
        for voucher in vouchers
        for ticket, charge, product in sorted(voucher.charges)
    ]  # fmt: skip


def _reds(office: Office, of: Callable[[Red], bool] = lambda _: True) -> list[dict[str, str]]:
    """Red lines: a line for each charge that was taken back, and how much of it, in the way of this carrier."""
    lines = []
    for red in office.carrier.reds if office.red_style != "not at all" else ():
        for (ticket, charge, product), amount in sorted(red.amounts.items()) if of(red) else ():
            kind = red.original.kind
            lines.append({
                "voucher": {"invoice": "红字发票", "itinerary": "红冲行程单"}[kind] if office.red_style == "kind" else kind,
                "number": red.number, "original_number": red.original.number, "ticket_no": ticket, "charge": charge,
                "product": product, "issued_at": red.at.astimezone(CHINA).strftime("%Y-%m-%d %H:%M:%S"),
                "amount": f"-{amount}", "status": "reversed" if office.red_style == "status" else "",
            })  # fmt: skip
    return lines


def _foreign(office: Office, made: datetime.datetime) -> list[dict[str, str]]:
    """Another agency's: none of ours is in it."""
    rng = office.rng
    at = made - datetime.timedelta(hours=5)
    tickets = [f"888{rng.randrange(10**10):010}" for _ in range(rng.randrange(1, 12))]
    return _lines(
        office,
        (Voucher(f"{'2' if n % 2 else '1'}9{n:0{18 if n % 2 else 16}}", "itinerary" if n % 2 else "invoice",
                frozenset({(ticket, "ticket_fare", "flight")}), at, told=True)
        for n, ticket in enumerate(tickets)),
    )  # fmt: skip


def _mistaken(rng: Random, lines: list[dict[str, str]]) -> tuple[list[dict[str, str]], bool]:
    """Lines with one kind of mistake, and whether every ticket is still named, or what is not is plainly unreadable."""
    kind = rng.choice(("kinds", "numbers", "ticket", "number", "another number"))
    if not lines:
        return lines, False
    at = rng.randrange(len(lines))
    match kind:
        case "kinds":
            for line in lines:
                line["voucher"] = "invoice" if line["voucher"] == "itinerary" else "itinerary"
        case "numbers":  # two rows were mixed up
            other = rng.randrange(len(lines))
            lines[at]["number"], lines[other]["number"] = lines[other]["number"], lines[at]["number"]
        case "ticket":
            lines[at]["ticket_no"] = lines[at]["ticket_no"][:9]
        case "number":
            lines[at]["number"] = ""
        case _:
            lines.append(lines[at] | {"number": lines[rng.randrange(len(lines))]["number"][:-4] + "7777"})
    return lines, True


def _write(office: Office, name: str, lines: Sequence[dict[str, str]], made: datetime.datetime) -> Path:
    path = office.folder / "copies" / name
    if office.rng.random() < 0.5:
        path = path.with_suffix(".csv")
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(lines)
    else:
        path = path.with_suffix(".xlsx")
        book = openpyxl.Workbook()
        sheet = book.worksheets[0]
        sheet.append(list(_COLUMNS))
        for line in lines:
            sheet.append([line.get(column, "") for column in _COLUMNS])
        book.save(path)
    office.touch(path, made)
    return path


# --- answers ---------------------------------------------------------------------------------------------


def answered(office: Office, sheet: Path, *, slips: bool = False, mistaken: bool = False) -> Path | None:
    """A result workbook whose Unknown sheet somebody filled in, as the truth was when it was made; None where it asks nothing.

    `slips`: one of the answers may be incomplete, or have the number of another request. `mistaken`: they are the wrong way round.
    """
    asked = office.sheets[sheet]
    if not any(one.number is not None for one in asked):
        return None
    book = openpyxl.load_workbook(sheet)
    page = book["Unknown"]
    at = {cell.value: cell.column for cell in page[1]}
    slip = office.rng.randrange(len(asked)) if slips else -1
    for row, one in enumerate(asked, start=2):
        if one.number is None:
            continue
        told = {"resolution": "issued" if one.number else "not issued", "number": one.number, "resolved_by": "Wang",
                "evidence": "telephone"}  # fmt: skip
        if mistaken:
            told |= _mistake(office, one)
        if row - 2 == slip:
            told |= _slip(office, one.charges, told)
        for name, text in told.items():
            page.cell(row, at[name], text or None)
    path = office.folder / "answers" / f"answered-{len(office.done)}-{sheet.name}"
    book.save(path)
    office.touch(path)
    return path


def _mistake(office: Office, one: Asked) -> dict[str, str]:
    """The wrong way round: what was issued was not, and what was not has a number."""
    if one.number:
        if (one.request, one.attempt) in office.unsettled():
            office.mistaken.update(one.charges)
        return {"resolution": "not issued", "number": "", "evidence": "another agency's list"}
    number = f"1777{office.rng.randrange(10**14):014}"
    office.made_up.add(number)
    return {"resolution": "issued", "number": number, "evidence": "another agency's list"}


def _slip(office: Office, charges: frozenset[Charge], told: dict[str, str]) -> dict[str, str]:
    others = sorted({h.number for c, h in office.held().items() if _is_anothers(h, c, charges)})
    choice = office.rng.choice(("number", "number", "evidence", "no number", "nonsense"))
    if choice == "number" and others:
        return {"resolution": "issued", "number": office.rng.choice(others)}
    if choice == "evidence":
        return {"evidence": ""}
    if choice == "no number" and told["number"]:
        return {"number": ""}
    return {"resolution": "yes"}


def _is_anothers(held: Held, charge: Charge, charges: frozenset[Charge]) -> bool:
    return held.state == "issued" and bool(held.number) and charge not in charges
