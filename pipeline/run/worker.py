"""`voucher worker`: takes part in the sending of a ledger that several machines share."""

from pipeline.ledger_postgresql.opening_shared import check_goes_on, check_may_send, connected
from pipeline.ledger_postgresql.shared_recovery import put_in_order
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.job import Job, Watch
from pipeline.model.message import message
from pipeline.model.server_address import server_name, shared_address
from pipeline.submission.event_loop import event_loop
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.shared_worker import Working, work


def take_part(job: Job, watch: Watch, *, once: bool) -> None:
    """Send what runs on the ledger have planned, until Ctrl-C or SIGTERM; `once`: until nothing is left to be sent.

    Raises InputProblem where no shared ledger is named, it is another carrier's, or nothing may be sent with it; Stop where that is so
    later, the ledger is not what it was, or a key of this worker is wrong.
    """
    address, keys = shared_address(job.ledger), job.secrets
    if keys is None:
        raise InputProblem(
            "VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY are needed to send; set them as for voucher issue"
        )
    with connected(address, job.owner, "work") as connection:
        check_goes_on(connection)
        put_in_order(connection, meaning(job, keys), watch.warn)
        check_may_send(connection)
    watch.note(
        message(
            "Worker of {ledger}: waits for runs, and sends at most {count} requests at once; Ctrl-C ends it",
            ledger=server_name(address),
            count=job.profile.submission.concurrency,
        )
    )
    with event_loop() as runner:
        if why := runner.run(work(Working(job, keys, watch, once))):
            raise Stop(why)
