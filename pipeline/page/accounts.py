"""The page's accounts: names, roles and passwords (argon2id), in page.sqlite."""

import functools
import hashlib
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from pipeline.model.columns import LANGS, Lang
from pipeline.model.errors import InputProblem
from pipeline.page.page_database import NAME, connected, transaction
from pipeline.page.visitor import Role

LONGEST_NAME = 40
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 128  # characters (ASVS 2.1.1, 2.1.2)

_COLUMNS = "SELECT id, name, role, password, lang, last_login FROM account"


@dataclass(frozen=True)
class Account:
    """Somebody who may log in. `last_login` is in seconds since 1970, None before the first."""

    id: int
    name: str
    role: Role
    password: str
    lang: Lang | None
    last_login: float | None


def _account(row: Sequence[object]) -> Account:
    number, name, role, password, lang, last_login = row
    return Account(
        int(str(number)), str(name), Role.named(str(role)), str(password),
        next((each for each in LANGS if each == lang), None), last_login if isinstance(last_login, float) else None,
    )  # fmt: skip


# --- who there is -------------------------------------------------------------------------------


def any_account(folder: Path) -> bool:
    """Whether anybody has an account; where nobody has, no file is made to look."""
    return (folder / NAME).exists() and bool(
        connected(folder).execute("SELECT EXISTS (SELECT 1 FROM account)").get
    )


def all_accounts(folder: Path) -> list[Account]:
    """Everybody, by name."""
    return [_account(row) for row in connected(folder).execute(f"{_COLUMNS} ORDER BY folded")]


def found(folder: Path, name: str) -> Account | None:
    """The account of a name, however its letters are written."""
    rows = connected(folder).execute(f"{_COLUMNS} WHERE folded = ?", (_folded(name),))
    return next(map(_account, rows), None)


def known(folder: Path, name: str) -> Account:
    """The account of a name. Raises InputProblem where there is none."""
    account = found(folder, name) if any_account(folder) else None
    if account is None:
        raise InputProblem(
            "{name}: there is no such account; voucher user list says which there are", name=name
        )
    return account


# --- names and passwords ------------------------------------------------------------------------


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name.strip()).casefold()


def fit_name(name: str) -> str:
    """A name as it is kept. Raises InputProblem for one that can't be an account's."""
    kept = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(kept) <= LONGEST_NAME:
        raise InputProblem("A name has 1 to {most} characters", most=LONGEST_NAME)
    if not kept.isprintable():  # controls, marks of direction and of no width, line breaks
        raise InputProblem("A name has no characters that can't be seen; type it again")
    return kept


@functools.cache
def _commonest() -> frozenset[str]:
    """Passwords that everybody tries first, of those that are long enough, casefolded."""
    return frozenset(
        [
            "123456789012",
            "1234567890123",
            "12345678901234",
            "123456789012345",
            "1234567890123456",
            "111111111111",
            "000000000000",
            "112233445566",
            "123123123123",
            "121212121212",
            "123321123321",
            "987654321098",
            "qwertyuiopas",
            "qwertyuiop123",
            "qwertyuiop12",
            "qwerty123456",
            "qwertyqwerty",
            "1qaz2wsx3edc",
            "1q2w3e4r5t6y",
            "q1w2e3r4t5y6",
            "zaq12wsxcde3",
            "asdfghjkl123",
            "abcdefghijkl",
            "abc123abc123",
            "abcd12345678",
            "aaaaaaaaaaaa",
            "passwordpassword",
            "password1234",
            "password12345",
            "password123456",
            "password2024",
            "password2025",
            "password2026",
            "passw0rd1234",
            "p@ssw0rd1234",
            "adminadmin12",
            "administrator",
            "administrator1",
            "administrator123",
            "admin1234567",
            "admin12345678",
            "letmeinletmein",
            "welcome12345",
            "welcome123456",
            "changeme1234",
            "changeme123456",
            "iloveyou1234",
            "iloveyouiloveyou",
            "woaini1314520",
            "woaini520520",
            "woaini5201314",
            "5201314520131",
            "a123456789012",
            "a12345678910",
            "aa123456789",
            "1234567890ab",
            "1234567890abc",
            "mima12345678",
            "voucherpipeline",
            "voucher12345",
            "voucher123456",
            "correcthorsebatterystaple",
        ]
    )


def check_password(password: str, name: str) -> None:
    """Raise InputProblem for a password that is too easy to guess; any characters may be in it (ASVS 2.1)."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InputProblem(
            "A password has {least} to {most} characters; a few words that don't belong together do well",
            least=SHORTEST_PASSWORD,
            most=LONGEST_PASSWORD,
        )
    if _folded(password) == _folded(name):
        raise InputProblem("The password is the name; choose another")
    if password.casefold() in _commonest() or len(set(password.casefold())) < 4:
        raise InputProblem("This password is among those that are tried first; choose another")


@functools.cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


def _hashed(password: str) -> str:
    return _hasher().hash(_spelled(password))


def _spelled(password: str) -> bytes:
    """A password's bytes: the same, however a keyboard composes its characters (NIST SP 800-63B, 5.1.1.2)."""
    return unicodedata.normalize("NFKC", password).encode(errors="surrogatepass")


@functools.cache
def _nobodys() -> str:
    return _hashed(hashlib.sha256(str(time.time_ns()).encode()).hexdigest())


def with_password(folder: Path, name: str, password: str) -> Account | None:
    """The account of this name and password; None for another password, and for an unknown name, which takes as long."""
    if len(password) > LONGEST_PASSWORD:
        return None
    account = found(folder, name)
    if not is_password(account.password if account else _nobodys(), password) or account is None:
        return None
    if _hasher().check_needs_rehash(account.password):
        connected(folder).execute(
            "UPDATE account SET password = ? WHERE id = ? AND password = ?",
            (_hashed(password), account.id, account.password),
        )
    return account


def is_password(kept: str, password: str) -> bool:
    """Whether this is the password that is kept so."""
    try:
        return _hasher().verify(kept, _spelled(password))
    except (VerificationError, InvalidHashError):
        return False


# --- changes ------------------------------------------------------------------------------------


def add(folder: Path, name: str, role: Role, password: str) -> None:
    """Add somebody. Raises InputProblem for a name or a password that does not do, or a name that is there."""
    kept = fit_name(name)
    check_password(password, kept)
    hashed = _hashed(password)
    try:
        with transaction(folder) as connection:
            connection.execute(
                "INSERT INTO account (name, folded, role, password, made) VALUES (?, ?, ?, ?, ?)",
                (kept, _folded(kept), role.word, hashed, time.time()),
            )
            connection.execute("DELETE FROM session WHERE account IS NULL")  # of the one-time link
    except apsw.ConstraintError:
        raise there_already(kept) from None


def there_already(name: str) -> InputProblem:
    """A name that has an account."""
    return InputProblem(
        "{name}: there is such an account already; its password is changed by voucher user password, and for another role it is"
        " removed and added again",
        name=name,
    )


def set_password(folder: Path, name: str, password: str) -> None:
    """Give somebody another password, and end their sessions. Raises InputProblem."""
    account = known(folder, name)
    check_password(password, account.name)
    hashed = _hashed(password)
    with transaction(folder) as connection:
        connection.execute("UPDATE account SET password = ? WHERE id = ?", (hashed, account.id))
        connection.execute("DELETE FROM session WHERE account = ?", (account.id,))


def remove(folder: Path, name: str) -> None:
    """Remove somebody, and end their sessions. Raises InputProblem for the last administrator, while others remain."""
    account = known(folder, name)
    with transaction(folder) as connection:
        others = [_account(row) for row in connection.execute(f"{_COLUMNS} WHERE id <> ?", (account.id,))]
        if others and all(other.role < Role.ADMINISTRATOR for other in others):
            raise InputProblem(
                "{name} is the last administrator; make another one first, or remove the others first",
                name=account.name,
            )
        connection.execute("DELETE FROM account WHERE id = ?", (account.id,))
