"""Templates: everything is escaped, and said in the visitor's language."""

import re
from typing import Any

import jinja2
import pytest

from pipeline.page.html import environment, of_ours, seen, static_text
from tests.catalogue import TEMPLATES

HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}\u202e=HYPERLINK(1)"


def _filled(source: str, **values: Any) -> str:
    return environment().from_string(source).render(lang="en", **values)


@pytest.mark.parametrize(
    "source",
    [
        "{{ x }}",
        "{{ x | cell }}",
        '<a title="{{ x }}">',
        '{{ say("Page {page} of {last}", page=x, last=2) }}',
        '{{ count_say("{count} of {x}", "{count} of {x}", 2, x=x) }}',
    ],
)
def test_a_strangers_text_is_text(source: str) -> None:
    text = _filled(source, x=HOSTILE)
    assert "<img" not in text
    assert "\"'" not in text
    assert "{{7*7}}" in text


@pytest.mark.parametrize(
    "source",
    [
        "<title>{{ x }} · {{ say('Vouchers') }}</title>",
        '<a title="{{ x }}">',
        """<p aria-label="{{ say('What {heading} means', heading=x) }}">""",
        '<option value="">{{ x }}</option>',
        "<bdi>{{ x }}</bdi>",
    ],
)
def test_no_text_turns_round_what_stands_beside_it(source: str) -> None:
    assert re.search("a[ \ufffd]b", _filled(source, x="a\u202eb"))


def test_what_a_form_sends_back_is_as_it_was() -> None:
    assert _filled('<input value="{{ x | exact }}">', x='a\u202e"b') == '<input value="a\u202e&#34;b">'


def test_a_bar_chart_is_lines_and_texts(full_profile: object) -> None:
    del full_profile
    source = '{% from "macros.html" import bars with context %}{{ bars(rows, title) }}'
    drawn = _filled(
        source, rows=[(HOSTILE, 3, "issued"), ("b", 0, "unknown"), ("c", 1, "", "1.00 CNY")], title=HOSTILE
    )
    assert "<img" not in drawn
    assert re.findall(r'class="bar (\w*)".*?width="([\d.]+)%"', drawn) == [
        ("issued", "100.0"),
        ("unknown", "0.0"),
        ("", "33.3"),
    ]
    assert "1.00 CNY" in drawn
    assert "style=" not in drawn
    assert _filled(source, rows=[], title="")


def test_a_cell_shows_what_can_not_be_seen() -> None:
    assert seen("a\u202eb\u200bc\x07d\u2066e\ufeff\ud800") == "a�b�c�d�e��"
    assert seen("王小明 José 😀\t\n") == "王小明 José 😀\t\n"
    assert _filled("{{ x | cell }}", x="\u202eevil") == "<bdi>�evil</bdi>"


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        _filled("{{ nothing }}")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "x",
        "//evil",
        "https://evil",
        "/\\evil",
        "\\\\evil",
        "/a\nb",
        "/a\x00",
        "javascript:x",
        "///evil",
        "/\t/evil",
    ],
)
def test_nowhere_else_is_gone_to(path: str) -> None:
    assert of_ours(path) == "/"


def test_no_template_has_script_or_style_in_it_or_marks_anything_safe() -> None:
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"<script(?! src=\"\{\{ static)|<style|\sstyle=|\son[a-z]+=|javascript:|\|\s*safe|autoescape",
            text,
        ), path.name


def test_every_form_that_changes_something_has_its_token_first() -> None:
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        for form in re.findall(r'<form[^>]*method="post".*?</form>', text, re.DOTALL):
            assert re.match(r"<form[^>]*>\s*\{\{ csrf_field\(\) \}\}", form), (path.name, form[:200])


def test_the_sheet_loads_nothing_from_elsewhere() -> None:
    assert not re.search(r"@import|url\(|https?:", static_text("page.css"))
    assert "eval(" not in static_text("page.js")
    assert "document.write" not in static_text("page.js")
