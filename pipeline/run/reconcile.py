"""`voucher reconcile`: settle by evidence, send again, compare, write; the flow is drawn in `pipeline.run`."""

import contextlib
from dataclasses import replace

from pipeline.itinerary_files.find_files import found_files
from pipeline.ledger.run_people import people_of, stopper_of
from pipeline.model.errors import LedgerProblem
from pipeline.model.job import Task, Watch
from pipeline.model.profile import Secrets
from pipeline.open_ledger import ledger_to_write
from pipeline.reconciliation.comparison_inputs import compared
from pipeline.reconciliation.given_evidence import check_evidence, named_evidence
from pipeline.reconciliation.inbox import Batch, take_in, weighed_together
from pipeline.reconciliation.itinerary_collection import (
    archive_folder,
    checked_files,
    seal_roots,
    settle_with_files,
)
from pipeline.reconciliation.note_handled_files import note_handled
from pipeline.reconciliation.outputs import reconciliation_path, written
from pipeline.reconciliation.resubmit import again
from pipeline.reporting.events import log_beginning, log_evidence, log_reconciled
from pipeline.reporting.result_workbook import try_out
from pipeline.run.inputs import read
from pipeline.settlement.reconciliation_result import Reconciled
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sandbox_carrier import made_up_keys
from pipeline.submission.sending_run import Run


def reconcile(task: Task, watch: Watch) -> Reconciled:
    """Settle what the evidence settles, try again what may be, compare; needs nobody at the keyboard."""
    job = task.job
    keys = made_up_keys() if job.sandbox else job.secrets
    log_beginning(watch.log, job, task)
    roots = seal_roots(job)
    tables = [read(job, watch)[1]] if job.inputs else []
    named, target = named_evidence(task), reconciliation_path(task)
    log_evidence(watch.log, named.statements, len(named.answers))
    with ledger_to_write(job, watch, meaning(job, keys)) as ledger:
        check_evidence(ledger, named)
        inbox = take_in(task, ledger, watch)
        try_out(watch.note)
        number = ledger.begin("reconcile", job.terms, [*job.inputs, *inbox.paths])
        run = Run("reconcile", job, ledger, number, keys or Secrets("", ""), watch)
        ledger.note_people(number, people_of("reconcile", job))
        watch.log("ledger_taken", run=number, ledger_id=ledger.ledger_id)
        evidence = weighed_together(task, ledger, named, inbox)
        mails = (*task.itineraries, *inbox.mails)
        files = checked_files(run, found_files(mails), archive_folder(job, None), roots) if mails else []
        decided, collected = settle_with_files(run, evidence, files, roots)
        done = again(run, [*map(Batch, tables), *inbox.batches], evidence, decided)
        said = replace(
            compared(task, ledger, evidence, decided, done), unread=tuple(inbox.unread), files=collected
        )
        finished = written(task, said, done, target)
        if not any(one.ledger_failed for one in done):  # else the next start puts it in order
            note_handled(run, inbox, done, finished)
            with contextlib.suppress(LedgerProblem):  # likewise
                ledger.end(number, finished.exit_code, [stopper_of(job)] if said.result.stopped else ())
    log_reconciled(watch.log, finished)
    return finished
