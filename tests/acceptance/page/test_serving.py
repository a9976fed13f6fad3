"""How the page is started, opened and called: addresses, certificates, links, cookies, headers, sessions."""

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pipeline.page import accounts
from pipeline.page.connection import HEADERS
from pipeline.page.page_database import connected
from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk
from tests.acceptance.page.visiting import (
    PASSWORD,
    Answer,
    Served,
    Visit,
    add_accounts,
    made_certificate,
    serving,
)

PEOPLE = {"vera": Role.VIEWER, "adam": Role.ADMINISTRATOR}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """On loopback, without accounts."""
    with serving(Desk(tmp_path_factory.mktemp("local"))) as page:
        yield page


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """On loopback, with accounts."""
    with serving(Desk(tmp_path_factory.mktemp("office")), people=PEOPLE) as page:
        yield page


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return made_certificate(tmp_path_factory.mktemp("certificate"), "page")


def expired(folder: Path) -> tuple[Path, Path]:
    """One whose last day is over."""
    _, key = made_certificate(folder, "old")
    request, pem = folder / "old.csr", folder / "expired.pem"
    for command in (
        ["openssl", "req", "-new", "-key", key, "-out", request, "-subj", "/CN=pay.office"],
        ["openssl", "x509", "-req", "-in", request, "-signkey", key, "-days", "-1", "-out", pem],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return pem, key


def trusting(pem: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(pem))
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    return context


# --- the one-time link --------------------------------------------------------------------------


def test_whoever_starts_it_opens_it_by_a_link_that_works_once(local: Served) -> None:
    first, second = local.visit(), local.visit()
    link = local.link
    assert re.fullmatch(r"/open\?token=[\w-]{43}", link)
    assert first.get("/").location == "/login"
    answer = first.get(link)
    assert (answer.status, answer.location) == (303, "/")
    assert first.get("/").status == 200
    assert second.get(link).status == 403
    assert second.get("/").status == 303
    # Somebody who waits at the door can have another printed, which only the terminal shows.
    page = second.submit("/login", "/link")
    assert (page.status, page.location) == (303, "/login?printed=1")
    assert local.link.partition("=")[2] not in second.get("/login?printed=1").text
    assert second.get(f"{link}x").status == 403
    assert second.get("/open").status == 403
    assert second.get(local.link).status == 303
    assert second.get("/account").status == 200


@pytest.mark.slow
def test_a_link_and_its_sessions_end_when_there_are_accounts(desk: Desk) -> None:
    with serving(desk) as page:
        visit, late = page.local(), page.visit()
        late.submit("/login", "/link")
        assert visit.get("/").status == 200
        add_accounts(page.folder, adam=Role.ADMINISTRATOR)
        assert visit.get("/").location == "/login"
        assert late.get(page.link).status == 403
        assert 'name="password"' in late.get("/login").text
        assert page.logged_in("adam").get("/").status == 200


def test_it_ends_by_ctrl_c_as_well_and_says_so(desk: Desk) -> None:
    process = desk.begin("serve", "--sandbox", "--listen", "127.0.0.1:0")
    desk.during(process, lambda: "/open?token=" in process.told())
    os.kill(process.pid, signal.SIGINT)
    ended = process.end()
    assert ended.code == 0
    assert "Ending" in ended.err
    assert ended.out == ""


# --- where it may listen ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["--listen", "0.0.0.0:0"], "--certificate and --key"),
        (["--listen", "[::]:0"], "--certificate and --key"),
        (["--listen", "0.0.0.0:0", "--behind-proxy", "pay.office"], "voucher user add"),
        (["--behind-proxy", "pay.office"], "voucher user add"),
        (["--behind-proxy", "https://pay.office/"], "pay.office.example"),
        (["--listen", "8750"], "127.0.0.1:8750"),
        (["--listen", "127.0.0.1:99999"], "127.0.0.1:8750"),
        (["--listen", "no.such.host.invalid:0", "--behind-proxy", "x"], "voucher user add"),
        (["--certificate", "page.pem"], "--key"),
        (["--key", "page.key"], "--certificate"),
        (["--as-of", "2026-11-20"], "--sandbox"),
    ],
)
def test_it_refuses_to_start_and_names_the_cure(desk: Desk, arguments: list[str], cure: str) -> None:
    more = [] if "--as-of" in arguments else ["--sandbox"]
    ran = desk.voucher("serve", *more, "--ledger", desk.folder / "x.ledger", *arguments)
    assert ran.code == 2
    assert cure in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_port_that_is_taken_is_said(desk: Desk, local: Served) -> None:
    ran = desk.voucher("serve", "--sandbox", "--listen", f"127.0.0.1:{urlsplit(local.address).port}")
    assert ran.code == 2
    assert "Address already in use" in ran.err


@pytest.mark.slow
def test_one_server_a_ledger(desk: Desk) -> None:
    with serving(desk) as page:
        ran = desk.voucher("serve", "--sandbox", "--listen", "127.0.0.1:0", "--ledger", page.ledger)
        assert ran.code == 2
        assert "another voucher serve" in ran.err


# --- https --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_https_with_accounts(desk: Desk, certificate: tuple[Path, Path]) -> None:
    pem, key = certificate
    arguments = ("--certificate", pem, "--key", key)
    with serving(
        desk,
        *arguments,
        people=PEOPLE,
        listen="0.0.0.0:0",
        call="https://127.0.0.1:{port}",
        context=trusting(pem),
    ) as page:
        assert "https://pay.office:" in page.told
        assert "/open?token=" not in page.told
        visit = page.visit()
        answer = visit.log_in("adam")
        assert answer.status == 303
        cookies = answer.headers.get_all("Set-Cookie", [])
        [session] = [line for line in cookies if line.startswith("__Host-voucher-session=")]
        assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= set(session.split("; "))
        assert "Domain" not in session
        assert visit.get("/").headers["Strict-Transport-Security"].startswith("max-age=")
        assert visit.get("/healthz", Host="pay.office:8443").status == 200
        assert visit.get("/healthz", Host="pay.offices").status == 421
        token = visit.get("/account").csrf
        port = urlsplit(page.address).port
        assert visit.post("/language", {"csrf": token}, Origin=f"http://127.0.0.1:{port}").status == 403
        assert visit.post("/language", {"csrf": token}, Origin=f"https://127.0.0.1:{port}").status == 303
        with pytest.raises((ssl.SSLError, OSError)):
            _handshake(page, ssl.TLSVersion.TLSv1_1)
        assert _handshake(page, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
        with socket.create_connection(("127.0.0.1", port or 0)) as plain:  # http where https is spoken
            plain.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b"200" not in plain.recv(100)
        assert visit.get("/healthz").status == 200


def _handshake(page: Served, version: ssl.TLSVersion) -> str | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = version
    place = urlsplit(page.address)
    with (
        socket.create_connection(("127.0.0.1", place.port or 0)) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secured,
    ):
        return secured.version()


def test_without_accounts_https_is_refused_too(desk: Desk, certificate: tuple[Path, Path]) -> None:
    ran = desk.voucher(
        "serve",
        "--sandbox",
        "--listen",
        "0.0.0.0:0",
        "--certificate",
        certificate[0],
        "--key",
        certificate[1],
    )
    assert ran.code == 2
    assert "voucher user add NAME --role administrator" in ran.err


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("missing", "No such file or directory"),
        ("folder", "Is a directory"),
        ("no certificate", "no certificate and key in PEM"),
        ("another key", "is not the key of the certificate"),
        ("passphrase", "passphrase"),
        ("expired", "browsers will not take this certificate"),
        ("no names", "subjectAltName"),
    ],
)
def test_a_certificate_that_is_of_no_use_is_said(
    desk: Desk, certificate: tuple[Path, Path], how: str, said: str
) -> None:
    pem, key = certificate
    match how:
        case "missing":
            pem = desk.folder / "missing.pem"
        case "folder":
            pem = desk.folder
        case "no certificate":
            pem = desk.folder / "text.pem"
            pem.write_text("no certificate")
        case "another key":
            _, key = made_certificate(desk.folder, "other")
        case "passphrase":
            locked = desk.folder / "locked.key"
            subprocess.run(
                ["openssl", "ec", "-in", key, "-aes256", "-passout", "pass:x1234", "-out", locked], check=True, capture_output=True
            )  # fmt: skip
            key = locked
        case "expired":
            pem, key = expired(desk.folder)
        case "no names":
            pem, key = made_certificate(desk.folder, "nameless", names="")
    ran = desk.voucher(
        "serve", "--sandbox", "--certificate", pem, "--key", key, "--ledger", desk.folder / "x"
    )
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_behind_a_proxy(desk: Desk) -> None:
    with serving(
        desk, "--behind-proxy", "pay.office, other.office:8443", people=PEOPLE, call="http://127.0.0.1:{port}"
    ) as page:
        assert "https://pay.office;" in page.told
        visit = page.visit(Host="pay.office", X_Forwarded_Proto="https", X_Forwarded_For="6.6.6.6, 10.0.0.7")
        answer = visit.log_in("vera")
        assert answer.status == 303
        assert any(
            "__Host-voucher-session" in line and "Secure" in line
            for line in answer.headers.get_all("Set-Cookie", [])
        )
        assert visit.get("/", Host="evil.example").status == 421
        assert visit.get("/", Host="other.office").status == 200
        assert visit.get("/").headers["Strict-Transport-Security"]
        # Tries are counted by who asks the proxy, not by the proxy; what the asker says of itself does not count.
        for number in range(20):
            page.visit(Host="pay.office", X_Forwarded_For=f"{number}.1.1.1, 10.0.0.8").log_in(
                f"nobody{number}"
            )
        assert page.visit(Host="pay.office", X_Forwarded_For="2.2.2.2, 10.0.0.8").log_in("vera").status == 429
        assert (
            page.visit(Host="pay.office", X_Forwarded_For="10.0.0.8, 10.0.0.9").log_in("vera").status == 303
        )


def test_what_a_proxy_says_counts_only_behind_one(office: Served) -> None:
    answer = office.visit(X_Forwarded_Proto="https", X_Forwarded_Host="evil.example").log_in("vera")
    assert answer.status == 303
    assert all("Secure" not in line for line in answer.headers.get_all("Set-Cookie", []))
    assert "Strict-Transport-Security" not in answer.headers


# --- host names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.1.2.3", "", "a b", "[::"]
)
@pytest.mark.parametrize("path", ["/", "/login", "/healthz", "/static/1/page.css", "/no-such-page"])
def test_another_host_name_is_not_answered(office: Served, host: str, path: str) -> None:
    answer = (
        office.logged_in("adam").get(path, Host=host) if path == "/" else office.visit().get(path, Host=host)
    )
    assert answer.status == 421
    assert not answer.headers.get_all("Set-Cookie")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8750", "[::1]"])
def test_its_own_names_are(office: Served, host: str) -> None:
    assert office.visit().get("/login", Host=host).status == 200


# --- headers ------------------------------------------------------------------------------------


def _answers(page: Served) -> Iterator[Answer]:
    visit = page.logged_in("adam")
    for path in (
        "/",
        "/account",
        "/healthz",
        "/login",
        "/no-such-page",
        "/open?token=x",
        "/static/1/page.css",
    ):
        yield visit.get(path)
        yield page.visit().get(path)
        yield visit.ask("HEAD", path)
    yield visit.get(re.findall(r"/static/[^\"]+", visit.get("/").text)[0])
    yield visit.ask("PUT", "/")
    yield visit.post("/language", {})
    yield visit.get("/", Host="evil.example")


def test_the_headers_are_on_every_answer(office: Served) -> None:
    statuses = set()
    for answer in _answers(office):
        statuses.add(answer.status)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (answer.status, name)
        assert answer.headers["Cache-Control"] in ("no-store", "private, max-age=31536000, immutable")
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert not re.search(r"aiohttp|python|/\d", str(answer.headers["Server"]), re.IGNORECASE)
        assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=|javascript:", answer.text)
    assert statuses == {200, 303, 403, 404, 405, 421}


def test_what_is_no_http_is_refused_without_a_word_of_what_serves(office: Served) -> None:
    place = urlsplit(office.address)
    for sent in (
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nX: " + b"y" * 100_000,
    ):
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=10) as wire:
            wire.sendall(sent + b"\r\n\r\n")
            answered = wire.recv(65536)
        assert b" 400 " in answered or b" 421 " in answered, answered
        assert not re.search(rb"aiohttp|python|traceback", answered, re.IGNORECASE)
    assert "Traceback" not in office.process.told()


# --- sessions -----------------------------------------------------------------------------------


def test_login_and_logout(office: Served) -> None:
    visit = office.visit()
    assert visit.get("/account?x=1").location == "/login?next=/account?x%3D1"
    page = visit.get("/login?next=/account")
    answer = visit.post(
        "/login", {"csrf": page.csrf, "name": " VERA ", "password": PASSWORD, "next": "/account"}
    )
    assert (answer.status, answer.location) == (303, "/account")
    [cookie] = visit.cookies.items()
    session = visit.cookies.copy()
    assert visit.get("/login?next=/account").location == "/account"
    assert "vera" in visit.get("/account").said
    assert cookie[1].encode() not in (office.folder / "page.sqlite").read_bytes()
    assert visit.submit("/account", "/logout").location == "/login"
    assert not visit.cookies
    # The session is gone, not only its cookie.
    assert Visit(office.address, cookies=session).get("/").location == "/login"


@pytest.mark.parametrize(
    "wanted",
    ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/\r\nX: y"],
)
def test_login_leads_nowhere_else(office: Served, wanted: str) -> None:
    answer = office.visit().submit("/login", "/login", name="vera", password=PASSWORD, next=wanted)
    assert (answer.status, answer.location) == (303, "/")


@pytest.mark.slow
def test_a_session_is_a_new_one_with_every_login(office: Served) -> None:
    visit = office.visit()
    given = f"voucher-session-{urlsplit(office.address).port}"
    visit.cookies[given] = "chosen-by-somebody-else"
    assert visit.log_in("vera").status == 303
    first = visit.cookies[given]
    assert len(first) == 43
    again = Visit(office.address, cookies={given: first})
    page = office.visit()
    again.cookies |= page.cookies
    token = again.get("/account").csrf
    assert again.post("/login", {"csrf": token, "name": "vera", "password": PASSWORD}).status == 303
    assert again.cookies[given] != first
    assert Visit(office.address, cookies={given: first}).get("/").location == "/login"


def test_the_form_of_before_the_login_is_of_no_use_after_it(office: Served) -> None:
    visit = office.visit()
    token = visit.get("/login").csrf
    visit.log_in("vera")
    assert visit.post("/language", {"csrf": token, "lang": "zh"}).status == 403


@pytest.mark.parametrize(("column", "seconds"), [("used", 30 * 60), ("begun", 12 * 60 * 60)])
def test_a_session_ends(office: Served, column: str, seconds: int) -> None:
    for earlier, status in ((seconds - 60, 200), (seconds + 60, 303)):
        visit = office.logged_in("vera")
        connected(office.folder).execute(f"UPDATE session SET {column} = ?", (time.time() - earlier,))
        assert visit.get("/account").status == status
        assert visit.get("/account").status == status


def test_what_the_script_asks_for_keeps_no_session(office: Served) -> None:
    visit = office.logged_in("vera")
    earlier = time.time() - 1000
    connected(office.folder).execute("UPDATE session SET used = ?", (earlier,))
    visit.get("/healthz")
    assert connected(office.folder).execute("SELECT max(used) FROM session").get == earlier
    visit.get("/account")
    assert connected(office.folder).execute("SELECT max(used) FROM session").get > earlier


@pytest.mark.slow
def test_too_many_tries_wait_and_say_how_long(desk: Desk) -> None:
    with serving(desk, people=PEOPLE) as page:
        for _ in range(5):
            answer = page.visit().log_in("Vera", "another password")
            assert answer.status == 401
            assert "The name or the password is wrong" in answer.said
        answer = page.visit().log_in("vera")
        assert answer.status == 429
        assert "try again in 15 minutes" in answer.said
        assert page.visit().log_in("adam").status == 303
        for number in range(15):
            assert page.visit().log_in(f"nobody {number}").status == 401
        assert page.visit().log_in("adam").status == 429
        connected(page.folder).execute("UPDATE login_try SET at = at - 901")
        assert page.visit().log_in("vera").status == 303


@pytest.mark.slow
def test_somebody_ends_their_other_sessions(desk: Desk) -> None:
    with serving(desk, people=PEOPLE) as page:
        here, there, adam = page.logged_in("vera"), page.logged_in("vera"), page.logged_in("adam")
        assert here.get("/account").said.count("last used") == 2
        assert "Log out everywhere else" in here.get("/account").said
        assert here.submit("/account", "/account/sessions").location == "/account"
        assert here.get("/account").said.count("last used") == 1
        assert there.get("/").location == "/login"
        assert adam.get("/").status == 200


@pytest.mark.slow
def test_another_password_or_none_ends_the_sessions(desk: Desk) -> None:
    with serving(desk, people={**PEOPLE, "paul": Role.PREPARER}) as page:
        one, two, paul = page.logged_in("vera"), page.logged_in("vera"), page.logged_in("paul")
        new = "other words that don't fit"
        wrong = one.submit("/account", "/account/password", present="no", new=new, again=new)
        assert (wrong.status, two.get("/").status) == (403, 200)
        unlike = one.submit("/account", "/account/password", present=PASSWORD, new=new, again=f"{new}!")
        short = one.submit("/account", "/account/password", present=PASSWORD, new="short", again="short")
        assert (unlike.status, short.status) == (400, 400)
        before = dict(one.cookies)
        assert one.submit("/account", "/account/password", present=PASSWORD, new=new, again=new).status == 303
        assert one.get("/account?changed=1").status == 200
        assert one.cookies != before
        assert Visit(page.address, cookies=before).get("/").status == 303
        assert two.get("/").status == 303
        assert page.visit().log_in("vera").status == 401
        assert page.visit().log_in("vera", new).status == 303
        accounts.remove(page.folder, "paul")
        assert paul.get("/").status == 303


# --- languages, and hostile texts -----------------------------------------------------------------


def test_the_language_is_a_persons_own(office: Served) -> None:
    assert "登录" in office.visit(Accept_Language="zh-CN,zh;q=0.9").get("/login").said
    visit = office.logged_in("vera")
    assert visit.submit("/account", "/language", lang="zh", next="/account").location == "/account"
    assert 'lang="zh-CN"' in visit.get("/").text
    assert 'lang="zh-CN"' in office.logged_in("vera").get("/").text
    assert 'lang="en"' in office.logged_in("adam").get("/").text
    visit.submit("/account", "/language", lang="en")
    chosen = office.visit(Accept_Language="en")
    assert chosen.submit("/login", "/language", lang="zh", next="/login").location == "/login"
    assert "登录" in chosen.get("/login").said


@pytest.mark.slow
def test_a_hostile_name_is_a_name(desk: Desk) -> None:
    name = "<script>alert(1)</script>\"'&"
    with serving(desk, people={name: Role.VIEWER}) as page:
        text = page.logged_in(name).get("/account").text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;" in text


def test_what_is_asked_for_does_not_come_back_as_html(office: Served) -> None:
    for path in (
        "/%3Cscript%3Ealert(1)%3C/script%3E",
        "/login?next=/%22%3E%3Cscript%3E",
        "/open?token=%3Cscript%3E",
    ):
        assert "<script>" not in office.visit().get(path).text


def test_an_upload_that_is_too_large_is_refused_before_it_is_sent(office: Served) -> None:
    visit = office.logged_in("adam")
    place = urlsplit(office.address)
    cookie = "; ".join(f"{name}={value}" for name, value in visit.cookies.items())
    head = (
        f"POST /months HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {cookie}\r\nX-CSRF-Token: {visit.get('/account').csrf}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 900000000\r\n\r\n"
    )
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=10) as wire:
        wire.sendall(head.encode())
        assert wire.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_large_form_is_refused(office: Served) -> None:
    visit = office.logged_in("vera")
    token = visit.get("/account").csrf
    answer = visit.post("/language", {"csrf": token, "lang": "x" * 3_000_000})
    assert answer.status == 413
    assert visit.get("/").status == 200


# --- a full disk --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """One of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], check=False).returncode:
        pytest.skip("may mount nothing here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.slow
def test_a_full_disk_is_no_defect(small_disk: Path) -> None:
    with serving(Desk(small_disk), people=PEOPLE) as page:
        visit = page.logged_in("adam")
        filling = small_disk / "filling"
        with contextlib.suppress(OSError), filling.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        said = (
            visit.submit("/account", "/language", lang=lang, next="/account") for lang in ("zh", "en") * 50
        )
        answer = next(answer for answer in said if answer.status != 303)  # the -wal may have room yet
        assert answer.status == 507
        assert "There is no room on the server's disk" in answer.said
        filling.unlink()
        assert visit.submit("/account", "/language", lang="en", next="/account").location == "/account"
