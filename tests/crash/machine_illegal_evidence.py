"""Illegal evidence: for what is not in doubt, twice, changed, or not followed by its attempt."""

from tests.crash.machine_target import Target


def settled_with_less(t: Target) -> list[str] | None:
    """Out of the unknown with its doubt, answer or time of sending changed on the way."""
    if t.tried.state != "unknown":
        return None
    extra = t.pick("was_unknown = 0", "answer = x'01', http_status = 200", "sending_at = 'x'", "number = '9'")
    good = f"INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({t.tried.attempt_id}, 'not_sent', '', 'somebody', 'why', 'now')"
    return [good, f"UPDATE {t.either} attempt SET state = 'not_sent', ended_at = 'x', {extra} {t.at}"]


def evidence(t: Target) -> list[str] | None:
    """Evidence for what is not in doubt, a second time, of nobody, changed, or that no attempt can follow."""
    key, unknown = t.tried.attempt_id, t.tried.state == "unknown"
    taken = next((other.number for other in t.model.of("issued")), "")
    good = f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'not_sent', '', 'somebody', 'why', 'now')"
    state = t.pick("unknown", "planned", "rejected", "sending")
    bad = [
        f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'not_sent', '', '', 'why', 'now')",
        f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'not_sent', '', 'somebody', '', 'now')",
        f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'issued', '', 'somebody', 'why', 'now')",
        f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'not_sent', '9', 'somebody', 'why', 'now')",
        f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, '{state}', '', 'somebody', 'why', 'now')",
    ]
    if taken:
        bad.append(
            f"INSERT {t.either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'issued', '{taken}', 'somebody', 'why', 'now')"
        )
    if t.tried.settled:
        return [
            t.pick(
                f"UPDATE {t.either} settlement SET evidence = 'other' {t.at}",
                f"UPDATE {t.either} settlement SET settled_by = 'x', state = 'issued', number = '9' {t.at}",
                good,
                f"UPDATE {t.either} settlement SET rowid = 4711 {t.at}",
            )
        ]
    return [t.pick(*bad)] if unknown else [t.pick(good, *bad)]


def evidence_twice(t: Target) -> list[str] | None:
    """The second evidence is refused before the attempt follows the first."""
    if t.tried.state != "unknown":
        return None
    key, either = t.tried.attempt_id, t.either or "OR REPLACE"
    first = f"INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'not_sent', '', 'somebody', 'why', 'now')"
    second = f"INSERT {either} INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'issued', '77', 'another', 'why', 'now')"
    upsert = (
        f"INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({key}, 'issued', '77', 'x', 'y', 'z')"
        " ON CONFLICT DO UPDATE SET state = 'issued', number = '77'"
    )
    return [first, t.pick(second, upsert)]


def evidence_not_followed(t: Target) -> list[str] | None:
    """The attempt goes another way than its evidence says."""
    if t.tried.state != "unknown":
        return None
    said = t.pick(
        f"INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({t.tried.attempt_id}, 'not_sent', '', 'somebody', 'why', 'now')",
        f"INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES ({t.tried.attempt_id}, 'issued', '77', 'somebody', 'why', 'now')",
    )
    wrong = t.pick(
        "'rejected', number = ''",
        "'issued', number = '78'",
        "'planned', number = ''",
        "'sending', number = ''",
        "'rejected', number = '77'",
    )
    return [said, f"UPDATE {t.either} attempt SET state = {wrong}, ended_at = 'x' {t.at}"]
