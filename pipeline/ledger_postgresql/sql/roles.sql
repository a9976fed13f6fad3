-- Who may do what. The owner of the tables is whoever prepared the ledger; everybody else calls functions, which run as the owner.
--
-- Roles are the server's, not the database's: they may be there already, of another ledger on the same server.

DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['voucher_issuer', 'voucher_worker', 'voucher_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = of) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', of);
        END IF;
    END LOOP;
    FOR of IN SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.pronamespace = 'voucher'::regnamespace LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', of);
    END LOOP;
END $$;

REVOKE ALL ON SCHEMA voucher FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA voucher FROM PUBLIC;
GRANT USAGE ON SCHEMA voucher TO voucher_issuer, voucher_worker, voucher_reader;

GRANT EXECUTE ON FUNCTION voucher.about(), voucher.join_work(uuid, text, integer), voucher.heartbeat(uuid),
    voucher.vouch(uuid, bigint), voucher.open_claims(), voucher.sweep(), voucher.leave_work(uuid),
    voucher.turn(uuid, bigint, jsonb, boolean, bigint, integer), voucher.give_back(uuid, bigint, bigint[], text), voucher.late(uuid, jsonb), voucher.stop_run(bigint, text)
TO voucher_worker, voucher_issuer;

GRANT EXECUTE ON FUNCTION voucher.begin_run(text, text, text, jsonb), voucher.plan(bigint, jsonb, bytea[]), voucher.end_run(bigint, integer),
    voucher.declare_dead(uuid, text, text), voucher.settle(bigint, jsonb, timestamptz), voucher.hold_elsewhere(bigint, jsonb, text),
    voucher.mark_gap(timestamptz, text), voucher.close_gaps(text, text)
TO voucher_issuer;

GRANT EXECUTE ON FUNCTION voucher.about() TO voucher_reader;

-- Whoever reads sees all but what is sealed.
GRANT SELECT ON voucher.ledger, voucher.server_life, voucher.gap, voucher.epoch, voucher.run, voucher.worker, voucher.request, voucher.charge,
    voucher.settlement, voucher.late_word, voucher.elsewhere, voucher.carrier_move, voucher.clock_correction, voucher.run_person, voucher.judgement,
    voucher.reversal, voucher.withdrawal, voucher.handled, voucher.received_file TO voucher_reader;
GRANT SELECT (attempt_id, request_id, attempt, run, epoch, state, barred, worker, reason, number, trace_id, detail, was_unknown, planned_at, sending_at,
    answered_at, ended_at, http_status) ON voucher.attempt TO voucher_reader;
GRANT voucher_reader TO voucher_issuer;

-- What is called from outside runs as the owner, with names that nobody can put another's in the place of; what that calls inherits both.
DO $$
DECLARE
    of text;
BEGIN
    FOR of IN
        SELECT p.oid::regprocedure::text FROM pg_proc AS p
        WHERE p.pronamespace = 'voucher'::regnamespace
          AND (has_function_privilege('voucher_issuer', p.oid, 'EXECUTE') OR has_function_privilege('voucher_worker', p.oid, 'EXECUTE'))
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = pg_catalog, pg_temp', of);
    END LOOP;
END $$;
