"""An external carrier written in another language, following carrier-interface.md alone, accepts every request.

carrier/Carrier.java shares nothing with the pipeline but the interface's text: neither its encryption
nor its documents nor its rules. Its books are the sample month's readable rows.
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.model.columns import COMPONENTS
from pipeline.model.money import money_text
from pipeline.model.table import Table
from pipeline.reading.tickets import read_table

REPOSITORY = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "carrier" / "Carrier.java"
SAMPLES = ("tickets-2026-10.xlsx", "tickets-2026-10-zh.xlsx")
TODAY = "2026-11-20"
TOTALS = {"rows": 200, "issued": 182, "invalid": 6, "ineligible": 10, "waiting": 2}
# Both sides must read the key string as UTF-8 (Payload encryption, step 2).
KEYS = {"VOUCHER_API_KEY": "external-api-key-5c02", "VOUCHER_ENCRYPTION_KEY": "密钥-ключ-é-✈"}

CODES = """
fee.ticket_fare=TICKET_FARE
fee.refund=REFUND_FEE
fee.ancillary=ANCILLARY_FEE
product.flight=Flight
product.baggage=Baggage
product.seat=Seat
product.upgrade=Upgrade
product.meal=Meal
product.lounge=Lounge
header.business=BUSINESS
header.individual=PERSONAL
"""
REGISTRY = ("ticket_no", "passenger_name", "charge", "product", "amount", "market", "status", "flight_date",
            "used_on", "refund_approved_on", "purchased_on")  # fmt: skip


def charges_known(table: Table) -> Iterator[tuple[str, ...]]:
    """The registry's lines: each charge once, as far as its row says what it is."""
    seen = set()
    for row in table.frame.to_dict("records"):
        parts = COMPONENTS.get(row["charge"], ())
        product = row["product"] if pd.notna(row["product"]) else "flight" if parts else ""
        charge = (row["ticket_no"], row["charge"], product)
        amount = row["amount"] or sum(row[part] for part in parts)
        told = (*charge, row["market"], row["ticket_status"])
        if charge in seen or not amount or not all(isinstance(text, str) and text for text in told):
            continue
        seen.add(charge)
        days = (row[name] for name in ("flight_date", "used_on", "refund_approved_on", "purchased_on"))
        yield (
            row["ticket_no"],
            row["passenger_name"],
            row["charge"],
            product,
            money_text(amount),
            row["market"],
            row["ticket_status"],
            *(str(day.date()) if pd.notna(day) else "" for day in days),
        )


@dataclass(frozen=True)
class External:
    """The external carrier in a process of its own."""

    base_url: str
    log: Path

    def decisions(self) -> list[dict[str, Any]]:
        """What came in and what became of it, in order."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


@contextmanager
def running_external(folder: Path, workbooks: Sequence[Path]) -> Iterator[External]:
    registry, codes, log, errors = (
        folder / name for name in ("registry.csv", "codes.properties", "log.jsonl", "errors.txt")
    )
    with registry.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([REGISTRY, *charges_known(read_table(workbooks))])
    codes.write_text(CODES, encoding="utf-8")
    options = {
        "--port": "0", "--registry": registry, "--today": TODAY, "--agency": "SANDBOX",
        "--api-key": KEYS["VOUCHER_API_KEY"], "--encryption-key": KEYS["VOUCHER_ENCRYPTION_KEY"],
        "--codes": codes, "--log": log,
    }  # fmt: skip
    command = ["java", PROGRAM, *(part for option in options.items() for part in option)]
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
            text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
        ) as process,
    ):  # fmt: skip
        try:
            assert process.stdout is not None
            listening = re.fullmatch(r"LISTENING ([0-9]+)\n", process.stdout.readline())
            assert listening, errors.read_text()
            yield External(f"http://127.0.0.1:{listening[1]}", log)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0
        finally:
            if process.poll() is None:
                process.kill()
    assert errors.read_text() == ""


@pytest.fixture
def month(desk: Any) -> list[Path]:
    (desk.folder / "month").mkdir()
    return [shutil.copy(REPOSITORY / "sample_data" / name, desk.folder / "month" / name) for name in SAMPLES]


@pytest.fixture
def external(desk: Any, month: list[Path], needs_tool: Callable[[str, object], None]) -> Iterator[External]:
    needs_tool("java", shutil.which("java"))
    desk.environment.update(KEYS)
    with running_external(desk.folder, month) as carrier:
        yield carrier


def profile(desk: Any, carrier: External, *, hyphen: bool) -> Path:
    """The sample profile at this carrier, which insists on the telephone number and e-mail address."""
    text = (REPOSITORY / "sample_data" / "sandbox.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^base_url = .*$", f'base_url = "{carrier.base_url}"', text)
    text = text.replace("[carrier]", f"[carrier]\nticket_no_hyphen = {str(hyphen).lower()}")
    path: Path = desk.folder / "external.toml"
    path.write_text(f'{text}\n[required]\ninvoice = ["phone", "email"]\nitinerary = ["phone"]\n', "utf-8")
    return path


def charge_names(rows: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Charges as the carrier's log names them."""
    return frozenset(
        f"{row['ticket_no']}/{charge['charge']}/{charge['product']}"
        for row in rows
        for charge in row["charges"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("hyphen", [False, True], ids=["digits", "hyphen"])
def test_an_external_carrier_accepts_every_request_of_the_sample_month(
    desk: Any, month: list[Path], external: External, hyphen: bool
) -> None:
    arguments = ["--profile", profile(desk, external, hyphen=hyphen), "--as-of", TODAY, "--ledger", "L"]
    ran = desk.voucher("issue", *month, *arguments, "--report", "report.json")
    assert ran.code == 1, ran.err
    report, decisions = desk.report(), external.decisions()
    assert report["totals"] == TOTALS

    assert [decision for decision in decisions if not decision["accepted"] or decision["reason"]] == []
    assert {decision["operation"] for decision in decisions} == {"invoice", "itinerary"}
    asked = [charge for decision in decisions for charge in decision["charges"]]
    assert len(asked) == len(set(asked)) == TOTALS["issued"]
    assert set(asked) == charge_names([row for row in report["rows"] if row["status"] == "issued"])

    issued = {decision["number"]: decision for decision in decisions}
    assert len(issued) == len(decisions) == len(report["requests"])
    for request in report["requests"]:
        decision = issued[request["number"]]
        rows = [report["rows"][index] for index in request["rows"]]
        assert decision["operation"] == request["voucher"]
        assert decision["buyer"] == request["buyer"]
        assert frozenset(decision["charges"]) == charge_names(rows)
        assert {row["number"] for row in rows} == {request["number"]}

    before = external.log.read_bytes()
    again = desk.voucher("issue", *month, *arguments, "--report", "again.json")
    assert again.code == 1, again.err
    assert external.log.read_bytes() == before
    second = desk.report("again.json")
    assert second["requests"] == []
    assert second["totals"] == {
        "already_issued" if name == "issued" else name: count for name, count in TOTALS.items()
    }
    assert [row["number"] for row in second["rows"]] == [row["number"] for row in report["rows"]]
