import re

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.server_address import checked_ledger, is_server, server_name, shared_address

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("postgresql://ledger.example/vouchers", "postgresql://ledger.example/vouchers"),
        ("postgres://chen@10.0.0.5:5433/vouchers", "postgresql://10.0.0.5:5433/vouchers"),
        ("postgresql://chen@[fd00::2]:5433/vouchers?sslrootcert=/etc/ca.pem", "postgresql://[fd00::2]:5433/vouchers"),
        ("postgresql://a:1,b:2/vouchers?target_session_attrs=read-write", "postgresql://a:1,b:2/vouchers"),
        ("postgresql:///vouchers", "postgresql:///vouchers"),
        ("postgresql://%2Frun%2Fpostgresql/vouchers?passfile=/srv/pass", "postgresql://%2Frun%2Fpostgresql/vouchers"),
    ],
)  # fmt: skip
def test_an_address_is_named_by_its_server_and_database(address: str, name: str) -> None:
    assert is_server(checked_ledger(address))
    assert server_name(address) == name


@pytest.mark.parametrize(
    "path", ["a.ledger", "/srv/postgresql", "sqlite:///a.ledger", "C:\\a.ledger", "a:b@c.ledger", ""]
)
def test_a_path_is_left_as_it_is(path: str) -> None:
    assert checked_ledger(path) == path
    assert not is_server(path)


@pytest.mark.parametrize(
    "mistyped",
    [
        f"postgresql://chen:{SECRET}@ledger.example/vouchers",
        f"postgresql://chen:{SECRET}/word@ledger.example/vouchers",  # libpq takes it for a port, and names it
        f"postgresql://chen:{SECRET}?word@ledger.example/vouchers",
        f"postgresql://chen/{SECRET}@ledger.example/vouchers",
        f"postgresql://chen/{SECRET}@ledger.example",  # and this for a database
        f"postgresql://chen@ledger.example/vouchers?password={SECRET}",
        f"postgresql://ledger.example/vouchers?user=chen&sslpassword={SECRET}",
        f"postgresql:/chen:{SECRET}@ledger.example/vouchers",
        f"postgresql+psycopg://chen:{SECRET}@ledger.example/vouchers",
        f"POSTGRESQL://chen:{SECRET}@ledger.example/vouchers",
        f"pgsql://chen:{SECRET}@ledger.example/vouchers",
        f"mysql://chen:{SECRET}@ledger.example/vouchers",
        f"host=ledger.example dbname=vouchers password={SECRET}",
        f"postgresql://ledger.example:{SECRET}/vouchers",
        f" postgresql://chen:{SECRET}@ledger.example/vouchers",
    ],
)
def test_what_may_have_a_password_is_refused_and_never_repeated(mistyped: str) -> None:
    with pytest.raises(InputProblem) as refused:
        checked_ledger(mistyped)
    assert not re.search(f"{SECRET}|word@|chen", str(refused.value))


@pytest.mark.parametrize("setting", ["host", "port", "dbname"])
def test_nothing_is_reached_but_what_the_address_names(setting: str) -> None:
    for address in ("postgresql://a/b?{}=evil", "postgresql://a/b?application_name=x&{}=evil"):
        with pytest.raises(InputProblem, match=f"has the setting {setting} after") as refused:
            checked_ledger(address.format(setting))
        assert "evil" not in str(refused.value)


@pytest.mark.parametrize("ledger", [None, "", "a.ledger"])
def test_what_is_for_a_shared_ledger_says_so(ledger: str | None) -> None:
    with pytest.raises(InputProblem, match="this command is for a ledger that several machines share"):
        shared_address(ledger)


def test_a_database_is_named() -> None:
    with pytest.raises(InputProblem, match="postgresql://host/database"):
        checked_ledger("postgresql://ledger.example")
