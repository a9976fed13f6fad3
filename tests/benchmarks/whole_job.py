"""The whole job, workbook to workbook, against the plain script that a user would write instead.

    python -m tests.benchmarks.whole_job ADDRESS MONTH.xlsx

is that script: pandas.read_excel, one requests.post after another, DataFrame.to_excel. It judges nothing, packs nothing and remembers nothing; a row is a request.
"""

import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import apsw

from pipeline.carrier.crypto import Cipher
from tests.benchmarks.carrier import answering
from tests.benchmarks.months import AS_OF, write_month
from tests.benchmarks.timing import (
    KEYS,
    REPOSITORY,
    Line,
    Load,
    Measured,
    Took,
    alternating,
    check,
    python,
    run,
    voucher,
)

#: Of the script, which takes two minutes a turn.
_ROUNDS = 3
_HEADERS = {"Content-Type": "application/json", "agency": "SANDBOX", "APIKEY": KEYS["VOUCHER_API_KEY"]}


def measured(folder: Path, month: Path, million: Path, rounds: int = _ROUNDS) -> list[Line]:
    """The whole job against the script: a month to a carrier without delay, and 5,000 rows to one that takes 20 ms.

    Of the month, what is not hidden behind the sending; of a million rows, the memory.
    """
    small = write_month(folder / "5000.xlsx", 5_000, 500)
    parts: defaultdict[str, list[float]] = defaultdict(list)
    with answering(folder) as address:
        sides = _sides(folder, address, month, parts)
        found = alternating({**sides, "check": lambda _: check(month).seconds}, rounds)
        load = Load()
        largest = _issued(folder, address, million, 0)
        others = load.cores
    with answering(folder, 0.02) as address:
        few = _sides(folder, address, small, defaultdict(list))
        found_of_few = alternating({side: few[side] for side in ("script", "ours")}, rounds)
    return [
        _faster("the whole job, 100,000 rows, a server with no delay", found, 10),
        _faster(
            "the whole job, 5,000 rows, a server that answers after 20 ms, 64 in flight", found_of_few, 30
        ),
        _hidden(found, {name: statistics.median(figures) for name, figures in parts.items()}),
        Line(
            "the whole job, 1,000,000 rows: the largest process", "4 GB", "≤ 1", largest.megabytes / 4096,
            largest.megabytes <= 4096, f"{largest.megabytes:,.0f} MB; {largest.seconds:.0f} s, others {others:.2f}",
        ),
    ]  # fmt: skip


def _sides(
    folder: Path, address: str, month: Path, parts: defaultdict[str, list[float]]
) -> dict[str, Callable[[int], float]]:
    """The script, the whole job, and its sending alone; `parts` gets the seconds of what is not sending."""

    def sending(_: int) -> float:
        took = run(python("-m", "tests.benchmarks.submission", "ours", address, month, "--packed"), folder)
        for name in ("judging", "planning"):
            parts[name].append(took.figure(name))
        return took.figure("seconds")

    def ours(at: int) -> float:
        begun = time.time()
        took = _issued(folder, address, month, at)
        with apsw.Connection(str(_ledger(folder, month, at)), flags=apsw.SQLITE_OPEN_READONLY) as ledger:
            ((first, last),) = ledger.execute("SELECT min(sending_at), max(ended_at) FROM attempt")
        parts["until the first request"].append(datetime.fromisoformat(first).timestamp() - begun)
        parts["after the last"].append(begun + took.seconds - datetime.fromisoformat(last).timestamp())
        return took.seconds

    script = python("-m", "tests.benchmarks.whole_job", address, month)
    return {"script": lambda _: run(script, folder).seconds, "ours": ours, "sending": sending}


def _ledger(folder: Path, month: Path, at: int) -> Path:
    return folder / f"{month.stem}-{at}.ledger"


def _issued(folder: Path, address: str, month: Path, at: int) -> Took:
    profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text(encoding="utf-8")
    carrier, ledger = folder / "carrier.toml", _ledger(folder, month, at)
    carrier.write_text(profile.replace("http://127.0.0.1:8080", address), encoding="utf-8")
    asked = ("--profile", carrier, "--ledger", ledger, "--new-ledger", "--as-of", str(AS_OF))
    output = ledger.with_suffix(".result.xlsx")
    return run(voucher("issue", month, *asked, "--concurrency", "64", "-o", output), folder)


def _faster(what: str, found: dict[str, Measured], to_reach: int) -> Line:
    script, ours = found["script"], found["ours"]
    ratio = script.median / ours.median
    figures = f"{script.median:.1f} s ({script.spread}) : {ours.median:.1f} s ({ours.spread})"
    return Line(what, "the plain script", f"≥ {to_reach} × faster", ratio, ratio >= to_reach, figures)


def _hidden(found: dict[str, Measured], parts: dict[str, float]) -> Line:
    """What the whole job takes beyond its sending, and beyond `check`: nothing can be sent before it is read and judged."""
    ours, sending, checked = (found[side] for side in ("ours", "sending", "check"))
    ratio = (ours.median - checked.median - sending.median) / sending.median
    said = (f"{name} {seconds:.2f} s" for name, seconds in parts.items())
    return Line(
        "planning and result workbook in the whole job, what is not hidden behind its sending", "the sending alone",
        "≤ 0.05 ×", ratio, ratio <= 0.05,
        f"{ours.median:.1f} s ({ours.spread}), `check` {checked.median:.2f} s, sending alone {sending.median:.1f} s"
        f" ({sending.spread}); {', '.join(said)}",
    )  # fmt: skip


def main() -> None:
    """The script."""
    import pandas as pd  # noqa: PLC0415 - this side alone
    import requests  # noqa: PLC0415 - likewise: no part of the product, but of the extra `benchmark`

    address, month = sys.argv[1], Path(sys.argv[2])
    cipher = Cipher(KEYS["VOUCHER_ENCRYPTION_KEY"])
    frame = pd.read_excel(month, engine="openpyxl", dtype={"ticket_no": str})
    buyers = (
        pd.read_excel(month, sheet_name="Buyers", engine="openpyxl", dtype=str)
        .fillna("")
        .set_index("buyer")
        .to_dict("index")
    )
    numbers = []
    for row in frame.to_dict("records"):
        buyer = buyers[row["buyer"]]
        header = {
            "invoiceHeaderType": buyer["header_type"], "headerName": buyer["header_name"], "taxNo": buyer["tax_no"],
            "telNo": buyer["phone"], "email": buyer["email"], "remarks": "",
        }  # fmt: skip
        fee = {
            "ticketNo": row["ticket_no"], "psgName": row["passenger_name"], "productType": row["product"],
            "feeType": row["charge"],
        }  # fmt: skip
        document = {"issueInvoiceInfo": {"invoiceHeader": header, "ticketFeeList": [fee]}}
        body = json.dumps(cipher.seal(json.dumps(document).encode()))
        answer = requests.post(
            f"{address}/invoice/issueInvoice", data=body, headers=_HEADERS, timeout=60
        ).json()
        numbers.append(json.loads(cipher.open(answer["data"]))["invoiceId"])
    frame["number"] = numbers
    frame.to_excel(month.with_suffix(".plain.xlsx"), index=False)


if __name__ == "__main__":
    main()
