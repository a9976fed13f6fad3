"""The whole job, workbook to workbook, against the plain script that a user would write instead.

    python -m tests.benchmarks.whole_job ADDRESS MONTH.xlsx

is that script: pandas.read_excel, one requests.post after another, DataFrame.to_excel. It judges nothing, packs nothing and remembers nothing; a row is a request.
"""

import json
import sys
from pathlib import Path

from pipeline.carrier.crypto import Cipher
from tests.benchmarks.carrier import answering
from tests.benchmarks.months import AS_OF, write_month
from tests.benchmarks.timing import KEYS, REPOSITORY, Line, alternating, python, run, voucher

_HEADERS = {"Content-Type": "application/json", "agency": "SANDBOX", "APIKEY": KEYS["VOUCHER_API_KEY"]}


def measured(folder: Path, month: Path, rounds: int = 5) -> list[Line]:
    """The whole job against the script: a month to a carrier without delay, and 5,000 rows to one that takes 20 ms."""
    small = write_month(folder / "5000.xlsx", 5_000, 500)
    return [
        _line(folder, month, 0.0, "the whole job, 100,000 rows, a server with no delay", 10, rounds),
        _line(
            folder,
            small,
            0.02,
            "the whole job, 5,000 rows, a server that answers after 20 ms, 64 in flight",
            30,
            rounds,
        ),
    ]


def _line(folder: Path, month: Path, wait: float, what: str, to_reach: int, rounds: int) -> Line:
    with answering(folder, wait) as address:
        profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text(encoding="utf-8")
        carrier = folder / "carrier.toml"
        carrier.write_text(profile.replace("http://127.0.0.1:8080", address), encoding="utf-8")

        def ours(at: int) -> float:
            ledger = folder / f"{month.stem}-{wait}-{at}.ledger"
            asked = (
                "issue",
                month,
                "--profile",
                carrier,
                "--ledger",
                ledger,
                "--new-ledger",
                "--as-of",
                str(AS_OF),
                "--concurrency",
                "64",
            )
            return run(voucher(*asked, "-o", folder / f"{ledger.stem}.result.xlsx"), folder).seconds

        found = alternating(
            {
                "script": lambda _: (
                    run(python("-m", "tests.benchmarks.whole_job", address, month), folder).seconds
                ),
                "ours": ours,
            },
            rounds,
        )
    ratio = found["script"].median / found["ours"].median
    figures = f"{found['script'].median:.1f} s ({found['script'].spread}) : {found['ours'].median:.1f} s ({found['ours'].spread})"
    return Line(what, "the plain script", f"≥ {to_reach} × faster", ratio, ratio >= to_reach, figures)


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
