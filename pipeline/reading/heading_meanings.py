"""Headings to columns: what a heading means, however it is typed.

A heading may be Chinese, English or both in one cell, with a unit behind it. One whose halves say two things means both of
them, which is for its reader to refuse.

>>> [sorted(meanings(text)) for text in ("票号 Ticket No.", "Amount／金額（元）", "票价/机建", "weather")]
[['ticket_no'], ['amount'], ['airport_fee', 'fare'], []]
"""

import difflib
import functools
import re
from collections.abc import Collection
from typing import Any

from pipeline.messages.translate import in_every_language
from pipeline.model.columns import BUYER_COLUMNS, COLUMNS
from pipeline.reading.agency_words import CARRIED, CURRENCIES, VAGUE
from pipeline.reading.cell_words import folded, plain, squeezed
from pipeline.reading.formats.currency_names import is_own, known_names

_BRACKETED = re.compile(
    r"(?P<body>.*[^\s(])\s*\((?P<inside>[^()]*)\)\s*|\s*\((?P<first>[^()]*)\)\s*(?P<rest>[^\s)].*)", re.DOTALL
)
#: Possessive, so that a long text takes no longer than its length: where each half ends is certain.
_TWO_SCRIPTS = re.compile(
    r"(?P<han>(?=[^a-z\u3400-\u9fff]*+[\u3400-\u9fff])[^a-z]++)(?P<latin>[a-z][^\u3400-\u9fff]*+)"
    r"|(?P<latin2>(?=[^a-z\u3400-\u9fff]*+[a-z])[^\u3400-\u9fff]++)(?P<han2>[\u3400-\u9fff][^a-z]*+)"
)
#: Pairs of brackets, more than any heading has; they are taken off one by one.
_MOST_BRACKETS = 20
_SEPARATED = re.compile(r"[/|\n\r;,、]+")
_UNITS = frozenset({"元", "人民币", "人民币元", "单位元", "rmb", "cny", "yuan", "¥", "rmb元", "cny元"})
#: Units too, though not of the main unit: see is_scaled.
_THOUSANDS = frozenset({"万元", "千元", "百万元", "thousand", "thousands"})
#: What stands in brackets and turns a heading into another one.
_TURNS = re.compile(
    r"不含|未含|未税|税前|税后|已退|应退|^退[款票]?$|服务费|代理费|手续费|保险|定金|押金|excl|without|net|before|refund|service|insurance|deposit"
)
#: Likewise, of refunds and choices too: the seller's, an earlier ticket's, points, what was only applied for or estimated.
_TURNS_ALWAYS = re.compile(
    r"销售方|销方|卖方|供应商|开票方|seller|vendor|supplier|原(?![因则币])|original(?! ?currency)|previous"
    r"|(?<![a-z])old(?![a-z])|积分|里程|points|miles|申请|appl(?:ied|y|ication)|requested|预估|预计|暂估|estimate|作废|张数|数量"
)
_SCALED = re.compile(
    r"(?:[(/,]|单位)(?:单位|in|[以为按])?(?:人民币)?(?:万|千|百|百万|亿)?(?:万|千|百|亿|分|角|thousands?|millions?|cents?|k)元?计?\)?$"
    r"|\((?:in)?(?:人民币|rmb|cny|¥)?['’]?000s?\)"
)


def normal(text: Any) -> str:
    """A heading folded, without the unit that may stand in brackets behind it.

    >>> normal(" Ticket_No. "), normal("金额（元）"), normal("e-mail")
    ('ticketno', '金额', 'email')
    """
    word = folded(text)
    return re.sub(r"\([^()]*\)$", "", word) or word


#: Every heading that means a column, by the column's name: ours in every language, and other words for it.
HEADING_WORDS = {
    column.name: (*in_every_language(column.name, "column"), *column.variants) for column in COLUMNS
}
HEADINGS = {normal(word): name for name, words in HEADING_WORDS.items() for word in words}
BUYER_NAMES = frozenset(column.name for column in BUYER_COLUMNS)
_CHOICES = frozenset(column.name for column in COLUMNS if column.choices)
_CARRIED = frozenset(map(normal, CARRIED))
_CURRENCIES = frozenset(map(normal, CURRENCIES))
_VAGUE = {normal(word): columns for word, columns in VAGUE.items()}
_SPELT = {normal(word): word for words in HEADING_WORDS.values() for word in words}


def meanings(cell: Any) -> frozenset[str]:
    """The columns that a heading means: one, or none where it is not known, or several that it mixes."""
    return _meanings(plain(cell)) if isinstance(cell, str) else frozenset()


@functools.lru_cache(maxsize=4096)
def _meanings(text: str) -> frozenset[str]:
    word = squeezed(text)
    if word in HEADINGS:
        return frozenset({HEADINGS[word]})
    if (bare := word.strip("()")) in HEADINGS or (bare := _without_unit(word)) in HEADINGS:
        return frozenset({HEADINGS[bare]})
    if text.count("(") <= _MOST_BRACKETS and (found := _BRACKETED.fullmatch(text)):
        body, inside = found["body"] or found["rest"], found["inside"] or found["first"] or ""
        if known := _meanings(body):
            return _qualified(known, body, inside)
    if (halves := _TWO_SCRIPTS.fullmatch(text)) and (known := _all_of(filter(None, halves.groups()))):
        return known
    return _all_of(_SEPARATED.split(text))


def _qualified(known: frozenset[str], body: str, inside: str) -> frozenset[str]:
    """What a heading means by what stands in brackets beside it: a unit, a translation, or something else."""
    other = _meanings(inside)
    if known <= BUYER_NAMES and other in ({"buyer"}, {"passenger_name"}):
        return known if other == {"buyer"} else frozenset()  # a passenger's telephone is not the buyer's
    refund = "退" in body or "refund" in body
    turned = _TURNS_ALWAYS.search(inside) or (not refund and _TURNS.search(inside))
    if turned and not other and not known <= _CHOICES:  # a choice's brackets list its values
        return frozenset()
    return known | other


def _without_unit(word: str) -> str:
    return next((word.removesuffix(unit) for unit in _UNITS if word.endswith(unit)), word)


def _all_of(parts: Any) -> frozenset[str]:
    """What several words mean together; nothing if one of them is not known."""
    words = [_trimmed(part) for part in parts]
    words = [word for word in words if word and squeezed(word) not in _UNITS | _THOUSANDS]
    if len(words) == 1 and not _SEPARATED.search(words[0]):
        return frozenset(filter(None, [HEADINGS.get(squeezed(words[0]))]))
    found = [_meanings(word) for word in words] if len(words) > 1 else []
    return frozenset().union(*found) if all(found) else frozenset()


def _trimmed(part: str) -> str:
    """A part of a heading without what joined it to the other part."""
    part = part.strip(" \t\r\n/|,;、-—:")
    return part if part.count("(") == part.count(")") else part.strip("() ")


def is_scaled(cell: Any) -> bool:
    """Whether a heading says that its amounts are in thousands and the like: not in the main unit.

    >>> is_scaled("金额（万元）"), is_scaled("金额（元）")
    (True, False)
    """
    return isinstance(cell, str) and bool(_SCALED.search(squeezed(plain(cell))))


def other_unit(cell: Any, currency: str = "CNY", *, title: bool = False) -> str:
    """What a heading, or a title above the headings, says of amounts: "scaled", "currency" if not this one, or "".

    Of no currency "" nothing is another one: whose amounts they are is not asked yet.

    >>> other_unit("单位：万元"), other_unit("金额（泰铢）"), other_unit("币种: SGD"), other_unit("票价（元）")
    ('scaled', 'currency', 'currency', '')
    """
    if not isinstance(cell, str):
        return ""
    if is_scaled(cell) or folded(cell) in _THOUSANDS:
        return "scaled"
    text = plain(cell)
    _, *labelled = _CURRENCY_LABEL.split(text)
    named = [found[0] for said in labelled[-1:] if (found := _currency().search(said))]
    for words in _ASIDE.findall(text):
        aside = squeezed(words).removesuffix("计")
        if said := _in_currency(aside):
            named += [] if title and said in _PEOPLE else [said]
        elif (unit := _UNIT.match(aside)) and (
            _in_currency(aside[unit.end() :]) or _IN_UNIT.fullmatch(aside.removesuffix("s"))
        ):
            return "scaled"
        elif not title:  # the brackets of an amount's own heading are about nothing else
            if _IN_UNIT.search(words):
                return "scaled"
            named += _currency().findall(words)[-1:]  # 外币折合人民币 is in the last one
    return "" if not currency or all(is_own(name, currency) for name in named) else "currency"


def is_unit_label(cell: Any) -> bool:
    """Whether a cell is the label of a currency or a unit, which stands in the next one.

    >>> is_unit_label("结算币种："), is_unit_label("Currency"), is_unit_label("币种：人民币")
    (True, True, False)
    """
    return isinstance(cell, str) and folded(cell).endswith(("单位", "币种", "币别", "货币", "currency"))


_CURRENCY_LABEL = re.compile("币种|币别|货币|currency")
#: What stands in brackets, behind a slash or a comma, or is called a unit.
_ASIDE = re.compile(
    r"(?:[(/,]|单位|(?<![a-z])in(?=\s)|[以按](?=[^()/,以按]*计))\s*(?:单位|in(?=\s)|[以按])?[\s:为是]*([^()/,]*)"
)
_UNIT = re.compile("(?:百万|[百千万亿]|thousands?|millions?|mn?|k)(?:of)?")
_IN_UNIT = re.compile("[百千万亿]元|thousand|million|(?<![a-z])cents")
#: Codes that are words of headings, and those that are names of people, who may be named in a title.
_WORDS = ("all", "top")
_PEOPLE = frozenset(
    {"ang", "bam", "bob", "cop", "cup", "gel", "lak", "mad", "mop", "pen", "ron", "sos", "try", "won"}
)


@functools.cache
def _currency() -> re.Pattern[str]:
    return re.compile(known_names(*_WORDS))


def _in_currency(text: str) -> str:
    """The first currency of a text that names currencies and says nothing else, or ""."""
    found = _currency().match(text)
    return found[0] if found and not _currency().sub("", text) else ""


def name_in_currency(name: str, currency: str) -> bool:
    """Whether a sheet's name says nothing but another currency than this one, and that it is a bill.

    >>> name_in_currency("美元账单", "CNY"), name_in_currency("USD", "USD"), name_in_currency("美元资本", "CNY")
    (True, False, False)
    """
    said = _in_currency(_BILL.sub("", squeezed(plain(name))))
    return bool(currency and said) and said not in _PEOPLE and not is_own(said, currency)


_BILL = re.compile(r"账单|对账单?|明细|机票|客票|表|bills?|tickets?|sheet|[()0-9]")


def is_carried(cell: Any) -> bool:
    """Whether a heading is one that exports have beside ours.

    >>> is_carried("税率（%）"), is_carried("税号")
    (True, False)
    """
    return normal(cell) in _CARRIED


def says_currency(cell: Any) -> bool:
    """Whether a heading is one of a column that says the currency of its rows' amounts, in one language or in both.

    >>> says_currency("币种 (Currency)"), says_currency("Currency Code 2"), says_currency("金额（美元）")
    (True, True, False)
    """
    words = re.findall("[a-z]+|[\u3400-\u9fff]+", folded(cell))
    return bool(words) and _CURRENCIES.issuperset(words)


def vague(cell: Any) -> tuple[str, ...]:
    """The columns of which a heading could be any, or that it holds the sum of.

    >>> vague("机建燃油"), vague("机建+燃油"), vague("票号/订单号"), vague("机建")
    (('airport_fee', 'fuel_surcharge'), ('airport_fee', 'fuel_surcharge'), ('ticket_no',), ())
    """
    if found := _VAGUE.get(normal(cell)):
        return found
    if not isinstance(cell, str) or meanings(cell):
        return ()
    parts = [meanings(part) for part in _SUMMED.split(plain(cell))]
    if len(parts) < 2 or not all(parts):
        # One of several things is known, as in 票号/订单号: which of them a cell holds is not.
        parts = [meanings(part) for part in _SEPARATED.split(plain(cell))]
    return tuple(sorted(frozenset().union(*parts)))


def sum_of_taxes(cell: Any) -> bool:
    """Whether a heading can only mean the airport fee and the fuel surcharge in one.

    >>> sum_of_taxes("机建+燃油"), sum_of_taxes("机建燃油"), sum_of_taxes("税")
    (True, True, False)
    """
    return set(vague(cell)) == {"airport_fee", "fuel_surcharge"}


_SUMMED = re.compile(r"[+&和及与]")


def nearest(text: Any, taken: Collection[str] = ()) -> str:
    """The known heading that a text comes closest to, or ""; none for a column that is taken already.

    >>> nearest("Ticket Numbr"), nearest("Passengr", {"passenger_name"}), nearest("订单号"), nearest("航班日期/时间")
    ('ticket number', '', '', '航班日期')
    """
    word = normal(text)
    if not word or is_carried(text):
        return ""
    free = [known for known in _SPELT if HEADINGS[known] not in taken]
    close = difflib.get_close_matches(word, free, n=1, cutoff=0.75)
    close = close or sorted((known for known in free if _tells(known) and known in word), key=len)[-1:]
    return _SPELT[close[0]] if close else ""


def _tells(known: str) -> bool:
    """Whether a word is long enough to mean something within another one."""
    return len(known) > (5 if known.isascii() else 2)
