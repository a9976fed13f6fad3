"""Columns carried along with a charge that mean a cost centre or a department, by their headings."""

import functools
import json
import re
from dataclasses import dataclass

#: Headings that mean a cost centre or a department, without spaces and in small letters; one may stand in two languages.
_CENTRES = (
    "成本中心代码",
    "成本中心编码",
    "成本中心名称",
    "成本中心",
    "costcentrecode",
    "costcentercode",
    "costcentre",
    "costcenter",
)
_DEPARTMENTS = ("所属部门", "费用部门", "部门名称", "部门", "departmentname", "department", "dept")  # fmt: skip


@dataclass(frozen=True)
class Carried:
    """The columns carried along with a charge, those that mean a cost centre or a department apart."""

    cost_centre: str
    department: str
    others: dict[str, str]


@functools.lru_cache(maxsize=50_000)
def carried(text: str) -> Carried:
    """The columns of a line, from their JSON (`RegisterLine.carried`)."""
    found: dict[str, str] = {"cost_centre": "", "department": ""}
    others = {}
    for name, value in json.loads(text).items():
        kind = _meaning(name)
        if kind and not found[kind]:
            found[kind] = value
        else:
            others[name] = value
    return Carried(**found, others=others)


@functools.cache
def _meaning(name: str) -> str:
    """What a heading means: cost_centre, department, or "" for anything else.

    >>> _meaning("成本中心 Cost Centre"), _meaning("Dept."), _meaning("部门经理")
    ('cost_centre', 'department', '')
    """
    plain = re.sub(r"[\W_]+", "", name).casefold()
    for kind, words in (("cost_centre", _CENTRES), ("department", _DEPARTMENTS)):
        if re.fullmatch(f"(?:{'|'.join(words)}){{1,2}}", plain):
            return kind
    return ""
