"""Faults of the connection and of HTTP itself: silence, resets, broken framing, redirects, stale answers."""

import gzip
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from tests.crash.wire_answers import envelope, good, number_of, result, sealed, yes
from tests.crash.wire_fault import (
    BOTH,
    BROKEN_OFF,
    NO_ANSWER,
    UNEXPLAINED,
    UNREADABLE,
    Fault,
    http,
    says,
    sends,
)
from tests.crash.wire_server import Asked, Line, answer_bytes

ENDS: dict[str, Callable[[Line], None]] = {"stall": Line.hold, "close": Line.fin, "reset": Line.rst}
_ANY = (*BROKEN_OFF, *UNEXPLAINED)


def _unread(line: Line) -> None:
    """Nothing is read of the request that has come."""


def _half_read(line: Line) -> None:
    line.read_some(200)


def _read(line: Line) -> None:
    asked = line.read()
    line.issue(asked, number_of(asked))


def _part(cut: Callable[[bytes], int]) -> Callable[[Line], None]:
    """The request is read and granted, and its answer begun."""

    def play(line: Line) -> None:
        asked = line.read()
        line.issue(asked, number_of(asked))
        whole = answer_bytes(200, yes(asked), "Content-Type: application/json")
        line.send(whole[: cut(whole)])

    return play


def _chunked_half(line: Line) -> None:
    asked = line.read()
    line.issue(asked, number_of(asked))
    line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + _chunks(yes(asked), 16)[:90])


POINTS: dict[str, tuple[Callable[[Line], None], tuple[str, ...]]] = {
    "before the request is read": (_unread, NO_ANSWER),
    "within the request": (_half_read, NO_ANSWER),
    "after the request": (_read, NO_ANSWER),
    "within the status line": (_part(lambda _: 6), BROKEN_OFF),
    "after the status line": (_part(lambda whole: whole.index(b"\n") + 1), BROKEN_OFF),
    "within the headers": (_part(lambda whole: whole.index(b"Length") + 3), BROKEN_OFF),
    "after the headers": (_part(lambda whole: whole.index(b"\r\n\r\n") + 4), BROKEN_OFF),
    "within the body": (_part(lambda whole: len(whole) - 40), BROKEN_OFF),
    "one byte before the end": (_part(lambda whole: len(whole) - 1), BROKEN_OFF),
    "within a chunk": (_chunked_half, BROKEN_OFF),
}


def ends() -> Iterator[Fault]:
    """Each point of an exchange at which the carrier may fall silent, close or reset."""
    for point, (until, reason) in POINTS.items():
        for how, end in ENDS.items():

            def play(
                line: Line, until: Callable[[Line], None] = until, end: Callable[[Line], None] = end
            ) -> None:
                until(line)
                end(line)

            fault = Fault(f"{how} {point}", play, "unknown", reason, stalls=how == "stall")
            yield fault
            if until in (_unread, _half_read):
                yield replace(fault, name=f"{fault.name}, a large one", big=True, vouchers=("invoice",))


def _chunks(body: bytes, size: int, extension: str = "") -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return (
        b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension.encode(), part) for part in parts) + b"0\r\n\r\n"
    )


def _chunked(change: Callable[[bytes], bytes] = bytes, *headers: str) -> Callable[[Asked], bytes]:
    head = "\r\n".join(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *headers]).encode() + b"\r\n\r\n"
    return lambda asked: head + change(_chunks(yes(asked), 50))


def _headed(head: str) -> Callable[[Asked], bytes]:
    """A success under this head; `{n}` is its right length."""
    return lambda asked: (
        head.replace("{n}", str(len(yes(asked)))).encode("latin-1") + b"\r\n\r\n" + yes(asked)
    )


def lengths() -> list[Fault]:
    """Content-Length and chunks that are wrong; and right, as the control."""
    ok = "HTTP/1.1 200 OK\r\n"
    unknown = ("unknown", _ANY)
    return [
        sends("a length too long, then closed", _headed(f"{ok}Content-Length: 9999"), *unknown),
        sends("a length too long, then silence", _headed(f"{ok}Content-Length: 9999"), *unknown, end=Line.hold, stalls=True),
        sends("a length too short", _headed(f"{ok}Content-Length: 20"), *unknown, end=None),
        sends("a length of nothing", _headed(f"{ok}Content-Length: 0"), *unknown, end=None),
        *(sends(f"the length {text!r:.40}", _headed(f"{ok}Content-Length: {text}"), *unknown)
          for text in ("-5", "many", "1e2", "0x20", "5,7", "", "9" * 40, "{n}.0", "{n} {n}")),
        sends("the length with a plus sign", _headed(f"{ok}Content-Length: +{{n}}"), "issued", _ANY, lenient=True),
        sends("the length twice", _headed(f"{ok}Content-Length: {{n}}\r\nContent-Length: {{n}}"), "issued", _ANY, lenient=True),
        sends("two lengths, right and wrong", _headed(f"{ok}Content-Length: {{n}}\r\nContent-Length: 7"), *unknown),
        sends("two lengths, wrong and right", _headed(f"{ok}Content-Length: 7\r\nContent-Length: {{n}}"), *unknown),
        sends("a length and chunks", _chunked(bytes, "Content-Length: 5"), "issued", _ANY, lenient=True),
        sends("no length, until it closes", _headed("HTTP/1.1 200 OK\r\nConnection: close"), "issued"),
        sends("no length, cut", lambda asked: _headed("HTTP/1.1 200 OK\r\nConnection: close")(asked)[:-30], *unknown),
        sends("no length, reset", _headed("HTTP/1.1 200 OK\r\nConnection: close"), "issued", _ANY, lenient=True, end=Line.rst),
        sends("no length, then silence", _headed("HTTP/1.1 200 OK"), *unknown, end=Line.hold, stalls=True),
        sends("chunks", _chunked(), "issued", end=None),
        sends("chunks with extensions", lambda asked: _chunked(lambda _: _chunks(yes(asked), 30, ";a=b"))(asked), "issued", end=None),
        sends("chunks with trailers", _chunked(lambda c: c[:-2] + b"Checked: yes\r\n\r\n"), "issued", end=None),
        sends("chunks of one byte", lambda asked: _chunked(lambda _: _chunks(yes(asked), 1))(asked), "issued", end=None),
        sends("a chunk size that is none", _chunked(lambda c: b"zz" + c[2:]), *unknown),
        sends("a negative chunk size", _chunked(lambda c: b"-1" + c[2:]), *unknown),
        sends("an immense chunk size", _chunked(lambda c: b"f" * 30 + c), *unknown),
        sends("a chunk without its line end", _chunked(lambda c: c.replace(b"\r\n32", b"32", 1)), *unknown),
        sends("chunks without the last, closed", _chunked(lambda c: c[:-5]), *unknown),
        sends("chunks without the last, reset", _chunked(lambda c: c[:-5]), *unknown, end=Line.rst),
        sends("chunks without the last, silence", _chunked(lambda c: c[:-5]), *unknown, end=Line.hold, stalls=True),
        sends("chunks ended before their time", _chunked(lambda c: c[:54] + b"0\r\n\r\n"), *unknown),
        sends("an unknown transfer encoding", _headed(f"{ok}Transfer-Encoding: sealed"), "issued", _ANY, lenient=True),
    ]  # fmt: skip


@cache
def _bomb() -> bytes:
    """100 MB of nothing in 100 KB."""
    return gzip.compress(bytes(1_000_000), 9) * 100


def encodings() -> list[Fault]:
    """Content-Encoding and charset."""

    def as_encoding(
        name: str, encoding: str, make: Callable[[Asked], bytes], *expected: Any, **more: Any
    ) -> Fault:
        return sends(name, http(make, f"Content-Encoding: {encoding}"), *expected, **more)

    unknown = ("unknown", _ANY)
    return [
        as_encoding("gzip", "gzip", lambda asked: gzip.compress(yes(asked)), "issued", end=None),
        as_encoding("deflate", "deflate", lambda asked: zlib.compress(yes(asked)), "issued", end=None),
        as_encoding("gzip that is not gzip", "gzip", yes, *unknown, end=None),
        as_encoding("gzip of other bytes", "gzip", lambda _: bytes(range(256)), *unknown, end=None),
        as_encoding("gzip that is cut, its length right", "gzip", lambda asked: gzip.compress(yes(asked))[:60], *unknown, end=None),
        as_encoding("gzip without its checksum", "gzip", lambda asked: gzip.compress(yes(asked))[:-8], "issued", _ANY, lenient=True, end=None),
        as_encoding("gzip with a wrong checksum", "gzip", lambda asked: gzip.compress(yes(asked))[:-8] + bytes(8), *unknown, end=None),
        as_encoding("a gzip bomb", "gzip", lambda _: _bomb(), *unknown),
        as_encoding("brotli that is none", "br", lambda _: b"\x8b\x02\x80nothing", *unknown, end=None),
        as_encoding("zstd that is none", "zstd", lambda _: b"\x28\xb5\x2f\xfdnothing", *unknown, end=None),
        as_encoding("an unknown encoding, plain in truth", "sealed", yes, "issued", _ANY, lenient=True, end=None),
        says("a charset that is none", yes, "issued", headers=("Content-Type: application/json; charset=nonsense",)),
        says("a charset that it is not in", yes, "issued", headers=("Content-Type: application/json; charset=utf-16",)),
        says("the type of a page", yes, "issued", headers=("Content-Type: text/html",)),
        says("no type at all, and a cookie", yes, "issued", headers=("Set-Cookie: a=b",)),
    ]  # fmt: skip


def _bytes(data: bytes, _: Asked) -> bytes:
    return data


def framing() -> list[Fault]:
    """What is no HTTP, is hardly HTTP, or is an odd piece of it."""
    unknown = ("unknown", _ANY)
    length = "Content-Length: {n}"
    heads = ["HTTP/1.1 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK", "HTTP/1.1 -200 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 ２００ OK",
             "FTP/1.1 200 OK", "HTTP/x.y 200 OK", "HTTP/1.1200 OK", "200 OK"]  # fmt: skip
    lenient = {
        "no reason phrase": f"HTTP/1.1 200\r\n{length}", "HTTP/1.2": f"HTTP/1.2 200 OK\r\n{length}", "HTTP/3.7": f"HTTP/3.7 200 OK\r\n{length}",
        "HTTP/2.0 in text": f"HTTP/2.0 200 OK\r\n{length}", "lower case": f"http/1.1 200 OK\r\n{length}", "a folded header": f"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n{length}",
        "a header without a colon": f"HTTP/1.1 200 OK\r\nNothing\r\n{length}", "a header without a name": f"HTTP/1.1 200 OK\r\n: x\r\n{length}",
        "a space before the colon": "HTTP/1.1 200 OK\r\nContent-Length : {n}", "a zero byte in a header": f"HTTP/1.1 200 OK\r\nX: a\0b\r\n{length}",
        "bare line feeds": f"HTTP/1.1 200 OK\nX: y\n{length}", "bytes over 127 in a header": f"HTTP/1.1 200 OK\r\nX: \xff\xfe\r\n{length}",
        "an empty line before the status": f"\r\nHTTP/1.1 200 OK\r\n{length}", "a Trailer and an Upgrade header": f"HTTP/1.1 200 OK\r\nTrailer: x\r\nUpgrade: h2c\r\n{length}",
        "an upgrade that is asked for": f"HTTP/1.1 200 OK\r\nConnection: upgrade\r\nUpgrade: websocket\r\n{length}",
    }  # fmt: skip
    garbage = {
        "garbage": bytes(range(1, 256)) * 4, "zero bytes": bytes(400), "HTTP/0.9": None, "an HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/2 settings": b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64\0\x04\0\x10\0\0\0\x06\0\x01\0\0", "an SSH greeting": b"SSH-2.0-OpenSSH_9.7\r\n",
        "a TLS alert": b"\x15\x03\x01\0\x02\x02\x28", "a request": b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "an empty line": b"\r\n\r\n",
    }  # fmt: skip
    return [
        *(sends(name, partial(_bytes, data) if data is not None else yes, *unknown) for name, data in garbage.items()),
        *(sends(f"the status line {head!r}", _headed(f"{head}\r\n{length}".encode().decode("latin-1")), *unknown) for head in heads),
        *(sends(name, _headed(head), "issued", _ANY, lenient=True) for name, head in lenient.items()),
        sends("HTTP/1.0", _headed("HTTP/1.0 200 OK"), "issued"),
        sends("HTTP/1.0 with a length", _headed(f"HTTP/1.0 200 OK\r\n{length}"), "issued"),
        sends("HTTP/1.0 that is kept alive", _headed(f"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n{length}"), "issued", end=None),
        sends("200 headers", _headed("HTTP/1.1 200 OK\r\n" + "X: y\r\n" * 200 + length), "issued", _ANY, lenient=True),
        sends("one header of 200 KB", _headed(f"HTTP/1.1 200 OK\r\nX: {'y' * 200_000}\r\n{length}"), *unknown),
        sends("a reason phrase of 200 KB", _headed(f"HTTP/1.1 200 {'O' * 200_000}\r\n{length}"), *unknown),
        Fault("endless headers", partial(_endless, b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "unknown", _ANY, stalls=True),
        Fault("one endless header", partial(_endless, b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1000), "unknown", _ANY, stalls=True),
        Fault("an endless status line", partial(_endless, b"HTTP/1.1 200 ", b"O" * 1000), "unknown", _ANY, stalls=True),
        Fault("an endless body", partial(_endless, b"HTTP/1.1 200 OK\r\n\r\n", b" " * 1000), "unknown", _ANY, stalls=True),
        Fault("endless chunks", partial(_endless, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), "unknown", _ANY, stalls=True),
        Fault("endless chunk extensions", partial(_endless, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x" * 500), "unknown", _ANY, stalls=True),
        Fault("an endless 429", partial(_endless, b"HTTP/1.1 429 Busy\r\n\r\n", b" " * 1000, issues=False), "unknown", _ANY, stalls=True),
        Fault("endless 100s", partial(_endless, b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "unknown", _ANY, stalls=True),
        sends("a body one byte over the bound", http(lambda asked: yes(asked).ljust(64 * 1024 + 1)), "unknown", UNREADABLE, end=None),
        sends("a body of 5 MB", http(lambda asked: yes(asked).ljust(5_000_000)), "unknown", UNREADABLE),
    ]  # fmt: skip


def _endless(start: bytes, more: bytes, line: Line, *, issues: bool = True) -> None:
    """Bounded by 100 MB and by the client's patience; in portions, so that the sockets' buffers are small."""
    asked = line.read()
    if issues:
        line.issue(asked, number_of(asked))
    line.over = True
    line.send(start)
    portion = more * (8000 // len(more))
    for _ in range(100_000_000 // len(portion)):
        line.send(portion)
        time.sleep(0.0005)


def interim() -> list[Fault]:
    """1xx answers before the answer, or instead of one."""

    def then(name: str, before: bytes) -> Fault:
        return sends(name, lambda asked: before + answer_bytes(200, yes(asked)), "issued", end=None)

    only = b"HTTP/1.1 100 Continue\r\n\r\n"
    return [
        then("100, then the answer", only), then("102, then the answer", b"HTTP/1.1 102 Processing\r\n\r\n"),
        then("103, then the answer", b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"),
        then("199, then the answer", b"HTTP/1.1 199 Odd\r\n\r\n"), then("1,000 times 100, then the answer", only * 1000),
        sends("101 and a success", lambda asked: b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
              + answer_bytes(200, yes(asked)), "unknown", _ANY),
        sends("101 and silence", lambda _: b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "unknown", _ANY,
              end=Line.hold, stalls=True),
        *(sends(f"only a 100, then {how}", lambda _: only, "unknown", BROKEN_OFF, end=end, stalls=how == "stall") for how, end in ENDS.items()),
        sends("100 with a body, then the answer", lambda asked: b"HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\n{}" + answer_bytes(200, yes(asked)),
              "issued", _ANY, lenient=True, end=None),
    ]  # fmt: skip


def redirects(elsewhere: str) -> list[Fault]:
    """Redirects to this origin and to another (`elsewhere`), which nobody must ever follow."""
    places = {
        "this origin": "/itinerary/issueItinerary", "another path here": "/elsewhere", "another origin": f"{elsewhere}/itinerary/issueItinerary",
        "another origin by scheme": f"//{elsewhere.split('//')[1]}/", "nowhere": "", "a broken address": "http://[::1", "a file": "file:///etc/passwd",
    }  # fmt: skip
    return [
        says(f"{status} to {place}", lambda _: b"", "unknown", UNEXPLAINED, status=status, headers=(f"Location: {location}",), vouchers=("itinerary",))
        for status in (301, 302, 303, 307, 308) for place, location in places.items()
    ]  # fmt: skip


def _early(status: int, line: Line, *, issues: bool = False) -> None:
    """An answer before the request has been read to its end."""
    line.read_some(200)
    line.send(answer_bytes(status, b""))
    line.rst() if issues else line.fin()


def _dripped(pause: float, line: Line) -> None:
    asked = line.read()
    line.issue(asked, number_of(asked))
    body = yes(asked)
    line.log.answers.append((200, body))
    line.drip(answer_bytes(200, body), pause)


def _followed(extra: Callable[[Asked], bytes], line: Line) -> None:
    """The right answer, and something more on its heels."""
    asked = line.read()
    line.issue(asked, number_of(asked))
    line.send(answer_bytes(200, yes(asked)) + extra(asked))


def _nobody(asked: Asked) -> Asked:
    """A request that was never asked here: its answer is nobody's."""
    return Asked(asked.voucher, (f"997{asked.tickets[0][3:]}",), b"", 0)


def _followed_later(extra: Callable[[Asked], bytes], line: Line) -> None:
    """The right answer, and something more when the client has taken it."""
    good(line)
    line.between_requests(lambda: line.send(extra(_nobody(line.log.asked[-1]))))


def _late_own(line: Line) -> None:
    """The envelope says 500, and a moment later the request's own success comes after all."""
    asked = line.read()
    line.issue(asked, number_of(asked))
    line.answer(200, envelope("", code=500, message="failed"))
    line.between_requests(lambda: line.send(answer_bytes(200, yes(asked))))


def _pushed(make: Callable[[Asked], bytes], line: Line) -> None:
    """An answer to nothing, on a connection on which nothing is under way."""
    line.between_requests(lambda: line.send(make(_nobody(line.log.asked[-1]))))


def _leaves(end: Callable[[Line], None], line: Line) -> None:
    """It closes while idle; the client's own end follows in its own time."""
    if end is Line.fin:
        line.over = True
        line.between_requests(lambda: line.socket.shutdown(socket.SHUT_WR))
        line.fin()
    else:
        line.between_requests(lambda: end(line))


def timing() -> list[Fault]:
    """Early, late, slow, and answers that belong to nobody."""

    def whole(asked: Asked) -> bytes:
        return answer_bytes(200, yes(asked))

    def refusal(asked: Asked) -> bytes:
        return answer_bytes(200, envelope(sealed(result(asked, "", success=False))))

    pushed: dict[str, Callable[[Asked], bytes]] = {
        "a success": whole, "a refusal": refusal, "a 429": lambda _: answer_bytes(429, b""), "a 404": lambda _: answer_bytes(404, b""),
        "half a status line": lambda _: b"HTTP/1.1 20", "garbage": lambda _: b"garbage\r\n\r\n", "a 408": lambda _: answer_bytes(408, b"", "Connection: close"),
    }  # fmt: skip
    return [
        Fault("dripped, in time", partial(_dripped, 0.001), "issued", whole=True, vouchers=BOTH),
        Fault("dripped, too slowly", partial(_dripped, 0.05), "unknown", BROKEN_OFF, stalls=True),
        Fault("413 within a large request, closed", partial(_early, 413), "unknown", _ANY, big=True, vouchers=("invoice",)),
        Fault("413 within a large request, reset", partial(_early, 413, issues=True), "unknown", _ANY, big=True, vouchers=("invoice",)),
        *(Fault(f"the answer and {name} in one piece", partial(_followed, extra), "issued", _ANY, lenient=True, vouchers=BOTH)
          for name, extra in (("garbage", lambda _: b"garbage"), ("another's success", lambda asked: whole(_nobody(asked))), ("a line end", lambda _: b"\r\n"))),
        *(Fault(f"the answer, and a moment later {name}", partial(_followed_later, extra), "issued", whole=True, vouchers=BOTH, stray=True)
          for name, extra in pushed.items()),
        Fault("code 500, and a moment later the success", _late_own, "unknown", UNEXPLAINED, whole=True, vouchers=BOTH, stray=True),
        # Nothing came of the fault itself: the request after it must go as if nothing had been.
        *(Fault(f"{name} pushed while idle", partial(_pushed, make), "issued", _ANY, lenient=True, idle=True, stray=True, reused=(True,), vouchers=BOTH)
          for name, make in pushed.items()),
        *(Fault(f"{how} while idle", partial(_leaves, end), "issued", idle=True, reused=(True,)) for how, end in ENDS.items() if how != "stall"),
        Fault("a good-bye while idle", partial(_leaves, Line.bye), "issued", idle=True, reused=(True,)),
        Fault("the good answer, as the control", good, "issued", whole=True, vouchers=BOTH),
    ]  # fmt: skip


def faults(elsewhere: str) -> list[Fault]:
    """All of them."""
    return [*ends(), *lengths(), *encodings(), *framing(), *interim(), *redirects(elsewhere), *timing()]
