"""Where a ledger lies: by its carrier, or as `--ledger` says."""

from pathlib import Path
from typing import Any

import platformdirs
import pytest

from pipeline.ledger import ledger_path, opening
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.profile import Owner, sandbox_owner


@pytest.mark.parametrize(
    ("base_url", "agency", "name"),
    [
        ("https://carrier.example", "A.1-b", "carrier.example-A.1-b.ledger"),
        ("https://carrier.example:8443/api/v2", "X", "carrier.example_8443_api_v2-X.ledger"),
        ("https://carrier.example/", "A B//C", "carrier.example_-A_B_C.ledger"),
        ("https://CARRIER.example", "zZ09", "CARRIER.example-zZ09.ledger"),
    ],
)
def test_the_default_ledger_is_named_for_its_carrier(
    monkeypatch: pytest.MonkeyPatch, base_url: str, agency: str, name: str
) -> None:
    asked: list[Any] = []

    def folder(*given: Any, **named: Any) -> Path:
        asked.append((given, named))
        return Path("/data")

    monkeypatch.setattr(platformdirs, "user_data_path", folder)
    assert ledger_path.default_path(Owner(base_url, agency)) == Path("/data") / name
    assert asked == [(("voucher-pipeline",), {"appauthor": False})]


def test_a_user_without_a_home_names_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any, **__: Any) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(platformdirs, "user_data_path", none)
    with pytest.raises(
        InputProblem, match=r"^This user has no home folder for a ledger; name one with --ledger$"
    ):
        ledger_path.default_path(Owner("https://carrier.example", "A"))


def test_sandbox_ledgers_are_of_one_owner_that_is_no_address() -> None:
    assert sandbox_owner("A") == Owner("sandbox", "A")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("a.ledger", "a.ledger"),
        ("/var/a b.ledger", "/var/a b.ledger"),
        ("sqlite:///a.ledger", "a.ledger"),
        ("sqlite:////var/a.ledger", "/var/a.ledger"),
        ("sqlite:///sqlite:///a", "sqlite:///a"),
        ("c:/a.ledger", "c:/a.ledger"),
    ],
)
def test_paths_and_sqlite_addresses_name_a_file(given: str, path: str) -> None:
    assert ledger_path.path_given(given) == Path(path)


@pytest.mark.parametrize("given", ["", "  ", "sqlite:///", "sqlite:///  "])
def test_an_empty_name_is_refused(given: str) -> None:
    with pytest.raises(
        InputProblem, match=r"^--ledger is empty; name the ledger's file, or leave the option out$"
    ):
        ledger_path.path_given(given)


@pytest.mark.parametrize("given", ["postgresql://u:secret@host://db", "sqlite://a.ledger", "SQLITE:///a"])
def test_other_addresses_are_refused_without_what_is_secret_in_them(given: str) -> None:
    scheme = given.partition(":")[0]
    with pytest.raises(
        InputProblem,
        match=rf"^--ledger {scheme}://…: only a file \(a path or sqlite:///PATH\) can be used$",
    ):
        ledger_path.path_given(given)


def test_a_path_that_can_not_be_looked_at_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(
        LedgerProblem,
        match=r"^/root/a\.ledger: the ledger can't be read \(Permission denied\); check the path$",
    ):
        opening.open_for_reading(Path("/root/a.ledger"), None)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"ticket_no,amount\n", "is not a ledger, or is damaged; check --ledger"),
        (b"", "is an empty file; check --ledger"),
    ],
)
def test_nothing_is_made_beside_another_kind_of_file(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "tickets.csv").write_bytes(content)
    with pytest.raises(InputProblem, match=told):
        opening.open_for_run(tmp_path / "tickets.csv", None, may_create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["tickets.csv"]


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    told = rf"^{tmp_path}: is a folder; name the ledger's file in it with --ledger$"
    with pytest.raises(InputProblem, match=told):
        opening.open_for_reading(tmp_path, None)
    with pytest.raises(InputProblem, match=told):
        opening.open_for_run(tmp_path, None, may_create=False)
