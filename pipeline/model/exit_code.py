"""What a command ends with, for cron and scripts (interface.md, Exit codes); what a row's status asks for is in `status`."""

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes, each worse than the one before it: of those that apply the highest wins.

    >>> max(ExitCode.NEEDS_PERSON, ExitCode.STOPPED.where(["a problem"]), ExitCode.UNKNOWN.where([]))
    <ExitCode.STOPPED: 3>
    """

    DONE = 0  # every row is issued (check: or is ready)
    NEEDS_PERSON = 1  # the run finished; something needs a person
    WRONG_USAGE = 2  # or an unreadable workbook or profile: nothing was sent
    STOPPED = 3  # early, or retries used up; running the same command again is safe
    UNKNOWN = 4  # an outcome is unknown: reconcile

    def where(self, applies: object) -> "ExitCode":
        """The code where that is true, or anything is in it; else DONE."""
        return self if applies else ExitCode.DONE


def of_run(rows: Iterable[ExitCode], *, stopped: object, differs: object) -> ExitCode:
    """What a run ends with: the worst of its rows' statuses, where it stopped early, where something differs from what is issued."""
    return max(ExitCode.STOPPED.where(stopped), ExitCode.NEEDS_PERSON.where(differs), *rows)


def of_reconciliation(run: ExitCode, unknown: object, *needs_person: object) -> ExitCode:
    """What a reconciliation ends with: its run's, where outcomes are unknown anywhere in the ledger, where anything needs a person."""
    return max(run, ExitCode.UNKNOWN.where(unknown), ExitCode.NEEDS_PERSON.where(any(needs_person)))


def where_written(code: ExitCode, problems: object) -> ExitCode:
    """The same, or worse where a result could not be written: running again is safe."""
    return max(code, ExitCode.STOPPED.where(problems))
