"""Random keys in random spellings, character by character: nothing readable of them is kept."""

import base64
import json
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.carrier.key_redaction import Concealed
from pipeline.model.message import verbatim
from pipeline.model.outcome import Answered, Outcome

CHARACTERS = (
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\\"),
    st.characters(min_codepoint=33, max_codepoint=0x2FFFF, exclude_categories=["Cs", "Z", "C"]),
)
KEYS = st.one_of([st.text(each, min_size=6, max_size=40) for each in CHARACTERS])
SPELLINGS = (
    lambda c: c,
    lambda c: f"\\{c}",
    lambda c: json.dumps(c)[1:-1],
    lambda c: json.dumps(json.dumps(c)[1:-1])[1:-1],
    lambda c: "".join(f"\\u{unit.hex()}" for unit in _units(c)),
    lambda c: "".join(f"\\u{unit.hex().upper()}" for unit in _units(c)),
    lambda c: "".join(f"%{byte:02x}" for byte in c.encode()),
    lambda c: "".join(f"%{byte:02X}" for byte in c.encode()),
    lambda c: quote(quote(c, safe=""), safe=""),
    lambda c: f"&#{ord(c)};",
    lambda c: f"&#x{ord(c):x};",
    lambda c: f"&amp;#x{ord(c):X};",
    lambda c: "".join(f"\\x{byte:02x}" for byte in c.encode()),
)


def _units(character: str) -> list[bytes]:
    data = character.encode("utf-16-be")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


@settings(max_examples=min(30, settings().max_examples), deadline=None)
@given(key=KEYS, data=st.data())
def test_a_key_is_concealed_however_its_characters_are_spelt(key: str, data: st.DataObject) -> None:
    # Backslashes of the key itself beside those of an escape belong to either; both are taken out.
    spelt = "".join(data.draw(st.sampled_from(SPELLINGS))(character) for character in key)
    concealed = Concealed(key)
    assert concealed.text(f"[ {spelt} ]") == "[ *** ]"
    assert concealed.answer(Answered(200, f"[ {spelt} ]".encode())).body == b"[ *** ]"
    outcome = concealed.outcome(
        Outcome("rejected", "carrier_rejected", trace_id=f"[ {spelt} ]", detail=verbatim(f"[ {spelt} ]"))
    )
    assert (outcome.trace_id, str(outcome.detail)) == ("[ *** ]", "[ *** ]")


@settings(max_examples=min(30, settings().max_examples), deadline=None)
@given(key=KEYS, before=st.binary(max_size=7), after=st.binary(max_size=7))
def test_no_key_is_read_out_of_base64(key: str, before: bytes, after: bytes) -> None:
    said = Concealed(key).text(base64.b64encode(before + key.encode() + after).decode())
    assert "***" in said
    left = said.split("***")
    assert len(left[0]) <= 4 * len(before) // 3 + 4
    assert len(left[-1]) <= 4 * len(after) // 3 + 8


@settings(max_examples=min(30, settings().max_examples), deadline=None)
@given(key=KEYS, text=st.text())
def test_what_does_not_hold_a_key_is_kept_as_it_is(key: str, text: str) -> None:
    if not set(text) & {*"\\\\%&", *key}:
        assert Concealed(key).text(f"[ {text} ]") == f"[ {text} ]"
