"""What tests of the rules share: a judgement in one call, and a ledger's charges made by hand."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from pipeline.model.columns import Lang
from pipeline.model.known_charges import KnownCharge, KnownCharges
from pipeline.model.profile import Profile, Terms
from pipeline.model.request import Identity
from pipeline.model.result import RunResult
from pipeline.model.table import Table
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.rules.judge import Verdicts, judge
from pipeline.splitting import Judged

TICKET = "9991234567890"


@dataclass(frozen=True)
class Judgement:
    """Verdicts as tests ask for them."""

    table: Table
    verdicts: Verdicts
    terms: Terms

    @property
    def statuses(self) -> list[str]:
        return list(self.verdicts.status.tolist())

    @property
    def kinds(self) -> list[str]:
        return list(self.verdicts.rows.voucher.tolist())

    def found(self, row: int = 0) -> set[tuple[str, str]]:
        """Every (code, column) that was found about a row."""
        return {(f.code, f.column) for f in self.verdicts.findings if row in f.rows.tolist()}

    def codes(self, row: int = 0) -> set[str]:
        return {code for code, _ in self.found(row)}

    def result(self, lang: Lang = "en") -> RunResult:
        judged = Judged(self.table, KnownCharges(), self.verdicts, [])
        return make_result(RunFacts("check", self.terms, lang), judged)

    def message(self, code: str, row: int = 0, lang: Lang = "en") -> str:
        (text,) = {reason.message for reason in self.result(lang).rows[row].reasons if reason.code == code}
        return text


@pytest.fixture
def judged(
    table_of: Callable[..., Table], full_profile: Profile, as_of: datetime.date
) -> Callable[..., Judgement]:
    """Rows by what they change in the row that may be sent, judged."""
    today = as_of

    def judged(
        *rows: Mapping[str, Any],
        buyers: Sequence[Sequence[Any]] = (),
        holdings: KnownCharges | None = None,
        profile: Profile | None = None,
        as_of: datetime.date | None = None,
        table: Table | None = None,
    ) -> Judgement:
        terms = Terms(as_of or today, profile or full_profile)
        table = table or table_of(rows, buyers)
        return Judgement(table, judge(table, holdings or KnownCharges(), terms), terms)

    return judged


@pytest.fixture
def holding() -> Callable[..., KnownCharge]:
    """A charge that the ledger holds: the fare of the row that may be sent, issued as an invoice."""

    def make(charge: str = "ticket_fare", product: str = "flight", **changes: Any) -> KnownCharge:
        about: dict[str, Any] = {
            "identity": Identity(TICKET, charge, product),
            "wire": "",
            "voucher": "invoice",
            "state": "issued",
            "number": "100000000000000001",
            "amount": 100_000,
            "header_type": "business",
            "header_name": "Example Trading Co.",
            "tax_no": "91110000600037341L",
            "request_id": "Rfeedfacefeedface001",
            "attempt": 1,
            "run": 7,
            "at": "2026-11-02T16:30:00Z",
            "reason": "",
            "detail": "",
            "file": "october.xlsx",
            "sheet": "Tickets",
            "row": 12,
        }
        return KnownCharge(**{**about, **changes})

    return make


@pytest.fixture
def ledger() -> Callable[..., KnownCharges]:
    """Holdings of these charges."""
    return lambda *held: KnownCharges({one.identity: one for one in held})
