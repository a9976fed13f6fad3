"""A column that says the currency of its rows: an amount in another one is refused, however the column is called."""

import csv
from pathlib import Path

import pytest

from pipeline.model.corrections import Corrections
from pipeline.model.errors import InputProblem
from pipeline.model.profile import Carrier, Profile
from pipeline.model.table import Table
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.input_files import read_sheets
from pipeline.reading.statement import read_statement
from pipeline.reading.tickets import assemble

pytestmark = pytest.mark.usefixtures("read_here")

OWN = [
    "CNY",
    "rmb",
    "人民币",
    "人民幣",
    "¥",
    "￥",
    "元",
    "人民币元",
    "人民币(CNY)",
    "CNY 人民币",
    "Yuan",
    "本位币",
    "",
    "-",
    "/",
]
OTHERS = [
    "USD",
    "usd",
    "美元",
    "HK$",
    "港币",
    "JPY",
    "新加坡元",
    "津巴布韦元",
    "外币",
    "CNH",
    "USD/CNY",
    "unknown",
    "现金",
    "1.0",
    "#N/A",
]


def _table(path: Path, heading: str, said: list[str], currency: str = "CNY", **more: object) -> Table:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [[f"99912345678{at:02}", "ticket_fare", "100", cell] for at, cell in enumerate(said)]
        csv.writer(file).writerows([["票号", "charge", "金额", heading], *rows])
    return assemble([(path, read_sheets(path))], currency=currency, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "heading",
    [
        "currency",
        "Currency Code",
        "币种",
        "币别",
        "货币",
        "结算币种",
        "幣種",
        "币种 (Currency)",
        "Currency/币种",
        "币种代码",
        "Cur",
        "金额单位",
    ],
)
def test_a_row_in_another_currency_is_refused_with_its_cell(tmp_path: Path, heading: str) -> None:
    table = _table(tmp_path / "t.csv", heading, ["CNY", "USD"])
    (finding,) = table.findings
    assert (finding.code, finding.column, finding.rows.tolist()) == ("bad_amount", "amount", [1])
    facts = {name: finding.fact(name, 0) for name in ("hint", "cell", "heading", "seen", "currency")}
    assert facts == {
        "hint": "currency_column", "cell": "D3", "heading": heading, "seen": "USD", "currency": "CNY",
    }  # fmt: skip
    assert table.frame["amount"].tolist() == [10000, 0]
    assert table.cells[heading].tolist() == ["CNY", "USD"]  # carried through as it is


@pytest.mark.parametrize(
    ("heading", "said", "refused"),
    [
        ("单位", ["元", "万元", "美元", "云帆科技", "美元资本", "张"], [1, 2]),
        ("计价单位", ["人民币", "USD", "次"], [1]),
        ("", ["USD", "CNY", "USD"], [0, 2]),
        ("column D", ["USD", "", "元"], [0]),  # as our results call one without a heading
        ("column D (input)", ["USD", "CNY", "USD"], [0, 2]),
        ("", ["USD", "Anna", ""], []),  # no column of currencies
        ("", ["K", "M", "Y"], []),  # classes
        ("", ["", "", ""], []),
    ],
)
def test_a_unit_or_a_currency_is_seen_in_a_column_that_may_hold_something_else(
    tmp_path: Path, heading: str, said: list[str], refused: list[int]
) -> None:
    findings = _table(tmp_path / "t.csv", heading, said).findings
    assert [finding.rows.tolist() for finding in findings] == ([refused] if refused else [])


def test_a_column_without_heading_that_says_nothing_of_the_amounts_is_set_aside_by_a_mapping(
    tmp_path: Path,
) -> None:
    mapping = ColumnMap(headings={"columnd": ""})
    assert _table(tmp_path / "t.csv", "", ["USD"], mapping=mapping).findings == ()


def test_every_usual_name_of_the_own_currency_is_taken_and_nothing_else(tmp_path: Path) -> None:
    table = _table(tmp_path / "t.csv", "币种", [*OWN, *OTHERS])
    (finding,) = table.findings
    assert finding.rows.tolist() == list(range(len(OWN), len(OWN) + len(OTHERS)))


def test_the_own_currency_is_the_carrier_s(tmp_path: Path) -> None:
    (finding,) = _table(tmp_path / "t.csv", "币种", ["USD", "美元", "人民币"], "USD").findings
    assert finding.rows.tolist() == [2]


def test_a_column_that_says_something_else_is_not_looked_at(tmp_path: Path) -> None:
    for heading in ("原币种", "部门", "币种说明"):
        assert _table(tmp_path / "t.csv", heading, ["USD"]).findings == ()
    mapping = ColumnMap(headings={"币种": ""})
    assert _table(tmp_path / "t.csv", "币种", ["USD"], mapping=mapping).findings == ()


def test_a_bill_without_charges_is_refused_for_its_currency_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("票号,票价,机建,币种\n9991234567890,100,50,USD\n", encoding="utf-8")
    table = assemble([(path, read_sheets(path))])
    assert [finding.facts["hint"] for finding in table.findings] == ["currency_column"]
    assert table.frame["fare"].tolist() == [10000]


def test_rows_of_several_sheets_are_told_apart(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    paths[0].write_text("票号,金额\n9991234567890,1\n9991234567891,1\n", encoding="utf-8")
    paths[1].write_text("票号,金额,币种\n9991234567892,1,\n9991234567893,1,EUR\n", encoding="utf-8")
    (finding,) = assemble([(path, read_sheets(path)) for path in paths]).findings
    assert finding.rows.tolist() == [3]


def test_an_amount_entered_on_the_page_is_in_the_carrier_s_currency(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table = _table(path, "币种", ["USD", "USD"])
    sheet = str(table.frame["sheet"][0])
    corrections = Corrections(
        {("t.csv", sheet, 2): {"amount": "712.50"}, ("t.csv", sheet, 3): {"币种": "CNY"}}
    )
    table = _table(path, "币种", ["USD", "USD"], corrections=corrections)
    assert (table.findings, table.frame["amount"].tolist()) == ((), [71250, 10000])


def test_a_statement_s_lines_in_another_currency_prove_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    head = "voucher,number,ticket_no,charge,amount,issued_at,币别\n"
    lines = [
        f"invoice,12345678,999123456789{at},ticket_fare,{amount},2026-10-01,{said}\n"
        for at, (amount, said) in enumerate([("10.50", "人民币"), ("10.50", "USD"), ("", "USD")])
    ]
    path.write_text(head + "".join(lines), encoding="utf-8")
    found = read_statement(path, Profile())
    assert [line.ticket_no[-1] for line in found.lines] == ["0", "2"]
    assert [str(bad.problem) for bad in found.misread] == [
        "E3: is in another currency than the carrier's, CNY, or in one that is not known: G3 “币别” says “USD”"
    ]
    in_dollars = read_statement(path, Profile(Carrier(currency="USD")))
    assert [line.ticket_no[-1] for line in in_dollars.lines] == ["1", "2"]


def test_headings_of_a_statement_are_in_the_carrier_s_currency(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(
        "voucher,number,ticket_no,charge,金额（新加坡元）,issued_at\ninvoice,12345678,9991234567890,ticket_fare,10.50,2026-10-01\n",
        encoding="utf-8",
    )
    assert len(read_statement(path, Profile(Carrier(currency="SGD"))).lines) == 1
    with pytest.raises(InputProblem, match="another currency"):
        read_statement(path, Profile())
