"""What a statement's numbers say: of the kind of voucher, and of whether it is a carrier's statement at all."""

import datetime
from collections.abc import Sequence

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Statement, StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity
from pipeline.settlement.voucher_numbers import check_kinds, has_shape, without_odd_numbers

INVOICE, ITINERARY = 179_525_952_880_229_000, 20_179_525_952_873_829_000


def line(ticket: int, number: int | str, voucher: str = "invoice") -> StatementLine:
    return StatementLine(
        voucher, str(number), f"999{ticket:010}", "ticket_fare", "flight", 1000, None, "Acme", f"s.csv, s, row {ticket}", "s.csv"
    )  # fmt: skip


def statement(*lines: StatementLine) -> Statement:
    return Statement("s.csv", "0" * 64, datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC), lines)


def held(
    tickets: Sequence[int], voucher: str = "invoice", state: str = "issued", *, elsewhere: bool = False
) -> dict[Identity, KnownCharge]:
    return {
        Identity(f"999{ticket:010}", "ticket_fare", "flight"): KnownCharge(
            Identity(f"999{ticket:010}", "ticket_fare", "flight"), "", voucher, state,
            str(INVOICE + ticket) if state == "issued" else "", 1000, "business", "Acme", "", f"R{ticket}", 1, 1,
            "2026-10-05T04:00:00.000+00:00", "", "", "o.xlsx", "Tickets", 2, elsewhere=elsewhere,
        )
        for ticket in tickets
    }  # fmt: skip


def odd(*lines: StatementLine, ours: dict[Identity, KnownCharge] | None = None) -> list[str]:
    """The tickets of the lines that are set aside."""
    found = without_odd_numbers(statement(*lines), ours or {}, holding=False)
    assert len(found.lines) + len(found.misread) == len(lines)
    return [misread.ticket_no[-2:] for misread in found.misread]


def test_numbers_as_the_interface_shows_them() -> None:
    assert has_shape("invoice", str(INVOICE))
    assert has_shape("itinerary", str(ITINERARY))
    assert not has_shape("invoice", str(ITINERARY))
    assert not has_shape("itinerary", str(INVOICE))


def test_a_statement_that_calls_most_itineraries_invoices_is_refused() -> None:
    wrong = [line(1, ITINERARY), line(2, ITINERARY + 1), line(3, INVOICE)]
    with pytest.raises(InputProblem, match="has the 20 digits of an itinerary, as have 2 of 3"):
        check_kinds(statement(*wrong), {})
    with pytest.raises(InputProblem, match="18 digits of an invoice"):
        check_kinds(statement(line(1, INVOICE, "itinerary"), line(2, INVOICE)), {})
    # Half of them: which it is can't be said of the statement, and each of those lines is asked about.
    check_kinds(statement(line(1, ITINERARY), line(3, INVOICE)), {})
    assert odd(line(1, ITINERARY), line(3, INVOICE)) == ["01"]


def test_a_list_of_something_else_is_set_aside_line_by_line() -> None:
    assert odd(line(1, "12345678"), line(2, "12345679"), line(3, INVOICE)) == ["01", "02"]
    check_kinds(statement(line(1, "12345678")), {})


def test_a_statement_with_three_of_our_own_vouchers_under_such_numbers_is_believed() -> None:
    lines = [line(ticket, 12_345_678 + ticket) for ticket in range(1, 6)]
    assert odd(*lines, ours=held([1, 2, 3])) == []
    assert odd(*lines, ours=held([1, 2])) == ["03", "04", "05"]  # what is ours is compared all the same
    assert odd(*lines, ours=held([1, 2, 3], state="unknown")) == ["01", "02", "03", "04", "05"]
    assert odd(*lines, ours=held([1, 2, 3], elsewhere=True)) == ["01", "02", "03", "04", "05"]
    assert odd(*lines, ours=held([1, 2, 3], voucher="itinerary")) == ["04", "05"]
    # Numbers of another shape than theirs are not believed with them.
    assert odd(*lines, line(7, "INV-7"), ours=held([1, 2, 3])) == ["07"]


def test_one_of_our_own_numbers_is_enough() -> None:
    ours = held([1])
    (identity, holding), *_ = ours.items()
    import dataclasses  # noqa: PLC0415 - here alone

    ours[identity] = dataclasses.replace(holding, number="INV-1")
    assert odd(line(1, "INV-1"), line(2, "INV-22"), ours=ours) == []


def test_a_carrier_that_numbers_its_invoices_with_20_digits_is_not_refused() -> None:
    check_kinds(statement(*[line(t, ITINERARY + t) for t in range(1, 6)]), held([1, 2, 3]))
    with pytest.raises(InputProblem):
        check_kinds(statement(*[line(t, ITINERARY + t) for t in range(1, 6)]), held([1, 2, 3], "itinerary"))


@pytest.mark.parametrize("rounded", [INVOICE, INVOICE + 1000], ids=["cut off", "rounded"])
def test_the_ledger_s_own_number_as_a_spreadsheet_rounds_it_is_told_where_it_stands_alone(
    rounded: int,
) -> None:
    found = without_odd_numbers(statement(line(600, rounded)), held([600]), holding=False)
    assert (found.lines, found.set_aside) == ((), ())
    (told,) = found.misread
    assert str(told.problem) == (
        f"the number {rounded} is {INVOICE + 600} as a spreadsheet rounds it, which keeps 15 digits; have it as text"
    )
    for ours in (held([600], elsewhere=True), held([600], state="unknown"), held([601]), {}):
        assert odd(line(600, rounded), ours=ours) == []
    assert odd(line(600, INVOICE + 600), line(601, INVOICE + 2000), ours=held([600, 601])) == []
