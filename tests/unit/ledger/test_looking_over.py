"""What a look over the whole ledger says, word for word."""

from typing import Any

import pytest

from pipeline.ledger import runs, schema
from pipeline.ledger.integrity_check import Looked, look

from .conftest import OWNER


def without_rules(book: Any) -> None:
    """Somebody has taken the database's own rules away."""
    for (name,) in book.connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall():
        book.connection.execute(f"DROP TRIGGER {name}")


def test_all_that_a_ledger_holds_is_told(book: Any, fare: Any) -> None:
    book.plan(fare(1), fare(2))
    began = runs.begun_and_not_ended(book.connection)
    assert look(book.connection) == Looked(
        version=schema.VERSION,
        base_url=OWNER.base_url,
        agency=OWNER.agency,
        runs=1,
        states={"planned": 2},
        open_since=began,
        gap=None,
        wrong=(),
    )
    assert book.connection.get_autocommit()  # no transaction is left open


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (4, ""), (5, ""), (6, " and 1 more"), (8, " and 3 more")]
)
def test_five_of_a_kind_are_named_and_the_rest_counted(book: Any, fare: Any, count: int, more: str) -> None:
    book.plan(*map(fare, range(1, count + 1)))
    without_rules(book)
    book.connection.execute("UPDATE charge SET amount = amount + 1")
    line = str(look(book.connection).wrong[-1]).removeprefix(
        "an attempt whose charges are not its request's total: "
    )
    assert line.endswith(more)
    named = line.removesuffix(more).split(", ")
    assert len(named) == len(set(named)) == min(count, 5)
    assert set(named) <= {f"attempt {number}" for number in range(1, count + 1)}


def test_each_rule_that_is_missing_is_named(book: Any) -> None:
    rules = [
        name for (name,) in book.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    ]
    without_rules(book)
    assert tuple(map(str, look(book.connection).wrong)) == tuple(
        f"the ledger's rules were changed: trigger {name}" for name in sorted(rules)
    )
