"""`voucher check`: read, judge, split; the flow is drawn in `pipeline.run`."""

from dataclasses import replace

from pipeline.ledger.ledger_path import path_for
from pipeline.model.job import Finished, Job, Watch
from pipeline.model.known_charges import KnownCharges
from pipeline.model.message import message
from pipeline.open_ledger import ledger_to_read
from pipeline.reading.child_process import Opening
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.events import log_beginning, log_end
from pipeline.reporting.output_paths import free_path
from pipeline.reporting.result_files import write_results
from pipeline.reporting.unknown_attempts import earlier_unknowns
from pipeline.rules.judge import judge
from pipeline.run.inputs import read
from pipeline.splitting import Judged, split


def check(job: Job, watch: Watch, begun: Opening | None = None) -> Finished:
    """Judge and split; send nothing, write nothing to the ledger."""
    terms = job.terms
    log_beginning(watch.log, job)
    _, table = read(job, watch, begun)
    target = free_path(job.output) if job.output else None
    with ledger_to_read(job) as ledger:
        if ledger:
            ledger.note_gap(watch.note)
            ledger.note_doubt(watch.note)
        elif not (job.names_carrier or job.ledger):
            watch.note(
                message(
                    "No profile names a carrier, so no ledger is looked at: what was issued before does not show. voucher profile new"
                    " PATH writes one, voucher profile check says what it lacks; --sandbox needs none"
                )
            )
        elif not job.throw_away:
            watch.note(
                message(
                    "There is no ledger yet ({ledger}): what was issued before does not show",
                    ledger=str(path_for(job)),
                )
            )
        holdings = ledger.holdings(table.tickets()) if ledger else KnownCharges()
        verdicts = judge(table, holdings, terms)
        for note in verdicts.notes:
            watch.note(note)
        requests = split(verdicts, holdings, terms)
        before = ledger.issued_requests(verdicts.issued_before) if ledger else []
        doubts = ledger.contents(verdicts.in_doubt) if ledger else []
        facts = RunFacts("check", terms, job.lang, origin=job.origin)
        if ledger:
            facts = replace(facts, ledger=ledger.name, ledger_id=ledger.ledger_id)
    unknown = earlier_unknowns(doubts, job.lang, job.profile.carrier.time_zone)
    result = make_result(facts, Judged(table, holdings, verdicts, requests, unknown, before))
    finished = write_results(result, target, job.report)
    log_end(watch.log, finished)
    return finished
