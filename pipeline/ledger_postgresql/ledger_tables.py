"""The tables that both ledgers have, by the names of a file's columns, and how their values are written in SQL of PostgreSQL.

A file has times as text of UTC, yes and no as 1 and 0, lists as JSON text (ledger/sql); a server has types of its own for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_TIME = "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"+00:00\"')"
_FLAG = "{0}::integer"
_JSON = "{0}::text"


@dataclass(frozen=True)
class LedgerTable:
    """A table. `key` is what its rows are told apart by; what is not a time, a flag or JSON is the same in both."""

    name: str
    key: tuple[str, ...]
    plain: tuple[str, ...]
    times: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    #: Only the owner may read these: what the carrier answered, as it came.
    sealed: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All that a reader may see."""
        return (*self.key, *self.plain, *self.times, *self.flags, *self.json)

    def selected(self, columns: Sequence[str]) -> str:
        """These columns, each as a file has it, for a SELECT."""
        return ", ".join(self._form(column).format(f"{self.name}.{column}") for column in columns)

    def _form(self, column: str) -> str:
        for columns, form in ((self.times, _TIME), (self.flags, _FLAG), (self.json, _JSON)):
            if column in columns:
                return form
        return "{0}"


#: In an order in which each refers to those before it alone.
TABLES = {
    table.name: table
    for table in (
        LedgerTable("ledger", ("only_row",), ("ledger_id", "base_url", "agency"), ("created_at",)),
        LedgerTable(
            "carrier_move",
            ("move",),
            ("from_base_url", "from_agency", "to_base_url", "to_agency", "moved_by", "why"),
            ("moved_at",),
        ),
        LedgerTable("gap", ("gap",), ("why", "closed_by", "evidence"), ("since", "found_at", "closed_at")),
        LedgerTable("epoch", ("epoch",), ("epoch_id", "why"), ("begun_at",)),
        LedgerTable(
            "run",
            ("run",),
            ("command", "version", "as_of", "exit_code"),
            ("started_at", "ended_at"),
            json=("files",),
        ),
        LedgerTable(
            "clock_correction", ("correction",), ("last_run", "corrected_by"), ("latest", "corrected_at")
        ),
        LedgerTable("run_person", ("run_person",), ("run", "role", "person", "plan"), ("noted_at",)),
        LedgerTable(
            "request",
            ("request_id",),
            (
                "voucher", "market", "amount", "header_type", "header_name", "tax_no", "phone", "email", "remarks",
            ),
        ),
        LedgerTable(
            "attempt",
            ("attempt_id",),
            (
                "request_id", "attempt", "run", "epoch", "state", "reason", "number", "trace_id", "detail", "http_status", "retry_after",
            ),
            ("planned_at", "sending_at", "answered_at", "ended_at"),
            ("was_unknown",),
            sealed=("answer",),
        ),
        LedgerTable(
            "charge",
            ("attempt_id", "ticket_no", "charge", "product"),
            (
                "wire", "voucher", "amount", "file", "sheet", "row", "content", "passenger_name", "components", "carried",
            ),
            flags=("live",),
        ),
        LedgerTable(
            "settlement",
            ("settlement",),
            ("attempt_id", "state", "number", "settled_by", "evidence", "answered"),
            ("settled_at",),
            ("withdrawn",),
        ),
        LedgerTable(
            "elsewhere",
            ("elsewhere",),
            (
                "run", "ticket_no", "charge", "product", "wire", "voucher", "number", "amount", "buyer", "issued_at", "evidence",
                "found_by",
            ),
            ("found_at",),
            ("live", "withdrawn"),
        ),
        LedgerTable(
            "reversal",
            ("reversal",),
            ("run", "voucher", "number", "attempt_id", "red_number", "reversed_by", "evidence"),
            ("reversed_at",),
            ("withdrawn",),
        ),
        LedgerTable(
            "withdrawal",
            ("withdrawal",),
            ("settlement", "elsewhere", "reversal", "withdrawn_by", "why"),
            ("withdrawn_at",),
        ),
        LedgerTable(
            "judgement",
            ("judgement",),
            (
                "run", "ticket_no", "charge", "product", "voucher", "amount", "status", "reasons", "file", "sheet", "row",
            ),
            ("judged_at",),
        ),
        LedgerTable(
            "handled",
            ("handled",),
            ("run", "epoch", "sha256", "kind", "name", "result", "fates"),
            ("handled_at",),
            ("unfinished",),
        ),
        LedgerTable(
            "received_file",
            ("received_file",),
            (
                "run", "sha256", "status", "attempt_id", "number", "ticket_no", "total", "seal", "place", "archived", "reasons",
            ),
            ("received_at",),
        ),
    )
}  # fmt: skip
