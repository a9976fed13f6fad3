"""The page under load: 20 people, each with a month of 100,000 rows open, who ask for one screen after another without a pause.

    python -m tests.benchmarks --only serving

The server is a process of its own, as the office has it; every month is uploaded and judged before anybody looks. What is measured is
the time of a page as a browser has it, its bytes read, and the largest memory of the server.
"""

import http.client
import random
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.benchmarks.timing import Line, environment, voucher

PEOPLE = 20
SCREENS = 40  # of each of them
_LIMIT, _MEGABYTES = 1.0, 2048


class Browser:
    """Somebody's browser: one connection, and the cookie of a session."""

    def __init__(self, address: str) -> None:
        self.address, place = address, urlsplit(address)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=120)
        self.cookie = ""

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[str, str]:
        """(where it leads to, the page)."""
        headers = {"Cookie": self.cookie} | ({"Content-Type": kind} if kind else {})
        self._connection.request(method, path, body or None, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie", []):
            if "session" in line:
                self.cookie = line.partition(";")[0]
        if answer.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[-500:]}")
        return answer.headers.get("Location", ""), text


@contextmanager
def _served(folder: Path) -> Iterator[tuple[Browser, int]]:
    """A demonstration that is served, with the browser of whoever started it, and its process."""
    command = voucher("serve", "--sandbox", "--listen", "127.0.0.1:0", "--ledger", folder / "serving.ledger")
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        link = next(found for line in process.stderr if (found := re.search(r"(http://\S+)(/open\S+)", line)))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        browser = Browser(link[1])
        browser.ask("GET", link[2])
        try:
            yield browser, process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def _month(browser: Browser, workbook: Path) -> str:
    """A month of that workbook, judged."""
    csrf = re.search(r'name="csrf" value="(\w+)"', browser.ask("GET", "/")[1])
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{csrf[1] if csrf else ""}\r\n'
    head += f'--{mark}\r\nContent-Disposition: form-data; name="workbooks"; filename="month.xlsx"\r\n\r\n'
    body = head.encode() + workbook.read_bytes() + f"\r\n--{mark}--\r\n".encode()
    path, _ = browser.ask("POST", "/months", body, f"multipart/form-data; boundary={mark}")
    while 'data-state="reading"' in browser.ask("GET", path)[1]:
        time.sleep(0.2)
    return path


def _screen(month: str, at: random.Random) -> str:
    """What somebody looks at next."""
    asked: dict[str, object] = at.choice(
        [
            {},
            {"status": "ready", "page": at.randint(1, 1000)},
            {"status": "failing"},
            {"q": f"{at.randint(0, 99999):05}"},
            {"q": "ZHANG domestic", "sort": "amount", "desc": 1},
            {"sort": "amount", "page": at.randint(1, 2000)},
            {"sort": "last_day"},
        ]
    )
    return at.choice(
        [month, f"{month}/rows/{at.randint(0, 99_999)}", *[f"{month}/rows?{urlencode(asked)}"] * 3]
    )


def _megabytes(pid: int) -> float:
    """The largest memory that a process has had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def measured(month: Path) -> list[Line]:
    """The median of a page's time, and the server's largest memory."""
    with tempfile.TemporaryDirectory(dir=month.parent) as place, _served(Path(place)) as (browser, pid):
        paths = [_month(browser, month) for _ in range(PEOPLE)]
        seconds: list[float] = []

        def look(number: int) -> None:
            mine, at = Browser(browser.address), random.Random(number)
            mine.cookie = browser.cookie
            for _ in range(SCREENS):
                path, begun = _screen(paths[number], at), time.perf_counter()
                mine.ask("GET", path)
                seconds.append(time.perf_counter() - begun)

        threads = [threading.Thread(target=look, args=(number,)) for number in range(PEOPLE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        megabytes = _megabytes(pid)
    median, late = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    figures = f"{len(seconds)} pages by {PEOPLE} people at once: median {median:.3f} s, 19 of 20 within {late:.3f} s"
    return [
        Line("a page, 20 people with 100,000 rows each", "1 s", "≤ 1", median / _LIMIT, median <= _LIMIT, figures),
        Line("the server's largest memory then", "2 GB", "≤ 1", megabytes / _MEGABYTES, megabytes <= _MEGABYTES, f"{megabytes:.0f} MB"),
    ]  # fmt: skip
