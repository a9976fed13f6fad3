"""Which runs of a shared ledger a worker can take part in."""

import contextlib

from pipeline.ledger.opening import check_owner
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.profile import Owner
from pipeline.model.server_address import server_name


def open_runs(address: str, owner: Owner) -> list[int]:
    """The numbers of the runs of which something can be claimed, the oldest first; all of that owner, as no ledger moves while a run is on.

    Raises ServerAway, and InputProblem where the ledger is another owner's by now.
    """
    with contextlib.closing(connect(address)) as connection, as_problem():
        found = connection.execute(
            "SELECT base_url, agency, ARRAY(SELECT voucher.open_runs()) FROM voucher.about()"
        ).fetchone()
    base_url, agency, runs = found or ("", "", [])
    check_owner(server_name(address), Owner(base_url, agency), owner)
    return sorted(runs)
