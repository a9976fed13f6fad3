"""Ways in which a carrier can't be reached: name, network, connection, TLS, proxy. Nothing may arrive anywhere.

Each `Way` is a context that gives the address (and proxy, and trusted certificates) of a carrier that
no request can reach, and the logs of everything that listened meanwhile.
"""

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.crash.wire_answers import good
from tests.crash.wire_server import Line, Log, Server, Talk, told


@dataclass
class Address:
    """Where the program is told that its carrier is."""

    base_url: str
    proxy: str = ""
    ca_file: str = ""
    logs: list[Log] = field(default_factory=list)


@dataclass(frozen=True)
class Way:
    """One row: what is in the way; `state` is not_sent but for the controls and what happens after the hello; either: that or unknown."""

    name: str
    opened: Callable[[Path], AbstractContextManager[Address]]
    state: str = "not_sent"
    reason: tuple[str, ...] = ("carrier_unreachable",)


@cache
def certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate for that name, with its key, made by openssl."""
    path = folder / f"{name.replace(':', '_')}.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=carrier",
    ]
    command += ["-addext", f"subjectAltName={name}", "-keyout", str(path), "-out", f"{path}.crt"]
    subprocess.run(command, check=True, capture_output=True)
    with path.open("a") as file:
        file.write(Path(f"{path}.crt").read_text())
    return path


@cache
def expired(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1 of January 2020, with its key; by `openssl ca`, which takes any dates."""
    (folder / "ca.cnf").write_text(
        "[ca]\ndefault_ca = own\n[own]\ndatabase = index\nserial = serial\nnew_certs_dir = .\ndefault_md = sha256\n"
        "policy = any\nx509_extensions = names\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = IP:127.0.0.1\n"
    )
    (folder / "index").touch()
    (folder / "serial").write_text("01\n")
    signing = (
        "-selfsign",
        "-keyfile",
        "key.pem",
        "-startdate",
        "20200101000000Z",
        "-enddate",
        "20200201000000Z",
    )
    for command in (
        ("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", "key.pem"),
        ("req", "-new", "-key", "key.pem", "-subj", "/CN=carrier", "-out", "wanted"),
        (
            "ca",
            "-batch",
            "-config",
            "ca.cnf",
            *signing,
            "-in",
            "wanted",
            "-out",
            "expired.pem.crt",
            "-notext",
        ),
    ):
        subprocess.run(("openssl", *command), cwd=folder, check=True, capture_output=True)
    path = folder / "expired.pem"
    path.write_text((folder / "key.pem").read_text() + (folder / "expired.pem.crt").read_text())
    return path


def secured(
    pem: Path, *, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, wants_client: bool = False
) -> ssl.SSLContext:
    """A server's side of TLS with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    context.maximum_version = newest
    if wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(pem)
    return context


def _own(folder: Path) -> Path:
    return certificate(folder, "IP:127.0.0.1")


def _accepts(line: Line) -> None:
    """Serve whatever comes, as a carrier should: what does come is in the log."""
    told([good] * 100)(line)


def _raw(data: bytes, end: Callable[[Line], None]) -> Talk:
    """Before anything is understood: these bytes, then the end."""

    def talk(line: Line) -> None:
        line.read_some(1)
        line.send(data)
        end(line)

    return talk


@contextmanager
def _plain(_: Path, talk: Talk, scheme: str = "http") -> Iterator[Address]:
    with contextlib.closing(Server(talk)) as server:
        yield Address(f"{scheme}://127.0.0.1:{server.port}", logs=[server.log])


@contextmanager
def _tls(
    folder: Path, pem: Callable[[Path], Path], talk: Talk = _accepts, *, trusted: bool = True, **more: Any
) -> Iterator[Address]:
    path = pem(folder)
    with contextlib.closing(Server(talk, tls=secured(path, **more))) as server:
        yield Address(server.url, ca_file=f"{path}.crt" if trusted else "", logs=[server.log])


@contextmanager
def _refused(_: Path) -> Iterator[Address]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield Address(f"http://127.0.0.1:{free.getsockname()[1]}")


@contextmanager
def _named(_: Path, url: str) -> Iterator[Address]:
    yield Address(url)


@contextmanager
def _full(_: Path) -> Iterator[Address]:
    """A backlog that is full, so that no further connection is made."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _n in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        yield Address(f"http://127.0.0.1:{full.getsockname()[1]}")


@contextmanager
def _proxied(folder: Path, proxy: Talk | None) -> Iterator[Address]:
    """A carrier behind a proxy that does this; the carrier itself is well."""
    with ExitStack() as stack:
        carrier = stack.enter_context(_tls(folder, _own))
        logs = list(carrier.logs)
        if proxy is None:
            between = stack.enter_context(_refused(folder)).base_url
        else:
            server = stack.enter_context(contextlib.closing(Server(proxy)))
            between = server.url
            server.log.touched = _Uncounted()  # a CONNECT is no request
            logs.append(server.log)
        yield Address(carrier.base_url, between, carrier.ca_file, logs)


class _Uncounted(list[int]):
    def append(self, _: int) -> None:
        pass


def _connect_answered(data: bytes, end: Callable[[Line], None]) -> Talk:
    def talk(line: Line) -> None:
        _read_head(line)
        line.send(data)
        end(line)

    return talk


def _read_head(line: Line) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line.read_some(1)
        if head == (head := bytes(line.log.heard)):
            raise ConnectionError("the client hung up in the middle of a head")
    return head


def _tunnel(line: Line) -> None:
    """A proxy that works: the control."""
    port = int(_read_head(line).split(b" ")[1].split(b":")[1])
    with socket.create_connection(("127.0.0.1", port)) as carrier:
        line.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=_copy, args=(carrier, line.socket), daemon=True)
        back.start()
        _copy(line.socket, carrier)
        back.join(5)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        finally:  # after a reset too
            target.shutdown(socket.SHUT_WR)


def _reads_then(end: Callable[[Line], None]) -> Talk:
    def talk(line: Line) -> None:
        if line.waits():
            asked = line.read()
            line.issue(asked, "5" * 20)
            end(line)

    return talk


def _waits_then(end: Callable[[Line], None]) -> Talk:
    def talk(line: Line) -> None:
        if line.waits():
            end(line)

    return talk


def ways() -> list[Way]:
    """All of them."""
    unknown = ("unknown", ("no_answer", "answer_unreadable"))
    established = b"HTTP/1.1 200 Connection established\r\n\r\n"
    wrong = partial(certificate, name="DNS:another.invalid")
    ends = {"silence": Line.hold, "a close": Line.fin, "a reset": Line.rst}
    replies = {
        "403": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "407": b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno",
        "502": b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n",
        "401": b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "404": b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        "429": b"HTTP/1.1 429 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", "garbage": b"garbage\r\n\r\n", "half a status line": b"HTTP/1.1 20",
        "endless headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000, "a tunnel to nothing": established, "a tunnel to plain http": established + b"HTTP/1.1 400 Bad\r\n\r\n",
    }  # fmt: skip
    return [
        Way("the connection is refused", _refused),
        Way("the name does not resolve", partial(_named, url="http://carrier.invalid")),
        Way("the name is too long to be one", partial(_named, url=f"http://{'a' * 70}.invalid")),
        Way("the name has an empty part", partial(_named, url="http://a..invalid")),
        Way("the port can't be", partial(_named, url="http://127.0.0.1:0")),
        Way("the connection is not made in time", _full),
        Way("https: it speaks plain http", partial(_plain, talk=_raw(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", Line.fin), scheme="https")),
        Way("https: it speaks garbage", partial(_plain, talk=_raw(bytes(range(256)), Line.fin), scheme="https")),
        Way("https: it answers with an alert", partial(_plain, talk=_raw(b"\x15\x03\x03\x00\x02\x02\x28", Line.fin), scheme="https")),
        *(Way(f"https: {name} in the handshake", partial(_plain, talk=_raw(b"", end), scheme="https")) for name, end in ends.items()),
        *(Way(f"https: {name} before the handshake", partial(_plain, talk=end, scheme="https")) for name, end in ends.items()),
        Way("https: the certificate is nobody's", partial(_tls, pem=_own, trusted=False)),
        Way("https: the certificate is another host's", partial(_tls, pem=wrong)),
        Way("https: a client's certificate is wanted, TLS 1.2",
            partial(_tls, pem=_own, newest=ssl.TLSVersion.TLSv1_2, wants_client=True)),
        # In TLS 1.3 the refusal comes after the handshake, just before the request leaves or just after.
        Way("https: a client's certificate is wanted, TLS 1.3", partial(_tls, pem=_own, wants_client=True), "either", ("carrier_unreachable", *unknown[1])),
        *(Way(f"https: {name} before the request is read", partial(_tls, pem=_own, talk=_waits_then(end)), *unknown) for name, end in ends.items()),
        *(Way(f"https: {name} after the request", partial(_tls, pem=_own, talk=_reads_then(end)), *unknown) for name, end in ends.items()),
        Way("https as it should be, the control", partial(_tls, pem=_own), "issued", ()),
        Way("the proxy is not there", partial(_proxied, proxy=None)),
        *(Way(f"the proxy: {name} before it answers", partial(_proxied, proxy=_connect_answered(b"", end))) for name, end in ends.items()),
        *(Way(f"the proxy says {name}", partial(_proxied, proxy=_connect_answered(data, Line.fin))) for name, data in replies.items()),
        Way("the proxy says 200 and nothing more", partial(_proxied, proxy=_connect_answered(established, Line.hold))),
        Way("the proxy says 200 and resets", partial(_proxied, proxy=_connect_answered(established, Line.rst))),
        Way("a proxy as it should be, the control", partial(_proxied, proxy=_tunnel), "issued", ()),
    ]  # fmt: skip
