"""Illegal changes of attempts: of who they are, what came of them, and how they begin."""

from tests.crash.machine_model import STATES
from tests.crash.machine_target import ATTEMPT, Target


def identity_of_an_attempt(t: Target) -> list[str]:
    name = t.pick("attempt_id", "rowid", "_rowid_", "oid", "attempt", "run")
    return [f"UPDATE {t.either} attempt SET {name} = {t.pick(1, 2, 3, 5, 7, 11, 99)} + {name} {t.at}"]


def request_of_an_attempt(t: Target) -> list[str]:
    other = t.pick(
        "'nobody'", "(SELECT max(request_id) FROM request)", "(SELECT min(request_id) FROM request)"
    )
    return [f"UPDATE {t.either} attempt SET request_id = {other} || '', attempt = attempt + 50 {t.at}"]


def column_of_an_outcome(t: Target) -> list[str]:
    """Without a change of state, so never legal."""
    change = t.pick(
        "number = number || '9'", "reason = reason || 'x'", "detail = detail || 'x'",
        "trace_id = trace_id || 'x'", "was_unknown = 1 - was_unknown",
        "sending_at = coalesce(sending_at, '') || 'x'", "ended_at = coalesce(ended_at, '') || 'x'",
        "planned_at = planned_at || 'x'", "sending_at = NULL, planned_at = 'x'",
        "number = '26001', detail = detail || 'x'", "state = state",
    )  # fmt: skip
    return [f"UPDATE {t.either} attempt SET {change} {t.at}"]


def raw_answer(t: Target) -> list[str] | None:
    if t.tried.state == "sending" and t.tried.answer is None:
        return None
    column = t.pick("answer = x'00'", "http_status = 418", "retry_after = 'x'", "answered_at = 'x'")
    if t.tried.state == "sending" and column.startswith("answered_at"):
        return None  # the same answer may be taken in again from the spill file, later
    if t.tried.answer is not None and t.pick(0, 1, 0):
        column = "answer = NULL, http_status = NULL, retry_after = NULL, answered_at = NULL"
    return [f"UPDATE {t.either} attempt SET {column} {t.at}"]


def delete(t: Target) -> list[str] | None:
    if (what := t.pick("attempt", "settlement", "others", "others")) == "attempt":
        return None if t.tried.state == "planned" else [f"DELETE FROM attempt {t.at}"]
    if what == "settlement":
        return [f"DELETE FROM settlement {t.at}"] if t.tried.settled else None
    others = (
        f"DELETE FROM charge {t.at}",
        f"DELETE FROM charge {t.this_charge}",
        f"DELETE FROM request WHERE request_id = '{t.tried.request.request_id}'",
        f"DELETE FROM run WHERE run = {t.tried.run}",
        "DELETE FROM ledger",
    )
    return [t.pick(*others)]


def attempt_over_another(t: Target) -> list[str]:
    key = t.pick(t.tried.attempt_id, "NULL")
    number = t.tried.attempt if key == "NULL" else t.tried.attempt + t.pick(0, 70, 0)
    values = f"VALUES ({key}, '{t.tried.request.request_id}', {number}, {t.tried.run}, 'planned', 'x')"
    upsert = t.pick(
        "",
        " ON CONFLICT DO UPDATE SET number = '9'",
        " ON CONFLICT (attempt_id) DO UPDATE SET state = 'planned'",
        "",
    )
    return [f"INSERT {'' if upsert else t.either} INTO {ATTEMPT} {values}{upsert}"]


_BLANK = {
    "answer": "x'00'", "http_status": "200", "was_unknown": "1", "number": "'9'", "detail": "'x'",
    "reason": "'x'", "trace_id": "'x'", "sending_at": "'x'", "ended_at": "'x'", "answered_at": "'x'",
    "retry_after": "'x'",
}  # fmt: skip


def attempt_begun_wrong(t: Target) -> list[str]:
    """At no request, in no run or one that has ended, not blank, or not planned."""
    ended = [key for key, (is_over, _) in t.model.runs.items() if is_over]
    row = {
        "request_id": f"'{t.tried.request.request_id}'", "attempt": str(900 + t.dice % 50),
        "run": str(max(t.model.runs)), "state": "'planned'", "planned_at": "'x'",
    }  # fmt: skip
    match t.pick("request", "run", "ended run", "blank", "state", "blank"):
        case "request":
            row["request_id"] = "'nobody'"
        case "run":
            row["run"] = "4711"
        case "ended run":
            row["run"] = str(ended[t.dice % len(ended)]) if ended else "4711"
        case "blank":
            name = t.pick(*_BLANK)
            row[name] = _BLANK[name]
        case _:
            row["state"] = f"'{t.pick(*STATES[1:])}'"
            row |= t.pick({}, {"sending_at": "'x'"}, {"sending_at": "'x'", "number": "'9'"}, {})
    return [f"INSERT {t.either} INTO attempt ({', '.join(row)}) VALUES ({', '.join(row.values())})"]
