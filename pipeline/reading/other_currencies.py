"""Amounts in the carrier's currency: its signs and names are read over, and those of every other currency refused."""

import re
import unicodedata
from functools import cache
from typing import Any

from pipeline.model.columns import COLUMN, Kind
from pipeline.model.table import shown
from pipeline.reading.formats.shown_currencies import units_in
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Sheet

#: How amounts in a currency are marked, beside its code; a currency that is not here by its code alone.
_NAMES = {
    "CNY": "¥ cn¥ rmb rmb¥ 元 元整 圆 圆整 人民币 人民币元 yuan renminbi 人民幣 本币 本位币",
    "JPY": "¥ jp¥ 円 日元 日圆 日币 yen",
    "USD": "$ us$ 美元 美金 dollar dollars",
    "EUR": "€ 欧元 歐元 euro euros",
    "GBP": "£ 英镑 英鎊 pound pounds",
    "HKD": "$ hk$ 港元 港币 港幣",
    "MOP": "$ mo$ mop$ 澳门元 澳门币",
    "TWD": "$ nt$ ntd 新台币 新台幣 台币 台幣",
    "SGD": "$ s$ sg$ 新加坡元 新元 新币",
    "AUD": "$ a$ au$ 澳元 澳币",
    "CAD": "$ c$ ca$ 加元 加币 加拿大元",
    "NZD": "$ nz$ 新西兰元 纽元",
    "KRW": "₩ 韩元 韩币 韓元 won",
    "THB": "฿ 泰铢 baht",
    "MYR": "rm 令吉 林吉特 马币 ringgit",
}


@cache
def names(currency: str) -> frozenset[str]:
    """The signs and names of a currency (its code of ISO 4217), in one width and in small letters."""
    code = _plain(currency)
    return frozenset({code, *_NAMES.get(code.upper(), "").split()})


@cache
def marks(currency: str) -> re.Pattern[str]:
    """What stands before or after an amount of this currency, in one width and in small letters."""
    longest_first = sorted(names(currency), key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    return re.compile(f"^(?:{either})|(?:{either})$")


def is_own(signs: str, currency: str) -> bool:
    """Whether signs and names, with spaces between them, are all of this currency.

    >>> is_own("￥", "CNY"), is_own("CN¥ RMB", "CNY"), is_own("JP¥", "CNY"), is_own("¥", "USD")
    (True, True, False, False)
    """
    return names(currency).issuperset(_plain(signs).split())


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def as_seen(sheet: Sheet, layout: Layout, currency: str) -> Sheet:
    """The sheet with another currency or unit beside an amount that is shown in it, which is then refused as a text would be."""
    money = {at for name, at in layout.columns.items() if name in COLUMN and COLUMN[name].kind is Kind.MONEY}
    seen: dict[int, dict[int, Any]] = {at: {} for at in money}
    for signs, places in sheet.currencies.items():
        if is_own(signs, currency):
            continue
        for line, column in places.tolist():
            row, at = line - sheet.first_row, column - sheet.first_column
            if at in money and layout.heading_row < row < sheet.height:
                cell = sheet.columns[at][row]
                if isinstance(cell, float) and cell:
                    amount = shown(cell * 100 if "%" in signs else cell)
                    seen[at][row] = f"{amount}{signs}" if units_in(signs) else f"{signs}{amount}"
    return sheet.changed(seen)
