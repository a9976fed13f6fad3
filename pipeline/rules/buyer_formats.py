"""The forms of tax numbers, e-mail addresses and telephone numbers, and the likely slip in what is none.

Judged leniently: a valid value must never be refused. Values come as they would be sent (text_as_sent.py). Tax numbers and
addresses are judged by libraries that are kept for it. Nearly all addresses are of a form that the library takes whatever its
letters and digits are; those are known at sight, a hundred times faster, and a month of them needs it not even loaded.
"""

import re
import unicodedata

from stdnum.cn import uscc
from stdnum.iso7064 import mod_11_2

from pipeline.model.error_cells import no_value

_OLD_TAX_NO = re.compile(r"[0-9A-Z]{15}|[0-9A-Z]{20}")
#: GB 32100-2015: who registered it and what it is, where, who, and a check character; never I, O, S, V or Z.
_UNIFIED_CODE = re.compile(r"[0-9A-HJ-NPQRTUWXY]{2}[0-9]{6}[0-9A-HJ-NPQRTUWXY]{10}")
_IDENTITY_NO = re.compile(r"[0-9]{17}[0-9X]")
#: An extension that is written as a further part of the number.
_EXTENSION = re.compile(r"-[0-9]{1,6}$")
#: Digits of a number with its country code, at most (ITU-T E.164, 6.2).
_LONGEST_NUMBER = 15
#: A number as it is written, with its extension; words of other kinds would go to the carrier with it.
_PHONE = re.compile(
    r"(?P<abroad>\(?\+)?[+(]*(?P<number>[0-9][0-9 ()./~\u00a0\u2010-\u2015\u2212-]*)(?:[,;]\s*[0-9]{1,6}|[,;]?\s*(?:转|轉|分机|分機|ext(?:n|ension)?\.?|x|#|;ext=)[ :.-]*[0-9]{1,6}#?)?",
    re.IGNORECASE,
)
#: Words that say what stands behind them.
_LABEL = re.compile(
    r"(?:电子)?(?:邮箱|邮件|电邮|信箱)(?:地址)?|e-?mail\s*:|mailto:|tel\.?\s*:|tel\.\s|(?:联系)?电话|手机|税号",
    re.IGNORECASE,
)
#: Addresses that are sound at sight: a part of what the library takes (tests/property/test_forms.py).
PLAIN_ADDRESS = re.compile(
    r"(?=.{6,64}\Z)[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+(?!arpa|invalid|local|onion|test)[a-z]{2,}",
    re.IGNORECASE | re.ASCII,
)
_ADDRESSES = re.compile(r"[^@\s]+@[^@\s]+[;,、，；/\s]+[^@\s]+@[^@\s]+")


def is_tax_no(value: str) -> bool:
    """A unified social credit code (18 characters, checked) or an older form of 15 or 20 characters.

    The library's own check of a whole code knows no registering body that is a letter (N for rural
    collectives, Y for others), so only its check character is asked for. Sole traders are registered under
    an identity number of 18 characters, which ends in a check character too; its list of birth places lacks
    residents of Hong Kong, Macao and Taiwan, so that is not asked for either.

    >>> is_tax_no("91110000600037341L"), is_tax_no("91110000600037341K"), is_tax_no("110108600037341")
    (True, False, True)
    """
    if len(value) != 18:
        return bool(_OLD_TAX_NO.fullmatch(value))
    if _UNIFIED_CODE.fullmatch(value) and uscc.calc_check_digit(value[:-1]) == value[-1]:
        return True
    return bool(_IDENTITY_NO.fullmatch(value)) and bool(mod_11_2.is_valid(value))


def tax_hint(value: str) -> str:
    """The likely slip in what is no tax number (messages/likely_mistakes.py).

    >>> tax_hint("9111OOOO600037341L"), tax_hint("91110000600037341K"), tax_hint("9111")
    ('tax_letters', 'tax_check', 'tax_length')
    """
    if no_value(value):
        return no_value(value)
    if re.fullmatch(r"[0-9.]+E\+[0-9]+", value):
        return "tax_rounded"
    if _LABEL.match(value):
        return "labelled"
    if not re.fullmatch(r"[0-9A-Z]+", value):
        return ""
    if len(value) != 18:
        return "tax_length"
    return "tax_letters" if re.search(r"[IOSVZ]", value) else "tax_check"


def is_email(value: str) -> bool:
    """An address by its form alone; nothing is looked up, and test domains are accepted.

    >>> is_email("finance@example.com"), is_email("finance@"), is_email("a@b.test"), is_email("邮箱a@example.com")
    (True, False, True, False)
    """
    # The validator takes what stands before the @ for letters, whatever it is: a label, or Chinese brackets.
    if _LABEL.match(value):
        return False
    if PLAIN_ADDRESS.fullmatch(value):
        return True
    local = value.rpartition("@")[0]
    if any(unicodedata.category(c)[0] in "PSZ" for c in local if not c.isascii()):
        return False
    import email_validator  # noqa: PLC0415 - slow to import, and hardly an address asks for it

    try:
        email_validator.validate_email(value, check_deliverability=False, test_environment=True)
    except email_validator.EmailNotValidError:
        return False
    return True


def email_hint(value: str) -> str:
    """The likely slip in what is no e-mail address (messages/likely_mistakes.py).

    >>> email_hint("a@example.com;b@example.com"), email_hint("finance"), email_hint("a@example,com")
    ('email_several', 'email_no_at', 'email_domain')
    """
    if no_value(value):
        return no_value(value)
    name, at, domain = value.rpartition("@")
    if _ADDRESSES.fullmatch(value):
        return "email_several"
    if at and (_LABEL.match(value) or re.search("[<(（【《]", value)):
        return "labelled"
    if not (at and name and domain):
        return "email_no_at"
    return "" if is_email(f"{name}@example.com") is False else "email_domain"


def phone_hint(value: str) -> str:
    """The likely slip in what is no telephone number (messages/likely_mistakes.py).

    >>> phone_hint("13800138000/13900139000"), phone_hint("12")
    ('phone_several', '')
    """
    parts = [part.strip() for part in re.split(r"[/;,、，；\r\n]", value) if part.strip()]
    if no_value(value) or (len(parts) > 1 and all(map(is_phone, parts))):
        return no_value(value) or "phone_several"
    return "labelled" if len(re.findall("[0-9]", value)) > 6 and re.search(r"[^\W\d_]", value) else ""


def is_phone(value: str) -> bool:
    """A number that can be dialled from China or abroad, with or without an extension: by its signs and how many digits it has.

    With a country code 7 to 15 digits (ITU-T E.164); without one 5 (a city's own) to 12 (a mobile number after a 0).

    >>> [is_phone(text) for text in ("+86 138 0013 8000", "021-12345678-801", "400-820-8820", "1234", "phone")]
    [True, True, True, False, False]
    """
    found = _PHONE.fullmatch(value)
    if not found:
        return False
    whole = found["number"]
    return any(
        _may_be_dialled(number, bool(found["abroad"])) for number in (whole, _EXTENSION.sub("", whole))
    )


def _may_be_dialled(written: str, abroad: bool) -> bool:
    """Whether a number has as many digits as one has; `abroad`: it begins with a country's code."""
    digits = re.sub("[^0-9]", "", written)
    if abroad or digits.startswith("00"):
        return 7 <= len(digits.removeprefix("00")) <= _LONGEST_NUMBER
    return 5 <= len(digits) <= 12 or (len(digits) == 13 and digits.startswith("86"))
