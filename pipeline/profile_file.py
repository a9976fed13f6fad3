"""The profile: its TOML file, read and checked here and nowhere else (the keys: `secret_keys`).

A profile names only what differs from the defaults. Everything in it is checked before anything is
sent: an unknown key, a wrong type or an impossible value stops the run with the key's full name.
"""

import re
import ssl
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.file_reading import said_by, settings_text, toml_problem
from pipeline.model.columns import (
    CHARGES,
    HEADER_TYPES,
    PRODUCTS,
    Choice,
)
from pipeline.model.errors import InputProblem
from pipeline.model.message import NOTHING, Fact, Message, joined, message, system_error
from pipeline.model.money import MINOR
from pipeline.model.profile import (
    Answers,
    ApprovalTerms,
    Carrier,
    Codes,
    ItineraryFiles,
    Limits,
    Profile,
    Reconcile,
    Required,
    Submission,
    is_loopback,
)

# --- checks of single values: each returns the value or raises Unfit with the cure --------------


class Unfit(ValueError):
    """A value that a key does not take; `said` is what it must be."""

    def __init__(self, said: Message) -> None:
        self.said = said


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit(message("must be a text in quotes"))
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise Unfit(message("must not hold control characters"))
    return value


def _filled(value: Any) -> str:
    if not _text(value).strip():
        raise Unfit(message("must not be empty"))
    return str(value).strip()


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit(message("must be true or false"))
    return value


def _number(least: float, most: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise Unfit(
                message("must be a number from {least} to {most}", least=f"{least:g}", most=f"{most:g}")
            )
        return float(value)

    return check


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Unfit(message("must be a whole number from {least} to {most}", least=least, most=most))
        return value

    return check


def _money(value: Any) -> int:
    try:
        minor = Decimal(str(value)) * MINOR
    except (ArithmeticError, ValueError):
        minor = Decimal(-1)
    if minor != minor.to_integral() or not 0 < minor <= 10**15:
        raise Unfit(message('must be an amount such as "10000" or "10000.00"'))
    return int(minor)


def _list_of(check: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def check_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Unfit(message("must be a list in square brackets"))
        return tuple(check(item) for item in value)

    return check_all


def _prefix(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{3}", value):
        raise Unfit(message('must list 3-digit prefixes in quotes, such as "999"'))
    return value


def _required_column(value: Any) -> str:
    if value not in ("phone", "email"):
        raise Unfit(message('must be of "phone", "email"'))
    return str(value)


def _time_zone(value: Any) -> str:
    try:
        ZoneInfo(_filled(value))
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise Unfit(message('is not a known time zone; write it like "Asia/Shanghai"')) from None
    return _filled(value)


def _base_url(value: Any) -> str:
    url = _filled(value).rstrip("/")
    try:
        parts = urlsplit(url)
        complete = (
            parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        complete = False
    if not complete:
        raise Unfit(message('must be a full address such as "https://carrier.example/api"'))
    if parts.username or parts.password or parts.query or parts.fragment:
        raise Unfit(message("must not hold a user name, a password, a query or a fragment"))
    if parts.scheme == "http" and not is_loopback(url):
        raise Unfit(message("must be https: plain http is accepted for this machine's loopback only"))
    return url


def _existing_file(value: Any) -> str:
    try:
        if not Path(_filled(value)).is_file():
            raise Unfit(message("names a file that does not exist: {file}", file=value))
    except OSError as error:
        raise Unfit(
            message("names a file that can't be read ({problem})", problem=system_error(error))
        ) from None
    return str(value)


def _ca_file(value: Any) -> str:
    try:
        if _text(value):
            _existing_file(value)
            ssl.create_default_context(cafile=value)
    except ssl.SSLError:
        raise Unfit(message("names a file that holds no certificate: {file}", file=value)) from None
    except OSError as error:
        raise Unfit(
            message("names a file that can't be read ({problem})", problem=system_error(error))
        ) from None
    return str(value)


def _http_proxy(value: Any) -> str:
    """Never shown: it may hold a password."""
    try:
        parts = urlsplit(_text(value))
        complete = parts.scheme == "http" and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        complete = False
    if value and not complete:
        raise Unfit(message('must be an HTTP proxy such as "http://proxy.office:3128"'))
    return str(value)


Check = Callable[[Any], Any]


def _codes_of(choices: tuple[Choice, ...]) -> dict[str, Check]:
    return {choice.name: lambda value: _text(value).strip() for choice in choices}


#: Every key that a profile may hold, with its check. Sections as in interface.md.
_SECTIONS: dict[str, tuple[Callable[..., Any], dict[str, Check]]] = {
    "carrier": (
        Carrier,
        {
            "base_url": _base_url,
            "agency": _filled,
            "time_zone": _time_zone,
            "ticket_prefixes": _list_of(_prefix),
            "ticket_no_hyphen": _flag,
            "currency": _filled,
            "proxy": _http_proxy,
            "ca_file": _ca_file,
        },
    ),
    "limits": (
        Limits,
        {
            "domestic_invoice_max": _money,
            "international_invoice_max": _money,
            "max_charges_per_invoice": _whole(0, 1_000_000),
        },
    ),
    "required": (Required, {"invoice": _list_of(_required_column), "itinerary": _list_of(_required_column)}),
    "submission": (
        Submission,
        {
            "concurrency": _whole(1, 1000),
            "rate_per_second": _number(0, 100_000),
            "connect_timeout_seconds": _number(0.1, 3600),
            "response_timeout_seconds": _number(0.1, 3600),
            "keepalive_seconds": _number(0, 3600),
        },
    ),
    "answers": (
        Answers,
        {
            "not_processed_http": _list_of(_whole(300, 599)),
            "not_processed_codes": _list_of(_whole(-(2**63), 2**63)),
            "rejected_codes": _list_of(_whole(-(2**63), 2**63)),
            "key_refused_codes": _list_of(_whole(-(2**63), 2**63)),
        },
    ),
    "reconcile": (Reconcile, {"settle_after_hours": _number(0, 100_000)}),
    "itinerary_files": (ItineraryFiles, {"archive": _text, "seal_roots": _list_of(_existing_file)}),
    "approval": (ApprovalTerms, {"people": _whole(1, 2)}),
}
_CODES: dict[str, dict[str, Check]] = {
    "fee_type": _codes_of(CHARGES),
    "product_type": _codes_of(PRODUCTS),
    "header_type": _codes_of(HEADER_TYPES),
}


def profile_keys() -> dict[str, dict[str, Check]]:
    """Every key that a profile may hold, by its section as TOML has it ("carrier", "codes.fee_type"), and what its value must be."""
    return {name: checks for name, (_, checks) in _SECTIONS.items()} | {
        f"codes.{name}": checks for name, checks in _CODES.items()
    }


def unfit(section: str, key: str, value: Any) -> Message:
    """What the value of a key of a section must be, if it is not; NOTHING where it is fit."""
    try:
        profile_keys()[section][key](value)
    except Unfit as problem:
        return problem.said
    return NOTHING


def _checked(where: Fact, given: Any, checks: Mapping[str, Check]) -> dict[str, Any]:
    """The given keys of one section with their checked values."""
    if not isinstance(given, dict):
        raise InputProblem("{section} must be a section in square brackets", section=where)
    values = {}
    for key, value in given.items():
        if key not in checks:
            raise InputProblem(
                "{section}.{key} is not a known key; known here: {known}",
                section=where,
                key=key,
                known=joined(checks),
            )
        try:
            values[key] = checks[key](value)
        except Unfit as unfit:
            raise InputProblem(
                "{section}.{key} {wanted}", section=where, key=key, wanted=unfit.said
            ) from None
    return values


def _codes(given: Any) -> Codes:
    """The [codes.*] sections; codes that are not given keep the interface's own."""
    sections = _checked("[codes]", given, dict.fromkeys(_CODES, lambda value: value))
    default = Codes()
    merged = {
        item.name: {
            **getattr(default, item.name),
            **_checked(f"[codes.{item.name}]", sections.get(item.name, {}), _CODES[item.name]),
        }
        for item in fields(Codes)
    }
    return Codes(**merged)


def _cross_checked(profile: Profile) -> Profile:
    """Refuse codes of `answers` that would say two things at once, and a proxy that would be told the key in clear."""
    answers, carrier = profile.answers, profile.carrier
    if carrier.proxy and urlsplit(carrier.base_url).scheme == "http":
        raise InputProblem(
            "[carrier].proxy is set, but [carrier].base_url is plain http: the key would go to the proxy unencrypted. Leave"
            " proxy out (a carrier on this machine needs none), or give base_url its https address"
        )
    meanings = {
        "not_processed_codes": answers.not_processed_codes,
        "rejected_codes": answers.rejected_codes,
        "key_refused_codes": answers.key_refused_codes,
    }
    seen: dict[int, str] = {200: "success"}
    for name, codes in meanings.items():
        for code in codes:
            if code in seen:
                raise _twice(name, code, seen[code])
            seen[code] = name
    for status in answers.not_processed_http:
        if status in answers.key_refused_codes:
            raise _twice("not_processed_http", status, "key_refused_codes")
    return profile


def _twice(key: str, code: int, meaning: str) -> InputProblem:
    return InputProblem(
        "[answers].{key} holds {code}, which already means {meaning}; keep one",
        key=key,
        code=code,
        meaning=meaning,
    )


def load_profile(path: Path | None) -> Profile:
    """The profile of a TOML file; the defaults where no file is given.

    Raises InputProblem naming the file and the key.
    """
    if path is None:
        return Profile()
    try:
        given = tomllib.loads(settings_text(path))
    except OSError as error:
        raise InputProblem(
            "Profile {file}: can't be read ({problem}); check the path",
            file=str(path),
            problem=said_by(error),
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputProblem(
            "Profile {file}: is not valid TOML: {problem}", file=str(path), problem=toml_problem(error)
        ) from None
    try:
        sections = _checked(
            message("the profile"), given, {**dict.fromkeys(_SECTIONS, lambda v: v), "codes": lambda v: v}
        )
        made = {
            name: section(**_checked(f"[{name}]", sections[name], checks))
            for name, (section, checks) in _SECTIONS.items()
            if name in sections
        }
        return _cross_checked(Profile(**made, codes=_codes(sections.get("codes", {}))))
    except InputProblem as problem:
        raise InputProblem("Profile {file}: {problem}", file=str(path), problem=problem.message) from None
