"""Separated values: which encoding and which separator a text is in, told by its content."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.reading.columns_file import load_map
from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import ReadOptions, read_table
from tests.crash.hostile_bases import separated

pytestmark = pytest.mark.usefixtures("read_here")

MONTH = [
    ["十月机票", "", "", ""],
    ["票号", "旅客姓名", "金额", "航班日期"],
    ["9991234567890", "张伟", "1,234.50", "2026-10-01"],
    ["9991234567891", "LI/LEI, MR", "¥1,000.00", "2026年10月2日"],
]
TRADITIONAL = [
    ["票號", "旅客姓名", "金額", "航班日期"],
    ["9991234567890", "陳偉國", "1,234.50", "2026-10-01"],
]


def written(tmp_path: Path, content: bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def rows(path: Path) -> Sequence[Sequence[Any]]:
    (sheet,) = read_sheets(path)
    return list(sheet.rows)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030", "bom and utf-16-be"]
)
def test_a_month_is_read_in_every_encoding_and_with_every_separator(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    content = separated(MONTH, encoding.removeprefix("bom and "), separator)
    content = b"\xfe\xff" + content if encoding.startswith("bom") else content
    assert rows(written(tmp_path, content)) == MONTH


def test_big5_is_told_by_its_headings(tmp_path: Path) -> None:
    path = written(tmp_path, separated(TRADITIONAL, "big5"))
    assert rows(path) == TRADITIONAL
    assert read_table([path]).frame["passenger_name"].tolist() == ["陳偉國"]


def test_a_value_that_is_known_tells_the_encoding_below_english_headings(tmp_path: Path) -> None:
    month = [["ticket_no", "passenger_name", "market"], ["9991234567890", "张伟", "国内"]]
    assert rows(written(tmp_path, separated(month, "gb18030"))) == month


@pytest.mark.parametrize("encoding", ["gb18030", "big5"])
def test_a_passenger_s_name_is_never_guessed(tmp_path: Path, encoding: str) -> None:
    path = written(
        tmp_path, separated([["ticket_no", "passenger_name"], ["9991234567890", "王大明"]], encoding)
    )
    with pytest.raises(InputProblem, match=r"encoding that can't be told.*CSV UTF-8"):
        read_sheets(path)


def test_a_team_s_own_heading_tells_the_encoding_too(tmp_path: Path) -> None:
    month = [["凭单", "乙"], ["9991234567890", "张伟"]]
    path = written(tmp_path, separated(month, "gb18030"))
    with pytest.raises(InputProblem):
        read_sheets(path)
    (sheet,) = read_sheets(path, known=lambda heading: heading == "凭单")
    assert list(sheet.rows) == month


@pytest.mark.parametrize("encoding", ["gb18030", "big5"])
@pytest.mark.parametrize(
    ("mapping", "head", "value"),
    [
        ('[headings]\n"憑單碼" = "ticket_no"\n"客" = "passenger_name"', ["憑單碼", "客"], "x"),
        ('[headings]\n"備用碼" = ""', ["ticket_no", "備用碼"], "x"),
        ('[values.ticket_status]\n"成行" = "used"', ["ticket_no", "ticket_status"], "成行"),
        ('[order_types."成行單"]\nticket_status = "used"', ["ticket_no", "order_type"], "成行單"),
    ],
)
def test_a_text_that_is_known_by_the_team_s_mapping_alone_is_read(
    tmp_path: Path, encoding: str, mapping: str, head: list[str], value: str
) -> None:
    month = [[*head, "note"], ["9991234567890", value, "陳"]]
    path = written(tmp_path, separated(month, encoding))
    toml = written(tmp_path, mapping.encode(), "map.toml")
    with pytest.raises(InputProblem, match="encoding that can't be told"):
        read_table([path])
    table = read_table([path], None, ReadOptions(load_map(toml)))
    assert table.frame["ticket_no"].tolist() == ["9991234567890"]
    assert "陳" in table.cells.iloc[0].tolist()


def test_a_buyers_file_that_is_known_by_the_team_s_mapping_alone_is_read(tmp_path: Path) -> None:
    tickets = written(tmp_path, b"ticket_no,passenger_name\n9991234567890,A\n")
    buyers = written(tmp_path, separated([["客方", "全稱"], ["甲", "乙公司"]], "gb18030"), "buyers.csv")
    toml = written(tmp_path, '[headings]\n"客方" = "buyer"\n"全稱" = "header_name"'.encode(), "map.toml")
    assert read_table([tickets], buyers, ReadOptions(load_map(toml))).buyers["header_name"].tolist() == [
        "乙公司"
    ]


def test_the_line_that_names_the_separator_is_no_row(tmp_path: Path) -> None:
    path = written(tmp_path, b"sep=;\r\nticket_no;amount\r\n9991234567890;12,50,70\r\n")
    assert rows(path) == [["ticket_no", "amount"], ["9991234567890", "12,50,70"]]


def test_commas_in_amounts_and_names_do_not_make_columns_of_a_tab_separated_file(tmp_path: Path) -> None:
    month = [["票号", "金额"], *([f"99912345678{n}", "1,234,567.00"] for n in range(10, 60))]
    text = "".join("\t".join(row) + "\n" for row in month)
    assert rows(written(tmp_path, text.encode("utf-8"), "t.tsv")) == month


def test_a_text_named_xls_is_read_and_one_column_is_one_column(tmp_path: Path) -> None:
    assert rows(written(tmp_path, separated(MONTH, "utf-8", "\t"), "export.xls")) == MONTH
    assert rows(written(tmp_path, b"ticket_no\n9991234567890\n", "export.xlsx")) == [
        ["ticket_no"],
        ["9991234567890"],
    ]


def test_the_row_of_a_damaged_text_is_named_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, '票号,金额\n"9991234567890"7,1\n'.encode("gb18030"))
    with pytest.raises(InputProblem, match="line 2"):
        read_sheets(path)


@pytest.mark.parametrize("amount", ["1,234.50", "¥1,234", "617,25", "1.234,50"])
@pytest.mark.parametrize("last", [[], ["note"]])
def test_an_amount_that_its_own_comma_parts_is_refused_by_its_line(
    tmp_path: Path, amount: str, last: list[str]
) -> None:
    head = ",".join(["ticket_no", "amount", *last])
    lines = [
        head,
        f"9991234567890,617{',x' if last else ''}",
        f"9991234567891,{amount}{',x' if last else ''}",
    ]
    with pytest.raises(InputProblem, match=r"line 3 has more cells than the headings.*in quotation marks"):
        read_sheets(written(tmp_path, "\n".join(lines).encode()))


def test_a_row_that_is_longer_for_another_reason_is_read(tmp_path: Path) -> None:
    text = "ticket_no,amount\n9991234567890,617.25,paid\n9991234567891,617.25,\n"
    assert len(rows(written(tmp_path, text.encode()))) == 3
