"""The carrier profile to fill in: every key with its default, explained in both languages (interface.md, Carrier profile).

The keys and their defaults are those of `model.profile`; what is said of each is said here, and a key of which nothing is said
can't be written.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.file_writing import PRIVATE
from pipeline.messages.translate import rendered
from pipeline.model.columns import CHARGES, HEADER_TYPES, LANGS, PRODUCTS, Choice
from pipeline.model.message import Message, Term, message
from pipeline.model.money import money_text
from pipeline.model.profile import Profile
from pipeline.template.new_file import put_new

#: Values by section and key, as a profile's TOML has them.
Answers = Mapping[tuple[str, str], Any]

_TITLE = (
    message("A carrier profile: a carrier's answers to what its interface leaves open."),
    message(
        "Nothing is guessed: what has no code is not sent. The two keys are kept elsewhere: in the environment (VOUCHER_API_KEY,"
        " VOUCHER_ENCRYPTION_KEY) or in the system keyring."
    ),
    message(
        "A line that begins with # counts only once the # is taken away. See what is missing with: voucher profile check"
    ),
)


def _codes(choices: tuple[Choice, ...], what: str) -> dict[str, Message]:
    return {
        choice.name: message("{field} of {choice}", field=what, choice=Term(choice.name, "choice"))
        for choice in choices
    }


#: What is said of each section and of each key in it.
EXPLAINED: Mapping[str, tuple[Message, Mapping[str, Message]]] = {
    "carrier": (
        message("Where the service is, and who you are to it"),
        {
            "base_url": message("The service's address: https; plain http for this machine's loopback alone."),
            "agency": message("The agency as which the carrier knows you."),
            "time_zone": message("Whose calendar days count."),
            "ticket_prefixes": message(
                "The carrier's ticket prefixes of 3 digits, each in quotes; tickets of others are not sent. None: all are sent."
            ),
            "ticket_no_hyphen": message("Ticket numbers are sent as 999-1234567890 (true) or 9991234567890 (false)."),
            "currency": message("Shown beside money; the interface does not say which it is."),
            "proxy": message(
                'The HTTP proxy of your office, if it needs one, such as "http://proxy.office:3128"; what is sent through it stays encrypted.'
            ),
            "ca_file": message(
                "The file of your office's own certificates, if it has some; those of the system are not trusted then."
            ),
        },
    ),
    "codes.fee_type": (
        message("The carrier's codes for kinds of charge; ask the carrier for those that are blank"),
        _codes(CHARGES, "feeType"),
    ),
    "codes.product_type": (
        message("The carrier's codes for products; ask the carrier for those that are blank"),
        _codes(PRODUCTS, "productType"),
    ),
    "codes.header_type": (
        message("The carrier's codes for kinds of buyer; ask the carrier for those that are blank"),
        _codes(HEADER_TYPES, "invoiceHeaderType, itineraryHeaderType"),
    ),
    "limits": (
        message("What one invoice may hold"),
        {
            "domestic_invoice_max": message("The largest amount of an invoice of domestic tickets."),
            "international_invoice_max": message("The largest amount of an invoice of international tickets."),
            "max_charges_per_invoice": message("The most charges on one invoice; 0: no limit is known."),
        },
    ),
    "required": (
        message('What the carrier asks of a buyer beside name, tax number and e-mail: of "phone", "email"'),
        {
            "invoice": message("For an invoice."),
            "itinerary": message("For an itinerary, which needs an e-mail address in any case."),
        },
    ),
    "submission": (
        message("How hard to press"),
        {
            "concurrency": message("The most requests in flight at once."),
            "rate_per_second": message("The most requests a second; 0: no limit."),
            "connect_timeout_seconds": message("How long to wait for a connection."),
            "response_timeout_seconds": message("How long to wait for an answer; without one the outcome is unknown."),
            "keepalive_seconds": message("How long an idle connection may be used again."),
        },
    ),
    "answers": (
        message("What the carrier's answers mean, as far as it has said; any other answer leaves the outcome unknown"),
        {
            "not_processed_http": message("HTTP statuses that say: nothing was issued, it may be sent again."),
            "not_processed_codes": message("Codes of an answer that say the same."),
            "rejected_codes": message("Codes of an answer that are a definite no."),
            "key_refused_codes": message("HTTP statuses and codes that say: the key or the agency is wrong. The run stops."),
        },
    ),
    "reconcile": (
        message("How outcomes are settled"),
        {
            "settle_after_hours": message(
                "So many hours after a request the carrier's statement lists it for certain; until you know, leave it out."
            ),
        },
    ),
    "itinerary_files": (
        message("The itinerary files that the carrier's provider mails (voucher collect)"),
        {
            "archive": message("The folder in which they are kept; blank: one beside the ledger."),
            "seal_roots": message(
                "Files with the root certificates of those who seal them, each in quotes. With one, a file proves an unknown outcome only under"
                " a seal that goes back to it."
            ),
        },
    ),
    "approval": (
        message("Who says yes before anything is sent"),
        {
            "people": message(
                "1 or 2. With 2, what one person prepared another approves on the page (voucher serve), and nothing is sent elsewhere."
            ),
        },
    ),
}  # fmt: skip

#: What stands behind a # where there is no default.
_EXAMPLES = {("carrier", "base_url"): "https://carrier.example/api", ("reconcile", "settle_after_hours"): 24}


def defaults() -> dict[tuple[str, str], Any]:
    """Every key's default as TOML has it; None where it has none."""
    profile, found = Profile(), {}
    for section, (_, keys) in EXPLAINED.items():
        values: Any = profile
        for part in section.split("."):
            values = getattr(values, part)
        for key in keys:
            found[section, key] = values[key] if isinstance(values, Mapping) else getattr(values, key)
            if section == "limits" and key.endswith("_max"):
                found[section, key] = money_text(found[section, key])
    found["carrier", "base_url"] = None  # no address is made up
    return found


def profile_text(answers: Answers) -> str:
    """The profile, with these values in place of defaults."""
    return "\n".join(_lines({**defaults(), **answers})) + "\n"


def _lines(values: Answers) -> Iterator[str]:
    for said in _TITLE:
        yield from _comment(said)
    for section, (title, keys) in EXPLAINED.items():
        yield ""
        yield from _comment(title)
        yield f"[{section}]"
        for key, meaning in keys.items():
            if not section.startswith("codes."):
                yield ""
            yield from _comment(meaning)
            value = values[section, key]
            if value is None:
                yield f"# {key} = {_toml(_EXAMPLES[section, key])}"
            else:
                yield f"{key} = {_toml(value)}"


def _comment(said: Message) -> Iterator[str]:
    """In every language, a line each; once where they say the same."""
    yield from dict.fromkeys(f"# {rendered(said, lang)}" for lang in LANGS)


def _toml(value: Any) -> str:
    """A text, number, flag or list in TOML, which writes them as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def write_profile(path: Path, answers: Answers) -> None:
    """Write the profile, whole or not at all, never over a file; readable by its owner alone, for a proxy may have a password.

    Raises InputProblem where `path` is taken or can't be written.
    """
    put_new(path, profile_text(answers).encode(), PRIVATE)
