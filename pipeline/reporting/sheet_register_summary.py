"""The Summary of a register: what it is of, totals by state, and what whoever reads it should know."""

from collections.abc import Iterator

from pipeline.messages.translate import choice_word, rendered
from pipeline.model.columns import Lang
from pipeline.model.message import Message, counted, message
from pipeline.model.money import MINOR
from pipeline.reporting.register_by_buyer import buyer_of
from pipeline.reporting.register_values import STATES, TONES, Register
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.sheet_register_totals import Sums
from pipeline.reporting.words_register import label
from pipeline.reporting.xlsx.book import Book


def add_summary(book: Book, register: Register) -> None:
    """What it is a register of, totals, and what whoever reads it should know."""
    lang = book.lang
    page = Page(book, "Summary")
    page.facts((label(name, lang), value) for name, value in _facts(register, lang))
    _state_table(page, register, lang)
    if notes := list(_notes(register)):
        page.heading(label("notes", lang))
        page.points(notes)
    page.finish()


def _facts(register: Register, lang: Lang) -> Iterator[tuple[str, str]]:
    days = register.days
    yield "period", f"{days[0]}..{days[1]}" if days else label("everything", lang)
    if register.of_buyer:
        yield "for_buyer", buyer_of(register, lang)
    yield "carrier", rendered(register.carrier.told, lang)
    yield "times", register.time_zone
    yield "currency", register.currency
    yield "written", f"{register.written:%Y-%m-%d %H:%M}"
    if not register.masks.whole:
        yield "names", label("names_masked", lang)


def _state_table(page: Page, register: Register, lang: Lang) -> None:
    """Charges and amounts of invoices and itineraries, by state."""
    kinds = ("invoice", "itinerary")
    sums = {kind: Sums() for kind in kinds}
    for line in register.lines:
        sums[line.voucher].add(line)
    page.heading(label("by_state", lang))
    page.put(0, label("state", lang), page.column_heading)
    for place, said in enumerate((*(choice_word(kind, lang) for kind in kinds), label("total", lang))):
        page.put(2 * place + 1, label("charges", lang), page.number_heading)
        page.put(2 * place + 2, said, page.number_heading)
    page.row += 1
    for state in STATES:
        page.line(
            label(state, lang),
            page.tones[TONES[state] if any(sums[k].counts[state] for k in kinds) else "plain"],
        )
        counts, amounts = (
            [getattr(sums[kind], what)[state] for kind in kinds] for what in ("counts", "amounts")
        )
        for place, (count, amount) in enumerate(
            zip([*counts, sum(counts)], [*amounts, sum(amounts)], strict=True)
        ):
            page.put(2 * place + 1, count, page.count)
            page.put(2 * place + 2, amount / MINOR, page.money)
        page.row += 1


def _notes(register: Register) -> Iterator[Message]:
    if not register.lines:
        yield message("Nothing: the ledger has no voucher of this time.")
    if unknown := sum(line.state == "unknown" for line in register.lines):
        yield counted(
            "unknown: {count} charge was asked for, and whether it was issued is not known; voucher reconcile settles it.",
            "unknown: {count} charges were asked for, and whether they were issued is not known; voucher reconcile settles them.",
            unknown,
        )
    if missing := sum(line.amount is None for line in register.lines):
        yield counted(
            "{count} charge is known from a statement that does not say its amount; it counts as 0.",
            "{count} charges are known from statements that do not say their amounts; they count as 0.",
            missing,
        )
    if register.undated and register.days:
        yield counted(
            "{count} charge is known from a statement that does not say when it was issued; it is in the register of no month.",
            "{count} charges are known from statements that do not say when they were issued; they are in the register of no month.",
            register.undated,
        )
    if register.gap:
        yield message("The ledger may lack what was issued after {since}.", since=register.gap)
