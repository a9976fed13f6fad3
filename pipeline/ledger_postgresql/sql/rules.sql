-- What may change, and how: asked of each row by itself.

CREATE FUNCTION voucher.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what % records stays as it is', TG_TABLE_NAME USING ERRCODE = 'VP001';
END $$;

DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['request', 'epoch', 'late_word'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON voucher.%I FOR EACH ROW EXECUTE FUNCTION voucher.refuse_change()', of || '_stays', of);
    END LOOP;
    FOREACH of IN ARRAY ARRAY['ledger', 'server_life', 'gap', 'run', 'worker'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE DELETE ON voucher.%I FOR EACH ROW EXECUTE FUNCTION voucher.refuse_change()', of || '_remains', of);
    END LOOP;
    FOREACH of IN ARRAY ARRAY['ledger', 'server_life', 'gap', 'epoch', 'run', 'worker', 'request', 'attempt', 'charge', 'settlement', 'late_word', 'elsewhere'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON voucher.%I EXECUTE FUNCTION voucher.refuse_change()', of || '_is_not_emptied', of);
    END LOOP;
END $$;

CREATE FUNCTION voucher.attempt_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF new.state <> 'planned' OR new.was_unknown OR new.answer IS NOT NULL OR new.barred <> '' THEN
            RAISE EXCEPTION 'an attempt begins as planned' USING ERRCODE = 'VP001';
        END IF;
        RETURN new;
    ELSIF TG_OP = 'DELETE' THEN
        IF old.state <> 'planned' THEN
            RAISE EXCEPTION 'only a planned attempt can be dropped' USING ERRCODE = 'VP001';
        END IF;
        RETURN old;
    END IF;
    IF (new.attempt_id, new.request_id, new.attempt, new.run, new.epoch, new.planned_at, new.tries, new.due_at)
        IS DISTINCT FROM (old.attempt_id, old.request_id, old.attempt, old.run, old.epoch, old.planned_at, old.tries, old.due_at)
        OR (new.doubted <> old.doubted AND (old.doubted OR old.state <> 'planned'))
        OR (old.state <> 'planned' AND (new.worker, new.sending_at, new.barred) IS DISTINCT FROM (old.worker, old.sending_at, old.barred))
        OR (old.was_unknown AND NOT new.was_unknown)
        OR (old.body IS DISTINCT FROM new.body AND new.body IS NOT NULL) THEN
        RAISE EXCEPTION 'an attempt stays the one it is' USING ERRCODE = 'VP001';
    END IF;
    IF (new.http_status, new.answer, new.retry_after, new.answered_at) IS DISTINCT FROM (old.http_status, old.answer, old.retry_after, old.answered_at)
        AND (old.state = 'planned' OR new.state <> old.state OR old.answer IS NOT NULL) THEN
        RAISE EXCEPTION 'a raw answer to what was sent is written once, by itself' USING ERRCODE = 'VP001';
    END IF;
    IF new.state = old.state THEN
        IF (new.reason, new.number, new.trace_id, new.detail, new.ended_at) IS DISTINCT FROM (old.reason, old.number, old.trace_id, old.detail, old.ended_at) THEN
            RAISE EXCEPTION 'an outcome comes with its state' USING ERRCODE = 'VP001';
        END IF;
        RETURN new;
    END IF;
    IF (old.state = 'planned' AND new.state = 'sending' AND old.barred = '')
        OR (old.state = 'sending' AND new.state IN ('issued', 'rejected', 'not_sent', 'unknown')) THEN
        RETURN new;
    END IF;
    IF NOT (
        (old.state = 'unknown' AND EXISTS (
            SELECT FROM voucher.settlement
            WHERE settlement.attempt_id = old.attempt_id AND settlement.state = new.state AND settlement.number = new.number AND NOT withdrawn
        ))
        OR (new.state = 'unknown' AND (new.reason, new.trace_id, new.detail, new.ended_at) IS NOT DISTINCT FROM (old.reason, old.trace_id, old.detail, old.ended_at)
            AND NOT EXISTS (SELECT FROM voucher.settlement WHERE settlement.attempt_id = old.attempt_id AND NOT withdrawn)
            AND EXISTS (
                SELECT FROM voucher.settlement
                WHERE settlement.attempt_id = old.attempt_id AND settlement.state = old.state AND settlement.number = old.number AND withdrawn
            ))
    ) THEN
        RAISE EXCEPTION 'an attempt can''t change its state from % to %', old.state, new.state USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;

CREATE TRIGGER attempt_follows BEFORE INSERT OR UPDATE OR DELETE ON voucher.attempt
FOR EACH ROW EXECUTE FUNCTION voucher.attempt_follows();

-- Held while its attempt is live: two at once meet in the unique indexes. Those of all attempts of a statement together, for a statement by
-- itself costs several times what one of many does.
CREATE FUNCTION voucher.attempt_lives() RETURNS trigger LANGUAGE plpgsql
-- By its indexes, however little the planner knows of a table that was filled a moment ago.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
    WITH changed AS (
        SELECT attempt_id, state IN ('sending', 'issued', 'unknown') AS lives FROM after
        EXCEPT SELECT attempt_id, state IN ('sending', 'issued', 'unknown') FROM before
    )
    UPDATE voucher.charge SET live = lives FROM changed WHERE charge.attempt_id = changed.attempt_id;
    RETURN NULL;
END $$;

CREATE TRIGGER attempt_lives AFTER UPDATE ON voucher.attempt REFERENCING OLD TABLE AS before NEW TABLE AS after
FOR EACH STATEMENT EXECUTE FUNCTION voucher.attempt_lives();

-- What is planned while a charge of it is in doubt remembers that, however the doubt is settled.
CREATE FUNCTION voucher.doubt_lasts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE voucher.attempt SET doubted = true
    WHERE state = 'planned' AND NOT doubted AND attempt_id IN (
        SELECT other.attempt_id FROM voucher.charge AS own JOIN voucher.charge AS other USING (ticket_no)
        WHERE own.attempt_id = new.attempt_id
          AND ((other.charge = own.charge AND other.product = own.product) OR (other.wire = own.wire AND own.wire <> ''))
    );
    RETURN NULL;
END $$;

CREATE TRIGGER doubt_lasts AFTER UPDATE OF state ON voucher.attempt FOR EACH ROW
WHEN (old.state = 'unknown' AND new.state <> 'unknown') EXECUTE FUNCTION voucher.doubt_lasts();

CREATE FUNCTION voucher.charge_follows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held_by text := (SELECT state FROM voucher.attempt WHERE attempt_id = coalesce(new.attempt_id, old.attempt_id));
    lives boolean := held_by IN ('sending', 'unknown');
BEGIN
    IF held_by = 'issued' THEN
        lives := NOT EXISTS (SELECT FROM voucher.reversal WHERE reversal.attempt_id = old.attempt_id AND NOT withdrawn);
    END IF;
    IF TG_OP = 'INSERT' AND (new.live OR held_by IS DISTINCT FROM 'planned') THEN
        RAISE EXCEPTION 'charges join an attempt while it is planned' USING ERRCODE = 'VP001';
    ELSIF TG_OP = 'DELETE' AND held_by IS NOT NULL THEN
        RAISE EXCEPTION 'a charge goes when its attempt goes' USING ERRCODE = 'VP001';
    ELSIF TG_OP = 'UPDATE' AND (
        (new.attempt_id, new.ticket_no, new.charge, new.product, new.wire, new.voucher, new.amount, new.file, new.sheet, new.row, new.content,
         new.passenger_name, new.components, new.carried)
        IS DISTINCT FROM (old.attempt_id, old.ticket_no, old.charge, old.product, old.wire, old.voucher, old.amount, old.file, old.sheet, old.row,
         old.content, old.passenger_name, old.components, old.carried)
        OR new.live <> lives
    ) THEN
        RAISE EXCEPTION 'a charge stays the one it is, and lives as its attempt does' USING ERRCODE = 'VP001';
    END IF;
    RETURN coalesce(new, old);
END $$;

CREATE TRIGGER charge_follows BEFORE INSERT OR UPDATE OR DELETE ON voucher.charge
FOR EACH ROW EXECUTE FUNCTION voucher.charge_follows();

CREATE FUNCTION voucher.gap_closes_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.closed_at IS NOT NULL OR new.closed_at IS NULL OR (new.gap, new.since, new.why, new.found_at) IS DISTINCT FROM (old.gap, old.since, old.why, old.found_at) THEN
        RAISE EXCEPTION 'a gap is closed once, by evidence' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER gap_closes_once BEFORE UPDATE ON voucher.gap FOR EACH ROW EXECUTE FUNCTION voucher.gap_closes_once();

CREATE FUNCTION voucher.run_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.ended_at IS NOT NULL OR (new.run, new.command, new.version, new.as_of, new.files, new.started_at) IS DISTINCT FROM
        (old.run, old.command, old.version, old.as_of, old.files, old.started_at) THEN
        RAISE EXCEPTION 'a run ends once, and stays what it was' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER run_ends_once BEFORE UPDATE ON voucher.run FOR EACH ROW EXECUTE FUNCTION voucher.run_ends_once();

CREATE FUNCTION voucher.worker_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.worker, new.machine, new.process, new.life, new.joined_at) IS DISTINCT FROM (old.worker, old.machine, old.process, old.life, old.joined_at)
        OR new.turn < old.turn OR new.vouched_life < old.vouched_life
        OR (old.silent_at IS NOT NULL AND new.silent_at IS DISTINCT FROM old.silent_at)
        OR (old.left_at IS NOT NULL AND new.left_at IS DISTINCT FROM old.left_at)
        OR (old.dead_at IS NOT NULL AND (new.dead_at, new.dead_by, new.dead_how) IS DISTINCT FROM (old.dead_at, old.dead_by, old.dead_how)) THEN
        RAISE EXCEPTION 'a worker that is gone stays gone' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER worker_ends_once BEFORE UPDATE ON voucher.worker FOR EACH ROW EXECUTE FUNCTION voucher.worker_ends_once();
