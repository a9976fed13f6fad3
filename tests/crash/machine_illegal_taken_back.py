"""Illegal changes of what takes something back: epochs, withdrawals, reversals, and the marks that follow from them."""

from tests.crash.machine_target import Target

_WORDS = {
    "epoch": ("epoch", "epoch_id", "why", "begun_at"),
    "withdrawal": ("withdrawal", "settlement", "elsewhere", "reversal", "withdrawn_by", "why", "withdrawn_at"),
    "reversal": ("reversal", "run", "voucher", "number", "attempt_id", "red_number", "reversed_by", "evidence", "reversed_at"),
}  # fmt: skip


def epoch_changed(t: Target) -> list[str]:
    """An epoch over another, or an attempt in one that is not this."""
    return [
        t.pick(
            f"UPDATE {t.either} attempt SET epoch = epoch + 1 {t.at}",
            f"INSERT {t.either} INTO epoch SELECT * FROM epoch",
            f"INSERT {t.either} INTO epoch SELECT epoch + 9, epoch_id, why, begun_at FROM epoch",
            f"INSERT {t.either} INTO epoch VALUES (0, 'x', 'y', 'z')",
            f"INSERT {t.either} INTO epoch VALUES (NULL, '', 'y', 'z')",
            f"UPDATE {t.either} handled SET epoch = epoch + 1",
        )
    ]


def withdrawal_that_is_none(t: Target) -> list[str]:
    """Of nothing, of several, by nobody, of what is not there or stands no more."""
    columns = "withdrawal (settlement, elsewhere, reversal, withdrawn_by, why, withdrawn_at)"
    values = t.pick(
        "VALUES (NULL, NULL, NULL, 'x', 'y', 'z')",
        "VALUES (4711, NULL, NULL, 'x', 'y', 'z')",
        "VALUES (NULL, 4711, NULL, 'x', 'y', 'z')",
        "VALUES (NULL, NULL, 4711, 'x', 'y', 'z')",
        "VALUES (1, 1, NULL, 'x', 'y', 'z')",
        "VALUES (1, NULL, NULL, '', 'y', 'z')",
        "VALUES (NULL, 1, NULL, 'x', '', 'z')",
    )
    return [f"INSERT {t.either} INTO {columns} {values}"]


def reversal_that_is_none(t: Target) -> list[str] | None:
    """Of what is not issued, of another's number, a second time, or by nobody."""
    if t.tried.state == "issued" and not t.tried.reversed:
        wrong = t.pick(
            f"'{t.tried.number}', NULL, '', 'x', 'y'",
            f"'{t.tried.number}', {t.tried.attempt_id}, '{t.tried.number}', 'x', 'y'",
            f"'{t.tried.number}', {t.tried.attempt_id}, '', '', 'y'",
            f"'{t.tried.number}', {t.tried.attempt_id}, '', 'x', ''",
            f"'{t.tried.number}9', {t.tried.attempt_id}, '', 'x', 'y'",
            f"'{t.tried.number}', 4711, '', 'x', 'y'",
            f"'{t.tried.number}', {t.tried.attempt_id}, '{t.model.of('issued')[0].number}', 'x', 'y'",
        )
    else:
        wrong = f"'{t.tried.number or 'nobody'}', {t.tried.attempt_id}, '', 'x', 'y'"
    columns = "voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at"
    return [f"INSERT {t.either} INTO reversal ({columns}) VALUES ('{t.tried.request.voucher}', {wrong}, 'z')"]


def marked_by_hand(t: Target) -> list[str] | None:
    """A mark without the words that it follows from; and a state that only a withdrawal leads to."""
    if t.tried.state in ("issued", "not_sent") and t.pick(0, 1):
        return [f"UPDATE {t.either} attempt SET state = 'unknown', number = '' {t.at}"]
    table = "settlement" if t.tried.settled or t.tried.withdrawn else "elsewhere" if t.model.shown else ""
    if not table:
        return None
    mark = t.pick("withdrawn = 1 - withdrawn", "withdrawn = withdrawn")
    if table == "elsewhere":
        mark = t.pick(mark, "live = 1 - live", "live = 1 - live, withdrawn = 1 - withdrawn")
    return [f"UPDATE {t.either} {table} SET {mark} {t.at if table == 'settlement' else ''}"]


def recorded_words_changed(t: Target) -> list[str] | None:
    there = ["epoch"]
    there += ["reversal"] * 2 if t.model.reversals else []
    withdrawn = (
        any(tried.withdrawn for tried in t.model.attempts.values())
        or any(shown.withdrawn for shown in t.model.shown)
        or any(withdrawn for _, _, withdrawn in t.model.reversals)
    )
    there += ["withdrawal"] * 2 if withdrawn else []
    table = t.pick(*there)
    column = t.pick("rowid", *_WORDS[table])
    return [
        t.pick(
            f"UPDATE {t.either} {table} SET {column} = {t.pick('4711', column)}",
            f"DELETE FROM {table}",
            f"INSERT {t.either} INTO {table} SELECT * FROM {table}",
        )
    ]
