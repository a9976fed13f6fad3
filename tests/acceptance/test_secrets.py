"""Keys are nowhere, people's data is only where it belongs, and what a run leaves is its owner's alone.

Both keys are looked for as they are and in every form that a program might write them in, in all that a run
prints and leaves: after success, faults, a defect, a kill, a full disk, and with a carrier that sends back
whatever it was sent.

Seen to catch: the API key in an outcome's detail; a repr of aiohttp's error on stderr; a traceback with its
locals; keys in the repr of the settings; a key on the reading process's command line; a ledger and a result
workbook that others may read; a passenger's name in a note.
"""

import asyncio
import base64
import contextlib
import datetime
import io
import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading
import time
import urllib.parse
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher, derive_key
from pipeline.model.job import Job, SandboxJob
from pipeline.model.profile import Carrier as CarrierSettings
from pipeline.model.profile import Profile, Secrets
from pipeline.sandbox.carrier_settings import SandboxSettings
from tests.acceptance.conftest import Desk, Ran, write_workbook

API_KEY, ENCRYPTION_KEY = "canary/api+key&7f3a-91", "canary-密钥/encryption+key&91bd"
KEYS = {"VOUCHER_API_KEY": API_KEY, "VOUCHER_ENCRYPTION_KEY": ENCRYPTION_KEY}
PASSENGER, BUYER, PHONE, EMAIL = "CANARYNAME/WEI MS", "Canary Li Na", "13800975310", "canary.li@example.com"
PEOPLE = ("CANARYNAME", "Canary Li", "13800975310", "canary.li@")
DAY = ("--as-of", "2026-11-20")
BUYERS = (
    ("buyer", "header_type", "header_name", "tax_no", "phone", "email"),
    (BUYER, "individual", BUYER, "", PHONE, EMAIL),
)


# --- what to look for, and where ---------------------------------------------------------------------


def forms(secret: bytes) -> set[bytes]:
    """A secret as a program might write it: plain, escaped, quoted, encoded."""
    found = {secret, secret.hex().encode(), secret.hex().upper().encode(), repr(secret)[2:-1].encode()}
    for before in range(3):  # Base64 of it behind so many other bytes
        encoded = base64.b64encode(bytes(before) + secret)
        found.add(encoded[(0, 2, 3)[before] : -4])
        found.add(encoded[(0, 2, 3)[before] : -4].translate(bytes.maketrans(b"+/", b"-_")))
    with contextlib.suppress(UnicodeDecodeError):
        text = secret.decode()
        found |= {json.dumps(text)[1:-1].encode(), escape(text).encode(), text.encode("utf-16-le")}
        found |= {urllib.parse.quote(text, safe=safe).encode() for safe in ("", "/", "/+&")}
        found |= {urllib.parse.quote_plus(text).encode(), text.encode("unicode_escape")}
    return found


NEEDLES = {
    "the API key": forms(API_KEY.encode()),
    "the encryption key": forms(ENCRYPTION_KEY.encode()),
    "the derived AES key": forms(derive_key(ENCRYPTION_KEY)),
}


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, a workbook's XML unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            yield str(path.relative_to(folder)), content
            if content.startswith(b"PK"):
                with zipfile.ZipFile(io.BytesIO(content)) as package:
                    yield from ((f"{path.name}/{name}", package.read(name)) for name in package.namelist())


def leaks(folder: Path, **printed: str) -> list[tuple[str, str]]:
    """Where a key is, and which."""
    looked = [*contents(folder), *((name, text.encode()) for name, text in printed.items())]
    return [
        (place, name)
        for place, content in looked
        for name, needles in NEEDLES.items()
        if any(needle in content for needle in needles)
    ]


def told_of_people(*printed: str) -> list[str]:
    """The lines that name a person, a telephone number or an e-mail address."""
    lines = [line for text in printed for line in text.splitlines()]
    return [line for line in lines if any(part.casefold() in line.casefold() for part in PEOPLE)]


@pytest.mark.parametrize("name", NEEDLES)
def test_the_search_finds_a_key_in_any_form_and_place(tmp_path: Path, name: str) -> None:
    for number, needle in enumerate(sorted(NEEDLES[name])):
        assert len(needle) >= 12
        with zipfile.ZipFile(tmp_path / f"{number}.xlsx", "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr("xl/sheet.xml", b"before " + needle + b" after")
    found = {place for place, what in leaks(tmp_path) if what == name}
    assert {f"{number}.xlsx/xl/sheet.xml" for number in range(len(NEEDLES[name]))} <= found


# --- a carrier that does all that goes wrong, and sends back what it was sent ------------------------


@dataclass
class Nasty:
    """A carrier of raw bytes: one kind of answer after the other; `echo` is in each of them."""

    base_url: str = ""
    echo: bool = False
    #: What comes next; answers wait for `free`.
    kinds: list[str] = field(default_factory=list)
    free: threading.Event = field(default_factory=threading.Event)
    asked: int = 0

    def answer(self, heads: bytes) -> bytes | None:
        """The whole answer to a request with these headers, None: reset."""
        kind = self.kinds.pop(0) if self.kinds else "yes"
        said = heads.decode("latin-1") if self.echo else "nothing of what was sent"
        key = (re.findall(r"(?i)apikey: (.*)\r", said) or [said])[0]
        words = f"{BUYER} of {EMAIL} can't be read with {ENCRYPTION_KEY}" if self.echo else "header not known"
        seals = Cipher(ENCRYPTION_KEY).seal
        no = seals(json.dumps({"success": False, "errInfo": words}).encode())
        yes = seals(json.dumps({"success": True, "invoiceId": f"{self.asked:018}"}).encode())
        answers = {
            "yes": _envelope(200, "success", yes, "t"),
            "no": _envelope(200, "success", no, "t"),
            "no HTTP": f"HTTP/1.1 NONSENSE {key}\r\n\r\n".encode(),
            "redirect": _http(302, said, f"Location: {self.base_url}/?{key}", f"Retry-After: {key}"),
            "server error": _http(500, said, f"Retry-After: {key}"),
            "wrong key": _http(403, said),
            "unexplained": _envelope(9999, f"key {key}?", "", key),
            "names": _envelope(9999, f"{PASSENGER} of {EMAIL}: no such flight", "", "t"),
            "names a key": _envelope(403, f"{PASSENGER} has no such key", "", "t"),
            "undecryptable": _envelope(200, "success", key, key),
            "broken off": _http(200, said)[:-10],
        }
        return answers.get(kind)


def _envelope(code: int, message: str, data: str, trace: str) -> bytes:
    return _http(200, json.dumps({"code": code, "message": message, "data": data, "traceId": trace}))


def _http(status: int, body: str, *headers: str) -> bytes:
    encoded = body.encode()
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(encoded)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + encoded


@contextlib.contextmanager
def nasty_carrier(*kinds: str, echo: bool = False) -> Iterator[Nasty]:
    carrier = Nasty(kinds=list(kinds), echo=echo)
    carrier.free.set()
    listener = socket.create_server(("127.0.0.1", 0))
    carrier.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                received = b""
                while (size := re.search(rb"(?i)content-length: (\d+)", received)) is None or len(
                    received.partition(b"\r\n\r\n")[2]
                ) < int(size[1]):
                    if not (more := connection.recv(65536)):
                        break
                    received += more
                if not received:
                    continue
                carrier.asked += 1
                carrier.free.wait(60)
                answer = carrier.answer(received.partition(b"\r\n\r\n")[0])
                if answer is None:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                else:
                    connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield carrier
    finally:
        carrier.free.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


FAULTS = (
    "yes", "no HTTP", "redirect", "server error", "unexplained", "undecryptable", "broken off", "reset", "no", "wrong key",
)  # fmt: skip

#: Everything that Python can be made to say, said on stderr; and what is linked or renamed, noted with its mode.
LOUD = """
import logging, os, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
logging.captureWarnings(True)
logging.getLogger("loud").debug("every logger is heard")
if "PLAIN_LOOP" in os.environ:  # asyncio's own loop says more than uvloop
    sys.modules["uvloop"] = None

def note(event, given):
    if event in ("os.link", "os.rename") and os.path.isfile(given[0]):
        modes = [oct(os.stat(given[0]).st_mode & 0o777), oct(os.stat(os.path.dirname(given[0]) or ".").st_mode & 0o777)]
        with open(os.environ["NOTES"], "a") as file:
            print(event, os.path.basename(given[0]), *modes, file=file)

if "NOTES" in os.environ:
    sys.addaudithook(note)
"""


def loud(tmp: Path) -> dict[str, str]:
    """An environment in which every logger and asyncio's own debugging speak."""
    (tmp / "loud").mkdir()
    (tmp / "loud" / "sitecustomize.py").write_text(LOUD)
    path = f"{tmp / 'loud'}:{os.environ.get('PYTHONPATH', '')}"
    # Modules that Python compiles are no files of ours.
    own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONASYNCIODEBUG": "1", "PYTHONDEVMODE": "1"}
    return {"PYTHONPATH": path, "NOTES": str(tmp / "notes"), **own}


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@dataclass
class Left:
    """What some commands printed, and the folder that they left."""

    folder: Path
    err: list[str] = field(default_factory=list)
    out: list[str] = field(default_factory=list)


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {"ticket_no": f"999{number:010}", "passenger_name": PASSENGER, "buyer": BUYER, **changes}


def rows(count: int) -> list[dict[str, Any]]:
    return [{**row(number), "voucher": "invoice", "remarks": str(number)} for number in range(1, count + 1)]


def private(folder: Path, given: set[str]) -> dict[str, str]:
    """The modes of what is in a folder beside what was given, where they are not the owner's alone."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        mode = stat.S_IMODE(path.lstat().st_mode)
        if name not in given and mode != (0o700 if path.is_dir() else 0o600):
            found[name] = oct(mode)
    return found


GIVEN = {"month.xlsx", "carrier.toml"}


@pytest.fixture(
    scope="module",
    params=[pytest.param(0o000, id="umask 000", marks=pytest.mark.slow), pytest.param(0o022, id="umask 022")],
)
def faulty_month(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """A month with every fault at its loudest; then again, silent; a look; a history; a backup; an export."""
    tmp = tmp_path_factory.mktemp("faulty")
    desk = Desk(tmp / "desk", {**KEYS, **loud(tmp), **({} if request.param else {"PLAIN_LOOP": "1"})})
    desk.folder.mkdir()
    left = Left(desk.folder)
    with nasty_carrier(*FAULTS) as carrier, umask(request.param):
        profile = desk.profile(carrier.base_url, concurrency=1)
        book = write_workbook(desk.folder / "month.xlsx", rows(len(FAULTS)), BUYERS)
        for given in GIVEN:
            (desk.folder / given).chmod(0o644)
        where: list[str | Path] = ["--profile", profile, "--ledger", "new/deep/L"]
        issue: list[str | Path] = ["issue", book, *where, *DAY, "--report", "report.json"]
        ended = [desk.voucher(*issue, "--new-ledger", "--verbose")]  # which makes the folders, too
        if request.param == 0:
            ended.append(desk.voucher(*issue, "--quiet"))
            looks = [
                desk.start(*command)
                for command in (
                    ["check", *issue[1:-2], "-o", "looked.xlsx"],
                    ["ledger", "backup", "backup.ledger", *where],
                    ["ledger", "export", "audit.xlsx", *where],
                    ["ledger", "check", *where],
                )
            ]
            for look in looks:
                out, err = look.communicate(timeout=120)
                ended.append(Ran(look.returncode, out, err))
        for ran in ended:
            assert ran.code in (0, 4), ran.err
            assert "defect" not in ran.err, ran.err
            left.err.append(ran.err)
            left.out.append(ran.out)
        assert carrier.kinds == []  # every fault has happened
    return left


def test_no_key_is_in_anything_that_a_month_of_faults_prints_or_leaves(faulty_month: Left) -> None:
    assert "DEBUG:loud:every logger is heard" in faulty_month.err[0]
    assert leaks(faulty_month.folder, err="\n".join(faulty_month.err), out="\n".join(faulty_month.out)) == []


def test_nobody_is_named_on_the_screen_or_in_a_log(faulty_month: Left) -> None:
    assert told_of_people(*faulty_month.err, *faulty_month.out) == []


def test_files_are_readable_by_their_owner_alone_and_so_are_new_folders(faulty_month: Left) -> None:
    made = {path.name for path in faulty_month.folder.rglob("*")}
    assert {"L", "L.lock", "month.result.xlsx", "report.json"} <= made
    assert private(faulty_month.folder, GIVEN) == {}
    notes = (faulty_month.folder.parent / "notes").read_text().splitlines()
    assert len(notes) >= 2
    for note in notes:  # while it was being made, too: by its own mode or by that of its folder
        assert note.split()[-2] == "0o600" or note.split()[-1] == "0o700", note


# --- other ends of a run -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_key_and_nothing_for_other_eyes(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", {**KEYS, **loud(tmp_path)})
    desk.folder.mkdir()
    with nasty_carrier() as carrier, umask(0):
        profile = desk.profile(carrier.base_url, concurrency=1)
        book = write_workbook(desk.folder / "month.xlsx", rows(3), BUYERS)
        for given in GIVEN:
            (desk.folder / given).chmod(0o644)
        carrier.free.clear()
        process = desk.start("issue", book, "--profile", profile, "--ledger", "L", *DAY)
        desk.during(process, lambda: carrier.asked)
        # In the middle of it: all its files are there.
        assert {"L", "L-wal", "L-shm", "L.lock", "L.spill"} <= {path.name for path in desk.folder.iterdir()}
        assert private(desk.folder, GIVEN) == {}
        assert leaks(desk.folder) == []
        process.send_signal(signal.SIGINT)  # it waits for the answer and says so
        time.sleep(0.3)
        process.kill()
        out, err = process.communicate()
        carrier.free.set()
        again = desk.voucher("issue", book, "--profile", profile, "--ledger", "L", *DAY)
        assert again.code == 4, again.err
        assert "Stopping" in err
    assert leaks(desk.folder, err=err + again.err, out=out + again.out) == []
    assert told_of_people(err, out, again.err, again.out) == []
    assert private(desk.folder, GIVEN) == {}


@pytest.mark.slow
def test_an_interrupted_run_and_a_disk_that_takes_no_more_print_no_key(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", {**KEYS, **loud(tmp_path)})
    desk.folder.mkdir()
    with nasty_carrier() as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        book = write_workbook(desk.folder / "month.xlsx", rows(2), BUYERS)
        arguments: list[str | Path] = ["issue", book, "--profile", profile, "--ledger", "L", *DAY]
        carrier.free.clear()
        process = desk.start(*arguments)
        desk.during(process, lambda: carrier.asked)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 4, err
        carrier.free.set()
        # No file may grow over 520 blocks (260 kB): room for the spill file and the start of a ledger, and not for a run.
        write_workbook(desk.folder / "month.xlsx", rows(12), BUYERS)
        command = ['ulimit -f 520; exec "$@"', "sh", *map(str, process.args)]  # type: ignore[arg-type]
        command[command.index("L")] = "M"
        command.append("--new-ledger")
        full = subprocess.run(
            ["sh", "-c", *command],
            cwd=desk.folder, env={**os.environ, "HOME": str(desk.folder), **desk.environment},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert full.returncode == 3, full.stderr
        assert "the ledger can't be written" in full.stderr
    assert leaks(desk.folder, err=err + full.stderr, out=out + full.stdout) == []
    assert told_of_people(err, out, full.stderr, full.stdout) == []


DEFECT = """
import sys

class Plant:
    def find_spec(self, name, path, target=None):
        if name == "pipeline.submission.request_sender":
            sys.meta_path.remove(self)
            import pipeline.carrier.client as client
            client._plain_name = planted
            import pipeline.submission.request_sender
        return None

def planted(error, *rest):
    raise RuntimeError("planted defect")

sys.meta_path.insert(0, Plant())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "echo",
    [
        pytest.param(False, id=""),
        pytest.param(True, id="while a carrier sends keys back"),
    ],
)
def test_a_defect_of_the_program_prints_a_traceback_without_keys_or_people(
    tmp_path: Path, echo: bool
) -> None:
    # It strikes where the keys are nearest: among the locals are the client, its session and aiohttp's error,
    # whose repr holds the request's headers.
    desk = Desk(tmp_path / "desk", {**KEYS, **loud(tmp_path)})
    desk.folder.mkdir()
    with (tmp_path / "loud" / "sitecustomize.py").open("a") as file:
        file.write(DEFECT)
    with nasty_carrier("no HTTP", echo=echo) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        book = write_workbook(desk.folder / "month.xlsx", rows(2), BUYERS)
        ran = desk.voucher("issue", book, "--profile", profile, "--ledger", "L", *DAY)
    assert ran.code == 3
    assert "RuntimeError: planted defect" in ran.err
    assert "please report it" in ran.err
    assert leaks(desk.folder, err=ran.err, out=ran.out) == []
    assert told_of_people(ran.err, ran.out) == []


# --- a carrier that sends back what it was sent ------------------------------------------------------


@pytest.fixture(scope="module")
def echoed(tmp_path_factory: pytest.TempPathFactory) -> Left:
    desk = Desk(tmp_path_factory.mktemp("echoed"), dict(KEYS))
    with nasty_carrier(*FAULTS, echo=True) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        book = write_workbook(desk.folder / "month.xlsx", rows(len(FAULTS)), BUYERS)
        ran = desk.voucher(
            "issue", book, "--profile", profile, "--ledger", "L", *DAY, "--report", "r.json", "--verbose"
        )
        assert ran.code == 4, ran.err
        assert carrier.kinds == []
    return Left(desk.folder, [ran.err], [ran.out])


@pytest.mark.parametrize("place", ["screen", "report", "workbook", "ledger"])
def test_a_key_that_the_carrier_sends_back_is_not_passed_on(echoed: Left, place: str) -> None:
    names = {"report": ("r.json",), "workbook": ("month.result.xlsx",), "ledger": ("L", "L-wal", "L.spill")}
    found = leaks(echoed.folder, screen=echoed.err[0] + echoed.out[0])
    assert [leak for leak in found if leak[0].split("/")[0] in names.get(place, (place,))] == []


def test_a_person_whom_the_carrier_names_is_not_on_the_screen(echoed: Left) -> None:
    assert "carrier_rejected" in echoed.err[0]
    assert told_of_people(*echoed.err, *echoed.out) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["issue", "reconcile"])
@pytest.mark.parametrize(("kind", "said"), [("names", "code 9999: …"), ("names a key", "code 403: …")])
def test_what_the_carrier_says_is_in_the_result_and_not_in_cron_s_mail(
    tmp_path: Path, command: str, kind: str, said: str
) -> None:
    desk = Desk(tmp_path, dict(KEYS))
    with nasty_carrier(*[kind] * 40) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        book = write_workbook(desk.folder / "month.xlsx", rows(12), BUYERS)
        options = ("--profile", profile, "--ledger", "L", *DAY, "--log-file", "log", "--report", "r.json")
        ran = desk.voucher(command, book, *options)
        assert ran.code in (3, 4), ran.err
        assert said in ran.err
        assert told_of_people(ran.err, ran.out, (desk.folder / "log").read_text()) == []
        assert PASSENGER in desk.voucher("history", "9990000000001", "--ledger", "L").out
        # Nor on the night after, of what is still unknown.
        again = desk.voucher("reconcile", book, *options)
        assert told_of_people(again.err, again.out) == []


# --- people on the screen ----------------------------------------------------------------------------


def test_what_is_wrong_with_a_persons_data_is_in_the_result_and_not_on_the_screen(
    desk: Any, workbook: Any
) -> None:
    own = {"header_type": "individual", "header_name": BUYER, "phone": PHONE, "email": EMAIL, "buyer": ""}
    bad = [
        row(1, **{**own, "email": "canary.li@@example"}),
        row(2, **{**own, "phone": "13800975310138009753101380"}),
        row(3, buyer="Canary Li Nobody"),
        row(4, **{**own, "header_type": "CANARYNAME"}),
        row(5),
        row(5, passenger_name="CANARYNAME/OTHER MS"),
        row(6, passenger_name=""),
    ]
    path = workbook(bad, buyers=BUYERS)
    ran = desk.voucher("check", path, *DAY, "--verbose", "--report", "report.json")
    assert ran.code == 1
    reasons = {reason["code"] for found in desk.report()["rows"] for reason in found["reasons"]}
    assert reasons >= {"bad_email", "bad_phone", "unknown_buyer", "duplicate_charge", "missing_value"}
    assert told_of_people(ran.err, ran.out) == []


# --- processes and objects ---------------------------------------------------------------------------


def test_keys_are_in_no_command_line_and_the_process_that_opens_files_does_not_have_them(desk: Any) -> None:
    # So large that it can be looked at while it is read.
    book = desk.folder / "month.csv"
    book.write_text("ticket_no,passenger_name\n" + "9990000000001,ZHANG/WEI\n" * 400_000)
    process = desk.start("issue", book, "--sandbox", *DAY)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 30
    while not (found := [pid for pid in children.read_text().split() if _runs(pid, "child.py")]):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    seen = {
        "command": Path(f"/proc/{process.pid}/cmdline").read_bytes(),
        "child's command": Path(f"/proc/{found[0]}/cmdline").read_bytes(),
        "child's environment": Path(f"/proc/{found[0]}/environ").read_bytes(),
    }
    process.kill()
    process.communicate(timeout=60)
    for place, content in seen.items():
        for name, needles in NEEDLES.items():
            assert not any(needle in content for needle in needles), f"{name} in the {place}"


def _runs(pid: str, script: str) -> bool:
    with contextlib.suppress(OSError):
        return script.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


async def _client_texts(profile: Profile) -> list[str]:
    async with connected(profile, "http://127.0.0.1:9", API_KEY) as client:
        reply, _line = await client.post("/x", b'"x"')
        return [repr(client), str(client), repr(reply), f"{vars(client)}"]


def test_no_object_shows_a_key_in_its_repr() -> None:
    keys = Secrets(API_KEY, ENCRYPTION_KEY)
    profile = Profile(carrier=CarrierSettings(agency="A"))
    settings = SandboxSettings(
        agency="A", api_key=API_KEY, encryption_key=ENCRYPTION_KEY, as_of=lambda: datetime.date(2026, 11, 20),
        fee_type={}, product_type={}, header_type={}, domestic_invoice_max=1, international_invoice_max=1,
    )  # fmt: skip
    shown: list[Any] = [
        keys, {"keys": keys}, Job((), profile, keys), SandboxJob(profile, keys, (), 0, None, None, None),
        Cipher(ENCRYPTION_KEY), vars(Cipher(ENCRYPTION_KEY)), settings,
    ]  # fmt: skip
    texts = [text for item in shown for text in (repr(item), str(item), f"{item}")]
    texts += asyncio.run(_client_texts(profile))
    for text in texts:
        for name, needles in NEEDLES.items():
            assert not any(needle in text.encode() for needle in needles), f"{name} in {text}"
