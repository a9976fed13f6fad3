"""Processes that are killed, and the starts that follow, with what may go wrong in them."""

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
from hypothesis.stateful import precondition, rule

from pipeline.ledger import opening
from pipeline.ledger.recovery import recover
from pipeline.ledger.spill import spill_path
from pipeline.model.errors import InputProblem, LedgerProblem
from tests.crash.machine_checks import Prescan
from tests.crash.machine_choices import ONE, parts
from tests.crash.machine_files import OWNER
from tests.crash.machine_life import DONE, Life


class Kills(Life):
    """A ledger whose process dies."""

    @precondition(lambda self: self.age > 9)  # a life of no steps shows little
    @rule(number=ONE)
    def kill(self, number: int) -> None:
        """The process dies: only what is on the disk goes on. Then a start, and what may go wrong with it."""
        uncommitted, torn, way = parts(self._new(number), 2, 3, len(_STARTS))
        with self._step("kills"):
            if uncommitted and not self.failure:
                self.connection.execute("BEGIN IMMEDIATE")
                self.connection.execute(
                    "INSERT INTO run (command, version, as_of, files, started_at) VALUES ('', '', '', '', '')"
                )
            self._die(torn * 17)
            self._say("killed" + (", in a transaction" if uncommitted else ""))
            # The first of them, from there on, that what was left allows.
            way %= 6 if self.spilled else len(_STARTS)
            for start in (*_STARTS[way:], *_STARTS[:way]):
                if start(self):
                    break
            self._open()

    def _die(self, torn: int = 0) -> None:
        """Go on with a copy of the files as they are, with `torn` times 251 bytes of no frame behind the -wal."""
        folder = self._next_folder()
        for name in ("test.ledger", "test.ledger-wal", "test.ledger.spill", "test.ledger.lock", "elsewhere"):
            found = self.path.with_name(name)
            if found.exists():
                shutil.copyfile(found, folder / name.replace("elsewhere", "test.ledger"))
        if (wal := folder / "test.ledger-wal").exists() and torn:
            with wal.open("ab") as file:
                file.write(bytes(range(251)) * torn)
        if not self.connection.get_autocommit():
            self.connection.execute("ROLLBACK")
        if self.running is not None:
            self._stop_writing()
        self._close()
        self.path = folder / "test.ledger"

    def _start_as_it_is(self) -> bool:
        return True

    def _copied(self, *ends: str) -> Path:
        """A copy of some of the ledger's files in a folder of their own."""
        path = self._next_folder() / "test.ledger"
        for end in ends:
            if (found := Path(f"{self.path}{end}")).exists():
                shutil.copyfile(found, f"{path}{end}")
        return path

    def _a_run_is_open(self) -> bool:
        return not all(ended for ended, _ in self.model.runs.values())

    def _start_without_its_wal(self) -> bool:
        """What a run that was killed has issued stands in the -wal: without it nothing may begin."""
        if not self._a_run_is_open():
            return False
        self._refused_opening(self._copied(""))
        return True

    def _start_with_an_older_ledger(self) -> bool:
        """A spill file that speaks of attempts which the ledger beside it has never had."""
        assert self.older is not None
        if all(entry.what is None for entry in self.spilled):
            return False
        older = self._copied(".spill")
        older.write_bytes(self.older)
        self._refused_recovery(older)
        return True

    def _start_with_an_older_ledger_and_this_wal(self) -> bool:
        """SQLite would mix the two; the lock file tells whose the -wal is."""
        assert self.older is not None
        wal = Path(f"{self.path}-wal")
        if not wal.exists() or not wal.stat().st_size or not self._a_run_is_open():
            return False
        older = self._copied("-wal", ".lock")
        older.write_bytes(self.older)
        self._refused_opening(older)
        return True

    def _start_with_a_foreign_spill(self) -> bool:
        if not self.spilled:
            return False
        other = self._copied("", "-wal", ".lock", ".spill")
        text = spill_path(other).read_bytes()
        mine = json.loads(text.split(b"\n", 1)[0])["ledger_id"]
        spill_path(other).write_bytes(text.replace(mine.encode(), b"f" * len(mine)))
        self._refused_recovery(other)
        return True

    def _refused_opening(self, path: Path) -> None:
        try:
            opening.open_for_run(path, OWNER, may_create=True)
        except InputProblem:
            DONE["openings refused"] += 1
        else:
            raise AssertionError("a ledger is opened that lacks what its killed run issued")

    def _refused_recovery(self, path: Path) -> None:
        connection, lock = opening.open_for_run(
            path, OWNER, opening.OpenOptions(may_lack=True), may_create=False
        )
        before = list(connection.execute("SELECT * FROM attempt"))
        try:
            recover(connection, path, lock, self._meaning)
        except LedgerProblem:
            DONE["spill files refused"] += 1
        else:
            raise AssertionError("a spill file is taken in by a ledger that it is not of")
        finally:
            after = list(connection.execute("SELECT * FROM attempt"))
            connection.close()
            lock.close()
        assert after == before
        assert spill_path(path).exists()

    def _start_and_die_before_recovery(self) -> bool:
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self._die_again()
        return True

    def _start_and_fail_in_recovery(self) -> bool:
        """Its COMMIT does not come through: then nothing of it has happened."""
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self.connection.set_commit_hook(lambda: True)
        with contextlib.suppress(apsw.ConstraintError):
            recover(self.connection, self.path, self.lock, self._meaning)
            assert not self.spilled, "the spill file was taken in without a COMMIT"
        self._die_again()
        return True

    def _start_and_die_after_recovery(self) -> bool:
        """Killed between recovery's COMMIT and the end of the spill file: it is taken in twice."""
        if not self.spilled:
            return False
        kept, spilled = spill_path(self.path).read_bytes(), list(self.spilled)
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self._recover()
        spill_path(self.path).write_bytes(kept)
        self.spilled = spilled
        self._die_again()
        return True

    def _die_again(self) -> None:
        self.look, self.stranger = Prescan(self.path), apsw.Connection(":memory:")
        self._die()


_STARTS: tuple[Callable[[Kills], bool], ...] = (
    Kills._start_as_it_is,
    Kills._start_with_an_older_ledger,
    Kills._start_with_a_foreign_spill,
    Kills._start_and_die_after_recovery,
    Kills._start_and_fail_in_recovery,
    Kills._start_with_an_older_ledger_and_this_wal,
    Kills._start_without_its_wal,
    Kills._start_and_die_before_recovery,
)
