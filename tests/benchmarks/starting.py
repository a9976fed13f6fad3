"""How long the program takes to begin: `--help`, and `check` on ten rows, against importing pandas alone."""

from pathlib import Path

from tests.benchmarks.months import write_month
from tests.benchmarks.timing import Line, alternating, check, python, run, voucher


def measured(folder: Path) -> list[Line]:
    """Both figures."""
    month = write_month(folder / "ten.xlsx", 10, 2)
    found = alternating(
        {
            "pandas": lambda _: run(python("-c", "import pandas"), folder).seconds,
            "help": lambda _: run(voucher("--help"), folder).seconds,
            "check": lambda _: check(month).seconds,
        }
    )
    lines = []
    for side, what, most in (("help", "`voucher --help`", 0.5), ("check", "`voucher check` on 10 rows", 2.0)):
        ratio = found[side].median / found["pandas"].median
        figures = f"{found[side].median:.3f} s ({found[side].spread}) : {found['pandas'].median:.3f} s"
        lines.append(Line(what, "python -c “import pandas”", f"≤ {most} ×", ratio, ratio <= most, figures))
    return lines
