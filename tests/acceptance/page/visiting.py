"""The page as a visitor has it: a server in a process of its own, and who asks it over the wire, keeping cookies as a browser does."""

import functools
import html
import http.client
import os
import re
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from pipeline.page import accounts
from pipeline.page.sessions import begin_session
from pipeline.page.visitor import Role

PASSWORD = "a horse, a battery and a staple"


@dataclass
class Answer:
    """What was answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def said(self) -> str:
        """The text of the page, without its tags."""
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.text)).split())

    @property
    def location(self) -> str:
        return str(self.headers.get("Location", ""))

    @property
    def csrf(self) -> str:
        """The token of the page's forms."""
        found = re.search(r'name="csrf" value="(\w+)"', self.text)
        return found[1] if found else ""

    def hidden(self, path: str) -> dict[str, str]:
        """The hidden fields of the page's first form to this path; none where it has no such form."""
        form = re.search(rf'<form[^>]* action="{re.escape(path)}"[^>]*>(.*?)</form>', self.text, re.DOTALL)
        found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[1] if form else "")
        return {name: html.unescape(value) for name, value in found}


@dataclass
class Visit:
    """Somebody at a browser."""

    address: str
    context: ssl.SSLContext | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Ask once; what is a header of two words is given with an underscore."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        place = urlsplit(self.address)
        made: Any
        if place.scheme == "https":
            made = http.client.HTTPSConnection(
                place.hostname or "", place.port, timeout=30, context=self.context
            )
        else:
            made = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        try:
            cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            made.request(method, path, body or None, {"Cookie": cookie, **self.headers, **given})
            answer = made.getresponse()
            got = Answer(answer.status, answer.headers, answer.read())
        finally:
            made.close()
        for line in got.headers.get_all("Set-Cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            if "max-age=0" in line.lower():
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return got

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Answer:
        """Send a form; its token is one of the fields, if it is to have one."""
        headers.setdefault("Content_Type", "application/x-www-form-urlencoded")
        return self.ask("POST", path, urlencode(fields).encode(), **headers)

    def submit(self, page: str, path: str, **fields: str) -> Answer:
        """Look at a page and send its form to this path, with what is hidden in it."""
        shown = self.get(page)
        return self.post(path, {"csrf": shown.csrf, **shown.hidden(path), **fields})

    def until(self, path: str, reached: Callable[[Answer], object]) -> Answer:
        """The page at this path, once it is so."""
        deadline = time.monotonic() + 60
        while not reached(page := self.get(path)):
            assert time.monotonic() < deadline, page.said
            time.sleep(0.05)
        return page

    def log_in(self, name: str, password: str = PASSWORD) -> Answer:
        return self.submit("/login", "/login", name=name, password=password)


@dataclass
class Served:
    """A page that is served."""

    address: str
    told: str
    ledger: Path
    process: Any
    context: ssl.SSLContext | None = None

    @property
    def folder(self) -> Path:
        return page_folder(self.ledger)

    @property
    def link(self) -> str:
        """The path of the one-time link."""
        found = re.findall(r"https?://\S+(/open\?token=\S+)", self.process.told())
        return str(found[-1])

    def visit(self, **headers: str) -> Visit:
        return Visit(
            self.address, self.context, {name.replace("_", "-"): value for name, value in headers.items()}
        )

    def local(self) -> Visit:
        """Whoever started it, come by the link."""
        visit = self.visit()
        assert visit.get(self.link).status == 303
        return visit

    def logged_in(self, name: str) -> Visit:
        """Somebody with a session such as a login begins; their password is not looked at, which takes its time."""
        visit = self.visit()
        visit.get("/login")
        (before,) = visit.cookies
        account = accounts.known(self.folder, name)
        visit.cookies = {
            before.replace("before", "session"): begin_session(self.folder, account, account.name)
        }
        return visit


_hashed_once = functools.cache(accounts._hashed)


def add_accounts(folder: Path, **people: Role) -> None:
    """Accounts with PASSWORD, of one hash: to make it takes its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hashed", _hashed_once)
        for name, role in people.items():
            accounts.add(folder, name, role, PASSWORD)


@contextmanager
def serving(
    desk: Any, *arguments: str | Path, people: Mapping[str, Role] | None = None, listen: str = "127.0.0.1:0",
    context: ssl.SSLContext | None = None, call: str = "", sandbox: bool = True, killed: bool = False,
) -> Iterator[Served]:  # fmt: skip
    """A page with a ledger of its own, while the context lasts; it must end by SIGTERM, with exit code 0, unless it is `killed` within."""
    ledger = desk.folder / "page-test.ledger"
    add_accounts(page_folder(ledger), **(people or {}))
    given = ["serve", "--listen", listen, "--ledger", ledger, *(["--sandbox"] if sandbox else []), *arguments]
    process = desk.begin(*given)
    try:
        deadline = time.monotonic() + 60
        while not (found := re.search(r"(https?://[^\s;；]+)[;；].*\n", process.told())):
            assert not process.has_ended(), process.told()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.05)
        address = (
            re.findall(r"https?://[^\s;；]+", process.told())[-1]
            if "--behind-proxy" in arguments
            else found[1]
        )
        if call:
            address = call.format(port=urlsplit(address).port)
        yield Served(address, process.told(), ledger, process, context)
    finally:
        if killed:
            process.end()
        else:
            os.kill(process.pid, signal.SIGTERM)
            ended = process.end()
            assert ended.code == 0, ended


def page_folder(ledger: Path) -> Path:
    """The page's own folder, beside the ledger's file."""
    return ledger.with_name(f"{ledger.name}.page")


def made_certificate(
    folder: Path, name: str, *more: str, names: str = "DNS:pay.office,IP:127.0.0.1", days: int = 30
) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    if not shutil.which("openssl"):
        if os.environ.get("VOUCHER_TESTS_NEED_TOOLS") == "1":
            pytest.fail("openssl is missing")
        pytest.skip("openssl is not installed")
    pem, key = folder / f"{name}.pem", folder / f"{name}.key"
    subject = ["-subj", "/CN=pay.office", *(["-addext", f"subjectAltName={names}"] if names else [])]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc",
         "-keyout", key, "-out", pem, "-days", str(days), *subject, *more],
        check=True, capture_output=True,
    )  # fmt: skip
    return pem, key
