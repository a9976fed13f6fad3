"""What tests share: tables made of cells, profiles, ledgers, a sandbox in a process of its own."""

import datetime
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from pipeline.model.columns import COLUMNS
from pipeline.model.profile import Carrier, Codes, Profile, Terms
from pipeline.model.table import Table
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble
from tests import catalogue, libreoffice

AS_OF = datetime.date(2026, 11, 20)
REPOSITORY = Path(__file__).parent.parent

#: A row that may be sent: see pipeline.rules.rule.Example.
GOOD: dict[str, Any] = {
    "ticket_no": "9991234567890",
    "passenger_name": "ZHANG/WEI MR",
    "charge": "ticket_fare",
    "product": "flight",
    "amount": "1000.00",
    "market": "domestic",
    "ticket_status": "used",
    "flight_date": "2026-10-01",
    "voucher": "invoice",
    "header_type": "business",
    "header_name": "Example Trading Co.",
    "tax_no": "91110000600037341L",
    "phone": "+86 10 8520 0000",
    "email": "finance@example.com",
}


def pytest_configure(config: pytest.Config) -> None:
    # The programs that tests start over and over are compiled once, as they are where users have them, and so are the tests themselves.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if not hasattr(config, "workerinput"):  # of several processes, the first
        catalogue.compile_all()
    if config.option.markexpr == "not slow":
        settings.register_profile("quick", max_examples=15)
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts LibreOffice is slow."""
    for item in items:
        if "converted" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _whoever_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Neither their language nor their state folder, where ledgers' last runs are noted, is what is tested with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VOUCHER_LANG", raising=False)
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def as_of() -> datetime.date:
    return AS_OF


@pytest.fixture
def full_profile() -> Profile:
    """A profile in which the carrier has named every code."""
    return Profile(
        carrier=Carrier(agency="SANDBOX"),
        codes=Codes(
            fee_type={"ticket_fare": "TICKET_FARE", "refund": "REFUND_FEE", "ancillary": "ANCILLARY_FEE"},
            product_type={
                "flight": "Flight",
                "baggage": "Baggage",
                "seat": "Seat",
                "upgrade": "Upgrade",
                "meal": "Meal",
                "lounge": "Lounge",
            },
            header_type={"business": "BUSINESS", "individual": "PERSONAL"},
        ),
    )


@pytest.fixture
def terms(full_profile: Profile) -> Terms:
    return Terms(AS_OF, full_profile)


def table_of(rows: Sequence[Mapping[str, Any]], buyers: Sequence[Sequence[Any]] = ()) -> Table:
    """A Table of one sheet whose rows are GOOD with these changes; no file, the same reader."""
    names = [
        *(column.name for column in COLUMNS),
        *sorted({n for row in rows for n in row} - {c.name for c in COLUMNS}),
    ]
    cells = [names, *([{**GOOD, **row}.get(name, "") for name in names] for row in rows)]
    sheets = [Sheet.of_rows("Tickets", cells)]
    if buyers:
        sheets.append(Sheet.of_rows("Buyers", [list(row) for row in buyers]))
    return assemble([(Path("tickets.xlsx"), sheets)])


@pytest.fixture(name="table_of")
def _table_of() -> Callable[..., Table]:
    return table_of


@pytest.fixture
def good() -> dict[str, Any]:
    return dict(GOOD)


@pytest.fixture(scope="session")
def vectors_path() -> Path:
    """The encryption vectors that were made with a real JDK."""
    return REPOSITORY / "tests" / "contract" / "aes-sha1prng-jdk17.json"


def needs_tool(name: str, found: object) -> None:
    """Skip for want of a system tool, with its reason; under CI, which installs the tools, fail."""
    if not found:
        reason = f"{name} is not installed"
        if os.environ.get("VOUCHER_TESTS_NEED_TOOLS"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(name="needs_tool", scope="session")
def _needs_tool() -> Callable[[str, object], None]:
    return needs_tool


def without_privileges() -> list[str]:
    """What starts a program that may no more than anybody: where tests are root's, without root's powers."""
    if os.geteuid() != 0:
        return []
    needs_tool("setpriv, without which root may do everything,", shutil.which("setpriv"))
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


@pytest.fixture(scope="session")
def compiler() -> None:
    needs_tool("a C compiler (cc)", shutil.which("cc"))


@pytest.fixture(scope="session")
def openssl() -> None:
    needs_tool("openssl", shutil.which("openssl"))


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, str], Path]:
    """A workbook saved again by LibreOffice in another format."""
    profile = tmp_path_factory.mktemp("libreoffice")

    def convert(path: Path, suffix: str) -> Path:
        needs_tool("LibreOffice", shutil.which("soffice"))
        return libreoffice.convert(path, suffix, tmp_path_factory.mktemp("converted"), profile)

    return convert
