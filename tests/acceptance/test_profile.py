"""The first real run: a profile is written, filled in and looked over, and nobody is sent a request meanwhile."""

import os
import pty
import re
import select
import shutil
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.profile import Profile
from pipeline.profile_file import load_profile
from tests.acceptance.conftest import KEYS
from tests.acceptance.english import english
from tests.conftest import needs_tool
from tests.crash.failpoint import compiled
from tests.crash.wire_server import Line, Server
from tests.crash.wire_unreached import _tunnel, certificate, expired, secured
from tests.moved_clock import needs_compiler

CHECK = ("profile", "check", "--profile", "carrier.toml")
FULL = """
[codes.fee_type]
ticket_fare = "FARE"
ancillary = "ANCILLARY"
[codes.product_type]
baggage = "Baggage"
seat = "Seat"
upgrade = "Upgrade"
meal = "Meal"
lounge = "Lounge"
[codes.header_type]
individual = "PERSONAL"
"""
NO_KEYS = dict.fromkeys(KEYS, "")


def fill_in(desk: Any, **carrier: str) -> None:
    """A profile in which all is said."""
    lines = [f'{key} = "{value}"' for key, value in ({"agency": "AGENCY"} | carrier).items()]
    (desk.folder / "carrier.toml").write_text("\n".join(["[carrier]", *lines, FULL]), encoding="utf-8")


def unasked(server: Server) -> bool:
    """Whether nobody was told a key or sent anything but what a connection takes."""
    told = bytes(server.log.heard)
    return not any(word in told for word in (b"POST", b"GET", b"AGENCY", *map(str.encode, KEYS.values())))


def without_times(printed: str) -> str:
    return re.sub(r"[0-9.]+ ms|[0-9,]+ a second|concurrency = [0-9]+", "", printed)


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    """The carrier's certificate and key; the certificate alone is beside it, as .crt."""
    needs_tool("openssl", shutil.which("openssl"))
    return certificate(tmp_path, "IP:127.0.0.1")


def test_a_profile_is_written_and_what_it_lacks_is_told(desk: Any) -> None:
    ran = desk.voucher("profile", "new", "carrier.toml")
    assert (ran.code, ran.out) == (0, "")
    assert load_profile(desk.folder / "carrier.toml") == Profile()
    first, *lacks, last = ran.err.splitlines()
    assert first == "Profile: carrier.toml"
    assert last.endswith("voucher profile check --profile carrier.toml says what is left")
    looked = replace(desk, environment=NO_KEYS).voucher(*CHECK)
    assert (looked.code, looked.err) == (1, "")
    printed = looked.out.splitlines()
    assert [
        line for line in printed if "can be sent" not in line and not line.startswith("VOUCHER_")
    ] == lacks
    assert [line.split(":")[0] for line in printed if line.startswith("VOUCHER_")] == list(KEYS)
    assert "Invoices: ticket_fare: not sent without [codes.fee_type] ticket_fare" in lacks
    refused = desk.voucher("issue", "t.xlsx", "--profile", "carrier.toml")
    assert (refused.code, "no carrier is named" in refused.err) == (2, True)


def test_no_file_s_place_is_taken(desk: Any) -> None:
    (desk.folder / "carrier.toml").write_text("mine")
    ran = desk.voucher("profile", "new", "carrier.toml")
    assert (ran.code, "exists already and is left as it is" in ran.err) == (2, True)
    assert (desk.folder / "carrier.toml").read_text() == "mine"
    ran = desk.voucher("profile", "new", "nowhere/carrier.toml")
    assert (ran.code, "can't be written" in ran.err) == (2, True)


def test_a_profile_by_name_is_needed_to_be_looked_over(desk: Any) -> None:
    ran = desk.voucher("profile", "check")
    assert ran.code == 2
    assert "voucher profile new PATH" in ran.err
    assert "VOUCHER_PROFILE" in ran.err
    fill_in(desk, proxi="x")
    ran = desk.voucher(*CHECK)
    assert (ran.code, "proxi is not a known key" in ran.err) == (2, True)


def test_where_all_is_there_it_says_so_and_sends_nothing(desk: Any, pem: Path) -> None:
    with closing(Server(Line.hold, tls=secured(pem))) as carrier:
        fill_in(desk, base_url=carrier.url, ca_file=f"{pem}.crt")
        ran = desk.voucher(*CHECK)
        assert (ran.code, ran.err) == (0, ""), ran.out
        by_env = replace(desk, environment={"VOUCHER_PROFILE": "carrier.toml"}).voucher("profile", "check")
        assert without_times(by_env.out) == without_times(ran.out)
    assert unasked(carrier)
    assert not carrier.log.heard
    assert "Connection: 127.0.0.1 answers; its certificate is trusted, until 20" in ran.out
    assert f"{next(iter(KEYS))}: found in the environment" in ran.out
    assert not any(key in ran.out for key in KEYS.values())


@pytest.mark.slow
@needs_compiler
def test_what_the_ledger_s_disk_makes_of_the_requests_in_flight(desk: Any, tmp_path: Path) -> None:
    """On a disk whose syncs take 50 ms, of which a request waits for one."""
    library = compiled(tmp_path, Path(__file__).parents[1] / "benchmarks" / "slow_sync.c")
    (desk.folder / "far").mkdir()
    slow = {"LD_PRELOAD": str(library), "SLOW_SYNC_MS": "50", "VOUCHER_LEDGER": "far/x.ledger"}
    with closing(Server(Line.hold)) as carrier:
        fill_in(desk, base_url=carrier.url)
        with replace(desk, environment=slow).start(*CHECK) as ran:
            told, said = ran.communicate(timeout=120)
        elsewhere = desk.voucher(*CHECK, "--ledger", "nowhere/x.ledger")
    found = re.search(
        r"Disk: a sync takes ([0-9.]+) ms in (\S+), where the ledger lies; every request waits for one; with answers after 200 ms"
        r" 16 requests in flight give at most ([0-9,]+) a second; to keep 16 of them with the carrier at"
        r" once in spite of the disk: concurrency = ([0-9]+)\n",
        told,
    )
    assert found, told + said
    sync, rate, wanted = (float(found[at].replace(",", "")) for at in (1, 3, 4))
    assert (ran.returncode, found[2]) == (0, str(desk.folder / "far"))
    assert 50 <= sync < 1000
    assert rate == pytest.approx(16_000 / (200 + sync), abs=1)
    assert wanted == pytest.approx(16 * (200 + sync) / 200, abs=1)
    assert not list((desk.folder / "far").iterdir())
    assert elsewhere.code == 0
    assert f"in {desk.folder / 'nowhere'}, where the ledger is to lie: No such file" in elsewhere.out


def test_a_missing_key_is_told_beside_a_connection_that_works(desk: Any) -> None:
    with closing(Server(Line.hold)) as carrier:
        fill_in(desk, base_url=carrier.url)
        ran = replace(desk, environment={"VOUCHER_API_KEY": ""}).voucher(*CHECK)
    assert ran.code == 1
    assert "VOUCHER_API_KEY: missing" in ran.out
    assert "Connection: 127.0.0.1 answers\n" in ran.out


def test_through_a_proxy_it_asks_for_a_tunnel_and_no_more(desk: Any, pem: Path) -> None:
    with (
        closing(Server(Line.hold, tls=secured(pem))) as carrier,
        closing(Server(_tunnel)) as proxy,
    ):
        fill_in(
            desk,
            base_url=carrier.url,
            ca_file=f"{pem}.crt",
            proxy=proxy.url.replace("//", "//office:s3cret@"),
        )
        ran = desk.voucher(*CHECK)
    assert ran.code == 0, ran.out
    assert "answers through the proxy; its certificate is trusted" in ran.out
    assert proxy.log.heard.startswith(f"CONNECT 127.0.0.1:{carrier.port} ".encode())
    assert unasked(proxy)
    assert unasked(carrier)
    assert "s3cret" not in ran.out + ran.err


def _refused(_folder: Path) -> tuple[Path | None, str]:
    return None, "Connection: the connection was refused or could not be made"


def _untrusted(folder: Path) -> tuple[Path | None, str]:
    return certificate(
        folder, "IP:127.0.0.1"
    ), "not trusted: it was issued by nobody that this machine trusts"


def _expired(folder: Path) -> tuple[Path | None, str]:
    return expired(folder), "not trusted: it has expired"


def _another_s(folder: Path) -> tuple[Path | None, str]:
    return certificate(folder, "DNS:another.invalid"), "not trusted: it is another host's"


@pytest.mark.parametrize("wrong", [_refused, _untrusted, _expired, _another_s])
def test_what_keeps_a_run_from_its_carrier_is_told(
    desk: Any, tmp_path: Path, wrong: Callable[[Path], tuple[Path | None, str]]
) -> None:
    needs_tool("openssl", shutil.which("openssl"))
    pem, told = wrong(tmp_path)
    with closing(Server(Line.hold, tls=secured(pem) if pem else None)) as carrier:
        if not pem:
            carrier.stop_listening()
        trusted = {"ca_file": f"{pem}.crt"} if pem and wrong is not _untrusted else {}
        fill_in(desk, base_url=carrier.url, **trusted)
        ran = desk.voucher(*CHECK)
        chinese = desk.voucher(*CHECK, "--lang", "zh")
    assert (ran.code, chinese.code) == (3, 3)
    assert told in ran.out
    assert unasked(carrier)
    assert chinese.out.splitlines()[-2].startswith("连接：")
    assert chinese.out.splitlines()[-1].startswith("磁盘：")


def test_a_proxy_that_is_not_there_is_told_as_the_proxy(desk: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        proxy = f"http://office:s3cret@127.0.0.1:{free.getsockname()[1]}"
        fill_in(desk, base_url="https://carrier.invalid", proxy=proxy)
        ran = desk.voucher(*CHECK)
    assert ran.code == 3
    assert "Connection: the proxy could not be reached\n" in ran.out
    assert "s3cret" not in ran.out + ran.err


def typed_at_a_terminal(desk: Any, lines: Sequence[str], *arguments: str) -> tuple[int, str]:
    """Run a command at a terminal and answer each of its questions; what it showed."""
    ours, theirs = pty.openpty()
    there = replace(desk, environment={**desk.environment, "TERM": "xterm", "COLUMNS": "200"})
    run = there.begin(*arguments, terminal=os.ttyname(theirs))
    shown, left, asked, deadline = b"", list(lines), 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.1)
        if ready:
            shown += os.read(ours, 65536)
        elif run.has_ended():
            break
        if shown.count(b"\n> ") > asked and left:
            asked += 1
            os.write(ours, left.pop(0).encode() + b"\n")
    code = run.wait()
    for end in (ours, theirs):
        os.close(end)
    assert not left
    return code, shown.decode()


#: Answers to base_url (twice: the first is none), agency, prefixes (likewise), proxy, the codes.
TYPED = [
    "carrier.example", "https://carrier.example/api", "AGENCY", "99", "999, 784", "", "票价", "ANCILLARY",
    "Baggage", "", "Upgrade", "", "", "PERSONAL",
]  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_at_a_terminal_it_asks_and_what_is_answered_is_in_the_profile(desk: Any, lang: str) -> None:
    code, shown = typed_at_a_terminal(desk, TYPED, "profile", "new", "carrier.toml", "--lang", lang)
    assert code == 0, shown
    loaded = load_profile(desk.folder / "carrier.toml")
    assert (loaded.carrier.base_url, loaded.carrier.agency) == ("https://carrier.example/api", "AGENCY")
    assert (loaded.carrier.ticket_prefixes, loaded.carrier.proxy) == (("999", "784"), "")
    assert loaded.codes.fee_type == {"ticket_fare": "票价", "refund": "REFUND_FEE", "ancillary": "ANCILLARY"}
    assert loaded.codes.product_type == {
        "flight": "Flight", "baggage": "Baggage", "seat": "", "upgrade": "Upgrade", "meal": "", "lounge": "",
    }  # fmt: skip
    assert loaded.codes.header_type == {"business": "BUSINESS", "individual": "PERSONAL"}
    assert ("must be a full address" in shown) is (lang == "en")
    lacks = [line for line in shown.splitlines() if "[codes.product_type] seat" in line]
    assert len(lacks) == 2  # asked for, and told
    if lang == "zh":
        told = "\n".join(line for line in shown.splitlines() if not line.startswith(">"))
        fields = {"feeType", "productType", "invoiceHeaderType", "itineraryHeaderType"}
        assert set(english(told)) <= {"http", "https", "proxy", *fields}


def test_what_the_answers_make_needless_is_not_asked(desk: Any) -> None:
    """No proxy to this machine's loopback, and no products without a code of ancillary charges."""
    typed = ["http://127.0.0.1:8080", "", "", "", "", ""]
    code, shown = typed_at_a_terminal(desk, typed, "profile", "new", "carrier.toml")
    assert code == 0, shown
    assert shown.count("\n> ") == len(typed)
    assert "proxy:" not in shown
    loaded = load_profile(desk.folder / "carrier.toml")
    assert loaded == replace(Profile(), carrier=replace(Profile().carrier, base_url="http://127.0.0.1:8080"))


def test_nothing_is_asked_where_a_file_would_lose_its_place(desk: Any) -> None:
    (desk.folder / "carrier.toml").write_text("mine")
    code, shown = typed_at_a_terminal(desk, [], "profile", "new", "carrier.toml")
    assert (code, len(shown.splitlines())) == (2, 1)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_written_where_somebody_leaves_in_between(desk: Any, lang: str) -> None:
    code, shown = typed_at_a_terminal(
        desk, ["https://carrier.example", "\x04"], "profile", "new", "carrier.toml", "--lang", lang
    )
    assert code == 3, shown
    assert not list(desk.folder.glob("*.toml"))
