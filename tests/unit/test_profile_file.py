"""Settings: every key of the contract, everything else refused by its full name."""

import datetime
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.profile import Profile, is_loopback
from pipeline.profile_file import load_profile, profile_keys, unfit
from tests.crash.wire_unreached import certificate

REPOSITORY = Path(__file__).parent.parent.parent

#: interface.md, "Carrier profile": its defaults, section by section. Amounts in minor units.
DEFAULTS: dict[str, dict[str, Any]] = {
    "carrier": {
        "base_url": "",  # what the interface shows is an example: no address is made up
        "agency": "DEMO",
        "time_zone": "Asia/Shanghai",
        "ticket_prefixes": (),
        "ticket_no_hyphen": False,
        "currency": "CNY",
        "proxy": "",
        "ca_file": "",
    },
    "codes": {
        "fee_type": {"ticket_fare": "", "refund": "REFUND_FEE", "ancillary": ""},
        "product_type": {
            "flight": "Flight",
            "baggage": "",
            "seat": "",
            "upgrade": "",
            "meal": "",
            "lounge": "",
        },
        "header_type": {"business": "BUSINESS", "individual": ""},
    },
    "limits": {
        "domestic_invoice_max": 1_000_000,
        "international_invoice_max": 10_000_000,
        "max_charges_per_invoice": 0,
    },
    "required": {"invoice": (), "itinerary": ()},
    "submission": {
        "concurrency": 16,
        "rate_per_second": 0,
        "connect_timeout_seconds": 10,
        "response_timeout_seconds": 60,
        "keepalive_seconds": 2,
    },
    "answers": {
        "not_processed_http": (429,),
        "not_processed_codes": (),
        "rejected_codes": (),
        "key_refused_codes": (401, 403),
    },
    "reconcile": {"settle_after_hours": None},
    "itinerary_files": {"archive": "", "seal_roots": ()},
    "approval": {"people": 1},
}

#: Every key with a value other than its default: as written in TOML, and as it is then.
KEYS: list[tuple[str, str, str, Any]] = [
    ("carrier", "base_url", '"https://carrier.example/api/"', "https://carrier.example/api"),
    ("carrier", "agency", '"ACME"', "ACME"),
    ("carrier", "time_zone", '"Europe/Berlin"', "Europe/Berlin"),
    ("carrier", "ticket_prefixes", '["999", "784"]', ("999", "784")),
    ("carrier", "ticket_no_hyphen", "true", True),
    ("carrier", "currency", '"EUR"', "EUR"),
    ("limits", "domestic_invoice_max", '"5000.50"', 500_050),
    ("limits", "international_invoice_max", "200000", 20_000_000),
    ("limits", "max_charges_per_invoice", "50", 50),
    ("required", "invoice", '["phone", "email"]', ("phone", "email")),
    ("required", "itinerary", '["phone"]', ("phone",)),
    ("submission", "concurrency", "4", 4),
    ("submission", "rate_per_second", "2.5", 2.5),
    ("submission", "connect_timeout_seconds", "3", 3),
    ("submission", "response_timeout_seconds", "120", 120),
    ("submission", "keepalive_seconds", "0", 0),
    ("answers", "not_processed_http", "[429, 503]", (429, 503)),
    ("answers", "not_processed_codes", "[5001, -1]", (5001, -1)),
    ("answers", "rejected_codes", "[4001, -1]", (4001, -1)),
    ("answers", "key_refused_codes", "[401, -1]", (401, -1)),
    ("reconcile", "settle_after_hours", "48", 48),
    ("itinerary_files", "archive", '"files"', "files"),
    ("itinerary_files", "seal_roots", f'["{__file__}"]', (__file__,)),
    ("approval", "people", "2", 2),
]
CODES = [(section, name) for section, names in DEFAULTS["codes"].items() for name in names]


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Profile]:
    path = tmp_path / "carrier.toml"

    def load(text: str) -> Profile:
        path.write_text(text, encoding="utf-8")
        return load_profile(path)

    return load


def assert_refused(load: Callable[[str], Profile], text: str, *named: str) -> str:
    with pytest.raises(InputProblem) as problem:
        load(text)
    said = str(problem.value)
    assert problem.value.exit_code == 2
    assert "carrier.toml" in said
    assert "\n" not in said
    for name in named:
        assert name in said
    return said


def _as_dict(profile: Profile) -> dict[str, dict[str, Any]]:
    return {section: vars(getattr(profile, section)) for section in DEFAULTS}


# --- the profile ---------------------------------------------------------------------------------


def test_the_defaults_are_the_contract_s(load: Callable[[str], Profile]) -> None:
    assert _as_dict(Profile()) == DEFAULTS
    assert load_profile(None) == load("") == load("# nothing yet\n[carrier]\n[codes.fee_type]") == Profile()


@pytest.mark.parametrize(
    ("section", "key", "written", "value"), KEYS, ids=[f"{s}.{k}" for s, k, _, _ in KEYS]
)
def test_every_key_is_taken_and_changes_nothing_else(
    load: Callable[[str], Profile], section: str, key: str, written: str, value: Any
) -> None:
    expected = {**DEFAULTS, section: {**DEFAULTS[section], key: value}}
    assert _as_dict(load(f"[{section}]\n{key} = {written}")) == expected


@pytest.mark.parametrize(("section", "name"), CODES)
def test_every_code_is_taken_and_the_others_keep_the_interface_s_own(
    load: Callable[[str], Profile], section: str, name: str
) -> None:
    profile = load(f'[codes.{section}]\n{name} = "X1"')
    expected = {**DEFAULTS["codes"], section: {**DEFAULTS["codes"][section], name: "X1"}}
    assert _as_dict(profile) == {**DEFAULTS, "codes": expected}


def test_these_are_all_keys_there_are() -> None:
    named = {(section, key) for section, key, _, _ in KEYS} | {("carrier", "ca_file"), ("carrier", "proxy")}
    assert named == {
        (section, key) for section, keys in DEFAULTS.items() if section != "codes" for key in keys
    }
    of_codes = {f"codes.{section}": tuple(names) for section, names in DEFAULTS["codes"].items()}
    others = {section: tuple(keys) for section, keys in DEFAULTS.items() if section != "codes"}
    assert {section: tuple(keys) for section, keys in profile_keys().items()} == of_codes | others


@pytest.mark.parametrize(
    ("section", "key", "value", "said"),
    [
        ("carrier", "base_url", "https://carrier.example", ""),
        ("carrier", "base_url", "http://carrier.example", "must be https"),
        ("carrier", "ticket_prefixes", ["99"], "must list 3-digit prefixes"),
        ("codes.fee_type", "ticket_fare", "FARE", ""),
        ("codes.fee_type", "ticket_fare", "A\nB", "must not hold control characters"),
    ],
)
def test_one_value_can_be_tried_alone(section: str, key: str, value: object, said: str) -> None:
    assert str(unfit(section, key, value)).startswith(said)
    assert bool(unfit(section, key, value)) is bool(said)


def test_a_ca_file_must_exist_and_hold_a_certificate(
    load: Callable[[str], Profile], tmp_path: Path, needs_tool: Callable[[str, object], None]
) -> None:
    needs_tool("openssl", shutil.which("openssl"))
    bundle = tmp_path / "office.pem"
    text = f"[carrier]\nca_file = {json.dumps(str(bundle))}"
    assert "office.pem" in assert_refused(load, text, "[carrier].ca_file", "does not exist")
    for nonsense in (b"", b"x", b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", b"\xff\x00"):
        bundle.write_bytes(nonsense)
        assert "office.pem" in assert_refused(load, text, "[carrier].ca_file", "holds no certificate")
    Path(f"{certificate(tmp_path, 'DNS:carrier.example')}.crt").rename(bundle)
    assert load(text).carrier.ca_file == str(bundle)
    assert load('[carrier]\nca_file = ""').carrier.ca_file == ""


def test_a_profile_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "carrier.toml"
    path.write_text('[carrier]\nagency = "代理"', encoding="utf-8-sig")
    assert load_profile(path).carrier.agency == "代理"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("agency = 'x'", "agency"),
        ("[carier]", "carier"),
        ("[carrier]\nbase_ur = 'http://localhost'", "[carrier].base_ur"),
        ("[carrier]\nAPIKEY = 'x'", "[carrier].APIKEY"),
        ("[codes.fee_typ]", "[codes].fee_typ"),
        ("[codes.fee_type]\nfare = 'x'", "[codes.fee_type].fare"),
        ("[codes.product_type]\nticket = 'x'", "[codes.product_type].ticket"),
        ("[codes.header_type]\ncompany = 'x'", "[codes.header_type].company"),
        ("[limits]\ncurrency = 'x'", "[limits].currency"),
        ("[required]\nboth = []", "[required].both"),
        ("[submission]\nretries = 3", "[submission].retries"),
        ("[answers]\nrejected_http = [400]", "[answers].rejected_http"),
        ("[reconcile]\nsettle_after_days = 2", "[reconcile].settle_after_days"),
        ("[carrier.base]\nurl = 'x'", "[carrier].base"),
    ],
)
def test_an_unknown_key_is_refused_by_its_full_name(
    load: Callable[[str], Profile], text: str, named: str
) -> None:
    assert "known" in assert_refused(load, text, named)


@pytest.mark.parametrize(
    ("section", "key", "written"),
    [
        ("carrier", "base_url", "1"),
        ("carrier", "base_url", '"https://:password@carrier.example"'),
        ("carrier", "base_url", '""'),
        ("carrier", "base_url", '"carrier.example"'),
        ("carrier", "base_url", '"ftp://carrier.example"'),
        ("carrier", "base_url", '"https://"'),
        ("carrier", "base_url", '"https://carrier.example:99999"'),
        ("carrier", "base_url", '"https://user:secret@carrier.example"'),
        ("carrier", "base_url", '"https://user@carrier.example"'),
        ("carrier", "base_url", '"https://carrier.example/?key=1"'),
        ("carrier", "base_url", '"https://carrier.example/#a"'),
        ("carrier", "base_url", '"https://carrier.example\\n"'),
        ("carrier", "agency", '" "'),
        ("carrier", "agency", "7"),
        ("carrier", "agency", '"A\\r\\nX-Other: 1"'),
        ("carrier", "time_zone", '"Beijing"'),
        ("carrier", "time_zone", '"../../etc/passwd"'),
        ("carrier", "time_zone", "8"),
        ("carrier", "ticket_prefixes", '"999"'),
        ("carrier", "ticket_prefixes", "[999]"),
        ("carrier", "ticket_prefixes", '["99"]'),
        ("carrier", "ticket_prefixes", '["９９９"]'),
        ("carrier", "ticket_no_hyphen", '"true"'),
        ("carrier", "ticket_no_hyphen", "1"),
        ("carrier", "currency", '""'),
        ("carrier", "proxy", '"socks5://proxy:1080"'),
        ("carrier", "proxy", '"proxy:3128"'),
        ("carrier", "proxy", '"http://"'),
        ("carrier", "proxy", '"http://proxy:0"'),
        ("carrier", "proxy", '"http://proxy:port"'),
        ("carrier", "proxy", '"http://[::1"'),
        ("carrier", "ca_file", '"nowhere.pem"'),
        ("codes.fee_type", "refund", "1"),
        ("codes.fee_type", "refund", '"A\\u0000"'),
        ("codes.fee_type", "refund", '"A\\u007F"'),
        ("codes.header_type", "business", "true"),
        ("limits", "domestic_invoice_max", '"ten"'),
        ("limits", "domestic_invoice_max", '"0"'),
        ("limits", "domestic_invoice_max", '"-1"'),
        ("limits", "domestic_invoice_max", '"1.005"'),
        ("limits", "domestic_invoice_max", '"NaN"'),
        ("limits", "domestic_invoice_max", '"Infinity"'),
        ("limits", "domestic_invoice_max", '"1,000"'),
        ("limits", "domestic_invoice_max", "true"),
        ("limits", "international_invoice_max", "[]"),
        ("limits", "max_charges_per_invoice", "-1"),
        ("limits", "max_charges_per_invoice", "1.5"),
        ("limits", "max_charges_per_invoice", "true"),
        ("required", "invoice", '"phone"'),
        ("required", "invoice", '["fax"]'),
        ("required", "itinerary", "[1]"),
        ("submission", "concurrency", "0"),
        ("submission", "concurrency", "1001"),
        ("submission", "concurrency", "4.0"),
        ("submission", "rate_per_second", "-1"),
        ("submission", "rate_per_second", "nan"),
        ("submission", "rate_per_second", "inf"),
        ("submission", "connect_timeout_seconds", "0"),
        ("submission", "response_timeout_seconds", '"60"'),
        ("submission", "response_timeout_seconds", "true"),
        ("submission", "keepalive_seconds", "-1"),
        ("answers", "not_processed_http", "429"),
        ("answers", "not_processed_http", "[200]"),
        ("answers", "not_processed_http", "[600]"),
        ("answers", "not_processed_codes", '["5001"]'),
        ("answers", "rejected_codes", "[true]"),
        ("answers", "key_refused_codes", "[4.5]"),
        ("reconcile", "settle_after_hours", '"48"'),
        ("reconcile", "settle_after_hours", "-1"),
        ("itinerary_files", "archive", "1"),
        ("itinerary_files", "seal_roots", '["missing.pem"]'),
        ("itinerary_files", "seal_roots", '"a.pem"'),
        ("approval", "people", "0"),
        ("approval", "people", "3"),
        ("approval", "people", "true"),
    ],
)
def test_a_wrong_value_is_refused_by_its_key(
    load: Callable[[str], Profile], section: str, key: str, written: str
) -> None:
    assert_refused(load, f"[{section}]\n{key} = {written}", f"[{section}].{key} ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("carrier = 1", "[carrier] must be a section in square brackets"),
        ("codes = []", "[codes] must be a section in square brackets"),
        (
            "agency = 'x'",
            "the profile.agency is not a known key; known here: carrier, limits, required, submission, answers, reconcile, itinerary_files, approval, codes",
        ),
        ("[required]\nall = []", "[required].all is not a known key; known here: invoice, itinerary"),
        ("[carrier]\nagency = 7", "[carrier].agency must be a text in quotes"),
        ('[carrier]\nagency = "\\u0007"', "[carrier].agency must not hold control characters"),
        ('[carrier]\nagency = " "', "[carrier].agency must not be empty"),
        ("[carrier]\nticket_no_hyphen = 1", "[carrier].ticket_no_hyphen must be true or false"),
        ('[carrier]\nticket_prefixes = "999"', "[carrier].ticket_prefixes must be a list in square brackets"),
        (
            "[carrier]\nticket_prefixes = [999]",
            '[carrier].ticket_prefixes must list 3-digit prefixes in quotes, such as "999"',
        ),
        ('[required]\ninvoice = ["fax"]', '[required].invoice must be of "phone", "email"'),
        (
            '[carrier]\ntime_zone = "Beijing"',
            '[carrier].time_zone is not a known time zone; write it like "Asia/Shanghai"',
        ),
        (
            '[carrier]\nbase_url = "carrier.example"',
            '[carrier].base_url must be a full address such as "https://carrier.example/api"',
        ),
        (
            '[carrier]\nbase_url = "https://user@carrier.example"',
            "[carrier].base_url must not hold a user name, a password, a query or a fragment",
        ),
        (
            '[carrier]\nbase_url = "http://carrier.example"',
            "[carrier].base_url must be https: plain http is accepted for this machine's loopback only",
        ),
        ('[carrier]\nca_file = "no.pem"', "[carrier].ca_file names a file that does not exist: no.pem"),
        (
            f'[carrier]\nca_file = "{"a" * 300}"',
            "[carrier].ca_file names a file that can't be read (File name too long)",
        ),
        (
            '[carrier]\nproxy = "proxy:3128"',
            '[carrier].proxy must be an HTTP proxy such as "http://proxy.office:3128"',
        ),
        (
            "[submission]\nrate_per_second = -1",
            "[submission].rate_per_second must be a number from 0 to 100000",
        ),
        (
            "[submission]\nconnect_timeout_seconds = 0",
            "[submission].connect_timeout_seconds must be a number from 0.1 to 3600",
        ),
        (
            "[submission]\nconcurrency = 0",
            "[submission].concurrency must be a whole number from 1 to 1000",
        ),
        (
            '[limits]\ndomestic_invoice_max = "ten"',
            '[limits].domestic_invoice_max must be an amount such as "10000" or "10000.00"',
        ),
        (
            "[answers]\nrejected_codes = [403]",
            "[answers].key_refused_codes holds 403, which already means rejected_codes; keep one",
        ),
        (
            "[answers]\nnot_processed_http = [401]",
            "[answers].not_processed_http holds 401, which already means key_refused_codes; keep one",
        ),
    ],
)
def test_a_refusal_says_what_is_wanted(
    load: Callable[[str], Profile], tmp_path: Path, text: str, said: str
) -> None:
    assert assert_refused(load, text) == f"Profile {tmp_path / 'carrier.toml'}: {said}"


def test_a_section_must_be_a_section(load: Callable[[str], Profile]) -> None:
    for text in ("carrier = 1", "[[carrier]]", "codes = []", "[codes]\nfee_type = 'x'"):
        assert_refused(load, text, "must be a section")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[carrier", "near its end something is not finished, or a key stands twice"),
        ("agency = ", "near its end"),
        ("[carrier]\n[carrier]", "line 2, column 9"),
        ("= 1", "line 1, column 1"),
        ("[carrier]\nagency = 'a' 'b'", "line 2, column 14"),
    ],
)
def test_a_file_that_is_no_toml_is_told_with_the_place(
    load: Callable[[str], Profile], text: str, place: str
) -> None:
    assert_refused(load, text, f"is not valid TOML: {place}")


def test_a_profile_that_can_t_be_read_is_told_by_its_path(tmp_path: Path) -> None:
    missing, binary, pipe = (tmp_path / name for name in ("missing.toml", "binary.toml", "pipe.toml"))
    binary.write_bytes(b"\xff\xfe[\x00")
    os.mkfifo(pipe)
    not_read = "can't be read ({}); check the path"
    for path, told in (
        (missing, not_read.format("No such file or directory")),
        (tmp_path, not_read.format("Is a directory")),
        (pipe, not_read.format("it is not a file but a pipe or a device")),
        (binary, "is not valid TOML: byte 1 is not UTF-8"),
    ):
        with pytest.raises(InputProblem) as problem:
            load_profile(path)
        assert str(problem.value) == f"Profile {path}: {told}"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080",
        "http://127.8.9.1",
        "http://localhost:1",
        "http://[::1]:8080/x",
        "https://carrier.example",
    ],
)
def test_loopback_may_be_plain_and_anything_may_be_https(load: Callable[[str], Profile], url: str) -> None:
    assert load(f'[carrier]\nbase_url = "{url}"').carrier.base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://carrier.example",
        "HTTP://carrier.example",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "http://127.0.0.1.carrier.example",
        "http://localhost.carrier.example",
        "http://[2001:db8::1]",
        "http://128.0.0.1",
    ],
)
def test_plain_http_to_anywhere_else_is_refused(load: Callable[[str], Profile], url: str) -> None:
    assert not is_loopback(url)
    assert_refused(load, f'[carrier]\nbase_url = "{url}"', "[carrier].base_url", "https")


@pytest.mark.parametrize("proxy", ["http://user:password@proxy.office:3128", "http://proxy.office", ""])
def test_a_proxy_goes_with_https(load: Callable[[str], Profile], proxy: str) -> None:
    text = f'[carrier]\nbase_url = "https://carrier.example"\nproxy = "{proxy}"'
    assert load(text).carrier.proxy == proxy


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8080", "HTTP://localhost", "http://[::1]:80"])
def test_a_proxy_is_refused_where_it_would_be_told_the_key(
    load: Callable[[str], Profile], base_url: str
) -> None:
    text = f'[carrier]\nbase_url = "{base_url}"\nproxy = "http://user:password@proxy.office:3128"'
    assert_refused(load, text, "[carrier].proxy", "[carrier].base_url", "https")
    with pytest.raises(InputProblem) as refused:
        load(text)
    assert "word@" not in str(refused.value)


def test_a_proxys_password_is_in_no_message(load: Callable[[str], Profile]) -> None:
    for wrong in (
        "socks5://user:password@proxy:1080",
        "http://user:password@proxy:port",
        "http://user:password@[::1",
    ):
        with pytest.raises(InputProblem) as refused:
            load(f'[carrier]\nproxy = "{wrong}"')
        assert "word@" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("rejected_codes = [5]\nnot_processed_codes = [5]", ["5", "rejected_codes", "not_processed_codes"]),
        ("rejected_codes = [401]", ["401", "key_refused_codes"]),
        ("not_processed_codes = [403]", ["403", "key_refused_codes"]),
        ("rejected_codes = [200]", ["200", "success"]),
        ("not_processed_codes = [200]", ["200", "success"]),
        ("key_refused_codes = [200]", ["200", "success"]),
        ("not_processed_http = [401]", ["401", "key_refused_codes"]),
        ("key_refused_codes = [429]", ["429", "not_processed_http"]),
    ],
)
def test_an_answer_can_t_mean_two_things(load: Callable[[str], Profile], text: str, named: list[str]) -> None:
    assert_refused(load, f"[answers]\n{text}", "[answers].", *named)


def test_a_time_zone_is_taken_as_it_was_checked(load: Callable[[str], Profile]) -> None:
    zone = load('[carrier]\ntime_zone = " Asia/Shanghai "').carrier.time_zone
    assert zone == "Asia/Shanghai"


def test_a_code_of_blanks_is_no_code(load: Callable[[str], Profile]) -> None:
    try:
        profile = load('[codes.fee_type]\nticket_fare = " "')
    except InputProblem:
        return
    assert profile.wire("ticket_fare", "flight") is None


@pytest.mark.parametrize(
    "text",
    [
        '[limits]\ndomestic_invoice_max = "9e999999"',
        f'[carrier]\nca_file = "{"a" * 5000}"',
        '"a\\nb" = 1',
    ],
)
def test_an_absurd_value_is_refused_in_one_line_like_any_other(
    load: Callable[[str], Profile], text: str
) -> None:
    assert_refused(load, text)


# --- the carrier's day ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "carrier"),
    [
        ("Etc/GMT+12", "Pacific/Kiritimati"),
        *(
            pytest.param(machine, carrier, marks=pytest.mark.slow)
            for machine in ("America/Los_Angeles", "Etc/GMT+12", "UTC")
            for carrier in ("Pacific/Kiritimati", "Asia/Shanghai", "Etc/GMT+12")
            if (machine, carrier) != ("Etc/GMT+12", "Pacific/Kiritimati")
        ),
    ],
)
def test_today_is_the_carrier_s_day_whatever_the_machine_s_clock_shows(machine: str, carrier: str) -> None:
    # Kiritimati and Etc/GMT+12 lie 26 hours apart: their days differ at every moment.
    script = (
        "from pipeline.model.job import today; from pipeline.model.profile import Carrier, Profile;"
        f"print(today(Profile(carrier=Carrier(time_zone={carrier!r}))))"
    )
    before = datetime.datetime.now(ZoneInfo(carrier)).date()
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TZ": machine, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    after = datetime.datetime.now(ZoneInfo(carrier)).date()
    assert before <= datetime.date.fromisoformat(done.stdout.strip()) <= after
