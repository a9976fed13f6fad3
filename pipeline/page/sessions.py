"""Who is asking, from one request to the next: sessions, their cookies and form tokens, and the one-time link.

A session's id is random (256 bits); the database has its SHA-256 alone, and the token of its forms is made from it. Before
anybody has logged in, a random cookie and a key of this process make the login form's token.
"""

import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from pipeline.model.columns import LANGS, Lang
from pipeline.page.accounts import Account
from pipeline.page.page_database import connected, transaction
from pipeline.page.serve_settings import ServeSettings
from pipeline.page.visitor import Role

#: A session ends after so long without a request by the person, and in any case so long after the login (ASVS 3.3.2).
IDLE_SECONDS, SESSION_SECONDS = 30 * 60, 12 * 60 * 60
#: A one-time link is good for so long (ASVS 2.7.2).
LINK_SECONDS = 10 * 60
_EVERY = 60  # seconds; a session's last use is noted no more often


@dataclass(frozen=True)
class Session:
    """Whose session it is, as of now; `account` is None for whoever came by the one-time link."""

    name: str
    role: Role
    account: int | None
    lang: Lang | None


def begin_session(folder: Path, account: Account | None, name: str) -> str:
    """A new session; what its cookie holds."""
    token, now = secrets.token_urlsafe(32), time.time()
    with transaction(folder) as connection:
        connection.execute(
            "DELETE FROM session WHERE begun < ? OR used < ?", (now - SESSION_SECONDS, now - IDLE_SECONDS)
        )
        connection.execute(
            "INSERT INTO session (id, account, name, begun, used) VALUES (?, ?, ?, ?, ?)",
            (_kept(token), account.id if account else None, name, now, now),
        )
        if account:
            connection.execute("UPDATE account SET last_login = ? WHERE id = ?", (now, account.id))
    return token


def session_of(folder: Path, token: str, *, local: bool, used: bool) -> Session | None:
    """The session of a cookie; None where there is none or it has ended.

    `local`: whether one of a one-time link is good, as it is on loopback while there are no accounts. `used`: whether
    this request is a person's doing, by which the session lasts longer.
    """
    now = time.time()
    connection = connected(folder)
    row = connection.execute(
        """SELECT session.name, account.name, account.role, session.account, coalesce(account.lang, session.lang), used,
        EXISTS (SELECT 1 FROM account) FROM session LEFT JOIN account ON account.id = session.account
        WHERE session.id = ? AND begun > ? AND begun <= ? AND used > ?""",
        (_kept(token), now - SESSION_SECONDS, now + _EVERY, now - IDLE_SECONDS),
    ).fetchone()
    if row is None:
        return None
    name, account_name, role, account, lang, last, accounts = row
    if account is None and (accounts or not local):
        return None
    if used and now - last > _EVERY:
        connection.execute("UPDATE session SET used = ? WHERE id = ?", (now, _kept(token)))
    return Session(
        account_name or name,
        Role.named(role) if role else Role.ADMINISTRATOR,
        account,
        next((each for each in LANGS if each == lang), None),
    )


def end_session(folder: Path, token: str) -> None:
    """End the session of a cookie."""
    connected(folder).execute("DELETE FROM session WHERE id = ?", (_kept(token),))


def sessions_of(folder: Path, account: int) -> list[tuple[float, float]]:
    """When each session of an account began and was used last, in seconds since 1970; the latest first."""
    now = time.time()
    return list(
        connected(folder).execute(
            "SELECT begun, used FROM session WHERE account = ? AND begun > ? AND used > ? ORDER BY used DESC",
            (account, now - SESSION_SECONDS, now - IDLE_SECONDS),
        )
    )


def end_others(folder: Path, account: int, token: str) -> None:
    """End the sessions of an account but that of this cookie."""
    connected(folder).execute("DELETE FROM session WHERE account = ? AND id <> ?", (account, _kept(token)))


def note_lang(folder: Path, token: str, account: int | None, lang: Lang) -> None:
    """Note the language of a session, or of its account."""
    connection = connected(folder)
    if account is None:
        connection.execute("UPDATE session SET lang = ? WHERE id = ?", (lang, _kept(token)))
    else:
        connection.execute("UPDATE account SET lang = ? WHERE id = ?", (lang, account))


def _kept(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


# --- cookies and form tokens --------------------------------------------------------------------


def cookie_name(settings: ServeSettings, what: str) -> str:
    """A cookie's name: browsers keep one that begins with __Host- to https and to this host; ports share their cookies."""
    return f"__Host-voucher-{what}" if settings.tls else f"voucher-{what}-{settings.port}"


def set_cookie(response: web.StreamResponse, settings: ServeSettings, what: str, value: str) -> None:
    """Give the browser a cookie that no script reads and no other site sends; it goes when the browser is closed."""
    response.set_cookie(
        cookie_name(settings, what), value, path="/", secure=settings.tls, httponly=True, samesite="Strict"
    )


def drop_cookie(response: web.StreamResponse, settings: ServeSettings, what: str) -> None:
    """Have the browser forget a cookie."""
    response.del_cookie(
        cookie_name(settings, what), path="/", secure=settings.tls, httponly=True, samesite="Strict"
    )


def form_token(token: str) -> str:
    """What the forms of a session carry."""
    return hmac.digest(token.encode(errors="surrogatepass"), b"form", "sha256").hex()


#: Makes the tokens of forms that are shown before anybody has logged in.
BEFORE: web.AppKey[bytes] = web.AppKey("before", bytes)


def form_token_before(key: bytes, cookie: str) -> str:
    """What the forms carry that are shown before anybody has logged in."""
    return hmac.digest(key, cookie.encode(errors="surrogatepass"), "sha256").hex()


# --- the one-time link --------------------------------------------------------------------------


class OneTimeLink:
    """The link by which whoever started the page on loopback opens it, where there are no accounts: good once, and not for long."""

    def __init__(self) -> None:
        self._kept = b""
        self._made = -math.inf

    def fresh(self) -> str:
        """A new token; the one before is good no more."""
        token = secrets.token_urlsafe(32)
        self._kept, self._made = _kept(token), time.monotonic()
        return token

    @property
    def age(self) -> float:
        """Seconds since the last one was made that is still good; infinite where none is."""
        return time.monotonic() - self._made if self._kept else math.inf

    def take(self, token: str) -> bool:
        """Whether this is the one; from now on it is not."""
        good = bool(self._kept) and hmac.compare_digest(self._kept, _kept(token)) and self.age < LINK_SECONDS
        if good:
            self._kept = b""
        return good


LINK: web.AppKey[OneTimeLink] = web.AppKey("link", OneTimeLink)
#: Prints a one-time link where whoever started the page sees it.
TELL_LINK: web.AppKey[Callable[[str], str]] = web.AppKey("tell_link")
