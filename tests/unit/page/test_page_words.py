"""What the commands say of their options, said of the page: every such text is one that the commands have still."""

from babel.messages.extract import extract_from_file

from pipeline.messages.translate import rendered
from pipeline.model.columns import LANGS
from pipeline.model.message import Message, Private, counted, message
from pipeline.page.page_words import _HERE, TYPED, here, told
from tests import catalogue


def test_what_is_replaced_is_a_text_of_the_commands_and_what_replaces_it_names_no_option() -> None:
    known = {
        text
        for entry in catalogue.extracted()
        for text in ([entry.id] if isinstance(entry.id, str) else entry.id)
    }
    assert known >= _HERE.keys()
    for text in _HERE:
        said = here(Message(text))
        assert isinstance(said, Message)
        assert not TYPED.search(said.text)


def test_a_message_within_a_message_is_replaced_and_facts_stay() -> None:
    inner = message("rename or delete one of them, or say in --columns which of them is meant")
    said = here(message("{place}: {note}", place=Private("a.xlsx"), note=inner))
    assert str(said) == "a.xlsx: rename or delete one of them, or say under Columns which of them is meant"
    for lang in LANGS:
        assert "--columns" not in rendered(said, lang)


def test_files_are_named_without_the_servers_folders() -> None:
    assert (
        str(here(message("{file}: is empty", file="/srv/o.ledger.page/months/1/uploads/1/may.xlsx")))
        == "may.xlsx: is empty"
    )
    assert (
        str(here(counted("{count} row of {file}", "{count} rows of {file}", 2, file="/a/b.csv")))
        == "2 rows of b.csv"
    )


def test_a_cure_that_takes_a_terminal_says_whom_to_ask_for_it() -> None:
    lost = message("If it is lost for good: voucher ledger mark-gap")
    for lang, who in (("en", "whoever runs the server"), ("zh", "运行服务器的人员")):
        assert who in rendered(told(message("{path}: {cure}", path="/a/b", cure=lost)), lang)
        assert who not in rendered(told(message("{file}: is empty", file="--a.xlsx")), lang)


def test_what_the_flows_of_the_page_say_of_options_is_said_of_the_page() -> None:
    """Whatever is reached from the page and has a place on it names no option: the texts of evidence, gaps and comparisons."""
    texts = {
        text
        for folder in (
            "reconciliation/given_evidence.py",
            "reconciliation/comparison_inputs.py",
            "settlement/silence.py",
        )
        for text in _named_in(folder)
    }
    elsewhere = {
        text for text in texts if "goes with --statement" in text or "swapped" in text or "of no kind" in text
    }
    assert texts - elsewhere <= _HERE.keys()


def _named_in(file: str) -> set[str]:
    found = extract_from_file("python", catalogue.PACKAGE / file, keywords=catalogue.KEYWORDS)
    told = (
        text for _, texts, _, _ in found for text in ([texts] if isinstance(texts, str) else texts) if text
    )
    return {text for text in told if TYPED.search(text)}
