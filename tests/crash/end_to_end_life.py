"""A life of the end-to-end harness: what people do with the program, step by step, and what must be so after every command.

Which steps come in which order is in `end_to_end_stories`; here is what each of them is. Whatever is left to chance, a story may say.
"""

import datetime
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import openpyxl

from tests.crash import end_to_end_evidence as evidence
from tests.crash.end_to_end_carrier import FAULTS, Voucher
from tests.crash.end_to_end_office import Office
from tests.crash.forked import Ran

_ROUNDS = 8  # of making good at the end, at most
#: Faults that leave a doubt.
DOUBTFUL = [name for name, (_, answer, _twice) in FAULTS.items() if answer in ("", "503", "?", "front")]
#: How often a step is struck by something, of each kind.
_KILLED, _CLOCK = 0.15, 0.07


class Wrong(Exception):
    """Something that must never be."""


class Life:
    """One life of an office."""

    def __init__(self, office: Office) -> None:
        self.office, self.rng = office, office.rng
        self.struck = 0.3  # how likely a run is struck by one fault nearly always
        self.killed, self.clock = _KILLED, _CLOCK
        self._names = 0
        self._issued_at: dict[Path, int] = {}  # how many vouchers there were when a copy was made
        self._misled = False  # a statement with mistakes was given: numbers may be settled wrongly
        self._clock_is_right = False  # what the program has asked for, and is true
        self._mistaken: list[Path] = []  # answers that were withdrawn

    # -- commands

    def run(
        self,
        *arguments: str | Path,
        quietly: bool = False,
        faults: Mapping[str, float] | None = None,
        only: str = "",
        error: float | None = None,
        concurrency: int = 0,
        killed_at: int = 0,
    ) -> Ran:
        """A command, with what may befall it; and what must be so after it.

        `error`: by how many seconds its clock is ahead; `killed_at`: before which of its calls on sockets it is killed.
        """
        rng = self.rng
        concurrency, kill_at = concurrency or rng.choice((1, 1, 4, 16)), killed_at
        if not quietly:
            if faults is None:
                faults, only = self._faults()
            if not killed_at and rng.random() < self.killed and self.office.begun:
                kill_at = int(2 ** rng.uniform(1, 9.5))
            if error is None:
                error = self._clock() if arguments[0] != "ledger" else 0.0
        error = error or 0.0
        right = (
            ("--clock-is-right",)
            if self._clock_is_right and abs(error) < 3600 and arguments[0] in ("issue", "reconcile")
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
            in_traffic=bool(killed_at),
        )
        if "--clock-is-right" in ran.err and abs(error) < 3600:
            self._clock_is_right = True
        self._check()
        return ran

    def _faults(self) -> tuple[dict[str, float], str]:
        """What may befall a run's requests: a few things now and then, or one nearly always; of both kinds, or of one."""
        rng = self.rng
        only = rng.choice(("", "", "invoice", "itinerary"))
        if rng.random() < self.struck:
            return {rng.choice(rng.choice((DOUBTFUL, list(FAULTS)))): rng.choice((0.4, 0.7, 1.0))}, only
        names = rng.sample(list(FAULTS), k=rng.choice((0, 2, 4)))
        return {name: rng.choice((0.05, 0.1, 0.2)) for name in names}, only

    def _clock(self) -> float:
        """By how many seconds the program's clock is ahead."""
        rng, office = self.rng, self.office
        if rng.random() >= self.clock:
            return rng.choice((0, 0, rng.uniform(-1500, 1500)))
        hours = rng.choice((3, 30, 24 * 400))
        if rng.random() < 0.5:
            office.wrong_clock = True
            return hours * 3600.0
        last = office.last_entry()
        if last is None:
            return 0.0
        return min(0.0, (last - office.now()).total_seconds() - hours * 3600)

    def issue(
        self,
        *,
        quietly: bool = False,
        everything: bool = False,
        faults: Mapping[str, float] | None = None,
        only: str = "",
        error: float | None = None,
        concurrency: int = 0,
        killed_at: int = 0,
    ) -> Ran:
        """Somebody issues some of the workbooks, or all of them."""
        office = self.office
        some = (
            office.workbooks
            if quietly or everything
            else self.rng.sample(office.workbooks, self.rng.randrange(len(office.workbooks)) + 1)
        )
        first = () if office.begun else ("--new-ledger",)
        ran = self.run(
            "issue",
            *some,
            *first,
            quietly=quietly,
            faults=faults,
            only=only,
            error=error,
            concurrency=concurrency,
            killed_at=killed_at,
        )
        office.begun = office.begun or office.ledger.exists()
        return ran

    # -- workbooks

    def more(self, count: int = 0) -> None:
        """More rows come: a second workbook, or in one that is there."""
        office, rows = self.office, self.office.month(count or self.rng.randrange(5, 12))
        if len(office.workbooks) < 2:
            office.add_workbook(rows)
        else:
            path = self.rng.choice(office.workbooks)
            office.write(path, office.rows[path] + rows)

    def correct(self) -> None:
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

    # -- evidence

    def statement(
        self, given: evidence.Given | None = None, *, alone: bool = False, quietly: bool = False
    ) -> None:
        """A reconciliation with a statement: any honest one, unless it is given."""
        given = given or evidence.any_statement(self.office, self.name())
        self._misled = self._misled or given.wrong
        self.office.done.append(f"statement: {given.what}")
        with_rows = self.office.workbooks if not alone and self.rng.random() < 0.4 else []
        self.run("reconcile", *with_rows, *given.arguments, quietly=quietly)

    def answers(self) -> None:
        """Answers on a sheet, the newest or an old one; sometimes the same twice, or beside a statement."""
        office = self.office
        sheets = [sheet for sheet, asked in office.sheets.items() if asked]
        if not sheets:
            return
        sheet = sheets[-1] if self.rng.random() < 0.4 else self.rng.choice(sheets)
        file = evidence.answered(office, sheet, slips=self.rng.random() < 0.3)
        if file is None:
            return
        more = evidence.any_statement(office, self.name()) if self.rng.random() < 0.2 else None
        self._misled = self._misled or bool(more and more.wrong)
        for _ in range(self.rng.choice((1, 1, 2))):
            self.run("reconcile", "--resolved", file, *(more.arguments if more else ()))

    def old_answers(self) -> None:
        """What was asked before a ledger was put back is answered now, as it was."""
        for sheet in [sheet for sheet, asked in self.office.sheets.items() if asked]:
            if file := evidence.answered(self.office, sheet):
                self.run("reconcile", "--resolved", file, quietly=True)

    def mistake(self) -> None:
        """Answers the wrong way round; whoever gave them notices at once or later, and withdraws them (`notice`)."""
        office = self.office
        sheets = [sheet for sheet, asked in office.sheets.items() if asked]
        if not office.carrier.refuses_again or not sheets:  # else what is said by mistake is issued again
            return
        if file := evidence.answered(office, sheets[-1], mistaken=True):
            self.run("reconcile", "--resolved", file, quietly=True)
            self._mistaken.append(file)

    def notice(self) -> None:
        """What was settled by mistake is withdrawn, by the name that the history has for it."""
        office = self.office
        for entry, charges in office.wrongly_settled():
            told = office.voucher("history", min(charges)[0])
            if not re.search(rf"\b{entry}\b", told.out):
                raise Wrong(f"the history of {min(charges)[0]} does not name {entry}: {told.out}")
            why = ("--why", "another agency's list")
            if self.run("ledger", "withdraw", entry, *why, quietly=True).code == 0:
                # It was noticed in time: nothing may be sent because of it any more.
                office.mistaken -= Counter(
                    one for one in charges if office.mistaken[one] > office.carrier.again[one]
                )

    def same_again(self) -> None:
        """A file of answers that were withdrawn lies there still, and is given once more."""
        for file in self._mistaken:
            self.run("reconcile", "--resolved", file, quietly=True)

    def inbox(self) -> None:
        """A night from cron: workbooks, answers and a statement lie in the inbox."""
        office = self.office
        inbox, outbox = office.desk / "in", office.desk / "out"
        for folder in (inbox, outbox):
            folder.mkdir(exist_ok=True)
        for path in office.workbooks:
            shutil.copy2(path, inbox / path.name)
        if self.rng.random() < 0.5:
            given = evidence.any_statement(office, self.name())
            self._misled = self._misled or given.wrong
            shutil.copy2(given.arguments[1], inbox)
        for sheet in self.rng.sample(list(office.sheets), min(1, len(office.sheets))):
            if file := evidence.answered(office, sheet, slips=self.rng.random() < 0.3):
                shutil.copy2(file, inbox)
        for path in inbox.iterdir():
            office.touch(
                path, min(office.now(), office.now().fromtimestamp(path.stat().st_mtime, office.now().tzinfo))
            )
        self.run("reconcile", "--inbox", inbox, "--outbox", outbox)

    # -- reversals

    def reverse(self) -> None:
        """The carrier takes a voucher back, all of it or in part; that is recorded by hand, or comes to light by its statement."""
        office, rng = self.office, self.rng
        known = {held.number for held in office.held().values() if held.state == "issued"}
        told = [one for one in office.carrier.vouchers if one.number in known and one.counting]
        if not told:
            return
        several = [one for one in told if len(one.counting) > 1]
        kind = rng.choice(("all", "all", "a charge", "an amount"))
        voucher = rng.choice(several or told) if kind != "all" else rng.choice(told)
        charge = rng.choice(sorted(voucher.counting))
        if kind == "a charge" and len(voucher.counting) > 1:
            office.carrier.reverse_charge(voucher, charge)
        elif kind != "all":
            office.carrier.reverse_amount(voucher, charge, "10.00")
        else:
            office.carrier.reverse(voucher)
        office.done.append(
            f"the carrier takes back {kind} of {voucher.number} ({len(voucher.charges)} charges)"
        )
        if kind == "all" and rng.random() < 0.5 and not office.put_back:
            self.run("ledger", "reverse", voucher.number, "--evidence", "the carrier's red invoice")
        else:
            self.statement(evidence.true_statement(office, self.name(), complete=rng.random() < 0.5))

    def reverse_by_mistake(self) -> None:
        """A reversal is recorded of a voucher that was not taken back; whoever did it notices, and withdraws it."""
        office = self.office
        known = {
            held.number for held in office.held().values() if held.state == "issued" and not held.elsewhere
        }
        told = [one for one in office.carrier.vouchers if one.number in known and one.counting == one.charges]
        if not told or office.put_back:
            return
        voucher: Voucher = self.rng.choice(told)
        ran = office.voucher("ledger", "reverse", voucher.number, "--evidence", "an e-mail")
        entry = re.search(r"\((R[0-9]+)\)", ran.err + ran.out)
        if ran.code == 0 and entry is None:
            raise Wrong(f"a reversal without a name: {ran}")
        if entry:
            office.voucher("ledger", "withdraw", entry[1], "--why", "another agency's e-mail")
        self._check()

    # -- copies

    def copy(self, kind: str = "") -> None:
        """Somebody keeps a copy: of the file, of the folder, of the machine, or by `voucher ledger backup`."""
        office = self.office
        if not office.ledger.exists():
            return
        kind = kind or self.rng.choice(("file", "folder", "snapshot", "backup", "backup"))
        to = office.folder / "copies" / f"{kind}-{self.name()}"
        if kind in ("folder", "snapshot"):
            shutil.copytree(office.ledger.parent, to)
            if kind == "snapshot":
                shutil.copytree(office.home, to / "home")
        elif kind == "file":
            to.mkdir()
            shutil.copyfile(office.ledger, to / "o.ledger")
        else:
            to.mkdir()
            self.run("ledger", "backup", to / "o.ledger")
            if not (to / "o.ledger").exists():
                return
            looked = office.voucher("ledger", "check", "--ledger", to / "o.ledger")
            if "Sound" not in looked.out or "Gap" not in looked.out:
                raise Wrong(f"a backup that is none: {looked}")
        self._kept(to)

    def _kept(self, copy: Path) -> None:
        office = self.office
        office.copies.append(copy)
        self._issued_at[copy] = len(office.carrier.vouchers)
        office.done.append(f"a copy is made: {copy.name}")

    def put_back(self, how: str = "") -> None:
        """An earlier copy is put in the ledger's place, or used from another folder."""
        office, rng = self.office, self.rng
        if not office.copies:
            return
        copy = rng.choice(office.copies)
        if len(office.carrier.vouchers) == self._issued_at[copy]:  # so that it lacks something
            self.more()
            self.issue(quietly=True)
        snapshot = copy.name.startswith("snapshot")
        how = how or rng.choice(("in place", "in place, without .lock", "elsewhere"))
        self._replace(copy, how)
        # Another machine, or a new disk: what the program kept for this user is gone, too.
        new = not snapshot and rng.random() < 0.5
        if new and rng.random() < 0.5:  # which has no such second disk
            office.second = None
        if new or snapshot:
            shutil.rmtree(office.home)
            if snapshot:
                shutil.copytree(copy / "home", office.home)
            else:
                office.home.mkdir()
        office.put_back = True
        office.done.append(f"{copy.name} is put back {how}{', on a new machine' * new}")
        if snapshot and not office.second:  # nothing on the machine can tell: whoever did it says so
            office.voucher("ledger", "mark-gap", "--why", "a snapshot of the machine was put back")
        if rng.random() < 0.6:
            self.issue(quietly=rng.random() < 0.5)

    def _replace(self, copy: Path, how: str) -> None:
        office = self.office
        books = office.ledger.parent
        if how == "elsewhere":
            books = office.desk / f"books-{self.name()}"
            books.mkdir()
            office.ledger = books / "o.ledger"
        keeps_lock = how == "in place" and copy.name.startswith(("file", "backup", "upgrade"))
        for path in books.iterdir():
            if not (keeps_lock and path.name.endswith(".lock")):
                path.unlink()
        for path in copy.iterdir():
            if path.is_file():
                shutil.copyfile(path, books / path.name)

    def upgrade(self) -> None:
        """From now on a newer version of the program is used: the ledger is upgraded, and a copy of it is left beside it."""
        office, rng = self.office, self.rng
        if not office.ledger.exists():
            return
        office.versions_later += 1
        wal = office.ledger.with_name("o.ledger-wal")
        at_rest = not (wal.exists() and wal.stat().st_size)
        kinds = ("as it lay there", "as it lay there", "moved here", "without notes")
        kind = rng.choice(kinds if at_rest else kinds[:1])
        if kind != "as it lay there":
            office.ledger.with_name("o.ledger.lock").unlink(missing_ok=True)
        if kind == "without notes":
            shutil.rmtree(office.home)
            office.home.mkdir()
            for path in office.second.iterdir() if office.second else ():
                path.unlink()
        office.done.append(f"from now on {office.versions_later} versions later ({kind})")
        self.told(self.issue(quietly=True))
        self.issue(quietly=True)
        for beside in sorted(office.ledger.parent.glob("o.ledger.version-*")):
            if beside.suffix.startswith(".version") and not beside.name.endswith(("-wal", "-shm", ".lock")):
                to = office.folder / "copies" / f"upgrade-{self.name()}"
                to.mkdir()
                shutil.copyfile(beside, to / "o.ledger")
                self._kept(to)

    def export(self) -> None:
        """The ledger is exported for auditors; a file under that name is a whole one."""
        path = self.office.folder / "copies" / f"export-{self.name()}.xlsx"
        ran = self.run("ledger", "export", path)
        if path.exists():
            openpyxl.load_workbook(path, read_only=True).close()
        elif ran.code == 0:
            raise Wrong("an export that wrote nothing")

    # -- what must be so

    def _check(self) -> None:
        """After every command."""
        office = self.office
        if twice := office.carrier.twice():
            raise Wrong(f"issued twice: {twice}")
        if again := office.carrier.again - office.mistaken:
            raise Wrong(f"sent again, and refused by the carrier as issued already: {again}")
        if office.put_back:
            return
        if lacking := office.lacks(mistakes=False):
            raise Wrong(f"lost: {lacking}")
        if not self._misled and (other := self._misnamed(office.made_up)):
            raise Wrong(f"another number: {other}")

    def _misnamed(self, but_for: set[str]) -> list[str]:
        """What the ledger calls issued under a number that the carrier did not give it."""
        numbers = {(charge, one.number) for one in self.office.carrier.vouchers for charge in one.charges}
        return [
            f"{charge} is issued as {held.number} in the ledger, which it is not at the carrier"
            for charge, held in self.office.held().items()
            if held.state == "issued"
            and not held.elsewhere
            and held.number not in but_for
            and (charge, held.number) not in numbers
        ]

    # -- the end

    def make_good(self) -> None:
        """True statements and right answers, until there is nothing more to do; and what must be so then."""
        office = self.office
        for _ in range(_ROUNDS):
            ran = self.care()
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
        if not self._misled and (other := self._misnamed(set())):
            raise Wrong(f"another number at the end: {other}")
        checked = office.voucher("ledger", "check")
        if checked.code != 0:
            raise Wrong(f"voucher ledger check: {checked.out} {checked.err}")
        self._check_everything()

    def care(self) -> Ran:
        """What a careful person does: everything that the program asks for, and then they issue; what became of that."""
        self.told(self.issue(quietly=True))
        self.settle()
        return self.issue(quietly=True)

    def settle(self) -> None:
        """Everything that is unknown or missing is settled, and what was said by mistake is withdrawn."""
        office = self.office
        self.notice()
        if office.unknown() or office.has_gap():
            office.wait(office.hours + 30)
            ran = self.run("reconcile", *self._whole().arguments, quietly=True)
            self.told(ran)
            if (
                ran.code in (0, 1, 4)
                and not self._misled
                and not office.has_gap()
                and (left := office.unsettled())
            ):
                raise Wrong(f"a true statement lists these, and they are unknown still: {left}; {ran.err}")
            for sheet in [path for path, asked in office.sheets.items() if asked][-2:]:
                if office.unknown() and (file := evidence.answered(office, sheet)):
                    self.run("reconcile", "--resolved", file, quietly=True)
            self.notice()
            if office.has_gap() and not office.lacks():
                close = ("ledger", "close-gap", "--evidence", "the carrier's statement of today")
                # A line of an earlier statement could not be read, and the one of today is whole and true.
                if "say --yes" in self.run(*close, quietly=True).err:
                    self.run(*close, "--yes", quietly=True)
        office.put_back = office.put_back and bool(office.has_gap() or office.lacks())

    def _whole(self) -> evidence.Given:
        return evidence.true_statement(self.office, self.name())

    def told(self, ran: Ran) -> None:
        """Do what the program asks for where it refuses to go on."""
        office = self.office
        if "elsewhere" in ran.err and "-wal" in ran.err:
            wal = office.ledger.with_name("o.ledger-wal")
            if wal.exists():
                wal.rename(office.folder / "copies" / f"wal-{self.name()}")
        if "--nothing-missing" in ran.err and not office.put_back and self.rng.random() < 0.5:
            why = ("--nothing-missing", "--why", "it is the latest, and was moved here")
            if self.run("ledger", "mark-gap", *why, quietly=True).code == 0:
                return
        if "mark-gap" in ran.err:
            office.put_back = True
            marked = self.run("ledger", "mark-gap", "--why", "it was put back", quietly=True)
            if marked.code != 0:
                since = str(office.start.date())
                self.run("ledger", "mark-gap", "--why", "it was put back", "--since", since, quietly=True)

    def _check_everything(self) -> None:
        """Every charge that can be issued is, once."""
        office = self.office
        issued = Counter(charge for one in office.carrier.vouchers for charge in one.counting)
        again = office.voucher("check", *office.workbooks)
        if re.search(r"(?m)^ +ready ", again.err):
            raise Wrong(f"something is ready to be sent still: {again.err}")
        if not issued:
            raise Wrong("nothing was issued at all")

    def name(self) -> str:
        """A name for a file, which no other has."""
        self._names += 1
        return f"{self._names:02}"

    def midnight(self, minutes: float) -> None:
        """Wait until so many minutes after the carrier's next midnight."""
        office = self.office
        now = office.now().astimezone(evidence.CHINA)
        day = datetime.datetime.combine(
            now.date() + datetime.timedelta(days=1), datetime.time(), evidence.CHINA
        )
        moment = day + datetime.timedelta(minutes=minutes)
        office.wait((moment - now).total_seconds() / 3600)
