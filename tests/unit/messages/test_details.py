"""Every detail that the program itself words has its Chinese words."""

import ast
import re
from pathlib import Path

import pytest

from pipeline.carrier import client, replies
from pipeline.messages.details import in_chinese, own_words

#: What these modules say that is no detail of an outcome.
_NO_DETAIL = ("with more than", "bytes")
_NAMES = re.compile("HTTP|JSON|base_url|agency|VOUCHER_[A-Z_]+")


def details(module: str) -> set[str]:
    """The texts that stand in a module's code outside its docstrings and names: words with a blank in them."""
    tree = ast.parse(Path(module).read_text(encoding="utf-8"))
    documented = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    return {
        node.value.strip(" ,:()")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node not in documented
        and " " in node.value.strip(" ,:()")
        and "\n" not in node.value
        and not node.value.startswith((r"[\s", "(?="))
    }


@pytest.mark.parametrize("module", [client.__file__, replies.__file__])
def test_every_detail_has_its_chinese_words(module: str) -> None:
    found = {text for text in details(module) if not any(words in text for words in _NO_DETAIL)}
    assert len(found) > 8
    assert {text for text in found if re.search("[A-Za-z]", _NAMES.sub("", in_chinese(text)))} == set()


def test_the_carrier_s_own_words_stay() -> None:
    assert in_chinese("code 500: ticket already invoiced") == "code 500: ticket already invoiced"


def test_a_refusal_of_what_is_in_doubt_conceals_the_carriers_words_alone() -> None:
    detail = "the carrier refused it (code 500: ZHANG/WEI is unknown.), and an earlier attempt is unknown: it may be issued already"
    concealed = own_words(detail)
    assert (
        concealed
        == "the carrier refused it (code 500: …), and an earlier attempt is unknown: it may be issued already"
    )
    assert in_chinese(concealed) == "承运人拒绝 (code 500: …), 且此前一次尝试结果未知，可能已经开具"
