"""Bugs planted in the program one at a time, to see that the end-to-end lives show them, and after how many lives.

Each bug is a change of a few lines in a copy of the repository, whose lives are then lived from a first seed on until one of them
is wrong. A bug is shown soonest in lives about its own matter; the seed says how many lives of all kinds that are.

    python -m tests.crash.end_to_end_bugs [BUG ...] [--seeds 0..200] [--all-lives]

A line is told for each bug, as the table in README.md has it. It ends with 1 where a bug that lives can show was not shown.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Bug:
    """What stands instead of what, in which file of pipeline/; and what the lives are about that it is looked for in.

    `unseen`: why lives can't show it, and which test does; "" where they can.
    """

    about: str
    changes: tuple[tuple[str, str, str], ...]
    unseen: str = ""


BUGS: dict[str, Bug] = {
    "margin": Bug(
        "days",
        (
            (
                "settlement/silence.py",
                "MARGIN = datetime.timedelta(hours=1)",
                "MARGIN = datetime.timedelta()",
            ),
        ),
    ),
    "kind of statement": Bug(
        "kinds",
        (
            (
                "settlement/silence.py",
                "if not any(kind in statement.kinds for statement in self.statements):",
                "if False:",
            ),
            (
                "settlement/silence.py",
                "agreed = [one for one in self._of(claim, kind) if one.agreed]",
                "agreed = [one for one in self.issued if one.agreed and claim.since <= one.at < claim.until]",
            ),
        ),
    ),
    "kind of claim": Bug(
        "kinds",
        (
            (
                "settlement/silence.py",
                'claims = [claim for claim in self.claims if claim.kind in ("", kind)]',
                "claims = list(self.claims)",
            ),
            (
                "settlement/silence.py",
                'if claim.kind not in ("", kind):\n            return []',
                "if False:\n            return []",
            ),
        ),
    ),
    "doubt not handed on to sending": Bug(
        "mistakes",
        (("submission/request_sender.py", "self.doubts.about(request)", "False"),),
    ),
    "doubt of times not handed on to settle": Bug(
        "clocks",
        (("ledger/settlements.py", "times_doubtful=run in doubtful,", "times_doubtful=False,"),),
        unseen="what was issued about that time is doubted as well, so that nothing stands before it: unit/ledger/test_clock.py",
    ),
    "times of a wrong clock": Bug(
        "clocks",
        (
            (
                "ledger/clock.py",
                "return {run for (run,) in connection.execute(_DOUBTFUL",
                "return set() and {run for (run,) in connection.execute(_DOUBTFUL",
            ),
        ),
    ),
    "earlier lines not handed on to settle": Bug(
        "evidence",
        (
            (
                "reconciliation/record_settlements.py",
                "ledger.shown_elsewhere(numbers),",
                "(),",
            ),
        ),
        unseen="the lines go on holding their charges, so that nothing is sent: acceptance/test_evidence_wiring.py",
    ),
    "hold not asked at issue": Bug(
        "anything",
        (("submission/batch.py", "holdings = ledger.holdings(tickets)", "holdings = KnownCharges()"),),
    ),
    "epoch not changed": Bug(
        "epochs",
        (
            (
                "ledger/sql/version-1.sql",
                "WHEN NOT EXISTS (SELECT 1 FROM gap WHERE closed_at IS NULL)\nBEGIN INSERT INTO epoch",
                "WHEN 0\nBEGIN INSERT INTO epoch",
            ),
        ),
    ),
    "answer of an earlier epoch": Bug(
        "epochs",
        (
            (
                "reconciliation/usable_answers.py",
                "if known and known.epoch != answer.ledger_id:",
                "if False:",
            ),
        ),
    ),
    "witness not asked": Bug(
        "copies", (("ledger/older_copy.py", "if not last_run_witness.knows(connection, last):", "if False:"),)
    ),
    "no note beside it": Bug(
        "copies",
        (
            (
                "ledger/older_copy.py",
                "if own.run and not unnoted and noted_run(path) is None and not (noted and note_garbled(path)):",
                "if False:",
            ),
            ("ledger/older_copy.py", "if own.run and not unnoted and witnesses and not noted:", "if False:"),
        ),
    ),
    "upgrade's copy not marked": Bug(
        "upgrades",
        (
            (
                "ledger/opening.py",
                'mark_gap(copy, known_until(copy) or utc_now(), message("it is a copy made before an upgrade"))',
                "pass",
            ),
        ),
        unseen="the note beside it, or the witness, refuses the copy all the same: unit/ledger/test_schema.py",
    ),
    "reversal of a part": Bug(
        "reversals",
        (
            (
                "reconciliation/reversals_on_statements.py",
                "if len(covered) == len(charges) == len(lines) or whole:",
                "if covered or whole:",
            ),
        ),
    ),
    "reversal of a part of an amount": Bug(
        "reversals",
        (
            (
                "reconciliation/reversals_on_statements.py",
                "and red.amount in (None, amount)",
                "",
            ),
        ),
    ),
    "lines of a reversed voucher": Bug(
        "reversals", (("reconciliation/reversals_on_statements.py", "if not gone:", "if True:"),)
    ),
    "withdrawn evidence settles again": Bug(
        "mistakes",
        (
            ("ledger/settlements.py", "if not settlement.answered or same:", "if False:"),
            (
                "ledger/sql/version-1.sql",
                "        new.answered = ''\n        OR (old.settled_by = new.settled_by",
                "        0 AND (old.settled_by = new.settled_by",
            ),
        ),
    ),
    "file handled before a gap": Bug(
        "epochs",
        (("ledger/inbox_files.py", '" AND epoch = (SELECT max(epoch) FROM epoch) ORDER', '" ORDER'),),
        unseen="what was done with a file before a copy was made is in that copy: unit/ledger/test_epochs.py",
    ),
    "answer said twice": Bug(
        "anything",
        (
            (
                "carrier/connection_reuse.py",
                'if outcome.state != "issued":\n            self.close()',
                'if outcome.state != "issued":\n            self.give_back()',
            ),
        ),
    ),
    "403 in mid-run": Bug(
        "anything",
        (("submission/attempt_sender.py", "Before(one.doubted, self._accepted)", "Before(one.doubted)"),),
    ),
    "killed while sending": Bug(
        "kills",
        (
            (
                "ledger/recovery.py",
                'Outcome("unknown", "run_killed", detail=_KILLED)',
                'Outcome("not_sent", "run_stopped", detail=_KILLED)',
            ),
        ),
    ),
    "statement's charges not held": Bug(
        "copies",
        (
            (
                "reconciliation/record_settlements.py",
                "for line in shown]",
                "for line in ()]",
            ),
        ),
    ),
    "silence without agreement": Bug(
        "evidence",
        (
            (
                "settlement/silence.py",
                "if len(agreed) < OWN_NEEDED or not before or not after:",
                "if False:",
            ),
            ("settlement/silence.py", "if lacking := _lacking_of(alike, others):", "if False:"),
            (
                "settlement/silence.py",
                "for order, own in _places([(identity, amount) for identity, _, amount in attempt.charges]).items():",
                "for order, own in ():",
            ),
        ),
    ),
}


def planted(bug: Bug, package: Path) -> dict[Path, str]:
    """The files of the program as the bug has them. Raises ValueError if the program is not what it was."""
    files: dict[Path, str] = {}
    for name, old, new in bug.changes:
        path = package / name
        text = files.get(path) or path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{name}: {old!r} stands in it {text.count(old)} times")
        files[path] = text.replace(old, new)
    return files


def shown(bug: Bug, seeds: str, folder: Path, *, all_lives: bool) -> tuple[int, str]:
    """(how many lives were lived, the violation that ended them; "" where none did)."""
    copy = folder / "copy"
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", "mutants", ".*_cache")
    shutil.copytree(_REPOSITORY, copy, ignore=left_out)
    for path, text in planted(bug, copy / "pipeline").items():
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "tests.crash.end_to_end", "--seeds", seeds, "--most", "1"]
    command += [] if all_lives else ["--about", bug.about]
    done = subprocess.run(
        [*command, "--folder", str(folder / "lives")], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lives = re.search(r"(?m)^([0-9]+) lives", done.stdout)
    if lives is None:
        raise RuntimeError(done.stdout + done.stderr)
    wrong = re.search(r"(?m)^VIOLATION (.*)", done.stdout)
    return int(lives[1]), wrong[1] if wrong else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant them, and tell which are shown."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.end_to_end_bugs", description=__doc__)
    parser.add_argument("bugs", nargs="*", default=list(BUGS), help="their names")
    parser.add_argument(
        "--seeds", default="0..200", help="FROM..TO, of which lives about the bug's matter are lived"
    )
    parser.add_argument("--all-lives", action="store_true", help="lives about anything")
    given = parser.parse_args(arguments)
    missed = 0
    for name in given.bugs:
        bug = BUGS[name]
        with tempfile.TemporaryDirectory(prefix="planted-") as folder:
            lives, wrong = shown(bug, given.seeds, Path(folder), all_lives=given.all_lives)
        missed += not (wrong or bug.unseen)
        _tell(
            f"{name} | {bug.about} | {f'{lives} lives: {wrong[:160]}' if wrong else f'not in {lives} lives'}"
        )
    return bool(missed)


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(main())
