"""The register of vouchers: what the carrier itself lists, charge by charge; split by buyer, masked, of another month."""

import datetime
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import BUYERS, Desk, Ran, running_sandbox, write_workbook
from tests.acceptance.office import LOST_AFTER, TODAY, Office

Make = Callable[..., Any]

MONTH = f"{TODAY:%Y-%m}"
OTHER = "2026-01"
SHANGHAI = datetime.timezone(datetime.timedelta(hours=8))
ZHANG = "ZHANG/WEI MR"


def lines_of(path: Path, sheet: str = "Register") -> list[dict[str, Any]]:
    headings, *lines = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [dict(zip(map(str, headings), line, strict=True)) for line in lines]


@pytest.fixture(scope="module")
def month_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A month: two itineraries (the second lost on its way back), an invoice of two charges, and one that is reversed."""
    rows = [
        {"ticket_no": "9990000000001", "amount": "", "fare": 900, "airport_fee": 50, "fuel_surcharge": 50},
        {"ticket_no": "9990000000002", "cost_centre": "CC-2", "department": "Sales of ZHANG WEI"},
        {
            "ticket_no": "9990000000003",
            "voucher": "invoice",
            "buyer": "Li Na",
            "cost_centre": "li.na@example.com",
        },
        {"ticket_no": "9990000000004", "voucher": "invoice", "buyer": "Li Na", "amount": 250.5},
        {"ticket_no": "9990000000005", "passenger_name": "WANG/FANG MS", "cost_centre": ""},
        {
            "ticket_no": "9990000000006",
            "voucher": "invoice",
            "card": "Visa of WANG/FANG MS",
            "passport": "E12345678",
        },
    ]
    desk = Desk(tmp_path_factory.mktemp("month"))
    book = write_workbook(desk.folder / "Acme Trading Co. october.xlsx", rows)
    with running_sandbox(desk, book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        gone = next(line for line in carrier.issued() if line["ticket_no"] == "9990000000006")
        said = ("--evidence", "red invoice")
        reversed_ = desk.voucher("ledger", "reverse", gone["number"], *office.common, *said)
        assert reversed_.code == 0, reversed_.err
        yield office


@pytest.fixture
def month(desk: Desk, month_once: Office) -> tuple[Office, Any]:
    """That month in a folder of the test's own; the carrier is the same, and is sent nothing more."""
    shutil.copytree(month_once.desk.folder, desk.folder, dirs_exist_ok=True)
    return Office(desk, month_once.carrier), month_once.carrier


def register(office: Office, *more: str | Path) -> Ran:
    ran = office.desk.voucher("register", *office.common, *more)
    assert (ran.code, ran.out) == (0, ""), ran.err
    return ran


def test_a_months_register_is_what_the_carrier_lists_charge_by_charge(month: Any) -> None:
    office, carrier = month
    ran = register(office, "--month", MONTH)
    assert ran.err == f"Register: register-{MONTH}.xlsx (6 charges)\n"
    lines = lines_of(office.desk.folder / f"register-{MONTH}.xlsx")
    issued = {line["ticket_no"]: line for line in lines}
    lost = [line for line in lines if line["state"] == "unknown"]
    assert len(lost) == 1
    listed = {line["ticket_no"]: line for line in carrier.issued()}
    assert issued.keys() == listed.keys()
    names = {row[2]: row[3] for row in BUYERS}
    for ticket, line in issued.items():
        theirs = listed[ticket]
        shown = (line["voucher"], line["charge"], line["product"], f"{line['total']:.2f}", line["buyer"])
        assert shown == tuple(theirs[name] for name in ("voucher", "charge", "product", "amount", "buyer"))
        assert line["number"] == (None if line["state"] == "unknown" else theirs["number"])
        at = datetime.datetime.fromisoformat(theirs["issued_at"]).astimezone(SHANGHAI).replace(tzinfo=None)
        assert abs(line["issued_at (Asia/Shanghai)"] - at) < datetime.timedelta(minutes=1)
        assert line["tax_no"] == (names[line["buyer"]] or None)
        assert (line["run"], line["sheet"], line["file"]) == (1, "Tickets", "Acme Trading Co. october.xlsx")
        assert line["row"] == int(ticket[-1]) + 1
    assert {line["ticket_no"]: line["state"] for line in lines if line["state"] != "issued"} == {
        lost[0]["ticket_no"]: "unknown", "9990000000006": "reversed",
    }  # fmt: skip
    one, five = issued["9990000000001"], issued["9990000000005"]
    assert (one["fare"], one["airport_fee"], one["fuel_surcharge"], one["total"]) == (900, 50, 50, 1000)
    assert (one["passenger_name"], one["cost_centre"], five["cost_centre"]) == (ZHANG, "CC-1", None)
    assert (five["passenger_name"], five["fare"]) == ("WANG/FANG MS", None)
    assert issued["9990000000002"]["department"] == "Sales of ZHANG WEI"
    assert issued["9990000000006"]["card"] == "Visa of WANG/FANG MS"
    assert "passport" not in one  # a ledger keeps no identity documents


@pytest.mark.slow
def test_totals_stand_by_buyer_and_by_cost_centre(month: Any) -> None:
    office, _ = month
    register(office, "-o", "all.xlsx")
    register(office, "-o", "all.xlsx")  # nothing is overwritten
    assert (office.desk.folder / "all.2.xlsx").exists()
    path = office.desk.folder / "all.xlsx"
    total = {line["buyer"]: line for line in lines_of(path, "By buyer")}
    assert total["Li Na"]["issued (CNY)"] == 1250.5
    acme = total["Acme Trading Co."]
    assert [acme[f"{state}: charges"] for state in ("issued", "unknown", "reversed")] == [2, 1, 1]
    assert [acme[f"{state} (CNY)"] for state in ("issued", "unknown", "reversed")] == [2000, 1000, 1000]
    assert total["Total"]["issued (CNY)"] == 3250.5
    centres = {line["cost_centre"]: line for line in lines_of(path, "By cost centre")}
    assert [*centres] == ["CC-1", "CC-2", "li.na@example.com", "(no cost centre)", "Total"]
    charges = {
        name: sum(line[f"{s}: charges"] for s in ("issued", "unknown", "reversed"))
        for name, line in centres.items()
    }
    assert charges == {"CC-1": 3, "CC-2": 1, "li.na@example.com": 1, "(no cost centre)": 1, "Total": 6}


def test_split_by_buyer_each_has_a_workbook_with_nothing_of_another(month: Any) -> None:
    office, _ = month
    register(office, "--month", MONTH, "--split-by", "buyer", "-o", "out")
    out = office.desk.folder / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        f"register-{MONTH}-Acme Trading Co.xlsx", f"register-{MONTH}-Li Na.xlsx",
    ]  # fmt: skip
    of_li = out / f"register-{MONTH}-Li Na.xlsx"
    assert {line["buyer"] for line in lines_of(of_li)} == {"Li Na"}
    assert len(lines_of(of_li)) == 2
    assert "91110000600037341L" not in everything_in(of_li)
    assert len(lines_of(out / f"register-{MONTH}-Acme Trading Co.xlsx")) == 4


def everything_in(path: Path) -> str:
    with zipfile.ZipFile(path) as package:
        return "\n".join(
            [path.name, *package.namelist(), *(package.read(name).decode() for name in package.namelist())]
        )


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("split", [(), ("--split-by", "buyer")], ids=["whole", "split"])
def test_masked_no_workbook_holds_a_name_or_number_of_anybody(
    month: Any, split: tuple[str, ...], lang: str
) -> None:
    office, _ = month
    (office.desk.folder / "out").mkdir()
    register(office, "--month", MONTH, "--masked", *split, "-o", "out", "--lang", lang)
    written = [*(office.desk.folder / "out").iterdir()]
    assert len(written) == (2 if split else 1)
    secret = ["ZHANG", "WANG/FANG", "Acme", "Li Na", "Sales of Z", "Visa"]
    secret += [text for row in BUYERS[1:] for text in row[2:] if text]
    for path in written:
        text = everything_in(path)
        assert [word for word in secret if word.casefold() in text.casefold()] == []
        assert re.findall(r"[\w.]+@[\w.]+", text) == []
    assert sum(len(lines_of(path)) for path in written) == 6


def test_a_month_in_which_nothing_was_issued_says_so(month: Any) -> None:
    office, _ = month
    ran = register(office, "--month", OTHER)
    assert ran.err == f"The ledger has no voucher of {OTHER}.\nRegister: register-{OTHER}.xlsx (0 charges)\n"
    assert lines_of(office.desk.folder / f"register-{OTHER}.xlsx") == []
    ran = register(office, "--month", OTHER, "--split-by", "buyer", "-o", "none", "--lang", "zh")
    assert ran.err == f"台账中没有 {OTHER} 的凭证。\n"
    assert not (office.desk.folder / "none").exists()


@pytest.mark.slow
def test_what_a_statement_alone_shows_is_listed_in_its_month(month: Any) -> None:
    office, carrier = month
    one = carrier.issued()[0]
    others = [
        {**one, "number": f"{one['number'][:-3]}{at}", "ticket_no": f"9997777777{at}", **changes}
        for at, changes in (
            ("777", {"issued_at": "2026-01-31T23:59:59+08:00", "buyer": "Li Na", "amount": ""}),
            ("778", {"issued_at": "2026-01-31T16:00:00+00:00", "buyer": "Else"}),
            ("779", {"issued_at": "2026-02-01"}),
        )
    ]
    ran = office.reconcile("--statement", office.statement(lines=[*carrier.issued(), *others]))
    assert ran.code in (1, 4), ran.err
    register(office, "--month", OTHER, "-o", "january.xlsx")
    (line,) = lines_of(office.desk.folder / "january.xlsx")
    assert (line["ticket_no"], line["total"], line["known_from"]) == (
        "9997777777777",
        None,
        "the carrier's statement alone",
    )
    assert str(line["issued_at (Asia/Shanghai)"]) == "2026-01-31 23:59:59"
    assert line["file"].startswith("statement.csv")
    register(office, "--month", "2026-02", "-o", "february.xlsx")
    assert [line["ticket_no"] for line in lines_of(office.desk.folder / "february.xlsx")] == [
        "9997777777778",
        "9997777777779",
    ]
    register(office, "--split-by", "buyer", "-o", "out")
    assert len(lines_of(office.desk.folder / "out/register-Li Na.xlsx")) == 3  # by its name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--month", "2026-13"), "is not a month"),
        (("-o", "register.csv"), "ends in .xlsx"),
        (("--split-by", "buyer", "-o", "out.xlsx"), "is no folder"),
        (("-o", "nowhere/register.xlsx"), "there is no folder"),
        (("--ledger", "no.ledger"), "there is no ledger"),
    ],
)
def test_what_can_not_be_written_is_refused(month: Any, given: tuple[str, ...], said: str) -> None:
    office, _ = month
    ran = office.desk.voucher("register", *office.common, *given)
    assert ran.code == 2
    assert said in ran.err


def test_the_profile_that_says_a_month_s_days_has_to_be_of_the_ledger_s_carrier(month: Any) -> None:
    office, _ = month
    (office.desk.folder / "other.toml").write_text(
        '[carrier]\nbase_url = "http://127.0.0.1:1"\ntime_zone = "America/New_York"\n', encoding="utf-8"
    )
    ran = office.desk.voucher("register", *office.common, "--profile", "other.toml")
    assert ran.code == 2
    assert "belongs to" in ran.err
