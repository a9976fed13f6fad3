"""`voucher ledger backup` and `export` killed at any system call: the ledger stays whole, and nothing half appears.

Each is killed (SIGKILL) before the Nth of its system calls that matter, or in the middle of a write ("torn"), on a
ledger at rest and on one whose run was killed, with that run's -wal. Then the ledger and all that lies beside it must be
as it was, the file that was asked for whole or absent, and the same command run again must give it.

    python -m tests.crash.kill_commands [--every 1] [--folder FOLDER]

Seen to catch, planted one at a time: a backup, or an export, that is written under its final name; a backup that is
marked as one after it has appeared; a ledger opened for a backup as for a run.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import apsw

from tests.crash import failpoint
from tests.crash.disk_evidence import look
from tests.crash.kill_points import UNDISTURBED, Disturbance, Office, Point, forking_office, read_calls
from tests.crash.kill_workload import workload

#: Each command and the file that it is asked for.
COMMANDS: Mapping[str, str] = {"backup": "kept.ledger", "export": "audit.xlsx"}
STATES = ("at rest", "killed")


@dataclass
class Tally:
    """What a sweep did, and what was wrong."""

    points: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def line(self) -> str:
        """All of it in one line."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        return f"{self.points} kills ({kinds}); {len(self.violations)} violations"


def beginning(office: Office, state: str) -> Path:
    """A folder with a ledger in that state, left by a real run."""
    point = Point(office, replace(workload(0), ledger="none").at(999_990 + STATES.index(state)), state)
    if state == "killed":
        counting = Point(office, replace(workload(0), ledger="none").at(999_980), "counting-killed")
        counting.run(UNDISTURBED)
        sending = [call.number for call in counting.calls() if call.kind == "WAL while sending"]
        assert point.run(Disturbance(sending[-1], "kill")).code == -signal.SIGKILL
    else:
        point.run(UNDISTURBED)
    return point.desk


def sweep(office: Office, every: int = 1) -> Tally:
    """Kill both commands in both states, at every so-manyth call."""
    tally = Tally()
    for state in STATES:
        before = beginning(office, state)
        for command, wanted in COMMANDS.items():
            desk = office.folder / f"{command}-{state.replace(' ', '-')}" / "desk"
            count = len(read_calls(_log(desk))) if not _ran(office, before, desk, command, UNDISTURBED) else 0
            assert count > 20, f"{command} makes {count} calls that can be seen"
            for at in range(1, count + 1, every):
                disturbance = Disturbance(at, "torn" if at % 4 == 0 else "kill")
                code = _ran(office, before, desk, command, disturbance)
                name = f"{command}, {state}, {disturbance.what} at {at}"
                tally.points += 1
                tally.kinds[f"{command} {state}"] += 1
                if code != -signal.SIGKILL:
                    tally.violations.append(f"{name}: it ended with {code}")
                tally.violations += [
                    f"{name}: {wrong}" for wrong in _wrong(office, before, desk, command, wanted)
                ]
    return tally


def _log(desk: Path) -> Path:
    return desk.parent / "calls"


def _ran(office: Office, before: Path, desk: Path, command: str, disturbance: Disturbance) -> int:
    """The command's exit code in a copy of that folder."""
    shutil.rmtree(desk.parent, ignore_errors=True)
    shutil.copytree(before, desk)
    more = failpoint.environment(
        office.library, desk, disturbance.at, disturbance.what, only=disturbance.only, log=_log(desk)
    )
    return _command(office, desk, command, more)


def _command(office: Office, desk: Path, command: str, more: Mapping[str, str]) -> int:
    where = ["--ledger", "office.ledger"]
    environment = {"HOME": str(desk.parent), "XDG_STATE_HOME": str(desk / "state"), **more}
    return office.run(desk, ["ledger", command, COMMANDS[command], *where], environment).code


def _wrong(office: Office, before: Path, desk: Path, command: str, wanted: str) -> Iterator[str]:
    """What a killed command must not have done, and whether it can be run again."""
    kept = [*_kept(before)]
    for name in kept:
        if (desk / name).read_bytes() != (before / name).read_bytes():
            yield f"{name} is another one than before"
    if look(desk / "office.ledger") != look(before / "office.ledger"):
        yield "the ledger says something else"
    appeared = (desk / wanted).exists()
    yield from _half(desk / wanted)
    code = _command(office, desk, command, {})
    taken = appeared and command == "backup"  # over which it writes nothing
    if code != (2 if taken else 0):
        yield f"run again, it ends with {code}"
    yield from _half(desk / wanted)
    if not (desk / wanted).exists():
        yield f"run again, it leaves no {wanted}"


def _kept(folder: Path) -> Iterator[str]:
    """What belongs to the ledger, but for the memory that SQLite makes anew."""
    for path in folder.iterdir():
        if path.name.startswith("office.ledger") and not path.name.endswith("-shm") and path.stat().st_size:
            yield path.name


def _half(path: Path) -> Iterator[str]:
    """Whether a file under its name is only half there, or a backup that does not know that it is one."""
    if not path.exists():
        return
    if path.suffix == ".xlsx":
        try:
            with zipfile.ZipFile(path) as package:
                whole = package.testzip() is None and "xl/workbook.xml" in package.namelist()
        except (OSError, zipfile.BadZipFile):
            whole = False
    else:
        try:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            whole = (
                connection.pragma("integrity_check") == "ok"
                and connection.execute("SELECT count(*) FROM gap WHERE closed_at IS NULL").get == 1
            )
            connection.close()
        except apsw.Error:
            whole = False
    if not whole:
        yield f"{path.name} is half made"


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.kill_commands")
    parser.add_argument("--every", type=int, default=1, help="so-manyth call alone")
    parser.add_argument("--folder", type=Path, help="where it takes place; default: a temporary one")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="kill-commands-"))
    folder.mkdir(parents=True, exist_ok=True)
    with forking_office(folder) as office:
        tally = sweep(office, given.every)
    for line in (*tally.violations, tally.line()):
        sys.stdout.write(f"{line}\n")
    return bool(tally.violations)


if __name__ == "__main__":
    sys.exit(main())
