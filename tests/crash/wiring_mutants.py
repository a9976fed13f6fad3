"""Bugs planted in how the parts are wired, one at a time: what one part hands another, and what guards something.

Units take such values as arguments, so that a unit's tests can't see whether it is handed the right ones. In the modules on
the way of evidence and of sending, each of these is a mutant of its own:

- an argument of a call is emptied: a text, number, list, mapping or set to the empty one of its type, a truth turned round,
  an object to one made of its type's defaults, or None;
- a keyword argument is left out, so that its default is taken;
- a call whose result nobody uses is left out;
- a condition of an `if` is taken for false, or for true; an operand of `and` or `or` is left out.

A mutant is tried in a copy of the repository by the tests that run its line, in whatever process (wiring_lines): those that killed
one of the same function first, then the quickest, until one fails or the time for one mutant is spent. First the tests are
recorded, then mutants are tried; `--share 1/2` and `2/2` are two processes that may work at once. Results are appended to
results.jsonl in the folder, and a mutant that has one is passed over: what was broken off goes on. What survived, and why, is in MUTANTS.md.

    python -m tests.crash.wiring_mutants --folder ../mutants --record
    python -m tests.crash.wiring_mutants --folder ../mutants submission/batch.py reconciliation/record_settlements.py
"""

import argparse
import ast
import contextlib
import gc
import importlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
import venv
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import pytest

_REPOSITORY = Path(__file__).parents[2]
#: The modules on the way of evidence and of sending, the most dangerous first.
MODULES = (
    "reconciliation/record_settlements.py", "settlement/decide.py", "settlement/contradictions.py", "settlement/shared_numbers.py", "settlement/silence.py",
    "settlement/unexplained_lines.py", "settlement/completeness.py", "settlement/match.py", "submission/batch.py", "submission/event_loop.py", "submission/sender.py",
    "ledger/session.py", "run/check.py", "run/inputs.py", "run/issue.py", "run/reconcile.py", "carrier/client.py", "maintenance.py", "reconciliation/given_evidence.py", "reconciliation/gather.py",
    "reconciliation/resubmit.py", "reconciliation/outputs.py", "settlement/compare.py", "reconciliation/inbox.py",
    "reading/fingerprint.py", "settings.py", "cli/main.py", "cli/job_options.py",
)  # fmt: skip
#: The tests, of which each mutant is tried by those that run it.
TESTS = (
    "tests/unit/test_*.py", "tests/unit/[cms][elu]*/test_*.py", "tests/unit/carrier/test_*.py", "tests/unit/reading/test_[ors]*.py", "tests/acceptance/test_*.py",
    "tests/unit/ledger/test_session.py", "tests/crash/test_wire_faults.py",
)  # fmt: skip
_PYTEST = (
    "-q", "-n", "0", "-o", "addopts=--doctest-modules --import-mode=importlib", "-p", "no:cacheprovider", "--no-header",
    "--tb=no",
)  # fmt: skip
_BROKEN = 70
#: What a process that tries mutants has imported once for all of them: nothing of the program.
_WARM = (
    "pandas",
    "aiohttp",
    "openpyxl",
    "rich.progress",
    "uvloop",
    "Crypto.Cipher.AES",
    "python_calamine",
)


@dataclass(frozen=True)
class Mutant:
    """A place in a module, and what stands there instead."""

    line: int
    what: str
    start: int
    end: int
    text: str
    function: str = ""  # that it stands in
    first: int = 0  # the lines of its statement, without other statements in it
    last: int = 0
    name: str = ""  # the same as long as its function does not change


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
    waiting: list[tuple[ast.AST, str, ast.stmt | None]] = [(source.tree, "", None)]
    for node, function, statement in waiting:
        if isinstance(node, ast.stmt):
            statement = node  # noqa: PLW2901
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".strip(".")  # noqa: PLW2901
        first, last = _header(statement) if statement else (0, 0)
        found += (replace(each, function=function, first=first, last=last) for each in _of(source, node))
        # Messages for people and decorators are not looked at.
        passed_over = getattr(node, "decorator_list", ())
        waiting += [
            (inside, function, statement)
            for inside in ast.iter_child_nodes(node)
            if not isinstance(inside, ast.JoinedStr) and inside not in passed_over
        ]
    found.sort(key=lambda one: (one.start, one.end, one.what))
    named, seen = [], Counter[str]()
    for each in found:
        name = f"{each.function}: {' '.join(each.what.split())}"
        seen[name] += 1
        named.append(replace(each, name=f"{name} #{seen[name]}"))
    return named


def _header(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement, without those of statements in it."""
    body = getattr(statement, "body", ())
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(statement.lineno, last or 0)


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
        empty = isinstance(value, ast.List | ast.Tuple) and not value.elts
        if not isinstance(value, plain) and not empty:
            yield _instead(
                source, value, f'__import__("wiring_lines").emptied({source.text(value)})', "emptied"
            )
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


#: What runs a line before any test: the import of its module.
_IMPORT = ""


@dataclass(frozen=True)
class _Lines:
    """What was recorded: which tests run a line of a module, and how long each takes."""

    tests: dict[tuple[str, int], set[str]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path) -> "_Lines":
        names: dict[int, str] = {}
        users: dict[str, set[str]] = defaultdict(set)
        seconds: dict[str, float] = defaultdict(float)
        failed = set()
        runs: dict[tuple[str, int], set[str]] = defaultdict(set)
        for noted in sorted(folder.glob("recorded-*")):
            names.clear()
            for line in (noted / "tests").read_text(encoding="utf-8").splitlines():
                match json.loads(line):
                    case {"number": number, "name": name}:
                        names[number] = name
                        users[name].add(name)
                    case {"test": test, "shared": shared}:
                        for fixture in shared:
                            users[fixture].add(test)
                    case {"report": test, "outcome": outcome, "seconds": taken}:
                        seconds[test] += taken
                        if outcome != "passed":
                            failed.add(test)
            for line in (noted / "lines").read_text(encoding="utf-8").splitlines():
                number, module, at = line.split("\t")
                runs[module, int(at)] |= users[names[int(number)]] if int(number) else {_IMPORT}
        passed = {*seconds, _IMPORT} - failed
        return cls({at: tests & passed for at, tests in runs.items()}, seconds)

    def of(self, module: str, mutant: Mutant) -> set[str]:
        """The tests that run a mutant; one that runs when its module is imported, those that run anything of it."""
        tests = self.tests.get((module, mutant.line)) or set().union(
            *(self.tests.get((module, line), set()) for line in range(mutant.first, mutant.last + 1))
        )
        if _IMPORT in tests:
            tests = set().union(*(tests for (name, _), tests in self.tests.items() if name == module))
        return tests - {_IMPORT}

    def varied(self, tests: frozenset[str]) -> list[str]:
        """Tests in such an order that, for the time they take, each runs as much as may be that none before it runs."""
        if tests not in self._orders:
            left = {test: set(self._of[test]) for test in tests}
            order = []
            while left:
                best = max(left, key=lambda test: (len(left[test]) / (0.2 + self.seconds[test]), test))
                order.append(best)
                seen = left.pop(best)
                for lines in left.values():
                    lines.difference_update(seen)
            self._orders[tests] = order
        return self._orders[tests]

    @cached_property
    def _orders(self) -> dict[frozenset[str], list[str]]:
        return {}

    @cached_property
    def _of(self) -> dict[str, set[tuple[str, int]]]:
        found: dict[str, set[tuple[str, int]]] = defaultdict(set)
        for at, tests in self.tests.items():
            for test in tests:
                found[test].add(at)
        return found


class _Copy:
    """A copy of the repository to plant mutants in, with an environment of its own whose interpreters import from it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python = root / ".venv" / "bin" / "python"

    def make(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        left_out = shutil.ignore_patterns(
            ".git", ".venv", "__pycache__", "mutants", ".*_cache", ".hypothesis"
        )
        shutil.copytree(_REPOSITORY, self.root, ignore=left_out)
        venv.create(self.root / ".venv", symlinks=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(self.root / ".venv")}))
        shutil.copy(Path(__file__).with_name("wiring_lines.py"), packages)
        paths = [str(self.root), *(path for path in sys.path if path.endswith("site-packages"))]
        (packages / "wiring.pth").write_text("\n".join([*paths, "import wiring_lines"]) + "\n")
        script = self.root / ".venv" / "bin" / "voucher"
        script.write_text(f"#!{self.python}\nfrom pipeline.cli.main import main\nmain()\n")
        script.chmod(0o755)
        subprocess.run([self.python, "-m", "compileall", "-q", "pipeline"], cwd=self.root, check=True)

    def record(self, tests: Sequence[str], to: Path) -> None:
        """Run tests, and keep which lines each of them runs."""
        recorded = self.root / "recorded"
        shutil.rmtree(recorded, ignore_errors=True)
        recorded.mkdir()
        (recorded / "now").write_bytes(bytes(4))
        (recorded / "tests").touch()
        (recorded / "lines").touch()
        modules = (f"{self.root / 'pipeline' / module}\t{module}\n" for module in MODULES)
        (recorded / "modules").write_text("".join(modules))
        subprocess.run(
            [self.python, "-m", "pytest", *_PYTEST, "-p", "wiring_lines", *tests], cwd=self.root, check=False
        )
        shutil.rmtree(to, ignore_errors=True)
        recorded.rename(to)


def _tried(module: str, mutant: Mutant, tests: Sequence[str], seconds: float, at: int) -> tuple[str, str]:
    """What becomes of a mutant in this copy: killed, survived, or timeout; and by which test."""
    path = Path("pipeline", module)
    whole, times = path.read_bytes(), path.stat()
    path.write_bytes(whole[: mutant.start] + mutant.text.encode() + whole[mutant.end :])
    os.utime(path, (at, at))  # a time that no other of its versions has
    try:
        with tempfile.TemporaryDirectory(prefix="wiring-") as folder:
            return _ended(Path(folder), tests, seconds)
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _ended(folder: Path, tests: Sequence[str], seconds: float) -> tuple[str, str]:
    """How tests end in a child that has nothing to import any more but the program."""
    child = os.fork()
    if not child:
        _become(folder, tests)
    handle = os.pidfd_open(child)
    try:
        in_time = select.select([handle], [], [], seconds)[0]
    finally:
        os.close(handle)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not in_time:
        return "timeout", f"{seconds:.0f} s"
    if code == 0:
        return "survived", f"{len(tests)} tests"
    said = (folder / "out").read_text(errors="replace")
    # What an object leaves open when it is forgotten may be told at pytest's end alone, where it is no test's failure.
    told = ("FAILED ", "ERROR ", "pytest.PytestUnraisableExceptionWarning: ")
    failed = [line for line in said.splitlines() if line.startswith(told)]
    if not failed:
        raise RuntimeError(f"no test failed, and pytest ended with {code}: {said[-2000:]}")
    return "killed", failed[0][:200]


def _become(folder: Path, tests: Sequence[str]) -> NoReturn:
    """The child: pytest, with its words in a file."""
    code = _BROKEN
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        with (folder / "out").open("w") as file, open(os.devnull) as nothing:  # noqa: PTH123
            for number, stream in enumerate((nothing, file, file)):
                os.dup2(stream.fileno(), number)
        code = pytest.main([*_PYTEST, "-x", f"--basetemp={folder / 'tests'}", *tests])
    except BaseException:  # noqa: BLE001 - told, and the parent stops
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _chosen(
    lines: _Lines, module: str, mutant: Mutant, killers: Sequence[str], seconds: float
) -> tuple[list[str], int]:
    """The tests to try, as many as there is time for, and how many run the mutant at all.

    Those that have killed one of the same function come first, then those that run most that no test before them runs.
    """
    tests = lines.of(module, mutant)
    order = [test for test in killers if test in tests]
    order += (test for test in lines.varied(frozenset(tests)) if test not in order)
    chosen: list[str] = []
    for test in order:
        if lines.seconds[test] <= seconds:
            seconds -= lines.seconds[test]
            chosen.append(test)
    chosen = chosen or sorted(tests, key=lambda test: lines.seconds[test])[:1]
    files = list(dict.fromkeys(test.split("::")[0] for test in chosen))
    # Tests of a file stay together: their fixtures are made once.
    return sorted(chosen, key=lambda test: files.index(test.split("::")[0])), len(tests)


def _try_all(folder: Path, given: argparse.Namespace) -> None:
    """Try mutants in this copy, and append what became of each to the results; one that has a result is passed over."""
    lines = _Lines.read(folder)
    results = folder / "results.jsonl"
    known = {}
    if results.exists():
        for line in results.read_text().splitlines():
            known[json.loads(line)["mutant"]] = json.loads(line)["fate"]
    share, shares = map(int, given.share.split("/"))
    wanted = [
        (module, mutant)
        for module in given.modules
        for mutant in mutants(Path("pipeline", module).read_text(encoding="utf-8"))
        if re.search(given.what, f"{module} {mutant.name}")
    ]
    first = [test for test in lines.seconds if given.first and re.search(given.first, test)]
    killers: dict[str, list[str]] = defaultdict(lambda: list(first))
    for at, (module, mutant) in enumerate(wanted):
        name = f"{module} {mutant.name}"
        if at % shares != share - 1 or (name in known and (known[name] == "killed" or not given.again)):
            continue
        begun = time.monotonic()
        near = killers[f"{module} {mutant.function}"]
        tests, count = _chosen(lines, module, mutant, near, given.seconds)
        fate, how = "survived", "no test runs it"
        if tests:
            bound = 30 + 4 * sum(lines.seconds[test] for test in tests)
            fate, how = _tried(module, mutant, tests, bound, 1_000_000_000 + at)
        if fate == "killed":
            test = how.removeprefix("FAILED ").removeprefix("ERROR ").split(" - ")[0]
            near[:] = [test, *(other for other in near if other != test)]
        taken = round(time.monotonic() - begun, 1)
        told = {"mutant": name, "line": mutant.line, "fate": fate, "how": how, "tests": [len(tests), count]}
        with results.open("a") as file:
            file.write(json.dumps({**told, "seconds": taken}) + "\n")
        _tell(f"{fate} {mutant.line} {name}  [{how}, {len(tests)} of {count} tests, {taken} s]")


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, or try mutants."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.wiring_mutants", description=__doc__)
    parser.add_argument(
        "modules", nargs="*", default=list(MODULES), help="such as submission/batch.py; with --record, tests"
    )
    parser.add_argument("--folder", type=Path, required=True, help="for copies, recorded lines and results")
    parser.add_argument("--share", default="1/1", help="1/2 and 2/2: two processes that share the work")
    parser.add_argument(
        "--record", action="store_true", help="copy the repository, run the tests and record their lines"
    )
    parser.add_argument(
        "--as", dest="named", default="", help="the name of what is recorded (another adds to it)"
    )
    parser.add_argument("--what", default="", help="only mutants whose name matches this regular expression")
    parser.add_argument("--first", default="", help="tests whose names match this are tried first")
    parser.add_argument("--seconds", type=float, default=40, help="for the tests of one mutant")
    parser.add_argument("--again", action="store_true", help="also mutants that were not killed")
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    share, shares = map(int, given.share.split("/"))
    copy = _Copy(folder / f"copy-{share}")
    if given.record:
        copy.make()
        tests = given.modules if given.modules != list(MODULES) else _all_tests()[share - 1 :: shares]
        copy.record(tests, folder / f"recorded-{given.named}{share}")
    elif Path(sys.prefix) != copy.root / ".venv":
        os.chdir(copy.root)
        os.environ |= {"OPENBLAS_NUM_THREADS": "1"}  # a process of several threads can't be forked
        os.execv(copy.python, [copy.python, "-m", "tests.crash.wiring_mutants", *(arguments or sys.argv[1:])])
    else:
        for name in _WARM:
            importlib.import_module(name)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))  # with the module as it was
        gc.freeze()  # what is there already stays shared with the children
        _try_all(folder, given)


def _all_tests() -> list[str]:
    return [
        *(str(path.relative_to(_REPOSITORY)) for test in TESTS for path in sorted(_REPOSITORY.glob(test))),
        *(f"pipeline/{module}" for module in MODULES),
    ]


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
