"""What a status is: its place among the others, its exit code, whether it is a failure, and the codes that lead to it.

Source: interface.md, Row status, Reason codes and Exit codes. In English a status is called by its name; the words for reason codes are
in messages/reasons.py.
"""

from dataclasses import dataclass

from pipeline.model.message import P_


@dataclass(frozen=True)
class Status:
    """A status of a row, charge or request.

    `badness` ranks the statuses of one row's charges: the row shows the highest. `codes` are the reason codes that belong
    to it, `tone` how it is coloured (good, plain, warn, bad), `exit_code` what a run with such a row ends with at least.
    """

    name: str
    badness: int
    tone: str
    exit_code: int = 0
    failure: bool = False  # shown on the Failures sheet
    counted: bool = True  # in totals of money
    issued: bool = False  # the charge has its voucher
    codes: tuple[str, ...] = ()


#: In the order of the contract.
STATUSES = (
    Status(P_("status", "ready"), 4, "plain"),
    Status(P_("status", "issued"), 3, "good", issued=True),
    Status(P_("status", "already_issued"), 2, "good", issued=True, codes=("issued_before", "differs_from_issued", "issued_elsewhere")),
    Status(P_("status", "repeated"), 1, "plain", counted=False, codes=("repeated_charge",)),
    Status(
        P_("status", "invalid"), 7, "bad", 1, failure=True,
        codes=(
            "missing_value", "bad_ticket_no", "bad_amount", "bad_date", "date_in_future", "bad_choice", "bad_tax_no", "bad_email",
            "bad_phone", "amount_mismatch", "unknown_buyer",
        ),
    ),
    Status(
        P_("status", "ineligible"), 6, "bad", 1, failure=True,
        codes=(
            "status_conflict", "ticket_not_used", "ticket_not_refunded", "fare_window_closed", "ancillary_window_closed",
            "flight_too_old_for_itinerary", "not_an_itinerary_charge", "not_a_carrier_ticket", "amount_over_limit",
            "voucher_conflict", "duplicate_charge", "code_not_configured",
        ),
    ),
    Status(
        P_("status", "waiting"), 5, "warn", 1, failure=True, codes=("ticket_still_open", "refund_not_approved", "voucher_reversed")
    ),
    Status(P_("status", "rejected"), 8, "bad", 1, failure=True, codes=("carrier_rejected",)),
    Status(
        P_("status", "not_sent"), 9, "warn", 3, failure=True,
        codes=("carrier_unreachable", "carrier_busy", "key_refused", "run_stopped"),
    ),
    Status(P_("status", "unknown"), 10, "bad", 4, codes=("no_answer", "answer_unreadable", "answer_unexplained", "run_killed")),
)  # fmt: skip
STATUS = {status.name: status for status in STATUSES}

#: From the worst on: what a row of several charges shows of them. Those that decide the exit code come first, in its order.
WORST = tuple(sorted(STATUS, key=lambda name: -STATUS[name].badness))
#: Statuses of charges that have their voucher.
ISSUED = tuple(status.name for status in STATUSES if status.issued)
#: The status that each reason code leads to.
STATUS_OF = {code: status.name for status in STATUSES for code in status.codes}
#: Of the findings about one row the last beats the others: one that repeats another is what that is, and counts there.
FINDING_RANK = {"waiting": 1, "ineligible": 2, "repeated": 3, "invalid": 4}
