"""New mails of a folder on an IMAP server (RFC 3501), saved as files: read without marking them, and remembered once they are dealt with.

What is remembered is the folder's UIDVALIDITY and the highest UID whose mail was dealt with: a mail that comes later has a higher one, and
where UIDVALIDITY is another the old UIDs say nothing, so that all mails are read anew. A program that is killed before
`NewMails.dealt_with` reads them once more; a mail may come twice, never not at all.
"""

import contextlib
import imaplib
import json
import os
import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pipeline.file_reading import said_by, settings_text
from pipeline.file_writing import PRIVATE, place_over, private_folder, scratch_folder
from pipeline.itinerary_files import mail_parts
from pipeline.itinerary_files.container_bounds import LARGEST_MAIL, MIB, Seen
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.itinerary_file import FileStatus, FoundFile
from pipeline.model.message import Message, Private, message, system_error
from pipeline.model.profile import is_loopback
from pipeline.secret_keys import MAILBOX_PASSWORD, MailboxPassword

if TYPE_CHECKING:
    from imap_tools import BaseMailBox

#: Of one time: a folder of many years is read in several.
MOST_MAILS, MOST_BYTES = 10_000, 2048 * MIB
TIMEOUT_SECONDS = 60
#: A mail comes in pieces of so many bytes.
_PIECE = MIB
_SIZES_AT_ONCE = 500
_URL = re.compile(r"(imaps?)://(.+)@([^@/:\[\]\s]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?(?:/(.*))?")
_SIZE = re.compile(rb"UID (\d+)")
_QUOTED = re.compile(rb'BODY\[[A-Z]*\]<\d+> "((?:[^"\\]|\\.)*)"')
_BYTES = re.compile(rb"RFC822\.SIZE (\d+)")


@dataclass(frozen=True)
class Mailbox:
    """A folder of somebody's mails on a server."""

    host: str
    port: int
    user: str
    folder: str
    tls: bool

    def __str__(self) -> str:
        """Its address, without a password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"imap{'s' if self.tls else ''}://{self.user}@{host}:{self.port}/{self.folder}"


@dataclass(frozen=True)
class NewMails:
    """The mails that are new in a folder, each a file, in the order in which they came.

    `names` has for each file what people know the mail by: its subject and day. `passed_over` are findings about mails that are too large.
    `remaining`: so many more are new, for the next time.
    """

    files: tuple[Path, ...]
    names: dict[Path, str]
    passed_over: tuple[FoundFile, ...]
    remaining: int
    _seen: "_Seen" = field(repr=False)
    _state: Path = field(repr=False)

    def dealt_with(self) -> None:
        """Remember that these mails need not be read again: to be called when what is in them is kept. Raises Stop."""
        known = _known(self._state)
        last = known.get(self._seen.mailbox)
        if last and last[0] == self._seen.validity:  # another run may be further
            known[self._seen.mailbox] = (last[0], max(last[1], self._seen.last))
        else:
            known[self._seen.mailbox] = (self._seen.validity, self._seen.last)
        with _writing(self._state):
            private_folder(self._state.parent)
            with scratch_folder(self._state.parent) as scratch:
                fresh = scratch / "state"
                fresh.write_text(json.dumps(known), encoding="utf-8")
                place_over(fresh, self._state)


@dataclass(frozen=True)
class _Seen:
    """How far a mailbox was read."""

    mailbox: str
    validity: int
    last: int


def mailbox_at(url: str) -> Mailbox:
    """The mailbox that `imaps://user@host[:port]/FOLDER` names; without a folder, INBOX. User and folder may be percent-encoded.

    Raises InputProblem, which does not repeat what may hold a password.

    >>> mailbox_at("imaps://zhang@corp.example@imap.corp.example/行程单")
    Mailbox(host='imap.corp.example', port=993, user='zhang@corp.example', folder='行程单', tls=True)
    """
    if not (parts := _URL.fullmatch(url)):
        raise InputProblem(
            "--mailbox: must be imaps://user@host/FOLDER, such as imaps://finance@mail.example/INBOX"
        )
    scheme, user, host, port, folder = parts.groups()
    if ":" in user:
        raise InputProblem(
            "--mailbox: must not hold a password; put it into the environment variable {name}, or into the system keyring, and take it"
            " out of the address",
            name=MAILBOX_PASSWORD,
        )
    user, folder, host = unquote(user), unquote(folder or "") or "INBOX", host.strip("[]")
    if not (user.isprintable() and folder.isprintable()) or not 0 < int(port or 1) <= 65535:
        raise InputProblem(
            "--mailbox: must be imaps://user@host/FOLDER, such as imaps://finance@mail.example/INBOX"
        )
    tls = scheme == "imaps"
    if not tls and not is_loopback(f"imap://{parts[3]}"):
        raise InputProblem(
            "--mailbox: must begin with imaps: imap without TLS is accepted for this machine's loopback only"
        )
    return Mailbox(host, int(port or (993 if tls else 143)), user, folder, tls)


def fetch_new_mails(
    mailbox: Mailbox, password: MailboxPassword, state_path: Path, scratch: Path, ca_file: str = ""
) -> NewMails:
    """Save the mails that are new as files in a folder that is there already; the state stays as it is until they are dealt with.

    `ca_file`: the certificates that are trusted, where they are not the system's. Raises InputProblem where the mailbox can't be
    opened as it is named, Stop where the server can't be reached or breaks off.
    """
    known = _known(state_path).get(str(mailbox))
    try:
        with _opened(mailbox, password, ca_file) as server:
            validity, filled = _opened_folder(server, mailbox)
            last = known[1] if known and known[0] == validity else 0
            uids = _uids_after(server, last) if filled else []
            fetched = _Fetched(server.client, scratch)
            for uid, size in _sizes(server.client, uids[:MOST_MAILS]):
                if fetched.bytes and fetched.bytes + min(size, LARGEST_MAIL) > MOST_BYTES:
                    break
                last = uid
                fetched.fetch(uid, size)
    except _protocol_errors() as error:
        raise _broken_off(mailbox, error) from None
    except OSError as error:
        raise _unreachable(mailbox, error) from None
    return NewMails(
        tuple(fetched.names),
        fetched.names,
        tuple(fetched.passed_over),
        sum(uid > last for uid in uids),
        _Seen(str(mailbox), validity, last),
        state_path,
    )


class _Fetched:
    """Mails of a folder that is open, one after another."""

    def __init__(self, client: imaplib.IMAP4, scratch: Path) -> None:
        self._client, self._scratch = client, scratch
        self.names: dict[Path, str] = {}
        self.passed_over: list[FoundFile] = []
        self.bytes = 0

    def fetch(self, uid: int, size: int) -> None:
        """Save a mail, or note that it is passed over; one that is gone by now is neither."""
        path = self._scratch / f"{uid}.eml"
        if size <= LARGEST_MAIL and (head := self._save(uid, path)) is not None:
            if head:
                self.names[path] = _name(head, uid)
            return
        path.unlink(missing_ok=True)
        name = _name(next(_pieces(self._client, uid, "BODY.PEEK[HEADER]", 1 << 16), b""), uid)
        too_large = Message(Seen.LARGE_MAIL, {"most": LARGEST_MAIL // MIB})
        self.passed_over.append(FoundFile((name,), problem=FileStatus.UNREADABLE, reason=too_large))

    def _save(self, uid: int, path: Path) -> bytes | None:
        """A mail's first bytes, b"" where it is gone; None where it is larger than the server has said, and than it may be."""
        head, written = b"", 0
        with _writing(path):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
        with os.fdopen(handle, "wb") as file:
            for piece in _pieces(self._client, uid, "BODY.PEEK[]", _PIECE):
                head = head or piece[: mail_parts.HEAD_BYTES]
                written += len(piece)
                if written > LARGEST_MAIL:
                    return None
                with _writing(path):
                    file.write(piece)
                    file.flush()
        self.bytes += written
        if not written:
            path.unlink()
        return head


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """What goes wrong here is not the server's doing. Raises Stop."""
    try:
        yield
    except OSError as error:
        raise Stop(
            "{file}: can't be written ({problem}); free disk space or mend the disk, then run again: the mails are read once more",
            file=str(path),
            problem=said_by(error),
        ) from None


def _uids_after(server: "BaseMailBox", last: int) -> list[int]:
    """The UIDs that are higher, in their order. `n:*` names the last mail even where n is beyond it (RFC 3501 6.4.8)."""
    try:
        return sorted(uid for uid in map(int, server.uids(f"UID {last + 1}:*", charset=None)) if uid > last)
    except ValueError:
        raise imaplib.IMAP4.error("SEARCH") from None


def _pieces(client: imaplib.IMAP4, uid: int, what: str, size: int) -> Iterator[bytes]:
    """A mail, or a part of it, piece by piece (RFC 3501 6.4.5: partial); nothing of one that is gone."""
    at = 0
    while True:
        answer = client.uid("FETCH", str(uid), f"({what}<{at}.{size}>)")
        piece = next(filter(None, map(_string, _answered(answer))), b"")
        if piece:
            yield piece
        at += len(piece)
        if len(piece) < size:
            return


def _string(answered: Any) -> bytes:
    """What a part of an answer holds of a mail: a literal, or a short quoted string (RFC 3501 4.3); nothing where it is no such part."""
    if isinstance(answered, tuple):
        return bytes(answered[1])
    quoted = _QUOTED.search(answered) if isinstance(answered, bytes) else None
    return re.sub(rb"\\(.)", rb"\1", quoted[1]) if quoted else b""


def _sizes(client: imaplib.IMAP4, uids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each mail's size in bytes as the server says it, 0 where it says none, as of one that is gone by now."""
    for at in range(0, len(uids), _SIZES_AT_ONCE):
        some, sizes = uids[at : at + _SIZES_AT_ONCE], dict[int, int]()
        for line in _answered(client.uid("FETCH", ",".join(map(str, some)), "(RFC822.SIZE)")):
            uid, size = (
                (re.search(line) for re in (_SIZE, _BYTES)) if isinstance(line, bytes) else (None, None)
            )
            if uid and size:
                sizes[int(uid[1])] = int(size[1])
        yield from ((uid, sizes.get(uid, 0)) for uid in some)


def _answered(answer: tuple[str, list[Any]]) -> list[Any]:
    """What a server answers. Raises imaplib.IMAP4.error for a no."""
    status, data = answer
    if status != "OK":
        raise imaplib.IMAP4.error(status)
    return data


def _name(head: bytes, uid: int) -> str:
    """What people know a mail by."""
    mail = mail_parts.headers(head)
    return " ".join(filter(None, (mail_parts.subject(mail) or f"#{uid}", mail_parts.day(mail))))


def _opened_folder(server: "BaseMailBox", mailbox: Mailbox) -> tuple[int, bool]:
    """Open the folder for reading alone: its UIDVALIDITY, and whether any mail is in it. Raises InputProblem."""
    from imap_tools.errors import MailboxFolderSelectError  # noqa: PLC0415 - of an optional extra

    try:
        _, (exist,) = server.folder.set(mailbox.folder, readonly=True)
    except MailboxFolderSelectError as error:
        raise InputProblem(
            "{mailbox}: the folder {folder} can't be opened ({said}); check how it is called on the server",
            mailbox=str(mailbox),
            folder=mailbox.folder,
            said=_said(error.command_result),
        ) from None
    _, found = server.client.response("UIDVALIDITY")
    if not found or not (found[0] or b"").isdigit():
        raise imaplib.IMAP4.error("UIDVALIDITY")
    return int(found[0]), int(exist or 0) > 0


@contextlib.contextmanager
def _opened(mailbox: Mailbox, password: MailboxPassword, ca_file: str) -> "Iterator[BaseMailBox]":
    """The server, with somebody logged in. Raises InputProblem and OSError."""
    server = _connected(mailbox, ca_file)
    try:
        _log_in(server, mailbox, password)
        if "ID" in server.client.capabilities:  # without it NetEase's servers open no folder (RFC 2971)
            with contextlib.suppress(imaplib.IMAP4.error):
                server.client.xatom("ID", '("name" "voucher-pipeline")')
        yield server
    finally:
        with contextlib.suppress(OSError, *_protocol_errors()):
            server.logout()
        with contextlib.suppress(OSError):  # a server that breaks off leaves the socket open
            server.client.shutdown()


def _connected(mailbox: Mailbox, ca_file: str) -> "BaseMailBox":
    try:
        import imap_tools  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise InputProblem(
            "--mailbox: needs the extra {extra}; install it with: pip install 'voucher-pipeline[mailbox]'",
            extra="mailbox",
        ) from None
    if not mailbox.tls:
        return imap_tools.MailBoxUnencrypted(mailbox.host, mailbox.port, TIMEOUT_SECONDS)
    try:
        trusted = ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:
        raise InputProblem(
            "{file}: can't be read as certificates ({problem}); check ca_file under [carrier]",
            file=ca_file,
            problem=system_error(error),
        ) from None
    trusted.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        return imap_tools.MailBox(mailbox.host, mailbox.port, TIMEOUT_SECONDS, ssl_context=trusted)
    except ssl.SSLCertVerificationError as error:
        raise InputProblem(
            "{mailbox}: the server's certificate is not trusted ({problem}); check the host's name; where the office has a certificate"
            " authority of its own, name its file as ca_file under [carrier]",
            mailbox=str(mailbox),
            problem=error.verify_message,
        ) from None


def _log_in(server: "BaseMailBox", mailbox: Mailbox, password: MailboxPassword) -> None:
    """Raises InputProblem, without a word of the server's: it may repeat what it was sent."""
    log_in = server.login if (mailbox.user + password.text).isascii() else server.login_utf8
    try:
        log_in(mailbox.user, password.text, None)
    except imaplib.IMAP4.abort:
        raise
    except _protocol_errors():
        raise InputProblem(
            "{mailbox}: the server refused the login; check the user's name, and the password in {name}: many providers want one"
            " that is made for programs, and IMAP switched on in the mailbox's settings",
            mailbox=str(mailbox),
            name=MAILBOX_PASSWORD,
        ) from None


def _protocol_errors() -> tuple[type[Exception], ...]:
    """What is raised where a server says no, or what can't be understood."""
    with contextlib.suppress(ImportError):
        from imap_tools.errors import ImapToolsError  # noqa: PLC0415 - of an optional extra

        return (imaplib.IMAP4.error, ImapToolsError)
    return (imaplib.IMAP4.error,)


def _broken_off(mailbox: Mailbox, error: Exception) -> Stop:
    return Stop(
        "{mailbox}: the server broke off, or said what can't be understood ({problem}); run the same command again",
        mailbox=str(mailbox),
        problem=type(error).__name__,
    )


def _unreachable(mailbox: Mailbox, error: OSError) -> Stop:
    return Stop(
        "{mailbox}: the server can't be reached ({problem}); check host, port and connection, then run the same command again",
        mailbox=str(mailbox),
        problem=system_error(error),
    )


def _said(result: tuple[str, Sequence[object]]) -> Private:
    """What a server said of a folder."""
    return Private(" ".join(one.decode("utf-8", "replace") for one in result[1] if isinstance(one, bytes)))


def _known(path: Path) -> dict[str, tuple[int, int]]:
    """UIDVALIDITY and last UID of each mailbox that the state names; nothing where there is no state yet. Raises InputProblem."""
    try:
        state = json.loads(settings_text(path))
        return {str(mailbox): (int(validity), int(last)) for mailbox, (validity, last) in state.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        problem = said_by(error)
    except (ValueError, TypeError, AttributeError):
        problem = message("it is not as this program writes it")
    raise InputProblem(
        "{file}: can't be read ({problem}); check its permissions, or delete it: all mails of the folder are read anew then",
        file=str(path),
        problem=problem,
    )
