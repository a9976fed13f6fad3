"""A carrier on loopback that issues whatever it is asked for, as often as it is asked, and keeps count."""

import contextlib
import random
import socket
import threading
import time
from collections import defaultdict


class CountingCarrier:
    """A carrier on loopback: `issued` are the request IDs that it issued, each as often as it did, by number; `numbers`, of each its numbers.

    It answers within `answers` seconds; the share `lost` of its answers is lost.
    """

    def __init__(self, seed: int, answers: float, lost: float) -> None:
        self.issued: dict[str, str] = {}
        self.numbers: defaultdict[str, list[str]] = defaultdict(list)
        self.answers, self.lost = answers, lost
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._door = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(60)
            said = b""
            while b"sealed R" not in said or len(said.partition(b"sealed ")[2]) < 20:
                if not (more := client.recv(4096)):
                    return
                said += more
            request = said.partition(b"sealed ")[2].decode()
            with self._lock:
                fate, pause = self._random.random(), self._random.uniform(0.1, 1) * self.answers
                busy = fate < 0.04
                number = "" if busy else f"N{len(self.issued) + 1}"
                if not busy:
                    self.issued[number] = request
                    self.numbers[request].append(number)
            time.sleep(pause)
            if fate >= 0.04 + self.lost:  # else it is lost
                client.sendall(f"issued {number}".encode())
            elif busy:
                client.sendall(b"busy")

    def close(self) -> None:
        self._door.shutdown(
            socket.SHUT_RDWR
        )  # else whoever waits at it would let one more in, of the next seed
        self._door.close()
