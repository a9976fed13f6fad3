"""Unknown outcomes for the sheet Unknown: those that the ledger has of earlier runs, and those of this run."""

from collections.abc import Iterable

from pipeline.messages.reason_rendering import reason_text
from pipeline.model.columns import Lang
from pipeline.model.evidence import Unsettled
from pipeline.model.known_charges import day_of, in_doubt_since
from pipeline.model.outcome import Result
from pipeline.model.result_values import UnknownAttempt


def earlier_unknowns(attempts: Iterable[Unsettled], lang: Lang, time_zone: str) -> list[UnknownAttempt]:
    """Attempts as the ledger has them; a day is one of that time zone."""
    return [
        UnknownAttempt(
            one.epoch, one.request_id, one.attempt, one.voucher, one.market, one.header_name, one.amount,
            reason_text(
                one.reason or "run_killed", "", lang,
                {"detail": one.detail, "earlier": in_doubt_since(day_of(one.ended, time_zone), one.place)},
            ),
            one.trace_id,
            tuple((identity, amount) for identity, _, amount in one.charges),
        )
        for one in attempts
    ]  # fmt: skip


def new_unknowns(results: Iterable[Result], epoch: str, lang: Lang) -> list[UnknownAttempt]:
    """The attempts of this run, made in `epoch`, whose outcome is unknown, from memory: the ledger may have failed."""
    return [
        UnknownAttempt(
            epoch, of.request_id, one.attempt, of.voucher, of.market, of.header.header_name, of.amount,
            reason_text(one.outcome.reason, "", lang, {"detail": one.outcome.detail}),
            one.outcome.trace_id,
            tuple((charge.identity, charge.amount) for charge in of.charges),
        )
        for one in results
        if one.outcome.state == "unknown"
        for of in [one.request]
    ]  # fmt: skip
