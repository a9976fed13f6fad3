"""The vocabulary says what interface.md promises, and no word means two things."""

import itertools

import pytest

from pipeline.messages.translate import RESULT_HEADINGS, choice_word, heading, in_every_language, rendered
from pipeline.model.columns import (
    COLUMN,
    COLUMNS,
    COMPONENTS,
    FEES,
    HEADER_FIELDS,
    LANGS,
    RESULT_COLUMNS,
    RESULT_SHEETS,
    Column,
    Kind,
)
from pipeline.reading.agency_words import (
    CARRIED,
    MARKET_SHEETS,
    ORDER_TYPES,
    VAGUE,
)
from pipeline.reading.cell_words import CHOICE_WORDS
from pipeline.reading.heading_meanings import HEADINGS, normal

#: interface.md, "Input columns".
CONTRACT = {
    "ticket_no": "票号",
    "ticket_prefix": "结算代码",
    "passenger_name": "旅客姓名",
    "charge": "费用类型",
    "product": "产品",
    "amount": "金额",
    "fare": "票价",
    "change_fee": "改签费",
    "airport_fee": "机建",
    "fuel_surcharge": "燃油",
    "other_taxes": "其他税费",
    "refund_fee": "退票手续费",
    "market": "国内/国际",
    "ticket_status": "客票状态",
    "flight_date": "航班日期",
    "used_on": "使用日期",
    "refund_approved_on": "退票审核日期",
    "purchased_on": "购买日期",
    "voucher": "开票类型",
    "buyer": "购买方",
    "remarks": "备注",
    "header_type": "抬头类型",
    "header_name": "抬头名称",
    "tax_no": "税号",
    "phone": "电话",
    "email": "邮箱",
}
CHOICES = {
    "charge": {"ticket_fare": "机票款", "refund": "退票费", "ancillary": "附加服务"},
    "product": {
        "flight": "机票", "baggage": "行李", "seat": "选座", "upgrade": "升舱", "meal": "餐食", "lounge": "贵宾室",
    },
    "market": {"domestic": "国内", "international": "国际"},
    "ticket_status": {"open": "未使用", "used": "已使用", "refunded": "已退票", "partly_used": "部分使用"},
    "voucher": {"invoice": "发票", "itinerary": "行程单", "auto": "自动"},
    "header_type": {"business": "企业", "individual": "个人"},
}  # fmt: skip


def _words(column: Column) -> set[str]:
    return {normal(word) for word in (*in_every_language(column.name, "column"), *column.variants)}


def test_the_columns_are_the_contract_s_with_its_headings_in_both_languages() -> None:
    assert {column.name: heading(column.name, "zh") for column in COLUMNS} == CONTRACT | {
        name: heading(name, "zh") for name in (*FEES.values(), "order_type")
    }
    assert all(heading(column.name, "en") == column.name for column in COLUMNS)
    assert [column.name for column in COLUMNS if column.name in CONTRACT] == list(CONTRACT)
    assert {column.name for column in COLUMNS if not column.asked} == {
        *FEES.values(),
        "order_type",
        "ticket_prefix",
    }


def test_the_choices_are_the_contract_s_with_its_words_in_both_languages() -> None:
    found = {
        c.name: {choice.name: choice_word(choice.name, "zh") for choice in c.choices}
        for c in COLUMNS
        if c.choices
    }
    assert found == CHOICES
    assert {column.name for column in COLUMNS if column.kind is Kind.CHOICE} == set(CHOICES)


def test_no_two_columns_share_a_heading() -> None:
    shared = {
        (one.name, other.name, *sorted(_words(one) & _words(other)))
        for one, other in itertools.combinations(COLUMNS, 2)
        if _words(one) & _words(other)
    }
    assert shared == set()


def test_the_reader_knows_every_heading_and_value_and_no_others() -> None:
    assert set(HEADINGS) == set().union(*map(_words, COLUMNS))
    assert "" not in HEADINGS
    for column in COLUMNS:
        for choice in column.choices:
            for word in (*in_every_language(choice.name, "choice"), *choice.variants):
                assert CHOICE_WORDS[column.name][normal(word)] == choice.name


@pytest.mark.parametrize("lang", LANGS)
def test_headings_and_meanings_are_filled_in_and_their_own(lang: str) -> None:
    for texts in ([heading(c.name, lang) for c in COLUMNS], [rendered(c.meaning, lang) for c in COLUMNS]):
        assert all(texts)
        assert len(set(texts)) == len(COLUMNS)


def test_the_result_s_own_columns_are_no_input_columns() -> None:
    # They stand beside the input's on the Failures sheet, which is read again.
    assert not {normal(ours) for ours in RESULT_HEADINGS} & set(HEADINGS)
    assert len(RESULT_HEADINGS) == len(LANGS) * len(RESULT_COLUMNS)


def test_the_result_s_sheets_are_the_contract_s_in_its_order() -> None:
    assert RESULT_SHEETS == ("Summary", "Invoices", "Itineraries", "Failures", "Unknown", "Rows")


def test_components_are_money_columns_of_the_charges_that_the_interface_names() -> None:
    assert set(COMPONENTS) == {"ticket_fare", "refund"}
    assert COMPONENTS["refund"] == ("refund_fee", "change_fee")
    assert "refund_fee" not in COMPONENTS["ticket_fare"]
    money = {column.name for column in COLUMNS if column.kind is Kind.MONEY}
    assert money == {"amount", *COMPONENTS["ticket_fare"], *COMPONENTS["refund"], *FEES.values()}
    assert {product: heading(fee, "zh") for product, fee in FEES.items()} == {
        "baggage": "行李费", "seat": "选座费", "upgrade": "升舱费", "meal": "餐食费", "lounge": "贵宾室费",
    }  # fmt: skip


def test_days_and_header_fields_are_what_the_contract_names() -> None:
    days = {column.name for column in COLUMNS if column.kind is Kind.DATE}
    assert days == {"flight_date", "used_on", "refund_approved_on", "purchased_on"}
    assert HEADER_FIELDS == ("header_type", "header_name", "tax_no", "phone", "email")
    assert COLUMN["ticket_no"].kind is Kind.TICKET


def test_words_that_exports_have_beside_ours_are_none_of_ours() -> None:
    assert not {normal(word) for word in (*CARRIED, *VAGUE)} & set(HEADINGS)
    assert all(name in COLUMN for names in VAGUE.values() for name in names)


def test_order_types_and_sheets_say_choices_that_their_columns_have() -> None:
    assert ORDER_TYPES["国内机票退票单"] == {"market": "国内", "ticket_status": "已退票"}
    assert ORDER_TYPES["国际机票正常单"] == ORDER_TYPES["国际机票改签单"] == {"market": "国际"}
    said = [*ORDER_TYPES.values(), *({"market": market} for market in MARKET_SHEETS.values())]
    assert all(normal(word) in CHOICE_WORDS[name] for filling in said for name, word in filling.items())
