"""The register of vouchers as a workbook: real dates and numbers, texts as texts, totals, masks, in either language."""

from pathlib import Path

import pytest
import python_calamine

from pipeline.reporting.register_workbook import write_register
from tests.unit.reporting.registers import AT, ONE, SEEN, made, table, written


def test_times_money_and_identifiers_have_their_types(tmp_path: Path) -> None:
    first, second = table(written(tmp_path, made([ONE, SEEN]))["Register"])
    assert first == {
        "number": "26110000000000000001", "voucher": "invoice", "ticket_no": "9990000000001", "charge": "ticket_fare",
        "product": "flight", "passenger_name": "ZHANG/WEI MR", "buyer": "Acme", "tax_no": "91110000600037341L", "fare": 900,
        "airport_fee": 50, "total": 950, "issued_at (Asia/Shanghai)": AT, "state": "issued", "run": 1, "file": "october.xlsx",
        "sheet": "Tickets", "row": 2, "cost_centre": "C1", "state (input)": "=1+1", "known_from": "this ledger", "request": "R1",
    }  # fmt: skip
    assert (second["issued_at (Asia/Shanghai)"], second["total"], second["row"]) == (
        AT.replace(hour=0, minute=0, second=0),
        None,
        None,
    )
    assert (second["file"], second["known_from"]) == ("s.csv, row 7", "the carrier's statement alone")


def test_it_is_in_chinese_too(tmp_path: Path) -> None:
    book = written(tmp_path, made([ONE, ONE._replace(state="reversed", red_number="29")]), "zh")
    first, second = table(book["Register"])
    assert [*first][:8] == ["凭证号码", "开票类型", "票号", "费用类型", "产品", "旅客姓名", "购买方", "税号"]
    assert (first["状态"], second["状态"], second["红票号码"], first["合计金额"]) == (
        "已开具",
        "已红冲",
        "29",
        950,
    )
    assert book["Summary"]["A1"].value == "开票清单"
    (title,) = [title for title in first if title.startswith("开具时间")]
    assert title == "开具时间（Asia/Shanghai）"
    by_buyer = [cell.value for cell in book["By buyer"][1]]
    assert by_buyer[2:4] == ["已开具：笔数", "已开具（CNY）"]


def test_totals_are_those_of_the_lines(tmp_path: Path) -> None:
    lines = [
        ONE, ONE._replace(amount=5, state="unknown", carried="{}"), ONE._replace(amount=7, state="reversed", buyer="Else"), SEEN,
    ]  # fmt: skip
    book = written(tmp_path, made(lines, gap="2026-10-01", undated=2, days=(AT.date(), AT.date())))
    acme, other, total = table(book["By buyer"])
    assert (
        acme["issued: charges"],
        acme["issued (CNY)"],
        acme["unknown (CNY)"],
        other["reversed (CNY)"],
    ) == (2, 950, 0.05, 0.07)
    assert [total[f"{state}: charges"] for state in ("issued", "unknown", "reversed")] == [2, 1, 1]
    assert [line["cost_centre"] for line in table(book["By cost centre"])] == [
        "C1",
        "(no cost centre)",
        "Total",
    ]
    notes = [row[0] for row in book["Summary"].iter_rows(values_only=True) if str(row[0]).startswith("•")]
    assert [note.split()[1] for note in notes] == ["unknown:", "1", "2", "The"]


def test_an_empty_register_says_so(tmp_path: Path) -> None:
    book = written(tmp_path, made([]))
    assert table(book["Register"]) == table(book["By buyer"]) == []
    assert "• Nothing: the ledger has no voucher of this time." in [
        cell.value for cell in book["Summary"]["A"]
    ]


@pytest.mark.slow
def test_of_very_many_charges_each_has_its_line(tmp_path: Path) -> None:
    lines = [
        ONE._replace(
            number=f"2611{at // 7:016}",
            ticket_no=f"999{at:010}",
            buyer=f"Buyer {at % 300}",
            amount=at,
            row=at,
        )
        for at in range(100_000)
    ]
    register = made(lines)
    write_register(register, tmp_path / "many.xlsx", "en")
    with python_calamine.load_workbook(str(tmp_path / "many.xlsx")) as book:
        assert len(book.get_sheet_by_name("Register").to_python()) == 1 + len(lines)
