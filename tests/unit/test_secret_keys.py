"""The two secret keys: from the environment or the keyring, shown nowhere."""

import sys
import traceback
import types

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.profile import Secrets
from pipeline.secret_keys import MailboxPassword, key_places, known_keys, load_mailbox_password, load_secrets

KEYS_SET = {"VOUCHER_API_KEY": "api-s3cret", "VOUCHER_ENCRYPTION_KEY": "enc-s3cret 密钥"}


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A system keyring that holds what a test puts into it; this machine's own is never asked."""
    stored: dict[tuple[str, str], str] = {}

    class KeyringError(Exception):
        pass

    def get_password(service: str, user: str) -> str | None:
        if stored.get((service, user)) == "locked":
            raise KeyringError
        if stored.get((service, user)) == "broken":
            raise RuntimeError("s3cret")
        return stored.get((service, user))

    errors = types.SimpleNamespace(KeyringError=KeyringError)
    fake = types.SimpleNamespace(get_password=get_password, errors=errors)
    monkeypatch.setitem(sys.modules, "keyring", fake)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return stored


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.mark.usefixtures("no_keyring")
def test_the_secrets_come_from_the_environment_as_they_are() -> None:
    secrets = load_secrets(KEYS_SET)
    assert (secrets.api_key, secrets.encryption_key) == ("api-s3cret", "enc-s3cret 密钥")


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize("lacking", [["VOUCHER_API_KEY"], ["VOUCHER_ENCRYPTION_KEY"], list(KEYS_SET)])
@pytest.mark.parametrize("empty", [True, False])
def test_a_missing_or_empty_secret_is_asked_for_by_name(lacking: list[str], empty: bool) -> None:
    given = {name: value for name, value in KEYS_SET.items() if name not in lacking}
    with pytest.raises(InputProblem) as problem:
        load_secrets({**given, **(dict.fromkeys(lacking, "") if empty else {})})
    assert str(problem.value) == (
        f"{' and '.join(lacking)} not set: put the key into the environment variable of that name, or into the system"
        " keyring (service voucher-pipeline, the variable's name as user name)"
    )
    assert problem.value.exit_code == 2


def test_the_keyring_gives_what_the_environment_does_not(keyring: dict[tuple[str, str], str]) -> None:
    keyring["voucher-pipeline", "VOUCHER_API_KEY"] = "from-keyring"
    keyring["voucher-pipeline", "VOUCHER_ENCRYPTION_KEY"] = "not-asked"
    secrets = load_secrets({"VOUCHER_ENCRYPTION_KEY": "from-environment"})
    assert (secrets.api_key, secrets.encryption_key) == ("from-keyring", "from-environment")


def test_what_is_kept_out_of_tracebacks_is_every_key_that_this_process_may_hold(
    keyring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring["voucher-pipeline", "VOUCHER_API_KEY"] = "only-in-the-keyring"
    monkeypatch.delenv("VOUCHER_API_KEY", raising=False)
    monkeypatch.setenv("VOUCHER_ENCRYPTION_KEY", "in-the-environment")
    assert "in-the-environment" in known_keys(), "though nobody has asked for it"
    load_secrets()
    assert {"only-in-the-keyring", "in-the-environment"} <= set(known_keys())


def test_a_keyring_that_is_locked_is_like_none(keyring: dict[tuple[str, str], str]) -> None:
    keyring["voucher-pipeline", "VOUCHER_API_KEY"] = "locked"
    with pytest.raises(InputProblem, match="VOUCHER_API_KEY"):
        load_secrets({"VOUCHER_ENCRYPTION_KEY": "x"})


def test_what_a_failing_keyring_says_is_not_repeated_and_the_way_round_it_is_told(
    keyring: dict[tuple[str, str], str],
) -> None:
    keyring["voucher-pipeline", "VOUCHER_API_KEY"] = "broken"
    with pytest.raises(InputProblem) as problem:
        load_secrets({"VOUCHER_ENCRYPTION_KEY": "x"})
    assert str(problem.value) == (
        "VOUCHER_API_KEY can't be read from the system keyring (RuntimeError); put the key into the environment variable"
        " of that name, or mend the keyring"
    )


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize(
    "key",
    ["s3cret\n", "s3cret\r\nX-Other: 1", " s3cret", "s3cret ", "\ts3cret", "s3cret\x00", "密钥s3cret", "   "],
)
def test_a_key_that_can_t_be_sent_in_a_header_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InputProblem) as problem:
        load_secrets({**KEYS_SET, "VOUCHER_API_KEY": key})
    assert "VOUCHER_API_KEY" in str(problem.value)
    assert "s3cret" not in "".join(traceback.format_exception(problem.value))


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize("key", ["enc-s3cret\n", "enc\udcff"])
def test_an_encryption_key_that_can_t_be_meant_is_refused(key: str) -> None:
    with pytest.raises(InputProblem, match="VOUCHER_ENCRYPTION_KEY"):
        load_secrets({**KEYS_SET, "VOUCHER_ENCRYPTION_KEY": key})


def test_the_secrets_are_in_no_repr() -> None:
    secrets = Secrets("api-s3cret", "enc-s3cret")
    for text in (repr(secrets), str(secrets), f"{secrets}", repr({"x": [secrets]})):
        assert "s3cret" not in text


def test_where_a_key_is_found_is_told_without_the_key(keyring: dict[tuple[str, str], str]) -> None:
    assert key_places({}) == dict.fromkeys(KEYS_SET, "nowhere")
    keyring["voucher-pipeline", "VOUCHER_API_KEY"] = "in-keyring"
    assert key_places({}) == {"VOUCHER_API_KEY": "keyring", "VOUCHER_ENCRYPTION_KEY": "nowhere"}
    assert key_places(KEYS_SET) == dict.fromkeys(KEYS_SET, "environment")
    keyring["voucher-pipeline", "VOUCHER_ENCRYPTION_KEY"] = "broken"
    with pytest.raises(InputProblem, match="VOUCHER_ENCRYPTION_KEY can't be read from the system keyring"):
        key_places({})


def test_the_mailbox_s_password_comes_as_the_keys_do(
    keyring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOUCHER_MAILBOX_PASSWORD", "环境 s3cret")
    assert "环境 s3cret" in known_keys()
    assert load_mailbox_password() == MailboxPassword("环境 s3cret")
    keyring["voucher-pipeline", "VOUCHER_MAILBOX_PASSWORD"] = "from-keyring"
    assert load_mailbox_password({}).text == "from-keyring"
    assert "from-keyring" in known_keys()
    assert "from-keyring" not in repr([load_mailbox_password({})])


@pytest.mark.usefixtures("no_keyring")
def test_a_mailbox_s_password_that_is_missing_or_can_t_be_meant_is_asked_for_without_being_shown() -> None:
    with pytest.raises(
        InputProblem, match="VOUCHER_MAILBOX_PASSWORD not set: put the key into the environment"
    ):
        load_mailbox_password({"VOUCHER_MAILBOX_PASSWORD": ""})
    for password in ("s3cret\r\nA1 LOGOUT", "s3cret\udcff", "s3cret\x00"):
        with pytest.raises(InputProblem, match="VOUCHER_MAILBOX_PASSWORD holds line breaks") as problem:
            load_mailbox_password({"VOUCHER_MAILBOX_PASSWORD": password})
        assert "s3cret" not in "".join(traceback.format_exception(problem.value))
