"""Our keys are not kept, in whatever form a carrier quotes them."""

import base64
import html
import json
import re
import time
from urllib.parse import quote

import pytest

from pipeline.carrier.key_redaction import Concealed
from pipeline.model.message import verbatim
from pipeline.model.outcome import Answered, Outcome

KEY = 'key-"7f3a"/+é'
FORMS = [KEY, json.dumps(KEY)[1:-1], quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()]


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_concealed_in_every_form(form: str) -> None:
    concealed = Concealed("other-key", KEY)
    said = concealed.outcome(
        Outcome("rejected", detail=verbatim(f"APIKEY {form}!"), trace_id=f"t-{form}", number="1")
    )
    assert form.rstrip("=") not in repr(said)
    assert (str(said.detail)[:10], said.state, said.number) == ("APIKEY ***", "rejected", "1")
    kept = concealed.answer(Answered(401, f'{{"message": "{form}"}}'.encode(), form))
    assert form.rstrip("=").encode() not in kept.body
    assert form.rstrip("=") not in kept.retry_after
    assert kept.http_status == 401


#: A key as services, frameworks and gateways write it into what they answer.
SPELT = {
    "JSON escapes": "".join(f"\\u{ord(c):04x}" for c in KEY),
    "JSON escapes in capitals": "".join(f"\\u{ord(c):04X}" for c in KEY),
    "JSON within JSON": json.dumps(json.dumps(KEY))[3:-3],
    "JSON escapes within JSON": json.dumps("".join(f"\\u{ord(c):04x}" for c in KEY))[1:-1],
    "PHP's JSON": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "percent, all of it": "".join(f"%{b:02X}" for b in KEY.encode()),
    "percent in small letters": "".join(f"%{b:02x}" for b in KEY.encode()),
    "percent of percent": quote(quote(KEY, safe=""), safe=""),
    "percent in GB18030": "".join(f"%{b:02x}" for b in KEY.encode("gb18030")),
    "HTML": html.escape(KEY),
    "HTML of HTML": html.escape(html.escape(KEY)),
    "HTML, decimal": "".join(f"&#{ord(c)};" for c in KEY),
    "HTML, hexadecimal": "".join(f"&#x{ord(c):X};" for c in KEY),
    "named": KEY.replace("é", "&eacute;"),
    "bytes as Python shows them": repr(KEY.encode())[2:-1],
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal in capitals": KEY.encode().hex().upper(),
    "in capitals": "".join(c.upper() if c.isascii() else c for c in KEY),
    "Base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "Base64, its slashes escaped": base64.b64encode(KEY.encode()).decode().replace("/", "\\/").rstrip("="),
}


@pytest.mark.parametrize("spelling", SPELT)
def test_a_key_is_concealed_in_every_spelling(spelling: str) -> None:
    concealed = Concealed("other-key", KEY)
    spelt = SPELT[spelling]
    assert re.fullmatch(r"APIKEY \*\*\*[^ ]{0,2} is not one", concealed.text(f"APIKEY {spelt} is not one"))
    for encoding in ("utf-8", "gb18030"):
        kept = concealed.answer(Answered(401, f'{{"message": "{spelt}"}}'.encode(encoding)))
        assert re.fullmatch(rb'\{"message": "\*\*\*[^ ]{0,2}"\}', kept.body)


@pytest.mark.parametrize("before", ["", "a", "ab", "user:", "APIKEY="])
@pytest.mark.parametrize("after", ["", ":", "ab", "abc"])
def test_a_key_is_concealed_within_what_is_base64(before: str, after: str) -> None:
    encoded = base64.b64encode(f"{before}key-4711-abcdef{after}".encode()).decode()
    said = Concealed("key-4711-abcdef").text(f"Basic {encoded}")
    assert "***" in said
    assert len(said) < len("Basic ***") + len(base64.b64encode(f"{before}{after}".encode())) + 4


def test_a_key_that_was_cut_off_within_an_escape_is_concealed() -> None:
    spelt = "".join(f"\\u{ord(c):04x}" for c in "key-4711")
    for length in range(6 * 6, len(spelt)):
        assert Concealed("key-4711").text(f"APIKEY {spelt[:length]}") == "APIKEY ***"


@pytest.mark.parametrize("spelling", ["\\u{:04x}", "\\x{:02X}", "%{:02X}", "&#x{:x};", "&#{};"])
def test_a_key_of_capitals_of_which_every_character_is_escaped_is_concealed(spelling: str) -> None:
    spelt = "".join(spelling.format(ord(c)) for c in "KEY-4711")
    assert Concealed("KEY-4711").text(f"APIKEY {spelt} is unknown") == "APIKEY *** is unknown"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("4711\\ab", "4711\\\\a%62"),
        ("u00414711", "\\u0041\\4711"),
        ("%414711", "%41\\4711"),
        ("&Key4711", "&Key\\u0034711"),
    ],
)
def test_a_key_that_itself_looks_escaped_is_concealed(key: str, said: str) -> None:
    assert Concealed(key).text(f"APIKEY {said} is unknown") == "APIKEY *** is unknown"


@pytest.mark.parametrize(
    "one",
    [
        "\\",
        "\\" * 2,
        "\\" * 8,
        "\\u005c",
        "\\\\u005C",
        "\\u{5c}",
        "\\x5c",
        "%5C",
        "%255c",
        "&#92;",
        "&amp;#x5c;",
    ],
)
def test_backslashes_in_a_row_are_concealed_in_every_spelling(one: str) -> None:
    assert (
        Concealed("ab" + 7 * "\\" + "cd").text(f"APIKEY ab{7 * one}cd is unknown") == "APIKEY *** is unknown"
    )


def test_a_beginning_that_leads_nowhere_hides_no_key() -> None:
    assert Concealed("aaaaaaab").text("aaaaaaaaaab") == "aaa***"


@pytest.mark.parametrize(
    "text",
    [
        "key-47" * 10_922,
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in (
                "\\" * 65_536,
                ("ab" + "\\" * 60) * 1_000,
                "%25" * 21_845,
                "&amp;" * 13_107,
                "\\u006" * 10_922,
                " " * 65_536,
            )
        ),
    ],
    ids=lambda text: text[:6],
)
def test_no_text_costs_more_than_its_length(text: str) -> None:
    concealed = Concealed("key-4711-4712", "\\%25&amp; \\", "ab" + 7 * "\\" + "cd-4711")

    def cost(part: str) -> float:
        begun = time.process_time()
        concealed.text(part)
        concealed.answer(Answered(200, part.encode()))
        return time.process_time() - begun

    # A text that is four times as long costs four times as much; by its square it would be sixteen times.
    assert cost(text[: len(text) // 2]) < 8 * cost(text[: len(text) // 8]) + 0.05


def test_what_holds_no_key_stays_as_it_came() -> None:
    answer = Answered(200, bytes(range(256)), "7")
    assert Concealed(KEY).answer(answer) == answer
    outcome = Outcome("unknown", "no_answer", detail=verbatim("the connection broke"), trace_id="t")
    assert Concealed(KEY).outcome(outcome) == outcome


def test_a_key_that_was_cut_off_or_squeezed_is_concealed() -> None:
    concealed = Concealed("key-4711-4712", "two  blanks")
    for length in range(6, 13):
        assert concealed.text("APIKEY " + "key-4711-4712"[:length]) == "APIKEY ***"
    assert concealed.text("APIKEY key-4") == "APIKEY key-4"  # too little of it to tell
    assert concealed.text("two blanks") == "***"


def test_a_key_too_short_to_be_one_conceals_nothing() -> None:
    assert Concealed("", "7", "abc").text("an answer about 7 abc") == "an answer about 7 abc"


@pytest.mark.parametrize(
    ("key", "most"),
    [
        ("abcdefghijklmnopqrstuvwxyz0123456789ABCD", "abcdefghijklmnopqrstuvwxyz0123456789ABC"),
        ("A" * 40, "A" * 39),
        ("¡" * 40, base64.b64encode("¡".encode() * 40).decode()[:-5]),
        ("one two three", "one" + " " * 40),
    ],
    ids=["letters", "one letter", "Base64", "spaces"],
)
def test_where_most_of_a_long_key_stands_it_is_looked_through_once(key: str, most: str) -> None:
    """Were there two ways to read a character, each would double what is tried: years, of a run that can't go on meanwhile."""
    text = f"{most}! {'.' * 60}"
    assert Concealed(key).text(text) == text
