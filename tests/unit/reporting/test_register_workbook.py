"""The register of vouchers as a workbook: real dates and numbers, texts as texts, totals, masks, in either language."""

import datetime
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import python_calamine

from pipeline.messages.translate import heading
from pipeline.model.message import message, to_text
from pipeline.model.profile import Owner
from pipeline.model.register_line import RegisterLine
from pipeline.reporting.masking import Masks, NoMasks
from pipeline.reporting.output_paths import file_name
from pipeline.reporting.register_workbook import Register, buyer_numbers, secrets_of, write_register

AT = datetime.datetime.fromisoformat("2026-10-31T23:59:59")
ONE = RegisterLine(
    "26110000000000000001", "invoice", "9990000000001", "ticket_fare", "flight", "ZHANG/WEI MR", "Acme", "91110000600037341L",
    "13800138000", "a@example.com", '{"fare": 90000, "airport_fee": 5000}', '{"Cost Centre": "C1", "state": "=1+1"}', 95000, AT, 1,
    "october.xlsx", "Tickets", 2, "issued", "", "R1", elsewhere=False,
)  # fmt: skip
SEEN = ONE._replace(
    number="77", buyer="Acme", tax_no="", phone="", email="", passenger_name="", components="{}", carried="{}", amount=None,
    issued=AT.date(), file=to_text(message("{file}, row {row}", file="s.csv", row=7)), sheet="", row=0, request="", elsewhere=True,
)  # fmt: skip


def made(lines: Sequence[RegisterLine], masked: bool = False, **changes: Any) -> Register:
    written = datetime.datetime(2026, 11, 2, 9, 0, tzinfo=datetime.UTC)
    masks = Masks(secrets_of(lines)) if masked else NoMasks()
    given = {"days": None, "undated": 0, "gap": "", **changes}
    return Register(
        lines, buyer_numbers(lines), carrier=Owner("https://carrier.example", "A"), time_zone="Asia/Shanghai", currency="CNY", written=written,
        masks=masks, **given,
    )  # fmt: skip


def written(tmp_path: Path, register: Register, lang: Any = "en") -> Any:
    return openpyxl.load_workbook(write_register(register, tmp_path / "r.xlsx", lang))


def table(sheet: Any) -> list[dict[str, Any]]:
    headings, *lines = sheet.iter_rows(values_only=True)
    return [dict(zip(headings, line, strict=True)) for line in lines]


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


def test_buyers_of_one_name_are_told_apart() -> None:
    other = ONE._replace(tax_no="91310000600037341L")
    person = ONE._replace(tax_no="")
    assert buyer_numbers([ONE, other, ONE._replace(buyer=" acme ")]) == [1, 2, 1]
    assert buyer_numbers([person, person._replace(phone="13900139000"), person]) == [1, 2, 1]
    assert buyer_numbers([SEEN, ONE]) == [1, 1]
    assert buyer_numbers([SEEN, ONE, other]) == [1, 2, 3]  # whose it is can't be told
    split = list(made([ONE, other, ONE]).by_buyer)
    assert [(one.of_buyer, len(one.lines)) for one in split] == [(1, 2), (2, 1)]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_masked_no_part_of_the_file_names_anybody(tmp_path: Path, lang: Any) -> None:
    carried = {
        "部门": "Team of Wei Zhang",
        "成本中心": "Acme 13800138000",
        "contact": "Chen",
        "Phone": "13911139111",
    }
    line = ONE._replace(
        carried=json.dumps(carried, ensure_ascii=False), file="Acme october.xlsx", sheet="ACME"
    )
    path = write_register(made([line, SEEN], masked=True, of_buyer=1), tmp_path / "r.xlsx", lang)
    with zipfile.ZipFile(path) as package:
        text = "\n".join(package.read(name).decode() for name in package.namelist()).casefold()
    secret = [
        "acme",
        "zhang",
        "wei",
        "91110000600037341",
        "13800138000",
        "example.com",
        "chen",
        "13911139111",
        "s.csv",
    ]
    assert [word for word in secret if word in text] == []
    first, second = table(openpyxl.load_workbook(path)["Register"])
    assert first["buyer" if lang == "en" else "购买方"] == "A*** #1"
    assert first["department" if lang == "en" else "部门"] == "Team of ***"
    assert [line[heading("file", lang)] for line in (first, second)] == (
        ["file 1", "file 2"] if lang == "en" else ["文件 1", "文件 2"]
    )


def test_an_empty_register_says_so(tmp_path: Path) -> None:
    book = written(tmp_path, made([]))
    assert table(book["Register"]) == table(book["By buyer"]) == []
    assert "• Nothing: the ledger has no voucher of this time." in [
        cell.value for cell in book["Summary"]["A"]
    ]


@pytest.mark.parametrize("name", ["..", "", " . ", "\u202e", "\ud800"])
def test_of_some_names_nothing_is_left_for_a_file(name: str) -> None:
    assert file_name(name).strip("_") == ""


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
