"""Sessions, form tokens, one-time links."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.model.profile import Profile
from pipeline.page import accounts, sessions
from pipeline.page.page_database import connected
from pipeline.page.serve_settings import ServeSettings
from pipeline.page.visitor import Role

PASSWORD = "a horse, a battery and a staple"


pytestmark = pytest.mark.usefixtures("light_hashes")


@pytest.fixture
def anna(tmp_path: Path) -> accounts.Account:
    accounts.add(tmp_path, "anna", Role.APPROVER, PASSWORD)
    account = accounts.found(tmp_path, "anna")
    assert account
    return account


def test_a_session_is_its_accounts(tmp_path: Path, anna: accounts.Account) -> None:
    token = sessions.begin_session(tmp_path, anna, "anna")
    found = sessions.session_of(tmp_path, token, local=False, used=True)
    assert found == sessions.Session("anna", Role.APPROVER, anna.id, None)
    again = accounts.found(tmp_path, "anna")
    assert again
    assert again.last_login == pytest.approx(time.time(), abs=5)
    connected(tmp_path).execute("UPDATE account SET role = 'viewer'")
    found = sessions.session_of(tmp_path, token, local=False, used=True)
    assert found
    assert found.role == Role.VIEWER  # as it is now, not as it was


def test_ids_are_long_random_and_not_kept(tmp_path: Path, anna: accounts.Account) -> None:
    tokens = {sessions.begin_session(tmp_path, anna, "anna") for _ in range(50)}
    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {43}  # 32 bytes in Base64
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [token for token in tokens if token.encode() in kept]
    assert {len(each) for (each,) in connected(tmp_path).execute("SELECT id FROM session")} == {32}


def test_no_other_cookie_opens_anything(tmp_path: Path, anna: accounts.Account) -> None:
    token = sessions.begin_session(tmp_path, anna, "anna")
    kept = connected(tmp_path).execute("SELECT id FROM session").get
    for other in (
        "",
        "x",
        token[:-1],
        token + "x",
        token.swapcase(),
        kept.hex(),
        kept.decode("latin-1"),
        "\ud800",
    ):
        assert sessions.session_of(tmp_path, other, local=True, used=True) is None


def test_whoever_came_by_the_link_is_known_on_loopback_without_accounts_only(tmp_path: Path) -> None:
    token = sessions.begin_session(tmp_path, None, "root")
    found = sessions.session_of(tmp_path, token, local=True, used=True)
    assert found == sessions.Session("root", Role.ADMINISTRATOR, None, None)
    assert sessions.session_of(tmp_path, token, local=False, used=True) is None
    connected(tmp_path).execute(
        "INSERT INTO account (name, folded, role, password, made) VALUES ('a', 'a', 'viewer', '', 0)"
    )
    assert sessions.session_of(tmp_path, token, local=True, used=True) is None


@pytest.mark.parametrize(
    ("begun", "used", "there"),
    [
        (0, 0, True),
        (43_190, 0, True),
        (43_210, 0, False),
        (1790, 1790, True),
        (1810, 1810, False),
        (-200, 0, False),
    ],
)
def test_sessions_end(tmp_path: Path, anna: accounts.Account, begun: int, used: int, there: bool) -> None:
    token = sessions.begin_session(tmp_path, anna, "anna")
    connected(tmp_path).execute("UPDATE session SET begun = begun - ?, used = used - ?", (begun, used))
    assert (sessions.session_of(tmp_path, token, local=True, used=True) is not None) == there


def test_use_makes_a_session_last_and_what_the_script_asks_does_not(
    tmp_path: Path, anna: accounts.Account
) -> None:
    token = sessions.begin_session(tmp_path, anna, "anna")
    connected(tmp_path).execute("UPDATE session SET used = used - 1000")
    before = connected(tmp_path).execute("SELECT used FROM session").get
    assert sessions.session_of(tmp_path, token, local=True, used=False)
    assert connected(tmp_path).execute("SELECT used FROM session").get == before
    assert sessions.session_of(tmp_path, token, local=True, used=True)
    assert connected(tmp_path).execute("SELECT used FROM session").get > before + 900


def test_what_has_ended_is_cleared_away(tmp_path: Path, anna: accounts.Account) -> None:
    sessions.begin_session(tmp_path, anna, "anna")
    connected(tmp_path).execute("UPDATE session SET used = 0")
    token = sessions.begin_session(tmp_path, anna, "anna")
    assert connected(tmp_path).execute("SELECT count(*) FROM session").get == 1
    sessions.end_session(tmp_path, token)
    assert connected(tmp_path).execute("SELECT count(*) FROM session").get == 0


def test_form_tokens_are_the_sessions_own() -> None:
    assert sessions.form_token("a") != sessions.form_token("b")
    assert sessions.form_token("a") != sessions.form_token_before(b"key", "a")
    assert sessions.form_token_before(b"key", "a") != sessions.form_token_before(b"other", "a")
    assert len(sessions.form_token("a")) == 64


def test_cookies_are_bound_to_https_where_it_is_spoken(tmp_path: Path) -> None:
    settings = ServeSettings(Profile(), None, str(tmp_path / "l"), tmp_path)
    assert sessions.cookie_name(settings, "session") == "voucher-session-8750"
    for secure in (replace(settings, certificate=Path("x")), replace(settings, names=("pay.office",))):
        assert sessions.cookie_name(secure, "session") == "__Host-voucher-session"


def test_a_link_is_good_once_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    link = sessions.OneTimeLink()
    assert not link.take("")
    first = link.fresh()
    second = link.fresh()
    assert not link.take(first)
    assert not link.take("x")
    assert link.take(second)
    assert not link.take(second)
    third = link.fresh()
    later = time.monotonic() + 601
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert not link.take(third)
