"""Illegal changes of what a reconciliation notes: what statements showed, judgements, files that were handled."""

from tests.crash.machine_target import Target

_COLUMNS = {
    "elsewhere": (
        "run", "ticket_no", "charge", "product", "wire", "voucher", "number", "amount", "buyer", "issued_at", "evidence",
        "found_by", "found_at",
    ),
    "judgement": (
        "run", "ticket_no", "charge", "product", "voucher", "amount", "status", "reasons", "file", "sheet", "row", "judged_at",
    ),
    "handled": ("run", "sha256", "kind", "name", "result", "fates", "unfinished", "handled_at"),
}  # fmt: skip


def _table(t: Target) -> str:
    """One that has rows: every run notes a judgement and a file, and some what a statement showed."""
    table: str = t.pick("judgement", "handled", *(("elsewhere",) * 3 if t.model.shown else ()))
    return table


def noted_changed(t: Target) -> list[str]:
    table = _table(t)
    column = t.pick("rowid", table, *_COLUMNS[table])
    value = t.pick("4711", f"{column} || '1'", f"{column}")
    return [f"UPDATE {t.either} {table} SET {column} = {value} {t.pick('', 'WHERE rowid = 1')}"]


def noted_deleted(t: Target) -> list[str]:
    return [f"DELETE FROM {_table(t)} {t.pick('', 'WHERE rowid = 1')}"]


def noted_over_another(t: Target) -> list[str]:
    table = _table(t)
    columns = ", ".join(_COLUMNS[table])
    number = t.pick("number", "number || 'x'")
    changed = ", ".join({"amount": "4711", "number": number}.get(name, name) for name in _COLUMNS[table])
    key = t.pick(table, "rowid")
    upsert = t.pick("", " WHERE true ON CONFLICT DO UPDATE SET run = run + 1")
    either = "" if upsert else t.either or "OR REPLACE"
    return [f"INSERT {either} INTO {table} ({key}, {columns}) SELECT {key}, {changed} FROM {table}{upsert}"]


def noted_by_no_run(t: Target) -> list[str]:
    """By one that has ended, or that there never was."""
    table = _table(t)
    ended = [key for key, (is_over, _) in t.model.runs.items() if is_over]
    run = ended[t.dice % len(ended)] if ended else 4711
    others = ", ".join(
        "number || 'x'" if name == "number" else name for name in _COLUMNS[table] if name != "run"
    )
    names = ", ".join(name for name in _COLUMNS[table] if name != "run")
    return [f"INSERT {t.either} INTO {table} (run, {names}) SELECT {run}, {others} FROM {table} LIMIT 1"]


def shown_again_or_not_whole(t: Target) -> list[str] | None:
    """What a statement showed, a second time under another key, or without what it is known by."""
    if not t.model.shown:
        return None
    wrong = t.pick(
        {}, {"number": "''"}, {"evidence": "''"}, {"found_by": "''"}, {"charge": "'fee'"}, {"voucher": "''"}
    )
    if not wrong and t.model.shown[0].withdrawn:
        return None  # it may be shown again
    run = max(t.model.runs)  # the one that is on, if any is
    values = {name: name for name in _COLUMNS["elsewhere"]} | wrong | {"run": str(run)}
    return [
        f"INSERT {t.either} INTO elsewhere ({', '.join(values)}) SELECT {', '.join(values.values())} FROM elsewhere LIMIT 1"
    ]
