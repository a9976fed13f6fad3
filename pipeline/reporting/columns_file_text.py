"""A mapping as the text of a TOML file, with comments: the lines that hold, and those that the team may choose from.

Samples of values are not in it: a mapping is passed on, and what stands in a workbook's cells is about people.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from pipeline.messages.translate import rendered
from pipeline.model.columns import COLUMN, Lang
from pipeline.model.message import Fact, Term, message
from pipeline.model.quoting import one_line
from pipeline.model.survey import Entry, Question, Survey

_HEADINGS = ("headings",)
#: The order of the sections in a file.
_ORDER = ("headings", "values", "fixed", "sheets", "order_types")


def mapping_text(survey: Survey, answered: Sequence[Entry], open_: Sequence[Question], lang: Lang) -> str:
    """The file: every certain line, the answers that were given, and what is open as lines that are commented out."""
    return "\n".join(_lines(survey, answered, open_, lang)) + "\n"


def _lines(survey: Survey, answered: Sequence[Entry], open_: Sequence[Question], lang: Lang) -> Iterator[str]:
    yield from _comment(
        message(
            "What the headings and values of these workbooks mean: voucher check WORKBOOK --columns FILE"
        ),
        lang,
    )
    yield from _comment(
        message(
            "Correct the right-hand sides; a line that begins with # says nothing until its # is taken away."
        ),
        lang,
    )
    said = {(entry.section, entry.key): entry for entry in (*survey.entries, *answered)}
    holding = sorted(said.values(), key=lambda entry: (_ORDER.index(entry.section[0]), entry.section[1:]))
    unknown = list(_unknown(survey, {entry.key for entry in holding if entry.section == _HEADINGS}, lang))
    if unknown and not any(entry.section == _HEADINGS for entry in holding):
        yield from ("", _header(_HEADINGS), *unknown)
    for section, entries in groupby(holding, key=lambda entry: entry.section):
        yield ""
        yield _header(section)
        for entry in entries:
            said_of_it = rendered(_told(entry), lang)
            yield _line(entry) + (f"  # {said_of_it}" if said_of_it not in ("", entry.value) else "")
        if section == _HEADINGS:
            yield from unknown
    if not open_:
        return
    yield ""
    yield from _comment(
        message(
            "Not certain. Where one of these is right, move it to its section above, in place of a line that begins alike:"
        ),
        lang,
    )
    for question in open_:
        yield "#"
        yield from _comment(question.asked, lang)
        for answer in question.answers:
            for entry in answer.entries:
                yield f"#   {_header(entry.section)} {_line(entry)}  # {one_line(rendered(answer.said, lang))}"


def _unknown(survey: Survey, said: Collection[str], lang: Lang) -> Iterator[str]:
    """Of workbooks no sheet of which is known for one of tickets, the headings that may be columns, but for those that are `said`."""
    if any(use.use == "tickets" for use in survey.sheets):
        return
    named = dict.fromkeys(
        one.heading for use in survey.sheets if use.use == "unheaded" for one in use.headings
    )
    if left := [heading for heading in named if heading not in said]:
        yield from _comment(
            message(
                "Not known. Where one of these is a column, give its name between the quotes and take the # away:"
            ),
            lang,
        )
        yield from (f"# {_line(Entry(_HEADINGS, heading, ''))}" for heading in left)


def _told(entry: Entry) -> Fact:
    """What a line means, where that is not seen."""
    if entry.section == _HEADINGS:
        return Term(str(entry.value)) if entry.value else message("carried along")
    if entry.key == "skip":
        return message("left out") if entry.value else message("read")
    column = entry.section[1] if entry.section[0] == "values" else entry.key
    if column in COLUMN and COLUMN[column].choices:
        return Term(str(entry.value), "choice")
    return ""


def _header(section: tuple[str, ...]) -> str:
    head, *names = section
    return f"[{'.'.join([head, *(name if name.isascii() and name.isidentifier() else _quoted(name) for name in names)])}]"


def _line(entry: Entry) -> str:
    value = str(entry.value).lower() if isinstance(entry.value, bool) else _quoted(entry.value)
    key = (
        entry.key
        if entry.key == "skip" or (entry.key in COLUMN and entry.section[0] != "headings")
        else _quoted(entry.key)
    )
    return f"{key} = {value}"


def _quoted(text: str) -> str:
    """A basic string of TOML, whose escapes are those of JSON but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: Fact, lang: Lang) -> Iterator[str]:
    yield f"# {one_line(rendered(text, lang))}"
