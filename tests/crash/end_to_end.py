"""Whole lives of an office, end to end: whatever people honestly say, nothing is issued twice and no outcome is lost.

A life is a random month or two (workbooks of some charges of every kind, corrected and added to later), a carrier that issues
whatever it is asked for and often answers badly, SIGKILLs, evidence of every kind, ledgers that are copied and put back, and
clocks that are wrong. Every command is the real program, told by its exit code and its files alone. What people do is in
`_Life`; what evidence they bring, and what is honest, in `end_to_end_evidence`; a restored ledger is one of

- its file alone, or its folder with all that lies in it, as it was at some earlier time, put back in its place, with the
  `.lock` that lies there or without it, or put into another folder and used from there;
- a copy by `voucher ledger backup`, put in its place, or used from where it is;

and but for a folder it may be on a new machine, which knows nothing of the last run.

Never does somebody put back a folder together with the per-user state of the program: nothing on the machine can tell that from
the past. A clock is wrong by half an hour at most, or ahead by hours to years, or so far behind that the ledger's last entry is
later; `--clock-is-right` is said only where the clock is right. `mark-gap` is said where the program asks for it; that a gap is
closed only when the ledger holds everything that the carrier issued.

After every command: no charge is on two vouchers (but for one that was reversed at the carrier in between), and, unless a ledger
was put back, the ledger holds each charge that the carrier issued as issued under its number or as unknown. At the end, with true
statements and right answers: nothing is unknown, no gap is open, the ledger agrees with the carrier's books voucher by voucher,
every charge that can be issued is (but for what a statement with mistakes in it contradicts), `voucher ledger check` finds nothing wrong, and issuing again sends nothing.

    python -m tests.crash.end_to_end --seeds 0..500 [--folder FOLDER]

A violation names its seed and tells the life's steps; a seed repeats them, but for the microsecond of a SIGKILL.

Seen to catch, planted one at a time, with the first seed of `--about` that showed it: a folder put back that nobody compares with the
witness of the last run (copies, 0); a ledger's file that has no note of its last run beside it and is taken all the same (copies, 11);
what a statement shows and is not held (copies, 0); silence of a statement that need not agree with the ledger on anything (evidence,
66); an answer that can't be decrypted and is taken for a refusal (evidence, 9). Of the code as it was before its first run: a 401, 403,
404 or 405 in the middle of a run taken for "nothing was issued" (seeds of all kinds, one in ten), an older copy without its `.lock`
taken all the same; and, led there by hand, another agency's statement that proves everything. Not caught within 16 lives, and left to
the kill points: a killed run's requests that are taken for not sent.
"""

import argparse
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import openpyxl

from tests.crash import end_to_end_evidence as evidence
from tests.crash import failpoint
from tests.crash.end_to_end_carrier import FAULTS, Carrier
from tests.crash.end_to_end_office import Office
from tests.crash.forked import Forks, Ran

_STEPS = (5, 13)
_ROUNDS = 8  # of making good at the end, at most
#: Chances of each thing that may happen next; each life has some of them more often, and others seldom.
_CHOICES = {
    "issue": 6, "statement": 4, "answers": 3, "copy": 3, "put back": 1, "wait": 4, "correct": 1, "more": 3, "inbox": 1,
    "reverse": 1, "export": 0.5, "care": 0.5,
}  # fmt: skip
#: What a life may be about: so much more often some things happen, and so likely a run is struck by one fault nearly always.
_ABOUT: dict[str, tuple[dict[str, float], float]] = {
    "evidence": ({"statement": 4, "answers": 3, "wait": 2, "copy": 0.1}, 0.6),
    "copies": ({"copy": 3, "put back": 3, "more": 3, "issue": 2}, 0.1),
    "doubts in copies": ({"copy": 3, "put back": 3, "answers": 6, "issue": 2}, 0.5),
    "anything": ({}, 0.3),
}
#: Faults that leave a doubt.
_DOUBTFUL = [name for name, (_, answer, _twice) in FAULTS.items() if answer in ("", "503", "?", "front")]
#: What is added while outcomes are unknown, where there are copies, and where one was put back.
_IN_DOUBT = {"statement": 7, "answers": 5}
_WITH_COPIES = {"put back": 3}
_PUT_BACK = {"issue": 12, "care": 8}


class Wrong(Exception):
    """Something that must never be."""


class _Life:
    """One life, step by step."""

    def __init__(self, office: Office, rng: Random, about: str) -> None:
        self.office, self.rng = office, rng
        self._names = 0
        self._issued_at: dict[Path, int] = {}  # how many vouchers there were when a copy was made
        self._misled = False  # a statement with mistakes was given: numbers may be settled wrongly
        self._clock_is_right = False  # what the program has asked for, and is true
        self._about = about
        more, self._struck = _ABOUT[about]
        self._choices = {
            name: weight * rng.choice((0.2, 1, 3)) * more.get(name, 1) for name, weight in _CHOICES.items()
        }

    # -- what is done

    def live(self) -> None:
        """All of it."""
        office, rng = self.office, self.rng
        office.add_workbook(office.month(rng.randrange(5, 26)))
        if rng.random() < 0.4:
            office.add_workbook(office.month(rng.randrange(5, 16)))
        self._issue()
        if self._about == "evidence":
            for hours in (rng.choice((0, 2, 26)), 24):
                office.wait(office.hours + hours)
                self._statement(alone=True)
        if "copies" in self._about:
            for step in (self._copy, self._more, self._issue, self._put_back):
                step()
        for _ in range(rng.randrange(*_STEPS)):
            choice = self._next()
            steps: dict[str, Callable[[], object]] = {
                "issue": self._issue, "statement": self._statement, "answers": self._answers, "copy": self._copy,
                "put back": self._put_back, "wait": lambda: office.wait(rng.choice((0.5, 3, 12, 24, 60))),
                "correct": self._correct, "more": self._more,
                "inbox": self._inbox, "reverse": self._reverse, "export": self._export, "care": self._round,
            }  # fmt: skip
            steps[choice]()
        self._make_good()

    def _next(self) -> str:
        office = self.office
        more = (_IN_DOUBT, office.unknown()), (_WITH_COPIES, office.copies), (_PUT_BACK, office.put_back)
        choices = dict(self._choices)
        for added, applies in more:
            for name, weight in added.items() if applies else ():
                choices[name] += weight
        return self.rng.choices(list(choices), weights=list(choices.values()))[0]

    def _run(self, *arguments: str | Path, quietly: bool = False) -> Ran:
        """A command, with what may befall it; and what must be so after it."""
        rng = self.rng
        faults, only, concurrency, kill_at, error = {}, "", rng.choice((1, 1, 4, 16)), 0, 0.0
        if not quietly:
            faults, only = self._faults()
            kill_at = int(2 ** rng.uniform(1, 9.5)) if rng.random() < 0.15 and self.office.begun else 0
            error = self._clock() if arguments[0] != "ledger" else 0.0
        right = (
            ("--clock-is-right",)
            if self._clock_is_right and abs(error) < 3600 and takes_clock(arguments)
            else ()
        )
        ran = self.office.voucher(
            *arguments,
            *right,
            error=error,
            kill_at=kill_at,
            faults=faults,
            only=only,
            concurrency=concurrency,
        )
        if "--clock-is-right" in ran.err and abs(error) < 3600:
            self._clock_is_right = True
        self._check()
        return ran

    def _faults(self) -> tuple[dict[str, float], str]:
        """What may befall a run's requests: a few things now and then, or one nearly always; of both kinds, or of one."""
        rng = self.rng
        only = rng.choice(("", "", "invoice", "itinerary"))
        if self._about == "evidence" and not self.office.begun:
            issued = [name for name in _DOUBTFUL if FAULTS[name][0]]
            return {rng.choice(_DOUBTFUL + issued * 2): 1.0}, only
        if rng.random() < self._struck:
            return {rng.choice(rng.choice((_DOUBTFUL, list(FAULTS)))): rng.choice((0.4, 0.7, 1.0))}, only
        names = rng.sample(list(FAULTS), k=rng.choice((0, 2, 4)))
        return {name: rng.choice((0.05, 0.1, 0.2)) for name in names}, only

    def _clock(self) -> float:
        """By how many seconds the program's clock is ahead."""
        rng, office = self.rng, self.office
        if rng.random() < 0.93:
            return rng.choice((0, 0, rng.uniform(-1500, 1500)))
        hours = rng.choice((3, 30, 24 * 400))
        if rng.random() < 0.5:
            office.wrong_clock = True
            return hours * 3600.0
        last = office.last_entry()
        if last is None:
            return 0.0
        return min(0.0, (last - office.now()).total_seconds() - hours * 3600)

    def _issue(self, *, quietly: bool = False) -> Ran:
        office = self.office
        some = (
            office.workbooks
            if quietly
            else self.rng.sample(office.workbooks, self.rng.randrange(len(office.workbooks)) + 1)
        )
        first = () if office.begun else ("--new-ledger",)
        ran = self._run("issue", *some, *first, quietly=quietly)
        office.begun = office.begun or office.ledger.exists()
        return ran

    def _statement(self, *, alone: bool = False) -> None:
        given = evidence.any_statement(self.office, self._name())
        self._misled = self._misled or given.wrong
        self.office.done.append(f"statement: {given.what}")
        with_rows = self.office.workbooks if not alone and self.rng.random() < 0.4 else []
        self._run("reconcile", *with_rows, *given.arguments)

    def _answers(self) -> None:
        """Answers on a sheet, the newest or an old one; sometimes the same twice, or beside a statement."""
        office = self.office
        sheets = [sheet for sheet, asked in office.sheets.items() if asked]
        if not sheets:
            return
        sheet = sheets[-1] if self.rng.random() < 0.4 else self.rng.choice(sheets)
        file = evidence.answered(office, sheet, slips=self.rng.random() < 0.3)
        if file is None:
            return
        more = evidence.any_statement(office, self._name()) if self.rng.random() < 0.2 else None
        self._misled = self._misled or bool(more and more.wrong)
        for _ in range(self.rng.choice((1, 1, 2))):
            self._run("reconcile", "--resolved", file, *(more.arguments if more else ()))

    def _inbox(self) -> None:
        """A night from cron: workbooks, answers and a statement lie in the inbox."""
        office = self.office
        inbox, outbox = office.desk / "in", office.desk / "out"
        for folder in (inbox, outbox):
            folder.mkdir(exist_ok=True)
        for path in office.workbooks:
            shutil.copy2(path, inbox / path.name)
        if self.rng.random() < 0.5:
            given = evidence.any_statement(office, self._name())
            self._misled = self._misled or given.wrong
            shutil.copy2(given.arguments[1], inbox)
        for sheet in self.rng.sample(list(office.sheets), min(1, len(office.sheets))):
            if file := evidence.answered(office, sheet, slips=self.rng.random() < 0.3):
                shutil.copy2(file, inbox)
        for path in inbox.iterdir():
            office.touch(
                path, min(office.now(), office.now().fromtimestamp(path.stat().st_mtime, office.now().tzinfo))
            )
        self._run("reconcile", "--inbox", inbox, "--outbox", outbox)

    def _more(self) -> None:
        """More rows come: a second workbook, or in one that is there."""
        office, rows = self.office, self.office.month(self.rng.randrange(5, 12))
        if len(office.workbooks) < 2:
            office.add_workbook(rows)
        else:
            path = self.rng.choice(office.workbooks)
            office.write(path, office.rows[path] + rows)

    def _correct(self) -> None:
        """A workbook comes again: tickets are used by now, names filled in, amounts corrected, rows added."""
        office, rng = self.office, self.rng
        path = rng.choice(office.workbooks)
        rows = [dict(row) for row in office.rows[path]]
        for row in rows:
            if row["ticket_status"] == "open" and rng.random() < 0.7:
                row["ticket_status"] = "used"
            if not row["passenger_name"]:
                row["passenger_name"] = "LI/NA MS"
            if rng.random() < 0.05:
                row["amount"] = f"{rng.randrange(100, 4000)}.00"
        office.write(path, rows + (office.month(2) if rng.random() < 0.3 else []))

    def _reverse(self) -> None:
        """The carrier reverses a voucher, and that is recorded."""
        office = self.office
        told = [v for v in office.carrier.vouchers if v.told and not v.reversed]
        known = {held.number for held in office.held().values() if held.state == "issued"}
        told = [voucher for voucher in told if voucher.number in known]
        if not told or office.put_back:
            return
        number = self.rng.choice(told).number
        office.carrier.reverse(number)
        self._run("ledger", "reverse", number, "--evidence", "the carrier's red invoice")

    # -- copies

    def _copy(self) -> None:
        """Somebody keeps a copy: of the file, of the folder, or by `voucher ledger backup`."""
        office = self.office
        if not office.ledger.exists():
            return
        kind = self.rng.choice(("file", "folder", "backup", "backup"))
        to = office.folder / "copies" / f"{kind}-{self._name()}"
        if kind == "folder":
            shutil.copytree(office.ledger.parent, to)
        elif kind == "file":
            to.mkdir()
            shutil.copyfile(office.ledger, to / "o.ledger")
        else:
            to.mkdir()
            self._run("ledger", "backup", to / "o.ledger")
            if not (to / "o.ledger").exists():
                return
            looked = office.voucher("ledger", "check", "--ledger", to / "o.ledger")
            if "Sound" not in looked.out or "Gap" not in looked.out:
                raise Wrong(f"a backup that is none: {looked}")
        office.copies.append(to)
        self._issued_at[to] = len(office.carrier.vouchers)
        office.done.append(f"a copy is made: {to.name}")

    def _export(self) -> None:
        """The ledger is exported for auditors; a file under that name is a whole one."""
        path = self.office.folder / "copies" / f"export-{self._name()}.xlsx"
        ran = self._run("ledger", "export", path)
        if path.exists():
            openpyxl.load_workbook(path, read_only=True).close()
        elif ran.code == 0:
            raise Wrong("an export that wrote nothing")

    def _put_back(self) -> None:
        """An earlier copy is put in the ledger's place, or used from another folder."""
        office, rng = self.office, self.rng
        if not office.copies:
            return
        copy = rng.choice(office.copies)
        if len(office.carrier.vouchers) == self._issued_at[copy]:  # so that it lacks something
            self._more()
            self._issue(quietly=True)
        how = rng.choice(("in place", "in place, without .lock", "elsewhere"))
        self._replace(copy, how)
        new = how != "in place" and not copy.name.startswith("folder") and rng.random() < 0.4
        if new:  # another machine, or a new disk: what the program kept for this user is gone, too
            shutil.rmtree(office.home)
            office.home.mkdir()
            office.copies = [kept for kept in office.copies if not kept.name.startswith("folder")]
        office.put_back = True
        office.done.append(f"{copy.name} is put back {how}{', on a new machine' * new}")
        if rng.random() < 0.6:
            self._issue(quietly=rng.random() < 0.5)

    def _replace(self, copy: Path, how: str) -> None:
        office = self.office
        books = office.ledger.parent
        if how == "elsewhere":
            books = office.desk / f"books-{self._name()}"
            books.mkdir()
            office.ledger = books / "o.ledger"
        keeps_lock = how == "in place" and not copy.name.startswith("folder")
        for path in books.iterdir():
            if not (keeps_lock and path.name.endswith(".lock")):
                path.unlink()
        for path in copy.iterdir():
            shutil.copyfile(path, books / path.name)

    # -- what must be so

    def _check(self) -> None:
        """After every command."""
        office = self.office
        if twice := office.carrier.twice():
            raise Wrong(f"issued twice: {twice}")
        if office.put_back:
            return
        if lacking := office.lacks():
            raise Wrong(f"lost: {lacking}")
        if not self._misled and (other := self._misnamed()):
            raise Wrong(f"another number: {other}")

    def _misnamed(self) -> list[str]:
        """What the ledger calls issued under a number that the carrier did not give it."""
        numbers = {(charge, v.number) for v in self.office.carrier.vouchers for charge in v.charges}
        return [
            f"{charge} is issued as {held.number} in the ledger, which it is not at the carrier"
            for charge, held in self.office.held().items()
            if held.state == "issued" and not held.elsewhere and (charge, held.number) not in numbers
        ]

    # -- the end

    def _make_good(self) -> None:
        """True statements and right answers, until there is nothing more to do; and what must be so then."""
        office = self.office
        for _ in range(_ROUNDS):
            ran = self._round()
            settled = (self._misled or not office.unknown()) and not office.has_gap()
            if ran.code in (0, 1, *(4,) * self._misled) and not office.carrier.requests and settled:
                break
        else:
            raise Wrong(
                f"it comes to no end: {office.unknown()} unknown, gap {office.has_gap()}, {office.lacks()[:3]}"
            )
        if office.lacks() or office.has_gap() or (office.unknown() and not self._misled):
            raise Wrong(
                f"left at the end: {office.lacks()}, {office.unknown()} unknown, gap {office.has_gap()}"
            )
        checked = office.voucher("ledger", "check")
        if checked.code != 0:
            raise Wrong(f"voucher ledger check: {checked.out} {checked.err}")
        self._check_everything()

    def _round(self) -> Ran:
        """What a careful person does: everything that the program asks for, and then they issue; what became of that."""
        office = self.office
        self._told(self._issue(quietly=True))
        if office.unknown() or office.has_gap():
            office.wait(office.hours + 30)
            self._told(self._run("reconcile", *self._whole().arguments, quietly=True))
            for sheet in [path for path, asked in office.sheets.items() if asked][-2:]:
                if office.unknown() and (file := evidence.answered(office, sheet, slips=False)):
                    self._run("reconcile", "--resolved", file, quietly=True)
            if office.has_gap() and not office.lacks():
                self._run(
                    "ledger", "close-gap", "--evidence", "the carrier's statement of today", quietly=True
                )
        office.put_back = office.put_back and bool(office.has_gap() or office.lacks())
        return self._issue(quietly=True)

    def _whole(self) -> evidence.Given:
        return evidence.true_statement(self.office, self._name())

    def _told(self, ran: Ran) -> None:
        """Do what the program asks for where it refuses to go on."""
        office = self.office
        if "elsewhere" in ran.err and "-wal" in ran.err:
            wal = office.ledger.with_name("o.ledger-wal")
            if wal.exists():
                wal.rename(office.folder / "copies" / f"wal-{self._name()}")
        if "mark-gap" in ran.err:
            office.put_back = True
            marked = self._run("ledger", "mark-gap", "--why", "it was put back", quietly=True)
            if marked.code != 0:
                self._run(
                    "ledger",
                    "mark-gap",
                    "--why",
                    "it was put back",
                    "--since",
                    str(office.start.date()),
                    quietly=True,
                )

    def _check_everything(self) -> None:
        """Every charge that can be issued is, once."""
        office = self.office
        issued = Counter(charge for v in office.carrier.vouchers if not v.reversed for charge in v.charges)
        again = office.voucher("check", *office.workbooks)
        if re.search(r"(?m)^ +ready ", again.err):
            raise Wrong(f"something is ready to be sent still: {again.err}")
        if not issued:
            raise Wrong("nothing was issued at all")

    def _name(self) -> str:
        self._names += 1
        return f"{self._names:02}"


def takes_clock(arguments: Sequence[str | Path]) -> bool:
    """Whether a command can be told that the clock is right."""
    return arguments[0] in ("issue", "reconcile")


def about_of(seed: int) -> str:
    """What a seed's life is about."""
    return Random(f"about {seed}").choice(list(_ABOUT))


def lived(seed: int, folder: Path, forks: Forks, carrier: Carrier) -> tuple[Office, str]:
    """One life; what was wrong with it, "" for nothing."""
    rng = Random(f"end to end {seed}")
    place = folder / f"seed-{seed}"
    shutil.rmtree(place, ignore_errors=True)
    office = Office(place, forks, carrier, rng, rng.choice((0, 0, 2, 24)))
    try:
        _Life(office, rng, about_of(seed)).live()
    except Wrong as wrong:
        return office, str(wrong)
    except Exception:  # noqa: BLE001 - a defect of the harness, or of the program, is told with its seed
        return office, traceback.format_exc()
    shutil.rmtree(place)
    return office, ""


def sweep(seeds: Sequence[int], folder: Path, tell: Callable[[str], None], most: int = 20) -> list[str]:
    """Live these lives; the violations, at most so many."""
    violations: list[str] = []
    counted: Counter[str] = Counter()
    with Forks(failpoint.compiled(folder)) as forks, Carrier() as carrier:
        for seed in seeds:
            office, wrong = lived(seed, folder, forks, carrier)
            counted["lives"] += 1
            counted["commands"] += sum(step.startswith("voucher") for step in office.done)
            counted["vouchers"] += len(carrier.vouchers)
            counted["killed"] += sum("): -9 " in step for step in office.done)
            counted["put back"] += sum("is put back" in step for step in office.done)
            counted["statements"] += sum(step.startswith("statement:") for step in office.done)
            if wrong:
                violations.append(f"seed {seed}: {wrong}")
                tell("\n  ".join([f"VIOLATION seed {seed}: {wrong}", *office.done]))
            if len(violations) >= most:
                break
    tell(f"{', '.join(f'{count} {what}' for what, count in counted.items())}; {len(violations)} violations")
    return violations


def main(arguments: Sequence[str] | None = None) -> int:
    """The long form; 1 where something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.end_to_end", description=__doc__)
    parser.add_argument("--seeds", default="0..100", help="FROM..TO, both of them too")
    parser.add_argument(
        "--folder", type=Path, help="where the lives take place; what went wrong is left there"
    )
    parser.add_argument("--about", choices=list(_ABOUT), help="only the lives that are about this")
    parser.add_argument("--most", type=int, default=20, help="violations, after which it ends")
    given = parser.parse_args(arguments)
    first, last = map(int, given.seeds.split(".."))
    seeds = [seed for seed in range(first, last + 1) if given.about in (None, about_of(seed))]
    folder = given.folder or Path(tempfile.mkdtemp(prefix="end-to-end-"))
    folder.mkdir(parents=True, exist_ok=True)
    return bool(sweep(seeds, folder, _told, given.most))


def _told(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(main())
