"""Our keys are not kept, in whatever form a carrier quotes them."""

import base64
import json
from urllib.parse import quote

import pytest

from pipeline.carrier.concealing import Concealed
from pipeline.carrier.replies import Answered, Outcome

KEY = 'key-"7f3a"/+é'
FORMS = [KEY, json.dumps(KEY)[1:-1], quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()]


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_concealed_in_every_form(form: str) -> None:
    concealed = Concealed("other-key", KEY)
    said = concealed.outcome(Outcome("rejected", detail=f"APIKEY {form}!", trace_id=f"t-{form}", number="1"))
    assert form.rstrip("=") not in repr(said)
    assert (said.detail[:10], said.state, said.number) == ("APIKEY ***", "rejected", "1")
    kept = concealed.answer(Answered(401, f'{{"message": "{form}"}}'.encode(), form))
    assert form.rstrip("=").encode() not in kept.body
    assert form.rstrip("=") not in kept.retry_after
    assert kept.http_status == 401


def test_what_holds_no_key_stays_as_it_came() -> None:
    answer = Answered(200, bytes(range(256)), "7")
    assert Concealed(KEY).answer(answer) == answer
    outcome = Outcome("unknown", "no_answer", detail="the connection broke", trace_id="t")
    assert Concealed(KEY).outcome(outcome) == outcome


def test_a_key_that_was_cut_off_or_squeezed_is_concealed() -> None:
    concealed = Concealed("key-4711-4712", "two  blanks")
    for length in range(6, 13):
        assert concealed.text("APIKEY " + "key-4711-4712"[:length]) == "APIKEY ***"
    assert concealed.text("APIKEY key-4") == "APIKEY key-4"  # too little of it to tell
    assert concealed.text("two blanks") == "***"


def test_a_key_too_short_to_be_one_conceals_nothing() -> None:
    assert Concealed("", "7", "abc").text("an answer about 7 abc") == "an answer about 7 abc"
