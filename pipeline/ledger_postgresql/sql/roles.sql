-- Who may do what. The owner of the tables is whoever prepared the ledger; everybody else calls functions, which run as the owner.
--
-- Roles are the server's, not the database's: they may be there already, of another ledger on the same server.

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['voucher_issuer', 'voucher_worker', 'voucher_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = one) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', one);
        END IF;
    END LOOP;
    IF NOT pg_has_role('voucher_issuer', 'voucher_reader', 'USAGE') THEN
        GRANT voucher_reader TO voucher_issuer;
    END IF;
END $$;

REVOKE ALL ON SCHEMA voucher FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA voucher FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA voucher FROM PUBLIC;
REVOKE ALL ON ALL ROUTINES IN SCHEMA voucher FROM PUBLIC;
GRANT USAGE ON SCHEMA voucher TO voucher_issuer, voucher_worker, voucher_reader;

-- What each calls, by name. That runs as the owner, with names that nobody can put another's in the place of; what it calls inherits both.
DO $$
DECLARE
    of_everybody text[] := ARRAY['about'];
    of_workers text[] := ARRAY[
        'join_work', 'heartbeat', 'vouch', 'open_claims', 'sweep', 'leave_work', 'turn', 'give_back', 'late', 'stop_run',
        'open_runs', 'allot', 'late_answer', 'unread_answers', 'open_gaps', 'unfinished_copy_of', 'awaited'
    ];
    of_issuers text[] := ARRAY[
        'begin_run', 'open_run', 'plan', 'run_progress', 'run_results', 'end_run',
        'note_people', 'note_judgements', 'note_handled', 'note_files', 'settle', 'hold_elsewhere', 'reverse', 'withdraw',
        'mark_gap', 'close_gaps', 'deny_gap', 'move_carrier',
        'declare_dead', 'vouch_for'
    ];
    one record;
    called text;
    found boolean;
BEGIN
    FOREACH called IN ARRAY of_everybody || of_workers || of_issuers LOOP
        found := false;
        FOR one IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'voucher'::regnamespace AND proname = called LOOP
            found := true;
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = pg_catalog, pg_temp', one.name);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO voucher_issuer', one.name);
            IF called = ANY (of_everybody || of_workers) THEN
                EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO voucher_worker', one.name);
            END IF;
            IF called = ANY (of_everybody) THEN
                EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO voucher_reader', one.name);
            END IF;
        END LOOP;
        ASSERT found, format('there is no function %s', called);
    END LOOP;
END $$;

-- Whoever reads sees all but what is sealed, and what the carrier answered to the byte, which is sealed too.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT attrelid::regclass AS of, attname AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'voucher'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
          AND NOT (relname = 'attempt' AND attname IN ('body', 'answer'))
    LOOP
        EXECUTE format('GRANT SELECT (%I) ON %s TO voucher_reader', one.name, one.of);
    END LOOP;
END $$;
