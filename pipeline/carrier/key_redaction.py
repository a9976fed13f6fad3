"""Keeping our keys out of what is kept: a carrier may quote them in an answer, in whatever spelling.

interface.md, Secrets: never in a log, a ledger, a workbook or a traceback.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from html.entities import codepoint2name, name2codepoint

from pipeline.model.message import changed
from pipeline.model.outcome import Answered, Outcome

_SHORTEST = 6  # characters; what is shorter stands in any text by chance
_IN_PLACE = "***"
# How often an escape may be escaped again: bounded, so that no text costs more than its length.
_SLASHES, _PERCENT, _AND = r"\\{1,8}", r"%(?:25){0,4}", r"&(?:amp;){0,4}"
_DEEPEST = 6
_ESCAPE = re.compile(
    r"(?:\\u\{|&#x)0*([0-9a-f]{2,6})[};]?|[\\%]u([0-9a-f]{4})|(?:\\x|%)([0-9a-f]{2})|&#0*([0-9]{2,7});?|&([a-z]{2,8});?|\\"
)
#: How a form begins wherever it stands, once escapes are taken away: what in a key looks like one may go with them.
_SURE = re.compile(r"(?:(?![\\%&]|[uU](?:\{|[0-9a-fA-F]{4})|[xX][0-9a-fA-F]{2})[!-~]){0,6}")
#: What may be left of an escape that was cut off.
_CUT_OFF = re.compile(r"(?:[\\%&][\\\w#{;%]{0,12})?")


class Concealed:
    r"""Texts, answers and outcomes without certain keys.

    >>> Concealed("key-4711").text(r"APIKEY key-4711, KEY\u002d4711, key%2D4711 or &#107;ey-4711 is unknown")
    'APIKEY ***, ***, *** or *** is unknown'
    """

    def __init__(self, *keys: str) -> None:
        """Each character as itself or escaped (JSON, percent, HTML, hexadecimal), in any case; also all of it in Base64 or hexadecimal."""
        self._forms = sorted(
            {form for key in keys if len(key) >= _SHORTEST for form in _forms(key)}, key=len, reverse=True
        )
        # Where nothing is escaped and no form begins, none stands: true of nearly every text.
        begins = (begin[0].lower() for form in self._forms if (begin := _SURE.match(form)))
        self._begins = [begin if len(begin) > 2 else "" for begin in begins]

    @cached_property
    def _patterns(self) -> "list[_Form]":
        """Made when they are first needed: they take a while, and hardly any run needs them."""
        return [_Form(form) for form in self._forms]

    def text(self, text: str) -> str:
        """A text without the keys, nor the beginning of one that was cut off at its end."""
        if not text or not self._may_hold_one(text.lower()):
            return text
        for pattern in self._patterns:
            text = pattern.taken_out(text)
        return text

    def _may_hold_one(self, text: str) -> bool:
        """Whether a key begins anywhere, as the text is or once its escapes are taken away; quick, and never no for a yes."""
        for _ in range(_DEEPEST):
            for begin in self._begins:
                if begin in text:
                    return True
            if "\\" not in text and "%" not in text and "&" not in text:  # no escape begins otherwise
                return False
            plain = _ESCAPE.sub(_unescaped, text)
            if plain == text:
                return False
            text = plain
        return bool(self._begins)

    def answer(self, answer: Answered) -> Answered:
        """An answer as it came, but for the keys; for keeping, not for interpreting."""
        came = answer.body.decode("latin-1"), answer.retry_after
        body, retry_after = kept = self.text(came[0]), self.text(came[1])
        return (
            answer if kept == came else replace(answer, body=body.encode("latin-1"), retry_after=retry_after)
        )

    def outcome(self, outcome: Outcome) -> Outcome:
        """An outcome without the keys: what the carrier says inside an encrypted result is readable only here."""
        detail, trace_id = outcome.detail and changed(outcome.detail, self.text), self.text(outcome.trace_id)
        if (detail, trace_id) == (outcome.detail, outcome.trace_id):
            return outcome
        return replace(outcome, detail=detail, trace_id=trace_id)


def _unescaped(found: re.Match[str]) -> str:
    """The character of an escape that is in small letters, in small letters; only that of printable ASCII matters here."""
    braced, four, two, decimal, name = found.groups()
    if code := braced or four or two:
        return chr(int(code, 16)).lower() if len(code) < 5 else ""
    if decimal:
        return chr(int(decimal)).lower() if len(decimal) < 5 else ""
    if name:
        return chr(name2codepoint[name]) if name in name2codepoint else found[0]
    return ""


class _Form:
    """One form of a key, in whatever spelling of its characters."""

    def __init__(self, form: str) -> None:
        characters = re.findall(r"\\+|[^\\]", " ".join(form.split()))
        spellings = [_spellings(each) if len(each) == 1 else _backslashes(len(each)) for each in characters]
        self._whole = re.compile("".join(spellings), re.IGNORECASE)
        # A lookahead, so that a beginning that leads nowhere hides none that does.
        self._begun = re.compile(f"(?=({''.join(spellings[:_SHORTEST])}))", re.IGNORECASE)
        self._rest = [re.compile(spelling, re.IGNORECASE) for spelling in spellings[_SHORTEST:]]

    def taken_out(self, text: str) -> str:
        text = self._whole.sub(_IN_PLACE, text)
        return next((text[:at] + _IN_PLACE for at in self._cut_off(text)), text)

    def _cut_off(self, text: str) -> Iterator[int]:
        """Where the end of a text begins this form."""
        for begun in self._begun.finditer(text):
            end = begun.end(1)
            for character in self._rest:
                if (found := character.match(text, end)) is None:
                    break
                end = found.end()
            if _CUT_OFF.fullmatch(text, end):
                yield begun.start()


def _forms(key: str) -> Iterator[str]:
    """A key as it is, in hexadecimal, and in Base64 wherever it may stand in what is encoded."""
    yield key
    data = key.encode("utf-8", "surrogatepass")
    yield data.hex()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        # The characters that also hold bits of what stands before or after are anybody's.
        sure = encoded[(0, 2, 3)[before] : len(encoded) if (before + len(data)) % 3 == 0 else -1]
        if len(sure) >= _SHORTEST:
            yield sure


def _backslashes(count: int) -> str:
    """A pattern for so many backslashes in a row, as one: of one for each, every share of a text's among them would be tried."""
    one = rf"\\(?:u\{{?0{{0,4}}5c\}}?|x5c)?|{_PERCENT}5c|{_AND}#(?:0{{0,6}}92|x0{{0,6}}5c);?"
    return f"(?:{one}){{{count},{9 * count}}}"


def _spellings(character: str) -> str:
    """A pattern for one character in every spelling that a machine may give it; Base64's two alphabets are one.

    No two ways match one text: where most of a key stands and the rest does not, each share of them would be tried, twice as many with each
    character.
    """
    code = ord(character)
    units = character.encode("utf-16-be", "surrogatepass")
    plain = {character}  # and as it stands in raw bytes
    ways = {
        "".join(
            rf"(?:{_SLASHES}|{_PERCENT})u\{{?0{{0,4}}{int.from_bytes(units[at : at + 2]):x}\}}?"
            for at in range(0, len(units), 2)
        ),
        rf"{_AND}#(?:0{{0,6}}{code}|x0{{0,6}}{code:x});?",
    }
    if code in codepoint2name:
        ways.add(rf"{_AND}{codepoint2name[code]};?")
    for encoding in ("utf-8", "gb18030"):
        data = character.encode(encoding, "surrogatepass" if encoding == "utf-8" else "replace")
        ways.add("".join(rf"(?:{_PERCENT}|{_SLASHES}x){byte:02x}" for byte in data))
        plain.add(data.decode("latin-1"))
    ways |= {rf"\\{{0,8}}{re.escape(each)}" for each in plain}
    if character == " ":
        return rf"(?:{'|'.join(sorted(ways))}|[^\S ]|\+){{1,40}}"
    same = {"+": "-", "/": "_"}.get(character, "")
    return f"(?:{'|'.join(sorted({*ways, re.escape(same)} if same else ways, key=len, reverse=True))})"
