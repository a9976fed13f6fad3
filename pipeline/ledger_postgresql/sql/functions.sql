-- What workers and issuers do, each as one function; they have no rights on tables (roles.sql).
--
-- The fence. A request is sent by whoever was told that its attempt is `sending`, and by nobody else, ever:
--   1  a worker reads its clock before it claims (worker_turns.py);
--   2  it sends only what came back from a COMMIT that was acknowledged;
--   3  it writes the request within `send_within` of that reading, or calls it not_sent;
--   4  of a worker that was silent for a lease, or was seen dead, `sending` becomes `unknown`, and it claims nothing more (sweep, declare_dead);
--   5  what it says of it after that settles that attempt and no other (late);
--   6  that nothing was issued counts only if the sender had ended by then, or the evidence is `settle_after` younger than the sending (settle);
--   7  after a start of the server claims are shut until a lease has passed and every worker that was at work before has found
--      what it had been told (vouch, open_claims): the files may be an older copy.
--
-- The gate is an advisory lock: whoever claims shares it until its COMMIT, and whoever changes what a claim or an outcome has to look at
-- (a gap, a stop, evidence, the server's life) has it alone. So nothing is claimed on the strength of what was so a moment ago.
--
-- SQLSTATEs of ours: VP001 a rule of tables or of a call, VP002 not durable, VP003 gap, VP004 the worker is not one that may go on, VP005 a turn before this one
-- was not acknowledged, VP006 evidence that is
-- no proof yet, VP007 claims are shut, VP008 unknown worker or attempt, VP009 the ledger lacks what it had told, VP010 number taken, VP011 the database (database.sql).

CREATE FUNCTION voucher.gate() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1987016035::bigint';   -- "vouc"

CREATE FUNCTION voucher.life_now() RETURNS text LANGUAGE sql STABLE AS
$$ SELECT format('%s %s', pg_postmaster_start_time(), 'voucher.attempt'::regclass::oid) $$;

-- What everybody may know of the ledger: workers can't read its tables.
CREATE FUNCTION voucher.about(
    OUT version integer, OUT ledger_id text, OUT base_url text, OUT agency text, OUT epoch_id text,
    OUT send_within float8, OUT lease float8, OUT settle_after float8
) LANGUAGE sql STABLE AS $$
    SELECT version, ledger_id, base_url, agency, (SELECT epoch_id FROM voucher.epoch ORDER BY epoch DESC LIMIT 1),
           extract(epoch FROM send_within), extract(epoch FROM lease), extract(epoch FROM settle_after)
    FROM voucher.ledger
$$;

-- What is acknowledged has to be on disk, here and on whatever would take this server's place.
CREATE FUNCTION voucher.check_durable() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('fsync') <> 'on' OR current_setting('full_page_writes') <> 'on'
        OR current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
        RAISE EXCEPTION 'fsync, full_page_writes and synchronous_commit must be on' USING ERRCODE = 'VP002';
    END IF;
END $$;

CREATE FUNCTION voucher.check_complete() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL) THEN
        RAISE EXCEPTION 'nothing is sent while the ledger has a gap' USING ERRCODE = 'VP003';
    END IF;
    IF NOT EXISTS (
        SELECT FROM voucher.server_life WHERE life = (SELECT max(life) FROM voucher.server_life) AND name = voucher.life_now() AND opened_at IS NOT NULL
    ) THEN
        RAISE EXCEPTION 'the server was started anew, and claims are shut' USING ERRCODE = 'VP007';
    END IF;
END $$;

-- Lives of the server.

CREATE FUNCTION voucher.note_life() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    at_present bigint := (SELECT life FROM voucher.server_life WHERE name = voucher.life_now());
BEGIN
    IF at_present IS NULL THEN
        INSERT INTO voucher.server_life (name, seen_at, opened_at)
        VALUES (voucher.life_now(), clock_timestamp(), CASE WHEN NOT EXISTS (SELECT FROM voucher.server_life) THEN clock_timestamp() END)
        ON CONFLICT DO NOTHING;
        at_present := (SELECT life FROM voucher.server_life WHERE name = voucher.life_now());
    END IF;
    RETURN at_present;
END $$;

-- The workers that claims wait for since the server was started: they were at work before, and have not found yet what they had been told.
-- `heard`: within the last lease.
CREATE FUNCTION voucher.awaited() RETURNS TABLE (worker uuid, machine text, process integer, heard boolean) LANGUAGE sql STABLE AS $$
    SELECT worker, machine, process, silent_at IS NULL AND heard_at + (SELECT lease FROM voucher.ledger) > clock_timestamp() FROM voucher.worker
    WHERE vouched_life < (SELECT max(server_life.life) FROM voucher.server_life) AND left_at IS NULL AND dead_at IS NULL
    ORDER BY joined_at, worker
$$;

CREATE FUNCTION voucher.open_claims() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    at_present voucher.server_life;
BEGIN
    PERFORM voucher.note_life();
    PERFORM pg_advisory_xact_lock(voucher.gate());
    SELECT * INTO at_present FROM voucher.server_life ORDER BY life DESC LIMIT 1;
    IF at_present.opened_at IS NULL AND at_present.seen_at + (SELECT lease FROM voucher.ledger) <= clock_timestamp()
        AND NOT EXISTS (SELECT FROM voucher.awaited()) THEN
        UPDATE voucher.server_life SET opened_at = clock_timestamp() WHERE life = at_present.life;
        RETURN true;
    END IF;
    RETURN at_present.opened_at IS NOT NULL;
END $$;

-- Workers.

CREATE FUNCTION voucher.join_work(_worker uuid, _machine text, _process integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at_present bigint := voucher.note_life();
BEGIN
    INSERT INTO voucher.worker (worker, machine, process, life, vouched_life, joined_at, heard_at)
    VALUES (_worker, _machine, _process, at_present, at_present, clock_timestamp(), clock_timestamp())
    ON CONFLICT (worker) DO NOTHING;    -- it joined, and was not told
END $$;

-- How a worker stands: on, vouch (the server was started anew), silent, dead, left, or unknown to this ledger.
CREATE FUNCTION voucher.heartbeat(_worker uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    at_present bigint := voucher.note_life();
    it voucher.worker;
BEGIN
    UPDATE voucher.worker SET heard_at = clock_timestamp()
    WHERE worker = _worker AND silent_at IS NULL AND left_at IS NULL AND dead_at IS NULL
        AND heard_at + (SELECT lease FROM voucher.ledger) > clock_timestamp()
    RETURNING * INTO it;
    IF FOUND THEN
        RETURN CASE WHEN it.vouched_life < at_present THEN 'vouch' ELSE 'on' END;
    END IF;
    SELECT * INTO it FROM voucher.worker WHERE worker = _worker;
    RETURN CASE WHEN it.worker IS NULL THEN 'unknown' WHEN it.dead_at IS NOT NULL THEN 'dead' WHEN it.left_at IS NOT NULL THEN 'left' ELSE 'silent' END;
END $$;

-- Whether a worker finds what it had been told; if not, nothing is sent from now on.
CREATE FUNCTION voucher.vouch(_worker uuid, _acknowledged bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    at_present bigint := voucher.note_life();
BEGIN
    UPDATE voucher.worker SET vouched_life = at_present WHERE worker = _worker AND turn >= _acknowledged AND vouched_life <= at_present;
    IF FOUND THEN
        RETURN true;
    END IF;
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF NOT EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL) THEN
        INSERT INTO voucher.gap (since, why, found_at)
        VALUES (voucher.known_until(), format('a worker (%s) remembers what this ledger lacks', _worker), clock_timestamp());
    END IF;
    RETURN false;
END $$;

-- The last time that this ledger has; what comes after it may be missing.
CREATE FUNCTION voucher.known_until() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT greatest(
        (SELECT created_at FROM voucher.ledger), (SELECT max(greatest(planned_at, sending_at, ended_at)) FROM voucher.attempt),
        (SELECT max(greatest(started_at, ended_at)) FROM voucher.run), (SELECT max(joined_at) FROM voucher.worker)
    )
$$;

-- Called with the worker's row in hand. The gate comes before its attempts, as whoever settles one has them in that order: else the two
-- would wait for each other.
CREATE FUNCTION voucher.lose_what_is_sending(_worker uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    lost bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    UPDATE voucher.attempt SET state = 'unknown', reason = 'run_killed', was_unknown = true, ended_at = clock_timestamp(), body = NULL,
           detail = jsonb_build_object('message', 'whoever was sending it was killed, or was not heard for too long', 'facts', '{}'::jsonb)::text
    WHERE worker = _worker AND state = 'sending';
    GET DIAGNOSTICS lost = ROW_COUNT;
    RETURN lost;
END $$;

-- What silent workers were sending is unknown from now on; how many attempts that were.
CREATE FUNCTION voucher.sweep() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    silent uuid;
    lost bigint := 0;
BEGIN
    FOR silent IN
        SELECT worker FROM voucher.worker
        WHERE silent_at IS NULL AND left_at IS NULL AND dead_at IS NULL AND heard_at + (SELECT lease FROM voucher.ledger) <= clock_timestamp()
        FOR NO KEY UPDATE SKIP LOCKED   -- a late word of its own refers to its row, and has the gate
    LOOP
        UPDATE voucher.worker SET silent_at = clock_timestamp() WHERE worker = silent;
        lost := lost + voucher.lose_what_is_sending(silent);
    END LOOP;
    PERFORM voucher.end_orphans();
    RETURN lost;
END $$;

-- Runs whose issuer is gone: nothing more of them is claimed, what is planned is dropped, and when nothing of them is being sent they end,
-- without an exit code.
CREATE FUNCTION voucher.end_orphans() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    orphan bigint;
BEGIN
    FOR orphan IN
        SELECT run FROM voucher.run JOIN voucher.worker ON worker = issuer
        -- One that left has a lease to record how its run ended.
        WHERE ended_at IS NULL AND (silent_at IS NOT NULL OR dead_at IS NOT NULL OR left_at + (SELECT lease FROM voucher.ledger) <= clock_timestamp())
    LOOP
        PERFORM pg_advisory_xact_lock(voucher.gate());
        DELETE FROM voucher.attempt WHERE run = orphan AND state = 'planned';
        UPDATE voucher.run SET stopped = CASE stopped WHEN '' THEN '{"message": "whoever issued it is gone", "facts": {}}' ELSE stopped END,
               ended_at = CASE WHEN NOT EXISTS (SELECT FROM voucher.attempt WHERE run = orphan AND state = 'sending') THEN clock_timestamp() END
        WHERE run = orphan AND ended_at IS NULL;
    END LOOP;
END $$;

CREATE FUNCTION voucher.declare_dead(_worker uuid, _by text, _how text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    lost bigint;
BEGIN
    UPDATE voucher.worker SET dead_at = clock_timestamp(), dead_by = _by, dead_how = _how
    WHERE worker = _worker AND left_at IS NULL AND dead_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no such worker, or it has ended' USING ERRCODE = 'VP008';
    END IF;
    lost := voucher.lose_what_is_sending(_worker);
    PERFORM voucher.end_orphans();
    RETURN lost;
END $$;

CREATE FUNCTION voucher.leave_work(_worker uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM voucher.worker WHERE worker = _worker FOR UPDATE;
    IF EXISTS (SELECT FROM voucher.attempt WHERE worker = _worker AND state = 'sending') THEN
        RAISE EXCEPTION 'a worker that is sending does not leave' USING ERRCODE = 'VP001';
    END IF;
    UPDATE voucher.worker SET left_at = clock_timestamp() WHERE worker = _worker AND left_at IS NULL AND dead_at IS NULL;
END $$;

-- Runs.

-- NULL, and nothing is begun, where the ledger is not, or not any more, that of `_owner` (base_url and agency). While a run is on it stays
-- whose it is (move_carrier).
CREATE FUNCTION voucher.begin_run(_command text, _version text, _as_of text, _files jsonb, _owner text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    made bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(voucher.gate());
    INSERT INTO voucher.run (command, version, as_of, files, started_at)
    SELECT _command, _version, _as_of, _files, clock_timestamp() FROM voucher.ledger WHERE ARRAY[base_url, agency] = _owner
    RETURNING run INTO made;
    RETURN made;
END $$;

-- Whether a charge was ever in doubt, or is being sent; of one whose voucher was reversed nothing is left in doubt. As in the ledger of one
-- machine (ledger/held_charges.py).
CREATE FUNCTION voucher.doubted(_ticket_no text, _charge text, _product text, _wire text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM voucher.charge AS old JOIN voucher.attempt USING (attempt_id)
        WHERE old.ticket_no = _ticket_no AND ((old.charge = _charge AND old.product = _product) OR (old.wire = _wire AND _wire <> ''))
          AND (attempt.was_unknown OR attempt.state = 'sending') AND NOT (attempt.state = 'issued' AND NOT old.live)
    )
$$;

-- A run sends from now on, as long as the worker that issues it is heard; and again, when that one has left, by another.
CREATE FUNCTION voucher.open_run(_run bigint, _issuer uuid, _rate float8, _concurrency integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE voucher.run SET issuer = _issuer, rate = _rate, concurrency = _concurrency
    WHERE run = _run AND ended_at IS NULL
      AND (issuer IS NULL OR issuer = _issuer OR EXISTS (SELECT FROM voucher.worker WHERE worker = issuer AND left_at IS NOT NULL));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a run that is on has one issuer' USING ERRCODE = 'VP001';
    END IF;
END $$;

-- How a run stands for whoever would claim of it: on, stopped, ended (or about to end, its issuer having left in good order), or left by its
-- issuer, who was not heard or was seen dead.
CREATE FUNCTION voucher.standing_of(_run voucher.run) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    it voucher.worker;
BEGIN
    IF _run.ended_at IS NOT NULL THEN
        RETURN 'ended';
    ELSIF _run.stopped <> '' THEN
        RETURN 'stopped';
    ELSIF _run.issuer IS NULL THEN
        RETURN 'on';
    END IF;
    SELECT * INTO it FROM voucher.worker WHERE worker = _run.issuer;
    IF it.silent_at IS NOT NULL OR it.dead_at IS NOT NULL THEN
        RETURN 'left';
    ELSIF it.left_at IS NOT NULL THEN
        RETURN 'ended';
    ELSIF it.heard_at + (SELECT lease FROM voucher.ledger WHERE only_row = 1) > clock_timestamp() THEN
        RETURN 'on';
    END IF;
    RETURN 'left';
END $$;

-- The runs of which something can be claimed.
CREATE FUNCTION voucher.open_runs() RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT one.run FROM voucher.run AS one
    WHERE ended_at IS NULL AND issuer IS NOT NULL AND voucher.standing_of(one) = 'on'
      AND EXISTS (SELECT FROM voucher.attempt WHERE attempt.run = one.run AND state = 'planned' AND barred = '')
    ORDER BY one.run
$$;

-- How many requests of a run a worker may have in flight, of `_wanted` (0: it takes part no more), while `_busy` are: a fair share, as far as
-- others have let go of theirs. -1 where the run has ended.
--
-- All of a run's workers together have no more than its concurrency, and all runs that are on no more than the greatest of theirs. Runs share
-- alike, and the workers of each alike, at least one each, and what the others neither want nor have goes to whoever asks: of a remainder that
-- two took for theirs nothing would be left for a third.
CREATE FUNCTION voucher.allot(_worker uuid, _run bigint, _wanted integer, _busy integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    most integer;       -- of this run
    of_all integer;     -- of all runs
    of_run integer;     -- what this run may have, beside the others
    share integer;
    allotted integer;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate() + 1);    -- one at a time
    SELECT concurrency INTO most FROM voucher.run WHERE run = _run AND ended_at IS NULL;
    DELETE FROM voucher.allotment WHERE (worker = _worker AND (run <> _run OR _wanted = 0))
        OR worker IN (SELECT worker FROM voucher.worker WHERE silent_at IS NOT NULL OR left_at IS NOT NULL OR dead_at IS NOT NULL)
        OR run IN (SELECT run FROM voucher.run WHERE ended_at IS NOT NULL);
    IF most IS NULL THEN
        RETURN -1;
    ELSIF _wanted = 0 THEN
        RETURN 0;
    ELSIF most = 0 THEN
        RETURN _wanted;
    END IF;
    INSERT INTO voucher.allotment VALUES (_run, _worker, _wanted, 0) ON CONFLICT (run, worker) DO UPDATE SET wanted = _wanted;
    SELECT max(concurrency), greatest(1, max(concurrency) / count(*)) INTO of_all, share
    FROM voucher.run WHERE run IN (SELECT run FROM voucher.allotment);
    SELECT least(most, greatest(share, of_all - coalesce(sum(greatest(least(wanted, share), slots)), 0))) INTO of_run
    FROM (SELECT sum(wanted) AS wanted, sum(slots) AS slots FROM voucher.allotment WHERE run <> _run GROUP BY run) AS other;
    SELECT greatest(1, of_run / count(*)) INTO share FROM voucher.allotment WHERE run = _run;
    SELECT greatest(0, least(
        _wanted,
        greatest(share, of_run - coalesce(sum(greatest(least(wanted, share), slots)) FILTER (WHERE run = _run), 0)),
        most - coalesce(sum(slots) FILTER (WHERE run = _run), 0),
        of_all - coalesce(sum(slots), 0)
    )) INTO allotted FROM voucher.allotment WHERE worker <> _worker;
    UPDATE voucher.allotment SET slots = greatest(_busy, allotted) WHERE run = _run AND worker = _worker;  -- what is in flight is let go when it is back
    RETURN allotted;
END $$;

-- How many attempts of a run are in each state; of what is planned, what can't be claimed is `barred`.
CREATE FUNCTION voucher.run_progress(_run bigint) RETURNS TABLE (state text, attempts bigint) LANGUAGE sql STABLE
-- By its index: of a run that has only begun the planner knows nothing, and takes it for as large as those before.
SET enable_seqscan = off SET jit = off AS $$
    SELECT CASE WHEN barred <> '' AND state = 'planned' THEN 'barred' ELSE state END, count(*) FROM voucher.attempt WHERE run = _run GROUP BY 1
$$;

-- Of each request of a run its last attempt, and what that came to.
CREATE FUNCTION voucher.run_results(_run bigint)
RETURNS TABLE (request_id text, attempt integer, state text, reason text, number text, trace_id text, detail text, barred text) LANGUAGE sql STABLE
SET enable_seqscan = off SET jit = off AS $$
    SELECT DISTINCT ON (request_id) request_id, attempt, state, reason, number, trace_id, detail, barred
    FROM voucher.attempt WHERE run = _run ORDER BY request_id, attempt DESC
$$;

-- A plan, all of it or nothing. `_requests`: objects of request_id, voucher, market, amount, header (its values) and charges (their values).
CREATE FUNCTION voucher.plan(_run bigint, _requests jsonb, _bodies bytea[])
RETURNS TABLE (attempt_id bigint, attempt integer) LANGUAGE plpgsql
-- By its indexes, however little the planner knows of tables that are being filled.
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    of_now bigint := (SELECT max(epoch) FROM voucher.epoch);
    ids bigint[];
    numbers integer[];
BEGIN
    PERFORM voucher.check_durable();
    IF NOT EXISTS (SELECT FROM voucher.run WHERE run = _run AND ended_at IS NULL) THEN
        RAISE EXCEPTION 'an attempt is made by a run that is on' USING ERRCODE = 'VP001';
    END IF;
    INSERT INTO voucher.request
    SELECT r ->> 'request_id', r ->> 'voucher', r ->> 'market', (r ->> 'amount')::bigint, r -> 'header' ->> 0, r -> 'header' ->> 1,
           r -> 'header' ->> 2, r -> 'header' ->> 3, r -> 'header' ->> 4, r -> 'header' ->> 5
    FROM jsonb_array_elements(_requests) AS r ON CONFLICT DO NOTHING;
    WITH made AS (
        INSERT INTO voucher.attempt (request_id, attempt, run, epoch, state, planned_at, body, doubted)
        SELECT r ->> 'request_id', 1 + coalesce((SELECT max(old.attempt) FROM voucher.attempt AS old WHERE old.request_id = r ->> 'request_id'), 0),
               _run, of_now, 'planned', clock_timestamp(), _bodies[nth],
               (SELECT coalesce(bool_or(voucher.doubted(c ->> 0, c ->> 1, c ->> 2, c ->> 3)), false) FROM jsonb_array_elements(r -> 'charges') AS c)
        FROM jsonb_array_elements(_requests) WITH ORDINALITY AS each (r, nth) ORDER BY nth
        RETURNING attempt_id, attempt, request_id
    )
    SELECT array_agg(made.attempt_id ORDER BY nth), array_agg(made.attempt ORDER BY nth) INTO ids, numbers
    FROM made JOIN jsonb_array_elements(_requests) WITH ORDINALITY AS each (r, nth) ON r ->> 'request_id' = made.request_id;
    INSERT INTO voucher.charge (attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, content, passenger_name, components, carried)
    SELECT ids[nth], c ->> 0, c ->> 1, c ->> 2, c ->> 3, r ->> 'voucher', (c ->> 4)::bigint, c ->> 5, c ->> 6, (c ->> 7)::integer, c ->> 8,
           c ->> 9, c ->> 10, c ->> 11
    FROM jsonb_array_elements(_requests) WITH ORDINALITY AS each (r, nth) CROSS JOIN jsonb_array_elements(r -> 'charges') AS c;
    IF EXISTS (
        SELECT FROM voucher.attempt JOIN voucher.request USING (request_id)
        WHERE attempt.attempt_id = ANY (ids)
          AND request.amount IS DISTINCT FROM (SELECT sum(charge.amount) FROM voucher.charge WHERE charge.attempt_id = attempt.attempt_id)
    ) THEN
        RAISE EXCEPTION 'an attempt has all the charges that its request asks for' USING ERRCODE = 'VP001';
    END IF;
    RETURN QUERY SELECT * FROM unnest(ids, numbers);
END $$;

-- Nothing more of it is claimed, when this has returned.
CREATE FUNCTION voucher.stop_run(_run bigint, _why text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    UPDATE voucher.run SET stopped = _why WHERE run = _run AND ended_at IS NULL AND (_why = '' OR stopped = '');
END $$;

CREATE FUNCTION voucher.end_run(_run bigint, _exit_code integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    dropped bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF EXISTS (SELECT FROM voucher.attempt WHERE run = _run AND state = 'sending') THEN
        RAISE EXCEPTION 'a run ends when nothing of it is being sent' USING ERRCODE = 'VP001';
    END IF;
    DELETE FROM voucher.attempt WHERE run = _run AND state = 'planned';
    GET DIAGNOSTICS dropped = ROW_COUNT;
    UPDATE voucher.run SET ended_at = clock_timestamp(), exit_code = _exit_code WHERE run = _run AND ended_at IS NULL;
    RETURN dropped;
END $$;

-- Claims.

-- Of each attempt why it can't be sent: what it asks for is held already; '' where nothing is in its way. Of all at once, for a statement by itself
-- costs several times what one of many does; and by scalar subqueries, which are never answered by reading all charges.
CREATE FUNCTION voucher.obstacles(_attempts bigint[]) RETURNS TABLE (attempt_id bigint, why text) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT one, CASE
        WHEN (
            SELECT true FROM voucher.charge AS own JOIN voucher.charge AS other USING (ticket_no)
            WHERE own.attempt_id = one AND other.live AND (
                (other.charge = own.charge AND other.product = own.product) OR (other.wire = own.wire AND own.wire <> '')
                OR (other.voucher <> own.voucher AND other.charge IN ('ticket_fare', 'refund') AND own.charge IN ('ticket_fare', 'refund'))
            ) LIMIT 1
        ) THEN 'when its turn came, another run of this ledger was sending a charge of its voucher, or had issued one'
        WHEN (
            SELECT true FROM voucher.charge AS own JOIN voucher.elsewhere AS other USING (ticket_no)
            WHERE own.attempt_id = one AND other.live AND (
                (other.charge = own.charge AND other.product IN (own.product, '')) OR (other.wire = own.wire AND own.wire <> '')
                OR (other.voucher <> own.voucher AND other.charge IN ('ticket_fare', 'refund') AND own.charge IN ('ticket_fare', 'refund'))
            ) LIMIT 1
        ) THEN 'the carrier has issued a charge of it elsewhere'
        WHEN (
            SELECT true FROM voucher.charge AS own JOIN voucher.charge AS other USING (ticket_no)
            JOIN voucher.late_word ON late_word.attempt_id = other.attempt_id
            WHERE own.attempt_id = one AND late_word.state = 'issued' AND NOT late_word.taken AND (
                (other.charge = own.charge AND other.product = own.product) OR (other.wire = own.wire AND own.wire <> '')
                OR (other.voucher <> own.voucher AND other.charge IN ('ticket_fare', 'refund') AND own.charge IN ('ticket_fare', 'refund'))
            ) AND NOT EXISTS (
                SELECT FROM voucher.settlement WHERE settlement.attempt_id = late_word.attempt_id AND settlement.settled_at > late_word.said_at
            ) LIMIT 1
        ) THEN 'a worker has a number for a charge of it, against what is recorded'
        ELSE ''
    END
    FROM unnest(_attempts) AS one;
END $$;

CREATE FUNCTION voucher.obstacle(_attempt bigint) RETURNS text LANGUAGE sql STABLE AS 'SELECT why FROM voucher.obstacles(ARRAY[_attempt])';

-- Attempts that are this worker's from its COMMIT on, `_most` of them; none where the run is stopped, has ended, or has no more.
--
-- `leaves_in`: by the rate, the seconds until the first of them may leave; each next one `period` after the one before. `idle`: where it is
-- fewer than asked for, the seconds until there may be more, NULL where nothing more is planned. The rate's turns are handed out no further
-- ahead than a fourth of `send_within`.
CREATE FUNCTION voucher.claim(
    _worker uuid, _run bigint, _most integer,
    OUT claimed bigint[], OUT standing text, OUT stopped text, OUT leaves_in float8, OUT period float8, OUT idle float8
) LANGUAGE plpgsql
-- In the order of the index, however little the planner knows of a table that was filled a moment ago.
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    of_now bigint;
    of_run voucher.run;
    one bigint;
    taken bigint[];
    looked_at bigint;
    wanted integer := _most;
BEGIN
    claimed := '{}';
    leaves_in := 0;
    period := 0;
    PERFORM pg_advisory_xact_lock_shared(voucher.gate());
    PERFORM voucher.check_complete();
    IF (SELECT vouched_life FROM voucher.worker WHERE worker = _worker) < (SELECT max(life) FROM voucher.server_life) THEN
        RAISE EXCEPTION 'the worker has not vouched since the server was started' USING ERRCODE = 'VP007';
    END IF;
    SELECT * INTO of_run FROM voucher.run WHERE run = _run;
    standing := voucher.standing_of(of_run);
    stopped := of_run.stopped;
    IF standing IS DISTINCT FROM 'on' THEN
        RETURN;
    END IF;
    IF of_run.rate > 0 THEN
        -- A little slower than the rate allows, as submission/rate_limit.py.
        period := 1.013 / of_run.rate;
        SELECT greatest(0, extract(epoch FROM next_at - clock_timestamp())) INTO leaves_in FROM voucher.pace WHERE only_row = 1 FOR NO KEY UPDATE;
        idle := leaves_in - (SELECT extract(epoch FROM send_within) / 4 FROM voucher.ledger WHERE only_row = 1);
        wanted := least(_most, 1 + floor(-idle / period));
        IF wanted < 1 THEN
            RETURN;
        END IF;
    END IF;
    of_now := (SELECT max(epoch) FROM voucher.epoch);
    BEGIN
        LOOP
            WITH chosen AS (
                SELECT attempt_id FROM voucher.attempt
                WHERE run = _run AND state = 'planned' AND barred = '' AND epoch = of_now AND (due_at IS NULL OR due_at <= clock_timestamp())
                ORDER BY attempt_id LIMIT wanted - cardinality(claimed) FOR UPDATE SKIP LOCKED
            ), looked AS MATERIALIZED (
                SELECT * FROM voucher.obstacles(ARRAY(SELECT attempt_id FROM chosen))
            ), changed AS (
                UPDATE voucher.attempt
                SET barred = why, state = CASE why WHEN '' THEN 'sending' ELSE 'planned' END, worker = CASE why WHEN '' THEN _worker END,
                    sending_at = CASE why WHEN '' THEN clock_timestamp() END
                FROM looked WHERE attempt.attempt_id = looked.attempt_id RETURNING attempt.attempt_id, state
            )
            SELECT coalesce(array_agg(attempt_id) FILTER (WHERE state = 'sending'), '{}'), count(*) INTO taken, looked_at FROM changed;
            claimed := claimed || taken;
            EXIT WHEN looked_at = 0 OR cardinality(claimed) = wanted;
        END LOOP;
    EXCEPTION WHEN unique_violation THEN
        -- Another claimed the same charge at the same moment, and has it now: one by one, whoever meets it is barred alone.
        claimed := '{}';
        LOOP
            looked_at := 0;
            FOR one IN
                SELECT attempt_id FROM voucher.attempt
                WHERE run = _run AND state = 'planned' AND barred = '' AND epoch = of_now AND (due_at IS NULL OR due_at <= clock_timestamp())
                ORDER BY attempt_id LIMIT wanted FOR UPDATE SKIP LOCKED
            LOOP
                looked_at := looked_at + 1;
                BEGIN
                    UPDATE voucher.attempt SET state = 'sending', worker = _worker, sending_at = clock_timestamp()
                    WHERE attempt_id = one AND voucher.obstacle(one) = '';
                    IF FOUND THEN
                        claimed := claimed || one;
                        CONTINUE;
                    END IF;
                EXCEPTION WHEN unique_violation THEN
                    NULL;
                END;
                UPDATE voucher.attempt SET barred = coalesce(nullif(voucher.obstacle(one), ''), 'what it asks for is claimed already')
                WHERE attempt_id = one;
            END LOOP;
            EXIT WHEN looked_at = 0 OR cardinality(claimed) > 0;
        END LOOP;
    END;
    IF of_run.rate > 0 AND cardinality(claimed) > 0 THEN
        UPDATE voucher.pace SET next_at = greatest(next_at, clock_timestamp()) + make_interval(secs => period * cardinality(claimed))
        WHERE only_row = 1;
    END IF;
    IF cardinality(claimed) < wanted THEN
        SELECT extract(epoch FROM min(coalesce(due_at, planned_at)) - clock_timestamp()) INTO idle
        FROM voucher.attempt WHERE run = _run AND state = 'planned' AND barred = '' AND epoch = of_now;
    ELSE
        idle := 0;
    END IF;
END $$;

-- After a turn that was not acknowledged: what it may have claimed for a worker, beside what that knows that it is sending, was sent by
-- nobody. It counts as turn `_turn`, so that the lost one, should it still be on its way, comes too late; and that is another each time
-- that a worker gives back, so that this itself, should it arrive when the worker has gone on, does.
CREATE FUNCTION voucher.give_back(_worker uuid, _acknowledged bigint, _turn bigint, _sending bigint[], _detail text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    it voucher.attempt;
    given bigint := 0;
BEGIN
    PERFORM voucher.check_durable();
    UPDATE voucher.worker SET turn = _turn WHERE worker = _worker AND turn >= _acknowledged AND turn < _turn;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM voucher.worker WHERE worker = _worker AND turn >= _turn) THEN
            RAISE EXCEPTION 'the worker has gone on' USING ERRCODE = 'VP005';
        END IF;
        RAISE EXCEPTION 'this ledger lacks what it had told a worker' USING ERRCODE = 'VP009';
    END IF;
    FOR it IN SELECT * FROM voucher.attempt WHERE worker = _worker AND state = 'sending' AND attempt_id <> ALL (_sending) ORDER BY attempt_id FOR UPDATE LOOP
        UPDATE voucher.attempt SET state = 'not_sent', reason = 'run_stopped', detail = _detail, ended_at = clock_timestamp(), body = NULL
        WHERE attempt_id = it.attempt_id;
        given := given + 1;
        IF EXISTS (SELECT FROM voucher.run WHERE run = it.run AND ended_at IS NULL)
            AND NOT EXISTS (SELECT FROM voucher.attempt WHERE request_id = it.request_id AND attempt > it.attempt) THEN
            PERFORM voucher.plan_another(it, it.body, it.tries, NULL);  -- it was not even tried
        END IF;
    END LOOP;
    RETURN given;
END $$;

-- Answers and outcomes.

-- What the ledger makes of an outcome: a number that another attempt has, that the carrier has reversed, or that a statement showed for
-- another ticket, is no number of this one.
CREATE FUNCTION voucher.number_obstacle(_attempt bigint, _number text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    of_request text;
    is_reversed boolean;
    of_ticket text;
BEGIN
    SELECT (SELECT request_id FROM voucher.attempt WHERE number = _number AND state = 'issued' AND attempt_id <> _attempt),
           EXISTS (SELECT FROM voucher.reversal WHERE number = _number AND NOT withdrawn)
               OR EXISTS (SELECT FROM voucher.reversal WHERE red_number = _number AND NOT withdrawn),
           (SELECT min(ticket_no) FROM voucher.elsewhere
            WHERE number = _number AND NOT withdrawn AND ticket_no NOT IN (SELECT ticket_no FROM voucher.charge WHERE attempt_id = _attempt))
    INTO of_request, is_reversed, of_ticket;
    IF of_request IS NOT NULL THEN
        RETURN jsonb_build_object('message', 'the answer brings number {number}, which request {request_id} has already',
                                  'facts', jsonb_build_object('number', _number, 'request_id', of_request));
    ELSIF is_reversed THEN
        RETURN jsonb_build_object('message', 'the answer brings number {number}, which the carrier has reversed',
                                  'facts', jsonb_build_object('number', _number));
    ELSIF of_ticket IS NOT NULL THEN
        RETURN jsonb_build_object('message', 'the answer brings number {number}, which a statement showed for ticket {ticket_no}',
                                  'facts', jsonb_build_object('number', _number, 'ticket_no', of_ticket));
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION voucher.record_answer(_worker uuid, _change jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    said bytea := decode(_change ->> 'body', 'base64');
BEGIN
    UPDATE voucher.attempt SET http_status = (_change ->> 'http_status')::integer, answer = said, retry_after = _change ->> 'retry_after',
           answered_at = clock_timestamp()
    WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker AND state = 'sending' AND answer IS NULL;
    IF NOT FOUND AND NOT EXISTS (
        SELECT FROM voucher.attempt WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker AND answer = said
    ) THEN
        RAISE EXCEPTION 'attempt % is not being sent by this worker, or has its answer', _change ->> 'attempt_id' USING ERRCODE = 'VP001';
    END IF;
END $$;

CREATE FUNCTION voucher.record_outcome(_worker uuid, _change jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    it voucher.attempt;
    o jsonb := _change;
    why jsonb;
BEGIN
    SELECT * INTO it FROM voucher.attempt WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker FOR UPDATE;
    IF it.state IS DISTINCT FROM 'sending' THEN
        -- Handed in again after a turn that was not acknowledged: it is as it was recorded then.
        IF (it.state, it.number) IS DISTINCT FROM (o ->> 'state', o ->> 'number')
            AND (it.state, it.reason, o ->> 'state') IS DISTINCT FROM ('unknown', 'answer_unexplained', 'issued') THEN
            RAISE EXCEPTION 'attempt % is not being sent by this worker any more', _change ->> 'attempt_id' USING ERRCODE = 'VP001';
        END IF;
        RETURN jsonb_build_object('state', it.state, 'reason', it.reason, 'number', it.number, 'trace_id', it.trace_id, 'detail', it.detail);
    END IF;
    IF o ->> 'state' = 'issued' THEN
        why := voucher.number_obstacle(it.attempt_id, o ->> 'number');
        IF why IS NOT NULL THEN
            o := o || jsonb_build_object('state', 'unknown', 'reason', 'answer_unexplained', 'number', '', 'detail', why::text);
        END IF;
    END IF;
    UPDATE voucher.attempt SET state = o ->> 'state', reason = o ->> 'reason', number = o ->> 'number', trace_id = o ->> 'trace_id', detail = o ->> 'detail',
           was_unknown = (o ->> 'state' = 'unknown'), ended_at = clock_timestamp(), body = NULL
    WHERE attempt_id = it.attempt_id;
    RETURN o;
END $$;

-- Changes of one turn as they were handed in, in two statements, for one by itself costs several times what one of many does. Where any of them is
-- refused, or can't be recorded as it is, all are.
CREATE FUNCTION voucher.record_together(_worker uuid, _changes jsonb) RETURNS jsonb LANGUAGE plpgsql
-- By its indexes, however little the planner knows of a table that was filled a moment ago.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    answers bigint;
    outcomes bigint;
BEGIN
    UPDATE voucher.attempt SET http_status = c.http_status, answer = decode(c.body, 'base64'), retry_after = c.retry_after, answered_at = clock_timestamp()
    FROM jsonb_to_recordset(_changes) AS c (kind text, attempt_id bigint, http_status integer, body text, retry_after text)
    WHERE kind = 'answer' AND attempt.attempt_id = c.attempt_id AND worker = _worker AND state = 'sending' AND answer IS NULL;
    GET DIAGNOSTICS answers = ROW_COUNT;
    UPDATE voucher.attempt SET state = c.state, reason = c.reason, number = c.number, trace_id = c.trace_id, detail = c.detail,
           was_unknown = (c.state = 'unknown'), ended_at = clock_timestamp(), body = NULL
    FROM jsonb_to_recordset(_changes) AS c (kind text, attempt_id bigint, state text, reason text, number text, trace_id text, detail text)
    WHERE kind = 'ended' AND attempt.attempt_id = c.attempt_id AND worker = _worker AND attempt.state = 'sending';
    GET DIAGNOSTICS outcomes = ROW_COUNT;
    IF answers + outcomes <> jsonb_array_length(_changes) THEN
        RAISE EXCEPTION 'not all that was handed in can be recorded together' USING ERRCODE = 'VP001';
    END IF;
    RETURN (
        SELECT jsonb_agg(CASE each ->> 'kind' WHEN 'ended' THEN each - 'detail' ELSE '{}' END ORDER BY nth)
        FROM jsonb_array_elements(_changes) WITH ORDINALITY AS changes (each, nth)
    );
END $$;

-- Changes of one turn, in their order; of each how it is recorded, or why it alone is refused.
CREATE FUNCTION voucher.record(_worker uuid, _changes jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    change jsonb;
    done jsonb := '[]';
BEGIN
    IF _changes = '[]' THEN
        RETURN done;
    ELSIF NOT _changes @? '$[*] ? (@.kind == "again")' THEN
        BEGIN
            RETURN voucher.record_together(_worker, _changes);
        EXCEPTION WHEN SQLSTATE 'VP001' OR SQLSTATE 'VP010' OR integrity_constraint_violation THEN
            NULL;   -- each by itself
        END;
    END IF;
    FOR change IN SELECT jsonb_array_elements(_changes) LOOP
        BEGIN
            done := done || jsonb_build_array(voucher.record_one(_worker, change));
        EXCEPTION
            WHEN unique_violation OR SQLSTATE 'VP010' THEN  -- another got the number at the same moment, and has committed: it is looked at now
                done := done || jsonb_build_array(voucher.record_one(_worker, change));
            WHEN SQLSTATE 'VP001' OR integrity_constraint_violation THEN
                done := done || jsonb_build_array(jsonb_build_object('refused', SQLERRM));
        END;
    END LOOP;
    RETURN done;
END $$;

CREATE FUNCTION voucher.record_one(_worker uuid, _change jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF _change ->> 'kind' = 'ended' THEN
        RETURN voucher.record_outcome(_worker, _change);
    ELSIF _change ->> 'kind' = 'again' THEN
        RETURN voucher.plan_again(_worker, _change);
    END IF;
    PERFORM voucher.record_answer(_worker, _change);
    RETURN '{}'::jsonb;
END $$;

-- A new planned attempt like one of this worker's that reached nobody; anybody may claim it. Handed in again after a turn that was
-- not acknowledged, it is the one that was made then.
CREATE FUNCTION voucher.plan_again(_worker uuid, _change jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    it voucher.attempt;
    made voucher.attempt;
BEGIN
    SELECT * INTO it FROM voucher.attempt WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker FOR UPDATE;
    SELECT * INTO made FROM voucher.attempt WHERE request_id = it.request_id AND attempt = it.attempt + 1 AND run = it.run;
    IF FOUND AND it.state = 'not_sent' THEN
        RETURN jsonb_build_object('attempt_id', made.attempt_id, 'attempt', made.attempt);
    END IF;
    IF it.state IS DISTINCT FROM 'not_sent' OR NOT EXISTS (SELECT FROM voucher.run WHERE run = it.run AND ended_at IS NULL)
        OR EXISTS (SELECT FROM voucher.attempt WHERE request_id = it.request_id AND attempt > it.attempt) THEN
        RAISE EXCEPTION 'only what reached nobody is tried again, once, by a run that is on' USING ERRCODE = 'VP001';
    END IF;
    made := voucher.plan_another(
        it, decode(_change ->> 'body', 'base64'), it.tries + 1, clock_timestamp() + make_interval(secs => coalesce((_change ->> 'pause')::float8, 0))
    );
    RETURN jsonb_build_object('attempt_id', made.attempt_id, 'attempt', made.attempt);
END $$;

CREATE FUNCTION voucher.plan_another(_ended voucher.attempt, _body bytea, _tries integer, _due_at timestamptz) RETURNS voucher.attempt
LANGUAGE plpgsql AS $$
DECLARE
    made voucher.attempt;
BEGIN
    INSERT INTO voucher.attempt (request_id, attempt, run, epoch, state, planned_at, body, doubted, tries, due_at)
    VALUES (_ended.request_id, _ended.attempt + 1, _ended.run, (SELECT max(epoch) FROM voucher.epoch), 'planned', clock_timestamp(), _body,
            _ended.doubted, _tries, _due_at)
    RETURNING * INTO made;
    INSERT INTO voucher.charge
    SELECT made.attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, content, passenger_name, components, carried, false
    FROM voucher.charge WHERE attempt_id = _ended.attempt_id;
    RETURN made;
END $$;

-- A turn of a worker's, which is one transaction: what has come in meanwhile is recorded, then `_most` attempts are claimed.
--
-- The worker's row is its own until COMMIT, so that nobody calls it silent meanwhile. `_acknowledged` is the last turn of which it was
-- told: that its row is behind that is how a ledger shows that it is an older copy. `done`: of each change how it is recorded, or why
-- it alone is refused.
CREATE FUNCTION voucher.turn(
    _worker uuid, _acknowledged bigint, _changes jsonb, _run bigint, _most integer,
    OUT turn bigint, OUT done jsonb, OUT unknown_in_a_row integer, OUT not_sent_in_a_row integer,
    OUT standing text, OUT stopped text, OUT leaves_in float8, OUT period float8, OUT idle float8,
    OUT attempt_ids bigint[], OUT request_ids text[], OUT attempts integer[], OUT kinds text[], OUT tickets text[], OUT doubts boolean[], OUT tries integer[],
    OUT bodies bytea[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    it voucher.worker;
    claim record;
BEGIN
    PERFORM voucher.check_durable();
    SELECT * INTO it FROM voucher.worker WHERE worker = _worker FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this ledger knows no such worker' USING ERRCODE = 'VP008';
    ELSIF it.turn < _acknowledged THEN
        RAISE EXCEPTION 'this ledger lacks what it had told a worker' USING ERRCODE = 'VP009';
    ELSIF it.turn > _acknowledged THEN
        RAISE EXCEPTION 'another turn of this worker was not acknowledged' USING ERRCODE = 'VP005';
    ELSIF it.silent_at IS NOT NULL OR it.left_at IS NOT NULL OR it.dead_at IS NOT NULL
        OR it.heard_at + (SELECT lease FROM voucher.ledger) <= clock_timestamp() THEN
        RAISE EXCEPTION 'the worker was silent for too long, or has ended' USING ERRCODE = 'VP004';
    END IF;
    turn := it.turn + 1;
    UPDATE voucher.worker SET turn = it.turn + 1 WHERE worker = _worker;
    PERFORM pg_advisory_xact_lock_shared(voucher.gate());   -- before the run's row and those of attempts, as whoever has it alone
    done := voucher.record(_worker, _changes);
    SELECT * INTO unknown_in_a_row, not_sent_in_a_row FROM voucher.count_failures(_run, done);
    IF _most > 0 THEN
        SELECT * INTO claim FROM voucher.claim(_worker, _run, _most);
        standing := claim.standing;
        stopped := claim.stopped;
        leaves_in := claim.leaves_in;
        period := claim.period;
        idle := claim.idle;
        SELECT array_agg(attempt_id ORDER BY attempt_id), array_agg(request_id ORDER BY attempt_id), array_agg(attempt ORDER BY attempt_id),
               array_agg(request.voucher ORDER BY attempt_id),
               array_agg((SELECT string_agg(ticket_no, ' ') FROM voucher.charge WHERE charge.attempt_id = attempt.attempt_id) ORDER BY attempt_id),
               array_agg(doubted ORDER BY attempt_id), array_agg(attempt.tries ORDER BY attempt_id), array_agg(body ORDER BY attempt_id)
        INTO attempt_ids, request_ids, attempts, kinds, tickets, doubts, tries, bodies
        FROM voucher.attempt JOIN voucher.request USING (request_id)
        WHERE attempt_id = ANY (claim.claimed);
    END IF;
END $$;

-- How many outcomes of a run were unknown, or reached nobody, since the last yes or no, with those of a turn counted in. The run's row is
-- written only where that changes, for all workers look at it. What the ledger or a stop kept back says nothing of the carrier.
CREATE FUNCTION voucher.count_failures(_run bigint, _done jsonb, OUT unknown integer, OUT not_sent integer) LANGUAGE plpgsql AS $$
DECLARE
    one jsonb;
    before voucher.run;
BEGIN
    SELECT * INTO before FROM voucher.run WHERE run = _run;
    unknown := before.unknown_in_a_row;
    not_sent := before.not_sent_in_a_row;
    IF (unknown = 0 AND not_sent = 0 AND NOT _done @? '$[*] ? (@.state == "unknown" || @.state == "not_sent")') OR before.ended_at IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT * INTO before FROM voucher.run WHERE run = _run FOR NO KEY UPDATE;
    unknown := before.unknown_in_a_row;
    not_sent := before.not_sent_in_a_row;
    FOR one IN SELECT jsonb_array_elements(_done) LOOP
        IF one ->> 'state' IN ('issued', 'rejected') THEN
            unknown := 0;
            not_sent := 0;
        ELSIF one ->> 'state' = 'unknown' THEN
            unknown := unknown + 1;
        ELSIF one ->> 'state' = 'not_sent' AND one ->> 'reason' <> 'run_stopped' THEN
            not_sent := not_sent + 1;
        END IF;
    END LOOP;
    IF (unknown, not_sent) <> (before.unknown_in_a_row, before.not_sent_in_a_row) AND before.ended_at IS NULL THEN
        UPDATE voucher.run SET unknown_in_a_row = unknown, not_sent_in_a_row = not_sent WHERE run = _run;
    END IF;
END $$;

-- The word of a worker about an attempt that it had lost, or what its raw answer comes to, which others have read, as `evidence` says;
-- it settles that attempt alone, and the same word again changes nothing. What it comes to: the state and number that the attempt has then.
CREATE FUNCTION voucher.late(_worker uuid, _change jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    it voucher.attempt;
    o jsonb := _change;
    why jsonb;
    says_so boolean;    -- already
    takes boolean;
BEGIN
    PERFORM voucher.check_durable();
    PERFORM pg_advisory_xact_lock(voucher.gate());
    SELECT * INTO it FROM voucher.attempt WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this ledger knows of no such attempt of this worker' USING ERRCODE = 'VP008';
    END IF;
    IF it.state = 'sending' THEN
        RETURN voucher.record_outcome(_worker, _change);
    END IF;
    says_so := (it.state, it.number) IS NOT DISTINCT FROM (o ->> 'state', o ->> 'number');
    takes := NOT says_so AND it.state = 'unknown' AND o ->> 'state' <> 'unknown'
        AND NOT EXISTS (
            -- withdrawn, as the attempt is unknown: only a person says the same again
            SELECT FROM voucher.settlement WHERE attempt_id = it.attempt_id AND state = o ->> 'state' AND number = o ->> 'number'
        );
    why := CASE WHEN takes AND o ->> 'state' = 'issued' THEN voucher.number_obstacle(it.attempt_id, o ->> 'number') END;
    takes := takes AND why IS NULL;
    INSERT INTO voucher.late_word (attempt_id, worker, state, reason, number, trace_id, detail, taken, said_at)
    VALUES (it.attempt_id, _worker, o ->> 'state', o ->> 'reason', o ->> 'number', o ->> 'trace_id', o ->> 'detail', takes OR says_so, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF takes THEN
        INSERT INTO voucher.settlement (attempt_id, state, number, settled_by, evidence, as_of, settled_at)
        VALUES (it.attempt_id, o ->> 'state', o ->> 'number', format('worker %s', _worker), o ->> 'evidence',
                clock_timestamp(), clock_timestamp());
        UPDATE voucher.attempt SET state = o ->> 'state', reason = o ->> 'reason', number = o ->> 'number', trace_id = o ->> 'trace_id', detail = o ->> 'detail'
        WHERE attempt_id = it.attempt_id RETURNING * INTO it;
    END IF;
    RETURN jsonb_build_object('state', it.state, 'reason', it.reason, 'number', it.number, 'trace_id', it.trace_id, 'detail', it.detail);
END $$;

-- A raw answer that its worker had kept on its own machine; when it came is not known.
CREATE FUNCTION voucher.late_answer(_worker uuid, _change jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM voucher.check_durable();
    UPDATE voucher.attempt SET http_status = (_change ->> 'http_status')::integer, answer = decode(_change ->> 'body', 'base64'),
           retry_after = _change ->> 'retry_after'
    WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker AND answer IS NULL;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM voucher.attempt WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker) THEN
        RAISE EXCEPTION 'this ledger knows of no such attempt of this worker' USING ERRCODE = 'VP008';
    END IF;
END $$;

-- The raw answers that nobody has said yet what they come to: their senders were gone before they did. Evidence may have settled such an attempt
-- since; what it was answered is said all the same. `accepted`: the service may have taken key and address in that run (ledger/attempts.py).
CREATE FUNCTION voucher.unread_answers()
RETURNS TABLE (
    attempt_id bigint, worker uuid, kind text, tickets text[], http_status integer, answer bytea, retry_after text, doubted boolean, accepted boolean
) LANGUAGE sql STABLE AS $$
    SELECT it.attempt_id, it.worker, request.voucher, ARRAY(SELECT ticket_no FROM voucher.charge WHERE charge.attempt_id = it.attempt_id),
           it.http_status, it.answer, it.retry_after, it.doubted, run.ended_at IS NULL OR EXISTS (
               SELECT FROM voucher.attempt AS other
               WHERE other.run = it.run AND other.attempt_id <> it.attempt_id AND (
                   other.state IN ('issued', 'rejected')
                   OR (other.state = 'unknown' AND (other.http_status = 200 OR (other.reason = 'run_killed' AND other.answer IS NULL)))
               )
           )
    FROM voucher.attempt AS it JOIN voucher.request USING (request_id) JOIN voucher.run USING (run)
    WHERE it.reason = 'run_killed' AND it.answer IS NOT NULL
      AND NOT EXISTS (SELECT FROM voucher.late_word WHERE late_word.attempt_id = it.attempt_id AND late_word.state <> 'unknown')
    ORDER BY it.attempt_id
$$;
