-- What a person says in the place of workers that nobody hears any more, after the server was started anew (step 7 of the fence): nothing
-- is missing that they were told, for the files are those that the server had when it ended, and no older copy.

CREATE TABLE voucher.vouched (
    worker      uuid NOT NULL REFERENCES voucher.worker,
    life        bigint NOT NULL REFERENCES voucher.server_life,
    vouched_by  text NOT NULL CHECK (vouched_by <> ''),
    why         text NOT NULL CHECK (why <> ''),
    vouched_at  timestamptz NOT NULL,
    PRIMARY KEY (worker, life)
);
CREATE TRIGGER vouched_stays BEFORE UPDATE OR DELETE ON voucher.vouched FOR EACH ROW EXECUTE FUNCTION voucher.refuse_change();
CREATE TRIGGER vouched_is_not_emptied BEFORE TRUNCATE ON voucher.vouched EXECUTE FUNCTION voucher.refuse_change();

-- Of workers that have been silent for a lease, and of no others: who is heard vouches for himself. What they were sending is unknown
-- from then on, as after `sweep`. True where claims are open then.
CREATE FUNCTION voucher.vouch_for(_workers uuid[], _by text, _why text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    at_present bigint := voucher.note_life();
    one uuid;
BEGIN
    PERFORM voucher.check_durable();
    PERFORM voucher.sweep();
    FOREACH one IN ARRAY _workers LOOP
        UPDATE voucher.worker SET vouched_life = at_present
        WHERE worker = one AND silent_at IS NOT NULL AND left_at IS NULL AND dead_at IS NULL AND vouched_life < at_present;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'worker % is heard, has ended, or is vouched for', one USING ERRCODE = 'VP001';
        END IF;
        INSERT INTO voucher.vouched (worker, life, vouched_by, why, vouched_at) VALUES (one, at_present, _by, _why, clock_timestamp());
    END LOOP;
    RETURN voucher.open_claims();
END $$;
