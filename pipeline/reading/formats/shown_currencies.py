"""Currencies and units that a number format shows: a cell then reads $1,070.50 or 1.07万, though it holds a bare number.

Whether it is the carrier's own is not asked here: the process that reads the file knows no profile. A sign “%” is of a format that
shows the number times hundred; one that is mere text beside the number, which then stays as it is, is told as “％”. A format that
shows a thousandth of the number is told as “,”, and one that shows a number above zero as one below it as “-”.
"""

import functools
import html
import re

from pipeline.reading.formats.currency_names import known_names

_NUMBER_FORMAT = re.compile(rb"<(?:[\w.-]+:)?numFmt\s([^<>]*)>")
_CELL_FORMATS = re.compile(rb"<(?:[\w.-]+:)?cellXfs[\s>].*?</(?:[\w.-]+:)?cellXfs>", re.DOTALL)
_CELL_FORMAT = re.compile(rb"<(?:[\w.-]+:)?xf\s([^<>]*)>")
_ID = re.compile(rb"numFmtId=[\"']([0-9]{1,9})[\"']")
_CODE = re.compile(rb"formatCode=(?:\"([^\"]*)\"|'([^']*)')")

#: Parts of a format's code: [$symbol-locale], [Red] and conditions, "text", one character of it, room left or filled.
_PART = re.compile(r"\[\$([^\]]*)\]|\[[^\]]*\]|\"([^\"]*)\"|\\(.)|[_*].|general|standard", re.IGNORECASE)
#: Signs that several currencies share, by the country that a locale names: its number in Windows, or its code.
_COUNTRIES = {
    "0411": "JP", "0409": "US", "0c04": "HK", "1404": "MO", "0404": "NT", "1004": "S", "4809": "S", "1009": "CA",
    "0c0c": "CA", "0c09": "AU", "1409": "NZ",
    "jp": "JP", "us": "US", "hk": "HK", "mo": "MO", "tw": "NT", "sg": "S", "ca": "CA", "au": "AU", "nz": "NZ",
}  # fmt: skip
_DOLLARS, _YUAN_OR_YEN = ("$", "＄"), ("¥", "￥")
_SIGNS = "$¢-¥֏؋৲৳৻૱௹฿៛₠-⃀﷼﹩＄￠￡￥￦"  # Unicode's category Sc
#: Letters of dates, digits and what stands between them: of no currency and no unit.
_BARE = re.compile("[ymdhs0#?.,:/ -]*", re.IGNORECASE)


#: What makes another amount of a number: thousands, hundredths; letters only where they stand as words.
_UNITS = re.compile(
    r"[%‰％]|[百佰千仟万萬亿億]+|[分角]|(?<![A-Za-z])(?:thousands?|millions?|k|m|mn|bn)(?![A-Za-z])",
    re.IGNORECASE,
)
_OF_DAYS = re.compile("[ymdhs]", re.IGNORECASE)
#: Commas behind a format's last digit, which divide by thousands, and a point that is mere text between its digits.
_SCALES = re.compile(r"[0#?],+(?=[^0#?]*(?:[.;]|$))")
_POINT_OF_TEXT = re.compile(r"[0#?](?:[\\!]\.|\"\.\")[0#?]")
_LONGEST = 255  # no spreadsheet program takes a longer format
#: A minus before or behind the digits, or brackets around them.
_BELOW_ZERO = re.compile(
    r"[^0#?]*(?<![A-Za-z])-[^0#?A-Za-z]*[0#?]|[^0#?]*\([^()0#?]*[0#?][^()]*\)|[^-]*[0#?]-\s*$"
)
#: Formats that every program knows by their number alone.
PERCENTAGES = (9, 10)


@functools.cache
def _shown() -> re.Pattern[str]:
    """What names a currency; made when it is asked for, which takes longer than all else that is loaded here."""
    return re.compile(
        rf"[A-Za-z]{{0,3}}[{_SIGNS}]|[\u4e00-\u9fff]{{0,4}}[元圆圓円币幣镑鎊铢銖盾]|[美欧歐日港][金]|{known_names()}",
        re.IGNORECASE,
    )


def units_in(text: str) -> str:
    """The signs and names of units other than a currency's main unit in a text, each once, with spaces between them.

    >>> units_in("1.07万"), units_in("12.50%"), units_in("1,070.50元"), units_in("100万元")
    ('万', '%', '', '')
    """
    return " ".join(dict.fromkeys(_UNITS.findall(_shown().sub(" ", text))))


def currencies_in(text: str) -> str:
    """The signs and names of currencies in a text, each once, with spaces between them.

    >>> currencies_in("US$1,070.50"), currencies_in("1070.5 新加坡元"), currencies_in("1,070.50")
    ('US$', '新加坡元', '')
    """
    return " ".join(dict.fromkeys(_shown().findall(text)))


def shown_currency(code: str) -> str:
    """What a number format shows of currencies and units; "" for a bare number.

    >>> shown_currency("[$CAD] #,##0.00"), shown_currency('"$"#,##0.00'), shown_currency("[$¥-804]#,##0.00;[Red]0")
    ('CAD', '$', '¥')
    >>> shown_currency("[$¥-411]#,##0"), shown_currency("[$$-409]0"), shown_currency("[$-804]yyyy-mm-dd")
    ('JP¥', 'US$', '')
    >>> shown_currency("0%"), shown_currency('0"%"')
    ('%', '％')
    >>> shown_currency('0.00"万"'), shown_currency("0.00%"), shown_currency("m/d")
    ('万', '%', '')
    >>> shown_currency("yyyy-mm-dd hh:mm"), shown_currency("#,##0.00_m")
    ('', '')
    >>> shown_currency("#,##0.00,"), shown_currency("(0.00)"), shown_currency("#,##0.00_);(#,##0.00)")
    (',', '-', '')
    """
    changed = _changed(code)
    if _BARE.fullmatch(code):
        return changed
    signs: dict[str, None] = {}
    texts: list[str] = []

    def literal(part: re.Match[str]) -> str:
        symbol, text, character = part.groups()
        if symbol is not None:
            sign, _, locale = symbol.partition("-")
            signs.update(dict.fromkeys(filter(None, [of_country(sign.strip(), locale)])))
            return " "
        texts.append((text or character or " ").replace("%", "％"))
        return texts[-1]

    shown = currencies_in(_PART.sub(literal, code))
    bare = _PART.sub(" ", code)
    units = "" if _OF_DAYS.search(bare) else units_in("".join(texts) + "".join(set(bare) & {"%", "‰"}))
    return " ".join([*signs, *shown.split(), *units.split(), *changed.split()])


def _changed(code: str) -> str:
    """How a format shows another amount than the cell's, by its digits alone: “,” for a thousandth, “-” for one below zero."""
    code = code[:_LONGEST]
    bare = _PART.sub(" ", code)
    if _OF_DAYS.search(bare):
        return ""
    scaled = "," if _SCALES.search(bare) or _POINT_OF_TEXT.search(code) else ""
    sections = _PART.sub(lambda part: part[0].replace(";", " "), code).split(";")[:2]
    above_zero = next((section for section in sections if not re.search(r"\[[<=]", section)), "")
    return f"{scaled} {'-' if _BELOW_ZERO.match(_PART.sub(_digits_or_text, above_zero)) else ''}".strip()


def _digits_or_text(part: re.Match[str]) -> str:
    if part[0].lower() in ("general", "standard"):
        return "0"
    return part[2] or part[3] or " "


def changed_in(text: str, value: str) -> str:
    """Likewise, by a number as it is shown and as it is stored; "" for what is no plain number.

    >>> changed_in("1.07", "1070.5"), changed_in("(5.00)", "5"), changed_in("1,070.50", "1070.5"), changed_in("0", "0.4")
    (',', '-', '', '')
    """
    found = _PLAIN.fullmatch(text.strip())
    if not found or not _STORED.fullmatch(value) or abs(stored := float(value)) < 1:
        return ""
    digits = re.sub("[,!]", "", found[2])
    # 1.070 is 1070 as some countries write it.
    scaled = float(digits) < abs(stored) / 10 and digits.replace(".", "") != value.lstrip("-")
    return f"{',' if scaled else ''} {'-' if stored > 0 and (found[1] or found[3]) else ''}".strip()


_STORED = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,20})?")
#: Possessive, so that a long text takes no longer than its length.
_PLAIN = re.compile(
    rf"[\s{_SIGNS}]*+([-(]?)[\s{_SIGNS}]*+([0-9][0-9,]*+(?:!?\.[0-9]++)?)[\s{_SIGNS}]*+([-)]?)"
)


def of_country(sign: str, locale: str) -> str:
    """A sign that several currencies share, with its country before it where the locale names one."""
    number = locale[-4:].zfill(4) if re.fullmatch("[0-9A-Fa-f]{3,8}", locale) else locale.rpartition("-")[2]
    country = _COUNTRIES.get(number.lower(), "")
    if sign in _DOLLARS:
        return country.replace("JP", "") + sign
    return ("JP" if country == "JP" and sign in _YUAN_OR_YEN else "") + sign


def currency_styles(styles: bytes) -> dict[bytes, str]:
    """What cell formats of an .xlsx show of currencies and units, by the format's number as cells refer to it."""
    codes = {b"%d" % number: "%" for number in PERCENTAGES}
    for attributes in _NUMBER_FORMAT.findall(styles):
        number, code = _ID.search(attributes), _CODE.search(attributes)
        if (
            number
            and code
            and (said := shown_currency(html.unescape((code[1] or code[2] or b"").decode(errors="replace"))))
        ):
            codes[number[1]] = said
    section = _CELL_FORMATS.search(styles)
    if not section:
        return {}
    numbers = [_ID.search(attributes) for attributes in _CELL_FORMAT.findall(section[0])]
    return {
        str(at).encode(): codes[number[1]]
        for at, number in enumerate(numbers)
        if number and number[1] in codes
    }
