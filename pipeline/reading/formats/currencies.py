"""Number formats of an .xlsx that show another currency: a cell then reads $1,070.50, though it holds a bare number."""

import html
import re

_NUMBER_FORMAT = re.compile(rb"<(?:[\w.-]+:)?numFmt\s([^<>]*)>")
_CELL_FORMATS = re.compile(rb"<(?:[\w.-]+:)?cellXfs[\s>].*?</(?:[\w.-]+:)?cellXfs>", re.DOTALL)
_CELL_FORMAT = re.compile(rb"<(?:[\w.-]+:)?xf\s([^<>]*)>")
_ID = re.compile(rb"numFmtId=[\"']([0-9]{1,9})[\"']")
_CODE = re.compile(rb"formatCode=(?:\"([^\"]*)\"|'([^']*)')")

_LOCAL = re.compile(r"\[\$([^\]-]*)[^\]]*\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_OTHERS = re.compile(
    r"US\$|HK\$|NT\$|A\$|[$€£₩₽฿]|USD|EUR|HKD|JPY|GBP|KRW|TWD|AUD|SGD|美元|美金|欧元|港币|港元|日元|英镑",
    re.IGNORECASE,
)


def other_currency(code: str) -> str:
    """The currency that a number format shows, if it is another one than ¥ and its names.

    >>> other_currency("[$USD] #,##0.00"), other_currency('"$"#,##0.00'), other_currency("[$¥-804]#,##0.00;[Red]0")
    ('USD', '$', '')
    """
    shown = _BRACKETS.sub("", _LOCAL.sub(lambda found: found[1], code)).replace('"', "").replace("\\", "")
    found = _OTHERS.search(shown)
    return found[0] if found else ""


def foreign_styles(styles: bytes) -> dict[bytes, str]:
    """The currencies of cell formats that show another one, by the format's number as cells refer to it."""
    codes = {}
    for attributes in _NUMBER_FORMAT.findall(styles):
        number, code = _ID.search(attributes), _CODE.search(attributes)
        if (
            number
            and code
            and (said := other_currency(html.unescape((code[1] or code[2] or b"").decode(errors="replace"))))
        ):
            codes[number[1]] = said
    section = _CELL_FORMATS.search(styles) if codes else None
    if not section:
        return {}
    numbers = [_ID.search(attributes) for attributes in _CELL_FORMAT.findall(section[0])]
    return {
        str(at).encode(): codes[number[1]]
        for at, number in enumerate(numbers)
        if number and number[1] in codes
    }
