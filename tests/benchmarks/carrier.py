"""A carrier that only answers: every request gets a yes of its own, after a wait that can be set.

It judges nothing and keeps nothing, so that what is measured is the program and not the sandbox. It shares the machine with what is
measured, as a carrier never does, so it takes as little of it as it can: bare asyncio, and of an invoice's answer only the block with
its number is its own (AES in ECB mode: the blocks do not depend on each other), a thousand of them made at once. Memory
stays with it: uvloop's TLS asks for 256 KB for each request that it reads, which glibc else gets from the system each time. And it is
scheduled as a batch job: a request that comes in does not put it in the place of the process that sent it (SCHED_BATCH of sched(7)).

    python -m tests.benchmarks.carrier --wait 0.02 [--tls CERTIFICATE.pem]

prints its address, and at its end (SIGTERM) the most requests that came within any second, and the microseconds of processor that it took for one.
"""

import argparse
import asyncio
import base64
import binascii
import contextlib
import itertools
import os
import signal
import ssl
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import orjson

from pipeline.carrier.crypto import Cipher
from tests.benchmarks.timing import KEYS, environment, python
from tests.crash.wire_unreached import secured

_LENGTH = b"\r\ncontent-length:"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
_ENVELOPE = b'{"code":200,"message":"success","data":"%b","traceId":"%b"}'
#: An invoice's result: what is before its number, three blocks of AES and so a whole number of characters of Base64; and what is behind it.
_BEFORE, _BEHIND = b'{"success":true,"errInfo":"Issued","invoiceId":"', b'"}'
_BLOCK = 16  # bytes, and digits of a number
_AT_ONCE = 1_024
_MEMORY = {"MALLOC_MMAP_THRESHOLD_": f"{1 << 30}", "MALLOC_TRIM_THRESHOLD_": f"{1 << 30}"}


def _issued(numbers: Iterator[int], cipher: Cipher) -> Iterator[bytes]:
    """Yeses to invoices, each with a number of its own."""
    first = cipher.seal(_BEFORE + bytes(_BLOCK) + _BEHIND).encode()
    before, behind = first[: len(_BEFORE) * 4 // 3], base64.b64decode(first)[len(_BEFORE) + _BLOCK :]
    while True:
        some = [b"%d" % number for number in itertools.islice(numbers, _AT_ONCE)]
        sealed = base64.b64decode(cipher.seal(b"".join(some)))
        for at, number in enumerate(some):
            of_number = sealed[at * _BLOCK : (at + 1) * _BLOCK]
            yield _answer(before + binascii.b2a_base64(of_number + behind, newline=False), number)


def _answer(sealed: bytes, trace: bytes) -> bytes:
    envelope = _ENVELOPE % (sealed, trace)
    return _ANSWER % (len(envelope), envelope)


class _Answering(asyncio.Protocol):
    """One connection; requests come one after another."""

    cipher = Cipher(KEYS["VOUCHER_ENCRYPTION_KEY"])
    # Of 16 digits, as many as a block has; a ledger that is kept may have numbers of an earlier carrier.
    numbers = itertools.count(time.time_ns() // 1_000)
    issued = _issued(numbers, cipher)
    arrived: ClassVar[deque[float]] = deque()
    most = count = 0
    wait = 0.0

    def __init__(self) -> None:
        self.seen = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.seen += data
        head = self.seen.find(b"\r\n\r\n")
        if head < 0:
            return
        _, _, length = self.seen[:head].lower().partition(_LENGTH)
        end = head + 4 + int(length.partition(b"\r")[0] or 0)
        if len(self.seen) < end:
            return
        request, self.seen = self.seen[:end], self.seen[end:]
        self._count()
        answer = self._itinerary(request) if b"issueItinerary" in request[:100] else next(self.issued)
        if self.wait:
            asyncio.get_running_loop().call_later(self.wait, self._write, answer)
        else:
            self._write(answer)

    @classmethod
    def _count(cls) -> None:
        """Note the arrival, and the most that came within any one second."""
        cls.count += 1
        now = time.monotonic()
        cls.arrived.append(now)
        while now - cls.arrived[0] >= 1:
            cls.arrived.popleft()
        cls.most = max(cls.most, len(cls.arrived))

    def _write(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)

    def _itinerary(self, request: bytes) -> bytes:
        body = orjson.loads(request.partition(b"\r\n\r\n")[2])
        asked = orjson.loads(self.cipher.open(body))["issueItinerary"]
        number = str(next(self.numbers))
        issued = {"ticketNo": asked["ticketNo"], "itineraryNum": number, "success": True}
        sealed = self.cipher.seal(orjson.dumps({"itineraryResult": issued}))
        return _answer(sealed.encode(), number.encode())


async def _serve(wait: float, port: int, pem: Path | None) -> None:
    _Answering.wait = wait
    tls = secured(pem) if pem else None
    if tls:
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, done.set)
    server = await loop.create_server(_Answering, "127.0.0.1", port, ssl=tls)
    _tell(f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    begun = time.process_time()
    await done.wait()
    _tell(f"most_in_a_second={_Answering.most}")
    _tell(f"processor={1e6 * (time.process_time() - begun) / max(_Answering.count, 1):.1f}")


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextlib.contextmanager
def answering(folder: Path, wait: float = 0.0, port: int = 0, tls: Path | None = None) -> Iterator[str]:
    """Such a carrier in a process of its own, over https with that certificate; its address."""
    secure = ("--tls", tls) if tls else ()
    with (folder / "carrier.txt").open("w+") as said:
        process = subprocess.Popen(
            python("-m", "tests.benchmarks.carrier", "--wait", str(wait), "--port", str(port), *secure),
            stdout=said,
            env=environment() | _MEMORY,
            cwd=folder,
        )
        try:
            while not (address := (folder / "carrier.txt").read_text().partition("\n")[0]):
                if process.poll() is not None:
                    raise RuntimeError("the carrier did not start")
                time.sleep(0.05)
            yield address
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)


def most_in_a_second(folder: Path) -> int:
    """The most requests that came within any one second, once that carrier has ended."""
    return int(_told(folder, "most_in_a_second"))


def processor_a_request(folder: Path) -> float:
    """The microseconds of processor that it took for a request, likewise."""
    return float(_told(folder, "processor"))


def _told(folder: Path, name: str) -> str:
    told = (folder / "carrier.txt").read_text().splitlines()
    return next(line.removeprefix(f"{name}=") for line in told if line.startswith(f"{name}="))


def main() -> None:
    """Answer until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", type=Path)
    given = parser.parse_args()
    import uvloop  # noqa: PLC0415 - where it installs, as the program has it

    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    uvloop.run(_serve(given.wait, given.port, given.tls))


if __name__ == "__main__":
    main()
