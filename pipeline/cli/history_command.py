"""`voucher history`."""

from typing import Any

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import teller
from pipeline.cli.stdout import print_lines
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.reading.ticket_number import ticket_no
from pipeline.reading.unreadable import Unreadable
from pipeline.reporting.history import history_json, history_lines
from pipeline.run import ticket_history


def history(tickets: tuple[str, ...], *, as_json: bool, lang: Lang, **given: Any) -> None:
    """Print it: lines in time order, or one JSON object."""
    digits = [_ticket_digits(ticket) for ticket in tickets]
    job = ledger_job(given)
    known = ticket_history.history(job, digits, teller(lang))
    if as_json:
        print_lines([history_json(known, lang)])
    else:
        print_lines(history_lines(known, lang, job.profile.carrier.time_zone if given["profile"] else "UTC"))


def _ticket_digits(text: str) -> str:
    try:
        return ticket_no(text)
    except Unreadable:
        raise InputProblem(
            "{ticket}: is not a ticket number of 13 digits; enter them as on the ticket", ticket=text
        ) from None
