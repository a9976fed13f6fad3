"""The exceptions that stop a run, each with the exit code that it ends in.

Findings about rows and outcomes of requests are data (see `table.Finding` and `carrier.replies`), never
exceptions. An exception's text is one line for the person at the keyboard: it names the file, sheet,
cell or key, and the cure.
"""

from pipeline.model.exit_code import ExitCode
from pipeline.model.message import Fact, Message


class Stop(Exception):
    """A run can't go on; `exit_code` is what it ends in. `message` says why and what puts it right.

    Made of a text of ours with the facts at its places, or of a message that is there already.
    """

    exit_code = ExitCode.STOPPED

    def __init__(self, text: str | Message, /, **facts: Fact) -> None:
        self.message = text if isinstance(text, Message) else Message(text, facts)
        super().__init__(self.message)

    def __str__(self) -> str:
        return str(self.message)


class InputProblem(Stop):
    """Wrong usage, an unreadable workbook or profile, a missing key: nothing was sent."""

    exit_code = ExitCode.WRONG_USAGE


class LedgerProblem(Stop):
    """The ledger is locked, or can't be read or written: running the same command again is safe."""


class LedgerInUse(LedgerProblem):
    """Another run is using the ledger."""


class Declined(Stop):
    """The person at the terminal saw the plan and said no."""
