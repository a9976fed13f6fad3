"""Who gets into the shared ledger, and to what: encryption, logins, roles; each with a real server and real logins."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.sqlstates import ServerAway
from pipeline.model.errors import InputProblem
from tests.conftest import needs_tool
from tests.contract.conftest import Begin
from tests.contract.ledgers import Shared, charge, invoice, itinerary
from tests.postgresql_server import NOBODY, Server, server

pytestmark = pytest.mark.slow

SECRET = "correct horse"  # a blank in it, as a password may have


# --- encryption ------------------------------------------------------------------------------------


def own_address() -> str | None:
    """An address of this machine by which others reach it; none where it has no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent by that
            found: str = probe.getsockname()[0]
        except OSError:
            return None
    return None if found.startswith("127.") else found


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_certificates(folder: Path) -> None:
    """Two CAs, and a certificate for ledger.example of the first."""
    for name in ("ca", "other"):
        openssl(
            folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", f"{name}.key",
            "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}",
        )  # fmt: skip
    openssl(
        folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", "server.key",
        "-out", "server.pem", "-days", "2", "-subj", "/CN=ledger.example", "-addext", "subjectAltName=DNS:ledger.example",
        "-addext", "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key",
    )  # fmt: skip
    shutil.chown(folder / "server.key", NOBODY, NOBODY)


@dataclass
class Far:
    """A server that is reached from other machines, and its certificates."""

    server: Server
    folder: Path
    address: str

    def url(self, host: str = "ledger.example", **settings: str) -> str:
        more = "&".join(f"{name}={value}" for name, value in ({"hostaddr": self.address} | settings).items())
        return f"postgresql://owner@{host}:{self.server.port}/postgres?{more}"


@pytest.fixture(scope="module")
def far(postgresql: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    address = own_address()
    needs_tool("a network", address)
    needs_tool("openssl", shutil.which("openssl"))
    assert address
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    with server(postgresql.programs) as one:
        for name in ("server.key", "server.pem"):
            shutil.copy(folder / name, one.folder)
            shutil.chown(one.folder / name, NOBODY, NOBODY)
        (one.folder / "server.key").chmod(0o600)
        with (one.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"hostssl all all {address}/32 trust\nhostnossl all all {address}/32 trust\n")
        one.stop()
        one.start("-c", f"listen_addresses=127.0.0.1,{address}", *encrypted(one))
        yield Far(one, folder, address)


def encrypted(one: Server) -> list[str]:
    files = {"ssl_cert_file": "server.pem", "ssl_key_file": "server.key"}
    return [
        "-c",
        "ssl=on",
        *(part for name, file in files.items() for part in ("-c", f"{name}={one.folder / file}")),
    ]


def test_the_servers_certificate_is_accepted_where_its_ca_is_trusted(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca = str(far.folder / "ca.pem")
    for url in (far.url(sslrootcert=ca), far.url(sslrootcert=ca, sslmode="verify-full")):
        with closing(connect(url)) as connection:
            assert connection.execute(
                "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            ).fetchone() == (True,)
    monkeypatch.setenv("PGSSLROOTCERT", ca)
    connect(far.url()).close()


def test_libpqs_own_file_of_trusted_cas_is_used(
    far: Far, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ServerAway, match="nobody that is trusted here has signed"):
        connect(far.url())
    (tmp_path / ".postgresql").mkdir()
    shutil.copy(far.folder / "ca.pem", tmp_path / ".postgresql" / "root.crt")
    connect(far.url()).close()


def test_a_certificate_that_another_has_signed_or_of_another_name_is_refused(far: Far) -> None:
    name = f"^postgresql://ledger.example:{far.server.port}/postgres: "
    with pytest.raises(
        ServerAway, match=name + "nobody that is trusted here has signed its certificate .*PGSSLROOTCERT"
    ):
        connect(far.url(sslrootcert=str(far.folder / "other.pem")))
    with pytest.raises(
        ServerAway, match=r"^postgresql://other.example:.*its certificate is for another name"
    ):
        connect(far.url("other.example", sslrootcert=str(far.folder / "ca.pem")))
    with pytest.raises(ServerAway, match=r"the file with the CA's certificate can't be read .*PGSSLROOTCERT"):
        connect(far.url(sslrootcert=str(far.folder / "missing.pem")))


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca"])
def test_less_than_that_is_refused_off_this_machine(far: Far, mode: str) -> None:
    with pytest.raises(
        InputProblem,
        match=r"^postgresql://ledger.example:.*encrypted, and the server's certificate is checked",
    ):
        connect(far.url(sslmode=mode, sslrootcert=str(far.folder / "ca.pem")))


def test_no_setting_of_the_environment_takes_it_away(
    far: Far, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each names the same server in another way, which then is not encrypted."""
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGSSLROOTCERT", str(far.folder / "ca.pem"))
    with closing(connect(far.url())) as connection:
        assert connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone() == (
            True,
        )
    for name, value, url in (
        ("PGHOSTADDR", far.address, f"postgresql://owner@localhost:{far.server.port}/postgres"),
        ("PGHOST", far.address, f"postgresql://owner@:{far.server.port}/postgres"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(ServerAway, match="its certificate is for another name"):
                connect(url)
    services = tmp_path / "services.conf"
    services.write_text(f"[ledger]\nhostaddr={far.address}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    url = f"postgresql://owner@localhost:{far.server.port}/postgres"
    with pytest.raises(ServerAway, match="its certificate is for another name"):
        connect(f"{url}?service=ledger")
    monkeypatch.setenv("PGSERVICE", "ledger")
    with pytest.raises(ServerAway, match="its certificate is for another name"):
        connect(url)


def test_a_server_that_is_not_encrypted_is_refused_off_this_machine(far: Far) -> None:
    far.server.stop()
    far.server.start("-c", f"listen_addresses=127.0.0.1,{far.address}")
    try:
        with pytest.raises(ServerAway, match="is not encrypted, as it has to be off this machine"):
            connect(far.url(sslrootcert=str(far.folder / "ca.pem")))
    finally:
        far.server.stop()
        far.server.start("-c", f"listen_addresses=127.0.0.1,{far.address}", *encrypted(far.server))


# --- logins ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(postgresql: Server) -> Iterator[Server]:
    """A server that asks chen for a password."""
    with server(postgresql.programs) as one:
        with psycopg.connect(one.url("postgres"), autocommit=True) as owner:
            owner.execute(f"CREATE ROLE chen LOGIN PASSWORD '{SECRET}'".encode())
        rules = one.data / "pg_hba.conf"
        rules.write_text(f"host all chen 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        one.stop()
        one.start()
        yield one


def written(path: Path, server: Server, password: str = SECRET) -> Path:
    path.write_text(f"127.0.0.1:{server.port}:postgres:chen:{password}\n")
    path.chmod(0o600)
    return path


def test_a_password_comes_from_a_file_alone(
    guarded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = guarded.url("postgres", "chen")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ServerAway, match=r"asks for a password; put it into ~/.pgpass") as asked:
        connect(url)
    assert f"postgresql://127.0.0.1:{guarded.port}/postgres: " in str(asked.value)
    own = written(tmp_path / ".pgpass", guarded)
    connect(url).close()
    own.unlink()
    monkeypatch.setenv("PGPASSFILE", str(written(tmp_path / "of-cron", guarded)))
    connect(url).close()
    own = written(tmp_path / "of-cron", guarded, "another")
    with pytest.raises(ServerAway, match=r"refuses the login .*PGPASSFILE") as refused:
        connect(url)
    assert "another" not in str(refused.value).replace("another name", "")


def test_what_the_server_says_of_a_login_comes_through_without_an_address(guarded: Server) -> None:
    with pytest.raises(
        ServerAway, match=r'or not this user \(.*role "nobody-here" does not exist'
    ) as refused:
        connect(guarded.url("postgres", "nobody-here"))
    assert "@" not in str(refused.value)


def test_a_database_that_is_not_there_or_not_for_everybody_is_told_in_words_of_ours(
    postgresql: Server,
) -> None:
    here = f"postgresql://127.0.0.1:{postgresql.port}"
    with pytest.raises(ServerAway) as refused:
        connect(postgresql.url("none"))
    assert str(refused.value).startswith(f"{here}/none: there is no database of that name on this server; ")
    name = postgresql.new_database()
    with psycopg.connect(postgresql.url(name), autocommit=True) as owner:
        owner.execute(f"CREATE ROLE out_{name} LOGIN; REVOKE CONNECT ON DATABASE {name} FROM PUBLIC".encode())
    with pytest.raises(ServerAway) as refused:
        connect(postgresql.url(name, f"out_{name}"))
    assert str(refused.value) == (
        f"{here}/{name}: the user in the address may not use this database; its owner allows it: GRANT CONNECT ON DATABASE {name} TO NAME"
    )


# --- roles -----------------------------------------------------------------------------------------


def may(connection: psycopg.Connection, statement: str) -> bool:
    """Whether a role may do that at all, whatever comes of it."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement.encode())
    except psycopg.errors.InsufficientPrivilege:
        return False
    except (psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedObject):
        raise
    except psycopg.Error:
        return True
    return True


def things(ledger: Shared) -> dict[str, list[str]]:
    """All tables, sequences and functions of the ledger, the last as calls."""
    kinds = {"r": "tables", "S": "sequences"}
    found: dict[str, list[str]] = {"tables": [], "sequences": [], "functions": []}
    for kind, name in ledger.rows(
        "SELECT relkind, oid::regclass::text FROM pg_class WHERE relnamespace = 'voucher'::regnamespace AND relkind IN ('r', 'S')"
    ):
        found[kinds[kind]].append(f"voucher.{name}")
    found["functions"] = [
        call
        for (call,) in ledger.rows(
            "SELECT format('voucher.%I(%s)', proname, ("
            "  SELECT string_agg(format('NULL::%s.%I', typnamespace::regnamespace, typname), ', ' ORDER BY nth)"
            "  FROM unnest(proargtypes) WITH ORDINALITY AS each (type, nth) JOIN pg_type ON pg_type.oid = type))"
            " FROM pg_proc WHERE pronamespace = 'voucher'::regnamespace AND prorettype <> 'trigger'::regtype ORDER BY 1"
        )
    ]
    return found


def name_of(call: str) -> str:
    return re.sub(r"voucher\.(\w+)\(.*", r"\1", call)


def test_nobody_but_the_owner_changes_a_table_or_a_sequence(begin_shared: Begin) -> None:
    ledger = begin_shared()
    found = things(ledger)
    assert len(found["tables"]) > 12
    assert len(found["sequences"]) > 5
    for role in ("worker", "issuer", "reader"):
        connection = ledger.connect(role)
        for table in found["tables"]:
            changes = (
                f"INSERT INTO {table} DEFAULT VALUES", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE", f"LOCK TABLE {table}",
                f"CREATE TRIGGER mine BEFORE INSERT ON {table} EXECUTE FUNCTION voucher.refuse_change()", f"DROP TABLE {table} CASCADE",
                f"ALTER TABLE {table} DISABLE TRIGGER ALL", f"ALTER TABLE {table} ADD COLUMN mine text", f"GRANT SELECT ON {table} TO PUBLIC",
            )  # fmt: skip
            assert [each for each in changes if may(connection, each)] in ([], [changes[-1]]), (role, table)
        for sequence in found["sequences"]:
            changes = (
                f"SELECT nextval('{sequence}')",
                f"SELECT setval('{sequence}', 1)",
                f"SELECT * FROM {sequence}",
            )
            assert [each for each in changes if may(connection, each)] == [], role
        for other in (
            "CREATE TABLE voucher.mine ()",
            "DROP SCHEMA voucher CASCADE",
            "ALTER SCHEMA voucher RENAME TO mine",
        ):
            assert not may(connection, other), role


def test_a_worker_reads_no_table_and_an_issuer_nothing_sealed(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    worker = ledger.connect("worker")
    columns = ledger.rows(
        "SELECT 'voucher.' || attrelid::regclass::text, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
        " WHERE relnamespace = 'voucher'::regnamespace AND relkind = 'r' AND attnum > 0"
    )
    assert len(columns) > 100
    assert [each for each in columns if may(worker, f'SELECT "{each[1]}" FROM {each[0]}')] == []
    for table in {each[0] for each in columns}:
        assert not may(worker, f"SELECT count(*) FROM {table}")
    for role in ("issuer", "reader"):
        connection = ledger.connect(role)
        unread = {each for each in columns if not may(connection, f'SELECT "{each[1]}" FROM {each[0]}')}
        assert unread == {("voucher.attempt", "answer"), ("voucher.attempt", "body")}
        assert not may(connection, "SELECT * FROM voucher.attempt")


#: What workers call, at least.
OF_WORKERS = {
    "about",
    "join_work",
    "heartbeat",
    "vouch",
    "open_claims",
    "sweep",
    "leave_work",
    "turn",
    "give_back",
    "late",
    "stop_run",
}


def test_who_may_call_what(begin_shared: Begin) -> None:
    ledger = begin_shared()
    calls = things(ledger)["functions"]
    by_role = {
        role: {name_of(call) for call in calls if may(connection, f"SELECT * FROM {call}")}
        for role in ("worker", "issuer", "reader")
        for connection in [ledger.connect(role)]
    }
    assert by_role["reader"] == {"about"}
    assert by_role["worker"] >= OF_WORKERS
    of_issuers = by_role["issuer"] - by_role["worker"]
    assert of_issuers >= {
        "plan",
        "begin_run",
        "end_run",
        "settle",
        "declare_dead",
        "vouch_for",
        "mark_gap",
        "close_gaps",
    }
    assert by_role["worker"] <= by_role["issuer"]
    inside = {name_of(call) for call in calls} - by_role["issuer"]
    assert inside >= {"claim", "record", "record_outcome", "lose_what_is_sending", "obstacle"}


def test_no_names_of_a_callers_own_are_taken_for_the_ledgers(begin_shared: Begin) -> None:
    """A worker has a schema of its own, and puts that, and its temporary one, first in its search path."""
    ledger = begin_shared()
    ledger.plan(itinerary(1))
    ledger.force("DROP SCHEMA IF EXISTS mine CASCADE; CREATE SCHEMA mine AUTHORIZATION worker")
    worker = ledger.connect("worker")
    worker.execute("CREATE TEMP TABLE ledger (lease interval)")
    worker.execute(
        "CREATE FUNCTION mine.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT 'epoch'::timestamptz $$"
    )
    worker.execute("SET search_path = mine, pg_temp, pg_catalog, voucher")
    worker.execute("SELECT voucher.join_work('00000000-0000-0000-0000-000000000001', 'm', 1)")
    ((joined,),) = ledger.rows(
        "SELECT joined_at > now() - interval '1 minute' FROM worker WHERE worker::text LIKE '%0001'"
    )
    assert joined
    of_others = "prosecdef AND pronamespace NOT IN ('voucher'::regnamespace, 'pg_catalog'::regnamespace)"
    assert ledger.rows(f"SELECT oid::regprocedure FROM pg_proc WHERE {of_others}") == []
    ledger.force("DROP SCHEMA mine CASCADE")
