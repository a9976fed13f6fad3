"""What the shared ledger does beside what every ledger does: several at once, stops, gaps, roles, and how it is reached."""

import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from pipeline.ledger.attempt_changes import Ended
from pipeline.ledger.gaps import Gap
from pipeline.ledger_postgresql import server_connection, server_schema
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import About, Bounds, about, prepare
from pipeline.ledger_postgresql.sqlstates import ClaimsShut, Refused, ServerAway
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.request import Request
from tests.contract.conftest import Begin
from tests.contract.ledgers import OWNER, PATIENT, TERMS, Shared, charge, invoice, issued, itinerary
from tests.postgresql_server import Server, server

pytestmark = pytest.mark.slow

BEFORE = "2026-11-20T00:00:00.000+00:00"


def fares(first: int, last: int) -> list[Request]:
    return [invoice(charge(number)) for number in range(first, last + 1)]


# --- several at once -------------------------------------------------------------------------------


def claimed_at_once(ledger: Shared, plans: list[list[Request]]) -> list[list[str]]:
    """What a worker of each run claimed, all beginning at the same moment."""
    runs = []
    for requests in plans:
        ledger.run = ledger.operations.begin("issue", TERMS, [])
        ledger.plan(*requests)
        runs.append((ledger.run, Worker(ledger.connect("worker"))))
    got: list[list[str]] = [[] for _ in runs]
    begin = threading.Barrier(len(runs))

    def claim(at: int) -> None:
        run, worker = runs[at]
        begin.wait()
        while claimed := worker.turn([], run, 20).claimed:
            got[at] += [one.request_id for one in claimed]

    threads = [threading.Thread(target=claim, args=(at,)) for at in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def test_two_runs_that_ask_for_the_same_charges_get_each_once(begin_shared: Begin) -> None:
    """In the opposite order, so that they meet in the midst, and one has to give way."""
    ledger = begin_shared()
    others = [invoice(charge(number, amount=200_00)) for number in range(40, 0, -1)]
    got = claimed_at_once(ledger, [fares(1, 40), others])
    assert sum(map(len, got)) == 40
    assert ledger.rows("SELECT count(*), count(DISTINCT ticket_no) FROM charge WHERE live") == [(40, 40)]
    assert ledger.rows("SELECT count(*) FROM attempt WHERE state = 'planned' AND barred <> ''") == [(40,)]


def test_a_fare_as_itinerary_and_a_refund_of_its_ticket_never_both_go_live(begin_shared: Begin) -> None:
    """Triggers that look for another row let both through, where two write at once."""
    for _ in range(5):
        ledger = begin_shared()
        tickets = range(1, 21)
        refunds = [invoice(charge(number, "refund")) for number in tickets]
        got = claimed_at_once(ledger, [[itinerary(number) for number in tickets], refunds])
        assert sum(map(len, got)) == 20
        assert ledger.rows("SELECT count(*), count(DISTINCT ticket_no) FROM charge WHERE live") == [(20, 20)]


@pytest.mark.parametrize(
    ("product", "wire"),
    [("flight", None), ("baggage", ("EXTRA", "Flight"))],
    ids=["what it is", "what the carrier is told it is"],
)
def test_a_charge_is_one_by_what_it_is_and_by_what_the_carrier_is_told(
    begin_shared: Begin, product: str, wire: tuple[str, str] | None
) -> None:
    """Each by its own index: the one where the carrier has named no code, the other where two of ours have one of its."""
    for _ in range(5):
        ledger = begin_shared()
        plans = [
            [
                invoice(replace(charge(number, "ancillary", of, amount), wire=wire))
                for number in range(1, 21)
            ]
            for of, amount in (("flight", 100_00), (product, 200_00))
        ]  # fmt: skip
        got = claimed_at_once(ledger, plans)
        assert sum(map(len, got)) == 20
        assert ledger.rows("SELECT count(*), count(DISTINCT ticket_no) FROM charge WHERE live") == [(20, 20)]


def test_two_workers_that_bring_one_number_at_once_have_it_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(*fares(1, 2))
    workers = [Worker(ledger.connect("worker")) for _ in range(2)]
    claims = [worker.turn([], ledger.run, 1).claimed[0].attempt_id for worker in workers]
    begin, done = threading.Barrier(2), []

    def record(at: int) -> None:
        begin.wait()
        done.append(workers[at].turn([Ended(claims[at], issued("N1"))], ledger.run, 0).done[0])

    threads = [threading.Thread(target=record, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.state for one in done if isinstance(one, Outcome)) == ["issued", "unknown"]
    assert sorted(ledger.states().values()) == ["issued", "unknown"]


def test_a_turn_records_and_claims_at_once_or_does_neither(begin_shared: Begin) -> None:
    ledger = begin_shared()
    first, second, third = ledger.plan(*fares(1, 3))
    ledger.claim(1)
    turn = ledger.worker.turn([Ended(first, issued("N1"))], ledger.run, 1)
    assert ([*turn.done], [one.attempt_id for one in turn.claimed]) == ([issued("N1")], [second])
    ledger.operations.mark_gap(BEFORE, verbatim("a copy was put back"))
    with pytest.raises(ClaimsShut):
        ledger.worker.turn([Ended(second, issued("N2"))], ledger.run, 1)
    assert ledger.states() == {first: "issued", second: "sending", third: "planned"}
    ledger.worker.turn([Ended(second, issued("N2"))], ledger.run, 0)
    assert ledger.states() == {first: "issued", second: "issued", third: "planned"}


# --- stops, gaps, the end of a run -----------------------------------------------------------------


def test_nothing_is_claimed_from_when_a_stop_has_returned(begin_shared: Begin) -> None:
    ledger = begin_shared()
    planned = ledger.plan(*fares(1, 3))
    assert ledger.claim(1) == planned[:1]
    ledger.stop(verbatim("the key was refused"))
    ledger.stop(verbatim("another reason"))
    assert ledger.claim(3) == []
    assert "refused" in ledger.rows("SELECT stopped FROM run")[0][0]


def test_a_stop_waits_for_a_claim_that_is_under_way(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(*fares(1, 2))
    with connect(ledger.url("worker")) as slow:
        worker = Worker(slow)
        with slow.transaction():
            worker.turn([], ledger.run, 1)  # in a transaction that is still on
            stopping = threading.Thread(target=ledger.stop, args=(verbatim("enough"),))
            stopping.start()
            time.sleep(0.3)
            assert stopping.is_alive()
        stopping.join(5)
        assert not stopping.is_alive()
    assert sorted(ledger.states().values()) == ["planned", "sending"]


def test_a_run_ends_when_nothing_of_it_is_being_sent(begin_shared: Begin) -> None:
    ledger = begin_shared()
    first, _ = ledger.plan(*fares(1, 2))
    ledger.claim(1)
    with pytest.raises(Refused):
        ledger.operations.end(ledger.run, 0)
    with pytest.raises(LedgerProblem):
        ledger.worker.leave()
    ledger.record(Ended(first, issued("N1")))
    ledger.worker.leave()
    ledger.operations.end(ledger.run, 3)
    assert ledger.states() == {first: "issued"}
    assert ledger.rows("SELECT exit_code, ended_at IS NOT NULL FROM run") == [(3, True)]
    with pytest.raises(Refused):
        ledger.plan(*fares(5, 5))


def test_a_gap_holds_until_it_is_closed_and_then_begins_an_epoch(begin_shared: Begin) -> None:
    ledger = begin_shared()
    before = ledger.plan(*fares(1, 2))
    ledger.operations.mark_gap(BEFORE, verbatim("a copy was put back"))
    assert "a copy was put back" in str(ledger.operations.lacking())
    with pytest.raises(ClaimsShut):
        ledger.claim(1)
    first = ledger.operations.epoch
    assert ledger.operations.close_gaps("chen", verbatim("the statement of 21 Nov")) == [
        Gap(BEFORE, verbatim("a copy was put back"))
    ]
    assert not ledger.operations.lacking()
    assert ledger.operations.epoch not in (first, "")
    assert ledger.claim(5) == []  # what was planned before is of another epoch
    assert ledger.claim(5) == []
    after = ledger.plan(*fares(1, 2))
    assert ledger.claim(5) == after
    assert [ledger.states()[one] for one in before] == ["planned", "planned"]


# --- bodies and names ------------------------------------------------------------------------------


def test_a_sealed_body_is_kept_until_its_outcome(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(*fares(1, 2))
    (claimed,) = ledger.worker.turn([], ledger.run, 1).claimed
    assert claimed.body == b"sealed " + claimed.request_id.encode()
    assert claimed.voucher == "invoice"
    assert "sealed" not in repr(claimed)
    ledger.record(Ended(claimed.attempt_id, Outcome("unknown", "no_answer")))
    assert ledger.rows("SELECT body IS NULL FROM attempt ORDER BY attempt_id") == [(True,), (False,)]


# --- roles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["worker", "issuer"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE voucher.attempt SET state = 'planned'",
        "DELETE FROM voucher.attempt",
        "TRUNCATE voucher.attempt CASCADE",
        "INSERT INTO voucher.gap (since, why, found_at) VALUES (now(), 'x', now())",
        "ALTER TABLE voucher.attempt DISABLE TRIGGER ALL",
        "SELECT body FROM voucher.attempt",
        "SELECT answer FROM voucher.attempt",
        "SELECT voucher.claim(NULL, 1, 1)",
        "SELECT voucher.lose_what_is_sending(NULL)",
        "SELECT voucher.record_outcome(NULL, '{}')",
        "CREATE TABLE voucher.mine ()",
    ],
)
def test_whoever_sends_or_issues_can_only_call_functions(
    begin_shared: Begin, role: str, statement: str
) -> None:
    ledger = begin_shared()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ledger.connect(role).execute(statement.encode())


def test_a_worker_reads_nothing_and_issues_nothing(begin_shared: Begin) -> None:
    worker = begin_shared().connect("worker")
    for statement in (
        b"SELECT 1 FROM voucher.charge",
        b"SELECT 1 FROM voucher.ledger",
        b"SELECT voucher.settle(1, '{}', now())",
        b"SELECT voucher.plan(1, '[]', '{}')",
        b"SELECT voucher.close_gaps('me', 'trust me')",
        b"SELECT voucher.declare_dead(NULL, 'me', 'trust me')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            worker.execute(statement)
    assert about(worker).agency == OWNER.agency


def test_a_reader_reads_all_but_what_is_sealed(begin_shared: Begin) -> None:
    reader = begin_shared().connect("reader")
    assert reader.execute("SELECT count(*) FROM voucher.attempt").fetchone() == (0,)
    for statement in (
        b"SELECT body FROM voucher.attempt",
        b"SELECT voucher.sweep()",
        b"DELETE FROM voucher.run",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(statement)


@pytest.mark.parametrize("table", ["ledger", "run", "worker", "attempt", "request", "charge", "settlement"])
def test_the_owner_himself_empties_no_table_by_mistake(begin_shared: Begin, table: str) -> None:
    ledger = begin_shared()
    with pytest.raises(psycopg.Error):
        ledger.force(f"TRUNCATE {table} CASCADE")


def test_what_is_called_from_outside_runs_as_the_owner_with_names_that_nobody_can_shadow(
    begin_shared: Begin,
) -> None:
    ledger = begin_shared()
    outside = "EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee <> proowner)"
    of_ours = "FROM pg_proc WHERE pronamespace = 'voucher'::regnamespace"
    assert ledger.rows(f"SELECT count(*) > 15 {of_ours} AND {outside}") == [(True,)]
    assert ledger.rows(
        f"SELECT proname {of_ours} AND {outside} AND NOT (prosecdef AND 'search_path=pg_catalog, pg_temp' = ANY (proconfig))"
    ) == []  # fmt: skip
    assert (
        ledger.rows(f"SELECT proname {of_ours} AND proacl IS NULL") == []
    )  # what is nobody's but the owner's says so


# --- how it is made and reached --------------------------------------------------------------------


def test_it_is_made_once_and_says_what_it_is(begin_shared: Begin) -> None:
    ledger = begin_shared()
    owner = ledger.connect("owner")
    found = about(owner)
    assert found == About(2, found.ledger_id, OWNER.base_url, OWNER.agency, found.ledger_id, 30, 60, 3600)
    with pytest.raises(InputProblem, match="holds a ledger already"):
        prepare(owner, OWNER, PATIENT)
    assert about(owner) == found


@pytest.mark.parametrize("bounds", [Bounds(0, 1, 2), Bounds(2, 2, 3), Bounds(1, 3, 3), Bounds(3, 2, 1)])
def test_its_times_have_to_fit_together(postgresql: Server, bounds: Bounds) -> None:
    with closing(connect(postgresql.url("postgres"))) as connection:
        with pytest.raises(InputProblem, match="each is less than the next"):
            prepare(connection, OWNER, bounds)
        with pytest.raises(InputProblem, match="holds no ledger yet"):
            about(connection)


@pytest.mark.parametrize(("newer", "cure"), [(1, "copy the ledger into a file"), (-1, "update the program")])
def test_another_version_is_refused(
    begin_shared: Begin, monkeypatch: pytest.MonkeyPatch, newer: int, cure: str
) -> None:
    ledger, made_with = begin_shared(), server_schema._VERSION
    monkeypatch.setattr(server_schema, "_VERSION", made_with + newer)
    with pytest.raises(InputProblem, match=f"version is {made_with}, this program's .*{cure}"):
        about(ledger.connect("reader"))


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_may_forget_is_refused(postgresql: Server, setting: str) -> None:
    with server(postgresql.programs) as one:
        one.stop()
        one.start("-c", f"{setting}=off")
        with pytest.raises(LedgerProblem, match=f"{setting} is off"):
            connect(one.url("postgres"))


def test_a_turn_that_would_not_be_durable_is_refused_by_the_database(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(*fares(1, 1))
    ledger.worker._connection.execute("SET synchronous_commit = off")
    with pytest.raises(LedgerProblem, match="may lose what it has acknowledged"):
        ledger.claim(1)
    assert [*ledger.states().values()] == ["planned"]


SECRET = "s3cret-word"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://chen:{SECRET}@127.0.0.1/vouchers",
        f"postgresql://127.0.0.1/vouchers?password={SECRET}",
        f"postgresql://chen:{SECRET}@127.0.0.1:port/vouchers?nonsense",
        f"postgresql://chen:{SECRET}@[127.0.0.1/vouchers",
    ],
)
def test_a_password_in_an_address_is_refused_and_never_repeated(url: str) -> None:
    with pytest.raises(InputProblem) as refused:
        connect(url)
    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


@pytest.mark.parametrize("mode", ["disable", "prefer", "require", "verify-ca"])
@pytest.mark.parametrize("host", ["ledger.example", "10.0.0.5", "127.0.0.1,10.0.0.5"])
def test_off_this_machine_the_servers_certificate_is_checked(mode: str, host: str) -> None:
    with pytest.raises(InputProblem, match="encrypted"):
        connect(f"postgresql://chen@{host}/vouchers?sslmode={mode}")
    settings = server_connection._settings(f"postgresql://chen@{host}/vouchers")
    assert settings["sslmode"] == "verify-full"
    assert "BEGIN CERTIFICATE" in Path(settings["sslrootcert"]).read_text()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", ""])
def test_on_this_machine_it_need_not_be(host: str) -> None:
    assert "sslmode" not in server_connection._settings(f"postgresql://{host}/vouchers")


def test_a_server_that_is_not_there_is_away() -> None:
    with pytest.raises(ServerAway):
        connect("postgresql://127.0.0.1:1/vouchers")
