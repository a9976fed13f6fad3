"""The page of an itinerary file, for people, and the tags that say what of it is what.

The layout is like that of the printed form (航空运输电子客票行程单), simpler; how airlines lay theirs out is not known. Lengths are in
millimetres.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.sandbox.itinerary import VAT_PERCENT, Itinerary, amount_text
from pipeline.sandbox.itinerary_xbrl import CABIN, ISSUER, MARKETS, RED_REASON, ROUTES, STATUSES
from pipeline.sandbox.xml_text import document, element, one_line, text

OFD = {"xmlns:ofd": "http://www.ofdspec.org/2016"}
WIDTH, HEIGHT = 210, 140
PAGE_ID, FONT_ID = 1, 2
#: The IDs of a page's objects begin here.
_FIRST_ID = 10
_COLUMNS = (12, 80, 145)
_TOP, _STEP = 24, 7.5
_LABEL, _VALUE, _TITLE = "128 0 0", "0 0 0", "128 0 0"


@dataclass(frozen=True)
class Written:
    """One text on the page; `tag` is what its value is in the tags."""

    said: str
    x: float
    y: float
    size: float = 3.5
    colour: str = _VALUE
    tag: str = ""


def texts(itinerary: Itinerary) -> list[Written]:
    """Everything that stands on the page; a label and its value are two texts."""
    title = Written("电子发票（航空运输电子客票行程单）", 52, 10, 6, _TITLE)
    note = Written("沙箱测试文件，没有任何效力", _COLUMNS[0], HEIGHT - 14, 3.5, _LABEL)
    return [title, *_fields(itinerary), note]


def content(itinerary: Itinerary) -> bytes:
    """The page (Content.xml)."""
    written = texts(itinerary)
    objects = [_text_object(number, one) for number, one in enumerate(written, start=_FIRST_ID)]
    frame = _frame(_FIRST_ID + len(written))
    layer = element("ofd:Layer", frame, *objects, ID=PAGE_ID + 2, Type="Body")
    return document(element("ofd:Page", element("ofd:Content", layer), **OFD))


def custom_tag(itinerary: Itinerary) -> bytes:
    """What of the page is what (CustomTag.xml), by the names of e-invoices, which airlines' tags may not have (inferred)."""
    tags = [
        element(f"ofd:{one.tag}", element("ofd:ObjectRef", str(number), PageRef=PAGE_ID))
        for number, one in enumerate(texts(itinerary), start=_FIRST_ID)
        if one.tag
    ]
    return document(element("ofd:eInvoice", *tags, **OFD))


def last_id(itinerary: Itinerary) -> int:
    """The largest ID that the page uses."""
    return _FIRST_ID + len(texts(itinerary))


class _Field(NamedTuple):
    x: float
    label: str
    value: str
    tag: str = ""


def _fields(itinerary: Itinerary) -> Iterator[Written]:
    for row, fields in enumerate(_rows(itinerary)):
        y = _TOP + row * _STEP
        for x, label, value, tag in fields:
            yield Written(f"{label}：", x, y, colour=_LABEL)
            if (said := one_line(value)).strip():
                yield Written(said, x + _width(f"{label}：", Written.size) + 1, y, tag=tag)


def _rows(itinerary: Itinerary) -> Iterator[tuple[_Field, ...]]:
    parts = itinerary.parts
    start, end, flight = ROUTES.get(itinerary.market, ROUTES["domestic"])
    flown = itinerary.flight_date.isoformat() if itinerary.flight_date else ""
    issued_on = itinerary.issued_on.strftime("%Y年%m月%d日")
    left, second, third = _COLUMNS
    yield (
        _Field(left, "发票号码", itinerary.number, "InvoiceNo"),
        _Field(third, "开票状态", STATUSES[bool(itinerary.red_of)]),
    )
    yield (_Field(left, "旅客姓名", itinerary.passenger_name),)
    yield (
        _Field(left, "电子客票号码", itinerary.ticket_no),
        _Field(third, "国内国际标识", MARKETS.get(itinerary.market, "")),
    )
    yield (_Field(left, "自", start), _Field(second, "至", end))
    yield (_Field(left, "航班号", flight), _Field(second, "座位等级", CABIN), _Field(third, "日期", flown))
    yield (
        _Field(left, "票价", amount_text(parts.fare)),
        _Field(second, "燃油附加费", amount_text(parts.fuel)),
        _Field(third, "增值税税率", f"{VAT_PERCENT}%"),
    )
    yield (
        _Field(left, "增值税税额", amount_text(parts.vat), "TaxTotalAmount"),
        _Field(second, "民航发展基金", amount_text(parts.fund)),
        _Field(third, "其他税费", amount_text(parts.other_taxes)),
    )
    yield (
        _Field(left, "合计", amount_text(parts.total), "TaxInclusiveTotalAmount"),
        _Field(third, "不含税金额", amount_text(parts.total - parts.vat), "TaxExclusiveTotalAmount"),
    )
    yield (_Field(left, "购买方名称", itinerary.buyer_name, "BuyerName"),)
    yield (_Field(left, "统一社会信用代码/纳税人识别号", itinerary.buyer_tax_no, "BuyerTaxID"),)
    yield (_Field(left, "填开单位", ISSUER, "SellerName"), _Field(third, "填开日期", issued_on, "IssueDate"))
    if itinerary.red_of:
        yield (
            _Field(left, "被红冲发票号码", itinerary.red_of, "OriginalInvoiceNo"),
            _Field(third, "红冲原因", RED_REASON),
        )


def _text_object(number: int, one: Written) -> str:
    advances = [_width(character, one.size) for character in one.said[:-1]]
    deltas = {"DeltaX": " ".join(map(_length, advances))} if advances else {}
    code = element("ofd:TextCode", text(one.said), X=0, Y=_length(one.size * 0.86), **deltas)
    return element(
        "ofd:TextObject",
        element("ofd:FillColor", Value=one.colour),
        code,
        ID=number,
        Boundary=_box(one.x, one.y, _width(one.said, one.size), one.size * 1.2),
        Font=FONT_ID,
        Size=_length(one.size),
    )


def _frame(number: int) -> str:
    width, height = WIDTH - 16, HEIGHT - 36
    return element(
        "ofd:PathObject",
        element("ofd:StrokeColor", Value=_LABEL),
        element("ofd:AbbreviatedData", f"M 0 0 L {width} 0 L {width} {height} L 0 {height} C"),
        ID=number,
        Boundary=_box(8, 21, width, height),
        LineWidth="0.3",
    )


def _width(said: str, size: float) -> float:
    """How far a text reaches: Chinese characters are squares, others half as wide."""
    return sum(size if unicodedata.east_asian_width(one) in "WF" else size / 2 for one in said)


def _box(*lengths: float) -> str:
    return " ".join(map(_length, lengths))


def _length(length: float) -> str:
    return f"{length:.4g}"
