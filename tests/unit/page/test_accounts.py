"""Who may log in: names, passwords, roles."""

import stat
import threading
import time
from pathlib import Path

import argon2
import pytest

from pipeline.model.errors import InputProblem
from pipeline.page import accounts
from pipeline.page.page_database import NAME, connected
from pipeline.page.sessions import begin_session, session_of
from pipeline.page.visitor import Role

PASSWORD = "a horse, a battery and a staple"


@pytest.mark.usefixtures("light_hashes")
def test_an_account_is_found_by_its_name_however_it_is_typed(tmp_path: Path) -> None:
    accounts.add(tmp_path, "  Zhäng Wei ", Role.PREPARER, PASSWORD)
    account = accounts.found(tmp_path, "zHA\u0308NG wei")
    assert account
    assert (account.name, account.role, account.lang, account.last_login) == (
        "Zhäng Wei",
        Role.PREPARER,
        None,
        None,
    )
    with pytest.raises(InputProblem, match="already"):
        accounts.add(tmp_path, "ZHÄNG WEI", Role.VIEWER, PASSWORD)
    with pytest.raises(InputProblem, match="already"):
        accounts.add(tmp_path, "ｚhäng wei", Role.VIEWER, PASSWORD)
    assert [each.role for each in accounts.all_accounts(tmp_path)] == [Role.PREPARER]


@pytest.mark.parametrize("name", ["张伟", "O'Brien", "a", "x" * 40, "anna@office.example", "José"])
def test_names_of_people_are_names(name: str) -> None:
    assert accounts.fit_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 41,
        "a\u202eb",
        "a\x00b",
        "a\nb",
        "a\u200bb",
        "a\u2066b",
        "\ufeffa",
        "a\u2028b",
        "\ud800",
    ],
)
def test_what_can_not_be_seen_is_no_name(name: str) -> None:
    with pytest.raises(InputProblem):
        accounts.fit_name(name)


@pytest.mark.parametrize(
    "password",
    [
        "x" * 11,
        "Ab" * 65,
        "password1234",
        "PASSWORD1234",
        "111111111111",
        "abababababab",
        "zhangwei12345",
        "",
        "qwertyuiop12",
    ],
)
def test_a_password_that_is_guessed_first_is_refused(tmp_path: Path, password: str) -> None:
    with pytest.raises(InputProblem):
        accounts.add(tmp_path, "ZhangWei12345", Role.VIEWER, password)
    assert not accounts.any_account(tmp_path)


@pytest.mark.usefixtures("light_hashes")
@pytest.mark.parametrize(
    "password",
    [
        "x1!-" * 3,
        "abcd" * 32,
        "密码可以是中文也可以很长哦",
        "          a b c",
        "\x00\x01\x02\x03" * 4,
        "😀🐎🔋📎" * 3,
        "\ud800abc" * 3,
    ],
)
def test_any_characters_do_and_every_one_counts(tmp_path: Path, password: str) -> None:
    accounts.add(tmp_path, "anna", Role.VIEWER, password)
    assert accounts.with_password(tmp_path, "Anna", password)
    for other in (password[:-1], password + "x", password[1:], password + " "):
        assert not accounts.with_password(tmp_path, "anna", other)


@pytest.mark.usefixtures("light_hashes")
def test_a_password_is_the_same_however_its_characters_are_composed(tmp_path: Path) -> None:
    accounts.add(tmp_path, "anna", Role.VIEWER, "café café café")
    assert accounts.with_password(tmp_path, "anna", "cafe\u0301 cafe\u0301 cafe\u0301")


def test_passwords_are_kept_as_argon2id_and_nothing_else(tmp_path: Path) -> None:
    accounts.add(tmp_path, "anna", Role.VIEWER, PASSWORD)
    accounts.add(tmp_path, "peter", Role.VIEWER, PASSWORD)
    kept = [account.password for account in accounts.all_accounts(tmp_path)]
    assert all(each.startswith("$argon2id$v=19$m=65536,t=3,p=4$") for each in kept)
    assert len(set(kept)) == 2
    assert PASSWORD.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.slow
def test_a_hash_of_weaker_parameters_is_made_anew_at_the_next_login(tmp_path: Path) -> None:
    accounts.add(tmp_path, "anna", Role.VIEWER, PASSWORD)
    weak = argon2.PasswordHasher(time_cost=1, memory_cost=64).hash(PASSWORD)
    connected(tmp_path).execute("UPDATE account SET password = ?", (weak,))
    assert not accounts.with_password(tmp_path, "anna", "another")
    assert connected(tmp_path).execute("SELECT password FROM account").get == weak
    assert accounts.with_password(tmp_path, "anna", PASSWORD)
    assert (
        connected(tmp_path).execute("SELECT password FROM account").get.startswith("$argon2id$v=19$m=65536")
    )
    assert accounts.with_password(tmp_path, "anna", PASSWORD)


@pytest.mark.usefixtures("light_hashes")
def test_a_hash_that_is_none_lets_nobody_in(tmp_path: Path) -> None:
    accounts.add(tmp_path, "anna", Role.VIEWER, PASSWORD)
    connected(tmp_path).execute("UPDATE account SET password = 'x'")
    assert not accounts.with_password(tmp_path, "anna", PASSWORD)


@pytest.mark.slow
def test_an_unknown_name_takes_as_long_as_a_wrong_password(tmp_path: Path) -> None:
    accounts.add(tmp_path, "anna", Role.VIEWER, PASSWORD)
    took = {"anna": 9.0, "nobody": 9.0}
    for name in [*took, *took, *took]:
        begun = time.perf_counter()
        assert not accounts.with_password(tmp_path, name, "another password")
        took[name] = min(took[name], time.perf_counter() - begun)
    assert 0.3 < took["nobody"] / took["anna"] < 3


@pytest.mark.usefixtures("light_hashes")
def test_the_last_administrator_stays_while_others_are_there(tmp_path: Path) -> None:
    accounts.add(tmp_path, "adam", Role.ADMINISTRATOR, PASSWORD)
    accounts.add(tmp_path, "anna", Role.APPROVER, PASSWORD)
    with pytest.raises(InputProblem, match="last administrator"):
        accounts.remove(tmp_path, "adam")
    with pytest.raises(InputProblem, match="no such account"):
        accounts.remove(tmp_path, "eve")
    accounts.remove(tmp_path, "anna")
    accounts.remove(tmp_path, "adam")
    assert not accounts.any_account(tmp_path)


@pytest.mark.usefixtures("light_hashes")
@pytest.mark.parametrize("change", ["password", "remove"])
def test_another_password_or_none_ends_sessions(tmp_path: Path, change: str) -> None:
    accounts.add(tmp_path, "anna", Role.APPROVER, PASSWORD)
    accounts.add(tmp_path, "adam", Role.ADMINISTRATOR, PASSWORD)
    anna, adam = accounts.found(tmp_path, "anna"), accounts.found(tmp_path, "adam")
    assert anna
    assert adam
    hers, his = (begin_session(tmp_path, each, each.name) for each in (anna, adam))
    if change == "password":
        accounts.set_password(tmp_path, "anna", "something else again")
    else:
        accounts.remove(tmp_path, "anna")
    assert session_of(tmp_path, hers, local=True, used=True) is None
    assert session_of(tmp_path, his, local=True, used=True)


@pytest.mark.usefixtures("light_hashes")
def test_files_are_nobody_elses(tmp_path: Path) -> None:
    folder = tmp_path / "ledger.page"
    assert not accounts.any_account(folder)
    assert not folder.exists()
    accounts.add(folder, "anna", Role.APPROVER, PASSWORD)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert (folder / NAME).exists()


@pytest.mark.usefixtures("light_hashes")
def test_of_several_at_once_one_gets_the_name(tmp_path: Path) -> None:
    refused = []

    def add() -> None:
        try:
            accounts.add(tmp_path, "anna", Role.VIEWER, PASSWORD)
        except InputProblem as problem:
            refused.append(problem)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3
    assert len(accounts.all_accounts(tmp_path)) == 1
