"""Reaching the ledger's server: encrypted off this machine, without a password in any address, and durable."""

import ipaddress
import os
import ssl
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from pipeline.ledger_postgresql.sqlstates import ServerAway, as_problem
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import N_, NOTHING, Message, message, verbatim
from pipeline.model.server_address import checked_ledger, server_name

_ALWAYS_THERE = "postgres"  # a database that every server has, unless somebody has dropped it
_PATIENCE = 10  # seconds, until a server that does not answer is away


class LedgerConnection(psycopg.Connection[TupleRow]):
    """A connection to the server of an address; `name` is what messages and results call that."""

    name = ""


def connect(url: str) -> LedgerConnection:
    """A connection to a server, on which each transaction is one of its own.

    Raises InputProblem for an address that is none, or that is not safe to use; ServerAway where nobody answers there;
    LedgerProblem where what is acknowledged may be lost.
    """
    try:
        connection = LedgerConnection.connect(conninfo(url), autocommit=True)
    except psycopg.Error as error:
        raise ServerAway(_why_refused(url, error) or _why_away(server_name(url), error)) from None
    connection.name = server_name(url)
    try:
        _be_durable(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def conninfo(url: str) -> str:
    """What libpq is told to reach the server of an address. Raises InputProblem for one that is none, or that is not safe to use."""
    return make_conninfo(**_settings(url), connect_timeout=_PATIENCE, application_name="voucher")


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


def _why_refused(url: str, error: psycopg.Error) -> Message:
    """Why a server that answers lets nobody into this database, as far as another one of it tells; nothing where it does not.

    What a server says is in its own language, behind a severity and two blanks (protocol-error-fields; fe-protocol3.c), and comes without
    its SQLSTATE.
    """
    if ":  " not in str(error):
        return NOTHING
    server, database = server_name(url), _settings(url).get("dbname", "")
    try:
        with psycopg.connect(make_conninfo(conninfo(url), dbname=_ALWAYS_THERE)) as connection:
            found = connection.execute(
                "SELECT has_database_privilege(oid, 'CONNECT') FROM pg_database WHERE datname = %s",
                (database,),
            ).fetchone()
    except psycopg.Error:
        return NOTHING
    if found is None:
        return message(
            "{server}: there is no database of that name on this server; look at the address, or have an administrator make it: CREATE DATABASE"
            " {database} TEMPLATE template0 ENCODING 'UTF8', and then voucher ledger prepare",
            server=server,
            database=database,
        )
    if found == (False,):
        return message(
            "{server}: the user in the address may not use this database; its owner allows it: GRANT CONNECT ON DATABASE {database} TO NAME",
            server=server,
            database=database,
        )
    return NOTHING


def _why_away(server: str, error: psycopg.Error) -> Message:
    """Why there is no connection, and what helps.

    libpq has no codes for what fails before a session begins: only whether a password was asked for or refused, and words, which are its
    own and always English. They name the server and the user, never a password: what could be one has been refused before.
    """
    said = str(error).rpartition(" failed: ")[2].strip().partition("\n")[0]
    asked = error.pgconn is not None and error.pgconn.needs_password
    tried = error.pgconn is not None and error.pgconn.used_password
    for applies, text in (
        (
            asked,
            N_(
                "{server}: asks for a password; put it into ~/.pgpass, or into a file that PGPASSFILE names, as a line HOST:PORT:DATABASE:USER:PASSWORD, which you alone can read (chmod 600)"
            ),
        ),
        (
            tried,
            N_(
                "{server}: refuses the login ({why}); look at the user in the address, and at the line in ~/.pgpass or in the file that PGPASSFILE names"
            ),
        ),
        (
            "does not match host name" in said,
            N_(
                "{server}: its certificate is for another name ({why}); write the name that the certificate has into the address"
            ),
        ),
        (
            "certificate verify failed" in said,
            N_(
                "{server}: nobody that is trusted here has signed its certificate ({why}); name the certificate of its CA by PGSSLROOTCERT, or with ?sslrootcert=FILE in the address"
            ),
        ),
        (
            "root certificate file" in said,
            N_(
                "{server}: the file with the CA's certificate can't be read ({why}); name it by PGSSLROOTCERT, or with ?sslrootcert=FILE in the address"
            ),
        ),
        (
            "does not support SSL" in said,
            N_(
                "{server}: is not encrypted, as it has to be off this machine; set ssl = on in its postgresql.conf, with a certificate"
            ),
        ),
    ):
        if applies:
            return message(text, server=server, why=verbatim(said))
    if ":  " in said:
        return message(
            "{server}: the server lets nobody in for now, or not this user ({why}); an address without a user is one with your login name"
            " here. Running the same command again is safe",
            server=server,
            why=verbatim(said),
        )
    return message(
        "{server}: the ledger's server can't be reached ({why}); running the same command again is safe",
        server=server,
        why=verbatim(said),
    )


def _settings(url: str) -> dict[str, str]:
    """What the address says, as libpq takes it. Its own complaint of one that it can't read repeats all of it."""
    try:
        settings = {name: str(value) for name, value in conninfo_to_dict(checked_ledger(url)).items()}
    except psycopg.Error:
        raise InputProblem(
            "the ledger's address has a setting that PostgreSQL does not know; write it like postgresql://host/database"
        ) from None
    if not _on_this_machine(settings):
        if settings.get("sslmode", "verify-full") != "verify-full":
            raise InputProblem(
                "{server}: off this machine the connection is encrypted, and the server's certificate is checked; leave sslmode out",
                server=server_name(url),
            )
        settings["sslmode"] = "verify-full"
        if "PGSSLROOTCERT" not in os.environ:
            settings.setdefault("sslrootcert", _trusted())
    return settings


def _trusted() -> str:
    """Whose signatures of certificates are trusted: libpq's own file, where the user has it; else what the system trusts.

    libpq as psycopg's wheel brings it does not know where this system keeps that.
    """
    own = Path(os.environ.get("HOME", ""), ".postgresql", "root.crt")
    return str(own) if own.exists() else ssl.get_default_verify_paths().cafile or "system"


def _on_this_machine(settings: dict[str, str]) -> bool:
    """Whether all that may be reached is; a service file can name any server."""
    environ = {name: os.environ.get(name, "") for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE")}
    if settings.get("service") or environ["PGSERVICE"]:
        return False
    reached = settings.get("hostaddr") or environ["PGHOSTADDR"] or settings.get("host") or environ["PGHOST"]
    return all(_is_loopback(host) for host in reached.split(","))


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost") or host.startswith(("/", "@")):  # a Unix socket
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
