"""Wrong passwords: how many, of a name and from an address, and how long to wait."""

from pathlib import Path

from pipeline.page import login_tries
from pipeline.page.page_database import connected

PASSWORD = "a horse, a battery and a staple"


def test_five_wrong_passwords_of_a_name_are_enough(tmp_path: Path) -> None:
    for number in range(5):
        assert login_tries.begin_try(tmp_path, "Anna", f"10.0.0.{number}") == 0
    assert 880 < login_tries.begin_try(tmp_path, " anna", "10.0.0.9") <= 900
    assert login_tries.begin_try(tmp_path, "peter", "10.0.0.9") == 0
    connected(tmp_path).execute("UPDATE login_try SET at = at - 890")
    assert 1 <= login_tries.begin_try(tmp_path, "anna", "10.0.0.9") <= 11
    connected(tmp_path).execute("UPDATE login_try SET at = at - 11")
    assert login_tries.begin_try(tmp_path, "anna", "10.0.0.9") == 0


def test_twenty_of_an_address_are_enough(tmp_path: Path) -> None:
    for number in range(20):
        assert login_tries.begin_try(tmp_path, f"name {number}", "10.0.0.1") == 0
    assert login_tries.begin_try(tmp_path, "anna", "10.0.0.1") > 880
    assert login_tries.begin_try(tmp_path, "anna", "10.0.0.2") == 0


def test_the_right_password_clears_the_wrong_ones_of_its_name(tmp_path: Path) -> None:
    for _ in range(4):
        login_tries.begin_try(tmp_path, "anna", "10.0.0.1")
    login_tries.begin_try(tmp_path, "peter", "10.0.0.1")
    login_tries.right(tmp_path, "ANNA")
    assert connected(tmp_path).execute("SELECT count(*) FROM login_try").get == 1


def test_what_was_typed_as_a_name_is_not_kept(tmp_path: Path) -> None:
    login_tries.begin_try(tmp_path, PASSWORD, "10.0.0.1")
    assert PASSWORD.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_clock_that_was_wrong_locks_nobody_out_for_long(tmp_path: Path) -> None:
    for _ in range(5):
        login_tries.begin_try(tmp_path, "anna", "10.0.0.1")
    connected(tmp_path).execute("UPDATE login_try SET at = at + 10000000")
    assert login_tries.begin_try(tmp_path, "anna", "10.0.0.1") == 0
