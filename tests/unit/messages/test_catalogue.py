"""Every text of ours has its words in every language, with the same places for facts."""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import jinja2.nodes
import pytest

from pipeline.messages.translate import rendered, translated
from pipeline.model.message import (
    Message,
    Private,
    SheetName,
    Term,
    changed,
    counted,
    from_data,
    from_text,
    joined,
    message,
    to_data,
    to_text,
    verbatim,
    without_names,
)
from tests.catalogue import (
    CLICK,
    KEYWORDS,
    PACKAGE,
    TEMPLATE_KEYWORDS,
    TEMPLATES,
    both,
    entries,
    extracted,
    languages,
    read,
)

CATALOGUES = {path.stem: entries(read(path)) for path in languages()}


def places(text: str) -> list[str]:
    """What a text has places for, in no order."""
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name})


@pytest.mark.parametrize("lang", CATALOGUES)
def test_a_translation_has_the_places_of_its_text(lang: str) -> None:
    assert CATALOGUES[lang]
    for (text, _), entry in CATALOGUES[lang].items():
        assert all(both(entry.string)), text
        for words in both(entry.string):
            assert places(words) == places(both(text)[-1]), text


@pytest.mark.slow
@pytest.mark.parametrize("lang", CATALOGUES)
def test_no_translation_is_doubtful_or_of_a_text_that_is_gone(lang: str) -> None:
    assert not [text for text, entry in CATALOGUES[lang].items() if entry.fuzzy]
    assert set(CATALOGUES[lang]) == set(entries(extracted()))


@pytest.mark.parametrize("lang", CATALOGUES)
def test_what_click_says_is_in_our_catalogue(lang: str) -> None:
    said = entries(extracted(CLICK))
    assert len(said) > 40
    assert [
        key for key in said if key not in CATALOGUES[lang] or not all(both(CATALOGUES[lang][key].string))
    ] == []


#: What stays as it is in Chinese too: names of commands, options, keys, files, sheets, programs and formats.
NAMES = re.compile(
    r"--?[a-z-]+|voucher_[a-z]+|\{[^}]*\}|\.?(xlsx|lock|json|toml)\b|\[(?:answers|approval|carrier|headings)\][.a-z_]*|voucher( [a-z]+(-[a-z]+)?)*|ledger (check|backup)|sqlite:///PATH"
    r"|\b(TOML|OFD|XBRL|SM3|OpenSSL|Python|JSON|CSV|UTF|PDF|SYLK|XML|GB18030|Big5|ASCII|Excel|LibreOffice|XlsxWriter|Ctrl|Shift|End|S\d+|HTTP|SHA-256|https?|true|false|skip|check)\b"
    r"|\b(Failures|Unknown|Rows|Buyers|Differing|Not ours|Not on statement|To issue|UTC|FROM|TO|issued|not issued|reconcile)\b"
    r"|\b(VOUCHER_[A-Z_]+|XDG_STATE_HOME|ext4|xfs|btrfs|zfs|agency|[a-z]+(_[a-z]+)+|name@company\.com|proxy|seed|fault|when)\b"
    r"|\"[!-~]+\"|\.spill|%\(\w+\)s|\b(Bash|UUID|Windows|en|zh_?|ENTRY|WORKBOOK|KIND|PATH|aiohttp|close-gap|invoice|itinerary)\b"
    r"|\b(NAME|HOST|PORT|PEM|DER|MB|serve|page\.(pem|key)|pay\.office\.example|viewer|preparer|approver|administrator)\b|--role|--behind-proxy"
    r"|\bimaps?\b(://[a-zA-Z@./]+)?|\b(IMAP|MiB|Outlook|msg|eml|ofd|zip|mbox|winmail\.dat|MIME|PGP)\b|pip install 'voucher-pipeline\[(?:mailbox|postgresql)\]'"
    r"|\b(PostgreSQL|PGPASSFILE|sslmode|postgresql(\.conf|://host/database))\b|为 (on|off)\b"
    r"|postgresql://ledger\.example/vouchers|[0-9a-f]{8}\b|CREATE DATABASE (?:…|\{database\}) TEMPLATE template0 ENCODING 'UTF8'|GRANT (?:CREATE|CONNECT) ON DATABASE|GRANT \{role\} TO NAME"
    r"|\b(PGSSLROOTCERT|CREATEROLE|DATABASE|FILE|TEXT|USER|PASSWORD|WORKER|HOURS|SECONDS|procrastinate|psql|ulimit|declare-dead|mark-gap|vouch|CA|chmod|ssl = on)\b|~/\.pgpass|\?sslrootcert=FILE"
    r"|/?\b([a-z0-9]+\.)+(toml|ledger|csv|json|xlsx)\b|/backups\b"
)


def test_no_english_is_left_in_a_chinese_text() -> None:
    for entry in CATALOGUES["zh"].values():
        for words in both(entry.string):
            assert re.findall("[A-Za-z]{2,}", NAMES.sub("", words)) == [], words


@pytest.mark.slow
def test_every_text_of_a_template_is_written_out_where_it_is_said() -> None:
    said = [
        call for path in TEMPLATES.glob("*.html")
        for call in jinja2.Environment().parse(path.read_text(encoding="utf-8")).find_all(jinja2.nodes.Call)
        if getattr(call.node, "name", "") in TEMPLATE_KEYWORDS
    ]  # fmt: skip
    assert len(said) > 20
    for call in said:
        texts = call.args[: 1 if call.node.name == "say" else 2]  # type: ignore[attr-defined]
        assert all(isinstance(text, jinja2.nodes.Const) for text in texts), (call.node, call.lineno)


def test_texts_are_taken_out_of_templates() -> None:
    said = {text for text, _ in entries(extracted(TEMPLATES))}
    assert "Skip to the content" in said
    assert any(isinstance(text, tuple) and "{count} minutes" in text[1] for text in said)
    assert not any("<" in both(text)[0] for text in said)


def told(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """What marks texts in a module, each with the texts that it is given."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield from ((name, value) for value in node.args if name in KEYWORDS)


@pytest.mark.slow
def test_what_is_told_is_written_out_where_it_is_made() -> None:
    """A text that is put together can't be taken out of the code for the catalogues."""
    found = [(path.name, *each) for path in PACKAGE.rglob("*.py") for each in told(path)]
    assert len(found) > 500
    assert [where for *where, text in found if isinstance(text, ast.JoinedStr | ast.BinOp)] == []


def test_facts_are_not_translated_unless_they_are_ours() -> None:
    told = message("{what} is a folder; give the name of a file", what="No such file or directory")
    assert "No such file or directory" in rendered(told, "zh")
    assert rendered(message("{list}", list=joined(["a", "b"])), "zh") == "a、b"


def test_columns_and_choices_have_the_words_of_the_workbooks() -> None:
    told = joined(
        [Term("amount"), Term("resolved_by"), Term("refunded", "choice"), Term("no such", "choice")]
    )
    assert rendered(told, "zh") == "金额、处理人、已退票、no such"
    assert rendered(told, "en") == str(told) == "amount, resolved_by, refunded, no such"


def test_what_may_name_people_is_hidden() -> None:
    told = message(
        "{cell} on {sheet} or {other}",
        cell=Private("张三"),
        sheet=SheetName("李四"),
        other=SheetName("Sheet1"),
    )
    assert rendered(told, "en") == "张三 on 李四 or Sheet1"
    assert rendered(told, "en", names=False) == "… on … or Sheet1"


def test_a_message_is_one_line_and_keeps_braces_in_facts() -> None:
    assert str(message("{cell}!", cell=Private("{a}\nb\x1b"))) == "{a} b !"
    assert translated("{a} of nobody", "zh") == "{a} of nobody"


@pytest.mark.parametrize(
    "fact",
    [
        "x",
        3,
        Private("a", whole=True),
        SheetName("May"),
        Term("invoice", "choice"),
        joined(["a", Term("amount")], "or"),
        counted("{count} row of {file}", "{count} rows of {file}", 2, file=message("{a}", a=1)),
    ],
)
def test_a_fact_becomes_data_and_comes_back(fact: Any) -> None:
    assert from_data(to_data(fact)) == fact
    assert type(from_data(to_data(fact))) is type(fact)


@pytest.mark.parametrize("data", [None, [], {}, {"message": 3, "facts": {}}, {"joined": [], "how": "x"}])
def test_other_data_is_refused(data: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_data(data)


def test_a_number_chooses_the_english_text() -> None:
    one, two = (counted("{count} thing", "{count} things", count) for count in (1, 2))
    assert (str(one), str(two)) == ("1 thing", "2 things")
    assert isinstance(one, Message)


def test_the_carriers_words_alone_are_hidden_and_stay_in_every_language() -> None:
    refused = message("code {code}: {words}", code=500, words=Private("ZHANG/WEI is unknown.", whole=True))
    detail = message(
        "the carrier refused it ({answer}), and an earlier attempt is unknown: it may be issued already",
        answer=refused,
    )
    assert (
        rendered(detail, "zh")
        == "承运人拒绝（代码 500：ZHANG/WEI is unknown.），且此前一次尝试结果未知，可能已经开具"
    )
    assert (
        str(without_names(detail))
        == rendered(detail, "en", names=False)
        == (
            "the carrier refused it (code 500: …), and an earlier attempt is unknown: it may be issued already"
        )
    )
    said = "invoice 123 was interrupted, which request timed out"
    assert rendered(verbatim(said), "zh") == said


@pytest.mark.parametrize("text", ["", "HTTP 500", '"x"', "[1]", "{", '{"message": 3}'])
def test_any_text_of_a_ledger_is_a_message(text: str) -> None:
    assert str(from_text(text)) == text
    assert from_text(to_text(from_text(text))) == from_text(text)


def test_keys_are_taken_out_of_what_others_said_alone() -> None:
    told = message("{a}: {b}", a=Private("key"), b=joined(["key", message("the key {c}", c="key")]))
    assert str(changed(told, lambda text: text.replace("key", "***"))) == "***: ***, the key ***"


@pytest.mark.slow
def test_what_an_error_says_in_english_is_not_put_into_a_text() -> None:
    """What the system says of a file is in the catalogues (`system_error`); other libraries' words are not."""
    found = [
        (path.name, keyword.lineno)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in ("problem", "why", "detail", "said")
        and ast.unparse(keyword.value) in ("str(error)", "str(problem)")
    ]
    assert found == []


def test_numbers_of_things_have_separators_and_numbers_of_rows_have_none() -> None:
    assert str(message("{rows} rows from row {row}", rows=1234, row=1234)) == "1,234 rows from row 1234"
    told = counted("{count} row", "{count} rows", 12345)
    assert (rendered(told, "zh"), rendered(told, "en")) == ("12,345 行", "12,345 rows")
