"""What a team does with a ledger that several machines share: make it, see who takes part, say what only a person can say."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg

from pipeline.ledger_postgresql import invitations, known_workers, server_schema
from pipeline.ledger_postgresql.known_workers import Claims, KnownWorker, named
from pipeline.ledger_postgresql.opening_shared import connected
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import NOTHING, Message, joined, message, verbatim
from pipeline.model.profile import Profile
from pipeline.model.server_address import server_name, shared_address

_SETTLED_AFTER = 24.0  # hours, where neither the option nor the profile says
_HOUR = 3600


@dataclass(frozen=True)
class Times:
    """The bounds of the fence as options give them: seconds, and hours (None: the profile's, or a day)."""

    send_within: float
    lease: float
    settle_after_hours: float | None


def bounds_for(profile: Profile, times: Times) -> Bounds:
    """The bounds of a new ledger. Raises InputProblem where they contradict what the profile says of statements."""
    of_profile = profile.reconcile.settle_after_hours
    given = times.settle_after_hours
    hours = next((each for each in (given, of_profile) if each is not None), _SETTLED_AFTER)
    if of_profile is not None and hours > of_profile:
        raise InputProblem(
            "--settle-after-hours {hours}: is more than settle_after_hours of the profile, {of_profile}; what that takes for a proof that"
            " nothing was issued, the ledger would refuse. Say --settle-after-hours {of_profile}, or ask the carrier, and correct the profile",
            hours=f"{hours:g}",
            of_profile=f"{of_profile:g}",
        )
    if given is None and of_profile is not None and times.lease >= of_profile * _HOUR:
        raise InputProblem(
            "settle_after_hours of the profile, {of_profile}, has to be more than --lease, {lease} s: before a worker is silent for so long,"
            " what it was sending may still be on its way",
            of_profile=f"{of_profile:g}",
            lease=f"{times.lease:g}",
        )
    return Bounds(times.send_within, times.lease, hours * _HOUR)


def script(job: Job, bounds: Bounds) -> str:
    """All that makes a ledger for the profile's carrier, for psql; nothing is done here."""
    return server_schema.script(job.owner, bounds, invitations.statements())


def prepared(job: Job, bounds: Bounds) -> list[Message]:
    """Make a ledger for the profile's carrier; what was made, and what comes next."""
    owner = job.owner
    with contextlib.closing(connect(shared_address(job.ledger))) as connection:
        server_schema.prepare(connection, owner, bounds, invitations.statements())
    made = message(
        "{ledger}: the ledger of {owner} is made. A request is sent within {send_within} s of its claim; a worker that is silent for {lease} s"
        " has lost what it was sending; {hours} h later a statement, or a person, may say that nothing came of it",
        ledger=_name(job),
        owner=owner.told,
        send_within=f"{bounds.send_within:g}",
        lease=f"{bounds.lease:g}",
        hours=f"{bounds.settle_after / _HOUR:g}",
    )
    return [made, *next_steps()]


def next_steps() -> list[Message]:
    """Which roles a new ledger has, and how they are given to logins."""
    return [
        message("Who may do what goes by three roles; give them to logins:"),
        message("GRANT {role} TO NAME;  issues, reconciles, mends the ledger", role="voucher_issuer"),
        message("GRANT {role} TO NAME;  takes part in the sending, and reads nothing", role="voucher_worker"),
        message("GRANT {role} TO NAME;  looks at everything but what is sealed", role="voucher_reader"),
    ]


def workers(job: Job) -> tuple[list[KnownWorker], Message]:
    """All workers, and why nothing is claimed by any of them; nothing where they may claim."""
    with connected(shared_address(job.ledger), None, "look") as connection:
        return known_workers.known_workers(connection), _shut(job, known_workers.claims(connection))


def _shut(job: Job, claims: Claims) -> Message:
    if claims.open:
        return NOTHING
    return message(
        "{ledger}: nothing is sent for now, for its server was started anew. Claims open when {lease} s have passed since that was seen, and"
        " every worker that was at work has found what it had been told. How far that is: voucher ledger vouch",
        ledger=_name(job),
        lease=f"{claims.lease:g}",
    )


def declared_dead(
    job: Job, beginning: str, said: tuple[str, str], confirm: Callable[[Message], bool]
) -> Message:
    """Record that somebody (`said`: who, and how) has seen a worker dead; what was done, nothing if declined."""
    with connected(shared_address(job.ledger), None, "change") as connection:
        one = named(known_workers.known_workers(connection), beginning)
        shown = _shown(one)
        if one.ended:
            raise InputProblem("{worker}: has ended already; see voucher ledger workers --all", worker=shown)
        claims = known_workers.claims(connection)
        if one.standing == "on":
            raise InputProblem(
                "{worker}: was heard within the last {lease} s, so that it is alive, or was until then. End it; when it has been silent for so"
                " long, say again that it is dead",
                worker=shown,
                lease=f"{claims.lease:g}",
            )
        warning = message(
            "{worker}: requests that it was sending: {count}. Say that it is dead only if somebody saw that its process is gone, or that its machine is"
            " off: from then on evidence that nothing of them was issued counts at once, and a process that is merely stopped, or cut off, could"
            " still send them",
            worker=shown,
            count=one.sending,
        )
        if not claims.open:
            warning = message(
                "{warning}. And nobody waits for its word any more on whether the database, since its server was started anew, lacks something:"
                " if an older copy was put back, say so first, with voucher ledger mark-gap",
                warning=warning,
            )
        if not confirm(warning):
            return NOTHING
        lost = known_workers.declare_dead(connection, one.worker, *said)
    return message(
        "{worker}: is declared dead; requests that are unknown from now on: {count}", worker=shown, count=lost
    )


def vouching(job: Job) -> tuple[bool, list[Message]]:
    """Whether claims are open since the server was started, and of whom they wait, with what can be done about each."""
    with connected(shared_address(job.ledger), None, "change") as connection:
        if known_workers.open_claims(connection):
            said = [message("{ledger}: claims are open; there is nothing to vouch for", ledger=_name(job))]
            PostgresqlLedger(connection).note_gap(said.append)
            return len(said) == 1, said
        waits = _waits_for(connection)
        shut = _shut(job, known_workers.claims(connection))
    lines = [shut]
    lines += [
        message("{worker}: is heard, and looks by itself", worker=_shown(one))
        for one in waits
        if one.standing == "on"
    ]
    silent = [one for one in waits if one.standing == "silent"]
    lines += [
        message(
            "{worker}: is not heard; requests that it was sending: {count}",
            worker=_shown(one),
            count=one.sending,
        )
        for one in silent
    ]
    if silent:
        lines.append(
            message(
                "If the server has the very files with which it ended, and no older copy, backup or replica that was behind, say so for those that"
                " are not heard: voucher ledger vouch {workers} --why TEXT. If it has not: voucher ledger mark-gap. If one of them was seen dead:"
                " voucher ledger declare-dead",
                workers=" ".join(one.worker.hex[:8] for one in silent),
            )
        )
    return False, lines


def vouched(
    job: Job, beginnings: Sequence[str], said: tuple[str, str], confirm: Callable[[Message], bool]
) -> tuple[bool, Message]:
    """Record that a person (`said`: who, and why) says for silent workers that nothing is missing which they were told.

    Whether claims are open then, and what was done; nothing if declined.
    """
    with connected(shared_address(job.ledger), None, "change") as connection:
        if known_workers.open_claims(connection):
            raise InputProblem("{ledger}: claims are open; there is nothing to vouch for", ledger=_name(job))
        known = known_workers.known_workers(connection)
        chosen = [named(known, beginning) for beginning in beginnings]
        for one in chosen:
            if one.vouched or one.standing != "silent":
                raise InputProblem(
                    "{worker}: nobody vouches for it: it is heard and looks by itself, has looked already, or has ended",
                    worker=_shown(one),
                )
        warning = message(
            "You say for {workers}: the server's database lacks nothing that was in it when the server ended; no older copy, backup or replica"
            " that was behind is in its place. If it lacks something, what these have sent is sent again",
            workers=joined(map(_shown, chosen)),
        )
        if not confirm(warning):
            return False, NOTHING
        is_open = known_workers.vouch_for(connection, [one.worker for one in chosen], *said)
        lacking = PostgresqlLedger(connection).lacking()
    by = verbatim(said[0])
    if is_open and lacking:
        return False, message(
            "{ledger}: {by} vouched for it; {lacking}: nothing is sent until voucher ledger close-gap",
            ledger=_name(job),
            by=by,
            lacking=lacking,
        )
    if is_open:
        return True, message("{ledger}: {by} vouched for it; claims are open", ledger=_name(job), by=by)
    return False, message(
        "{ledger}: {by} vouched for it; claims are still shut (voucher ledger vouch)",
        ledger=_name(job),
        by=by,
    )


def _waits_for(connection: psycopg.Connection) -> list[KnownWorker]:
    return [one for one in known_workers.known_workers(connection) if not (one.ended or one.vouched)]


def _shown(one: KnownWorker) -> Message:
    return known_workers.shown(one.worker, one.machine, one.process)


def _name(job: Job) -> str:
    return server_name(job.ledger or "")
