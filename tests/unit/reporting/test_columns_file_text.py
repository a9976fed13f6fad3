"""A mapping as a TOML file that is read back as what it says, with what is open in its comments."""

import tomllib
from pathlib import Path

import pytest

from pipeline.model.message import Term, message
from pipeline.model.survey import Answer, Entry, HeadingUse, Question, SheetUse, Survey
from pipeline.reading.columns_file import load_map
from pipeline.reporting.columns_file_text import mapping_text

HEADING = Entry(("headings",), "票号", "ticket_no")
ENTRIES = (
    Entry(("order_types", "酒店订单"), "skip", True),
    HEADING,
    Entry(("headings",), "部门", ""),
    Entry(("sheets", "港 澳.台"), "market", "境外"),
    Entry(("values", "market"), "境外", "international"),
    Entry(("fixed",), "voucher", "auto"),
)
QUESTION = Question(
    message("Which one?"),
    (Answer(Term("used", "choice"), (Entry(("values", "ticket_status"), "飞\n了", "used"),)),),
)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_written_is_read_back(tmp_path: Path, lang: str) -> None:
    path = tmp_path / "map.toml"
    path.write_text(mapping_text(Survey([], [], [], ENTRIES), (), [QUESTION], lang), encoding="utf-8")  # type: ignore[arg-type]
    found = load_map(path)
    assert found.headings == {"票号": "ticket_no", "部门": ""}
    assert found.values == {"market": {"境外": "international"}}
    assert found.fixed == {"voucher": "auto"}
    assert found.sheets["港澳台"] == {"market": "international"}
    assert found.skipped_order_types == {"酒店订单": True}


def test_an_answer_goes_before_what_was_found_and_what_is_open_stays_a_comment() -> None:
    other = Entry(("headings",), "票号", "")
    text = mapping_text(Survey([], [], [], ENTRIES), [other], [QUESTION], "en")
    assert tomllib.loads(text)["headings"] == {"票号": "", "部门": ""}
    assert "ticket_status" not in tomllib.loads(text)["values"]
    lines = text.splitlines()
    assert lines[lines.index("# Which one?") + 1] == '#   [values.ticket_status] "飞\\n了" = "used"  # used'


@pytest.mark.parametrize("word", ['a"b', "a\\b", "a\x7fb", "a\x00b", "a]b", "\ufeffa", "😀", "a#b", " "])
def test_whatever_a_heading_is_it_is_written_so_that_it_is_read_as_it_is(word: str) -> None:
    entries = (Entry(("headings",), word, ""), Entry(("sheets", word), "market", "x"))
    found = tomllib.loads(mapping_text(Survey([], [], [], entries), (), (), "en"))
    assert found == {"headings": {word: ""}, "sheets": {word: {"market": "x"}}}


def test_comments_say_in_chinese_what_lines_mean() -> None:
    lines = mapping_text(Survey([], [], [], ENTRIES), (), (), "zh").splitlines()
    assert '"票号" = "ticket_no"  # 票号' in lines
    assert '"部门" = ""  # 原样保留' in lines
    assert "skip = true  # 不读取" in lines


@pytest.mark.parametrize("said", [(), (Entry(("headings",), "Beleg", "ticket_no"),)])
def test_unknown_headings_stand_in_the_one_section_of_headings_that_there_is(said: tuple[Entry, ...]) -> None:
    """As where the Buyers sheet is known and that of the tickets is not."""
    headings = (HeadingUse("A1", "Beleg"), HeadingUse("B1", "Wer"))
    sheets = [SheetUse("a.xlsx", "Tickets", "unheaded", headings=headings)]
    for known in ((HEADING,), ()):
        text = mapping_text(Survey(sheets, [], [], known), said, (), "en")
        assert len(tomllib.loads(text).get("headings", {})) == len(known) + len(said)
        assert '# "Wer" = ""' in text
        assert ('# "Beleg" = ""' in text) == (not said)
