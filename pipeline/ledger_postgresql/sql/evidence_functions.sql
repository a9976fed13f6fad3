-- What is noted of runs, and what people and statements say. What is against it is looked for with the gate held, and given back as facts
-- ("refused": why), of which the program makes a sentence: the same as of the ledger of one machine.

-- Notes.

CREATE FUNCTION voucher.note_people(_run bigint, _people jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO voucher.run_person (run, role, person, plan, noted_at)
    SELECT _run, p ->> 0, p ->> 1, p ->> 2, coalesce(nullif(p ->> 3, '')::timestamptz, clock_timestamp())
    FROM jsonb_array_elements(_people) WITH ORDINALITY AS each (p, nth) ORDER BY nth
$$;

-- The judgements that differ from the last one of their charge. They come in parts; `_before`: the last judgement before the first part, NULL
-- for that one, to be handed in with the next. Others wait until COMMIT, or each would note what the other one does.
CREATE FUNCTION voucher.note_judgements(_run bigint, _judged jsonb, _before bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    since bigint := _before;
BEGIN
    IF since IS NULL THEN
        LOCK TABLE voucher.judgement IN SHARE ROW EXCLUSIVE MODE;
        since := (SELECT coalesce(max(judgement), 0) FROM voucher.judgement);
    END IF;
    INSERT INTO voucher.judgement (run, ticket_no, charge, product, voucher, amount, status, reasons, file, sheet, row, judged_at)
    SELECT _run, j.ticket_no, j.charge, j.product, j.voucher, j.amount, j.status, j.reasons, j.file, j.sheet, j.row, clock_timestamp()
    FROM jsonb_array_elements(_judged) WITH ORDINALITY AS each (v, nth) CROSS JOIN LATERAL (
        SELECT v ->> 0 AS ticket_no, v ->> 1 AS charge, v ->> 2 AS product, v ->> 3 AS voucher, (v ->> 4)::bigint AS amount, v ->> 5 AS status,
               v ->> 6 AS reasons, v ->> 7 AS file, v ->> 8 AS sheet, (v ->> 9)::integer AS row
    ) AS j LEFT JOIN LATERAL (
        SELECT * FROM voucher.judgement AS before
        WHERE (before.ticket_no, before.charge, before.product) = (j.ticket_no, j.charge, j.product) AND before.judgement <= since
        ORDER BY before.judgement DESC LIMIT 1
    ) AS last ON true
    WHERE (j.voucher, j.amount, j.status, j.reasons, j.file, j.sheet, j.row)
        IS DISTINCT FROM (last.voucher, last.amount, last.status, last.reasons, last.file, last.sheet, last.row)
    ORDER BY nth;
    RETURN since;
END $$;

CREATE FUNCTION voucher.note_handled(
    _run bigint, _sha256 text, _kind text, _name text, _result text, _fates text, _unfinished boolean
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO voucher.handled (run, epoch, sha256, kind, name, result, fates, unfinished, handled_at)
    VALUES (_run, (SELECT max(epoch) FROM voucher.epoch), _sha256, _kind, _name, _result, _fates, _unfinished, clock_timestamp())
$$;

-- Whether that is what a content came to the last time.
CREATE FUNCTION voucher.is_noted(_sha256 text, _status text, _attempt bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM voucher.received_file
        WHERE received_file = (SELECT max(received_file) FROM voucher.received_file WHERE sha256 = _sha256)
          AND status = _status AND attempt_id IS NOT DISTINCT FROM _attempt
    )
$$;

-- What files came to, all of it or nothing; what another has noted meanwhile is left out.
CREATE FUNCTION voucher.note_files(_run bigint, _files jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    f jsonb;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    FOR f IN SELECT jsonb_array_elements(_files) LOOP
        INSERT INTO voucher.received_file (run, sha256, status, attempt_id, number, ticket_no, total, seal, place, archived, reasons, received_at)
        SELECT _run, f ->> 0, f ->> 1, (f ->> 2)::bigint, f ->> 3, f ->> 4, (f ->> 5)::bigint, f ->> 6, f ->> 7, f ->> 8, f ->> 9, clock_timestamp()
        WHERE NOT voucher.is_noted(f ->> 0, f ->> 1, (f ->> 2)::bigint);
    END LOOP;
END $$;

-- Settlements.

-- NULL where it is settled. That nothing was issued is shown only by evidence about a time when the request can't be on its way any more: its
-- sender had ended by then, or it was sent `settle_after` before. No evidence is about a time to come, whatever another machine's clock says.
CREATE FUNCTION voucher.settle(_attempt bigint, _settlement jsonb, _as_of timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    it voucher.attempt;
    sender voucher.worker;
    o jsonb := _settlement;
    of_then timestamptz;
    ended timestamptz;
    shown_from timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    of_then := least(_as_of, clock_timestamp());
    SELECT * INTO it FROM voucher.attempt WHERE attempt_id = _attempt FOR UPDATE;
    IF it.state IS DISTINCT FROM 'unknown' THEN
        RETURN jsonb_build_object('refused', 'not_unknown', 'state', coalesce(it.state, ''), 'number', coalesce(it.number, ''));
    END IF;
    SELECT * INTO sender FROM voucher.worker WHERE worker = it.worker;
    ended := coalesce(sender.dead_at, sender.left_at);
    shown_from := least(it.sending_at + (SELECT settle_after FROM voucher.ledger), ended);
    IF o ->> 'state' <> 'issued' AND of_then < shown_from THEN
        RETURN jsonb_build_object(
            'refused', CASE WHEN ended IS NULL THEN 'not_ended' ELSE 'too_early' END,
            'worker', sender.worker, 'machine', sender.machine, 'as_of', of_then, 'from', shown_from
        );
    END IF;
    IF o ->> 'state' = 'issued' AND voucher.number_obstacle(_attempt, o ->> 'number') IS NOT NULL THEN
        RETURN jsonb_build_object('refused', 'number_taken', 'number', o ->> 'number');
    END IF;
    INSERT INTO voucher.settlement (attempt_id, state, number, settled_by, evidence, answered, as_of, settled_at)
    VALUES (_attempt, o ->> 'state', o ->> 'number', o ->> 'settled_by', o ->> 'evidence', o ->> 'answered', of_then, clock_timestamp());
    UPDATE voucher.attempt SET state = o ->> 'state', number = o ->> 'number' WHERE attempt_id = _attempt;
    RETURN NULL;
END $$;

-- What statements show.

CREATE FUNCTION voucher.hold_elsewhere(_run bigint, _lines jsonb, _found_by text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    INSERT INTO voucher.elsewhere (run, ticket_no, charge, product, wire, voucher, number, amount, buyer, issued_at, evidence, found_by, found_at, live)
    SELECT _run, l ->> 0, l ->> 1, l ->> 2, l ->> 3, l ->> 4, l ->> 5, (l ->> 6)::bigint, l ->> 7, l ->> 8, l ->> 9, _found_by, clock_timestamp(),
           NOT voucher.is_reversed(l ->> 5, l ->> 4, l ->> 0)
    FROM jsonb_array_elements(_lines) WITH ORDINALITY AS each (l, nth) ORDER BY nth ON CONFLICT DO NOTHING;
END $$;

-- Reversals.

-- Whether a number is that of a voucher that was issued to somebody.
CREATE FUNCTION voucher.is_a_vouchers(_number text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM voucher.attempt WHERE state = 'issued' AND number = _number)
        OR EXISTS (SELECT FROM voucher.elsewhere WHERE number = _number AND NOT withdrawn)
$$;

CREATE FUNCTION voucher.reverse(_said jsonb, _run bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    o jsonb := _said;
    before bigint;
    kinds text[];
    made voucher.reversal;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    before := (SELECT min(reversal) FROM voucher.reversal WHERE number = o ->> 'number' AND NOT withdrawn AND o ->> 'voucher' IN ('', voucher));
    IF before IS NOT NULL THEN
        RETURN jsonb_build_object('refused', 'recorded_already', 'entry', format('R%s', before));
    END IF;
    kinds := ARRAY(
        SELECT voucher FROM (
            SELECT request.voucher FROM voucher.attempt JOIN voucher.request USING (request_id) WHERE state = 'issued' AND number = o ->> 'number'
            UNION
            SELECT voucher FROM voucher.elsewhere WHERE number = o ->> 'number' AND live
        ) AS issued WHERE o ->> 'voucher' IN ('', voucher)
    );
    IF cardinality(kinds) <> 1 THEN
        RETURN jsonb_build_object('refused', CASE cardinality(kinds) WHEN 0 THEN 'not_issued' ELSE 'of_both_kinds' END);
    END IF;
    IF voucher.is_a_vouchers(o ->> 'red_number') THEN
        RETURN jsonb_build_object('refused', 'red_is_issued');
    END IF;
    before := (SELECT max(reversal) FROM voucher.reversal WHERE number = o ->> 'number' AND voucher = kinds[1] AND withdrawn);
    IF _run IS NOT NULL AND before IS NOT NULL THEN
        RETURN jsonb_build_object('refused', 'was_withdrawn', 'entry', format('R%s', before));
    END IF;
    INSERT INTO voucher.reversal (run, voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at)
    VALUES (
        _run, kinds[1], o ->> 'number',
        (SELECT attempt_id FROM voucher.attempt JOIN voucher.request USING (request_id)
         WHERE state = 'issued' AND number = o ->> 'number' AND request.voucher = kinds[1]),
        o ->> 'red_number', o ->> 'reversed_by', o ->> 'evidence', clock_timestamp()
    ) RETURNING * INTO made;
    RETURN jsonb_build_object(
        'entry', format('R%s', made.reversal), 'voucher', made.voucher, 'at', made.reversed_at,
        'request_id', (SELECT request_id FROM voucher.attempt WHERE attempt_id = made.attempt_id),
        'attempt', (SELECT attempt FROM voucher.attempt WHERE attempt_id = made.attempt_id),
        'charges', (
            SELECT jsonb_agg(jsonb_build_array(ticket_no, charge, product, amount) ORDER BY ticket_no, charge, product) FROM (
                SELECT ticket_no, charge, product, amount FROM voucher.charge WHERE attempt_id = made.attempt_id
                UNION
                SELECT ticket_no, charge, product, coalesce(amount, 0) FROM voucher.elsewhere
                WHERE number = made.number AND voucher = made.voucher AND NOT withdrawn
                  AND (made.attempt_id IS NULL OR ticket_no IN (SELECT ticket_no FROM voucher.charge WHERE attempt_id = made.attempt_id))
            ) AS let_go
        )
    );
END $$;

-- Withdrawals.

-- A charge of an attempt that another one holds, so that it can't be held by this one too; NULL where there is none.
CREATE FUNCTION voucher.held_by_another(_attempt bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('ticket', other.ticket_no, 'request_id', request_id, 'attempt', attempt, 'state', state, 'number', number)
    FROM voucher.charge AS own JOIN voucher.charge AS other USING (ticket_no) JOIN voucher.attempt ON attempt.attempt_id = other.attempt_id
    WHERE own.attempt_id = _attempt AND other.attempt_id <> _attempt AND other.live AND (
        (other.charge = own.charge AND other.product = own.product) OR (other.wire = own.wire AND own.wire <> '')
        OR (other.voucher <> own.voucher AND other.charge IN ('ticket_fare', 'refund') AND own.charge IN ('ticket_fare', 'refund'))
    )
    ORDER BY other.attempt_id LIMIT 1
$$;

CREATE FUNCTION voucher.withdraw(_kind text, _entry bigint, _by text, _why text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    gone boolean;
    about jsonb;    -- what it was about
    of bigint;      -- the attempt
    frees boolean;  -- whether its charges are not held as long as this stands
    why jsonb;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF _kind = 'settlement' THEN
        SELECT withdrawn, jsonb_build_object('request_id', request_id, 'attempt', attempt, 'number', settlement.number), attempt_id, settlement.state <> 'issued'
        INTO gone, about, of, frees FROM voucher.settlement JOIN voucher.attempt USING (attempt_id) WHERE settlement = _entry;
    ELSIF _kind = 'elsewhere' THEN
        SELECT withdrawn, jsonb_build_object('number', number), false INTO gone, about, frees FROM voucher.elsewhere WHERE elsewhere = _entry;
    ELSE
        SELECT withdrawn, jsonb_build_object('number', number), attempt_id, true INTO gone, about, of, frees FROM voucher.reversal WHERE reversal = _entry;
    END IF;
    IF gone IS NOT FALSE THEN
        RETURN jsonb_build_object('refused', CASE WHEN gone THEN 'withdrawn_already' ELSE 'missing' END);
    END IF;
    IF _kind = 'settlement' THEN
        SELECT about || jsonb_build_object('refused', 'reversed_since', 'reversal', format('R%s', reversal)) INTO why
        FROM voucher.reversal WHERE attempt_id = of AND NOT withdrawn;
        IF why IS NOT NULL THEN
            RETURN why;
        END IF;
    END IF;
    why := CASE WHEN frees THEN voucher.held_by_another(of) END;
    IF why IS NOT NULL THEN
        RETURN why || jsonb_build_object('refused', 'held_by_another');
    END IF;
    INSERT INTO voucher.withdrawal (settlement, elsewhere, reversal, withdrawn_by, why, withdrawn_at)
    VALUES (CASE _kind WHEN 'settlement' THEN _entry END, CASE _kind WHEN 'elsewhere' THEN _entry END, CASE _kind WHEN 'reversal' THEN _entry END,
            _by, _why, clock_timestamp());
    RETURN about;
END $$;

-- Gaps.

CREATE FUNCTION voucher.mark_gap(_since timestamptz, _why text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    INSERT INTO voucher.gap (since, why, found_at) VALUES (_since, _why, clock_timestamp());
END $$;

-- For workers, who can't read the table: while one is open nothing is sent, whatever is planned.
CREATE FUNCTION voucher.open_gaps() RETURNS TABLE (since timestamptz, why text) LANGUAGE sql STABLE AS $$
    SELECT since, why FROM voucher.gap WHERE closed_at IS NULL ORDER BY since
$$;

-- The gaps that this closes, which begins an epoch (evidence_rules.sql).
CREATE FUNCTION voucher.close_gaps(_by text, _evidence text) RETURNS TABLE (since timestamptz, why text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    RETURN QUERY UPDATE voucher.gap SET closed_at = clock_timestamp(), closed_by = _by, evidence = _evidence WHERE closed_at IS NULL RETURNING since, why;
END $$;

-- A gap from what is known until, and in the same change that nothing is missing.
CREATE FUNCTION voucher.deny_gap(_why text, _by text, _evidence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM voucher.mark_gap(voucher.known_until(), _why);
    PERFORM voucher.close_gaps(_by, _evidence);
END $$;

-- The carrier's address.

CREATE FUNCTION voucher.move_carrier(_from text[], _to text[], _by text, _why text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(voucher.gate());
    IF (SELECT ARRAY[base_url, agency] FROM voucher.ledger) <> _from THEN
        RETURN jsonb_build_object('refused', 'moved_already');
    END IF;
    since := (SELECT min(started_at) FROM voucher.run WHERE ended_at IS NULL);
    IF since IS NOT NULL THEN
        RETURN jsonb_build_object('refused', 'run_is_on', 'since', since);
    END IF;
    INSERT INTO voucher.carrier_move (from_base_url, from_agency, to_base_url, to_agency, moved_by, why, moved_at)
    VALUES (_from[1], _from[2], _to[1], _to[2], _by, _why, clock_timestamp());
    UPDATE voucher.ledger SET base_url = _to[1], agency = _to[2];
    RETURN '{}'::jsonb;
END $$;
