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
    LANGS,
    RECONCILIATION_SHEETS,
    RESULT_COLUMNS,
    RESULT_SHEETS,
    TICKETS_SHEET,
    Column,
    Lang,
)
from pipeline.model.message import (
    JOINTS,
    Fact,
    Joined,
    Message,
    Private,
    SheetName,
    Term,
    filled,
    message,
    number_text,
)


@functools.cache
def _catalogue(lang: Lang) -> gettext.NullTranslations:
    compiled = None if lang == "en" else pkgutil.get_data(__package__, f"{lang}/LC_MESSAGES/messages.mo")
    return gettext.GNUTranslations(io.BytesIO(compiled)) if compiled else gettext.NullTranslations()


def translated(text: str, lang: Lang, context: str = "") -> str:
    """One of our texts in a language, with its places as they are; `context` is the one that it is marked with."""
    found = _catalogue(lang)
    if not text:  # the catalogue's own header
        return text
    return found.pgettext(context, text) if context else found.gettext(text)


def in_every_language(text: str, context: str = "") -> tuple[str, ...]:
    """A text in each language that we write, English first: what a workbook of ours may hold."""
    return tuple(dict.fromkeys(translated(text, lang, context) for lang in LANGS))


def heading(column: str, lang: Lang) -> str:
    """A column's heading in a workbook of that language; an extra column's own heading."""
    return translated(column, lang, "column")


def heading_in(said: str, unit: str, lang: Lang) -> str:
    """A heading with the currency of its amounts, or the time zone of its times."""
    return rendered(message("{heading} ({unit})", heading=said, unit=unit), lang)


def choice_word(choice: str, lang: Lang) -> str:
    """A choice of a column in a workbook of that language; anything else as it is."""
    return translated(choice, lang, "choice")


def choice_words(column: Column, lang: Lang) -> dict[str, str]:
    """The words of a column's choices, by their names; none where it has no choices."""
    return {choice.name: choice_word(choice.name, lang) for choice in column.choices}


def status_word(status: str, lang: Lang) -> str:
    """A status in a workbook of that language."""
    return translated(status, lang, "status")


#: Headings of the columns that results have beside their input's.
RESULT_HEADINGS = frozenset(word for name in RESULT_COLUMNS for word in in_every_language(name, "column"))
#: Sheets that nobody has named: those of our workbooks, and those that a spreadsheet program begins with.
_OURS = {
    *in_every_language(TICKETS_SHEET, "sheet"),
    *in_every_language(BUYERS_SHEET, "sheet"),
    *RESULT_SHEETS,
    *RECONCILIATION_SHEETS,
}
_NOBODYS = re.compile("(?:Sheet|工作表)[0-9]+")


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
                name: number_text(name, each) if isinstance(each, int) else rendered(each, lang, names=names)
                for name, each in facts.items()
            }
            return filled(said, put)
        case Joined(parts, how):
            return translated(JOINTS[how], lang).join(rendered(part, lang, names=names) for part in parts)
        case Term(name, kind):
            return translated(name, lang, kind)
        case Private():
            return str(fact) if names or _is_nobodys(fact) else "…"
        case _:
            return str(fact)


def _is_nobodys(name: Private) -> bool:
    return isinstance(name, SheetName) and (name.text in _OURS or bool(_NOBODYS.fullmatch(name.text)))
