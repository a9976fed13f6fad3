"""Bugs planted in how the parts are wired, one at a time: what one part hands another, and what guards something.

Units take such values as arguments, so that a unit's tests can't see whether it is handed the right ones. In the modules on
the way of evidence and of sending, each of these is a mutant of its own:

- an argument of a call is emptied: a text, number, list, mapping or set to the empty one of its type, a truth turned round,
  an object to one made of its type's defaults, or None;
- a keyword argument is left out, so that its default is taken;
- a call whose result nobody uses is left out;
- a condition of an `if` is taken for false, or for true; an operand of `and` or `or` is left out.

Messages for people are not looked at, nor what is the same when it is emptied: the value whose type `isinstance` asks for, an
empty list. All mutants are planted at once in a copy of the repository, each behind a switch
(wiring_planted), so that a process which has imported tests and program once tries them one after the other, each in a fork.
First the tests are recorded: which mutants each reaches with a value that the mutant would change. Then a mutant is tried by the
tests that reach it: those that killed one of the same function first, then those that reach most that no test before them does,
until one fails or the time for one mutant is spent. `--share 1/2` and `2/2` are two processes that may work at once. Results are
appended to results.jsonl in the folder, and a mutant that has one is passed over. What survived, and why, is in MUTANTS.md.

    python -m tests.crash.wiring_mutants --folder ../mutants --record
    python -m tests.crash.wiring_mutants --folder ../mutants submission/batch.py reconciliation/record_settlements.py
"""

import argparse
import ast
import contextlib
import copy
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
import venv
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

_REPOSITORY = Path(__file__).parents[2]
#: The modules on the way of evidence and of sending, the most dangerous first.
MODULES = (
    "reconciliation/record_settlements.py", "reconciliation/usable_answers.py", "settlement/decide.py", "settlement/contradictions.py", "settlement/shared_numbers.py",
    "settlement/unexplained_lines.py", "settlement/silence.py", "settlement/match.py", "submission/batch.py", "submission/sending_run.py", "submission/event_loop.py", "submission/graceful_stop.py", "submission/recovered_answers.py",
    "submission/retry.py", "submission/failures_in_a_row.py", "submission/request_sender.py", "submission/attempt_sender.py",
    "ledger/session.py", "ledger/read_ledger.py", "ledger/ledger_file.py", "ledger/ledger_to_change.py", "open_ledger.py", "run/check.py", "run/inputs.py", "run/issue.py", "run/reconcile.py", "carrier/client.py", "carrier/connection_check.py", "carrier/connection_reuse.py", "run/ledger_maintenance.py", "reconciliation/given_evidence.py", "reconciliation/comparison_inputs.py",
    "reconciliation/resubmit.py", "reconciliation/result_changes.py", "reconciliation/outputs.py", "reconciliation/handled_files.py", "settlement/compare.py", "reconciliation/inbox.py",
    "reading/fingerprint.py", "profile_file.py", "secret_keys.py", "cli/main.py", "cli/command_line.py", "cli/job_options.py",
)  # fmt: skip
#: The tests, of which each mutant is tried by those that reach it.
TESTS = (
    "tests/unit/test_*.py", "tests/unit/[cms][elu]*/test_*.py", "tests/unit/reconciliation/test_*.py", "tests/unit/carrier/test_*.py", "tests/unit/reading/test_[fors]*.py", "tests/acceptance/test_*.py",
    "tests/crash/test_wire_faults.py",
)  # fmt: skip
#: What makes a message of facts, which only people read.
_WORDS = {"message", "counted", "verbatim", "Message", "Note", "Joined", "Term", "Private", "SheetName", "N_", "P_", "system_error"}  # fmt: skip
_PYTEST = (
    "-q", "-n", "0", "-s", "-o", "addopts=--doctest-modules --import-mode=importlib", "-p", "no:cacheprovider", "--no-header", "--tb=no",
)  # fmt: skip
#: What a process that tries mutants has imported once for all of them.
_WARM = ("pandas", "aiohttp", "openpyxl", "rich.progress", "uvloop", "Crypto.Cipher.AES", "python_calamine")
_PLANTED = "wiring_planted"


@dataclass(frozen=True)
class Mutant:
    """A bug behind a switch."""

    number: int
    module: str
    line: int
    name: str  # the same as long as its function does not change
    function: str  # that it stands in
    at_import: (
        bool  # it stands outside functions: a process that has imported the module does not run it again
    )


class _Planting(ast.NodeTransformer):
    """Plants all mutants of a module; what was there before stands in the branch where none of them is on."""

    def __init__(self, module: str, text: str, first: int) -> None:
        self.planted: list[Mutant] = []
        self._module, self._text, self._first = module, text, first
        self._function: list[str] = []
        self._inside = 0  # functions' bodies around this node
        self._names = Counter[str]()

    def _number(self, node: ast.AST, what: str, told: ast.AST | None = None) -> int:
        told = told or node
        segment = ast.get_source_segment(self._text, told) or ast.unparse(told)
        name = f"{'.'.join(self._function)}: {' '.join(f'{what}: {segment}'.split())}"
        self._names[name] += 1
        number = self._first + len(self.planted)
        line = getattr(node, "lineno", 0)
        name = f"{self._module} {name} #{self._names[name]}"
        function = ".".join(self._function)
        self.planted.append(Mutant(number, self._module, line, name, function, not self._inside))
        return number

    def _call(self, what: str, number: int, *arguments: ast.expr) -> ast.Call:
        called = ast.Attribute(ast.Name(_PLANTED, ast.Load()), what, ast.Load())
        return ast.Call(called, [ast.Constant(number), *arguments], [])

    def _function_like(self, node: Any) -> Any:
        self._function.append(node.name)
        node.args = self.visit(node.args)  # defaults: of the moment of import
        self._inside += 1
        node.body = [self.visit(statement) for statement in node.body]
        self._inside -= 1
        self._function.pop()
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function_like  # noqa: N815 - what ast calls

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._function.append(node.name)
        inside, self._inside = self._inside, 0
        node.body = [self.visit(statement) for statement in node.body]
        self._inside = inside
        self._function.pop()
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._inside += 1
        node.body = self.visit(node.body)
        self._inside -= 1
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node  # an annotation

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value:
            node.value = self.visit(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        unused = isinstance(node.value, ast.Call | ast.Await)
        number = self._number(node, "left out") if unused else 0
        self.generic_visit(node)
        if not unused:
            return node
        kept = ast.UnaryOp(ast.Not(), self._call("left_out", number))
        return ast.If(kept, [node], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if named in _WORDS:
            return node
        whole = copy.deepcopy(node)
        plain = ast.Constant | ast.Starred | ast.JoinedStr | ast.GeneratorExp | ast.Lambda
        node.func = self.visit(node.func)

        def emptied(value: ast.expr) -> ast.expr:
            nothing = ast.unparse(value) in {"[]", "()", "{}"}
            number = 0 if isinstance(value, plain) or nothing else self._number(value, "emptied")
            visited = self.visit(value)
            return self._call("empty", number, visited) if number else visited

        # A value of which the type alone is asked for: the emptied one has the same.
        asked = 1 if named in {"isinstance", "type"} else 0
        node.args = [self.visit(value) for value in node.args[:asked]] + [
            emptied(value) for value in node.args[asked:]
        ]
        left_out = []
        for keyword in node.keywords:
            if keyword.arg:
                left_out.append((keyword, self._number(keyword, "left out")))
                keyword.value = emptied(keyword.value)
            else:
                keyword.value = self.visit(keyword.value)
        result: ast.expr = node
        for keyword, number in left_out:
            shorter = copy.deepcopy(whole)
            shorter.keywords = [other for other in shorter.keywords if other.arg != keyword.arg]
            result = ast.IfExp(self._call("left_out", number), shorter, result)
        return result

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        whole = copy.deepcopy(node)
        numbers = [
            0 if any(isinstance(inside, ast.NamedExpr) for inside in ast.walk(operand)) else self._number(operand, f"operand {at + 1} left out")
            for at, operand in enumerate(whole.values)
        ]  # fmt: skip
        self.generic_visit(node)
        result: ast.expr = node
        for at, number in enumerate(numbers):
            if number:
                rest = [copy.deepcopy(other) for other in whole.values[:at] + whole.values[at + 1 :]]
                shorter = ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]
                result = ast.IfExp(self._call("left_out", number), shorter, result)
        return result

    def _conditional(self, node: Any) -> Any:
        passed_over = isinstance(node.test, ast.NamedExpr) or ast.unparse(node.test) == "TYPE_CHECKING"
        numbers = {}
        if not passed_over:
            numbers["false"] = self._number(node.test, "taken for false")
            if not isinstance(node, ast.While):
                numbers["true"] = self._number(node.test, "taken for true")
        self.generic_visit(node)
        for what, number in numbers.items():
            node.test = self._call(what, number, node.test)
        return node

    visit_If = visit_IfExp = visit_While = _conditional  # noqa: N815 - what ast calls


def planted(module: str, text: str, first: int) -> tuple[str, list[Mutant]]:
    """A module's text with all mutants in it, each behind its switch, numbered from `first`."""
    tree, planting = ast.parse(text), _Planting(module, text, first)
    tree.body = [planting.visit(statement) for statement in tree.body]
    has_docstring = ast.get_docstring(tree) is not None
    tree.body.insert(int(has_docstring), ast.Import([ast.alias(_PLANTED)]))
    return ast.unparse(ast.fix_missing_locations(tree)), planting.planted


def all_mutants() -> list[Mutant]:
    """Of all modules, numbered as they are planted."""
    found: list[Mutant] = []
    for module in MODULES:
        found += planted(module, _text(module), len(found) + 1)[1]
    return found


def _text(module: str) -> str:
    return (_REPOSITORY / "pipeline" / module).read_text(encoding="utf-8")


@dataclass
class _Recorded:
    """Which mutants each test reaches, and its seconds; tests that failed are not there."""

    reached: dict[str, set[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    _orders: dict[frozenset[str], list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "_Recorded":
        found = cls()
        for path in sorted(folder.glob("recorded-*.json")):
            for test, (seconds, names) in json.loads(path.read_text(encoding="utf-8")).items():
                found.reached[test], found.seconds[test] = set(names), seconds
        return found

    def varied(self, tests: frozenset[str]) -> list[str]:
        """Tests in such an order that, for the time they take, each reaches as much as may be that none before it does."""
        if tests not in self._orders:
            left = {test: set(self.reached[test]) for test in tests}
            order = []
            while left:
                best = max(left, key=lambda test: (len(left[test]) / (0.2 + self.seconds[test]), test))
                order.append(best)
                seen = left.pop(best)
                for names in left.values():
                    names.difference_update(seen)
            self._orders[tests] = order
        return self._orders[tests]

    def chosen(self, mutant: Mutant, killers: Sequence[str], seconds: float) -> tuple[list[str], int]:
        """The tests to try, as many as there is time for, and how many reach the mutant at all."""
        tests = frozenset(test for test, names in self.reached.items() if mutant.name in names)
        if mutant.at_import:
            near = {one.name for one in all_mutants() if one.module == mutant.module}
            tests = frozenset(test for test, names in self.reached.items() if names & near)
        order = sorted(tests.intersection(killers), key=lambda test: self.seconds[test])
        order += (test for test in self.varied(tests) if test not in order)
        chosen: list[str] = []
        for test in order:
            if not chosen or self.seconds[test] <= seconds:
                seconds -= self.seconds[test]
                chosen.append(test)
        return chosen, len(tests)


class _Recorder:
    """A plugin of pytest: notes what each test reaches; a fixture that several tests share counts for each of them."""

    def __init__(self, to: Path, mutants: Sequence[Mutant]) -> None:
        self._to, self._names = to, {one.number: one.name for one in mutants}
        self._seen: list[set[int]] = [set()]
        self._shared: dict[int, set[int]] = {}
        self._found: dict[str, tuple[float, list[str]]] = {}
        self._seconds = Counter[str]()
        self._failed: set[str] = set()

    def _take(self) -> None:
        self._seen[-1] |= importlib.import_module(_PLANTED).taken()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        self._take()
        self._seen.append(set())
        try:
            return (yield)
        finally:
            self._take()
            self._shared[id(fixturedef)] = self._seen.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        importlib.import_module(_PLANTED).taken()
        self._seen = [set()]
        known = getattr(item, "_fixtureinfo", None)
        wide = [each for some in (known.name2fixturedefs.values() if known else ()) for each in some]
        result = yield
        self._take()
        found = self._seen[0].union(*(self._shared.get(id(each), set()) for each in wide))
        if item.nodeid not in self._failed:
            names = [self._names[number] for number in sorted(found)]
            self._found[item.nodeid] = (round(self._seconds[item.nodeid], 3), names)
        return result

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._to.write_text(json.dumps(self._found), encoding="utf-8")


class _Copy:
    """A copy of the repository with all mutants in it, and an environment of its own whose interpreters import from it."""

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
        shutil.copy(Path(__file__).with_name(f"{_PLANTED}.py"), packages)
        paths = [str(self.root), *(path for path in sys.path if path.endswith("site-packages"))]
        (packages / "wiring.pth").write_text("\n".join(paths) + "\n")
        script = self.root / ".venv" / "bin" / "voucher"
        script.write_text(f"#!{self.python}\nfrom pipeline.cli.main import main\nmain()\n")
        script.chmod(0o755)
        first = 1
        for module in MODULES:
            text, mutants = planted(module, _text(module), first)
            (self.root / "pipeline" / module).write_text(text, encoding="utf-8")
            first += len(mutants)
        (self.root / "mutants.json").write_text(json.dumps([vars(one) for one in all_mutants()]))
        subprocess.run([self.python, "-m", "compileall", "-q", "pipeline"], cwd=self.root, check=True)

    def mutants(self) -> list[Mutant]:
        return [Mutant(**each) for each in json.loads((self.root / "mutants.json").read_text())]


class _Trials:
    """A plugin of pytest: tries mutants with the tests that were collected, each mutant in a fork of this process."""

    def __init__(self, folder: Path, given: argparse.Namespace, copied: _Copy) -> None:
        self._given, self._copied = given, copied
        self._lines = _Recorded.read(folder)
        self._results = folder / "results.jsonl"
        self._known: dict[str, str] = {}
        if self._results.exists():
            for line in self._results.read_text().splitlines():
                self._known[json.loads(line)["mutant"]] = json.loads(line)["fate"]

    def pytest_runtestloop(self, session: Any) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        self._session = session
        known = set(self._lines.seconds) & set(self._items)
        self._lines.reached = {test: self._lines.reached[test] for test in known}
        gc.collect()
        gc.freeze()  # what is there already stays shared with the children
        self._forked(
            sorted(known, key=lambda test: -len(self._lines.reached[test]))[:1], 60
        )  # commands' imports
        share, shares = map(int, self._given.share.split("/"))
        first = [test for test in known if self._given.first and re.search(self._given.first, test)]
        killers: dict[str, list[str]] = defaultdict(
            lambda: list(first)
        )  # of a function's mutants, and of a module's
        wanted = [
            one for one in self._copied.mutants()
            if one.module in self._given.modules and re.search(self._given.what, one.name)
        ]  # fmt: skip
        for at, mutant in enumerate(wanted):
            fate = self._known.get(mutant.name, "")
            if at % shares != share - 1 or fate == "killed" or (fate and not self._given.again):
                continue
            near = killers[f"{mutant.module} {mutant.function}"], killers[mutant.module]
            killer = self._try(mutant, [*near[0][:6], *near[1][:6]], share)
            for order in near if killer else ():
                order[:] = [killer, *(other for other in order if other != killer)]
        return True

    def _try(self, mutant: Mutant, near: Sequence[str], share: int) -> str:
        """Try a mutant, keep what became of it, and give the test that killed it, if one did."""
        begun = time.monotonic()
        tests, count = self._lines.chosen(mutant, near, self._given.seconds)
        fate, how = "survived", "no test reaches it"
        if tests:
            bound = 30 + 4 * sum(self._lines.seconds[test] for test in tests)
            importlib.import_module(_PLANTED).switch(mutant.number)
            try:
                fate, how = (self._alone if mutant.at_import else self._forked)(tests, bound)
            finally:
                importlib.import_module(_PLANTED).switch(0)
        taken = round(time.monotonic() - begun, 1)
        told = {
            "mutant": mutant.name,
            "line": mutant.line,
            "fate": fate,
            "how": how,
            "tests": [len(tests), count],
        }
        with self._results.open("a") as file:
            file.write(json.dumps({**told, "seconds": taken, "share": share}) + "\n")
        return how if fate == "killed" else ""

    def _forked(self, tests: Sequence[str], seconds: float) -> tuple[str, str]:
        """How tests end in a child of this process: killed, survived, or timeout; and by which test."""
        reading, writing = os.pipe()
        with tempfile.TemporaryDirectory(prefix="wiring-", ignore_cleanup_errors=True) as folder:
            child = os.fork()
            if not child:
                self._become(Path(folder), tests, writing)
            os.close(writing)
            handle = os.pidfd_open(child)
            in_time = select.select([handle], [], [], seconds)[0]
            os.close(handle)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with os.fdopen(reading) as file:
                test = file.read()
            if not in_time or code < 0:
                self._restart_commands()
        if not in_time:
            return "timeout", test or f"{seconds:.0f} s"
        return ("killed", test) if code else ("survived", f"{len(tests)} tests")

    def _become(self, folder: Path, tests: Sequence[str], told: int) -> NoReturn:
        """The child: runs tests until one fails, and says which."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123
            for number in range(3):
                os.dup2(nothing.fileno(), number)
        code, now = 1, ""
        try:
            self._session.config._tmp_path_factory._basetemp = folder
            items = [self._items[test] for test in tests]
            for item, after in zip(items, [*items[1:], None], strict=True):
                now = item.nodeid
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self._session.testsfailed:
                    break
            else:
                code = 0
        finally:
            if code:
                os.write(told, now.encode())
            os._exit(code)

    def _alone(self, tests: Sequence[str], seconds: float) -> tuple[str, str]:
        """The same in a process of its own, for what is decided while a module is imported."""
        command = [sys.executable, "-m", "pytest", *_PYTEST, "-x", "-rfE", *tests]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, check=False)
        except subprocess.TimeoutExpired:
            return "timeout", f"{seconds:.0f} s"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return (
            ("killed", failed.group(1) if failed else tests[0])
            if done.returncode
            else ("survived", f"{len(tests)} tests")
        )

    def _restart_commands(self) -> None:
        """What runs the commands of acceptance tests may wait for one that no test asks for any more."""
        for plugin in self._session.config.pluginmanager.get_plugins():
            forks = getattr(plugin, "forks", None)
            if forks and hasattr(forks, "cache_clear") and forks.cache_info().currsize:
                forks()._parent.kill()
                forks.cache_clear()


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, or try mutants."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.wiring_mutants", description=__doc__)
    parser.add_argument(
        "modules", nargs="*", default=list(MODULES), help="such as submission/batch.py; with --record, tests"
    )
    parser.add_argument("--folder", type=Path, required=True, help="for copies, recorded tests and results")
    parser.add_argument("--share", default="1/1", help="1/2 and 2/2: two processes that share the work")
    parser.add_argument(
        "--record", action="store_true", help="copy the repository, run the tests and record what they reach"
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
    copied = _Copy(folder / f"copy-{share}")
    if Path(sys.prefix) != copied.root / ".venv":
        if given.record:
            copied.make()
        os.chdir(copied.root)
        os.environ |= {"OPENBLAS_NUM_THREADS": "1"}  # a process of several threads can't be forked
        os.execv(
            copied.python, [copied.python, "-m", "tests.crash.wiring_mutants", *(arguments or sys.argv[1:])]
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    planting = importlib.import_module(_PLANTED)
    if given.record:
        planting.switch(0, record=True)
        tests = given.modules if given.modules != list(MODULES) else _all_tests()[share - 1 :: shares]
        recorder = _Recorder(folder / f"recorded-{given.named}{share}.json", copied.mutants())
        pytest.main([*_PYTEST, *tests], plugins=[recorder])
    else:
        planting.switch(0)
        for name in _WARM:
            importlib.import_module(name)
        files = dict.fromkeys(test.split("::")[0] for test in _Recorded.read(folder).seconds)
        pytest.main([*_PYTEST, *files], plugins=[_Trials(folder, given, copied)])


def _all_tests() -> list[str]:
    return [
        *(str(path.relative_to(_REPOSITORY)) for test in TESTS for path in sorted(_REPOSITORY.glob(test))),
        *(f"pipeline/{module}" for module in MODULES),
    ]


if __name__ == "__main__":
    main()
