"""The program's lines to people, in Chinese: notes on the way, and why a run stopped.

Whoever has something to say says it once, in English, and knows no language; at the edge, where it
reaches a person who reads Chinese, it is said with these words. A line is recognised by its fixed words; what stands
between them is taken over, itself in Chinese where it is a line, a column or a value of ours.

>>> in_chinese("may.xlsx: is empty; there is nothing to read")
'may.xlsx：是空的，没有可读取的内容'
>>> in_chinese("may.xlsx: sheet Old is hidden and was not read")
'may.xlsx：工作表“Old”已隐藏，未读取'
>>> in_chinese("nothing that we say")
'nothing that we say'
"""

import functools
import re
from collections.abc import Mapping

from pipeline.messages.chinese.in_workbooks import WORKBOOKS
from pipeline.messages.masking import without_cells
from pipeline.messages.translate import choice_word, heading, rendered, translated
from pipeline.model.columns import COLUMN, COLUMNS, Lang
from pipeline.model.message import SYSTEM_ERRORS, Message

LINES: Mapping[str, str] = {
    **WORKBOOKS,
    **{text: translated(text, "zh") for text in SYSTEM_ERRORS},
}

_WORDS = {choice.name: choice_word(choice.name, "zh") for column in COLUMNS for choice in column.choices}
_JOINTS = (", ", " or ", " and ")
_DEEPEST = 4
_GIVEN = re.compile(r"(\\ row\\ |\\ attempt\\ |\\ run\\ |\\\(run\\ )?\\{\\}")  # as re.escape leaves it
_ROW = re.compile(r".+, .+, row [0-9]+(?: \(run [0-9]+\))?")  # as quoting.row_at names one
_Pattern = tuple[int, re.Pattern[str], str]  # how many characters of it are fixed, the line, its Chinese


@functools.cache
def _patterns() -> tuple[list[_Pattern], list[_Pattern]]:
    """Every line as a pattern: those that begin with words of ours, then those that begin with what is given.

    Those with the most fixed words come first: they say most exactly what they are.
    """
    found = [
        (english, re.compile(_GIVEN.sub(_group, re.escape(english)), re.DOTALL))
        for english in sorted(LINES, key=lambda line: (-len(line.replace("{}", "")), line))
    ]
    made = [
        (not english.startswith("{}"), (len(english.replace("{}", "")), pattern, LINES[english]))
        for english, pattern in found
    ]
    return [line for fixed, line in made if fixed], [line for fixed, line in made if not fixed]


def _group(found: re.Match[str]) -> str:
    """What stands for something given: behind a word that counts, one word, which is a number."""
    return rf"{found[1]}([^\s:;]+?)" if found[1] else "(.*?)"


def in_chinese(line: str) -> str:
    """A line in Chinese, as far as the program has words for it."""
    return _said(line, 0)


def in_language(line: str | Message, lang: Lang) -> str:
    """A line in the language of whoever reads it."""
    return shown(line, lang)


def shown(line: str | Message, lang: Lang, *, names: bool = True) -> str:
    """A line in the language of whoever reads it, without what may name people where `names` is false."""
    if isinstance(line, Message) and (line.facts or translated(line.text, lang) != line.text):
        return rendered(line, lang, names=names)
    text = str(line) if names else without_cells(str(line))
    return in_chinese(text) if lang == "zh" else text


def _said(line: str, depth: int) -> str:
    if depth > _DEEPEST or not line:
        return line
    if line in COLUMN or line in _WORDS:
        return heading(line, "zh") if line in COLUMN else _WORDS[line]
    for joint in _JOINTS:
        parts = line.split(joint)
        if len(parts) > 1 and all(part in COLUMN or part in _WORDS for part in parts):
            return ("或" if joint == " or " else "、").join(_said(part, depth) for part in parts)
    places = line.split("; ")
    if len(places) > 1 and all(map(_ROW.fullmatch, places)):
        return "；".join(_said(place, depth) for place in places)
    ours, given = _patterns()
    if said := _matched(line, ours, depth):
        return said[1]
    # Either may take the whole line: the one that knows more of its words.
    known = [said for said in (_placed(line, depth), _matched(line, given, depth)) if said]
    return max(known, key=lambda said: said[0])[1] if known else _by_parts(line, depth)


def _by_parts(line: str, depth: int) -> str:
    """A line that is none of ours: several that are, or what a person typed behind its place."""
    for joint, chinese in (("; ", "；"), (": ", "：")):
        first, found, rest = line.partition(joint)
        if found and (said := _said(first, depth + 1)) != first:
            return f"{said}{chinese}{_said(rest, depth + 1)}"
    return line


def _matched(line: str, patterns: list[_Pattern], depth: int) -> tuple[int, str] | None:
    """How much of a line is fixed words, and the line in Chinese; None where it is none of these."""
    for fixed, pattern, chinese in patterns:
        if match := pattern.fullmatch(line):
            return fixed, chinese.format(*(_said(given, depth + 1) for given in match.groups()))
    return None


def _placed(line: str, depth: int) -> tuple[int, str] | None:
    """Likewise a line that begins with where it is about: a file, a sheet, a key of a profile."""
    ours, given = _patterns()
    for found in re.finditer(": ", line):
        place, rest = line[: found.start()], line[found.end() :]
        if said := _matched(rest, ours, depth + 1) or _matched(rest, given, depth + 1):
            return said[0], f"{_place(place)}：{said[1]}"
    return None


def _place(place: str) -> str:
    return re.sub(r", sheet (.+)$", r"，工作表“\1”", place)
