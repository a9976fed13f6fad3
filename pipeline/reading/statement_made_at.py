"""When a carrier's statement says that it was made: a label above or below its lines, and a time beside or behind it.

导出时间：2026-11-01 09:30        | Generated at | 2026-11-01T09:30:00+08:00 |
"""

import datetime
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.reading import cells
from pipeline.reading.cell_words import folded
from pipeline.reading.character_width import one_width
from pipeline.reading.sheet import is_blank
from pipeline.reading.unreadable import Unreadable

_DONE = "export(?:ed)?|print(?:ed)?|generat(?:ed|ion)|creat(?:ed|ion)|download(?:ed)?|produced"
#: What stands for the making of the file itself. The end of a period, or a date of the report, may be later than that.
_LABEL = re.compile(
    "(?:账单|报表|文件|数据)?(?:导出|打印|列印|生成|制表|下载|查询|出账)(?:时间|日期|时刻)(?:\\([^()]*\\))?"
    f"|(?:(?:report|statement|file|data)?(?:{_DONE})(?:at|on|date|time|datetime|timestamp)?|(?:date|time)(?:{_DONE}))(?:\\([^()]*\\))?"
)
_BEHIND = re.compile(r"(?P<label>\D+?)[\s:=]+(?P<time>[0-9].*)", re.DOTALL)
_WHEN = re.compile(
    r"(?P<day>.+?)[T ]\s*(?P<time>[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)\s*(?P<zone>Z|UTC|[+-][0-9]{2}:?[0-9]{2})?"
)


def moment_of(cell: Any) -> datetime.datetime | datetime.date:
    """A time, or a date where no time of day is given; a zone is kept. Raises Unreadable or ValueError.

    >>> moment_of("2026-11-01 9:30"), moment_of("2026年11月1日")
    (datetime.datetime(2026, 11, 1, 9, 30), datetime.date(2026, 11, 1))
    """
    if isinstance(cell, datetime.datetime):
        return cell if cell.time() != datetime.time() else cell.date()
    if isinstance(cell, str) and (when := _WHEN.fullmatch(cell.strip())):
        clock = when["time"].zfill(5) if len(when["time"]) < 6 else when["time"].zfill(8)
        zone = (when["zone"] or "").replace("UTC", "Z")
        return datetime.datetime.fromisoformat(f"{cells.day(when['day'])}T{clock}{zone}")
    return cells.day(cells.value(cell))


def times_made(row: Sequence[Any], zone: ZoneInfo) -> Iterator[datetime.datetime]:
    """The times of making that a row says; a day alone is its first moment, as early as it may be."""
    filled = [cell for cell in row if not is_blank(cell)]
    for cell, behind in itertools.pairwise([*filled, ""]):
        if not isinstance(cell, str):
            continue
        said: Any = behind
        label = one_width(cell).strip()
        if found := _BEHIND.fullmatch(label):
            label, said = found["label"], found["time"]
        if _LABEL.fullmatch(folded(label.rstrip(":="))) and (moment := _moment(said)) is not None:
            yield _aware(moment, zone)


def _moment(said: Any) -> datetime.datetime | datetime.date | None:
    try:
        return None if is_blank(said) else moment_of(said)
    except (Unreadable, ValueError):
        return None


def _aware(moment: datetime.datetime | datetime.date, zone: ZoneInfo) -> datetime.datetime:
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
