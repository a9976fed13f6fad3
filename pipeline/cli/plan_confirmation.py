"""The plan of a run that sends: what would be sent, shown, and asked about on a terminal."""

import click

from pipeline.cli.stderr import asking
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.job import Plan
from pipeline.model.message import Note, SheetName, message
from pipeline.model.money import money_shown
from pipeline.reporting.summary_text import to_send
from pipeline.splitting import by_kind


def confirmed(plan: Plan, say: Note, lang: Lang, *, yes: bool) -> bool:
    """Show the plan; ask on a terminal, unless --yes or nobody is there."""
    currency = plan.profile.carrier.currency
    for kind in by_kind(plan.requests):
        say(to_send(kind, currency))
    for seen in plan.sheets:
        if seen.hidden_rows and not seen.hidden_sheet:
            say(
                message(
                    "Of them hidden or filtered out in the file: {hidden} of {rows} rows of {file}, sheet {sheet}",
                    hidden=seen.hidden_rows,
                    rows=seen.rows,
                    file=seen.file,
                    sheet=SheetName(seen.sheet),
                )
            )
    limits = plan.profile.limits
    say(
        message(
            "Limits of one invoice: domestic {domestic}, international {international} {currency}",
            domestic=money_shown(limits.domestic_invoice_max),
            international=money_shown(limits.international_invoice_max),
            currency=currency,
        )
    )
    if yes or not asking():
        return True
    question = message(
        "Send {count} requests to {carrier}?", count=len(plan.requests), carrier=plan.carrier.told
    )
    return click.confirm(rendered(question, lang), default=False, err=True)
