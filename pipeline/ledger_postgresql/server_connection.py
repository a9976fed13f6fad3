"""Reaching the ledger's server: encrypted off this machine, without a password in any address, and durable."""

import ipaddress
import os

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.errors import InputProblem, LedgerProblem

_SCHEMES = ("postgresql://", "postgres://")
_PATIENCE = 10  # seconds, until a server that does not answer is away


def is_server(ledger: str) -> bool:
    """Whether a ledger is named by the address of a server.

    >>> is_server("postgresql://ledger.example/vouchers"), is_server("/srv/a.ledger")
    (True, False)
    """
    return ledger.startswith(_SCHEMES)


def connect(url: str) -> psycopg.Connection:
    """A connection to a server, on which each transaction is one of its own.

    Raises InputProblem for an address that is none, or that is not safe to use; ServerAway where nobody answers there;
    LedgerProblem where what is acknowledged may be lost.
    """
    settings = _settings(url)
    with as_problem():
        connection = psycopg.connect(
            make_conninfo(**settings, connect_timeout=_PATIENCE, application_name="voucher"), autocommit=True
        )
    try:
        _be_durable(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _be_durable(connection: psycopg.Connection) -> None:
    """Whatever the role's or the database's own settings are: less than this may forget a claim that was acknowledged."""
    with as_problem():
        connection.execute("SET synchronous_commit = on")
        connection.execute("SET default_transaction_isolation = 'read committed'")
        for name in ("fsync", "full_page_writes"):
            if connection.execute("SELECT current_setting(%s)", (name,)).fetchone() != ("on",):
                raise LedgerProblem(
                    "the ledger's server may lose what it has acknowledged: {setting} is off; set it on in postgresql.conf",
                    setting=name,
                )


def _settings(url: str) -> dict[str, str]:
    """What the address says, as libpq takes it. Its own complaint of one that it can't read repeats all of it."""
    try:
        settings = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        raise InputProblem(
            "--ledger: is not an address of a PostgreSQL server; write it like postgresql://host/database"
        ) from None
    if "password" in settings:
        raise InputProblem(
            "--ledger: has a password in it, which others on this machine can read; put it into a file that PGPASSFILE names"
        )
    if not _on_this_machine(settings):
        if settings.get("sslmode", "verify-full") != "verify-full":
            raise InputProblem(
                "--ledger: off this machine the connection is encrypted, and the server's certificate is checked; leave sslmode out"
            )
        settings["sslmode"] = "verify-full"
        if "PGSSLROOTCERT" not in os.environ:
            settings.setdefault("sslrootcert", "system")
    return settings


def _on_this_machine(settings: dict[str, str]) -> bool:
    hosts = settings.get("hostaddr") or settings.get("host") or os.environ.get("PGHOST", "")
    return all(_is_loopback(host) for host in hosts.split(","))


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost") or host.startswith(("/", "@")):  # a Unix socket
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
