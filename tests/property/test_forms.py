"""What is known to be well-formed at sight is well-formed to the libraries that judge everything else."""

import email_validator
import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.rules.buyer_formats import (
    PLAIN_ADDRESS,
    is_email,
    is_phone,
)


def _texts(letters: str, least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(letters, min_size=least, max_size=most)


#: What an address is made of, much of it plain.
_NAMES = st.lists(_texts("azAZ09_+-", 1, 30), min_size=1, max_size=3).map(".".join)
_LABELS = st.lists(_texts("azAZ09", 1, 12), min_size=1, max_size=4).map("-".join)
_ENDS = _texts("azAZ", 2, 24) | st.sampled_from(
    ["invalid", "LOCAL", "arpas", "testing", "onion", "cn", "company"]
)
ADDRESSES = st.builds(
    lambda name, labels, end: f"{name}@{'.'.join([*labels, end])}",
    _NAMES,
    st.lists(_LABELS, min_size=1, max_size=3),
    _ENDS,
)


@pytest.mark.slow
@settings(max_examples=5 * settings().max_examples, deadline=None)
@given(address=ADDRESSES.filter(PLAIN_ADDRESS.fullmatch))
def test_an_address_that_is_plain_is_one_to_the_library(address: str) -> None:
    found = email_validator.validate_email(address, check_deliverability=False, test_environment=True)
    assert f"{found.local_part}@{found.domain}".casefold() == address.casefold()


@pytest.mark.parametrize(
    "address",
    [
        "a@example.invalid", "a@host.LOCAL", "a@b.onion", "a@b.arpa", "a@localhost", "a..b@example.com", ".a@example.com",
        "a@-b.com", "a@b-.com", "a@ab--c.com", "a@b.c0m1", "a@b..com", f"a@{'b' * 64}.com", "a@b.com\n",
    ],
)  # fmt: skip
def test_what_the_library_refuses_is_not_plain(address: str) -> None:
    assert not PLAIN_ADDRESS.fullmatch(address)
    assert not is_email(address)


@pytest.mark.slow
def test_every_form_of_a_chinese_number_is_taken() -> None:
    mobiles = (
        f"{country}{start}345678"
        for country in ("", "+86", "+86 ", "+86-", "0086", "86")
        for start in range(13000, 20000, 7)
    )
    landlines = (
        f"0{area}{joint}{first}{rest}"
        for area in (*range(10, 100), *range(100, 1000, 7))
        for joint in ("", "-")
        for first in range(2, 9)
        for rest in ("123456", "1234567")
    )
    for number in (*mobiles, *landlines):
        assert phonenumbers.is_possible_number(phonenumbers.parse(number, "CN")), number
        assert is_phone(number), number


#: A company's one number for a whole country (UAN) can be dialled only from within it.
_KINDS = sorted({*phonenumbers.PhoneNumberType.values()} - {phonenumbers.PhoneNumberType.UAN})


@pytest.mark.parametrize("kind", _KINDS)
def test_every_country_s_numbers_are_taken(kind: int) -> None:
    """As the library's examples have them, with the country and an extension too."""
    formats = phonenumbers.PhoneNumberFormat
    for region in phonenumbers.SUPPORTED_REGIONS:
        number = phonenumbers.example_number_for_type(region, kind)
        for style in (formats.INTERNATIONAL, formats.E164) if number else ():
            text = phonenumbers.format_number(number, style)
            assert is_phone(text), text
            assert is_phone(f"{text} ext. 12"), text
