"""Messages written out in the language of whoever reads them: gettext's catalogues, one file a language (`zh.po`).

The English texts in the code are the keys. What they hold at their places is put in afterwards: other messages and names of ours
in that language, everything else as it is.

>>> from pipeline.model.message import SheetName, Term, message
>>> old = message("{column} is blank on sheet {sheet}", column=Term("amount"), sheet=SheetName("王小明"))
>>> rendered(old, "en"), rendered(old, "en", names=False)
('amount is blank on sheet 王小明', 'amount is blank on sheet …')
"""

import functools
import gettext
import io
import pkgutil
import re

from pipeline.model.columns import (
    BUYERS_SHEET,
    COLUMN,
    COLUMNS,
    RECONCILIATION_SHEETS,
    RESULT_COLUMNS,
    RESULT_SHEETS,
    TICKETS_SHEET,
    Lang,
)
from pipeline.model.message import JOINTS, Fact, Joined, Message, Private, SheetName, Term, filled

#: Sheets that nobody has named: those of our workbooks, and those that a spreadsheet program begins with.
_OURS = {*TICKETS_SHEET.values(), *BUYERS_SHEET.values(), *RESULT_SHEETS, *RECONCILIATION_SHEETS}
_NOBODYS = re.compile("(?:Sheet|工作表)[0-9]+")
#: Columns and choices are the reader's vocabulary too, so their words stand there.
_CHOICES = {choice.name: choice for column in COLUMNS for choice in column.choices}


@functools.cache
def _catalogue(lang: Lang) -> gettext.NullTranslations:
    compiled = None if lang == "en" else pkgutil.get_data(__package__, f"{lang}.mo")
    return gettext.GNUTranslations(io.BytesIO(compiled)) if compiled else gettext.NullTranslations()


def translated(text: str, lang: Lang) -> str:
    """One of our texts in a language, with its places as they are."""
    return _catalogue(lang).gettext(text)


def rendered(fact: Fact, lang: Lang, *, names: bool = True) -> str:
    """A message, or a fact of one, in a language. Without `names`, what may name people is “…”."""
    match fact:
        case Message(text, facts, plural):
            count = facts.get("count")
            if plural and isinstance(count, int):
                said = _catalogue(lang).ngettext(text, plural, count)
            else:
                said = translated(text, lang)
            put = {
                name: each if isinstance(each, int) else rendered(each, lang, names=names)
                for name, each in facts.items()
            }
            return filled(said, put)
        case Joined(parts, how):
            return translated(JOINTS[how], lang).join(rendered(part, lang, names=names) for part in parts)
        case Term(name, kind):
            return _word(name, kind, lang)
        case Private():
            return str(fact) if names or _is_nobodys(fact) else "…"
        case _:
            return str(fact)


def _word(name: str, kind: str, lang: Lang) -> str:
    if kind == "column" and name in COLUMN:
        return COLUMN[name].heading(lang)
    if kind == "choice" and name in _CHOICES:
        return _CHOICES[name].word(lang)
    if name in RESULT_COLUMNS and lang == "zh":
        return RESULT_COLUMNS[name]
    return _catalogue(lang).pgettext(kind, name)


def _is_nobodys(name: Private) -> bool:
    return isinstance(name, SheetName) and (name.text in _OURS or bool(_NOBODYS.fullmatch(name.text)))
