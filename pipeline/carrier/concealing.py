"""Keeping our keys out of what is kept: a carrier may quote them in an answer.

interface.md, Secrets: never in a log, a ledger, a workbook or a traceback.
"""

import base64
import json
import re
from dataclasses import replace
from urllib.parse import quote

from pipeline.carrier.replies import Answered, Outcome

_SHORTEST = 6  # characters; what is shorter stands in any text by chance
_IN_PLACE = "***"


class Concealed:
    """Texts, answers and outcomes without certain keys.

    >>> Concealed("key-4711").text("APIKEY key-4711 is unknown")
    'APIKEY *** is unknown'
    """

    def __init__(self, *keys: str) -> None:
        """Also in the forms that a key takes in JSON, in an address and in Base64."""
        forms = {
            form
            for key in keys
            if len(key) >= _SHORTEST
            for form in (
                key, " ".join(key.split()), json.dumps(key)[1:-1], quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("="),
            )
        }  # fmt: skip
        self._forms = sorted(forms, key=len, reverse=True)
        # Where no form begins, none stands, not even one that is cut off: true of nearly every text.
        begins = "|".join(re.escape(form[:_SHORTEST]) for form in self._forms) or r"(?!)"
        self._begun, self._begun_in_bytes = re.compile(begins), re.compile(begins.encode())

    def text(self, text: str) -> str:
        """A text without the keys."""
        if self._begun.search(text) is None:
            return text
        for form in self._forms:
            text = text.replace(form, _IN_PLACE)
            # A text may have been cut off inside a key.
            if (cut := _begun_at_the_end(text, form)) >= 0:
                text = text[:cut] + _IN_PLACE
        return text

    def answer(self, answer: Answered) -> Answered:
        """An answer as it came, but for the keys; for keeping, not for interpreting."""
        body = answer.body
        if self._begun_in_bytes.search(body) is None and not answer.retry_after:
            return answer
        for form in self._forms:
            body = body.replace(form.encode(), _IN_PLACE.encode())
        return replace(answer, body=body, retry_after=self.text(answer.retry_after))

    def outcome(self, outcome: Outcome) -> Outcome:
        """An outcome without the keys: what the carrier says inside an encrypted result is readable only here."""
        detail, trace_id = self.text(outcome.detail), self.text(outcome.trace_id)
        if (detail, trace_id) == (outcome.detail, outcome.trace_id):
            return outcome
        return replace(outcome, detail=detail, trace_id=trace_id)


def _begun_at_the_end(text: str, form: str) -> int:
    """Where a text's end is the beginning of this form, -1 where it is not."""
    begin = form[:_SHORTEST]
    at = text.find(begin, max(0, len(text) - len(form) + 1))
    while at >= 0 and not form.startswith(text[at:]):
        at = text.find(begin, at + 1)
    return at
