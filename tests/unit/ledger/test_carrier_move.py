"""A ledger follows its carrier by a recorded move alone; a trial's ledger never becomes a real one."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import carrier_move, opening
from pipeline.model.errors import InputProblem
from pipeline.model.profile import Owner, sandbox_owner

from .conftest import OWNER

NEW = Owner("http://127.0.0.1:9090", "DEMO")
REAL = Owner("https://carrier.example", "DEMO")


def test_a_move_is_recorded_and_the_ledger_is_the_new_carriers(book: Any) -> None:
    carrier_move.move(book.connection, NEW, "chen", "the carrier's letter of 1 Nov")
    row = "from_base_url, from_agency, to_base_url, to_agency, moved_by, why"
    connection = opening.open_for_reading(book.path, NEW)
    assert connection is not None
    assert list(connection.execute(f"SELECT {row} FROM carrier_move")) == [
        (OWNER.base_url, "DEMO", NEW.base_url, "DEMO", "chen", "the carrier's letter of 1 Nov")
    ]
    connection.close()
    with pytest.raises(InputProblem, match=r"belongs to .*9090.*move-carrier"):
        opening.open_for_reading(book.path, OWNER)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger SET base_url = 'https://other.example'",
        "UPDATE ledger SET agency = 'OTHER'",
        "UPDATE ledger SET ledger_id = 'x'",
        "DELETE FROM ledger",
        "UPDATE carrier_move SET why = 'other'",
        "DELETE FROM carrier_move",
    ],
)
def test_the_database_itself_refuses_a_move_that_is_not_recorded(book: Any, change: str) -> None:
    carrier_move.move(book.connection, NEW, "chen", "a letter")
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(change)


def test_a_move_back_is_a_move_of_its_own(book: Any) -> None:
    carrier_move.move(book.connection, NEW, "chen", "a letter")
    carrier_move.move(book.connection, OWNER, "chen", "it was withdrawn")
    with pytest.raises(apsw.ConstraintError):  # the first move is over
        book.connection.execute("UPDATE ledger SET base_url = ?", (NEW.base_url,))
    assert carrier_move.owner_of(book.connection) == OWNER


@pytest.mark.parametrize(
    ("old", "to", "told"),
    [
        (REAL, REAL, "belongs to .* already"),
        (OWNER, REAL, "ledger of a trial"),
        (sandbox_owner("DEMO"), REAL, "ledger of a trial"),
        (sandbox_owner("DEMO"), OWNER, "ledger of a trial"),
        (REAL, OWNER, "ledger of a real carrier"),
        (OWNER, sandbox_owner("DEMO"), "ledger of a real carrier"),
    ],
)
def test_moves_that_are_refused(old: Owner, to: Owner, told: str) -> None:
    with pytest.raises(InputProblem, match=told):
        carrier_move.check_move(Path("a.ledger"), old, to)


def test_moves_that_are_fine() -> None:
    assert not carrier_move.obstacle(REAL, Owner("https://new.example", "DEMO"))
    assert not carrier_move.obstacle(OWNER, NEW)


def test_the_names_that_a_ledger_may_have_by_default_are_those_of_every_address_it_had(
    book: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path / "link")
    other = Owner("http://127.0.0.1:9090", "OTHER")
    for to in (NEW, other):
        carrier_move.move(book.connection, to, "chen", "a letter")
    assert carrier_move.default_names(book.connection, other) == {
        tmp_path / "127.0.0.1_8080-DEMO.ledger",
        tmp_path / "127.0.0.1_9090-DEMO.ledger",
        tmp_path / "127.0.0.1_9090-OTHER.ledger",
    }
