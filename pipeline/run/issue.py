"""`voucher issue`: read, judge, split, submit, write; the flow is drawn in `pipeline.run`."""

import contextlib

from pipeline.ledger.run_people import people_of, stopper_of
from pipeline.model.errors import Declined, InputProblem, LedgerProblem
from pipeline.model.job import Finished, Job, Plan, Watch
from pipeline.open_ledger import ledger_to_write
from pipeline.reading.child_process import Opening
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
    _check_people(job)
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
        _check_approved(job, plan)
        if rows.requests and not watch.confirm(plan):
            raise Declined("Nothing was sent.")
        try_out(watch.note)
        run = Run("issue", job, ledger, ledger.begin("issue", job.terms, files), keys, watch)
        ledger.note_people(run.number, people_of("issue", job))
        watch.log("ledger_taken", run=run.number, ledger_id=ledger.ledger_id)
        result, sent = submitted(run, rows)
        finished = write_results(result, target, job.report)
        if not sent.ledger_failed:  # else the next start puts it in order, as where its end can't be recorded
            with contextlib.suppress(LedgerProblem):
                ledger.end(run.number, finished.exit_code, [stopper_of(job)] if sent.stopped else ())
    log_end(watch.log, finished)
    return finished


def _check_people(job: Job) -> None:
    """Raise InputProblem where the profile asks for two people, and this run is not what one prepared and another approved."""
    if not job.needs_two:
        return
    if job.approval is None:
        raise InputProblem(
            "Nothing was sent: [approval].people = 2 in the profile, so that what one person prepared another approves. Both do so on"
            " the page, which sends it then: voucher serve"
        )
    if not job.approval.by_two:
        raise InputProblem(
            "Nothing was sent: {person} had a hand in this plan before and can't approve it too; [approval].people = 2 in the profile"
            " asks for another person",
            person=job.approval.approved_by,
        )


def _check_approved(job: Job, plan: Plan) -> None:
    """Raise InputProblem where what is to be sent is not the plan that somebody said yes to."""
    if plan.requests and job.approval and job.approval.digest != plan.digest:
        raise InputProblem(
            "Nothing was sent: rows, amounts, buyers or codes are not what {person} said yes to any more; look at the plan again",
            person=job.approval.approved_by,
        )
