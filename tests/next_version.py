"""Made-up next versions of the ledger, for tests of how a program of one meets a ledger of today's."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from unittest import mock

from pipeline.ledger import opening, schema
from pipeline.ledger.schema import STEPS, Steps


def steps_after(count: int) -> Steps:
    """Today's steps and so many more: each has a new table, filled from another, a new column, and a rule made anew."""
    return STEPS + tuple(
        f"""
        CREATE TABLE later_{number} (attempt_id INTEGER PRIMARY KEY REFERENCES attempt, told TEXT NOT NULL) STRICT;
        INSERT INTO later_{number} SELECT attempt_id, detail FROM attempt WHERE state <> 'planned'; -- those are dropped
        ALTER TABLE attempt ADD COLUMN later_{number} TEXT NOT NULL DEFAULT 'not told';
        DROP TRIGGER request_remains;
        CREATE TRIGGER request_remains BEFORE DELETE ON request
        BEGIN SELECT RAISE(ABORT, 'a request stays, says version {number + 1} after today''s'); END;
        """
        for number in range(count)
    )


NEXT = steps_after(1)

#: The environment's name for how many versions after today's a run of the crash tests is.
LATER = "LEDGER_VERSIONS_LATER"


@contextmanager
def program(count: int) -> Iterator[None]:
    """Let this process be a program whose ledger is so many versions after today's."""
    steps = steps_after(count)
    with ExitStack() as stack:
        for room, name in (
            (opening, "open_for_run"),
            (opening, "open_for_reading"),
            (opening, "open_beside"),
            (schema, "differences"),
            (schema, "show_as_current"),
        ):
            stack.enter_context(mock.patch.object(room, name, partial(getattr(room, name), steps=steps)))
        yield
