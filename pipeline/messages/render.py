"""Reasons in words: a code and its facts as the sentences that a person reads, in either language."""

import re
from collections.abc import Mapping
from dataclasses import replace

from pipeline.messages.chinese import in_chinese
from pipeline.messages.details import own_words
from pipeline.messages.hints import SLIPS
from pipeline.messages.reasons import (
    DIFFERENCE,
    DIFFERING,
    EARLIER,
    FATES,
    HINTS,
    REASON,
)
from pipeline.messages.translate import choice_word, heading, rendered
from pipeline.model.columns import (
    CHARGES,
    COLUMN,
    HEADER_TYPES,
    MARKETS,
    PRODUCTS,
    VOUCHERS,
    Lang,
)
from pipeline.model.message import Message
from pipeline.model.quoting import bounded, quoted
from pipeline.model.result import ReasonText
from pipeline.model.table import FIELD, PART

#: The facts that hold what people wrote: cells, and places, which name sheets.
_WRITTEN = ("seen", "differences", "differing", "other", "place", "used_at", "refunded_at", "earlier")
_PLACE = re.compile(r", row ([0-9]+)")  # as Rows.place and KnownCharge.place end
_RUN = re.compile(r" \(run ([0-9]+)\)$")
_HELD = re.compile(r"^(invoice|itinerary) (?:(\S+) on|in doubt since) (\S+), ")  # as ledger_conflicts begins
_WORDS = {choice.name: choice for choice in (*CHARGES, *PRODUCTS, *MARKETS, *VOUCHERS, *HEADER_TYPES)}


def _fact_text(name: str, text: str, column: str, lang: Lang) -> str:
    """A fact in the language of the message; facts about columns and choices come as names."""
    match name:
        case "hint":
            said = HINTS[text][lang] if text in HINTS else ""  # a slip has a message of its own
        case "differences":
            said = _differences(text, lang)
        case "differing":
            said = _differing(text, lang)
        case "fate":
            said = _fate(text, lang)
        case "earlier":
            said = EARLIER[lang].format(earlier=_place(text, lang))
        case "choices":
            words = {choice.name: choice_word(choice.name, lang) for choice in COLUMN[column].choices}
            said = ("、" if lang == "zh" else ", ").join(words.get(part, part) for part in text.split())
        case "market":
            said = _choice(text, lang)
        case "other" | "place" | "used_at" | "refunded_at":
            said = _place(text, lang)
        case "detail":
            said = in_chinese(text) if lang == "zh" else text
        case _:
            said = quoted(text)
    return said


def _fate(text: str, lang: Lang) -> str:
    """What becomes of rows that hold one charge: the columns they differ in, or the carrier's code for both."""
    if text.startswith("wire "):
        return FATES["wire"][lang].format(code=text.removeprefix("wire "))
    return FATES["differing"][lang].format(columns=_columns(text, lang))


def _columns(names: str, lang: Lang) -> str:
    return ("、" if lang == "zh" else ", ").join(heading(name, lang) for name in names.split())


def _differences(text: str, lang: Lang) -> str:
    """What was issued and what the row says now, column by column."""
    parts = [field.split(PART) for field in text.split(FIELD)]
    said = [
        DIFFERENCE[lang].format(
            column=heading(column, lang), issued=_choice(issued, lang), here=_choice(here, lang)
        )
        for column, issued, here in parts
    ]
    return ("；" if lang == "zh" else "; ").join(said)


def _differing(text: str, lang: Lang) -> str:
    """What a row says of its buyer and the buyer that it names does not, column by column."""
    parts = [field.split(PART) for field in text.split(FIELD)] if text else []
    said = [
        DIFFERING[lang].format(
            column=heading(column, lang), there=_choice(there, lang), here=_choice(here, lang)
        )
        for column, there, here in parts
    ]
    return ("；" if lang == "zh" else "; ").join(said)


def _choice(text: str, lang: Lang) -> str:
    return choice_word(text, lang) if text in _WORDS else quoted(text)


def _place(text: str, lang: Lang) -> str:
    """Where something stands or was issued, as the language has it."""
    if lang == "en":
        return text
    text = _HELD.sub(
        lambda found: (
            f"{_choice(found[1], lang)} {found[2]}（{found[3]}），"
            if found[2]
            else f"{_choice(found[1], lang)}（自 {found[3]} 起结果未知），"
        ),
        text,
    )
    return _RUN.sub(r"（第 \1 次运行）", _PLACE.sub(r" 第 \1 行", text))


def reason_text(code: str, column: str, lang: Lang, facts: Mapping[str, str]) -> ReasonText:
    """A reason's texts for one row."""
    said = {"earlier": ""} | {name: _fact_text(name, text, column, lang) for name, text in facts.items()}
    said["column"] = heading(column, lang)
    reason = SLIPS.get(facts.get("hint", ""), REASON[code])
    message, cure = bounded(reason.message(lang, said)), bounded(reason.cure(lang, said))
    written = {name: "" if name == "earlier" else "…" for name in _WRITTEN if said.get(name)}
    if code != "run_stopped" and (detail := facts.get("detail", "")):  # why it stopped is in our own words
        written["detail"] = _fact_text("detail", own_words(detail), column, lang)
    brief = bounded(reason.message(lang, said | written)) if written else message
    return ReasonText(code, column, message, cure, brief=brief)


def of_buyer(reason: ReasonText, place: Message, lang: Lang) -> ReasonText:
    """A reason that is about a cell of a Buyers sheet, with its place."""
    colon = "：" if lang == "zh" else ": "
    message = bounded(f"{rendered(place, lang)}{colon}{reason.message}")
    return replace(reason, message=message, source=str(place))


def about(reason: ReasonText, charge: str, product: str, lang: Lang) -> ReasonText:
    """A reason that is true of one charge of a row only, with that charge named."""
    name = _choice(product if charge == "ancillary" else charge, lang)
    colon = "：" if lang == "zh" else ": "
    return replace(reason, message=bounded(f"{name}{colon}{reason.message}"))
