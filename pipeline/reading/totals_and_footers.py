"""Rows below the data that are no input rows: totals, and those that say who made the sheet, when it was printed, or what to note.

Every cell of a footer is a label with what it says, or a label and what it says in the cell behind it:

    制表人：张三 | | 审核人： | 李四        Prepared by: Anna | | Printed on | 2026-11-20

A row of which anything else is filled is input, and so is one that holds a number, an amount or what looks like
a part of a ticket number: it is judged, and whoever reads the result sees it.
"""

import datetime
import re
from collections.abc import Sequence
from typing import Any

from pipeline.model.shown_cells import shown
from pipeline.reading.cell_words import folded
from pipeline.reading.character_width import one_width
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import is_blank

_TOTAL = re.compile(
    r"(?:grand|sub|page|sheet|overall)?(?:total|sum)s?(?:amount)?(?:本[页月期表次]|以上|全部|各项)?"
    r"|(?:本[页月期表次]|以上|全部|各项)?(?:合计|总计|小计|共计|总和|累计|汇总)(?:金额|价款|人民币|数|行)?(?:/?(?:grand|sub)?totals?)?"
)
#: One of its letters at least, in any width: looked for first, because cells are many.
_MAY_SAY_TOTAL = re.compile("[计計和总總汇匯累tsｔｓ]", re.IGNORECASE)
#: What may stand behind the word in its cell: a count, a sum, a unit in brackets.
_BEHIND = re.compile(r"(?:\([^()]*\)|[:：=]|¥?[0-9][0-9,]*元?|张|条|笔|行|人|份|客票|tickets?|rows?)*")
_COUNT = re.compile(r"[0-9]{1,6}(?:张|条|笔|人|份|tickets?)?")
_TICKET_NO = re.compile(r"(?<![0-9])[0-9]{13}(?![0-9])")


def says_total(cell: Any) -> bool:
    """Whether a cell says that its row is a total.

    >>> says_total("合计（3张）："), says_total("Grand Total"), says_total("TOTAL/ANNE"), says_total("合计航空")
    (True, True, False, False)
    """
    if not isinstance(cell, str) or not _MAY_SAY_TOTAL.search(cell):
        return False
    word = folded(cell)
    found = _TOTAL.match(word)
    return bool(found and found[0] and _BEHIND.fullmatch(word[found.end() :]))


def is_total(row: Sequence[Any], layout: Layout) -> bool:
    """A row of which some cell says total, and that holds no ticket, names no passenger and no charge.

    A ticket that only looks like part of a total is input: it is judged, and whoever reads it sees it.
    """
    for name in ("ticket_no", "passenger_name", "charge"):
        at = layout.columns.get(name, len(row))
        cell = row[at] if at < len(row) else ""
        said = says_total(cell) or is_label(cell) or (name == "ticket_no" and _counts(cell))
        if not (is_blank(cell) or said):
            return False
    # Only what is taken from the row: where an earlier result says that it came from may be called total.
    taken = (*layout.columns.values(), *layout.extra.values())
    return any(says_total(row[at]) for at in taken if at < len(row)) and not any(map(_holds_ticket, row))


def _counts(cell: Any) -> bool:
    """Whether a cell holds how many tickets there are."""
    text = shown(cell)
    return len(text) < 13 and bool(_COUNT.fullmatch(folded(text)))  # a ticket number is no count


def _holds_ticket(cell: Any) -> bool:
    return bool(_TICKET_NO.search(folded(shown(cell))))


# --- footers ---

#: Labels that can be nothing else, with a colon behind them or without.
_SIGNED = re.compile(
    r"(?:制表|制单|填表|填报|编制|审核|复核|审批|批准|经办|经手|(?:部门|财务|业务)?负责)人(?:签[字名])?"
    r"|(?:制表|填表|报表|打印|列印|导出|生成)(?:日期|时间|人)"
    r"|(?:prepared|compiled|checked|reviewed|approved|verified|printed|exported|generated|created)(?:by|on|at)"
    r"|(?:date)?printed|printdate|authori[sz]edsignature"
)
#: Labels that need their colon: without it they may be a word of the data.
_NOTED = re.compile(
    r"制表|制单|审核|复核|审批|经办|主管|财务主管|会计|出纳|日期|备注|附注|注|注意|注意事项|说明|填表说明"
    r"|(?:客户|甲方|乙方|双方|单位|公司)?(?:核对)?(?:确认|确认人|(?:确认)?\(?(?:签[字名章]|盖章|公章|签[字名章]盖章|签[字名][/、]盖章)\)?)"
    r"|(?:合计|总计|共计|总)?(?:金额|人民币)?\(?(?:人民币)?大写\)?(?:金额|人民币)?|(?:温馨)?提示|notes?|nb|remarks?|comments?|date|signature|signed"
)
#: Labels of what has digits of its own, none of which is a ticket's or an amount: where to pay, whom to call.
_NUMBERED = re.compile(
    r"(?:收款)?(?:开户|银行)?(?:账号|账户)|(?:收款)?开户(?:银?行)(?:及账号)?|收款(?:单位|人|方|银行)|(?:联系|公司)?(?:电话|地址)|传真"
    r"|联系人|(?:bank)?account(?:no|number)?|tel|telephone|fax"
)
_WHOLE = re.compile(
    r"第[0-9]+页[,/]?(?:共[0-9]+页)?|共[0-9]+页[,/]?(?:第[0-9]+页)?|page[0-9]+(?:(?:of|/)[0-9]+)?"
    r"|以下(?:空白|无正文|无内容)|endof(?:report|list)"
)
#: One of these stands in every label: looked for first, because cells are many.
_MAY_SAY_FOOTER = re.compile(
    r"[:：人员期時时间間印頁页以]|\b(?:by|on|at|of|date|page|signature)\b", re.IGNORECASE
)

_CLOCK = re.compile(r"(?<![0-9])[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?")
_DAY = re.compile(
    r"(?<![0-9])20[0-9]{2}(?:[-/.年][01]?[0-9][-/.月][0-3]?[0-9]日?|[01][0-9][0-3][0-9])(?![0-9])"
)
#: Parts of a ticket number, spoilt ones too, and amounts.
_TICKET_OR_MONEY = re.compile(
    r"[0-9](?:[- ]?[0-9]){6}|[0-9]e[+-]?[0-9]|[0-9],[0-9]{3}|[0-9]\.[0-9]|[¥$€£] *[0-9]|[0-9] *(?:元|圆|yuan|rmb|cny)"
    r"|(?:rmb|cny|人民币) *[0-9]|^\W*[0-9]+\W*$"
)


def is_footer(row: Sequence[Any]) -> bool:
    """Whether a row is nothing but signatures, dates of printing and notes.

    >>> is_footer(["制表人：张三", "", "审核人：", "李四"]), is_footer(["制表人：张三", "", "", 120.0])
    (True, False)
    """
    awaited, labels = False, 0
    for cell in row:
        if isinstance(cell, str) and not cell.strip():
            continue
        label, says = _label(cell)
        if label:
            labels, awaited = labels + 1, not says
        elif awaited and _may_be_said(cell):
            awaited = False
        else:
            return False
    return labels > 0


def is_label(cell: Any) -> bool:
    """Whether a cell is such a label, with what it says or without."""
    return _label(cell)[0]


def _label(cell: Any) -> tuple[bool, bool]:
    """Whether a cell is a label, and whether it says itself what its label asks for."""
    if not isinstance(cell, str) or cell[:1].isdigit() or not _MAY_SAY_FOOTER.search(cell):
        return False, False
    text = one_width(cell).strip()
    word, colon, said = text.partition(":")
    if _WHOLE.fullmatch(folded(text).strip("()")) or (colon and said and _NUMBERED.fullmatch(folded(word))):
        return True, True
    content = _behind(text)
    if content is None or not _harmless(content):
        return False, False
    return True, bool(content.strip())


def _behind(text: str) -> str | None:
    """What stands behind a label in its cell; None where the text does not begin with one."""
    word, colon, content = text.partition(":")
    word = folded(word)
    if colon and (_SIGNED.fullmatch(word) or _NOTED.fullmatch(word)):
        return content
    words = text.split()
    for count in (1, 2):
        if _SIGNED.fullmatch(folded("".join(words[:count]))):
            return " ".join(words[count:])
    return None


def _may_be_said(cell: Any) -> bool:
    """Whether a cell may be what a label before it asks for: a day, or words without a number."""
    if isinstance(cell, datetime.date):
        return True
    return isinstance(cell, str) and not re.search("[0-9]", _without_time(cell))


def _harmless(text: str) -> bool:
    """Whether a text holds neither an amount nor what may be a ticket number."""
    return not _TICKET_OR_MONEY.search(_without_time(text).casefold())


def _without_time(text: str) -> str:
    return _CLOCK.sub("", _DAY.sub("", one_width(text)))
