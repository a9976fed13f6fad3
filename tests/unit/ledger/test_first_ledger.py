"""An agency's ledger is found whatever its name is, so that no second one is begun beside it."""

from contextlib import closing
from pathlib import Path

import apsw
import platformdirs
import pytest

from pipeline.ledger import opening
from pipeline.ledger.first_ledger import check_first
from pipeline.model.errors import InputProblem
from pipeline.model.profile import Owner, sandbox_owner

OWNER = Owner("http://127.0.0.1:8443", "AGENCY")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The per-user data folder."""
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_, **__: tmp_path / "data")
    return tmp_path / "data"


def made(path: Path, owner: Owner = OWNER) -> Path:
    connection, lock = opening.open_for_run(path, owner, may_create=True)
    connection.close()
    lock.close()
    return path


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:9443", "http://localhost:8443", "https://carrier.example"]
)
@pytest.mark.parametrize("place", ["data", "books"])
def test_one_at_another_address_is_found_in_both_folders(
    data: Path, tmp_path: Path, place: str, base_url: str
) -> None:
    found = made(tmp_path / place / "by any name", Owner(base_url, "AGENCY"))
    with pytest.raises(InputProblem) as refused:
        check_first(tmp_path / "books" / "new.ledger", OWNER)
    assert str(refused.value) == (
        f"{tmp_path / 'books' / 'new.ledger'}: there is no ledger, but {found} may be of the same carrier ({base_url} as agency"
        " AGENCY), and a second one would issue again what that one holds. Name it with --ledger; if the carrier has another"
        " address now: voucher ledger move-carrier --ledger with it; for another carrier, or a trial: --new-ledger"
    )
    assert place in ("books", data.name)


def test_ledgers_of_others_and_of_trials_and_other_files_are_no_obstacle(data: Path, tmp_path: Path) -> None:
    made(data / "a.ledger", Owner("http://127.0.0.1:8443", "ANOTHER"))
    made(data / "b.ledger", sandbox_owner("AGENCY"))
    made(tmp_path / "elsewhere" / "c.ledger")
    (data / "tickets.csv").write_text("ticket_no\n" * 100)
    (data / "folder").mkdir()
    (data / "gone").symlink_to("nowhere")
    with closing(apsw.Connection(str(data / "other.sqlite"))) as other:
        other.execute("CREATE TABLE t (x)")
    check_first(data / "new.ledger", OWNER)
    check_first(tmp_path / "no folder" / "new.ledger", OWNER)


def test_the_very_one_that_another_run_begins_meanwhile_is_no_other(data: Path) -> None:
    check_first(made(data / "a.ledger"), OWNER)


def test_what_a_killed_first_run_left_is_no_ledger(data: Path) -> None:
    made(data / "a.ledger").rename(data / f".a.ledger.{'0' * 32}.new")
    check_first(data / "a.ledger", OWNER)


def test_a_damaged_one_may_be_anybodys(data: Path) -> None:
    path = made(data / "a.ledger")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    with pytest.raises(InputProblem, match=r"a\.ledger may be of the same carrier \(it is damaged\)"):
        check_first(data / "new.ledger", OWNER)


def test_a_user_without_a_home_has_the_named_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(platformdirs, "user_data_path", none)
    check_first(tmp_path / "new.ledger", OWNER)
    made(tmp_path / "a.ledger")
    with pytest.raises(InputProblem, match="may be of the same carrier"):
        check_first(tmp_path / "new.ledger", OWNER)


@pytest.mark.parametrize("spelled", ["agency", " Agency "])
def test_an_agency_that_is_spelled_otherwise_is_the_same_one(data: Path, spelled: str) -> None:
    made(data / "a.ledger", Owner(OWNER.base_url, spelled))
    with pytest.raises(InputProblem, match="may be of the same carrier"):
        check_first(data / "new.ledger", OWNER)
