"""Opening a shared ledger: whether it is there and of this version, whose it is, and what a run has to put in order first."""

import contextlib
from collections.abc import Callable, Iterator
from functools import cache

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import request_body
from pipeline.ledger import handover
from pipeline.ledger.clock import utc_text
from pipeline.ledger.gaps import Gap, lacking
from pipeline.ledger.opening import check_owner
from pipeline.ledger.recovery import Meaning
from pipeline.ledger_postgresql.evidence_changes import check_settle_after
from pipeline.ledger_postgresql.known_workers import open_claims
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger, no_seal
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.server_schema import Right, about, check_right
from pipeline.ledger_postgresql.shared_recovery import put_in_order
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import from_text, message
from pipeline.model.profile import Owner
from pipeline.model.request import Request


@contextlib.contextmanager
def shared_to_read(address: str, owner: Owner | None, right: Right = "look") -> Iterator[PostgresqlLedger]:
    """A shared ledger for looking; `owner` None: whosever it is. Raises InputProblem where there is none."""
    with connected(address, owner, right) as connection:
        yield PostgresqlLedger(connection)


@contextlib.contextmanager
def shared_to_write(address: str, job: Job, watch: Watch, meaning: Meaning) -> Iterator[PostgresqlLedger]:
    """A shared ledger for a run, put in order; `meaning` interprets answers that nobody has come to read."""
    with connected(address, job.owner, "change") as connection:
        check_goes_on(connection)
        check_settle_after(job.profile, about(connection))
        most = job.profile.submission.concurrency
        with contextlib.ExitStack() as until_its_end:

            @cache
            def sender() -> SharedWriter:
                return until_its_end.enter_context(
                    contextlib.closing(SharedWriter(address, watch.note, most))
                )

            ledger = PostgresqlLedger(connection, _seal(job), sender, most)
            watch.note(message("Ledger: {path}", path=ledger.name))
            put_in_order(connection, meaning, watch.note)
            open_claims(connection)
            yield ledger


@contextlib.contextmanager
def shared_to_change(address: str) -> Iterator[PostgresqlLedger]:
    """A shared ledger, whosever it is, for a change outside any run."""
    with connected(address, None, "change") as connection:
        check_goes_on(connection)
        yield PostgresqlLedger(connection)


@contextlib.contextmanager
def connected(address: str, owner: Owner | None, right: Right) -> Iterator[LedgerConnection]:
    """A connection to a database that holds a ledger of this version, of that owner (None: whosever it is), for one who may do that."""
    with contextlib.closing(connect(address)) as connection:
        check_right(connection, right)
        known = about(connection)
        if owner is not None:
            check_owner(connection.name, Owner(known.base_url, known.agency), owner)
        yield connection


def check_goes_on(connection: LedgerConnection) -> None:
    """Raise InputProblem for a ledger that was copied elsewhere, and for one into which a copy was not finished."""
    _open_gaps(connection)


def check_may_send(connection: LedgerConnection) -> None:
    """Raise InputProblem for a ledger with which nothing is sent, whatever is planned: as `check_goes_on`, and for one that has a gap."""
    if gaps := _open_gaps(connection):
        raise InputProblem(
            "{path}: {lacking}, so that nothing is sent with it. Compare it with the carrier's complete statement from then on, then say what"
            " that showed: voucher ledger close-gap",
            path=connection.name,
            lacking=lacking(gaps[0]),
        )


def _open_gaps(connection: LedgerConnection) -> list[Gap]:
    """The open gaps, that which begins first before the others; raises what `check_goes_on` does."""
    with as_problem():
        gaps = connection.execute("SELECT since, why FROM voucher.open_gaps()").fetchall()
        (copying,) = connection.execute("SELECT voucher.unfinished_copy_of()").fetchone() or (None,)
    handover.check_goes_on(connection.name, handover.successor(why for _, why in gaps))
    if copying:
        raise InputProblem(
            "{server}: {path} was being copied into it, and that was not finished; run that again: voucher ledger copy-to {server} --ledger {path}",
            server=connection.name,
            path=copying,
        )
    return [Gap(utc_text(since), from_text(why)) for since, why in gaps]


def _seal(job: Job) -> Callable[[Request], bytes]:
    """How a request's body is made, by the profile and the keys."""
    if job.secrets is None:
        return no_seal
    cipher = Cipher(job.secrets.encryption_key)
    return lambda request: request_body(request, job.profile, cipher)
