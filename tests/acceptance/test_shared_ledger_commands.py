"""`voucher ledger prepare`, `workers`, `declare-dead`, `vouch`, with a real server, real logins and psql."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from pipeline.ledger.planning import NO_DETAILS
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.model.profile import Owner
from pipeline.model.server_address import server_name
from tests.acceptance.conftest import Desk
from tests.conftest import needs_tool
from tests.contract.ledgers import ROWS, charge, invoice, seal, terms_of
from tests.crash.forked import Ran
from tests.postgresql_server import Server, programs, server

pytestmark = pytest.mark.slow

CARRIER = "http://127.0.0.1:8080/invoices"


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found is not None
    with server(found) as one:
        yield one


@pytest.fixture
def database(postgresql: Server) -> Iterator[str]:
    """An empty database, without roles of earlier ones."""
    name = postgresql.new_database()
    yield name
    with psycopg.connect(postgresql.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        for role in ("voucher_issuer", "voucher_worker", "voucher_reader"):
            connection.execute(f"DROP ROLE IF EXISTS {role}".encode())


@pytest.fixture
def url(postgresql: Server, database: str, desk: Desk) -> str:
    desk.profile(CARRIER)
    desk.environment["VOUCHER_PROFILE"] = "carrier.toml"
    return postgresql.url(database)


def prepare(desk: Desk, url: str, *more: str) -> Ran:
    return desk.voucher("ledger", "prepare", "--ledger", url, *more)


def is_empty(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT to_regnamespace('voucher') IS NULL").fetchone() == (True,)


def psql(server: Server, url: str, text: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [server.programs / "psql", url], input=text, capture_output=True, text=True, check=False
    )


# --- prepare ---------------------------------------------------------------------------------------


def test_a_ledger_is_made_and_what_comes_next_is_said(desk: Desk, url: str) -> None:
    ran = prepare(desk, url, "--send-within", "5", "--lease", "30")
    assert (ran.code, ran.out) == (0, "")
    assert f"the ledger of {CARRIER} as agency AGENCY is made" in ran.err
    for role in ("issuer", "worker", "reader"):
        assert f"GRANT voucher_{role} TO NAME;" in ran.err
    with closing(connect(url)) as connection:
        found = about(connection)
        assert (found.base_url, found.agency) == (CARRIER, "AGENCY")
        assert (found.send_within, found.lease, found.settle_after) == (5, 30, 24 * 3600)
    again = prepare(desk, url)
    assert again.code == 2
    assert "holds a ledger already, or a schema of procrastinate's; nothing was changed" in again.err
    with closing(connect(url)) as connection:
        assert about(connection) == found


def test_what_it_prints_makes_the_same_ledger_by_psql(desk: Desk, postgresql: Server, url: str) -> None:
    """Twice on one server, for the roles are there the second time; and once in a database, whole or not at all."""
    odd = "https://carrier.example/o'brien/:x/承运人"
    desk.profile(odd, more="[reconcile]\nsettle_after_hours = 12")
    printed = prepare(desk, url, "--sql")
    assert printed.code == 0
    assert is_empty(url)
    assert "GRANT voucher_worker TO NAME" in printed.err
    broken = printed.out.replace("SELECT voucher.note_life();", "SELECT voucher.no_such_thing();")
    assert psql(postgresql, url, broken).returncode == 3
    assert is_empty(url)
    ran = psql(postgresql, url, printed.out)
    assert (ran.returncode, "ERROR" in ran.stderr) == (0, False), ran.stderr
    with closing(connect(url)) as connection:
        found = about(connection)
    assert (found.base_url, found.settle_after) == (odd, 12 * 3600)
    assert psql(postgresql, url, prepare(desk, url, "--sql").out).returncode == 3
    other = postgresql.url(postgresql.new_database())
    assert psql(postgresql, other, prepare(desk, other, "--sql").out).returncode == 0
    with closing(connect(url)) as connection, closing(connect(other)) as beside:
        assert about(connection) == found
        assert about(beside).ledger_id != found.ledger_id
        one, two = map(defined, (connection, beside))
    psql(postgresql, postgresql.url("postgres"), f"DROP DATABASE {other.rpartition('/')[2]}")
    made = postgresql.url(postgresql.new_database())
    assert prepare(desk, made).code == 0
    with closing(connect(made)) as connection:
        assert defined(connection) == one == two
    psql(postgresql, postgresql.url("postgres"), f"DROP DATABASE {made.rpartition('/')[2]}")


def defined(connection: psycopg.Connection) -> list[tuple[object, ...]]:
    """All functions with their text and rights, and all columns with theirs."""
    return [
        *connection.execute(
            "SELECT oid::regprocedure::text, prosrc, proconfig, prosecdef, proacl::text FROM pg_proc"
            " WHERE pronamespace = 'voucher'::regnamespace ORDER BY 1"
        ),
        *connection.execute(
            "SELECT attrelid::regclass::text, attname, attacl::text FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
            " WHERE relnamespace = 'voucher'::regnamespace ORDER BY 1, 2"
        ),
    ]


def test_a_database_that_is_not_in_utf8_is_refused(desk: Desk, postgresql: Server, database: str) -> None:
    desk.environment["VOUCHER_PROFILE"] = str(desk.profile(CARRIER))
    with psycopg.connect(postgresql.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}latin TEMPLATE template0 ENCODING 'LATIN1'".encode())
    latin = postgresql.url(f"{database}latin")
    ran = prepare(desk, latin)
    assert ran.code == 3
    assert "its encoding is LATIN1, not UTF8" in ran.err
    assert is_empty(latin)
    psql(postgresql, postgresql.url("postgres"), f"DROP DATABASE {database}latin")


def test_whoever_may_not_make_it_is_told_what_it_takes_and_nothing_is_made(
    desk: Desk, postgresql: Server, database: str, url: str
) -> None:
    with psycopg.connect(postgresql.url("postgres"), autocommit=True) as owner:
        owner.execute(b"CREATE ROLE chen LOGIN")
        owner.execute(f"GRANT CREATE ON DATABASE {database} TO chen".encode())
        try:
            ran = prepare(desk, postgresql.url(database, "chen"))
            assert ran.code == 2
            assert "CREATEROLE" in ran.err
            assert "permission denied to create role" in ran.err
            assert is_empty(url)
            for role in ("issuer", "worker", "reader"):
                owner.execute(f"CREATE ROLE voucher_{role}".encode())
            owner.execute(b"GRANT voucher_reader TO voucher_issuer")
            ran = prepare(desk, postgresql.url(database, "chen"))
            assert ran.code == 0, ran.err
        finally:
            psql(postgresql, url, "DROP OWNED BY chen CASCADE; DROP ROLE chen;")


@pytest.mark.parametrize(
    ("options", "profile", "told"),
    [
        (["--send-within", "60"], "", "each is less than the next"),
        (["--lease", "80000", "--settle-after-hours", "20"], "", "each is less than the next"),
        (["--settle-after-hours", "0.01"], "", "--settle-after-hours 0.01 h; each is less than the next"),
        (["--settle-after-hours", "48"], "settle_after_hours = 12", "more than settle_after_hours of the profile, 12"),
        ([], "settle_after_hours = 0.01", "settle_after_hours of the profile, 0.01, has to be more than --lease, 60 s"),
    ],
)  # fmt: skip
def test_times_that_contradict_each_other_or_the_profile_are_refused(
    desk: Desk, url: str, options: list[str], profile: str, told: str
) -> None:
    desk.profile(CARRIER, more=f"[reconcile]\n{profile}")
    for more in ([], ["--sql"]):
        ran = prepare(desk, url, *options, *more)
        assert (ran.code, ran.out) == (2, "")
        assert told in ran.err
    assert is_empty(url)


def test_a_ledger_is_some_carriers(desk: Desk, url: str) -> None:
    ran = desk.voucher("ledger", "prepare", "--ledger", url, "--profile", str(bare_profile(desk)))
    assert ran.code == 2
    assert "no carrier is named" in ran.err
    assert is_empty(url)


def bare_profile(desk: Desk) -> Path:
    path = desk.folder / "bare.toml"
    path.write_text('[carrier]\nagency = "AGENCY"\n')
    return path


OF_SHARED = {
    "workers": ("ledger", "workers"),
    "declare-dead": ("ledger", "declare-dead", "abcd1234", "--how", "it burned"),
    "vouch": ("ledger", "vouch"),
    "worker": ("worker", "--once"),
    "copy-to": ("ledger", "copy-to", "new.ledger"),
}


@pytest.mark.parametrize("command", OF_SHARED)
def test_a_database_without_a_ledger_and_a_user_without_rights_are_told_with_the_cure(
    desk: Desk, postgresql: Server, database: str, url: str, command: str
) -> None:
    def told(address: str, *more: str) -> str:
        ran = desk.voucher(*OF_SHARED[command], "--ledger", address, *more)
        assert ran.code == 2, ran
        assert server_name(url) in ran.err
        assert "owner@" not in ran.err
        return ran.err

    assert f"voucher ledger prepare --ledger {server_name(url)}" in told(url)
    assert "这个数据库里还没有台账" in told(url, "--lang", "zh")
    assert prepare(desk, url).code == 0
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(b"CREATE ROLE nothing LOGIN")
        try:
            nothing = postgresql.url(database, "nothing")
            assert re.search(r"the user in the address .*: GRANT voucher_\w+ TO NAME", told(nothing))
            in_chinese = told(nothing, "--lang", "zh")
            assert ("地址中的用户" in in_chinese, "permission denied" in in_chinese) == (True, False)
        finally:
            owner.execute(b"DROP ROLE nothing")


def test_a_worker_is_told_before_it_waits_that_it_may_not_take_part(
    desk: Desk, postgresql: Server, database: str, url: str
) -> None:
    assert prepare(desk, url).code == 0
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(
            b"CREATE ROLE looks LOGIN IN ROLE voucher_reader; CREATE ROLE works LOGIN IN ROLE voucher_worker"
        )
        try:
            ran = desk.voucher("worker", "--once", "--ledger", postgresql.url(database, "looks"))
            assert (ran.code, "waits for runs" in ran.err) == (2, False)
            assert "GRANT voucher_worker TO NAME" in ran.err
            works = postgresql.url(database, "works")
            assert desk.voucher("worker", "--once", "--ledger", works).code == 0
            known = desk.voucher("profile", "check", "--ledger", works)
            assert "answers, and is this carrier's" in known.err + known.out
            assert "GRANT voucher_reader TO NAME" in desk.voucher("ledger", "check", "--ledger", works).err
        finally:
            owner.execute(b"DROP ROLE looks; DROP ROLE works")


def test_a_worker_does_not_wait_at_a_ledger_with_which_nothing_is_sent(
    desk: Desk, postgresql: Server, database: str, url: str
) -> None:
    """It may read no table, and is told all the same."""
    assert prepare(desk, url).code == 0
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(b"CREATE ROLE works LOGIN IN ROLE voucher_worker")
        works = postgresql.url(database, "works")

        def told() -> str:
            ran = desk.voucher("worker", "--ledger", works)
            assert (ran.code, "waits for runs" in ran.err, server_name(url) in ran.err) == (2, False, True), (
                ran
            )
            return ran.err

        try:
            owner.execute(
                b"INSERT INTO voucher.copying VALUES (1, 'old.ledger', 'id', clock_timestamp(), NULL)"
            )
            assert f"voucher ledger copy-to {server_name(url)} --ledger old.ledger" in told()
            owner.execute(b"DELETE FROM voucher.copying")
            marked = desk.voucher(
                "ledger", "mark-gap", "--since", "2026-11-20", "--why", "a copy", "--ledger", url
            )
            assert marked.code == 0
            said = told()
            assert "this ledger may lack what was issued after 2026-11-20" in said
            assert "(a copy), so that nothing is sent with it" in said
            assert "say what that showed: voucher ledger close-gap" in said
            desk.voucher("ledger", "close-gap", "--evidence", "nothing after it", "--yes", "--ledger", url)
            assert desk.voucher("worker", "--once", "--ledger", works).code == 0
            assert desk.voucher("ledger", "copy-to", "moved.ledger", "--ledger", url).code == 0
            said = told()
            assert f"was copied to {desk.folder / 'moved.ledger'}, which goes on in its place" in said
            assert "close-gap" not in said
        finally:
            owner.execute(b"DROP ROLE works")


def test_a_gap_is_told_in_local_time_as_it_was_marked(desk: Desk, url: str) -> None:
    assert prepare(desk, url).code == 0
    desk.environment["TZ"] = "Asia/Shanghai"
    given = ("--ledger", url)
    marked = desk.voucher("ledger", "mark-gap", "--since", "2026-11-20T07:30", "--why", "a copy", *given)
    looked = desk.voucher("ledger", "check", *given)
    closed = desk.voucher("ledger", "close-gap", "--evidence", "nothing after it", "--yes", *given)
    assert [ran.code for ran in (marked, looked, closed)] == [0, 3, 0]
    for ran in (marked, looked, closed):
        assert "2026-11-20 07:30:00+08:00" in ran.err + ran.out


@pytest.mark.parametrize("command", ["prepare", "workers", "declare-dead", "vouch"])
def test_they_are_for_a_shared_ledger_alone(desk: Desk, command: str) -> None:
    desk.environment["VOUCHER_PROFILE"] = str(desk.profile(CARRIER))
    worker = {"declare-dead": ["abcd1234", "--how", "it burned"]}.get(command, [])
    for ledger in ([], ["--ledger", "a.ledger"]):
        ran = desk.voucher("ledger", command, *worker, *ledger)
        assert ran.code == 2
        assert "postgresql://host/database" in ran.err


def test_whether_it_is_there_is_looked_at_with_the_profile(desk: Desk, url: str) -> None:
    looked = desk.voucher("profile", "check", "--ledger", url)
    assert f"voucher ledger prepare --ledger {server_name(url)}" in looked.err + looked.out
    assert prepare(desk, url).code == 0
    looked = desk.voucher("profile", "check", "--ledger", url)
    assert "answers, and is this carrier's" in looked.err + looked.out
    desk.profile("http://127.0.0.1:9/other")
    looked = desk.voucher("profile", "check", "--ledger", url)
    assert f"belongs to {CARRIER} as agency AGENCY, not to" in looked.err + looked.out
    away = desk.voucher("profile", "check", "--ledger", "postgresql://127.0.0.1:1/vouchers")
    assert (
        "Ledger: postgresql://127.0.0.1:1/vouchers: the ledger's server can't be reached"
        in away.err + away.out
    )


# --- workers, declare-dead, vouch ------------------------------------------------------------------


class At:
    """A prepared ledger with a run, and workers that are the test's own."""

    def __init__(self, desk: Desk, url: str) -> None:
        self.desk, self.url = desk, url
        assert prepare(desk, url, "--send-within", "0.5", "--lease", "1.5").code == 0
        self.open: list[psycopg.Connection] = []
        ledger = PostgresqlLedger(self.connect(), seal)
        self.run = ledger.begin("issue", terms_of(Owner(CARRIER, "AGENCY")), [])
        ledger.plan(self.run, [invoice(charge(number)) for number in range(1, 6)], ROWS, NO_DETAILS)

    def connect(self) -> psycopg.Connection:
        self.open.append(connect(self.url))
        return self.open[-1]

    def worker(self, claims: int = 0) -> Worker:
        worker = Worker(self.connect())
        if claims:
            worker.turn([], self.run, claims)
        return worker

    def ledger(self, command: str, *arguments: str) -> Ran:
        return self.desk.voucher("ledger", command, *arguments, "--ledger", self.url)

    def states(self) -> list[str]:
        rows = self.connect().execute("SELECT state FROM voucher.attempt ORDER BY attempt_id").fetchall()
        return [row[0] for row in rows]

    def restarted(self) -> None:
        """The server is started anew: as far as the ledger can see, without a new server for each test."""
        self.connect().execute(
            "CREATE OR REPLACE FUNCTION voucher.life_now() RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'another life' $$"
        )


@pytest.fixture
def at(desk: Desk, url: str) -> Iterator[At]:
    one = At(desk, url)
    yield one
    for connection in one.open:
        connection.close()


def wait_for_silence() -> None:
    time.sleep(1.6)


def test_workers_are_shown_with_what_they_send_and_how_they_stand(at: At) -> None:
    assert "No worker has taken part yet" in at.ledger("workers").out
    gone, silent = at.worker(), at.worker(claims=2)
    gone.leave()
    wait_for_silence()
    busy = at.worker(claims=1)
    heading, *lines, last = at.ledger("workers").out.splitlines()
    assert "Since (Asia/Shanghai)" in heading
    assert last == "1 worker has ended (--all)"
    assert [re.split(r"\s{2,}", line)[0] for line in lines] == [silent.worker.hex[:8], busy.worker.hex[:8]]
    assert re.search(r"  silent +2 requests of run 1$", lines[0])
    assert re.search(r"  is heard +1 request of run 1$", lines[1])
    times = at.connect().execute(
        "SELECT to_char(joined_at AT TIME ZONE 'Asia/Shanghai', 'YYYY-MM-DD HH24:MI:SS') FROM voucher.worker WHERE worker = %s",
        (busy.worker,),
    )
    assert str((times.fetchone() or [""])[0]) in lines[1]
    everybody = at.ledger("workers", "--all", "--lang", "zh").out
    assert gone.worker.hex[:8] in everybody
    assert "已离开" in everybody


def test_a_worker_is_declared_dead_by_the_beginning_of_its_id(at: At) -> None:
    worker = at.worker(claims=2)
    beginning = worker.worker.hex[:6]
    alive = at.ledger("declare-dead", beginning, "--how", "it burned", "--yes")
    assert alive.code == 2
    assert "was heard within the last 1.5 s" in alive.err
    wait_for_silence()
    unsaid = at.ledger("declare-dead", beginning, "--how", "it burned")
    assert unsaid.code == 2
    assert "requests that it was sending: 2. Say that it is dead only if somebody saw" in unsaid.err
    assert at.states()[:2] == ["sending", "sending"]
    done = at.ledger("declare-dead", beginning.upper(), "--how", "it burned", "--by", "Wang Fang", "--yes")
    assert done.code == 0
    assert "is declared dead; requests that are unknown from now on: 2" in done.err
    assert at.states() == ["unknown", "unknown", "planned", "planned", "planned"]
    assert "declared dead by Wang Fang: it burned" in at.ledger("workers", "--all").out
    again = at.ledger("declare-dead", beginning, "--how", "it burned", "--yes")
    assert again.code == 2
    assert "has ended already" in again.err


@pytest.mark.parametrize(
    ("given", "told"),
    [("", "is no ID"), ("ab", "is no ID"), ("machine", "is no ID"), ("0000ffff0000", "knows no such worker"), ("abcd", "several workers begin so")],
)  # fmt: skip
def test_a_worker_that_is_not_named_for_certain_is_none(at: At, given: str, told: str) -> None:
    for end in ("0", "1"):
        at.connect().execute(
            "SELECT voucher.join_work(%s::uuid, 'm', 1)", (f"abcd0000-0000-0000-0000-00000000000{end}",)
        )
    wait_for_silence()
    for command in (["declare-dead", given, "--how", "x"], ["vouch", given, "--why", "x"]):
        if command[0] == "vouch":
            at.restarted()
        ran = at.ledger(*command, "--yes")
        assert ran.code == 2
        assert told in ran.err


def test_after_a_restart_a_person_speaks_for_those_who_are_not_heard(at: At) -> None:
    silent = at.worker(claims=2)
    assert at.ledger("vouch").code == 0
    at.restarted()
    shut = at.ledger("vouch")
    assert shut.code == 3
    assert "is heard, and looks by itself" in shut.err
    named = silent.worker.hex[:8]
    early = at.ledger("vouch", named, "--why", "power cut, same disk", "--yes")
    assert early.code == 2
    assert "nobody vouches for it" in early.err
    wait_for_silence()
    shut = at.ledger("vouch")
    assert f"voucher ledger vouch {named} --why TEXT" in shut.err
    assert "requests that it was sending: 2" in shut.err
    for unsaid in (["--why", "power cut"], ["--yes"]):
        ran = at.ledger("vouch", named, *unsaid)
        assert ran.code == 2
    assert at.states()[:2] == ["sending", "sending"]
    assert "has not looked since the server was started" in at.ledger("workers").out
    done = at.ledger("vouch", named, "--why", "power cut, same disk", "--by", "Wang Fang", "--yes")
    assert (done.code, "claims are open" in done.err) == (0, True), done.err
    assert at.states()[:2] == ["unknown", "unknown"]
    said = at.connect().execute("SELECT worker, vouched_by, why FROM voucher.vouched").fetchall()
    assert said == [(silent.worker, "Wang Fang", "power cut, same disk")]
    assert at.worker().turn([], at.run, 3).claimed
    nothing = at.ledger("vouch", named, "--why", "again", "--yes")
    assert nothing.code == 2
    assert "there is nothing to vouch for" in nothing.err


def test_what_a_person_vouched_for_is_not_rewritten(at: At) -> None:
    at.worker()
    at.restarted()
    wait_for_silence()
    at.ledger("vouch")
    (known,) = at.connect().execute("SELECT worker FROM voucher.worker").fetchall()
    assert at.ledger("vouch", known[0].hex, "--why", "same disk", "--yes").code in (0, 3)
    for statement in (
        b"UPDATE voucher.vouched SET why = 'x'",
        b"DELETE FROM voucher.vouched",
        b"TRUNCATE voucher.vouched",
    ):
        with pytest.raises(psycopg.Error):
            at.connect().execute(statement)


def test_vouching_does_not_call_a_ledger_open_that_has_a_gap(at: At) -> None:
    worker = at.worker()
    at.restarted()
    wait_for_silence()
    at.ledger("vouch")
    assert at.ledger("mark-gap", "--why", "an older copy").code == 0
    wait_for_silence()
    ran = at.ledger("vouch", worker.worker.hex, "--why", "same disk", "--yes")
    assert (ran.code, "voucher ledger close-gap" in ran.err) == (3, True)
    looked = at.ledger("vouch")
    assert (looked.code, "voucher ledger close-gap" in looked.err + looked.out) == (3, True)


def test_declaring_dead_while_claims_are_shut_says_what_is_lost_with_it(at: At) -> None:
    worker = at.worker()
    at.restarted()
    at.ledger("vouch")
    wait_for_silence()
    ran = at.ledger("declare-dead", worker.worker.hex[:8], "--how", "it burned")
    assert ran.code == 2
    assert "if an older copy was put back, say so first, with voucher ledger mark-gap" in ran.err
    assert "nothing is sent for now" in at.ledger("workers").err


@pytest.mark.parametrize("command", ["declare-dead", "vouch"])
def test_only_an_issuer_says_such_a_thing(at: At, postgresql: Server, database: str, command: str) -> None:
    worker = at.worker()
    at.restarted()
    at.ledger("vouch")
    wait_for_silence()
    owner = at.connect()
    owner.execute("CREATE ROLE looks LOGIN IN ROLE voucher_reader")
    try:
        word = "--how" if command == "declare-dead" else "--why"
        ran = at.desk.voucher(
            "ledger",
            command,
            worker.worker.hex[:8],
            word,
            "x",
            "--yes",
            "--ledger",
            postgresql.url(database, "looks"),
        )
        assert ran.code == 2
        assert "may not issue with this ledger, nor change it" in ran.err
        assert "GRANT voucher_issuer TO NAME" in ran.err
    finally:
        owner.execute("DROP ROLE looks")
