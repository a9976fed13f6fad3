"""What a command ends with, for cron and scripts (interface.md, Exit codes)."""

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
