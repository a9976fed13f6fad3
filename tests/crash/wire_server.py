"""The carrier's side of the wire as raw sockets, so that it can break every rule of HTTP.

A `Server` listens on loopback, one thread a connection, and does with each connection what its `talk`
says. A `Line` is one connection in the hands of that function. The `Log` is the server's own record,
made without the pipeline's documents or ledger: what reached it, and what it issued.
"""

import contextlib
import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pipeline.carrier.crypto import Cipher

API_KEY = "canary-api-key-5d20"
ENCRYPTION_KEY = "canary-encryption-key-c81e"
_RST = struct.pack("ii", 1, 0)  # a socket that lingers for no time at all is closed with an RST


@dataclass(frozen=True)
class Asked:
    """One whole request, as the carrier understands it."""

    voucher: str
    tickets: tuple[str, ...]
    head: bytes
    connection: int


@dataclass
class Log:
    """What one server saw and did; `touched` is the connection of each request of which a byte came."""

    touched: list[int] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    issued: list[tuple[str, str]] = field(default_factory=list)  # (ticket, number), in order
    answers: list[tuple[int, bytes]] = field(default_factory=list)  # whole ones: HTTP status, body
    heard: bytearray = field(default_factory=bytearray)  # everything that was read
    broken: list[str] = field(default_factory=list)  # defects of the server itself

    def numbers(self, ticket: str) -> list[str]:
        """The numbers that were issued for a ticket; more than one is what must never be."""
        return [number for issued, number in self.issued if issued == ticket]


@dataclass
class Turn:
    """Who is next, where something is to happen between two requests and not beside one."""

    client_idle: threading.Event = field(default_factory=threading.Event)
    carrier_done: threading.Event = field(default_factory=threading.Event)


class Line:
    """One connection, as a fault has it in hand. A method that meets a client that has gone raises OSError."""

    def __init__(self, connection: socket.socket, number: int, log: Log, turn: Turn) -> None:
        self.socket = connection
        self.number = number
        self.log = log
        self.turn = turn
        self.over = False
        self.said: bytearray | None = None  # what is sent from now on, where somebody wants to say it again
        self._got = b""

    def waits(self) -> bool:
        """Wait for the first byte of a request, leave it where it is, and count it; False: the client has gone."""
        if isinstance(self.socket, ssl.SSLSocket):  # which can't peek
            self._got = self._got or self._receive(1)
            if not self._got:
                return False
        elif not self._got and not self.socket.recv(1, socket.MSG_PEEK):
            return False
        self.log.touched.append(self.number)
        return True

    def looked_at(self) -> Asked | None:
        """The whole request that is next, left where it is; None if it never comes whole."""
        until = time.monotonic() + 5
        while time.monotonic() < until:
            if isinstance(self.socket, ssl.SSLSocket):
                data = self._got
            else:
                data = self._got + self.socket.recv(1 << 20, socket.MSG_PEEK)
            head, end, body = data.partition(b"\r\n\r\n")
            if end and len(body) >= (length := int(_header(head, b"content-length"))):
                sealed = json.loads(body[:length])
                return _asked(head, json.loads(Cipher(ENCRYPTION_KEY).open(sealed)), self.number)
            if isinstance(self.socket, ssl.SSLSocket):
                self._got += self._more()
            else:
                time.sleep(0.001)
        return None

    def read_some(self, count: int) -> None:
        """Read so many bytes of a request, and no more."""
        while count > 0 and (got := self._receive(count)):
            count -= len(got)

    def _receive(self, most: int = 65536) -> bytes:
        got = self.socket.recv(most)
        self.log.heard += got
        return got

    def read(self) -> Asked:
        """One whole request."""
        data = self._got
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, body = data.split(b"\r\n\r\n", 1)
        length = int(_header(head, b"content-length"))
        parts, have = [body], len(body)
        while have < length:
            parts.append(self._more())
            have += len(parts[-1])
        body, self._got = b"".join(parts)[:length], b"".join(parts)[length:]
        asked = _asked(head, json.loads(Cipher(ENCRYPTION_KEY).open(json.loads(body))), self.number)
        self.log.asked.append(asked)
        return asked

    def _more(self) -> bytes:
        got = self._receive()
        if not got:
            raise ConnectionResetError("the client closed within its request")
        return got

    def send(self, data: bytes) -> None:
        """Bytes as they are."""
        self.socket.sendall(data)
        if self.said is not None:
            self.said += data

    def answer(self, status: int, body: bytes, *headers: str) -> None:
        """A whole, well-formed answer; the log has it, so that the ledger's copy can be held against it."""
        self.log.answers.append((status, body))
        self.send(answer_bytes(status, body, *headers))

    def drip(self, data: bytes, pause: float) -> None:
        """One byte at a time."""
        for at in range(len(data)):
            self.send(data[at : at + 1])
            time.sleep(pause)

    def between_requests(self, act: Callable[[], None]) -> None:
        """Act when the client has taken the answer before and not begun its next request."""
        self.turn.client_idle.wait(20)
        try:
            act()
        finally:
            self.turn.carrier_done.set()

    def issue(self, asked: Asked, number: str) -> None:
        """Issue: from here on it must never happen again for these tickets."""
        self.log.issued.extend((ticket, number) for ticket in asked.tickets)

    def hold(self, most: float = 20) -> None:
        """Say nothing and read nothing until the client hangs up."""
        self.over = True
        watch = select.poll()
        watch.register(self.socket, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        watch.poll(most * 1000)

    def fin(self) -> None:
        """Close in order: no more comes from here; what still comes is read until the client has gone."""
        self.over = True
        socket.socket.shutdown(self.socket, socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while self._receive():
                pass

    def bye(self) -> None:
        """Close as TLS wants it, with a good-bye; without TLS it is a close."""
        if isinstance(self.socket, ssl.SSLSocket):
            self.over = True
            self.socket.unwrap().close()
        else:
            self.fin()

    def rst(self) -> None:
        """Reset."""
        self.over = True
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST)
        # An SSL socket's close() says good-bye first; the file descriptor's does not.
        socket.socket(fileno=self.socket.detach()).close()


def answer_bytes(status: int, body: bytes, *headers: str) -> bytes:
    """An HTTP/1.1 answer with a right Content-Length."""
    lines = [f"HTTP/1.1 {status} Said", *headers]
    if status not in (204, 304):  # which have no body and no length
        lines.insert(1, f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _header(head: bytes, name: bytes) -> bytes:
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return next(value.strip() for key, _, value in lines if key.lower() == name)


def _asked(head: bytes, document: dict[str, dict[str, object]], connection: int) -> Asked:
    """By the interface: the path names the operation, the document its tickets."""
    path = head.split(b" ")[1]
    if _header(head, b"apikey") != API_KEY.encode():
        raise AssertionError("a request without the key")
    if path.endswith(b"/itinerary/issueItinerary"):
        return Asked("itinerary", (str(document["issueItinerary"]["ticketNo"]),), head, connection)
    fees = document["issueInvoiceInfo"]["ticketFeeList"]
    assert isinstance(fees, list)
    return Asked("invoice", tuple(str(fee["ticketNo"]) for fee in fees), head, connection)


Talk = Callable[[Line], None]


class Server:
    """A listening socket; `talk` has each connection, in a thread of its own."""

    def __init__(
        self, talk: Talk, *, tls: ssl.SSLContext | None = None, receive_buffer: int = 0, backlog: int = 100
    ) -> None:
        self.log = Log()
        self.turn = Turn()
        self._talk = talk
        self._tls = tls
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listening = socket.socket()
        if receive_buffer:
            self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen(backlog)
        self.port: int = self._listening.getsockname()[1]
        self._start(self._accept)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def _start(self, work: Callable[..., None], *given: object) -> None:
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            number += 1
            self._start(self._serve, connection, number)

    def _serve(self, plain: socket.socket, number: int) -> None:
        connection = plain
        with self._lock:
            self._open.add(plain)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                secured = self._tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
                connection = secured
                with self._lock:
                    self._open.add(secured)
                secured.do_handshake()
            self._talk(Line(connection, number, self.log, self.turn))
        except OSError:
            pass  # the client's going away is part of the game
        except Exception as error:  # noqa: BLE001 - a defect here must fail the test, not pass for a fault
            self.log.broken.append(f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self._open -= {plain, connection}
            connection.close()
            plain.close()

    def stop_listening(self) -> None:
        """From now on connections are refused."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def close(self) -> None:
        """End every connection and wait for the threads."""
        self.stop_listening()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    # An SSLSocket's own shutdown() takes the TLS away from under the thread that uses it.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=10)
            if thread.is_alive():
                self.log.broken.append("a connection's thread does not end")


def told(talks: Sequence[Talk]) -> Talk:
    """One after the other on one connection, as long as it is open."""

    def talk(line: Line) -> None:
        for one in talks:
            if line.over or not line.waits():
                return
            one(line)

    return talk
