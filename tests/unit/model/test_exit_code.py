"""What a command ends with: of all that applies the highest."""

import pytest

from pipeline.model.exit_code import ExitCode, of_reconciliation, of_run, where_written

DONE, PERSON, _, STOPPED, UNKNOWN = ExitCode


@pytest.mark.parametrize(
    ("rows", "stopped", "differs", "code"),
    [
        ([], "", False, DONE),
        ([DONE, PERSON], "", False, PERSON),
        ([DONE], "", True, PERSON),
        ([DONE], "why", True, STOPPED),
        ([STOPPED, UNKNOWN], "why", True, UNKNOWN),
    ],
)
def test_a_run_ends_with_its_rows_worst_or_why_it_stopped(
    rows: list[ExitCode], stopped: str, differs: bool, code: ExitCode
) -> None:
    assert of_run(rows, stopped=stopped, differs=differs) is code


@pytest.mark.parametrize(
    ("run", "unknown", "needs_person", "code"),
    [
        (DONE, (), (), DONE),
        (DONE, (), (False, [], ""), DONE),
        (DONE, (), (False, [], "a gap"), PERSON),
        (STOPPED, (), (True,), STOPPED),
        (STOPPED, ("an attempt",), (True,), UNKNOWN),
    ],
)
def test_a_reconciliation_ends_with_its_run_s_code_or_what_is_open(
    run: ExitCode, unknown: tuple[str, ...], needs_person: tuple[object, ...], code: ExitCode
) -> None:
    assert of_reconciliation(run, unknown, *needs_person) is code


@pytest.mark.parametrize(
    ("code", "problems", "wanted"),
    [(PERSON, (), PERSON), (PERSON, ["no room"], STOPPED), (UNKNOWN, ["no room"], UNKNOWN)],
)
def test_a_result_that_could_not_be_written_is_written_by_the_next_run(
    code: ExitCode, problems: object, wanted: ExitCode
) -> None:
    assert where_written(code, problems) is wanted
