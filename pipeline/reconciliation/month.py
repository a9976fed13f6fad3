"""A month, as --month names it."""

import datetime
import re

from pipeline.model.errors import InputProblem
from pipeline.settlement.compare import Period


def month_of(text: str) -> Period | None:
    """A month as its days. Raises InputProblem for what is no month."""
    if not text:
        return None
    try:
        first = datetime.date.fromisoformat(f"{text}-01") if re.fullmatch(r"20\d{2}-\d{2}", text) else None
    except ValueError:
        first = None
    if first is None:
        raise InputProblem("--month {text}: is not a month; write it like 2026-10", text=text)
    following = (first + datetime.timedelta(days=31)).replace(day=1)
    return Period(first, following - datetime.timedelta(days=1))
