-- A ledger of one machine that is copied into this one, which is empty before. Until that is finished both have the same memory, and only
-- one of them may be used.

CREATE TABLE voucher.copying (
    only_row    integer PRIMARY KEY CHECK (only_row = 1),
    from_name   text NOT NULL,
    ledger_id   text NOT NULL,
    begun_at    timestamptz NOT NULL,
    finished_at timestamptz
);

CREATE FUNCTION voucher.nothing_begins_while_copying() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM voucher.copying WHERE finished_at IS NULL) THEN
        RAISE EXCEPTION 'another ledger is being copied into this one' USING ERRCODE = 'VP001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER run_begins_after_copying BEFORE INSERT ON voucher.run FOR EACH ROW EXECUTE FUNCTION voucher.nothing_begins_while_copying();

-- What is being copied into it; NULL where nothing is.
CREATE FUNCTION voucher.unfinished_copy_of() RETURNS text LANGUAGE sql STABLE AS 'SELECT from_name FROM voucher.copying WHERE finished_at IS NULL';
