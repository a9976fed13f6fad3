"""A statement's red lines: what the carrier has reversed may be issued again, by whoever starts it, and by nothing else."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.acceptance.conftest import Desk
from tests.acceptance.office import Office

Make = Callable[..., Any]
Line = dict[str, str]


def red(line: Line, **changes: str) -> Line:
    """The line that reverses another."""
    number = f"29{line['number'][2:]}"
    return {
        **line,
        "number": number,
        "original_number": line["number"],
        "amount": f"-{line['amount']}",
        **changes,
    }


def statement(office: Office, name: str, lines: Sequence[Line]) -> Any:
    return office.statement(name, lines)


@pytest.mark.slow
def test_a_red_line_lets_the_charges_of_its_voucher_be_issued_again_by_whoever_starts_it(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(
        [*tickets(2), *({"ticket_no": f"999000000000{at}", "voucher": "invoice"} for at in (3, 4))]
    )
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        lines = carrier.issued()
        itinerary = next(line for line in lines if line["voucher"] == "itinerary")
        of_invoice = [line for line in lines if line["voucher"] == "invoice"]
        assert len({line["number"] for line in of_invoice}) == 1
        port = int(carrier.base_url.rsplit(":", 1)[1])
        # A whole itinerary, half of an invoice, and what is not ours.
        stranger = red(itinerary, original_number="20999999999999999999", ticket_no="9997777777777")
        listed = [*lines, red(itinerary), red(of_invoice[0]), stranger]
        given = statement(office, "red.csv", listed)
        ran = office.reconcile("--statement", given)
        assert ran.code == 1
        said = office.report()
        assert [p["code"] for p in said["problems"]] == ["reversal", "reversal"]
        assert "reverses only 1 of the 2 charges" in said["problems"][0]["message"]
        assert "does not hold as issued" in said["problems"][1]["message"]
        assert any(f"{itinerary['number']} was reversed by the carrier" in note for note in said["warnings"])
        assert (said["comparison"]["agreed"], said["comparison"]["not_ours"]) == (3, 0)
        # Reversed once, it is nothing new; and no reconciliation sends what it let go.
        ran = office.reconcile(book, "--statement", given)
        rows = {row["ticket_no"]: row for row in office.report()["rows"]}
        freed = rows[itinerary["ticket_no"]]
        assert (freed["status"], freed["reasons"][0]["code"]) == ("waiting", "voucher_reversed")
        assert itinerary["number"] in freed["reasons"][0]["message"]
        assert sum(row["status"] == "already_issued" for row in rows.values()) == 3
        assert not any("was reversed by the carrier" in note for note in office.report()["warnings"])
        assert office.reconcile(book).code == 1
        # Both lines of the invoice, in one of the other spellings.
        both = [*lines, red(itinerary), *(red(line, voucher="红字发票", amount="") for line in of_invoice)]
        ran = office.reconcile("--statement", statement(office, "both.csv", both))
        assert office.report()["problems"] == []
        assert len(carrier.issued()) == 4
    # The carrier knows of its reversals; a person starts it.
    gone = {itinerary["number"], of_invoice[0]["number"]}
    text = carrier.statement.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not any(number in line for number in gone)]
    carrier.statement.write_text("\n".join(kept) + "\n", encoding="utf-8")
    with sandbox(book, port=port) as carrier:
        assert len(carrier.issued()) == 1
        issued = office.issue(book)
        assert issued.code == 0, issued.err
        assert len(carrier.issued()) == 4
        assert carrier.twice() == []
        # A statement that lists old, red and new: the old ones are not ours to compare any more.
        ran = office.reconcile(
            book, "--statement", statement(office, "new.csv", [*both, *carrier.issued()[1:]])
        )
        assert ran.code == 0, ran.err
        assert office.report()["comparison"] == {
            "agreed": 4, "not_on_statement": 0, "not_ours": 0, "differing": 0, "not_covered": 0, "unknown": 0, "to_issue": 0
        }  # fmt: skip


@pytest.mark.slow
def test_a_reversal_that_was_not_made_lets_nothing_be_issued_again(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(4))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        lines = [{**line, "status": "正常（未红冲）"} for line in carrier.issued()]
        amounts = {"amount": lines[0]["amount"]}
        not_made = [
            red(line, status=status, **amounts)
            for line, status in zip(lines, ("红冲失败", "已撤销", "to be reversed", ""), strict=True)
        ]
        given = statement(office, "s.csv", [*lines, *not_made])
        assert office.reconcile("--statement", given).code == 1
        said = office.report()
        assert [problem["code"] for problem in said["problems"]] == ["misread"] * 4
        assert said["comparison"]["agreed"] == 4
        assert "提及红冲" in office.reconcile("--statement", given, "--lang", "zh").err
        office.issue(book)
        assert len(carrier.issued()) == 4
        assert carrier.twice() == []


def test_a_second_voucher_of_a_charge_stands_when_the_first_is_reversed(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(1))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        (line,) = carrier.issued()
        second = {**line, "number": f"28{line['number'][2:]}"}
        assert office.reconcile("--statement", statement(office, "both.csv", [line, second])).code == 1
        ran = office.reconcile("--statement", statement(office, "red.csv", [red(line)]))
        assert f"its charges are not issued again, as {second['number']} stands for one of them" in ran.err
        assert "Nothing was compared" not in ran.err
        assert office.issue(book).code == 0
        assert len(carrier.issued()) == 1
