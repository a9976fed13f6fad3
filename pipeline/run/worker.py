"""`voucher worker`: takes part in the sending of a ledger that several machines share."""

import contextlib

from pipeline.ledger.opening import check_owner
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.worker_spill import take_in
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import message
from pipeline.model.profile import Owner
from pipeline.model.server_address import is_server, server_name
from pipeline.submission.event_loop import event_loop
from pipeline.submission.shared_worker import Working, work


def take_part(job: Job, watch: Watch, *, once: bool) -> None:
    """Send what runs on the ledger have planned, until Ctrl-C or SIGTERM; `once`: until nothing is left to be sent.

    Raises InputProblem where no shared ledger is named, or it is another carrier's; LedgerProblem where the ledger is not what it was.
    """
    address, keys = job.ledger or "", job.secrets
    if not is_server(address):
        raise InputProblem(
            "this is for a ledger that several machines share; name it with --ledger or VOUCHER_LEDGER, like postgresql://host/database"
        )
    if keys is None:
        raise InputProblem(
            "VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY are needed to send; set them as for voucher issue"
        )
    with contextlib.closing(connect(address)) as connection:
        known = about(connection)
        check_owner(server_name(address), Owner(known.base_url, known.agency), job.owner)
        take_in(connection, known.ledger_id, watch.warn)
    watch.note(
        message(
            "Worker of {ledger}: waits for runs, and sends at most {count} requests at once; Ctrl-C ends it",
            ledger=server_name(address),
            count=job.profile.submission.concurrency,
        )
    )
    with event_loop(secure=job.profile.carrier.base_url.startswith("https:")) as runner:
        if why := runner.run(work(Working(job, keys, watch, once))):
            raise LedgerProblem(why)
