"""What PostgreSQL, or the ledger's own functions, refuse something for: told by SQLSTATE, never by words.

Codes: postgresql.org/docs/current/errcodes-appendix.html; VP001 to VP011 are ours (sql/functions.sql).
"""

import contextlib
from collections.abc import Iterator

import psycopg

from pipeline.model.errors import LedgerProblem
from pipeline.model.message import N_, message

#: The turn met another one and is undone; it may be done again as it was.
AGAIN = frozenset({"40001", "40P01"})
#: Of a worker that may claim nothing more.
GONE = N_(
    "the ledger's server counts this machine as gone, as it did not hear of it in time or was told so ({why}); run the same command again"
)


class Refused(LedgerProblem):
    """What was asked would break a rule, or another has it already; nothing was changed."""


class WorkerGone(LedgerProblem):
    """The worker was silent for too long, was declared dead, or has left: it claims nothing more, and what it knows goes by `late`."""


class TurnOpen(LedgerProblem):
    """A turn before this one was not acknowledged: what it may have claimed is given back first."""


class ClaimsShut(LedgerProblem):
    """Nothing is claimed for now: the server was started anew, or the ledger has a gap."""


class LedgerGap(ClaimsShut):
    """The ledger has a gap, until somebody says what shows that nothing is missing."""


class LedgerLacks(LedgerProblem):
    """The ledger does not have what it had told a worker: an older copy was put in its place."""


class ServerAway(LedgerProblem):
    """The server can't be reached, or went away; what was asked may have been done or not."""


_OURS: dict[str, tuple[type[LedgerProblem], str]] = {
    "VP001": (Refused, N_("the ledger refuses what would break its rules ({why})")),
    "VP002": (
        LedgerProblem,
        N_("the server may lose what it has acknowledged ({why}); set that right in postgresql.conf"),
    ),
    "VP003": (LedgerGap, N_("the ledger may lack something ({why}); compare the carrier's statement first")),
    "VP004": (WorkerGone, GONE),
    "VP005": (TurnOpen, N_("a turn of this worker was not acknowledged ({why})")),
    "VP006": (Refused, N_("that is no evidence yet ({why})")),
    "VP007": (ClaimsShut, N_("the server was started anew, and nothing is claimed for now ({why})")),
    "VP008": (LedgerLacks, N_("the ledger does not know that ({why}); an older copy may be in its place")),
    "VP009": (LedgerLacks, N_("the ledger lacks what it had told ({why}); an older copy is in its place")),
    "VP010": (Refused, N_("the ledger refuses what would break its rules ({why})")),
    "VP011": (
        Refused,
        N_(
            "no ledger can be made in this database ({why}); CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'"
        ),
    ),
}


@contextlib.contextmanager
def as_problem() -> Iterator[None]:
    """Turn what PostgreSQL raises into a problem of ours; without its words where they may hold an address or a password."""
    try:
        yield
    except psycopg.Error as error:
        raise problem_of(error) from None


def problem_of(error: psycopg.Error) -> LedgerProblem:
    """What an error means."""
    code = error.sqlstate or ""
    why = error.diag.message_primary or ""
    if code in _OURS:
        kind, text = _OURS[code]
        return kind(text, why=why)
    if code.startswith("23"):
        return Refused(
            "the ledger refuses what would break its rules ({why})", why=error.diag.constraint_name or why
        )
    if code == "42501":
        return LedgerProblem(
            "this role may not do that in the ledger ({why}); it takes one of {roles}",
            why=why,
            roles="voucher_issuer, voucher_worker, voucher_reader",
        )
    if not code or code.startswith(("08", "57P", "25P03")):
        return ServerAway(
            message("the ledger's server can't be reached, or went away; the same command again is safe")
        )
    return LedgerProblem("the ledger's server refuses ({code}: {why})", code=code, why=why)
