-- The ledger. What may happen to an attempt is decided here, by the database itself:
--
--   planned -> sending -> issued | rejected | not_sent | unknown
--   unknown -> issued | not_sent, only beside a settlement (evidence) of that very attempt
--
-- and a charge is in one live attempt (sending, issued, unknown) at most. Times are UTC, ISO 8601;
-- amounts are whole minor units.

CREATE TABLE ledger (
    only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
    ledger_id   TEXT NOT NULL,
    base_url    TEXT NOT NULL,          -- the one carrier that this ledger belongs to
    agency      TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE run (
    run         INTEGER PRIMARY KEY,
    command     TEXT NOT NULL,
    version     TEXT NOT NULL,
    as_of       TEXT NOT NULL,
    files       TEXT NOT NULL,          -- JSON list of names
    started_at  TEXT NOT NULL,
    ended_at    TEXT,
    exit_code   INTEGER
) STRICT;

CREATE TABLE request (
    request_id  TEXT PRIMARY KEY,       -- made of its content
    voucher     TEXT NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    market      TEXT NOT NULL,
    amount      INTEGER NOT NULL,
    header_type TEXT NOT NULL,
    header_name TEXT NOT NULL,
    tax_no      TEXT NOT NULL,
    phone       TEXT NOT NULL,
    email       TEXT NOT NULL,
    remarks     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
    attempt_id  INTEGER PRIMARY KEY,
    request_id  TEXT NOT NULL REFERENCES request,
    attempt     INTEGER NOT NULL CHECK (attempt > 0),
    run         INTEGER NOT NULL REFERENCES run,
    state       TEXT NOT NULL CHECK (state IN ('planned', 'sending', 'issued', 'rejected', 'not_sent', 'unknown')),
    reason      TEXT NOT NULL DEFAULT '',
    number      TEXT NOT NULL DEFAULT '',
    trace_id    TEXT NOT NULL DEFAULT '',
    detail      TEXT NOT NULL DEFAULT '',
    was_unknown INTEGER NOT NULL DEFAULT 0,
    planned_at  TEXT NOT NULL,
    sending_at  TEXT,
    answered_at TEXT,
    ended_at    TEXT,
    http_status INTEGER,                -- the raw answer, as it came
    answer      BLOB,
    retry_after TEXT,
    UNIQUE (request_id, attempt),
    CHECK (state <> 'issued' OR number <> ''),
    CHECK (state = 'planned' OR sending_at IS NOT NULL)
) STRICT;

CREATE TABLE charge (
    attempt_id  INTEGER NOT NULL REFERENCES attempt ON DELETE CASCADE,
    ticket_no   TEXT NOT NULL,
    charge      TEXT NOT NULL CHECK (charge IN ('ticket_fare', 'refund', 'ancillary')),
    product     TEXT NOT NULL,
    wire        TEXT NOT NULL,          -- feeType/productType, '' where the carrier has not named them
    voucher     TEXT NOT NULL,
    amount      INTEGER NOT NULL,
    file        TEXT NOT NULL,
    sheet       TEXT NOT NULL,
    row         INTEGER NOT NULL,
    live        INTEGER NOT NULL DEFAULT 0 CHECK (live IN (0, 1)),
    PRIMARY KEY (attempt_id, ticket_no, charge, product)
) STRICT, WITHOUT ROWID;

-- Evidence for an attempt whose outcome was unknown: what was found, who says so, when and why.
CREATE TABLE settlement (
    attempt_id  INTEGER PRIMARY KEY REFERENCES attempt,
    state       TEXT NOT NULL CHECK (state IN ('issued', 'not_sent')),
    number      TEXT NOT NULL,
    settled_by  TEXT NOT NULL CHECK (settled_by <> ''),
    evidence    TEXT NOT NULL CHECK (evidence <> ''),
    settled_at  TEXT NOT NULL,
    CHECK (state <> 'issued' OR number <> '')
) STRICT;

CREATE UNIQUE INDEX charge_live_once ON charge (ticket_no, charge, product) WHERE live = 1;
CREATE UNIQUE INDEX charge_live_once_on_the_wire ON charge (ticket_no, wire) WHERE live = 1 AND wire <> '';
CREATE INDEX charge_ticket ON charge (ticket_no);
CREATE INDEX attempt_open ON attempt (state) WHERE state IN ('planned', 'sending', 'unknown');
CREATE INDEX attempt_run ON attempt (run);

CREATE TRIGGER attempt_begins_planned BEFORE INSERT ON attempt WHEN new.state <> 'planned'
BEGIN SELECT RAISE(ABORT, 'an attempt begins as planned'); END;

CREATE TRIGGER attempt_state BEFORE UPDATE OF state ON attempt
WHEN NOT (
    (old.state = 'planned' AND new.state = 'sending')
    OR (old.state = 'sending' AND new.state IN ('issued', 'rejected', 'not_sent', 'unknown'))
    OR (old.state = 'unknown' AND EXISTS (
        SELECT 1 FROM settlement
        WHERE settlement.attempt_id = old.attempt_id AND settlement.state = new.state
          AND settlement.number = new.number
    ))
)
BEGIN SELECT RAISE(ABORT, 'an attempt can''t change its state like that'); END;

-- An outcome stays what it is: only an open attempt is written to, but for its settlement.
CREATE TRIGGER attempt_ended BEFORE UPDATE ON attempt
WHEN old.state IN ('issued', 'rejected', 'not_sent')
BEGIN SELECT RAISE(ABORT, 'an ended attempt stays as it is'); END;

CREATE TRIGGER attempt_identity BEFORE UPDATE OF attempt_id, request_id, attempt, run, planned_at ON attempt
BEGIN SELECT RAISE(ABORT, 'an attempt stays the one it is'); END;

CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt WHEN old.state <> 'planned'
BEGIN SELECT RAISE(ABORT, 'only a planned attempt can be dropped'); END;

CREATE TRIGGER attempt_lives AFTER UPDATE OF state ON attempt
BEGIN
    UPDATE charge SET live = (new.state IN ('sending', 'issued', 'unknown')) WHERE attempt_id = new.attempt_id;
    UPDATE attempt SET was_unknown = 1 WHERE attempt_id = new.attempt_id AND new.state = 'unknown';
END;

CREATE TRIGGER charge_begins_planned BEFORE INSERT ON charge
WHEN new.live <> 0 OR (SELECT state FROM attempt WHERE attempt_id = new.attempt_id) IS NOT 'planned'
BEGIN SELECT RAISE(ABORT, 'charges join an attempt while it is planned'); END;

CREATE TRIGGER charge_stays_itself
BEFORE UPDATE OF attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row ON charge
BEGIN SELECT RAISE(ABORT, 'a charge stays the one it is'); END;

CREATE TRIGGER charge_lives_with_its_attempt BEFORE UPDATE OF live ON charge
WHEN new.live <> (SELECT state IN ('sending', 'issued', 'unknown') FROM attempt WHERE attempt_id = old.attempt_id)
BEGIN SELECT RAISE(ABORT, 'a charge lives as its attempt does'); END;

CREATE TRIGGER charge_stays BEFORE DELETE ON charge
WHEN (SELECT state FROM attempt WHERE attempt_id = old.attempt_id) NOT IN ('planned')
BEGIN SELECT RAISE(ABORT, 'only a planned charge can be dropped'); END;

-- A ticket's fare and refund: as invoice or as itinerary, never both.
CREATE TRIGGER one_voucher_kind BEFORE UPDATE OF live ON charge
WHEN new.live = 1 AND old.live = 0 AND new.charge IN ('ticket_fare', 'refund') AND EXISTS (
    SELECT 1 FROM charge AS other
    WHERE other.ticket_no = new.ticket_no AND other.live = 1 AND other.voucher <> new.voucher
      AND other.charge IN ('ticket_fare', 'refund')
)
BEGIN SELECT RAISE(ABORT, 'the ticket has the other kind of voucher'); END;

CREATE TRIGGER settlement_of_the_unknown BEFORE INSERT ON settlement
WHEN (SELECT state FROM attempt WHERE attempt_id = new.attempt_id) IS NOT 'unknown'
BEGIN SELECT RAISE(ABORT, 'only an unknown outcome is settled'); END;

CREATE TRIGGER settlement_stays BEFORE UPDATE ON settlement
BEGIN SELECT RAISE(ABORT, 'evidence stays as it was given'); END;

CREATE TRIGGER settlement_remains BEFORE DELETE ON settlement
BEGIN SELECT RAISE(ABORT, 'evidence stays as it was given'); END;
