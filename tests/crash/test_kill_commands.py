"""A few kill points of the ledger's own commands; the long form is in kill_commands.py."""

from pathlib import Path

import pytest

from tests.crash.kill_commands import COMMANDS, STATES, sweep
from tests.crash.kill_points import forking_office


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_killed_backup_or_export_leaves_the_ledger_as_it_was_and_nothing_half_made(tmp_path: Path) -> None:
    with forking_office(tmp_path) as office:
        tally = sweep(office, every=23)
    assert tally.violations == []
    assert len(tally.kinds) == len(COMMANDS) * len(STATES)
    assert tally.points >= 8
