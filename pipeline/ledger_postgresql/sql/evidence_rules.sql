-- What must hold of evidence and of what is noted of runs. What is true of one row is asked of it alone. What is true of others, too, is
-- a unique index, or is asked with the gate held (functions.sql), which a trigger takes itself: so nobody changes them meanwhile.

DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['carrier_move', 'clock_correction', 'run_person', 'judgement', 'withdrawal', 'handled', 'received_file'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON voucher.%I FOR EACH ROW EXECUTE FUNCTION voucher.refuse_change()', of || '_stays', of);
    END LOOP;
    FOREACH of IN ARRAY ARRAY['settlement', 'elsewhere', 'reversal'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE DELETE ON voucher.%I FOR EACH ROW EXECUTE FUNCTION voucher.refuse_change()', of || '_remains', of);
    END LOOP;
    FOREACH of IN ARRAY ARRAY['carrier_move', 'clock_correction', 'run_person', 'judgement', 'reversal', 'withdrawal', 'handled', 'received_file'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON voucher.%I EXECUTE FUNCTION voucher.refuse_change()', of || '_is_not_emptied', of);
    END LOOP;
END $$;

-- The run's row is kept from ending until COMMIT.
CREATE FUNCTION voucher.of_a_run_that_is_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM voucher.run WHERE run IN (SELECT run FROM added) FOR SHARE;
    IF EXISTS (SELECT FROM added JOIN voucher.run USING (run) WHERE run.ended_at IS NOT NULL) THEN
        RAISE EXCEPTION 'a % is recorded by a run that is on', TG_TABLE_NAME USING ERRCODE = 'VP001';
    END IF;
    RETURN NULL;
END $$;

DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['run_person', 'judgement', 'elsewhere', 'reversal', 'handled', 'received_file'] LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON voucher.%I REFERENCING NEW TABLE AS added FOR EACH STATEMENT'
                       ' EXECUTE FUNCTION voucher.of_a_run_that_is_on()', of || '_is_of_a_run_that_is_on', of);
    END LOOP;
END $$;

-- The ledger's carrier.

CREATE FUNCTION voucher.ledger_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.only_row, new.ledger_id, new.created_at) IS DISTINCT FROM (old.only_row, old.ledger_id, old.created_at)
        OR ((new.base_url, new.agency) IS DISTINCT FROM (old.base_url, old.agency) AND NOT EXISTS (
            SELECT FROM voucher.carrier_move
            WHERE move = (SELECT max(move) FROM voucher.carrier_move) AND (from_base_url, from_agency) = (old.base_url, old.agency)
              AND (to_base_url, to_agency) = (new.base_url, new.agency)
        )) THEN
        RAISE EXCEPTION 'a ledger belongs to its carrier, but for a recorded move' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER ledger_follows BEFORE UPDATE ON voucher.ledger FOR EACH ROW EXECUTE FUNCTION voucher.ledger_follows();

-- Gaps and epochs.

CREATE FUNCTION voucher.gap_opens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'a gap is closed once, by evidence' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER gap_opens BEFORE INSERT ON voucher.gap FOR EACH ROW EXECUTE FUNCTION voucher.gap_opens();

CREATE FUNCTION voucher.gap_closed_begins_an_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL) THEN
        INSERT INTO voucher.epoch (epoch_id, why, begun_at)
        SELECT replace(gen_random_uuid()::text, '-', ''), why, closed_at FROM closed ORDER BY gap DESC LIMIT 1;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER gap_closed_begins_an_epoch AFTER UPDATE ON voucher.gap REFERENCING NEW TABLE AS closed
FOR EACH STATEMENT EXECUTE FUNCTION voucher.gap_closed_begins_an_epoch();

CREATE FUNCTION voucher.epoch_begins_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF new.epoch <= (SELECT max(epoch) FROM voucher.epoch) OR EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL) THEN
        RAISE EXCEPTION 'an epoch begins once, when no gap is open' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER epoch_begins_once BEFORE INSERT ON voucher.epoch FOR EACH ROW EXECUTE FUNCTION voucher.epoch_begins_once();

CREATE FUNCTION voucher.handled_is_of_this_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.epoch <> (SELECT max(epoch) FROM voucher.epoch) THEN
        RAISE EXCEPTION 'what was handled is noted in the epoch in which it was' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER handled_is_of_this_epoch BEFORE INSERT ON voucher.handled FOR EACH ROW EXECUTE FUNCTION voucher.handled_is_of_this_epoch();

-- One number, one voucher: of the attempt that has it (the index number_once), never of one that was reversed, of a red one, or of
-- another ticket on a statement.
CREATE FUNCTION voucher.attempt_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF voucher.number_obstacle(new.attempt_id, new.number) IS NOT NULL THEN
        RAISE EXCEPTION 'what is issued has a number of its own, and nothing else has one' USING ERRCODE = 'VP010';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER attempt_number BEFORE UPDATE OF state ON voucher.attempt FOR EACH ROW
WHEN (new.state = 'issued' AND old.state <> 'issued') EXECUTE FUNCTION voucher.attempt_number();

-- Settlements.

CREATE FUNCTION voucher.settlement_can_be_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF new.withdrawn OR (SELECT state FROM voucher.attempt WHERE attempt_id = new.attempt_id) <> 'unknown' THEN
        RAISE EXCEPTION 'only an unknown outcome is settled' USING ERRCODE = 'VP001';
    END IF;
    -- What was withdrawn once is said again only by a person, in other words: a statement shows the same under any name.
    IF EXISTS (
        SELECT FROM voucher.settlement AS before
        WHERE (before.attempt_id, before.state, before.number) = (new.attempt_id, new.state, new.number)
          AND (new.answered = '' OR (before.settled_by, before.answered) = (new.settled_by, new.answered))
    ) THEN
        RAISE EXCEPTION 'that evidence was withdrawn' USING ERRCODE = 'VP001';
    END IF;
    IF new.state = 'issued' AND voucher.number_obstacle(new.attempt_id, new.number) IS NOT NULL THEN
        RAISE EXCEPTION 'a settlement names its number, which no other attempt has' USING ERRCODE = 'VP010';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER settlement_can_be_followed BEFORE INSERT ON voucher.settlement FOR EACH ROW EXECUTE FUNCTION voucher.settlement_can_be_followed();

CREATE FUNCTION voucher.settlement_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.settlement, new.attempt_id, new.state, new.number, new.settled_by, new.evidence, new.answered, new.as_of, new.settled_at)
        IS DISTINCT FROM (old.settlement, old.attempt_id, old.state, old.number, old.settled_by, old.evidence, old.answered, old.as_of, old.settled_at)
        OR old.withdrawn OR NOT EXISTS (SELECT FROM voucher.withdrawal WHERE settlement = old.settlement) THEN
        RAISE EXCEPTION 'evidence stays as it was given' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER settlement_stays BEFORE UPDATE ON voucher.settlement FOR EACH ROW EXECUTE FUNCTION voucher.settlement_stays();

-- What statements showed.

-- What an attempt issued is what it asked for: what a statement shows under that number of another ticket is a mistake in it, and was
-- issued under a number that is not known. So a reversal of an attempt's voucher lets go of what is shown of its tickets alone.
CREATE FUNCTION voucher.is_reversed(_number text, _voucher text, _ticket_no text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM voucher.reversal
        WHERE number = _number AND voucher = _voucher AND NOT withdrawn
          AND (attempt_id IS NULL OR _ticket_no IN (SELECT ticket_no FROM voucher.charge WHERE charge.attempt_id = reversal.attempt_id))
    )
$$;

CREATE FUNCTION voucher.elsewhere_can_be_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF new.withdrawn OR new.live = voucher.is_reversed(new.number, new.voucher, new.ticket_no) THEN
        RAISE EXCEPTION 'what a statement showed holds its charge until that is reversed or withdrawn' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER elsewhere_can_be_followed BEFORE INSERT ON voucher.elsewhere FOR EACH ROW EXECUTE FUNCTION voucher.elsewhere_can_be_followed();

CREATE FUNCTION voucher.elsewhere_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.elsewhere, new.run, new.ticket_no, new.charge, new.product, new.wire, new.voucher, new.number, new.amount, new.buyer, new.issued_at,
        new.evidence, new.found_by, new.found_at)
        IS DISTINCT FROM (old.elsewhere, old.run, old.ticket_no, old.charge, old.product, old.wire, old.voucher, old.number, old.amount, old.buyer,
        old.issued_at, old.evidence, old.found_by, old.found_at)
        OR (new.live, new.withdrawn) = (old.live, old.withdrawn)
        OR new.withdrawn <> EXISTS (SELECT FROM voucher.withdrawal WHERE elsewhere = old.elsewhere)
        OR new.live <> (NOT new.withdrawn AND NOT voucher.is_reversed(old.number, old.voucher, old.ticket_no)) THEN
        RAISE EXCEPTION 'what a statement showed stays' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER elsewhere_stays BEFORE UPDATE ON voucher.elsewhere FOR EACH ROW EXECUTE FUNCTION voucher.elsewhere_stays();

-- Reversals.

CREATE FUNCTION voucher.reversal_can_be() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    issued_by bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    SELECT attempt_id INTO issued_by FROM voucher.attempt JOIN voucher.request USING (request_id)
    WHERE attempt.state = 'issued' AND attempt.number = new.number AND request.voucher = new.voucher;
    IF new.attempt_id IS DISTINCT FROM issued_by OR (new.attempt_id IS NULL AND NOT EXISTS (
        SELECT FROM voucher.elsewhere WHERE number = new.number AND voucher = new.voucher AND live
    )) THEN
        RAISE EXCEPTION 'only a voucher that the ledger holds as issued is reversed' USING ERRCODE = 'VP001';
    END IF;
    IF voucher.is_a_vouchers(new.red_number) THEN
        RAISE EXCEPTION 'what reverses a voucher is no voucher that was issued' USING ERRCODE = 'VP001';
    END IF;
    IF new.withdrawn THEN
        RAISE EXCEPTION 'a voucher is reversed once' USING ERRCODE = 'VP001';
    END IF;
    -- A red line stays on the statement after its reversal was withdrawn: only a person says it again.
    IF new.run IS NOT NULL AND EXISTS (SELECT FROM voucher.reversal WHERE number = new.number AND voucher = new.voucher AND withdrawn) THEN
        RAISE EXCEPTION 'that reversal was withdrawn' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER reversal_can_be BEFORE INSERT ON voucher.reversal FOR EACH ROW EXECUTE FUNCTION voucher.reversal_can_be();

CREATE FUNCTION voucher.reversal_lets_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE voucher.charge SET live = false WHERE attempt_id = new.attempt_id;
    UPDATE voucher.elsewhere SET live = false
    WHERE number = new.number AND voucher = new.voucher AND live
      AND (new.attempt_id IS NULL OR ticket_no IN (SELECT ticket_no FROM voucher.charge WHERE attempt_id = new.attempt_id));
    RETURN NULL;
END $$;
CREATE TRIGGER reversal_lets_go AFTER INSERT ON voucher.reversal FOR EACH ROW EXECUTE FUNCTION voucher.reversal_lets_go();

CREATE FUNCTION voucher.reversal_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.reversal, new.run, new.voucher, new.number, new.attempt_id, new.red_number, new.reversed_by, new.evidence, new.reversed_at)
        IS DISTINCT FROM (old.reversal, old.run, old.voucher, old.number, old.attempt_id, old.red_number, old.reversed_by, old.evidence, old.reversed_at)
        OR old.withdrawn OR NOT EXISTS (SELECT FROM voucher.withdrawal WHERE reversal = old.reversal) THEN
        RAISE EXCEPTION 'a recorded reversal stays' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER reversal_stays BEFORE UPDATE ON voucher.reversal FOR EACH ROW EXECUTE FUNCTION voucher.reversal_stays();

-- Withdrawals. What follows from one is done here, so that none is ever half done.

-- A voucher that the carrier has reversed was issued, whatever became of the evidence for it.
CREATE FUNCTION voucher.withdrawal_not_of_the_reversed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF EXISTS (
        SELECT FROM voucher.settlement JOIN voucher.reversal USING (attempt_id)
        WHERE settlement.settlement = new.settlement AND NOT reversal.withdrawn
    ) THEN
        RAISE EXCEPTION 'a voucher that was reversed had been issued' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER withdrawal_not_of_the_reversed BEFORE INSERT ON voucher.withdrawal
FOR EACH ROW EXECUTE FUNCTION voucher.withdrawal_not_of_the_reversed();

CREATE FUNCTION voucher.withdrawal_is_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE voucher.settlement SET withdrawn = true WHERE settlement = new.settlement;
    UPDATE voucher.attempt SET state = 'unknown', number = ''
    WHERE attempt_id = (SELECT attempt_id FROM voucher.settlement WHERE settlement = new.settlement);
    UPDATE voucher.elsewhere SET withdrawn = true, live = false WHERE elsewhere = new.elsewhere;
    UPDATE voucher.reversal SET withdrawn = true WHERE reversal = new.reversal;
    UPDATE voucher.charge SET live = true WHERE attempt_id = (SELECT attempt_id FROM voucher.reversal WHERE reversal = new.reversal);
    UPDATE voucher.elsewhere SET live = true
    WHERE (number, voucher) = (SELECT number, voucher FROM voucher.reversal WHERE reversal = new.reversal) AND NOT withdrawn AND NOT live;
    RETURN NULL;
END $$;
CREATE TRIGGER withdrawal_is_followed AFTER INSERT ON voucher.withdrawal FOR EACH ROW EXECUTE FUNCTION voucher.withdrawal_is_followed();

-- Files that came by mail.

CREATE FUNCTION voucher.received_file_can_be() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    -- A content comes once; it is noted again where it comes to something else, as when an outcome is known meanwhile.
    IF voucher.is_noted(new.sha256, new.status, new.attempt_id) THEN
        RAISE EXCEPTION 'that content is noted already' USING ERRCODE = 'VP001';
    END IF;
    -- Received is the file of an itinerary that is issued, under its number, and only one of each number.
    IF new.status = 'received' AND (
        EXISTS (SELECT FROM voucher.received_file WHERE status = 'received' AND number = new.number AND sha256 <> new.sha256)
        OR (new.attempt_id IS NULL AND NOT EXISTS (
            SELECT FROM voucher.elsewhere WHERE number = new.number AND voucher = 'itinerary' AND NOT withdrawn
        ))
        OR (new.attempt_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM voucher.attempt JOIN voucher.request USING (request_id)
            WHERE attempt_id = new.attempt_id AND attempt.state = 'issued' AND attempt.number = new.number AND voucher = 'itinerary'
        ))
    ) THEN
        RAISE EXCEPTION 'received is one file of an itinerary that is issued' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER received_file_can_be BEFORE INSERT ON voucher.received_file FOR EACH ROW EXECUTE FUNCTION voucher.received_file_can_be();
