"""Which runs of a shared ledger a worker can take part in."""

from pipeline.ledger_postgresql.opening_shared import check_may_send, connected
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.profile import Owner


def open_runs(address: str, owner: Owner) -> list[int]:
    """The numbers of the runs of which something can be claimed, the oldest first; all of that owner, as no ledger moves while a run is on.

    Raises ServerAway, and InputProblem where the ledger is another owner's by now, or nothing may be sent with it until somebody says so.
    """
    with connected(address, owner, "work") as connection:
        check_may_send(connection)
        with as_problem():
            return sorted(run for (run,) in connection.execute("SELECT voucher.open_runs()"))
