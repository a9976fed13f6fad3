"""The words for the page's work and the ledger's runs: what each kind is, and what an exit code means."""

from pipeline.model.exit_code import ExitCode
from pipeline.model.message import Message, message

KIND = {
    "judge": message("read and judged"),
    "survey": message("looked at the headings"),
    "send": message("sending of vouchers"),
    "result": message("result as it stood"),
    "reconcile": message("reconciliation"),
    "collect": message("itinerary files collected"),
    "register": message("register"),
    "ledger_check": message("ledger looked over"),
    "backup": message("backup"),
    "gap": message("gap"),
    "issue": message("sending of vouchers"),
}
EXIT = {
    ExitCode.DONE: message("done"),
    ExitCode.NEEDS_PERSON: message("done; something needs a person"),
    ExitCode.WRONG_USAGE: message("nothing was done"),
    ExitCode.STOPPED: message("stopped early, or something is wrong; doing the same again is safe"),
    ExitCode.UNKNOWN: message("an outcome is unknown: ask the carrier"),
}
#: How somebody had a hand in a run.
ROLE = {
    "prepared": message("prepared"),
    "proposed": message("proposed"),
    "approved": message("approved"),
    "sent": message("begun"),
    "reconciled": message("begun"),
    "stopped": message("stopped"),
}
#: The badge that an exit code is shown with (page.css).
TONE = {
    ExitCode.DONE: "issued",
    ExitCode.NEEDS_PERSON: "waiting",
    ExitCode.WRONG_USAGE: "invalid",
    ExitCode.STOPPED: "invalid",
    ExitCode.UNKNOWN: "unknown",
}


def kind_word(kind: str) -> Message:
    """What a piece of work, or a run of the ledger's, is."""
    return KIND.get(kind, Message(kind))


def exit_word(code: int | None) -> Message:
    """What it ended with; None: it was killed."""
    return message("killed") if code is None else EXIT[ExitCode(code)]


def exit_tone(code: int | None) -> str:
    """The badge of what it ended with."""
    return "invalid" if code is None else TONE[ExitCode(code)]


def role_word(role: str) -> Message:
    """How somebody had a hand in a run."""
    return ROLE.get(role, Message(role))
