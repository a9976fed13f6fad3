"""The page's own certificate: loaded, tried, and asked for the names that it is for."""

import asyncio
import contextlib
import ssl
from dataclasses import dataclass
from pathlib import Path

from pipeline.file_reading import SETTINGS_BYTES, check_regular, said_by
from pipeline.model.errors import InputProblem
from pipeline.model.message import Note, message


@dataclass(frozen=True)
class Certificate:
    """What a browser is shown, and the names and addresses that it is for."""

    context: ssl.SSLContext
    names: tuple[str, ...]


def certificate_of(certificate: Path, key: Path) -> Certificate:
    """A certificate with its key, for TLS 1.2 and later. Raises InputProblem where a browser would not take it."""
    for path in (certificate, key):
        _check_readable(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, certificate, key)
    return Certificate(context, _names(context, certificate))


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    try:
        # A key with a passphrase would have OpenSSL ask on the terminal; a server starts when nobody is there.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except ssl.SSLError as error:
        raise _unusable(certificate, key, error) from None
    except (OSError, ValueError) as error:
        problem = said_by(error) if isinstance(error, OSError) else message("it has a passphrase")
        raise InputProblem("{file}: can't be read ({problem})", file=str(key), problem=problem) from None


async def keep_fresh(shown: Certificate, certificate: Path, key: Path, note: Note, every: float = 30) -> None:
    """Show the certificate that was renewed in its place to whoever connects from then on; looked for every so many seconds."""
    known = _stamps(certificate, key)
    while True:
        await asyncio.sleep(every)
        if (found := _stamps(certificate, key)) == known:
            continue
        known = found
        try:
            await asyncio.to_thread(certificate_of, certificate, key)  # one half of the two may be new only
            _load(shown.context, certificate, key)
        except InputProblem as problem:
            note(message("The certificate before goes on being shown: {problem}", problem=problem.message))
        else:
            note(message("{certificate} was renewed, and is shown from now on", certificate=str(certificate)))


def _stamps(*paths: Path) -> list[tuple[int, int]]:
    stamps = []
    for path in paths:
        with contextlib.suppress(OSError):
            seen = path.stat()
            stamps.append((seen.st_ino, seen.st_mtime_ns))
    return stamps


def _check_readable(path: Path) -> None:
    try:
        check_regular(path, SETTINGS_BYTES)
        path.read_bytes()
    except OSError as error:
        raise InputProblem(
            "{file}: can't be read ({problem}); check the path and its permissions",
            file=str(path),
            problem=said_by(error),
        ) from None


def _unusable(certificate: Path, key: Path, error: ssl.SSLError) -> InputProblem:
    if error.reason == "KEY_VALUES_MISMATCH":
        return InputProblem(
            "{key}: is not the key of the certificate {certificate}; give the two that belong together",
            key=str(key),
            certificate=str(certificate),
        )
    return InputProblem(
        "{certificate} and {key}: are no certificate and key in PEM, or the key has a passphrase, or the key is too weak; give the"
        " certificate with its chain as one file and its key, without a passphrase, as another",
        certificate=str(certificate),
        key=str(key),
    )


def _names(context: ssl.SSLContext, certificate: Path) -> tuple[str, ...]:
    """The names in a certificate, as a client finds them that trusts it. Raises InputProblem where it is not valid now."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(certificate)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = context.wrap_bio(to_server, to_client, server_side=True)
    there = client.wrap_bio(to_client, to_server)
    try:
        for _ in range(4):  # a handshake's messages go back and forth (RFC 8446, 2)
            for side in (there, here):
                with contextlib.suppress(ssl.SSLWantReadError):
                    side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        raise InputProblem(
            "{certificate}: browsers will not take this certificate ({problem}); get another",
            certificate=str(certificate),
            problem=error.verify_message,
        ) from None
    found = there.getpeercert() or {}
    names = [str(entry[1]) for entry in found.get("subjectAltName", ())]
    if not names:
        raise InputProblem(
            "{certificate}: names no host (subjectAltName), so that browsers will not take it; get one with the name by which the page"
            " is called",
            certificate=str(certificate),
        )
    return tuple(name.lower() for name in names)
