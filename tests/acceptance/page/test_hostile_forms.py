"""Forms that no browser sends, before login and after it, are refused with a page, and leave nothing in the server's log."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from pipeline.page import month_uploads
from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk, write_workbook
from tests.acceptance.page.test_month_on_page import judged, upload
from tests.acceptance.page.visiting import Served, Visit, serving

FORM, FILES = "application/x-www-form-urlencoded", "multipart/form-data"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    with serving(desk, people={"peter": Role.PREPARER}) as served:
        yield served


@pytest.fixture(scope="module")
def peter(page: Served) -> Visit:
    return page.logged_in("peter")


@pytest.fixture(scope="module")
def month(page: Served, peter: Visit) -> str:
    book = write_workbook(page.ledger.with_name("may.xlsx"), [{"ticket_no": "9990000000001"}])
    return judged(peter, book)


def part(head: str, body: bytes = b"") -> bytes:
    return b"--x\r\n" + head.encode() + b"\r\n\r\n" + body


NAMED = 'Content-Disposition: form-data; name="{}"'
HOSTILE = {
    "an unknown charset": (f"{FORM}; charset=nothing", b"name=peter"),
    "a charset that is no text's": (f"{FORM}; charset=hex", b"name=peter"),
    "half a character": (f"{FORM}; charset=raw_unicode_escape", b"name=%5Cud800"),
    "no UTF-8": (FORM, b"name=%ff%fe&password=\xff"),
    "no boundary": (FILES, b"--x\r\n"),
    "a long boundary": (f"{FILES}; boundary={'x' * 300}", b"--x\r\n"),
    "nothing of its boundary": (f"{FILES}; boundary=y", b"--x\r\nmore\r\n"),
    "no end": (f"{FILES}; boundary=x", part(NAMED.format("name"), b"pet")),
    "an end in its headings": (f"{FILES}; boundary=x", b"--x\r\nContent-Disp"),
    "headings that are none": (f"{FILES}; boundary=x", b"--x\r\n\x00\xff: :\r\n\r\nx\r\n--x--\r\n"),
    "a strange name": (
        f"{FILES}; boundary=x", part("Content-Disposition: form-data; name*0=a'b", b"x\r\n--x--\r\n"),
    ),
    "a strange encoding": (
        f"{FILES}; boundary=x",
        part(NAMED.format("name") + "\r\nContent-Transfer-Encoding: base64", b"!!\r\n--x--\r\n"),
    ),
    "a wrong length": (
        f"{FILES}; boundary=x", part(NAMED.format("name") + "\r\nContent-Length: 9", b"x\r\n--x--\r\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nobody_fills_the_log_by_a_form_that_is_none(page: Served, hostile: str) -> None:
    kind, body = HOSTILE[hostile]
    visit = page.visit()
    token = visit.get("/login").csrf
    assert visit.ask("POST", "/login", body, Content_Type=kind).status in (400, 403)
    answer = visit.ask("POST", "/login", body, Content_Type=kind, X_CSRF_Token=token)
    assert answer.status == 400
    assert "can't be understood" in answer.said
    assert "defect" not in page.process.told()


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_upload_that_is_none_is_refused_with_a_page(
    page: Served, peter: Visit, month: str, hostile: str
) -> None:
    kind, body = HOSTILE[hostile]
    for path in ("/months", f"{month}/files", f"{month}/rows/0", f"{month}/columns"):
        token = peter.get("/account").csrf
        answer = peter.ask("POST", path, body, Content_Type=kind, X_CSRF_Token=token)
        assert answer.status in (400, 415), path
        assert "defect" not in page.process.told()
    assert not [*(page.folder / "coming").iterdir()]


@pytest.mark.parametrize("number", ["abc", "9" * 5000, "-1", "1.5", "٣", "1\x00", ""])
def test_a_number_that_is_none_takes_nothing_out(page: Served, peter: Visit, month: str, number: str) -> None:
    before = month_uploads.uploads(page.folder, month.rpartition("/")[2])
    answer = peter.submit(month, f"{month}/take-out", number=number)
    assert answer.status == 303, answer.said
    assert month_uploads.uploads(page.folder, month.rpartition("/")[2]) == before
    assert "defect" not in page.process.told()


def test_a_token_that_comes_in_pieces_is_the_token(peter: Visit) -> None:
    token = peter.get("/account").csrf
    body = part(NAMED.format("csrf"), f"{token}\r\n".encode())
    body += part(NAMED.format("workbooks") + '; filename="a.txt"', b"x\r\n--x--\r\n")
    cut = body.index(token.encode()) + 10
    with sending(peter, len(body)) as wire:
        wire.sendall(body[:cut])
        # The server has to have read the one before the other comes.
        peter.get("/healthz")
        peter.get("/account")
        wire.sendall(body[cut:])
        answer = b"".join(iter(lambda: wire.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 415"), "no workbook, and so its token was good"


def test_a_token_that_never_ends_is_none(peter: Visit) -> None:
    with sending(peter, 100_000) as wire:
        wire.sendall(part(NAMED.format("csrf"), b"0" * 1000))
        assert wire.recv(65536).startswith(b"HTTP/1.1 403"), "before it has come whole"


@contextmanager
def sending(visit: Visit, length: int) -> Iterator[socket.socket]:
    """A connection on which the head of an upload of so many bytes was sent."""
    place = urlsplit(visit.address)
    with socket.create_connection((place.hostname, place.port), timeout=20) as wire:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        cookies = "; ".join(f"{name}={value}" for name, value in visit.cookies.items())
        head = (
            f"POST /months HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {cookies}\r\nConnection: close\r\n"
            f"Content-Type: {FILES}; boundary=x\r\nContent-Length: {length}\r\n\r\n"
        )
        wire.sendall(head.encode())
        yield wire


def test_a_long_name_keeps_its_suffix(page: Served, peter: Visit) -> None:
    name = "航空客票明细" * 12 + ".xlsx"
    book = write_workbook(page.ledger.with_name(name[:60] + ".xlsx"), [{"ticket_no": "9990000000001"}])
    long = book.rename(book.with_name("航" * 80 + ".xlsx"))
    answer = upload(peter, "/months", long)
    assert answer.status == 303, answer.said
    (kept,) = month_uploads.uploads(page.folder, answer.location.rpartition("/")[2])
    assert kept.name.endswith("航.xlsx")
    assert len(kept.name.encode()) <= 150
