"""Which runs of a shared ledger a worker can take part in."""

import contextlib

from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.sqlstates import as_problem


def open_runs(address: str) -> list[int]:
    """The numbers of the runs of which something can be claimed, the oldest first. Raises ServerAway."""
    with contextlib.closing(connect(address)) as connection, as_problem():
        return [run for (run,) in connection.execute("SELECT * FROM voucher.open_runs()").fetchall()]
