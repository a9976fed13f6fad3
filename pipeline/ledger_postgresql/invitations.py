"""Invitations of workers to runs, through procrastinate: jobs in the ledger's database, each of which has one worker take part in one run.

The ledger decides what is sent, and by whom; a job says no more than that there is something to be claimed. So one that is lost, or that a
worker dies over, costs parallelism and nothing else: none is ever tried again, and stalled ones are left where they are (procrastinate's
recipe for those sends twice). Its tables are in a schema of their own.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from importlib import resources

import procrastinate
import psycopg
import psycopg_pool
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

from pipeline.ledger_postgresql.sqlstates import as_problem

_SCHEMA = "procrastinate"
_QUEUE = "runs"
_TASK = "take_part"
_LOOK_EVERY = 5.0  # seconds, where a notification was lost
_PAUSE = 1.0  # seconds, until the server is tried again
_MOST = 32  # workers, however many requests may be in flight


for _name in (
    "procrastinate",
    "psycopg.pool",
):  # what they say of a server that is away, the ledger's own connections say
    logging.getLogger(_name).propagate = False
    logging.getLogger(_name).addHandler(logging.NullHandler())


def statements() -> str:
    """All that invitations take in a database that has none, with what issuers and workers may do there."""
    own = (resources.files("procrastinate.sql") / "schema.sql").read_text(encoding="utf-8")
    return f"""
CREATE SCHEMA {_SCHEMA};
SET LOCAL search_path = {_SCHEMA};
{own}
GRANT USAGE ON SCHEMA {_SCHEMA} TO voucher_issuer, voucher_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {_SCHEMA} TO voucher_issuer, voucher_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {_SCHEMA} TO voucher_issuer, voucher_worker;
"""


def installed(connection: psycopg.Connection) -> bool:
    """Whether workers can be invited by this database."""
    with as_problem():
        return connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL", (f"{_SCHEMA}.procrastinate_jobs",)
        ).fetchone() == (True,)


def invite(connection: psycopg.Connection, run: int, most: int) -> None:
    """Have up to so many workers take part in a run, beside those that look for one themselves: when the transaction in which this is
    called is committed.

    Where workers can't be invited by this database, nothing is done.
    """
    if not installed(connection):
        return
    app = _app(procrastinate.PsycopgConnector())
    task = app.tasks[_TASK]
    with as_problem(), connection.transaction():
        connection.execute(f"SET LOCAL search_path = {_SCHEMA}".encode())
        for one in range(min(most, _MOST)):
            with contextlib.suppress(AlreadyEnqueued), connection.transaction():
                task.configure(connection=connection, queueing_lock=f"run/{run}/{one}").defer(run=run)


def forget(connection: psycopg.Connection, run: int) -> None:
    """Remove the invitations to a run that nobody has taken up."""
    with as_problem(), connection.transaction():
        connection.execute(f"SET LOCAL search_path = {_SCHEMA}".encode())
        connection.execute(
            "DELETE FROM procrastinate_jobs WHERE task_name = %s AND status = 'todo' AND args ->> 'run' = %s",
            (_TASK, str(run)),
        )


async def accept(conninfo: str, take_part: Callable[[int], Awaitable[None]]) -> None:
    """Take part in runs one after another, as invitations come, until this is cancelled; a server that is away is waited for."""
    while True:
        connector = procrastinate.PsycopgConnector(
            conninfo=conninfo, min_size=1, max_size=3, kwargs={"options": f"-c search_path={_SCHEMA}"}
        )
        app = _app(connector, take_part)
        with contextlib.suppress(ConnectorException, psycopg.Error, psycopg_pool.PoolTimeout):
            async with app.open_async():
                await app.run_worker_async(
                    queues=[_QUEUE],
                    install_signal_handlers=False,
                    fetch_job_polling_interval=_LOOK_EVERY,
                    delete_jobs="always",
                )
        await asyncio.sleep(_PAUSE)


async def _nobody(_run: int) -> None:
    """Whoever invites takes up no invitation."""


def _app(
    connector: procrastinate.PsycopgConnector, take_part: Callable[[int], Awaitable[None]] = _nobody
) -> procrastinate.App:
    app = procrastinate.App(connector=connector)

    @app.task(name=_TASK, queue=_QUEUE)
    async def invited(run: int) -> None:
        await take_part(run)

    return app
