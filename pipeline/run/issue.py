"""`voucher issue`: read, judge, split, submit, write; the flow is drawn in `pipeline.run`."""

from pipeline.ledger.session import ledger_to_write
from pipeline.model.errors import Declined
from pipeline.model.job import Finished, Job, Plan, Watch
from pipeline.reading.process import Opening
from pipeline.reporting.events import log_beginning, log_end
from pipeline.reporting.output_paths import result_path
from pipeline.reporting.result_files import write_results
from pipeline.reporting.result_workbook import try_out
from pipeline.run.inputs import read
from pipeline.submission.batch import judged, submitted
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sandbox_carrier import made_up_keys
from pipeline.submission.sending_run import Run


def issue(job: Job, watch: Watch, begun: Opening | None = None) -> Finished:
    """The main job: judge, split, submit, write the result workbook."""
    keys = job.secrets or made_up_keys()
    log_beginning(watch.log, job)
    files, table = read(job, watch, begun)
    target = result_path(job.output, files[0])
    with ledger_to_write(job, watch, meaning(job, keys)) as ledger:
        rows = judged(ledger, table, job)
        for note in rows.verdicts.notes:
            watch.note(note)
        if rows.requests:
            ledger.check_complete(len(rows.requests))
        plan = Plan(tuple(rows.requests), job.profile, job.owner, table.sheets)
        if rows.requests and not watch.confirm(plan):
            raise Declined("Nothing was sent.")
        try_out(watch.note)
        run = Run("issue", job, ledger, ledger.begin("issue", job.terms, files), keys, watch)
        watch.log("ledger_taken", run=run.number, ledger_id=ledger.ledger_id)
        result, sent = submitted(run, rows)
        finished = write_results(result, target, job.report)
        if not sent.ledger_failed:  # else the next start puts it in order
            ledger.end(run.number, finished.exit_code)
    log_end(watch.log, finished)
    return finished
