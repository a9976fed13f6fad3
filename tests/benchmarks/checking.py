"""`voucher check` against the reader that it stands on, and against what a user would write instead.

python -m tests.benchmarks.checking calamine MONTH.xlsx    # python-calamine alone, every sheet into lists
python -m tests.benchmarks.checking pandas MONTH.xlsx      # pandas.read_excel by openpyxl, every sheet
"""

import sys
from pathlib import Path

from tests.benchmarks.timing import Line, Measured, alternating, check, python, run

_SIDE = "tests.benchmarks.checking"


def measured(month: Path, million: Path) -> list[Line]:
    """The figures of `check`; `million` has ten times the rows of `month`."""
    found = alternating(
        {
            "check": lambda _: check(month).seconds,
            "report": lambda _: check(month, "--report", month.with_suffix(".json")).seconds,
            "calamine": lambda _: run(python("-m", _SIDE, "calamine", month), month.parent).seconds,
            "pandas": lambda _: run(python("-m", _SIDE, "pandas", month), month.parent).seconds,
        }
    )
    large = [check(million) for _ in range(3)]
    reported = [check(million, "--report", million.with_suffix(".json")) for _ in range(3)]
    most, most_reported = (max(took.megabytes for took in side) for side in (large, reported))
    by_row = sorted(took.seconds for took in large)[1] / 10 / found["check"].median
    reported_by_row = sorted(took.seconds for took in reported)[1] / 10 / found["report"].median
    faster = found["pandas"].median / found["check"].median
    what = "`check`, 100,000 rows × 14 columns and 3,000 buyers"
    return [
        _against(what, "python-calamine alone", "≤ 1.4 ×", found["check"], found["calamine"], 1.4),
        _against(f"{what}, with `--report`", "python-calamine alone", "≤ 1.8 ×", found["report"], found["calamine"], 1.8),
        Line(
            what, "pandas.read_excel with openpyxl", "≥ 8 × faster", faster, faster >= 8,
            _figures(found["pandas"], found["check"]),
        ),
        Line(
            "`check`, 1,000,000 rows", "ten times 100,000", "≤ 1.1 × a row, under 4 GB", by_row, by_row <= 1.1 and most < 4096,
            f"{sorted(took.seconds for took in large)[1]:.1f} s; the largest process {most:,.0f} MB",
        ),
        Line(
            "`check`, 1,000,000 rows, with `--report`", "ten times 100,000", "≤ 1.1 × a row, under 4 GB", reported_by_row,
            reported_by_row <= 1.1 and most_reported < 4096,
            f"{sorted(took.seconds for took in reported)[1]:.1f} s; the largest process {most_reported:,.0f} MB",
        ),
    ]  # fmt: skip


def _figures(one: Measured, other: Measured) -> str:
    return f"{one.median:.2f} s ({one.spread}) : {other.median:.2f} s ({other.spread})"


def _against(what: str, against: str, to_reach: str, one: Measured, other: Measured, most: float) -> Line:
    ratio = one.median / other.median
    return Line(what, against, to_reach, ratio, ratio <= most, _figures(one, other))


def main() -> None:
    """One of the sides, in a process of its own."""
    side, month = sys.argv[1], Path(sys.argv[2])
    if side == "calamine":
        from python_calamine import CalamineWorkbook  # noqa: PLC0415 - this side alone

        with CalamineWorkbook.from_path(str(month)) as book:
            rows = sum(len(book.get_sheet_by_name(name).to_python()) for name in book.sheet_names)
    else:
        import pandas as pd  # noqa: PLC0415 - likewise

        rows = sum(map(len, pd.read_excel(month, sheet_name=None, engine="openpyxl").values()))
    sys.stdout.write(f"rows={rows}\n")


if __name__ == "__main__":
    main()
