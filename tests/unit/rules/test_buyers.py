"""Who the buyer of a row is, and whether all that its voucher needs is there and well-formed."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.messages.likely_mistakes import HINTS
from pipeline.messages.reason_rendering import reason_text
from pipeline.model.columns import COLUMNS, LANGS, Lang
from pipeline.model.profile import Profile, Required
from pipeline.model.table import Table
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

Judged = Callable[..., Any]

HEADER = ("header_type", "header_name", "tax_no", "phone", "email")
NOBODY = dict.fromkeys(HEADER, "")
TAX = "91110000600037341L"
HEADINGS = ["buyer", *HEADER]
ACME = ["ACME", "business", "ACME Travel Ltd", TAX, "13800138000", "acme@example.com"]
LI = ["Li Lei", "个人", "Li Lei", "", "", "li@example.com"]


def _header(found: Any, row: int = 0) -> list[str]:
    rows = found.verdicts.rows
    return [str(rows.text(name)[row]) for name in HEADER]


def _books(
    good: dict[str, Any], *books: tuple[str, Sequence[dict[str, Any]], Sequence[Sequence[str]]]
) -> list[Any]:
    names = [column.name for column in COLUMNS]
    made = []
    for file, rows, buyers in books:
        cells = [names, *([{**good, **NOBODY, **row}.get(name, "") for name in names] for row in rows)]
        sheets = [Sheet.of_rows("Tickets", cells)]
        if buyers:
            sheets.append(Sheet.of_rows("Buyers", [HEADINGS, *(list(row) for row in buyers)]))
        made.append((Path(file), sheets))
    return made


def _buyers_file(tmp_path: Path, *buyers: Sequence[str]) -> Path:
    path = tmp_path / "buyers.csv"
    path.write_text("\n".join(",".join(row) for row in (HEADINGS, *buyers)), encoding="utf-8")
    return path


def test_a_row_names_a_buyer_of_the_buyers_sheet(judged: Judged) -> None:
    found = judged(
        {**NOBODY, "buyer": "ACME"},
        {**NOBODY, "buyer": "Li Lei", "ticket_no": "9990000000001"},
        buyers=[HEADINGS, ACME, LI],
    )
    assert found.statuses == ["ready", "ready"]
    assert _header(found, 0) == ["business", "ACME Travel Ltd", TAX, "13800138000", "acme@example.com"]
    assert _header(found, 1) == ["individual", "Li Lei", "", "", "li@example.com"]


@pytest.mark.parametrize("name", ["acme", "Acme", "ACME ", "\u3000ACME"])
def test_a_buyer_s_name_is_known_in_any_case_and_with_spaces_around(judged: Judged, name: str) -> None:
    found = judged({**NOBODY, "buyer": name}, buyers=[HEADINGS, ACME, LI])
    assert found.statuses == ["ready"]
    assert _header(found)[1] == "ACME Travel Ltd"


def test_a_blank_buyer_is_the_only_one_there_is(judged: Judged) -> None:
    found = judged(NOBODY, buyers=[HEADINGS, LI])
    assert found.statuses == ["ready"]
    assert _header(found)[1] == "Li Lei"


def test_a_blank_buyer_among_several_is_missing(judged: Judged) -> None:
    found = judged(NOBODY, buyers=[HEADINGS, ACME, LI])
    assert found.statuses == ["invalid"]
    assert found.found() == {("missing_value", "buyer")}


def test_a_blank_buyer_where_there_are_none_is_missing(judged: Judged) -> None:
    assert judged(NOBODY).found() == {("missing_value", "buyer")}


def test_an_unknown_buyer_is_told_by_its_name_and_by_nothing_else(judged: Judged) -> None:
    found = judged({**NOBODY, "buyer": "Umbrella"}, buyers=[HEADINGS, ACME])
    assert found.statuses == ["invalid"]
    assert found.found() == {("unknown_buyer", "buyer")}
    assert "Umbrella" in found.message("unknown_buyer")


@pytest.mark.parametrize(
    "name",
    [
        "云帆咨询（上海）",
        "云帆咨询(上海)",
        " 云帆 咨询（上海) ",
        "云帆咨询（上\u200b海）",
        "YF\u3000云帆",
        "ｙｆ云帆",
    ],
)
def test_names_meet_whatever_width_brackets_and_spaces_they_are_typed_in(judged: Judged, name: str) -> None:
    buyers = [["云帆咨询（上海）", *ACME[1:]], ["YF 云帆", *ACME[1:]]]
    found = judged({**NOBODY, "buyer": name}, buyers=[HEADINGS, *buyers, LI])
    assert found.statuses == ["ready"]
    assert _header(found)[1] == "ACME Travel Ltd"


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("云帆资询", "云帆咨询"),
        ("云帆咨询公司", "云帆咨询"),
        ("云帆询咨", "云帆咨询"),
        (
            "Exmaple Trading",
            "EXTRA",
        ),  # the full name of a buyer is close, and its short name is what a row writes
        ("远航科技", ""),
        ("远航", ""),
        ("示例商贸（中国）有限公司", ""),  # as close to the one of Shanghai as to the one of Beijing
        ("示例商贸（上梅）有限公司", "示例商贸（上海）有限公司"),
        ("星辰", ""),  # two buyers' names are close
    ],
)
def test_a_name_close_to_exactly_one_known_name_is_suggested_and_never_taken(
    judged: Judged, typed: str, near: str
) -> None:
    known = ["云帆咨询", "示例商贸（上海）有限公司", "示例商贸（北京）有限公司", "星辰一", "星辰二"]
    buyers = [[name, "business", name, TAX, "", ""] for name in known]
    extra = ["EXTRA", "business", "Example Trading", TAX, "", ""]
    found = judged({**NOBODY, "buyer": typed}, buyers=[HEADINGS, *buyers, extra])
    assert found.found() == {("unknown_buyer", "buyer")}
    assert _header(found) == [""] * 5
    assert [text for text in [*known, "EXTRA"] if f"“{text}”" in found.message("unknown_buyer")] == [
        near
    ] * bool(near)


def test_a_buyer_of_another_workbook_is_not_suggested(judged: Judged, good: dict[str, Any]) -> None:
    books = _books(
        good, ("a.xlsx", [{"buyer": "ACNE"}], [LI]), ("b.xlsx", [{"ticket_no": "9990000000001"}], [ACME])
    )
    assert "ACME" not in judged(table=assemble(books)).message("unknown_buyer")


def test_a_buyer_of_the_buyers_file_is_suggested(
    judged: Judged, good: dict[str, Any], tmp_path: Path
) -> None:
    books = _books(good, ("a.xlsx", [{"buyer": "ACNE"}], [LI]))
    assert "“ACME”" in judged(table=assemble(books, _buyers_file(tmp_path, ACME))).message("unknown_buyer")


@pytest.mark.slow
def test_a_row_s_own_cells_win_and_the_buyer_fills_in_the_rest(judged: Judged) -> None:
    row = {**NOBODY, "buyer": "ACME", "email": "other@example.com", "header_name": "Acme  Travel Ltd"}
    found = judged(row, buyers=[HEADINGS, ACME, LI])
    assert found.statuses == ["ready"]
    assert _header(found) == ["business", "Acme  Travel Ltd", TAX, "13800138000", "other@example.com"]


OTHER_TAX = "91350100M000100Y43"


@pytest.mark.parametrize(
    ("column", "own", "said"),
    [
        ("header_name", "Umbrella Ltd", "header_name is “ACME Travel Ltd” there and “Umbrella Ltd” here"),
        ("tax_no", OTHER_TAX, f"tax_no is “{TAX}” there and “{OTHER_TAX}” here"),
        ("header_type", "individual", "header_type is “business” there and “individual” here"),
    ],
)
def test_a_row_that_names_one_buyer_and_says_another_is_refused_and_takes_nothing_of_either(
    judged: Judged, column: str, own: str, said: str
) -> None:
    found = judged({**NOBODY, "buyer": "ACME", column: own}, buyers=[HEADINGS, ACME, LI])
    assert found.found() == {("unknown_buyer", "buyer")}
    assert "“ACME”" in found.message("unknown_buyer")
    assert said in found.message("unknown_buyer")
    assert _header(found) == [own if name == column else "" for name in HEADER]
    cured = judged({**NOBODY, "buyer": "ACME"}, buyers=[HEADINGS, ACME, LI])
    assert cured.statuses == ["ready"]


def test_what_contradicts_a_buyer_is_told_in_chinese_too(judged: Judged) -> None:
    row = {**NOBODY, "buyer": "ACME", "header_name": "乙公司", "header_type": "individual"}
    message = judged(row, buyers=[HEADINGS, ACME]).message("unknown_buyer", lang="zh")
    assert (
        "抬头名称在表中为“ACME Travel Ltd”，此行为“乙公司”；抬头类型在表中为“企业”，此行为“个人”" in message
    )


def test_the_same_name_in_another_case_width_or_spacing_contradicts_nobody(judged: Judged) -> None:
    buyer = ["A", "企业", "示例（上海）有限公司", TAX, "", "a@example.com"]
    row = {**NOBODY, "buyer": "a", "header_name": "示例(上海)有限公司 ", "tax_no": "9111 0000 6000 3734 1l"}
    assert judged(row, buyers=[HEADINGS, buyer]).statuses == ["ready"]


def test_what_the_buyers_sheet_has_wrongly_is_put_right_by_a_row_s_own_cell(judged: Judged) -> None:
    firm = ["A", "firm", b"#N/A", "", "", ""]
    row = {**NOBODY, "buyer": "A", "header_type": "business", "header_name": "A Ltd", "tax_no": TAX}
    assert judged(row, buyers=[HEADINGS, firm]).statuses == ["ready"]


def test_a_full_name_with_another_tax_number_is_another_buyer(judged: Judged) -> None:
    row = {**NOBODY, "header_name": "ACME Travel Ltd", "header_type": "business", "tax_no": OTHER_TAX}
    found = judged(row, buyers=[HEADINGS, ACME, LI])
    assert found.statuses == ["ready"]
    assert _header(found) == ["business", "ACME Travel Ltd", OTHER_TAX, "", ""]


@pytest.mark.parametrize("own", [{"phone": "13900139000"}, {"email": "zhang@example.com"}])
def test_a_telephone_or_an_address_names_no_buyer(judged: Judged, own: dict[str, str]) -> None:
    found = judged({**NOBODY, **own}, buyers=[HEADINGS, ACME])
    assert found.statuses == ["ready"]
    assert _header(found)[:3] == ACME[1:4]
    assert set(own.values()) <= set(_header(found))
    assert judged({**NOBODY, **own}, buyers=[HEADINGS, ACME, LI]).found() == {("missing_value", "buyer")}
    unknown = judged({**NOBODY, **own, "buyer": "Umbrella"}, buyers=[HEADINGS, ACME])
    assert unknown.found() == {("unknown_buyer", "buyer")}


def test_a_type_alone_names_no_buyer_and_another_type_is_not_the_only_buyer_s(judged: Judged) -> None:
    assert judged({**NOBODY, "header_type": "business"}, buyers=[HEADINGS, ACME]).statuses == ["ready"]
    other = judged({**NOBODY, "header_type": "individual"}, buyers=[HEADINGS, ACME])
    assert other.found() == {("missing_value", "buyer")}


def test_a_row_that_says_itself_who_it_is_does_not_take_the_only_buyer(judged: Judged) -> None:
    row = {**NOBODY, "header_type": "individual", "header_name": "Han Meimei"}
    found = judged(row, buyers=[HEADINGS, ACME])
    assert found.statuses == ["ready"]
    assert _header(found) == ["individual", "Han Meimei", "", "", ""]


def test_a_row_without_a_known_buyer_must_be_complete_by_itself(judged: Judged) -> None:
    found = judged({**NOBODY, "header_name": "Half a Buyer"})
    assert found.found() == {("missing_value", "header_type")}


def test_every_workbook_s_names_mean_its_own_buyers(judged: Judged, good: dict[str, Any]) -> None:
    other = ["ACME", "business", "ACME of another book", TAX, "", "x@example.com"]
    row = {"buyer": "ACME"}
    books = _books(
        good, ("a.xlsx", [row], [ACME]), ("b.xlsx", [{**row, "ticket_no": "9990000000001"}], [other])
    )
    found = judged(table=assemble(books))
    assert [_header(found, row)[1] for row in (0, 1)] == ["ACME Travel Ltd", "ACME of another book"]


def test_one_workbook_s_buyers_are_no_other_workbook_s(judged: Judged, good: dict[str, Any]) -> None:
    books = _books(
        good, ("a.xlsx", [{"buyer": "ACME"}], [ACME]),
        ("b.xlsx", [{"buyer": "ACME", "ticket_no": "9990000000001"}, {"ticket_no": "9990000000002"}], []),
    )  # fmt: skip
    found = judged(table=assemble(books))
    assert found.statuses == ["ready", "invalid", "invalid"]
    assert found.codes(1) == {"unknown_buyer"}
    assert found.found(2) == {("missing_value", "buyer")}


def test_the_buyers_file_is_asked_where_the_own_workbook_does_not_know(
    judged: Judged, good: dict[str, Any], tmp_path: Path
) -> None:
    rows = [{"buyer": "acme"}, {"buyer": "li lei", "ticket_no": "9990000000001"}]
    own = ["ACME", "business", "ACME as the workbook has it", TAX, "", ""]
    books = _books(good, ("a.xlsx", rows, [own]))
    found = judged(table=assemble(books, _buyers_file(tmp_path, ACME, LI)))
    assert [_header(found, row)[1] for row in (0, 1)] == ["ACME as the workbook has it", "Li Lei"]
    assert found.statuses == ["ready", "ready"]


def test_a_workbook_that_names_no_buyer_takes_the_only_one_of_the_buyers_file(
    judged: Judged, good: dict[str, Any], tmp_path: Path
) -> None:
    books = _books(good, ("a.xlsx", [{}], []))
    assert _header(judged(table=assemble(books, _buyers_file(tmp_path, LI))))[1] == "Li Lei"
    two = judged(table=assemble(books, _buyers_file(tmp_path, LI, ACME)))
    assert two.found() == {("missing_value", "buyer")}


def test_the_workbook_s_own_only_buyer_goes_before_the_buyers_file_s(
    judged: Judged, good: dict[str, Any], tmp_path: Path
) -> None:
    books = _books(good, ("a.xlsx", [{}], [ACME]))
    assert _header(judged(table=assemble(books, _buyers_file(tmp_path, LI))))[1] == "ACME Travel Ltd"


def test_a_workbook_with_several_buyers_of_its_own_does_not_take_the_buyers_file_s_only_one(
    judged: Judged, good: dict[str, Any], tmp_path: Path
) -> None:
    books = _books(good, ("a.xlsx", [{}], [ACME, ["B", *ACME[1:]]]))
    found = judged(table=assemble(books, _buyers_file(tmp_path, LI)))
    assert found.found() == {("missing_value", "buyer")}


def test_an_unknown_type_in_a_buyers_row_is_told_with_every_row_that_uses_it(judged: Judged) -> None:
    firm = ["Firm", "firm", "A Firm", TAX, "", "a@example.com"]
    found = judged(
        {**NOBODY, "buyer": "Firm"},
        {**NOBODY, "buyer": "ACME", "ticket_no": "9990000000001"},
        {**NOBODY, "buyer": "Firm", "ticket_no": "9990000000002"},
        buyers=[HEADINGS, ACME, firm],
    )
    assert found.statuses == ["invalid", "ready", "invalid"]
    assert found.found(0) == found.found(2) == {("bad_choice", "header_type")}
    assert "“firm”" in found.message("bad_choice")
    assert "business" in found.message("bad_choice")
    assert "企业" in found.message("bad_choice", lang="zh")


def test_an_unknown_type_in_a_ticket_row_is_told_once(judged: Judged) -> None:
    found = judged({**NOBODY, "buyer": "ACME", "header_type": "firm"}, buyers=[HEADINGS, ACME])
    assert [(f.code, f.column) for f in found.verdicts.findings] == [("bad_choice", "header_type")]


@pytest.mark.parametrize("word", ["business", "Business", "企业", "公司", "company"])
def test_the_words_for_a_business_are_understood_in_a_buyers_row(judged: Judged, word: str) -> None:
    found = judged({**NOBODY, "buyer": "A"}, buyers=[HEADINGS, ["A", word, "A Ltd", "", "", ""]])
    assert found.found() == {("missing_value", "tax_no")}


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        ({"header_name": ""}, {"header_name"}),
        ({"header_type": ""}, {"header_type"}),
        ({"tax_no": ""}, {"tax_no"}),
        ({"header_type": "individual", "tax_no": ""}, set()),
        ({"voucher": "itinerary", "email": ""}, {"email"}),
        ({"voucher": "itinerary", "phone": ""}, set()),
        ({"voucher": "invoice", "phone": "", "email": ""}, set()),
    ],
)
def test_what_a_voucher_needs_of_its_buyer(judged: Judged, cells: dict[str, str], missing: set[str]) -> None:
    found = judged(cells)
    assert found.found() == {("missing_value", column) for column in missing}
    assert found.statuses == ["invalid" if missing else "ready"]


@pytest.mark.parametrize(
    ("required", "voucher", "missing"),
    [
        (Required(invoice=("phone", "email")), "invoice", {"phone", "email"}),
        (Required(invoice=("phone", "email")), "itinerary", {"email"}),
        (Required(itinerary=("phone",)), "itinerary", {"phone", "email"}),
        (Required(itinerary=("phone",)), "invoice", set()),
    ],
)
def test_what_the_profile_asks_for_besides_is_needed_for_that_voucher_alone(
    judged: Judged, full_profile: Profile, required: Required, voucher: str, missing: set[str]
) -> None:
    profile = dataclasses.replace(full_profile, required=required)
    found = judged({"voucher": voucher, "phone": "", "email": ""}, profile=profile)
    assert found.found() == {("missing_value", column) for column in missing}


@pytest.mark.parametrize(
    "tax_no",
    [
        "91110000600037341L",  # unified social credit codes
        "91350100M000100Y43",
        "91110000600037341l",
        "9111 0000 6000 3734 1L",
        "11010519491231002X",  # an identity number, of a sole trader
        "810000199001010019",  # … of a resident of Hong Kong
        "N2330106MF1234567L",  # registered by other bodies than the market's
        "Y1110000600037341Y",
        "A1110000MF1234567J",
        "110108600037341",  # 15, as before 2015
        "44030019700101001X01",  # 20
        110108600037341.0,
        "91110000-60003734-1L",
        "９１１１００００６０００３７３４１Ｌ",
        "91110000600037341L\u200b",
    ],
)
def test_a_valid_tax_number_is_accepted_and_sent_in_capitals_without_spaces(
    judged: Judged, tax_no: str | float
) -> None:
    found = judged({"tax_no": tax_no})
    assert found.statuses == ["ready"]
    sent = found.verdicts.rows.tax_no[0]
    assert sent == sent.upper()
    assert sent.isalnum()
    assert sent.isascii()


@pytest.mark.parametrize(
    "tax_no",
    [
        "91110000600037341K",  # check character
        "91110000600037342L",
        "110105194912310021",
        "9111000060003734",  # 16
        "1101086000373",
        "11010860003734-",
        "税号",
        911100006000373410.0,  # 18 digits as a number: the spreadsheet has rounded it
    ],
)
def test_a_tax_number_of_wrong_length_characters_or_check_character_is_refused(
    judged: Judged, tax_no: str | float
) -> None:
    found = judged({"tax_no": tax_no})
    assert found.statuses == ["invalid"]
    assert found.found() == {("bad_tax_no", "tax_no")}


def test_an_individual_s_tax_number_need_not_be_given_but_must_be_right_if_it_is(judged: Judged) -> None:
    assert judged({"header_type": "individual", "tax_no": ""}).statuses == ["ready"]
    assert judged({"header_type": "individual", "tax_no": "1"}).codes() == {"bad_tax_no"}


@pytest.mark.parametrize(
    "email",
    [
        "finance@example.com",
        "FINANCE@EXAMPLE.COM",
        "first.last+voucher@sub.example.co.uk",
        "12345678@qq.com",
        "tel.smith@example.com",
        "财务@例子.中国",
    ],
)
def test_a_valid_address_is_accepted_and_kept_as_it_is(judged: Judged, email: str) -> None:
    found = judged({"email": email})
    assert found.statuses == ["ready"]
    assert found.verdicts.rows.email.tolist() == [email]


def test_addresses_and_numbers_in_other_widths_are_sent_in_plain_characters(judged: Judged) -> None:
    for typed in ("ａ＠example.com", "a@example。com", "\ufeffa@example.com\u200b", "a@example．com"):
        found = judged({"email": typed})
        assert found.statuses == ["ready"]
        assert found.verdicts.rows.email.tolist() == ["a@example.com"]
    assert judged({"phone": "\u202d１３８００１３８０００\u202c"}).verdicts.rows.phone.tolist() == [
        "13800138000"
    ]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("email", "邮箱：a@example.com"),
        ("email", "邮箱a@example.com"),
        ("email", "mailto:a@example.com"),
        ("email", "张三<a@example.com>"),
        ("email", "【a@example.com】"),
        ("phone", "电话：010-12345678"),
        ("phone", "tel:+861085200000"),
        ("phone", "Tel. 010-85200000"),
        ("phone", "13800138000 张三"),
        ("tax_no", f"税号：{TAX}"),
    ],
)
def test_words_beside_what_belongs_in_a_cell_are_never_sent_with_it(
    judged: Judged, column: str, value: str
) -> None:
    found = judged({column: value})
    assert found.found() == {(f"bad_{column}", column)}
    assert "other words" in found.message(f"bad_{column}")


def test_a_line_break_in_a_chinese_name_is_none_and_the_buyer_is_one(judged: Judged) -> None:
    found = judged(
        {"header_name": "示例\n公司"}, {"header_name": "示例公司", "passenger_name": "ZHANG/\r\nSAN"}
    )
    rows = found.verdicts.rows
    assert rows.header_name.tolist() == ["示例公司", "示例公司"]
    assert rows.passenger_name[1] == "ZHANG/SAN"
    buyer = ["示例\n简称", "business", "示例\u200b公司", TAX, "", "a@example.com"]
    assert judged({**NOBODY, "buyer": "示例简称"}, buyers=[HEADINGS, buyer]).statuses == ["ready"]


@pytest.mark.parametrize(
    ("column", "value"), [("header_name", "ACME\nTravel"), ("passenger_name", "ZHANG\nSAN")]
)
def test_a_line_break_that_may_be_a_space_or_nothing_is_refused(
    judged: Judged, column: str, value: str
) -> None:
    found = judged({column: value})
    assert found.found() == {("missing_value", column)}
    assert "line break" in found.message("missing_value")
    assert value.partition("\n")[0] not in found.message("missing_value")  # this goes to logs


@pytest.mark.parametrize(
    "email",
    [
        "finance",
        "finance@",
        "@example.com",
        "a b@example.com",
        "a@example.com;b@example.com",
        "a@b..c",
        "a@example,com",
    ],
)
def test_what_is_no_single_address_is_refused(judged: Judged, email: str) -> None:
    found = judged({"email": email})
    assert found.statuses == ["invalid"]
    assert found.found() == {("bad_email", "email")}
    assert f"“{email}”" in found.message("bad_email")


@pytest.mark.parametrize(
    "phone",
    [
        "13800138000",
        13800138000.0,
        "+86 138 0013 8000",
        "0086 10 85200000",
        "010-85200000",
        "(010) 85200000",
        "021-12345678-801",
        "021-12345678转801",
        "400-820-8820",
        "85200000",
        "+1 650 253 0000",
        "+852 2345 6789",
    ],
)
def test_a_number_that_can_be_dialled_is_accepted(judged: Judged, phone: str | float) -> None:
    assert judged({"phone": phone}).statuses == ["ready"]


@pytest.mark.parametrize("phone", ["12", "phone", "13800138000/13900139000", "+999 123", "1" * 20])
def test_what_can_t_be_dialled_is_refused(judged: Judged, phone: str) -> None:
    found = judged({"phone": phone})
    assert found.statuses == ["invalid"]
    assert found.found() == {("bad_phone", "phone")}


def test_a_buyer_of_the_buyers_sheet_is_judged_like_a_row_s_own(judged: Judged) -> None:
    bad = ["Bad", "business", "Bad Ltd", "123", "12", "bad"]
    found = judged({**NOBODY, "buyer": "Bad"}, buyers=[HEADINGS, bad, ACME])
    assert found.codes() == {"bad_tax_no", "bad_phone", "bad_email"}


def test_buyers_that_no_row_uses_are_nobody_s_finding(judged: Judged) -> None:
    bad = ["Bad", "firm", "", "123", "12", "bad"]
    found = judged({**NOBODY, "buyer": "ACME"}, buyers=[HEADINGS, bad, ACME])
    assert found.statuses == ["ready"]


def test_the_result_has_every_row_s_buyer_filled_in(judged: Judged) -> None:
    found = judged(
        {**NOBODY, "buyer": "ACME", "amount": "?"},
        {"ticket_no": "9990000000001"},
        buyers=[HEADINGS, ACME, LI],
    )
    header = found.result().header
    assert set(header) == set(HEADER)
    assert header["header_name"].tolist() == ["ACME Travel Ltd", "Example Trading Co."]


def test_a_header_type_is_never_taken_from_the_buyer_over_one_that_can_t_be_read(judged: Judged) -> None:
    found = judged({**NOBODY, "buyer": "ACME", "header_type": "?"}, buyers=[HEADINGS, ACME])
    assert found.statuses == ["invalid"]


def test_the_table_keeps_buyers_as_text_with_their_workbook(table_of: Callable[..., Table]) -> None:
    buyers = table_of([{}], [HEADINGS, [12.0, "company", "A", 110108600037341.0, 13800138000.0, ""]]).buyers
    assert buyers.to_dict("records") == [
        {
            "file": "tickets.xlsx", "buyer": "12", "header_type": "business", "header_name": "A",
            "tax_no": "110108600037341", "phone": "13800138000", "email": "",
            "of_file": "tickets.xlsx", "of_sheet": "Buyers", "of_row": 2,
        }
    ]  # fmt: skip


def test_a_name_that_two_different_buyers_have_means_neither(judged: Judged) -> None:
    found = judged({**NOBODY, "buyer": "ACME"}, buyers=[HEADINGS, ACME, ["acme", *LI[1:]]])
    assert found.statuses == ["invalid"]


def test_buyers_of_one_name_are_named_with_what_they_differ_in(judged: Judged) -> None:
    buyers = [HEADINGS, ACME, [*ACME[:5], "other@example.com"], LI]
    found = judged({**NOBODY, "buyer": "acme"}, buyers=buyers)
    assert "“acme” is the name of more than one buyer: " in found.message("unknown_buyer")
    assert "Buyers, row 2 and " in found.message("unknown_buyer")
    assert "Buyers, row 3 differ in email. Case, width and spaces" in found.message("unknown_buyer")


@pytest.mark.parametrize("name", ["AB Trade", "A B Trade", "abtrade"])
def test_names_that_differ_in_spaces_alone_are_one_name_even_where_one_is_written_exactly(
    judged: Judged, name: str
) -> None:
    buyers = [["AB Trade", *ACME[1:]], ["A B Trade", "business", "A B Trade", *ACME[3:]]]
    found = judged({**NOBODY, "buyer": name}, buyers=[HEADINGS, *buyers])
    assert found.found() == {("unknown_buyer", "buyer")}
    assert "row 3 differ in header_name. " in found.message("unknown_buyer")


def test_a_name_that_several_have_is_not_suggested(judged: Judged) -> None:
    buyers = [HEADINGS, ACME, [*ACME[:5], "other@example.com"]]
    assert "ACME" not in judged({**NOBODY, "buyer": "ACNE"}, buyers=buyers).message("unknown_buyer")


def test_a_buyer_that_stands_twice_alike_is_one(judged: Judged) -> None:
    found = judged({**NOBODY, "buyer": "ACME"}, buyers=[HEADINGS, ACME, ACME])
    assert found.statuses == ["ready"]


SLIPS = [
    ("tax_no", "91110000600037341K", "last character"),
    ("tax_no", "9111OOOO600037341L", "I, O, S, V or Z"),
    ("tax_no", "9111000060003734", "18 characters"),
    ("tax_no", 911100006000373410.0, "rounded number"),
    ("tax_no", "#N/A", "error #N/A"),
    ("email", "a@example.com;b@example.com", "more than one"),
    ("email", "a@example.com，b@example.com", "more than one"),
    ("email", "finance.example.com", "no @"),
    ("email", "a@example,com", "no domain"),
    ("email", "a@example", "no domain"),
    ("phone", "13800138000/13900139000", "more than one"),
    ("phone", b"#N/A", "error #N/A"),
    ("header_name", b"=", "a formula"),
]


@pytest.mark.parametrize(("column", "value", "said"), SLIPS)
def test_a_slip_in_a_row_s_own_buyer_is_said_as_what_it_is(
    judged: Judged, column: str, value: Any, said: str
) -> None:
    found = judged({column: value})
    assert found.statuses == ["invalid"]
    (finding,) = found.verdicts.findings
    assert finding.column == column
    assert said in found.message(finding.code)
    assert found.message(finding.code, lang="zh") != found.message(finding.code)


@pytest.mark.parametrize(("column", "value", "said"), SLIPS)
def test_a_slip_in_the_buyers_sheet_is_said_as_what_it_is(
    judged: Judged, column: str, value: Any, said: str
) -> None:
    buyer = dict(zip(HEADINGS, ACME, strict=True)) | {column: value}
    found = judged({**NOBODY, "buyer": "ACME"}, buyers=[HEADINGS, [buyer[name] for name in HEADINGS]])
    assert found.statuses == ["invalid"]
    (finding,) = found.verdicts.findings
    assert finding.column == column
    assert said in found.message(finding.code)


def test_a_row_whose_buyer_shows_an_error_is_told_that_and_takes_no_other_buyer(judged: Judged) -> None:
    assert judged({**NOBODY, "buyer": b"#N/A"}, buyers=[HEADINGS, ACME]).statuses == ["invalid"]
    found = judged({**NOBODY, "buyer": b"#N/A"}, buyers=[HEADINGS, ACME, LI])
    assert found.statuses == ["invalid"]
    assert found.found() == {("unknown_buyer", "buyer")}
    assert "error #N/A" in found.message("unknown_buyer")


@pytest.mark.parametrize("lang", LANGS)
def test_every_slip_has_a_message_and_a_cure_that_are_its_own(lang: Lang) -> None:
    said = []
    for slip in HINTS:
        text = reason_text(
            "bad_tax_no", "tax_no", lang,
            {"seen": "SEEN", "hint": slip, **dict.fromkeys(("differing", "near", "alike", "other", "sum", "difference", "unread", "total", "heading", "cell", "currency"), "")},
        )  # fmt: skip
        assert text.code == "bad_tax_no"
        assert "{" not in text.message + text.cure
        said.append(text.message)
    assert len(set(said)) == len(HINTS)


def test_a_row_that_gives_a_buyer_s_full_name_takes_the_rest_of_that_buyer(judged: Judged) -> None:
    found = judged(
        {**NOBODY, "header_name": "acme travel ltd"},
        {**NOBODY, "header_name": "Li Lei", "email": "own@example.com", "ticket_no": "9990000000001"},
        {**NOBODY, "header_name": "Nobody Known", "ticket_no": "9990000000002"},
        buyers=[HEADINGS, ACME, LI],
    )
    assert _header(found, 0) == ["business", "acme travel ltd", TAX, "13800138000", "acme@example.com"]
    assert _header(found, 1) == ["individual", "Li Lei", "", "", "own@example.com"]
    assert _header(found, 2) == ["", "Nobody Known", "", "", ""]
    assert found.statuses == ["ready", "ready", "invalid"]


def test_a_full_name_that_two_buyers_have_means_neither(judged: Judged) -> None:
    other = ["ACME 2", "business", "ACME Travel Ltd", "110108600037341", "", ""]
    found = judged({**NOBODY, "header_name": "ACME Travel Ltd"}, buyers=[HEADINGS, ACME, other])
    assert _header(found) == ["", "ACME Travel Ltd", "", "", ""]


def test_the_name_that_a_row_refers_to_goes_before_the_full_name_beside_it(judged: Judged) -> None:
    found = judged(
        {**NOBODY, "buyer": "Li Lei", "header_name": "ACME Travel Ltd"}, buyers=[HEADINGS, ACME, LI]
    )
    assert found.found() == {("unknown_buyer", "buyer")}
    assert _header(found) == ["", "ACME Travel Ltd", "", "", ""]
