"""Buyers: known, complete, and well-formed.

Sources: carrier-interface.md, invoice and itinerary headers; what is required beside name, tax number
and an itinerary's e-mail is "not shown" there and comes from the profile. Formats are judged by
libraries that are kept for it, leniently: a valid value must never be refused.
"""

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import pandas as pd

from pipeline.columns import HEADER_TYPES
from pipeline.profile import Profile, Required
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, Terms, blank, invoice, itinerary
from pipeline.slips import name_slip, no_value
from pipeline.table import Indices, Mask, among

_HEADER = "carrier-interface.md, Invoice request: invoiceHeader; Itinerary request: itineraryHeader"
_EXTENSION = re.compile(r"\s*(?:-|转|ext\.?|x|#)\s*[0-9]{1,6}$", re.IGNORECASE)
_OLD_TAX_NO = re.compile(r"[0-9A-Z]{15}|[0-9A-Z]{20}")
#: GB 32100-2015: who registered it and what it is, where, who, and a check character; never I, O, S, V or Z.
_UNIFIED_CODE = re.compile(r"[0-9A-HJ-NPQRTUWXY]{2}[0-9]{6}[0-9A-HJ-NPQRTUWXY]{10}")
_IDENTITY_NO = re.compile(r"[0-9]{17}[0-9X]")
#: A number as it is written, with its extension; words of other kinds would go to the carrier with it.
_PHONE = re.compile(
    r"[+(]*[0-9][0-9 ()./~\u00a0\u2010-\u2015\u2212-]*(?:[,;]\s*[0-9]{1,6}|[,;]?\s*(?:转|轉|分机|分機|ext(?:n|ension)?\.?|x|#|;ext=)[ :.-]*[0-9]{1,6}#?)?",
    re.IGNORECASE,
)
#: Words that say what stands behind them.
_LABEL = re.compile(r"(?:电子)?(?:邮箱|邮件|电邮|信箱)(?:地址)?|e-?mail\s*:|mailto:|tel[.:]|(?:联系)?电话|手机|税号", re.IGNORECASE)
_ADDRESSES = re.compile(r"[^@\s]+@[^@\s]+[;,、，；/\s]+[^@\s]+@[^@\s]+")
_TYPES = [choice.name for choice in HEADER_TYPES]


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
    from stdnum.cn import uscc  # noqa: PLC0415 - start-up: only needed where there are buyers
    from stdnum.iso7064 import mod_11_2  # noqa: PLC0415 - likewise

    if _UNIFIED_CODE.fullmatch(value) and uscc.calc_check_digit(value[:-1]) == value[-1]:
        return True
    return bool(_IDENTITY_NO.fullmatch(value)) and bool(mod_11_2.is_valid(value))


def tax_slip(value: str) -> str:
    """The likely slip in what is no tax number (slips.SLIPS).

    >>> tax_slip("9111OOOO600037341L"), tax_slip("91110000600037341K"), tax_slip("9111")
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
    import email_validator  # noqa: PLC0415 - start-up, as above

    # The validator takes what stands before the @ for letters, whatever it is: a label, or Chinese brackets.
    local = value.rpartition("@")[0]
    if _LABEL.match(value) or any(unicodedata.category(c)[0] in "PSZ" for c in local if not c.isascii()):
        return False
    try:
        email_validator.validate_email(value, check_deliverability=False, test_environment=True)
    except email_validator.EmailNotValidError:
        return False
    return True


def email_slip(value: str) -> str:
    """The likely slip in what is no e-mail address (slips.SLIPS).

    >>> email_slip("a@example.com;b@example.com"), email_slip("finance"), email_slip("a@example,com")
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


def phone_slip(value: str) -> str:
    """The likely slip in what is no telephone number (slips.SLIPS).

    >>> phone_slip("13800138000/13900139000"), phone_slip("12")
    ('phone_several', '')
    """
    parts = [part.strip() for part in re.split(r"[/;,、，；\r\n]", value) if part.strip()]
    if no_value(value) or (len(parts) > 1 and all(map(is_phone, parts))):
        return no_value(value) or "phone_several"
    return "labelled" if len(re.findall("[0-9]", value)) > 6 and re.search(r"[^\W\d_]", value) else ""


def is_phone(value: str) -> bool:
    """A number that can be dialled from China or abroad, with or without an extension.

    >>> [is_phone(text) for text in ("+86 138 0013 8000", "021-12345678-801", "400-820-8820", "1234", "phone")]
    [True, True, True, False, False]
    """
    import phonenumbers  # noqa: PLC0415 - start-up, as above

    if not _PHONE.fullmatch(value):  # the library looks for a number anywhere in a text
        return False
    for text in (value, _EXTENSION.sub("", value)):
        try:
            number = phonenumbers.parse(text, "CN")
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_possible_number(number):
            return True
        local = phonenumbers.ValidationResult.IS_POSSIBLE_LOCAL_ONLY
        if (
            phonenumbers.is_possible_number_with_reason(number) == local
            and len(str(number.national_number)) > 4
        ):
            return True
    return False


def _malformed(column: str, well_formed: Callable[[str], bool]) -> Callable[[Rows, Terms], Mask]:
    """Each distinct value is looked at once; blank ones are nobody's slip."""

    def broken(rows: Rows, _terms: Terms) -> Mask:
        codes, distinct = pd.factorize(rows.text(column))
        return np.array([value != "" and not well_formed(value) for value in distinct], dtype=bool)[codes]

    return broken


def _seen(
    column: str, slip: Callable[[str], str] = lambda _value: ""
) -> Callable[[Rows, Indices, Terms], Facts]:
    """The texts as they stand, each with its likely slip."""

    def facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
        seen = [str(value) for value in rows.text(column)[broken]]
        slips = {value: slip(value) for value in set(seen)}
        return {"seen": seen, "hint": [slips[value] for value in seen]}

    return facts


def _no_name(rows: Rows, _terms: Terms) -> Mask:
    """No name, or a cell that shows an error in place of one, or one that can be read in two ways."""
    codes, distinct = pd.factorize(rows.header_name)
    broken = np.array([bool(name_slip(name)) for name in distinct], dtype=bool)[codes]
    return np.asarray(rows.known_buyer & (blank(rows, "header_name") | broken), dtype=bool)


def _unknown(rows: Rows, _terms: Terms) -> Mask:
    return ~rows.known_buyer & ~rows.named_no_buyer


def _unknown_facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    seen = [str(value) for value in rows.buyer[broken]]
    differing = [str(text) for text in rows.two_buyers[broken]]
    hints = [
        "two_buyers" if text else no_value(name) for name, text in zip(seen, differing, strict=True)
    ]
    return {"seen": seen, "differing": differing, "hint": hints}


def _wrong_type(rows: Rows, _terms: Terms) -> Mask:
    """A Buyers row's type; one in the ticket rows is marked by the reader."""
    return np.asarray(~among(rows.header_type, [*_TYPES, ""]) & ~rows.bad("header_type"), dtype=bool)


def _missing(column: str) -> Callable[[Rows, Terms], Mask]:
    return lambda rows, _terms: np.asarray(rows.known_buyer & blank(rows, column), dtype=bool)


def _no_tax_no(rows: Rows, _terms: Terms) -> Mask:
    return np.asarray(rows.known_buyer & (rows.header_type == "business") & blank(rows, "tax_no"), dtype=bool)


def _not_given(column: str) -> Callable[[Rows, Terms], Mask]:
    """Blank where this voucher needs it: by the profile, or an itinerary's e-mail always."""

    def broken(rows: Rows, terms: Terms) -> Mask:
        required = terms.profile.required
        needed = np.zeros(len(rows), dtype=bool)
        if column in required.invoice:
            needed |= invoice(rows)
        if column in required.itinerary or column == "email":
            needed |= itinerary(rows)
        return needed & rows.known_buyer & blank(rows, column)

    return broken


_PHONE_ASKED = Profile(required=Required(invoice=("phone",)))

#: Also the itinerary's own conditions, by which `auto` chooses.
NEEDS_EMAIL = Rule(
    "missing_value", "email", f"{_HEADER}; Issue itinerary, rule 2", _not_given("email"),
    (
        Example(True, {"voucher": "itinerary", "email": ""}),
        Example(False, {"voucher": "invoice", "email": ""}),
    ),
)  # fmt: skip
NEEDS_PHONE = Rule(
    "missing_value", "phone", "interface.md, Carrier profile: [required]", _not_given("phone"),
    (
        Example(False, {"phone": ""}),
        Example(True, {"phone": ""}, _PHONE_ASKED),
        Example(False, {"phone": "", "voucher": "itinerary"}, _PHONE_ASKED),
    ),
)  # fmt: skip

RULES = (
    Rule(
        "missing_value", "buyer", _HEADER, lambda rows, _terms: rows.named_no_buyer & ~rows.bad("buyer"),
        (
            Example(True, {"header_type": "", "header_name": "", "tax_no": "", "phone": "", "email": ""}),
            Example(False, {}),
        ),
    ),
    Rule(
        "unknown_buyer", "buyer", "interface.md, Input columns: buyer", _unknown,
        (
            Example(True, {
                "buyer": "Nobody", "header_type": "", "header_name": "", "tax_no": "", "phone": "", "email": "",
            }),
            Example(False, {"buyer": "Nobody"}),  # the row says itself who it is
        ),
        _unknown_facts,
    ),
    Rule(
        "missing_value", "header_name", _HEADER, _no_name,
        (
            Example(True, {"header_name": ""}),
            Example(False, {}),
            Example(True, {"header_name": "Example\nTrading Co."}),
            Example(False, {"header_name": "示例\n公司"}),
        ),
        _seen("header_name", name_slip),
    ),
    Rule(
        "missing_value", "header_type", _HEADER, _missing("header_type"),
        (Example(True, {"header_type": ""}), Example(False, {"header_type": "individual", "tax_no": ""})),
    ),
    Rule(
        "missing_value", "tax_no", _HEADER, _no_tax_no,
        (Example(True, {"tax_no": ""}), Example(False, {"header_type": "individual", "tax_no": ""})),
    ),
    NEEDS_EMAIL,
    NEEDS_PHONE,
    Rule(
        "bad_choice", "header_type", _HEADER, _wrong_type,
        (Example(False, {"header_type": "individual"}), Example(False, {"header_type": "企业"})),
        lambda rows, broken, terms: {
            **_seen("header_type", no_value)(rows, broken, terms), "choices": " ".join(_TYPES),
        },
    ),
    Rule(
        "bad_tax_no", "tax_no", "carrier-interface.md: taxNo; GB 32100-2015 for its form", _malformed("tax_no", is_tax_no),
        (
            Example(False, {"tax_no": "9111 0000 6000 3734 1L"}),
            Example(True, {"tax_no": "91110000600037341K"}),
            Example(False, {"tax_no": "110108600037341"}),
            Example(True, {"tax_no": "1234"}),
            Example(False, {"tax_no": "N2330106MF1234567L"}),
        ),
        _seen("tax_no", tax_slip),
    ),
    Rule(
        "bad_email", "email", "carrier-interface.md, Issue itinerary, rule 2: the address must be correct",
        _malformed("email", is_email),
        (Example(True, {"email": "finance.example.com"}), Example(False, {"email": "finance@example.com"})),
        _seen("email", email_slip),
    ),
    Rule(
        "bad_phone", "phone", "carrier-interface.md: telNo and phone", _malformed("phone", is_phone),
        (Example(True, {"phone": "12"}), Example(False, {"phone": "+49 30 901820"})),
        _seen("phone", phone_slip),
    ),
)  # fmt: skip
