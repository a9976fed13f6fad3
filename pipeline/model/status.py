"""What a status is: its place among the others, its exit code, whether it is a failure, the codes that lead to it, and its words.

Source: interface.md, Row status, Reason codes and Exit codes. In English a status is called by its name; its texts are here, and
those of reason codes in messages/reasons.py. What else is shown of a status (template, Summary, next steps) is drawn from here.
"""

from dataclasses import dataclass

from pipeline.model.exit_code import ExitCode
from pipeline.model.message import N_, P_


@dataclass(frozen=True)
class Status:
    """A status of a row, charge or request.

    `badness` ranks the statuses of one row's charges: the row shows the highest. `codes` are the reason codes that belong
    to it, `tone` how it is coloured (good, plain, warn, bad), `exit_code` what a run with such a row ends with at least.
    Its texts: `meaning` in the Summary's tables, `advice` (meaning, and what to do) in the template, and `step`, what a person is to
    do next, with a place for the number of `{rows}` (of requests: `{requests}`).
    """

    name: str
    badness: int
    tone: str
    meaning: str
    advice: str
    exit_code: ExitCode = ExitCode.DONE
    failure: bool = False  # shown on the Failures sheet
    counted: bool = True  # in totals of money
    issued: bool = False  # the charge has its voucher
    sent: bool = False  # what a request came to: its reasons may hold the carrier's words
    codes: tuple[str, ...] = ()
    step: str = ""


#: In the order of the contract.
STATUSES = (
    Status(
        P_("status", "ready"), 4, "plain",
        N_("would be sent; nothing was sent yet"),
        N_("would be sent (“voucher check” only)"),
        step=N_("{rows} ready: “voucher issue” sends them. So far nothing was sent."),
    ),
    Status(
        P_("status", "issued"), 3, "good",
        N_("the carrier accepted it in this run"),
        N_("the carrier accepted it in this run; the number stands beside it"),
        issued=True,
    ),
    Status(
        P_("status", "already_issued"), 2, "good",
        N_("an earlier run issued it; not sent again"),
        N_("an earlier run did; it is not sent again"),
        issued=True,
        codes=("issued_before", "differs_from_issued", "issued_elsewhere"),
    ),
    Status(
        P_("status", "repeated"), 1, "plain",
        N_("repeats an earlier row: counted there, in no total"),
        N_("the same charge stands in an earlier row as well: it counts once, there"),
        counted=False,
        codes=("repeated_charge",),
    ),
    Status(
        P_("status", "invalid"), 7, "bad",
        N_("the row can't be understood: to be corrected"),
        N_("the row can't be understood: correct it on the sheet Failures and run that file"),
        exit_code=ExitCode.NEEDS_PERSON, failure=True,
        codes=(
            "missing_value", "bad_ticket_no", "bad_amount", "bad_date", "date_in_future", "bad_choice", "bad_tax_no", "bad_email",
            "bad_phone", "amount_mismatch", "unknown_buyer",
        ),
        step=N_("{rows} invalid: correct the cells on the sheet Failures, save, and give this file to “voucher issue” as it is."),
    ),
    Status(
        P_("status", "ineligible"), 6, "bad",
        N_("a rule forbids it"),
        N_("a rule forbids it; the reason says which"),
        exit_code=ExitCode.NEEDS_PERSON, failure=True,
        codes=(
            "status_conflict", "ticket_not_used", "ticket_not_refunded", "fare_window_closed", "ancillary_window_closed",
            "flight_too_old_for_itinerary", "not_an_itinerary_charge", "not_a_carrier_ticket", "amount_over_limit",
            "voucher_conflict", "duplicate_charge", "code_not_configured",
        ),
        step=N_("{rows} ineligible: a rule forbids the voucher. The sheet Failures says which rule, and what can be done."),
    ),
    Status(
        P_("status", "waiting"), 5, "warn",
        N_("not yet: ticket open, or refund not approved"),
        N_("not yet: ticket still open, or refund not approved. Run it again later"),
        exit_code=ExitCode.NEEDS_PERSON, failure=True,
        codes=("ticket_still_open", "refund_not_approved", "voucher_reversed"),
        step=N_("{rows} waiting: not yet. Run them again later, from your workbook or from the sheet Failures."),
    ),
    Status(
        P_("status", "rejected"), 8, "bad",
        N_("the carrier said no"),
        N_("the carrier answered no"),
        exit_code=ExitCode.NEEDS_PERSON, failure=True, sent=True,
        codes=("carrier_rejected",),
        step=N_("{rows} rejected: the carrier said no. Its words are on the sheet Failures."),
    ),
    Status(
        P_("status", "not_sent"), 9, "warn",
        N_("nothing reached the carrier: run it again"),
        N_("nothing reached the carrier: run it again"),
        exit_code=ExitCode.STOPPED, failure=True, sent=True,
        codes=("carrier_unreachable", "carrier_busy", "key_refused", "run_stopped", "in_hand"),
        step=N_("{rows} not sent: run the same workbook again. This run issued nothing for them."),
    ),
    Status(
        P_("status", "unknown"), 10, "bad",
        N_("may have been issued: reconcile, never ask twice"),
        N_("it may have been issued: not sent again until that is known (“voucher reconcile”)"),
        exit_code=ExitCode.UNKNOWN, sent=True,
        codes=("no_answer", "answer_unreadable", "answer_unexplained", "run_killed"),
        step=N_(
            "{requests} with an unknown outcome (sheet Unknown of the result workbook): these may have been issued. Do not ask for them elsewhere."
            " Ask the carrier about each, fill in the last columns there, and give that workbook to “voucher reconcile --resolved”."
        ),
    ),
)  # fmt: skip
STATUS = {status.name: status for status in STATUSES}

#: From the worst on: what a row of several charges shows of them. Those that decide the exit code come first, in its order.
WORST = tuple(sorted(STATUS, key=lambda name: -STATUS[name].badness))
#: Statuses of charges that have their voucher.
ISSUED = tuple(status.name for status in STATUSES if status.issued)
#: Statuses that nobody has to act on, whatever else is wrong with such a row.
SETTLED = tuple(status.name for status in STATUSES if status.issued or not status.counted)
#: The status that each reason code leads to.
STATUS_OF = {code: status.name for status in STATUSES for code in status.codes}
#: Of the findings about one row the last beats the others: one that repeats another is what that is, and counts there.
FINDING_RANK = {"waiting": 1, "ineligible": 2, "repeated": 3, "invalid": 4}
