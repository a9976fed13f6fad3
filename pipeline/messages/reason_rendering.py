"""Reasons in words: a code and its facts as the sentences that a person reads, in their language."""

from collections.abc import Mapping
from dataclasses import replace

from pipeline.messages.likely_mistakes import HINTS
from pipeline.messages.reasons import REASON
from pipeline.messages.translate import choice_word, rendered
from pipeline.model.columns import Lang
from pipeline.model.message import Fact, Message, Term, message
from pipeline.model.quoting import bounded, quoted
from pipeline.model.result_values import ReasonText

#: The facts that hold what people wrote: cells, and places, which name sheets.
_WRITTEN = ("seen", "differences", "differing", "alike", "other", "place", "used_at", "refunded_at")


def reason_text(code: str, column: str, lang: Lang, facts: Mapping[str, Fact]) -> ReasonText:
    """A reason's texts for one row; a fact `hint` names the hint (likely_mistakes.py) that says it more exactly."""
    hint = facts.get("hint")
    reason = HINTS.get(hint, REASON[code]) if isinstance(hint, str) else REASON[code]
    told = {
        "earlier": "",
        **{name: quoted(fact) if isinstance(fact, str) else fact for name, fact in facts.items()},
    }
    told["column"] = Term(column)
    text, cure = _said(reason.text, told, lang), _said(reason.cure, told, lang)
    brief = told | {name: "…" for name in _WRITTEN if told.get(name)} | {"earlier": ""}
    # Why a run stopped is in our own words.
    brief_text = _said(reason.text, brief, lang, names=code == "run_stopped")
    return ReasonText(code, column, text, cure, brief=brief_text, key=str(facts.get("key", "")))


def _said(text: str, facts: Mapping[str, Fact], lang: Lang, *, names: bool = True) -> str:
    return bounded(rendered(Message(text, facts), lang, names=names))


def of_buyer(reason: ReasonText, place: Message, lang: Lang) -> ReasonText:
    """A reason that is about a cell of a Buyers sheet, with its place."""
    said = message("{place}: {note}", place=place, note=reason.message)
    return replace(reason, message=bounded(rendered(said, lang)), source=place)


def about(reason: ReasonText, charge: str, product: str, lang: Lang) -> ReasonText:
    """A reason that is true of one charge of a row only, with that charge named."""
    name = quoted(choice_word(product if charge == "ancillary" else charge, lang))
    said = message("{charge}: {said}", charge=name, said=reason.message)
    return replace(reason, message=bounded(rendered(said, lang)))
