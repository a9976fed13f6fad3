"""What the result workbook and the last lines say beside the vocabulary and the reasons, in each language."""

import functools
from dataclasses import dataclass

from pipeline.messages.translate import all_translated, rendered
from pipeline.model.columns import Lang
from pipeline.model.message import N_, counted


@dataclass(frozen=True)
class Words:
    """One language's words; those of the statuses are in model/status.py."""

    page: str
    title: str
    headline: str
    headline_check: str
    facts_heading: str
    facts: dict[str, str]
    files: str
    next_heading: str
    stopped: str
    run_again: str
    unknown_buyer: str
    differs: str
    nothing: str
    by_status: str
    by_voucher: str
    by_buyer: str
    status_chart: str
    buyer_chart: str
    short_money: str
    deadlines: str
    no_deadlines: str
    more_deadlines: str
    place: str
    columns: dict[str, str]
    total: str
    no_buyer: str
    other_buyers: str
    notes_heading: str
    resolution_title: str
    resolution_note: str
    resolution_error: str
    more: str
    bills: str
    judged: str
    example: str
    more_reasons: str
    where: str
    where_on_sheet: str
    of_source: str
    row: str


_ENGLISH = Words(
    page=N_("Page &P of &N"),
    title=N_("Vouchers: what became of every row"),
    headline=N_("{charges} of {all_charges} charges have their voucher: {amount} of {all_amount}."),
    headline_check=N_(
        "Nothing was sent. {charges} of {all_charges} charges have their voucher from earlier runs:"
        " {amount} of {all_amount}."
    ),
    facts_heading=N_("About this run"),
    facts={
        "command": N_("Command"),
        "as_of": N_("Judged on"),
        "files": N_("Workbooks"),
        "rows": N_("Rows"),
        "charges": N_("Charges"),
        "amount": N_("Amount ({currency})"),
        "ledger": N_("Ledger"),
        "ledger_id": N_("Ledger ID"),
    },
    files=N_("{first} and {count} more"),
    next_heading=N_("What to do next"),
    stopped=N_("The run stopped early: {stopped}"),
    run_again=N_("Running the same command again is safe."),
    unknown_buyer=N_(
        "Some rows name a buyer that is not known. On the sheet Failures, correct buyer to a name on the sheet Buyers"
        " (the last one), or add the buyer there; or fill in header_type, header_name and the columns after it."
    ),
    differs=N_(
        "{rows} issued earlier with another amount or buyer: compare them with the issued vouchers (sheet Rows,"
        " reason differs_from_issued)."
    ),
    nothing=N_("Nothing: every row is issued."),
    by_status=N_("By status"),
    by_voucher=N_("By voucher"),
    by_buyer=N_("By buyer"),
    status_chart=N_("Charges by status"),
    buyer_chart=N_("Amount by buyer ({currency})"),
    short_money=N_('[>=1000000]#,##0.0,,"M";[>=1000]#,##0,"k";#,##0'),
    deadlines=N_("Last days to request in the next {days} days"),
    no_deadlines=N_("None: no charge without a voucher has its last day so soon."),
    more_deadlines=N_("… and {count:,} more: sort the sheet Rows by last_day."),
    place=N_("{file}, {sheet}, row {row}"),
    columns={
        "status": N_("Status"),
        "voucher": N_("Voucher"),
        "buyer": N_("Buyer"),
        "charges": N_("Charges"),
        "amount": N_("Amount"),
        "meaning": N_("Meaning"),
        "issued_charges": N_("Issued"),
        "issued_amount": N_("Amount issued"),
        "ready_charges": N_("Ready"),
        "ready_amount": N_("Amount ready"),
        "open_charges": N_("Remaining"),
        "open_amount": N_("Amount remaining"),
        "place": N_("Where"),
        "last_day": N_("Last day"),
        "ticket": N_("Ticket"),
        "days_left": N_("Days left"),
        "what": N_("Charge and voucher"),
    },
    total=N_("Total"),
    no_buyer=N_("(no buyer)"),
    other_buyers=N_("{count} other buyers"),
    notes_heading=N_("Notes"),
    resolution_title=N_("What the carrier says"),
    resolution_note=N_(
        "issued: the carrier has it; enter its number. not issued: the carrier knows nothing of it. Name yourself and the evidence."
    ),
    resolution_error=N_("Choose issued or not issued."),
    more=N_("{shown} … and {count} more"),
    bills=N_("{rows} ({charges:,} charges)"),
    judged=N_("{rows}, judged on {as_of}"),
    example=N_("{count} × {code}: {message}"),
    more_reasons=N_(
        "kinds of reasons not shown here: {count}; every row's stand on the sheets Failures and Rows of the result (check writes one with -o)"
    ),
    where=N_("{file}, {cell}: {message}"),
    where_on_sheet=N_("{file}, {sheet}, {cell}: {message}"),
    of_source=N_("{source}: {message}"),
    row=N_("row {row}"),
)


@functools.cache
def words_in(lang: Lang) -> Words:
    """What a run's workbook and last lines say in a language."""
    return all_translated(_ENGLISH, lang)


def count_rows(count: int, lang: Lang) -> str:
    """A number of rows, in words."""
    return rendered(counted("{count:,} row", "{count:,} rows", count), lang)


def count_requests(count: int, lang: Lang) -> str:
    """A number of requests, in words."""
    return rendered(counted("{count:,} request", "{count:,} requests", count), lang)
