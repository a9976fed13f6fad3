"""What the commands say of their options, said of the page: every such text is one that the commands have still."""

from pipeline.messages.translate import rendered
from pipeline.model.columns import LANGS
from pipeline.model.message import Message, Private, counted, message
from pipeline.page.page_words import REPLACED, here
from tests import catalogue


def test_what_is_replaced_is_a_text_of_the_commands_and_what_replaces_it_names_no_option() -> None:
    known = {
        text
        for entry in catalogue.extracted()
        for text in ([entry.id] if isinstance(entry.id, str) else entry.id)
    }
    assert known >= REPLACED
    for text in REPLACED:
        said = here(Message(text))
        assert isinstance(said, Message)
        for word in ("--", "voucher "):
            assert word not in said.text


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
