"""Texts and links that are written many at once are what each is by itself."""

import pytest

from pipeline.reporting.xlsx.cell_xml import CellLook, cell_xml, link_xml, links_xml, texts_xml

LOOK = CellLook("1", "<rPr/>")
TRAPS = ("", " a", "a ", "a|b", " | ", "a_x0041_", "&", "<", ">", "a\nb", "\x07", "\xa0a", "x" * 32_768)


@pytest.mark.parametrize("trap", TRAPS)
def test_texts(trap: str) -> None:
    for texts in (["one", trap, "two"], [trap, "two"], ["one", trap]):
        alone = [cell_xml("A", text, LOOK) for text in texts]
        assert texts_xml("A", texts, LOOK) in (None, alone)
    assert texts_xml("A", ["one", "a|b"], LOOK)


@pytest.mark.parametrize("trap", ["two", 'a "b"', "a'b"])
def test_links(trap: str) -> None:
    texts, places = ["one", trap], ["internal:'Rows'!A2", f"internal:'{trap}'!A7"]
    alone = [link_xml(f"B{at}", place, text) for at, place, text in zip((7, 8), places, texts, strict=True)]
    assert links_xml("B", 7, places, texts) == alone
