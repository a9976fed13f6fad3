"""A new ledger on a server: its tables, rules, functions and roles, all of them or nothing."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import psycopg
from psycopg import sql

from pipeline.ledger_postgresql.server_connection import LedgerConnection
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.errors import InputProblem
from pipeline.model.message import N_, message, verbatim
from pipeline.model.profile import Owner

_PARTS = (
    "database", "tables", "evidence_tables", "rules", "evidence_rules", "functions", "vouching", "evidence_functions", "copying",
    "roles",
)  # fmt: skip
#: Of tables and functions; of 1 some functions are missing that are asked for by now.
_VERSION = 2


@dataclass(frozen=True)
class Bounds:
    """The bounds of the fence, in seconds, each less than the next.

    `send_within`: from a claim until its request is written, or it is not sent. `lease`: a worker that is silent for longer has lost what
    it was sending. `settle_after`: so much younger than a sending must evidence be that nothing was issued, where nobody saw the sender
    end.
    """

    send_within: float = 20
    lease: float = 60
    settle_after: float = 24 * 3600


@dataclass(frozen=True)
class About:
    """Which ledger it is, and whose. Times in seconds, as in `Bounds`."""

    version: int
    ledger_id: str
    base_url: str
    agency: str
    epoch_id: str
    send_within: float
    lease: float
    settle_after: float


#: What somebody wants of a ledger: to know whose it is, look at it, change it and issue with it, or take part in the sending.
Right = Literal["know", "look", "change", "work"]

_CALLS = "SELECT has_function_privilege(oid, 'EXECUTE') FROM pg_proc WHERE pronamespace = to_regnamespace('voucher') AND proname = '{}'"
#: What each takes, whichever role that comes by: whether the user has it, NULL where there is no ledger.
_HAS: Mapping[Right, str] = {
    "look": "SELECT has_any_column_privilege(oid, 'SELECT') FROM pg_class WHERE relnamespace = to_regnamespace('voucher') AND relname = 'attempt'",
    "know": _CALLS.format("about"),
    "change": _CALLS.format("begin_run"),
    "work": _CALLS.format("join_work"),
}
_LACKS: Mapping[Right, tuple[str, str]] = {
    "know": (N_("{server}: the user in the address has no right in this ledger; {cure}"), "voucher_reader"),
    "look": (N_("{server}: the user in the address may not look at this ledger; {cure}"), "voucher_reader"),
    "change": (
        N_("{server}: the user in the address may not issue with this ledger, nor change it; {cure}"),
        "voucher_issuer",
    ),
    "work": (
        N_("{server}: the user in the address may not take part in the sending of this ledger; {cure}"),
        "voucher_worker",
    ),
}


def check_right(connection: LedgerConnection, right: Right) -> None:
    """Raise InputProblem where the database holds no ledger, or for a user who may not do that in it."""
    with as_problem():
        found = connection.execute(_HAS[right].encode()).fetchone()
    if found is None:
        raise _no_ledger(connection.name)
    if found != (True,):
        text, role = _LACKS[right]
        cure = message("whoever made the ledger allows it: GRANT {role} TO NAME", role=role)
        raise InputProblem(text, server=connection.name, cure=cure)


def _no_ledger(server: str) -> InputProblem:
    return InputProblem(
        "{server}: this database holds no ledger yet, and a run never begins one there: voucher ledger prepare --ledger {server}"
        " --profile PATH does",
        server=server,
    )


def about(connection: LedgerConnection) -> About:
    """What a ledger says of itself. Raises InputProblem where the database holds none, or one of another version."""
    with as_problem():
        try:
            row = connection.execute("SELECT * FROM voucher.about()").fetchone()
        except (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedFunction):
            row = None
    if row is None:
        raise _no_ledger(connection.name)
    found = About(*row)
    if found.version < _VERSION:
        raise InputProblem(
            "{server}: the ledger's version is {found}, this program's {ours}. With the program that it was made with, copy the ledger into a"
            " file (voucher ledger copy-to FILE); then, with this one, prepare an empty database and copy that file into it",
            server=connection.name,
            found=found.version,
            ours=_VERSION,
        )
    if found.version > _VERSION:
        raise InputProblem(
            "{server}: the ledger's version is {found}, this program's {ours}; update the program",
            server=connection.name,
            found=found.version,
            ours=_VERSION,
        )
    return found


def statements() -> str:
    """All tables, rules, functions and roles of a ledger."""
    folder = resources.files(__package__) / "sql"
    return "\n".join((folder / f"{part}.sql").read_text(encoding="utf-8") for part in _PARTS)


def _everything(owner: Owner, bounds: Bounds, ledger_id: str) -> str:
    """All that a ledger is made by, with what it says of itself.

    Raises InputProblem where the bounds don't fit together.
    """
    if not 0 < bounds.send_within < bounds.lease < bounds.settle_after:
        raise InputProblem(
            "the ledger's times don't fit together: --send-within {send_within} s, --lease {lease} s, --settle-after-hours {settle_after} h;"
            " each is less than the next",
            send_within=f"{bounds.send_within:g}",
            lease=f"{bounds.lease:g}",
            settle_after=f"{bounds.settle_after / 3600:g}",
        )
    times = (bounds.send_within, bounds.lease, bounds.settle_after)
    said = (
        "INSERT INTO voucher.ledger VALUES (1, {}, {}, {}, {}, clock_timestamp(), make_interval(secs => {}), make_interval(secs => {}),"
        " make_interval(secs => {}));\n"
        "INSERT INTO voucher.epoch (epoch_id, why, begun_at) VALUES ({}, 'the ledger was begun', clock_timestamp());\n"
        "SELECT voucher.note_life();\n"
    )
    values = (_VERSION, ledger_id, owner.base_url, owner.agency, *times, ledger_id)
    return f"{statements()}\n{sql.SQL(said).format(*values).as_string()}"


def script(owner: Owner, bounds: Bounds, also: str) -> str:
    """The same as `prepare`, as a script for psql: all of it or nothing."""
    text = f"{_everything(owner, bounds, uuid.uuid4().hex)}\n{also}"
    return f"\\set ON_ERROR_STOP on\nSET client_encoding = 'UTF8';\nSET standard_conforming_strings = on;\nBEGIN;\n\n{text}\nCOMMIT;\n"


def prepare(connection: LedgerConnection, owner: Owner, bounds: Bounds, also: str = "") -> str:
    """Make a ledger for a carrier in a database that has none; its ID. The role that does it owns it. `also`: what is made along with it.

    Raises InputProblem where there is one already, the bounds don't fit together, or the role may not do that.
    """
    ledger_id = uuid.uuid4().hex
    text = f"{_everything(owner, bounds, ledger_id)}\n{also}"
    with as_problem():
        try:
            with connection.transaction():
                connection.execute(text.encode())
        except psycopg.errors.DuplicateSchema:
            raise InputProblem(
                "{server}: this database holds a ledger already, or a schema of procrastinate's; nothing was changed. Take an empty one",
                server=connection.name,
            ) from None
        except psycopg.errors.InsufficientPrivilege as error:
            raise InputProblem(
                "this role may not make a ledger here ({why}); nothing was changed. It takes the right to create in this database (GRANT"
                " CREATE ON DATABASE) and to make roles (CREATEROLE), unless voucher_issuer, voucher_worker and voucher_reader are there"
                " already; or have an administrator run what voucher ledger prepare --sql prints",
                why=verbatim(error.diag.message_primary or ""),
            ) from None
    return ledger_id
