"""Every line that may reach a person is there in Chinese, with no English left in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pipeline
from pipeline.messages.chinese import LINES, in_chinese, in_language
from pipeline.model.message import Message
from tests.catalogue import entries, extracted

PACKAGE = Path(pipeline.__file__).parent
CATALOGUED = set(entries(extracted()))
#: Who stops a run, and who tells of something on its way.
TELLING = {
    "InputProblem", "Stop", "LedgerProblem", "Declined", "ValueError",
    "note", "warn", "append", "stop", "tell", "stopped", "confirm", "in_language",
}  # fmt: skip
#: What no person reads: bytes on the wire, the reader's child process; and the words themselves.
ELSEWHERE = {"carrier", "crypto.py", "chinese", "child.py", "formats", "service.py"}
#: Modules whose generators and tables are told as they are.
TOLD = set[str]()
#: What stays as it is in Chinese too: names of files, commands, options, keys and programs.
NAMES = re.compile(
    r"--?[a-z-]+|\.?(xlsx|lock|json)\b|\[(?:answers|carrier)\][.a-z_]*|voucher( [a-z]+(-[a-z]+)?)*|ledger (check|backup)|sqlite:///PATH"
    r"|\b(TOML|JSON|CSV|UTF|PDF|SYLK|XML|GB18030|Big5|ASCII|Excel|README|The ledger|Ctrl|End|key_refused_codes|Failures|S\d+|HTTP|https?|true|false)\b"
    r"|\b(Unknown|UTC|issued|not issued|FROM|TO|VOUCHER_WITNESS|XDG_STATE_HOME|ext4|xfs|btrfs|zfs|VOUCHER_API_KEY|VOUCHER_ENCRYPTION_KEY|settle_after_hours|reconcile)\b"
    r"|\"[!-~]+\"|https?\b|not_processed_http|base_url|\bproxy\b|\b(seed|fault|when)\b|\.spill"
)


def text_of(node: ast.expr) -> str:
    """A text as the program has it, with "{}" for what is filled in."""
    match node:
        case ast.Constant(str(value)):
            return re.sub(r"\{[a-z]+\}", "{}", value)
        case ast.JoinedStr(values):
            return "".join(text_of(value) if isinstance(value, ast.Constant) else "{}" for value in values)
        case ast.BinOp(left, ast.Add(), right):
            return text_of(left) + text_of(right)
    return "{}"


def told(node: ast.AST) -> Iterator[ast.expr]:
    """What a module's code tells, whatever the module."""
    match node:
        case ast.Call(ast.Name("Trouble"), arguments):
            yield arguments[-1]
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), [first, *_]) if name in TELLING:
            yield first
        case ast.BoolOp(ast.Or(), [_, ast.Constant(str()) as value]):
            yield value


def told_by_generators(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Assign([ast.Name("problem")], value):
            yield value
        case ast.Yield(ast.JoinedStr() | ast.Constant() as value):
            yield value
        case ast.YieldFrom(ast.GeneratorExp(ast.JoinedStr() as value)):
            yield value


def in_catalogues(node: ast.expr) -> bool:
    """Whether a text is a message's, which the catalogues' own test sees."""
    return isinstance(node, ast.Constant) and (node.value, None) in CATALOGUED


def lines() -> list[str]:
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        if not ELSEWHERE & {*path.relative_to(PACKAGE).parts}:
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            kinds = [told, *[told_by_generators] * (path.name in TOLD)]
            values = [value for kind in kinds for node in nodes for value in kind(node)]
            found.update(text_of(value) for value in values if not in_catalogues(value))
    return sorted(line for line in found if re.search("[a-z]{2,} |^an? ", line))


def test_every_line_that_is_told_is_in_the_catalogues() -> None:
    assert lines() == []


def test_the_chinese_takes_over_as_much_as_the_english_gives() -> None:
    for english, chinese in LINES.items():
        numbers = {int(number) for number in re.findall(r"\{(\d)\}", chinese)}
        assert numbers == set(range(english.count("{}"))), english


def test_what_is_not_ours_stays_and_english_stays_english() -> None:
    assert in_chinese("ticket already invoiced") == "ticket already invoiced"
    assert in_language(Message("Nothing was sent."), "en") == "Nothing was sent."
    assert in_language(Message("Nothing was sent."), "zh") == "未发送任何内容。"
