"""The two secret keys, and the mailbox's password, from the environment or the system keyring; no repr of what holds them shows them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pipeline.model.errors import InputProblem
from pipeline.model.message import joined
from pipeline.model.profile import Secrets

API_KEY = "VOUCHER_API_KEY"
ENCRYPTION_KEY = "VOUCHER_ENCRYPTION_KEY"
MAILBOX_PASSWORD = "VOUCHER_MAILBOX_PASSWORD"  # noqa: S105 - its name
KEYRING_SERVICE = "voucher-pipeline"
KeyPlace = Literal["environment", "keyring", "nowhere"]


def _from_keyring(name: str) -> str:
    """A secret from the system keyring; "" where there is none, or no keyring.

    Raises InputProblem where it can't be read, without a word of the keyring's own, which may quote what it holds.
    """
    try:
        import keyring.errors  # noqa: PLC0415 - an optional extra, and slow to import
    except ImportError:
        return ""
    try:
        found = keyring.get_password(KEYRING_SERVICE, name)
    except keyring.errors.KeyringError:
        return ""
    except Exception as error:  # noqa: BLE001 - backends raise what the system's services raise
        raise InputProblem(
            "{name} can't be read from the system keyring ({problem}); put the key into the environment variable"
            " of that name, or mend the keyring",
            name=name,
            problem=type(error).__name__,
        ) from None
    return found if isinstance(found, str) else ""


#: The keys that this process has read from the keyring.
_FOUND: set[str] = set()


def known_keys() -> tuple[str, ...]:
    """The keys of the environment and those that were read from the keyring, for keeping them out of what is printed."""
    in_environment = {
        os.environ[name] for name in (API_KEY, ENCRYPTION_KEY, MAILBOX_PASSWORD) if os.environ.get(name)
    }
    return tuple(in_environment | _FOUND)


def _looked_up(environ: Mapping[str, str]) -> dict[str, tuple[KeyPlace, str]]:
    """Where each key is, and what it is. Raises InputProblem where the keyring can't be read."""
    found: dict[str, tuple[KeyPlace, str]] = {}
    for name in (API_KEY, ENCRYPTION_KEY):
        if environ.get(name):
            found[name] = ("environment", environ[name])
        else:
            in_keyring = _from_keyring(name)
            found[name] = ("keyring" if in_keyring else "nowhere", in_keyring)
    return found


def key_places(environ: Mapping[str, str] = os.environ) -> dict[str, KeyPlace]:
    """Where each of the two secrets is found, by the name of its variable. Raises InputProblem where the keyring can't be read."""
    return {name: place for name, (place, _) in _looked_up(environ).items()}


def load_secrets(environ: Mapping[str, str] = os.environ) -> Secrets:
    """The two secrets, from the environment or else the system keyring.

    Raises InputProblem naming the variable that is missing or can't be sent.
    """
    found = {name: value for name, (_, value) in _looked_up(environ).items()}
    _FOUND.update(filter(None, found.values()))
    missing = [name for name, value in found.items() if not value]
    if missing:
        raise _not_set(missing)
    if (
        not found[API_KEY].isprintable()
        or not found[API_KEY].isascii()
        or found[API_KEY] != found[API_KEY].strip()
    ):
        raise InputProblem(
            "{name} can't be sent in a header: it holds spaces at an end, line breaks or non-ASCII characters;"
            " set it again without them",
            name=API_KEY,
        )
    if any(ord(character) < 32 or "\ud800" <= character <= "\udfff" for character in found[ENCRYPTION_KEY]):
        raise InputProblem(
            "{name} holds line breaks or broken characters; set it again without them", name=ENCRYPTION_KEY
        )
    return Secrets(api_key=found[API_KEY], encryption_key=found[ENCRYPTION_KEY])


@dataclass(frozen=True)
class MailboxPassword:
    """What a mailbox is opened with."""

    text: str = field(repr=False)


def load_mailbox_password(environ: Mapping[str, str] = os.environ) -> MailboxPassword:
    """The mailbox's password, from the environment or else the system keyring. Raises InputProblem where it is missing, or can't be sent."""
    found = environ.get(MAILBOX_PASSWORD) or _from_keyring(MAILBOX_PASSWORD)
    if not found:
        raise _not_set([MAILBOX_PASSWORD])
    _FOUND.add(found)
    if not found.isprintable():
        raise InputProblem(
            "{name} holds line breaks or broken characters; set it again without them", name=MAILBOX_PASSWORD
        )
    return MailboxPassword(found)


def _not_set(names: list[str]) -> InputProblem:
    return InputProblem(
        "{names} not set: put the key into the environment variable of that name, or into"
        " the system keyring (service {service}, the variable's name as user name)",
        names=joined(names, "and"),
        service=KEYRING_SERVICE,
    )
