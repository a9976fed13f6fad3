"""Bugs planted in how the parts are wired, one at a time: what one part hands another, and what guards something.

Units take such values as arguments, so that a unit's tests can't see whether it is handed the right ones. In the modules on
the way of evidence and of sending, each of these is a mutant of its own:

- an argument of a call is emptied: a text, number, list, mapping or set to the empty one of its type, a truth turned round,
  an object to one made of its type's defaults, or None;
- a keyword argument is left out, so that its default is taken;
- a call whose result nobody uses is left out;
- a condition of an `if` is taken for false, or for true; an operand of `and` or `or` is left out.

A mutant is tried in a copy of the repository by the tests that are named for its module, the quickest first; one that ends in
time without a failing test survives. What survived, and why, is in MUTANTS.md.

    python -m tests.crash.wiring_mutants issuing.py reconciliation/settling.py --mutants 0..50 --seconds 200

Without modules it is all of them. A line is printed for each mutant, and the survivors again at the end; a mutant keeps its
number as long as its module is not changed.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]
_UNITS = ("tests/unit/test_submission.py", "tests/unit/test_settlement.py", "tests/unit/test_comparison.py")
_EVIDENCE = (
    "tests/acceptance/test_evidence_wiring.py",
    "tests/acceptance/test_wiring.py",
    "tests/acceptance/test_reconcile.py",
    "tests/acceptance/test_inbox.py",
)
_SENDING = (
    "tests/acceptance/test_wiring.py",
    "tests/acceptance/test_issue.py",
    "tests/acceptance/test_secrets.py",
)
_BOTH = (*_SENDING, "tests/acceptance/test_reconcile.py")
#: The tests for each module, the quickest first.
TESTS = {
    "issuing.py": _BOTH,
    "run.py": (*_BOTH, "tests/acceptance/test_history.py", "tests/acceptance/test_log_file.py"),
    "sending.py": ("tests/acceptance/test_wiring.py", "tests/crash/test_wire_faults.py", *_SENDING),
    "submission.py": (*_UNITS[:1], *_SENDING),
    "bookkeeping.py": (*_BOTH, "tests/acceptance/test_ledger_commands.py"),
    "upkeep.py": ("tests/acceptance/test_wiring.py", "tests/acceptance/test_ledger_commands.py"),
    "settlement.py": (*_UNITS[1:], *_EVIDENCE),
    "completeness.py": (*_UNITS[1:], *_EVIDENCE),
    "matching.py": (*_UNITS[1:], *_EVIDENCE),
    "comparison.py": (*_UNITS[1:], *_EVIDENCE),
    "reconciliation/settling.py": _EVIDENCE,
    "reconciliation/named.py": _EVIDENCE,
    "reconciliation/comparing.py": _EVIDENCE,
    "reconciliation/retrying.py": _EVIDENCE,
    "reconciliation/noting.py": _EVIDENCE,
    "reconciliation/taking.py": _EVIDENCE,
    "inbox.py": _EVIDENCE,
    "carrier/client.py": ("tests/unit/carrier/test_client.py", *_SENDING, "tests/crash/test_wire_faults.py"),
    "reading/origin.py": _EVIDENCE,
    "settings.py": ("tests/unit/test_settings.py", *_SENDING),
    "cli.py": (*_BOTH, "tests/acceptance/test_history.py"),
}
#: What an argument is emptied by; it stands in the copy beside the package.
_EMPTIED = """
def emptied(value):
    if isinstance(value, bool):
        return not value
    try:
        return type(value)()
    except Exception:
        return None
"""


@dataclass(frozen=True)
class Mutant:
    """A place in a module, and what stands there instead."""

    line: int
    what: str
    start: int
    end: int
    text: str


class _Source:
    """A module's text, and where its nodes stand in it (bytes)."""

    def __init__(self, text: str) -> None:
        self.bytes = text.encode()
        self.tree = ast.parse(text)
        self._lines = [0]
        for line in self.bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first, last = self._lines[node.lineno - 1], self._lines[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        start, end = self.span(node)
        return self.bytes[start:end].decode()


def mutants(text: str) -> list[Mutant]:
    """All mutants of a module's text, in its order."""
    source = _Source(text)
    found: list[Mutant] = []
    waiting: list[ast.AST] = [source.tree]
    for node in waiting:
        found += _of(source, node)
        # Messages for people and decorators are not looked at.
        passed_over = getattr(node, "decorator_list", ())
        waiting += [
            inside
            for inside in ast.iter_child_nodes(node)
            if not isinstance(inside, ast.JoinedStr) and inside not in passed_over
        ]
    return sorted(found, key=lambda one: (one.start, one.end, one.what))


def _of(source: _Source, node: ast.AST) -> Iterator[Mutant]:
    match node:
        case ast.Call():
            yield from _arguments(source, node)
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield _instead(source, node, "pass", "left out")
        case ast.If() | ast.IfExp() | ast.While():
            yield from _conditions(source, node)
        case ast.BoolOp():
            word = " and " if isinstance(node.op, ast.And) else " or "
            for at, operand in enumerate(node.values):
                rest = word.join(f"({source.text(other)})" for other in node.values if other is not operand)
                if not any(isinstance(inside, ast.NamedExpr) for inside in ast.walk(operand)):
                    what = f"operand {at + 1} left out: {source.text(operand)}"
                    yield Mutant(operand.lineno, what, *source.span(node), f"({rest})")


def _arguments(source: _Source, call: ast.Call) -> Iterator[Mutant]:
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg)]
    plain = ast.Constant | ast.Starred | ast.JoinedStr | ast.GeneratorExp | ast.Lambda
    for value in given:
        if not isinstance(value, plain):
            yield _instead(source, value, f'__import__("emptied").emptied({source.text(value)})', "emptied")
    for keyword in call.keywords:
        if keyword.arg:
            start, end = source.span(keyword)
            comma = source.bytes[end : end + 1] == b","
            yield Mutant(keyword.lineno, f"left out: {source.text(keyword)}", start, end + comma, "")


def _conditions(source: _Source, node: ast.If | ast.IfExp | ast.While) -> Iterator[Mutant]:
    held = source.text(node.test)
    if held == "TYPE_CHECKING" or isinstance(node.test, ast.NamedExpr):
        return
    yield _instead(source, node.test, f"(({held}) and False)", "taken for false")
    if not isinstance(node, ast.While):
        yield _instead(source, node.test, f"(({held}) or True)", "taken for true")


def _instead(source: _Source, node: ast.expr | ast.stmt, text: str, what: str) -> Mutant:
    return Mutant(node.lineno, f"{what}: {source.text(node)}", *source.span(node), text)


def _survives(
    copy: Path, module: str, mutant: Mutant, tests: Sequence[str], seconds: float, named: str
) -> tuple[bool, str]:
    """Whether no test fails, and how it ended."""
    path = copy / "pipeline" / module
    whole = path.read_bytes()
    path.write_bytes(whole[: mutant.start] + mutant.text.encode() + whole[mutant.end :])
    tests = [test for test in tests if (copy / test).exists()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--no-header",
        *tests,
    ]
    command += ["-k", named] if named else []
    try:
        done = subprocess.run(
            command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True, "time was over"
    finally:
        path.write_bytes(whole)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 0, (failed or [f"ended with {done.returncode}"])[0][:150]


def _copied(folder: Path) -> Path:
    copy = folder / "copy"
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", "mutants", ".*_cache")
    shutil.copytree(_REPOSITORY, copy, ignore=left_out)
    (copy / "emptied.py").write_text(_EMPTIED)
    return copy


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants; the number of those that survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.wiring_mutants", description=__doc__)
    parser.add_argument(
        "modules", nargs="*", default=list(TESTS), help="modules of pipeline/, such as issuing.py"
    )
    parser.add_argument("--mutants", default="0..", help="which of each module: FROM..TO, or N,N,…")
    parser.add_argument("--every", type=int, default=1, help="every Nth of them alone")
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of one mutant")
    parser.add_argument("--quick", action="store_true", help="unit tests and test_wiring alone")
    parser.add_argument("--tests", default="", help="which of the tests, as pytest's -k has it")
    given = parser.parse_args(arguments)
    survived = []
    with tempfile.TemporaryDirectory(prefix="wiring-") as folder:
        copy = _copied(Path(folder))
        for module in given.modules:
            whole = list(enumerate(mutants((copy / "pipeline" / module).read_text(encoding="utf-8"))))
            chosen = _chosen(given.mutants, len(whole))[:: given.every]
            for number, mutant in (whole[at] for at in chosen):
                begun = time.monotonic()
                tests = [
                    test for test in TESTS[module] if not given.quick or "unit" in test or "wiring" in test
                ]
                alive, how = _survives(copy, module, mutant, tests, given.seconds, given.tests)
                what = " ".join(mutant.what.split())[:160]
                said = f"{module} {number} line {mutant.line}: {what}"
                taken = f"{how}, {time.monotonic() - begun:.0f} s"
                _tell(f"{'SURVIVED' if alive else 'caught'} {said}  [{taken}]")
                survived += [said] * alive
    _tell("\n".join([f"{len(survived)} survived", *survived]))
    return len(survived)


def _chosen(said: str, count: int) -> list[int]:
    """The numbers that are meant, of so many.

    >>> _chosen("2..4", 9), _chosen("7..", 9), _chosen("1,5", 9)
    ([2, 3], [7, 8], [1, 5])
    """
    if ".." not in said:
        return [int(number) for number in said.split(",")]
    first, last = said.split("..")
    return list(range(int(first), int(last or count)))


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(bool(main()))
