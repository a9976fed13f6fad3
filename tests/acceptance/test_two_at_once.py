"""Nothing is issued twice, whatever is run beside or after what; and whoever asks again is told of the earlier one.

Every case is judged by what the carrier itself was asked for and has issued. The carrier here believes
everything: unlike the sandbox it never refuses a charge that it has issued, so a second request shows as
a second voucher.

Seen to catch: a lock that is not taken; a ledger that is not asked what it holds, with and without the
database's own refusal behind it; issued charges that are split into requests again; charges of a refused
invoice that go together again; a file that is read once for each of its names; a ledger's owner that is
not looked at; a ledger that goes away unnoticed.
"""

import contextlib
import datetime
import json
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest

from pipeline.carrier.crypto import Cipher
from tests.acceptance.conftest import BUYERS, KEYS, Desk, Ran, write_workbook

DAY = ("--as-of", "2026-11-20")
Row = dict[str, Any]


@dataclass
class Carrier:
    """A carrier that issues whatever it is asked for, as often as it is asked, and keeps a statement of it."""

    base_url: str = ""
    #: (ticket, fee type or "itinerary", product) and the voucher's number, a line a charge.
    statement: list[tuple[tuple[str, str, str], str]] = field(default_factory=list)
    #: The tickets of each request, in the order of arrival.
    asked: list[tuple[str, ...]] = field(default_factory=list)
    #: Tickets whose requests are refused; are issued, but never answered.
    refuses: set[str] = field(default_factory=set)
    loses: set[str] = field(default_factory=set)
    #: Answers wait for this; what is asked is issued before.
    answers: threading.Event = field(default_factory=threading.Event)

    def twice(self) -> list[tuple[str, str, str]]:
        """Charges that it issued more than once."""
        return sorted(charge for charge, count in Counter(c for c, _ in self.statement).items() if count > 1)

    def take(self, path: str, body: bytes) -> bytes | None:
        """The answer to one request, None: the connection breaks."""
        cipher = Cipher(KEYS["VOUCHER_ENCRYPTION_KEY"])
        asked = json.loads(cipher.open(json.loads(body)))
        if path.endswith("issueInvoice"):
            fees = asked["issueInvoiceInfo"]["ticketFeeList"]
            charges = [(fee["ticketNo"], fee["feeType"], fee["productType"]) for fee in fees]
        else:
            charges = [(asked["issueItinerary"]["ticketNo"], "itinerary", "")]
        tickets = {ticket for ticket, _, _ in charges}
        self.asked.append(tuple(ticket for ticket, _, _ in charges))
        number, accepted = f"{len(self.asked):020}".replace("0", "7", 1), not tickets & self.refuses
        if accepted:
            self.statement += [(charge, number) for charge in charges]
        self.answers.wait(30)
        if tickets & self.loses:
            return None
        result = {
            "success": accepted,
            "errInfo": "header not registered",
            "invoiceId": number if accepted else "",
        }
        if path.endswith("issueItinerary"):
            inner = {
                "ticketNo": charges[0][0],
                "itineraryNum": number if accepted else "",
                "success": accepted,
            }
            result = {"itineraryResult": inner}
        data = cipher.seal(json.dumps(result).encode())
        return json.dumps({"code": 200, "message": "success", "data": data, "traceId": "t"}).encode()


@contextlib.contextmanager
def credulous_carrier() -> Iterator[Carrier]:
    carrier = Carrier()
    carrier.answers.set()

    class Service(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = carrier.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            if answer is None:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing: stderr is the program's."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A run that was killed does not wait for its answer."""

    with Server(("127.0.0.1", 0), Service) as server:
        carrier.base_url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield carrier
        finally:
            carrier.answers.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def carrier() -> Iterator[Carrier]:
    with credulous_carrier() as found:
        yield found


def ticket(number: int) -> str:
    return f"999{number:010}"


def until(true: Any) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def together(desk: Desk, *commands: Sequence[str | Path]) -> list[Ran]:
    """Several commands at the same time."""
    return [run.end() for run in [desk.begin(*command) for command in commands]]


def statuses(report: Mapping[str, Any]) -> list[str]:
    return [row["status"] for row in report["rows"]]


# --- October, then November, on one ledger -----------------------------------------------------------

INVOICE = {"voucher": "invoice"}
REFUND = {**INVOICE, "charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {**INVOICE, "charge": "ancillary", "product": "seat", "purchased_on": "2026-09-01"}
OTHER_BUYERS = (
    *BUYERS,
    (
        "Renamed",
        "business",
        "Renamed Trading Co.",
        "91110000600037341L",
        "+86 10 8520 0000",
        "finance@example.com",
    ),
    (
        "Retaxed",
        "business",
        "Acme Trading Co.",
        "91350100M000100Y43",
        "+86 10 8520 0000",
        "finance@example.com",
    ),
    ("Person", "individual", "Acme Trading Co.", "", "+86 10 8520 0000", "finance@example.com"),
)


@dataclass(frozen=True)
class Case:
    """A charge that October issued or left in doubt, and what November's workbook says of it."""

    name: str
    october: Row
    november: Row
    status: str
    code: str
    #: Patterns of what the message must say beside the earlier file, row, run and number, in either language.
    says: Sequence[str] = ()
    fate: str = "issued"  # in October; or lost


CASES = (
    Case("the same charge", {}, {}, "already_issued", ""),
    Case("the same charge, renamed codes", SEAT, SEAT, "already_issued", ""),
    Case("the same charge, another passenger", {}, {"passenger_name": "LI/NA MS"}, "already_issued", ""),
    Case("an itinerary after an invoice", INVOICE, {}, "ineligible", "voucher_conflict"),
    Case("an invoice after an itinerary", {}, INVOICE, "ineligible", "voucher_conflict"),
    Case("a refund after a fare's itinerary", {}, REFUND, "ineligible", "voucher_conflict"),
    Case("a fare's itinerary after a refund", REFUND, {}, "ineligible", "voucher_conflict"),
    Case("another amount", {}, {"amount": 1100}, "already_issued", "differs_from_issued", ("1,000.00",)),
    Case("another name", {}, {"buyer": "Renamed"}, "already_issued", "differs_from_issued", ("Acme Trading Co.",)),
    Case("another tax number", {}, {"buyer": "Retaxed"}, "already_issued", "differs_from_issued", ("91110000600037341L",)),
    Case("another kind of buyer", {}, {"buyer": "Person"}, "already_issued", "differs_from_issued", ("91110000600037341L",)),
    Case("an itinerary in doubt", {}, {}, "unknown", "no_answer", fate="lost"),
    Case("an invoice in doubt", INVOICE, INVOICE, "unknown", "no_answer", fate="lost"),
    Case("an invoice after an itinerary in doubt", {}, INVOICE, "unknown", "no_answer", fate="lost"),
    Case("a refund after a fare in doubt", {}, REFUND, "ineligible", "voucher_conflict", fate="lost"),
    Case(
        "another product that has its code now", SEAT, {**SEAT, "product": "baggage"}, "already_issued",
        "differs_from_issued", ("seat|选座",),
    ),
)  # fmt: skip
FIRST_ROW = 2  # the first case's, in both workbooks: a case has the same row in both


def group(remarks: str, *rows: Row) -> list[Row]:
    """Rows that may share invoices with each other and with no others."""
    return [{**INVOICE, **row, "remarks": remarks} for row in rows]


#: Behind the cases, in October: (ticket, amount) by what befalls the invoices that they make.
OCTOBER = [
    *group("refused whole", {"ticket_no": ticket(101)}, {"ticket_no": ticket(102)}),
    *group("in doubt", {"ticket_no": ticket(111)}, {"ticket_no": ticket(112)}),
    *group("one of three", {"ticket_no": ticket(121)}),
    *group(
        "packing",
        {"ticket_no": ticket(131), "amount": 6000},
        {"ticket_no": ticket(132), "amount": 4000},
        {"ticket_no": ticket(133), "amount": 5000},
    ),
]
NOVEMBER = [
    *OCTOBER[:4],
    *group("in doubt", {"ticket_no": ticket(113)}),
    *group(
        "one of three", {"ticket_no": ticket(121)}, {"ticket_no": ticket(122)}, {"ticket_no": ticket(123)}
    ),
    # Without 132 and with these the five would be packed in another way, and so would they by the higher limit.
    *group(
        "packing",
        {"ticket_no": ticket(134), "amount": 9000},
        {"ticket_no": ticket(131), "amount": 6000},
        {"ticket_no": ticket(133), "amount": 5000},
        {"ticket_no": ticket(135), "amount": 3000},
        {"ticket_no": ticket(136), "amount": 1000},
    ),
]


@dataclass
class Months:
    """What both runs and a look between them came to."""

    desk: Desk
    carrier: Carrier
    november: Ran
    asked_in_november: list[tuple[str, ...]]
    #: When October was issued, by the carrier's calendar.
    days: set[str]

    def row(self, at: int, *, zh: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self.desk.report("zh.json" if zh else "november.json")["rows"][at]
        return found

    def told(self, at: int, *, zh: bool = False) -> str:
        """All that the result workbook says of a row to its reader: its line on the sheet Rows."""
        book = openpyxl.load_workbook(self.desk.folder / ("zh.xlsx" if zh else "november.result.xlsx"))
        line = next(book["Rows"].iter_rows(min_row=at + 2, max_row=at + 2, values_only=True))
        return " | ".join(str(cell) for cell in line if cell not in (None, ""))

    def number(self, ticket_no: str) -> str:
        """The number of the carrier's first voucher for that ticket."""
        return next(number for (found, _, _), number in self.carrier.statement if found == ticket_no)


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Months]:
    desk = Desk(tmp_path_factory.mktemp("months"))
    with credulous_carrier() as carrier:
        cases = [{"ticket_no": ticket(at), "remarks": f"case {at}"} for at in range(1, len(CASES) + 1)]
        carrier.refuses = {ticket(102)}
        carrier.loses = {ticket(112)} | {
            row["ticket_no"] for row, case in zip(cases, CASES, strict=True) if case.fate == "lost"
        }
        october = [{**row, **case.october} for row, case in zip(cases, CASES, strict=True)]
        november = [{**row, **case.november} for row, case in zip(cases, CASES, strict=True)]
        write_workbook(desk.folder / "october.xlsx", [*october, *OCTOBER], OTHER_BUYERS)
        write_workbook(desk.folder / "november.xlsx", [*november, *NOVEMBER], OTHER_BUYERS)
        profile = desk.profile(carrier.base_url)
        # Where it is another day than in UTC: a day in a message is the carrier's.
        zone = "Pacific/Kiritimati" if datetime.datetime.now(datetime.UTC).hour >= 10 else "Pacific/Pago_Pago"
        profile.write_text(profile.read_text().replace("[carrier]", f'[carrier]\ntime_zone = "{zone}"'))
        days = {datetime.datetime.now(ZoneInfo(zone)).date()}
        arguments: list[str | Path] = ["--profile", profile, "--ledger", "L", *DAY]
        assert desk.voucher("issue", "october.xlsx", *arguments, "--report", "october.json").code == 4
        days.add(datetime.datetime.now(ZoneInfo(zone)).date())
        asked = len(carrier.asked)
        # By November the carrier has renamed its codes and raised its limit.
        text = profile.read_text().replace('"Seat"', '"SEAT_CHOICE"').replace('"TICKET_FARE"', '"FARE"')
        text = text.replace('"Baggage"', '"Seat"')
        profile.write_text(text + '[limits]\ndomestic_invoice_max = "12000"\n')
        zh = ["--lang", "zh", "--report", "zh.json", "-o", "zh.xlsx"]
        assert desk.voucher("check", "november.xlsx", *arguments, *zh).code == 4
        assert len(carrier.asked) == asked
        ran = desk.voucher("issue", "november.xlsx", *arguments, "--report", "november.json")
        yield Months(desk, carrier, ran, carrier.asked[asked:], {str(day) for day in days})


def test_over_two_months_each_charge_is_asked_for_once_and_only_new_ones_in_the_second(
    months: Months,
) -> None:
    assert months.carrier.twice() == []
    assert months.november.code == 4, months.november.err
    assert sorted(map(sorted, months.asked_in_november)) == [
        [ticket(101)],  # of an invoice that was refused as a whole each goes alone
        [ticket(102)],
        [ticket(113)],  # the others of its buyer are in doubt
        [ticket(122), ticket(123)],
        [ticket(134), ticket(135)],
        [ticket(136)],
    ]
    of_ticket = {row["ticket_no"]: row for row in months.desk.report("november.json")["rows"]}
    assert {of_ticket[ticket(number)]["status"] for number in (111, 112)} == {"unknown"}
    assert {of_ticket[ticket(number)]["status"] for number in (121, 131, 133)} == {"already_issued"}
    assert {of_ticket[ticket(number)]["status"] for number in (101, 113, 122, 123)} == {"issued"}
    assert of_ticket[ticket(102)]["status"] == "rejected"


@pytest.mark.parametrize("at", range(len(CASES)), ids=[case.name for case in CASES])
def test_a_charge_of_october_has_one_voucher_and_november_says_so(months: Months, at: int) -> None:
    case, row = CASES[at], months.row(at)
    vouchers = [number for (found, _, _), number in months.carrier.statement if found == ticket(at + 1)]
    assert len(vouchers) == 1
    assert row["status"] == case.status
    if case.code:
        assert row["reasons"][0]["code"] == case.code
    assert row["number"] == (vouchers[0] if case.status == "already_issued" else row["number"])


def names_the_earlier_one(text: str, row: int, number: str, *more: str) -> list[str]:
    """What a person could not find out about the earlier row from this text."""
    wanted = [r"october\.xlsx", "Tickets", number, *more]
    missing = [part for part in wanted if not re.search(part, text)]
    missing += [] if re.search(rf"\brow {row}\b|第 {row} 行", text) else [f"row {row}"]
    return missing + ([] if re.search(r"\brun 1\b|第 1 次运行", text) else ["run 1"])


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("at", range(len(CASES)), ids=[case.name for case in CASES])
def test_the_result_workbook_names_the_earlier_file_row_run_and_number(
    months: Months, at: int, lang: str
) -> None:
    case, text = CASES[at], months.told(at, zh=lang == "zh")
    number = months.number(ticket(at + 1)) if case.fate == "issued" else ""
    missing = names_the_earlier_one(text, FIRST_ROW + at, number, *case.says)
    assert not missing, text


@pytest.mark.parametrize("at", range(len(CASES)), ids=[case.name for case in CASES])
def test_a_chinese_message_about_an_earlier_one_is_in_chinese(months: Months, at: int) -> None:
    names = (
        r"october\.xlsx|november\.xlsx|Tickets|Unknown|Acme Trading Co\.|Renamed Trading Co\.|[0-9A-Z]{18,20}"
    )
    for reason in months.row(at, zh=True)["reasons"]:
        assert re.findall(r"[A-Za-z]{2,}", re.sub(names, "", reason["message"])) == [], reason["message"]


@pytest.mark.parametrize("at", [at for at, case in enumerate(CASES) if case.status == "unknown"])
def test_a_doubt_of_an_earlier_run_does_not_read_as_one_of_this_run(months: Months, at: int) -> None:
    (reason,) = months.row(at)["reasons"]
    assert "october.xlsx" in reason["message"], reason["message"]


def test_the_day_of_issue_is_the_carriers_calendar_day(months: Months) -> None:
    (at,) = (at for at, case in enumerate(CASES) if case.name == "another amount")
    (reason,) = months.row(at)["reasons"]
    assert any(day in reason["message"] for day in months.days), reason["message"]


def test_what_differs_is_in_the_result_and_no_buyer_on_the_screen(months: Months) -> None:
    assert "differs_from_issued" in months.november.err
    for name in ("Acme", "Renamed", "91110000600037341L", "@example.com", "ZHANG", "LI/NA"):
        assert name not in months.november.err


# --- one input that says a thing twice ---------------------------------------------------------------


@pytest.mark.slow
def test_a_row_that_stands_twice_goes_once_and_the_other_names_it(desk: Any, sandbox: Any) -> None:
    rows: list[Row] = [{"ticket_no": ticket(1)}, {"ticket_no": ticket(2)}, {"ticket_no": ticket(2)}]
    folder = desk.folder / "month"
    folder.mkdir()
    book = write_workbook(folder / "tickets.xlsx", rows)
    (folder / "link.xlsx").symlink_to(book)
    shutil.copy(book, desk.folder / "tickets copy.xlsx")
    (desk.folder / "second name.xlsx").hardlink_to(book)
    files = [book, "month/../month/tickets.xlsx", folder, "tickets copy.xlsx", "second name.xlsx"]
    with sandbox(book) as carrier:
        arguments = ["--profile", desk.profile(carrier.base_url), "--ledger", "L", *DAY, "-o", "out.xlsx"]
        ran = desk.voucher("issue", *files, *arguments, "--report", "1.json")
        assert ran.code == 0, ran.err  # what repeats another row needs nobody
        again = desk.voucher("issue", *files, *arguments, "--report", "2.json")
        assert again.code == 0, again.err
        assert sorted(line["ticket_no"] for line in carrier.issued()) == [ticket(1), ticket(2)]
    found = [
        (r["file"], r["row"], r["status"], [x["code"] for x in r["reasons"]])
        for r in desk.report("1.json")["rows"]
    ]
    no = ("repeated", ["repeated_charge"])
    assert found == [
        ("tickets.xlsx", 2, "issued", []), ("tickets.xlsx", 3, "issued", []), ("tickets.xlsx", 4, *no),
        ("tickets copy.xlsx", 2, *no), ("tickets copy.xlsx", 3, *no), ("tickets copy.xlsx", 4, *no),
        ("second name.xlsx", 2, *no), ("second name.xlsx", 3, *no), ("second name.xlsx", 4, *no),
    ]  # fmt: skip
    assert desk.report("2.json")["totals"] == {"rows": 9, "already_issued": 2, "repeated": 7}
    assert desk.report("2.json")["requests"] == []
    for at in (2, 3, 6):
        message = desk.report("1.json")["rows"][at]["reasons"][0]["message"]
        assert f"tickets.xlsx, Tickets, row {2 if at in (3, 6) else 3}" in message
    assert [row.get("repeats") for row in desk.report("1.json")["rows"]] == [None, None, 1, 0, 1, 1, 0, 1, 1]
    assert desk.report("1.json")["totals"] == {"rows": 9, "issued": 2, "repeated": 7}
    told = json.loads(desk.voucher("history", ticket(2), "--ledger", "L", "--json").out)[ticket(2)]
    judged = [one["status"] for one in told if one["event"] == "judged"]
    assert judged == ["ready", "already_issued"]  # once a run, however often its row stands there


@pytest.mark.slow
def test_rows_of_one_charge_that_differ_are_none_of_them_sent_and_say_in_what(
    desk: Any, carrier: Carrier
) -> None:
    # meal and lounge are one product to this carrier
    same_code = desk.profile(carrier.base_url)
    same_code.write_text(
        same_code.read_text().replace('"Meal"', '"SERVICE"').replace('"Lounge"', '"SERVICE"')
    )
    one = {"ticket_no": ticket(1)}
    october = write_workbook(
        desk.folder / "october.xlsx",
        [
            one,
            {**SEAT, "ticket_no": ticket(2), "product": "meal"},
            {"ticket_no": ticket(3)},
            {"ticket_no": ticket(4)},
        ],
    )
    november = write_workbook(
        desk.folder / "november.xlsx",
        [
            {**one, "passenger_name": "LI/NA MS"},
            {**SEAT, "ticket_no": ticket(2), "product": "lounge"},
            {"ticket_no": ticket(3), "amount": 1200},
            {"ticket_no": ticket(4), "buyer": "Li Na"},
            {"ticket_no": ticket(5)},
        ],
    )
    ran = desk.voucher(
        "issue", october, november, "--profile", same_code, "--ledger", "L", *DAY, "--report", "r.json"
    )
    assert ran.code == 1, ran.err
    assert carrier.asked == [(ticket(5),)]
    rows = desk.report("r.json")["rows"]
    assert [[reason["code"] for reason in row["reasons"]] for row in rows] == [["duplicate_charge"]] * 8 + [
        []
    ]
    for at, other, differs in (
        (0, "november.xlsx, Tickets, row 2", "passenger_name"),
        (5, "october.xlsx, Tickets, row 3", "SERVICE"),
        (6, "october.xlsx, Tickets, row 4", "amount"),
        (3, "november.xlsx, Tickets, row 5", "header_name"),
    ):
        message = rows[at]["reasons"][0]["message"]
        assert other in message
        assert differs in message, message


# --- two runs at the same time -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_run_on_a_ledger_that_is_in_use_says_so_and_leaves_whatever_it_is_called(
    desk: Any, carrier: Carrier, workbook: Any
) -> None:
    first = workbook([{"ticket_no": ticket(1)}, {"ticket_no": ticket(2)}], name="october.xlsx")
    second = workbook([{"ticket_no": ticket(1)}, {"ticket_no": ticket(3)}], name="november.xlsx")
    arguments = ["--profile", desk.profile(carrier.base_url, concurrency=1, response_timeout=60), *DAY]
    data = desk.folder / "data"
    data.mkdir()
    (desk.folder / "alias").symlink_to(data)
    (desk.folder / "link.ledger").symlink_to(data / "a.ledger")
    carrier.answers.clear()
    on_work = desk.begin("issue", first, *arguments, "--ledger", data / "a.ledger", "--report", "1.json")
    until(lambda: carrier.asked)
    names = [f"sqlite:///{data}/a.ledger", "link.ledger", "alias/../data/./a.ledger"]
    # Looking is allowed meanwhile.
    *others, looked, told = together(
        desk,
        *(["issue", second, *arguments, "--ledger", name, "-o", f"{n}.xlsx"] for n, name in enumerate(names)),
        ["check", second, *arguments, "--ledger", "link.ledger", "--report", "looked.json"],
        ["history", ticket(1), "--ledger", "data/a.ledger"],
    )
    for other in others:
        assert other.code == 3, other.err
        assert "another run is using this ledger (by " in other.err
        assert ", on the command line, since 20" in other.err
        assert "; wait until it ends, then run again" in other.err
    assert looked.code == 4, looked.err
    assert statuses(desk.report("looked.json")) == ["unknown", "ready"]
    assert told.code == 0, told.err
    assert "ticket_fare 1,000.00 as itinerary for Acme" in told.out
    assert "october.xlsx, Tickets, row 2" in told.out
    carrier.answers.set()
    ran = on_work.end()
    assert ran.code == 0, ran.err
    after = desk.voucher("issue", second, *arguments, "--ledger", data / "a.ledger", "--report", "2.json")
    assert after.code == 0, after.err
    assert statuses(desk.report("2.json")) == ["already_issued", "issued"]
    assert sorted(carrier.asked) == [(ticket(1),), (ticket(2),), (ticket(3),)]
    message = desk.report("looked.json")["rows"][0]["reasons"][0]["message"]
    assert "still on" in message, message  # it was at work, not killed


@pytest.mark.slow
def test_runs_that_start_at_one_moment_on_no_ledger_yet_are_one_run_and_two_that_leave(
    desk: Any, carrier: Carrier, workbook: Any
) -> None:
    path = workbook([{"ticket_no": ticket(number)} for number in range(1, 7)])
    profile = desk.profile(carrier.base_url, concurrency=2, response_timeout=60)
    carrier.answers.clear()
    runs = [desk.begin("issue", path, "--profile", profile, *DAY, "-o", f"{n}.xlsx") for n in range(3)]
    until(lambda: sum(run.has_ended() for run in runs) == 2)
    carrier.answers.set()
    ended = [run.end() for run in runs]
    assert sorted(ran.code for ran in ended) == [0, 3, 3], ended
    assert sorted(carrier.asked) == [(ticket(number),) for number in range(1, 7)]
    for ran in ended:
        assert ran.code == 0 or "another run is using this ledger" in ran.err


# --- a ledger that is another's, gone, or changed under a run ----------------------------------------


@pytest.mark.slow
def test_a_ledger_of_another_carrier_is_refused_with_the_cure(
    desk: Any, carrier: Carrier, workbook: Any
) -> None:
    path = workbook([{"ticket_no": ticket(1)}])
    profile = desk.profile(carrier.base_url)
    arguments = ["issue", path, *DAY]
    real = [*arguments, "--profile", profile, "--ledger", "real"]
    trial = [*arguments, "--profile", profile, "--ledger", "trial"]
    assert [ran.code for ran in together(desk, real, [*trial, "--sandbox", "-o", "trial.xlsx"])] == [0, 0]
    elsewhere = desk.profile("http://127.0.0.1:9", name="elsewhere.toml")
    agency = desk.folder / "agency.toml"
    agency.write_text(profile.read_text().replace('"AGENCY"', '"OTHER"'))
    for copy in ("real 1", "real 2", "real 3"):  # after a run all is in the one file
        shutil.copy(desk.folder / "real", desk.folder / copy)
    asked = len(carrier.asked)
    refused = together(
        desk,
        [*arguments, "--profile", elsewhere, "--ledger", "real 1"],
        [*arguments, "--profile", agency, "--ledger", "real 2"],
        [*arguments, "--profile", profile, "--ledger", "real 3", "--sandbox"],
        trial,
    )
    another = f"this ledger belongs to {carrier.base_url} as agency AGENCY, not to"
    cure = "use that carrier's profile, or another --ledger"
    told = (
        (another, cure),
        (another, cure),
        (f"this is the ledger of {carrier.base_url} as agency AGENCY, a real carrier", "name no ledger"),
        ("this is a sandbox's ledger", "add --sandbox"),
    )
    for ran, words in zip(refused, told, strict=True):
        assert ran.code == 2, ran.err
        assert [said for said in words if said not in ran.err] == []
    assert len(carrier.asked) == asked == 1


def test_a_ledger_that_is_missing_is_no_reason_to_issue_again(desk: Any, workbook: Any) -> None:
    # Nobody is asked at this address: the ledger is looked for first.
    issue = [
        "issue",
        workbook([{"ticket_no": ticket(1)}]),
        "--profile",
        desk.profile("https://carrier.invalid/api"),
    ]
    issue += [*DAY, "--report", "report.json"]
    for ran in together(desk, issue, [*issue, "--ledger", "mistyped.ledger"]):
        assert ran.code == 2, ran.err
        assert "without its memory everything would be issued again" in ran.err
        assert not (desk.folder / "report.json").exists()
        # The carrier may have moved: then its ledger is where it was, and --new-ledger would be the worst answer.
        assert "move-carrier" in ran.err
    assert list(desk.folder.rglob("*.ledger")) == []


@pytest.mark.slow
@pytest.mark.parametrize("taken_by", ["nothing", "another ledger"])
def test_a_ledger_that_goes_away_during_a_run_stops_it_and_nothing_is_issued_again(
    desk: Any, carrier: Carrier, workbook: Any, taken_by: str
) -> None:
    path = workbook([{"ticket_no": ticket(number)} for number in (1, 2, 3)])
    profile = desk.profile(carrier.base_url, concurrency=1, response_timeout=60)
    arguments = ["issue", path, "--profile", profile, *DAY]
    carrier.answers.clear()
    run = desk.begin(*arguments, "--ledger", "L", "--report", "1.json")
    until(lambda: carrier.asked)
    (desk.folder / "L").rename(desk.folder / "away")
    if taken_by == "another ledger":
        nothing = workbook([{"ticket_no": "12"}], name="nothing.xlsx")
        assert desk.voucher("issue", nothing, *arguments[2:], "--ledger", "M", "--new-ledger").code == 1
        (desk.folder / "M").rename(desk.folder / "L")
    carrier.answers.set()
    ran = run.end()
    assert ran.code == 3, ran.err
    assert statuses(desk.report("1.json")) == ["issued", "not_sent", "not_sent"]
    assert "L: " in desk.report("1.json")["rows"][1]["reasons"][0]["message"]
    # The next run finds what the first one left beside the name, and sends nothing.
    again = desk.voucher(*arguments, "--ledger", "L", "--report", "2.json")
    assert again.code in (2, 3), again.err
    assert re.search("put .* back|away may be of the same carrier", again.err, re.IGNORECASE)
    assert carrier.asked == [(ticket(1),)]
    # Put back, it knows the number that came when it was away, and goes on.
    (desk.folder / "L").unlink(missing_ok=True)
    (desk.folder / "away").rename(desk.folder / "L")
    last = desk.voucher(*arguments, "--ledger", "L", "--report", "3.json")
    assert last.code == 0, last.err
    assert statuses(desk.report("3.json")) == ["already_issued", "issued", "issued"]
    assert desk.report("3.json")["rows"][0]["number"] == desk.report("1.json")["rows"][0]["number"]
    assert carrier.twice() == []


@pytest.mark.slow
def test_a_carrier_that_has_moved_is_asked_for_nothing_again(
    desk: Any, carrier: Carrier, workbook: Any
) -> None:
    path = workbook([{"ticket_no": ticket(1)}])
    arguments = ["issue", path, *DAY, "--ledger", "L"]
    assert desk.voucher(*arguments, "--profile", desk.profile(carrier.base_url)).code == 0
    port = carrier.base_url.rsplit(":", 1)[1]
    moved = desk.profile(f"http://localhost:{port}")
    refused = desk.voucher(*arguments, "--profile", moved)
    assert refused.code == 2
    assert carrier.base_url in refused.err
    assert "voucher ledger move-carrier" in refused.err
    done = desk.voucher(
        "ledger", "move-carrier", "--ledger", "L", "--profile", moved, "--why", "new name", "--by", "Ann"
    )
    assert done.code == 0, done.err
    again = desk.voucher(*arguments, "--profile", moved, "--report", "2.json")
    assert again.code == 0, again.err
    assert statuses(desk.report("2.json")) == ["already_issued"]
    assert carrier.asked == [(ticket(1),)]
    back = desk.voucher(*arguments, "--profile", desk.profile(carrier.base_url))
    assert back.code == 2
    assert f"localhost:{port}" in back.err
