"""Every fault as it looks from outside, whom it befalls, and what a fault file may say."""

import errno
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pipeline.carrier.crypto import Cipher, Undecryptable
from pipeline.model.errors import InputProblem
from pipeline.sandbox.fault_file import Faults, FileStrike

CUT = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
# What a fault needs beside its kind.
KINDS = {
    "refuse": "",
    "http": "status = 503",
    "envelope": "code = 503",
    "reset": "",
    "close": "",
    "garbage": "",
    "undecryptable": "",
    "nonsense": "",
    "wrong_ticket": "",
    "truncated": "",
}


@pytest.fixture
def faulty(carrier: Any, tmp_path: Path) -> Any:
    def load(text: str) -> Any:
        carrier.fault_file(tmp_path / "faults.toml", text)
        return carrier

    return load


def _fault(kind: str, rest: str = "") -> str:
    return f'[[fault]]\nkind = "{kind}"\n{KINDS.get(kind, "")}\n{rest}\n'


def _one(carrier: Any, request: Any) -> Any:
    (answer,) = carrier.answers(request)
    return answer


def _faults(text: str, tmp_path: Path) -> Faults:
    path = tmp_path / "faults.toml"
    path.write_text(text, encoding="utf-8")
    return Faults.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["invoice", "itinerary"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "refuse"])
def test_only_a_fault_after_issuing_has_issued(
    faulty: Any, kit: Any, kind: str, when: str, operation: str
) -> None:
    carrier = faulty(_fault(kind, f'when = "{when}"\nfirst = 1'))
    request = kit.invoice(kit.fare()) if operation == "invoice" else kit.itinerary()
    _, again = carrier.answers(request, request)
    assert again.accepted == (when == "before")
    assert carrier.counts.faulty == 1
    assert carrier.counts.issued == 1


@pytest.mark.parametrize("operation", ["invoice", "itinerary"])
def test_refuse_is_a_business_refusal(faulty: Any, kit: Any, operation: str) -> None:
    carrier = faulty(_fault("refuse", 'message = "not today"\nfirst = 1'))
    request = kit.invoice(kit.fare()) if operation == "invoice" else kit.itinerary()
    refused, again = carrier.answers(request, request)
    assert not refused.accepted
    assert again.accepted
    if operation == "invoice":
        assert refused.result == {"success": False, "errInfo": "not today", "invoiceId": ""}


def test_http_is_a_status_with_its_headers_and_body(faulty: Any, kit: Any) -> None:
    carrier = faulty('[[fault]]\nkind = "http"\nstatus = 429\nretry_after = 2\nbody = "later"')
    answer = _one(carrier, kit.invoice(kit.fare()))
    assert (answer.status, answer.headers["Retry-After"], answer.text) == (429, "2", "later")


def test_http_may_lead_elsewhere(faulty: Any, kit: Any) -> None:
    carrier = faulty('[[fault]]\nkind = "http"\nstatus = 307\nlocation = "http://127.0.0.1:1/x"')
    answer = _one(carrier, kit.invoice(kit.fare()))
    assert (answer.status, answer.headers["Location"]) == (307, "http://127.0.0.1:1/x")


@pytest.mark.parametrize("status", [200, 204, 304, 599])
def test_every_final_status_can_be_had(faulty: Any, kit: Any, status: int) -> None:
    carrier = faulty(f'[[fault]]\nkind = "http"\nstatus = {status}')
    answer = _one(carrier, kit.invoice(kit.fare()))
    assert (answer.error, answer.status, answer.text) == (None, status, "")
    assert "Retry-After" not in answer.headers


def test_envelope_is_a_code_and_a_message(faulty: Any, kit: Any) -> None:
    carrier = faulty('[[fault]]\nkind = "envelope"\ncode = 5001\nmessage = "busy"')
    answer = _one(carrier, kit.invoice(kit.fare()))
    trace_id = answer.envelope.pop("traceId")
    assert trace_id
    assert (answer.status, answer.envelope) == (200, {"code": 5001, "message": "busy", "data": ""})


def test_reset_and_close_cut_the_connection(faulty: Any, kit: Any) -> None:
    carrier = faulty(_fault("reset", "requests = [1]") + _fault("close", "requests = [2]"))
    fares = kit.invoice(kit.fare())
    reset, closed, fine = carrier.answers(fares, fares, fares)
    assert isinstance(reset.error, aiohttp.ClientOSError)
    assert reset.error.errno == errno.ECONNRESET
    assert isinstance(closed.error, aiohttp.ServerDisconnectedError)
    assert fine.accepted


def test_garbage_is_not_json(faulty: Any, kit: Any) -> None:
    answer = _one(faulty(_fault("garbage")), kit.invoice(kit.fare()))
    assert answer.status == 200
    assert answer.text.startswith("<html>")


@pytest.mark.parametrize("kind", ["undecryptable", "nonsense", "wrong_ticket"])
def test_some_faults_say_success_outside(faulty: Any, kit: Any, kind: str) -> None:
    answer = _one(faulty(_fault(kind)), kit.itinerary())
    assert (answer.status, answer.envelope["code"], answer.envelope["message"]) == (200, 200, "success")


def test_undecryptable_data_opens_for_no_key(faulty: Any, kit: Any) -> None:
    answer = _one(faulty(_fault("undecryptable")), kit.invoice(kit.fare()))
    assert answer.envelope["data"]
    for key in map(str, range(300)):
        with pytest.raises(Undecryptable):
            Cipher(key).open(answer.envelope["data"])


@pytest.mark.slow
def test_nonsense_decrypts_to_something_that_is_not_json(faulty: Any, kit: Any) -> None:
    answer = _one(faulty(_fault("nonsense")), kit.invoice(kit.fare()))
    assert answer.plaintext is not None
    with pytest.raises(ValueError, match="Expecting value"):
        _ = answer.result


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("ticket_no", ["9991234567890", "999-1234567891"])
def test_a_wrong_ticket_is_another_ticket(faulty: Any, kit: Any, when: str, ticket_no: str) -> None:
    carrier = faulty(_fault("wrong_ticket", f'when = "{when}"'))
    carrier.rows = [kit.fare(ticket_no.replace("-", ""))]
    itinerary = _one(carrier, kit.itinerary(ticket_no)).result["itineraryResult"]
    assert itinerary["success"] is True
    assert len(itinerary["itineraryNum"]) == 20
    assert itinerary["ticketNo"] != ticket_no
    assert len(itinerary["ticketNo"]) == len(ticket_no)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_wrong_invoice_has_no_number(faulty: Any, kit: Any, when: str) -> None:
    answer = _one(faulty(_fault("wrong_ticket", f'when = "{when}"')), kit.invoice(kit.fare()))
    assert answer.accepted
    assert answer.result.keys() == {"success", "errInfo"}


def test_truncated_promises_more_than_it_gives(faulty: Any, kit: Any) -> None:
    answer = _one(faulty(_fault("truncated")), kit.invoice(kit.fare()))
    assert isinstance(answer.error, aiohttp.ClientPayloadError)


@pytest.mark.parametrize("kind", ["http", "truncated"])
def test_a_refusal_can_go_wrong_too(faulty: Any, kit: Any, kind: str) -> None:
    carrier = faulty(_fault(kind, 'when = "after"'))
    answer = _one(carrier, kit.invoice(kit.refund()))
    assert answer.error or answer.status == 503
    assert (carrier.counts.refused, carrier.counts.issued) == (1, 0)


@pytest.mark.parametrize("when", ["before", "after"])
def test_latency_waits_and_adds_up(faulty: Any, kit: Any, when: str) -> None:
    slow = f'[[fault]]\nkind = "latency"\nseconds = 0.1\nwhen = "{when}"\n'
    carrier = faulty(slow + _fault("refuse") + slow)

    async def timed(caller: Any) -> tuple[Any, float]:
        start = time.monotonic()
        return await caller.ask(kit.invoice(kit.fare())), time.monotonic() - start

    answer, seconds = carrier.talk(timed)
    assert not answer.accepted
    # What befalls before issuing is answered then, so that nothing waits after it.
    assert 0.2 <= seconds < 1 if when == "before" else seconds < 0.1


@pytest.mark.slow
def test_a_caller_who_does_not_wait_may_have_been_issued_something(faulty: Any, kit: Any) -> None:
    carrier = faulty('[[fault]]\nkind = "latency"\nseconds = 60\nwhen = "after"\nfirst = 1')

    async def impatient(caller: Any) -> Any:
        timeout = aiohttp.ClientTimeout(total=0.1)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            with pytest.raises(TimeoutError):
                await type(caller)(caller.base_url, session).ask(kit.invoice(kit.fare()))
        return await caller.ask(kit.invoice(kit.fare()))

    assert not carrier.talk(impatient).accepted
    assert carrier.counts.issued == 1


def test_only_well_formed_requests_with_the_right_key_are_counted(faulty: Any, kit: Any) -> None:
    carrier = faulty(_fault("close", "requests = [1]"))

    async def talk(caller: Any) -> list[Any]:
        return [
            await caller.post("/invoice/issueInvoice", b"{}", APIKEY="wrong"),
            await caller.post("/invoice/issueInvoice", b"{}"),
            await caller.ask(kit.invoice(kit.fare())),
        ]

    wrong, malformed, befallen = carrier.talk(talk)
    assert (wrong.status, malformed.status) == (401, 200)
    assert isinstance(befallen.error, CUT)


def _struck(
    faults: Faults, count: int, operation: Any = "invoice", ticket: str = "9991234567890"
) -> list[int]:
    return [
        ordinal for ordinal in range(1, count + 1) if faults.strike(operation, [ticket]).fault is not None
    ]


@pytest.mark.parametrize(
    ("selection", "struck"),
    [
        ("", [1, 2, 3, 4, 5, 6, 7]),
        ("every = 3", [3, 6]),
        ("every = 1", [1, 2, 3, 4, 5, 6, 7]),
        ("first = 2", [1, 2]),
        ("requests = [7, 3]", [3, 7]),
        ("probability = 0", []),
        ("probability = 1.0", [1, 2, 3, 4, 5, 6, 7]),
        ('operation = "both"', [1, 2, 3, 4, 5, 6, 7]),
        ('operation = "itinerary"', []),
        ('tickets = ["9991234567890"]', [1, 2, 3, 4, 5, 6, 7]),
        ('tickets = ["999-1234567890", "9990000000000"]\nfirst = 1', [1]),
        ('tickets = ["9990000000000"]', []),
    ],
)
def test_whom_a_fault_befalls(tmp_path: Path, selection: str, struck: list[int]) -> None:
    assert _struck(_faults(_fault("close", selection), tmp_path), 7) == struck


def test_a_fault_counts_what_matches_it(tmp_path: Path) -> None:
    faults = _faults(_fault("close", 'operation = "itinerary"\nrequests = [2]'), tmp_path)
    assert _struck(faults, 5) == []
    assert _struck(faults, 5, "itinerary") == [2]


def test_one_ticket_of_a_request_is_enough(tmp_path: Path) -> None:
    faults = _faults(_fault("close", 'tickets = ["9990000000002"]'), tmp_path)
    assert faults.strike("invoice", ["9990000000001", "999-0000000002"]).fault is not None
    assert faults.strike("invoice", ["9990000000001"]).fault is None


def test_the_first_of_several_faults_wins_and_all_count(tmp_path: Path) -> None:
    faults = _faults(_fault("close", "requests = [2]") + _fault("garbage", "every = 2"), tmp_path)
    struck = [faults.strike("invoice", []).fault for _ in range(4)]
    assert [fault and fault.kind for fault in struck] == [None, "close", None, "garbage"]


def test_the_same_seed_strikes_the_same_requests(tmp_path: Path) -> None:
    text = _fault("close", "probability = 0.3")
    once, again, other = (_struck(_faults(f"seed = {seed}\n{text}", tmp_path), 200) for seed in (7, 7, 8))
    assert once == again != other
    assert 30 < len(once) < 90


def test_faults_of_files_befall_no_request_and_those_of_requests_no_file(tmp_path: Path) -> None:
    faults = _faults(_fault("file_zip") + _fault("close") + _fault("latency", "seconds = 2"), tmp_path)
    strike = faults.strike("itinerary", ["9991234567890"])
    assert (strike.fault and strike.fault.kind, strike.seconds_before) == ("close", 2)
    assert faults.strike_file("9991234567890") == FileStrike(frozenset({"zip"}))
    assert faults.first_of_files == "file_zip"
    assert _faults(_fault("close"), tmp_path).first_of_files == ""


def test_all_faults_of_a_file_befall_it_and_lateness_is_added(tmp_path: Path) -> None:
    faults = _faults(
        _fault("file_zip", "every = 2") + _fault("file_late", "seconds = 3")
        + _fault("file_late", 'seconds = 4\ntickets = ["999-0000000002"]'), tmp_path
    )  # fmt: skip
    struck = [faults.strike_file(f"999000000000{number}") for number in (1, 2, 3, 2)]
    assert [sorted(strike.kinds) for strike in struck] == [
        ["late"],
        ["late", "zip"],
        ["late"],
        ["late", "zip"],
    ]
    assert [strike.seconds for strike in struck] == [3, 7, 3, 7]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = 1", "unknown key 'colour'"),
        ("seed = 1.5", "seed must be"),
        ("seed = true", "seed must be"),
        ("fault = 1", r"\[\[fault\]\] tables"),
        ("fault = [1]", r"\[\[fault\]\] tables"),
        ("[[fault", "is not TOML"),
        ("[[fault]]\nfirst = 1", "fault 1: lacks kind"),
        (_fault("close") + '[[fault]]\nkind = "clsoe"', "fault 2: kind must be one of latency"),
        ("[[fault]]\nkind = 1", "kind must be"),
        ("[[fault]]\nkind = []", "kind must be"),
        (_fault("close", "evry = 1"), "unknown key 'evry'"),
        (_fault("close", "status = 500"), "status has no meaning for close"),
        (_fault("close", "seconds = 1"), "seconds has no meaning for close"),
        ('[[fault]]\nkind = "latency"', "lacks seconds"),
        ('[[fault]]\nkind = "http"', "lacks status"),
        ('[[fault]]\nkind = "envelope"', "lacks code"),
        ('[[fault]]\nkind = "http"\nstatus = 199', "status must be"),
        ('[[fault]]\nkind = "http"\nstatus = 600', "status must be"),
        ('[[fault]]\nkind = "http"\nstatus = "500"', "status must be"),
        (_fault("http", "retry_after = -1"), "retry_after must be"),
        (_fault("http", "retry_after = 1.5"), "retry_after must be"),
        (_fault("http", 'location = "a\\r\\nb"'), "location must be"),
        (_fault("http", "body = 1"), "body must be"),
        ('[[fault]]\nkind = "envelope"\ncode = true', "code must be"),
        ('[[fault]]\nkind = "latency"\nseconds = -0.1', "seconds must be"),
        ('[[fault]]\nkind = "latency"\nseconds = nan', "seconds must be"),
        ('[[fault]]\nkind = "latency"\nseconds = inf', "seconds must be"),
        (_fault("close", 'when = "during"'), "when must be"),
        (_fault("refuse", 'when = "after"'), "when must be"),
        (_fault("close", 'operation = "all"'), "operation must be"),
        (_fault("close", "every = 0"), "every must be"),
        (_fault("close", "first = 0"), "first must be"),
        (_fault("close", "first = true"), "first must be"),
        (_fault("close", "requests = []"), "requests must be"),
        (_fault("close", "requests = [0]"), "requests must be"),
        (_fault("close", "requests = 3"), "requests must be"),
        (_fault("close", "probability = 1.1"), "probability must be"),
        (_fault("close", 'tickets = ["999"]'), "tickets must be"),
        (_fault("close", "tickets = [9991234567890]"), "tickets must be"),
        (_fault("close", "first = 1\nevery = 2"), "every and first exclude each other"),
        ('[[fault]]\nkind = "file_late"', "lacks seconds: add seconds, which is a number of seconds"),
        (_fault("file_late", "seconds = -1"), "seconds must be a number of seconds"),
        (_fault("file_zip", "seconds = 1"), "seconds has no meaning for file_zip: remove it"),
        (_fault("file_zip", 'when = "after"'), "when has no meaning for file_zip: remove it"),
        (_fault("file_zip", 'operation = "itinerary"'), "operation has no meaning for file_zip: remove it"),
        (_fault("file_lost"), "kind must be one of .*file_never"),
    ],
)
def test_a_fault_file_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputProblem, match=rf"faults\.toml: .*{said}"):
        _faults(text, tmp_path)


def test_a_fault_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="check the path"):
        Faults.load(tmp_path / "faults.toml")
    (tmp_path / "faults.toml").write_bytes(b"\xff")
    with pytest.raises(InputProblem, match="is not TOML"):
        Faults.load(tmp_path / "faults.toml")


def test_no_faults_befall_nobody() -> None:
    assert Faults().strike("invoice", ["9991234567890"]).fault is None
