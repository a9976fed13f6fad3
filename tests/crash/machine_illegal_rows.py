"""Illegal changes of charges, requests, runs and the ledger's own row, and of everything at once."""

from tests.crash.machine_target import CHARGE, SENT, Target


def charge_added(t: Target) -> list[str] | None:
    """To no attempt, or one that is not planned; live; of another kind of voucher; or one that is there."""
    i, voucher = t.charge.identity, t.tried.request.voucher
    attempt_id, product, live, either, upsert = t.tried.attempt_id, "new", 0, t.either, ""
    match t.pick("live", "voucher", "over", "over", "upsert", "none", "late"):
        case "live":
            live = 1
        case "voucher":
            voucher = "itinerary" if voucher == "invoice" else "invoice"
        case "over":
            product, either = i.product, t.either or "OR REPLACE"
        case "upsert":
            product, either = i.product, ""
            upsert = f" ON CONFLICT DO UPDATE SET {t.pick('amount = amount + 1', 'live = 1 - live')}"
        case "none":
            attempt_id = 99999
        case _:
            if t.tried.state == "planned":
                return None
    values = (
        f"{attempt_id}, '{i.ticket_no}', '{i.charge}', '{product}', '', '{voucher}', {t.charge.amount + 1}"
    )
    return [f"INSERT {either} INTO {CHARGE} VALUES ({values}, '', '', 1, {live}){upsert}"]


def charge_changed(t: Target) -> list[str]:
    change = t.pick(
        "live = 1 - live", "amount = amount + 1", "ticket_no = ticket_no || '0'",
        "charge = 'refund', product = product || 'x'", "wire = wire || 'x'", "wire = '', amount = amount + 1",
        "voucher = voucher || 'x'", "row = row + 1", "file = file || 'x'", "sheet = sheet || 'x'",
        "attempt_id = attempt_id + 1", "content = content || 'x'", "content = ''",
    )  # fmt: skip
    return [f"UPDATE {t.either} charge SET {change} {t.pick(t.at, t.this_charge)}"]


def sent_in_part(t: Target) -> list[str] | None:
    """A planned attempt goes out with a charge less, or one more, than its request asked for."""
    if t.tried.state != "planned":
        return None
    i = t.charge.identity
    fewer = f"DELETE FROM charge {t.this_charge}"
    more = (
        f"INSERT INTO {CHARGE} VALUES ({t.tried.attempt_id}, '{i.ticket_no}', 'ancillary', 'new', '',"
        f" '{t.tried.request.voucher}', 100, '', '', 1, 0)"
    )
    return [t.pick(fewer, more), f"UPDATE {t.either} attempt SET {SENT} {t.at}"]


def request_changed(t: Target) -> list[str]:
    change = t.pick(
        "amount = amount + 1", "header_name = header_name || 'x'", "tax_no = tax_no || 'x'",
        "voucher = iif(voucher = 'invoice', 'itinerary', 'invoice')", "market = market || 'x'",
        "email = email || 'x'", "remarks = remarks || 'x'", "request_id = request_id || 'x'",
        "phone = phone || 'x'", "header_type = header_type || 'x'",
        "request_id = (SELECT min(request_id) FROM request)",
    )  # fmt: skip
    return [f"UPDATE {t.either} request SET {change} WHERE request_id = '{t.tried.request.request_id}'"]


def request_over_another(t: Target) -> list[str]:
    key = t.tried.request.request_id
    values = f"'{key}', 'invoice', 'domestic', 1, 'business', 'Somebody Else', '', '', '', ''"
    upsert = t.pick("", " ON CONFLICT DO UPDATE SET amount = amount + 1", "")
    return [f"INSERT {'' if upsert else t.either} INTO request VALUES ({values}){upsert}"]


def run_changed(t: Target) -> list[str] | None:
    run, (ended, _) = t.tried.run, t.model.runs[t.tried.run]
    change = t.pick(
        "ended_at = NULL", "exit_code = coalesce(exit_code, 0) + 1", "run = run + 100", "started_at = 'x'",
        "as_of = 'x'", "files = '[1]'", "command = 'x'", "version = 'x'", "rowid = 4711",
    )  # fmt: skip
    if change.startswith("ended_at") and not ended:
        change = "run = run + 100"
    ended_at = t.pick("NULL", "'x'")
    over = f"INSERT {t.either} INTO run VALUES ({run}, 'x', 'x', 'x', 'x', 'x', {ended_at}, NULL)"
    begun_ended = "INSERT INTO run VALUES (4711, 'x', 'x', 'x', 'x', 'x', 'x', 0)"
    return [t.pick(f"UPDATE {t.either} run SET {change} WHERE run = {run}", over, begun_ended)]


def ledger_row(t: Target) -> list[str]:
    return [
        t.pick(
            f"UPDATE {t.either} ledger SET base_url = 'http://127.0.0.1:9'",
            f"UPDATE {t.either} ledger SET agency = 'OTHER'",
            f"UPDATE {t.either} ledger SET ledger_id = 'other'",
            f"UPDATE {t.either} ledger SET created_at = 'x'",
            f"UPDATE {t.either} ledger SET only_row = 2",
            f"INSERT {t.either} INTO ledger VALUES (1, 'other', 'http://127.0.0.1:9', 'DEMO', 'x')",
            f"INSERT {t.either} INTO ledger VALUES (2, 'other', 'http://127.0.0.1:9', 'DEMO', 'x')",
            "INSERT INTO ledger VALUES (1, 'other', '', '', '')"
            " ON CONFLICT DO UPDATE SET base_url = 'http://127.0.0.1:9'",
        )
    ]


def everything_at_once(t: Target) -> list[str] | None:
    """Statements that a slip of the hand makes: without a WHERE."""
    ended = any(tried.state in ("issued", "rejected", "not_sent") for tried in t.model.attempts.values())
    statements = [
        "UPDATE charge SET live = 1 - live",
        "DELETE FROM charge",
        "DELETE FROM request",
        "UPDATE request SET amount = 0",
    ]
    if ended:
        statements += [
            "DELETE FROM attempt",
            f"UPDATE {t.either} attempt SET state = 'unknown', number = ''",
            "UPDATE attempt SET was_unknown = 0",
        ]
    return [t.pick(*statements)]
