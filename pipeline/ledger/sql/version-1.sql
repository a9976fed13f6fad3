-- The ledger. What may happen to an attempt is decided here, by the database itself:
--
--   planned -> sending -> issued | rejected | not_sent | unknown
--   unknown -> issued | not_sent, only beside a settlement (evidence) of that very attempt
--   issued | not_sent -> unknown, only where the settlement that said so is withdrawn
--
-- and a charge is in one live attempt (sending, issued, unknown) at most, until the carrier reverses its voucher. Words are
-- added; what was recorded before stays as it was, but for columns that say what became of it (live, withdrawn, an end).
-- Times are UTC, ISO 8601; amounts are whole minor units.
--
-- Whatever must hold is asked in triggers, of the rows, before any index is asked, and for every column by name; where a
-- CHECK, a foreign key or a unique index says the same, it says it to readers. For a connection can switch CHECKs and
-- foreign keys off; OR REPLACE deletes rows without asking the triggers on deletion (unless the connection has
-- recursive_triggers on), and hands its REPLACE or IGNORE on to the statements inside triggers; and `SET rowid = ` goes
-- past UPDATE OF attempt_id. So each table has a trigger that lets a row be written once, over none that is there, one
-- that says what of it may change, and one that lets none be deleted.
--
-- What is asked at every start is found by an index, without reading the years before. (SQLite uses a partial index only
-- where the condition is one of its own terms, so not for IN: sqlite.org/partialindex.html, 3.)

-- The ledger itself: whose it is.
CREATE TABLE ledger (
    only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
    ledger_id   TEXT NOT NULL,
    base_url    TEXT NOT NULL,          -- the one carrier that this ledger belongs to
    agency      TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TRIGGER ledger_is_written_once BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger)
BEGIN SELECT RAISE(ABORT, 'a ledger belongs to its carrier'); END;

CREATE TRIGGER ledger_stays_but_for_a_move BEFORE UPDATE ON ledger
WHEN new.only_row <> old.only_row OR new.ledger_id <> old.ledger_id OR new.created_at <> old.created_at
    OR NOT EXISTS (
        SELECT 1 FROM carrier_move
        WHERE move = (SELECT max(move) FROM carrier_move)
          AND from_base_url = old.base_url AND from_agency = old.agency
          AND to_base_url = new.base_url AND to_agency = new.agency
    )
BEGIN SELECT RAISE(ABORT, 'a ledger belongs to its carrier, but for a recorded move'); END;

CREATE TRIGGER ledger_remains BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'a ledger belongs to its carrier'); END;

-- Every move of the carrier's address, with who said so and why.
CREATE TABLE carrier_move (
    move          INTEGER PRIMARY KEY,
    from_base_url TEXT NOT NULL,
    from_agency   TEXT NOT NULL,
    to_base_url   TEXT NOT NULL,
    to_agency     TEXT NOT NULL,
    moved_by      TEXT NOT NULL CHECK (moved_by <> ''),
    why           TEXT NOT NULL CHECK (why <> ''),
    moved_at      TEXT NOT NULL
) STRICT;

CREATE TRIGGER carrier_move_is_written_once BEFORE INSERT ON carrier_move
WHEN EXISTS (SELECT 1 FROM carrier_move WHERE move = new.move)
BEGIN SELECT RAISE(ABORT, 'a recorded move stays'); END;

CREATE TRIGGER carrier_move_stays BEFORE UPDATE ON carrier_move
BEGIN SELECT RAISE(ABORT, 'a recorded move stays'); END;
CREATE TRIGGER carrier_move_remains BEFORE DELETE ON carrier_move
BEGIN SELECT RAISE(ABORT, 'a recorded move stays'); END;

-- Times of which this ledger may know nothing: it is a backup, say, and what was issued after `since` is
-- not in it. Nothing is sent while a gap is open; it is closed by evidence alone.
CREATE TABLE gap (
    gap         INTEGER PRIMARY KEY,
    since       TEXT NOT NULL,
    why         TEXT NOT NULL CHECK (why <> ''),
    found_at    TEXT NOT NULL,
    closed_at   TEXT,
    closed_by   TEXT CHECK (closed_by <> ''),
    evidence    TEXT CHECK (evidence <> ''),
    CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (evidence IS NULL))
) STRICT;

CREATE INDEX gap_open ON gap (gap) WHERE closed_at IS NULL;

CREATE TRIGGER gap_is_written_once BEFORE INSERT ON gap
WHEN EXISTS (SELECT 1 FROM gap WHERE gap = new.gap) OR new.closed_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a gap is closed once, by evidence'); END;

CREATE TRIGGER gap_is_closed_once BEFORE UPDATE ON gap
WHEN old.closed_at IS NOT NULL OR new.closed_at IS NULL OR new.gap <> old.gap OR new.since <> old.since
    OR new.why <> old.why OR new.found_at <> old.found_at
BEGIN SELECT RAISE(ABORT, 'a gap is closed once, by evidence'); END;

CREATE TRIGGER gap_remains BEFORE DELETE ON gap
BEGIN SELECT RAISE(ABORT, 'a gap is closed once, by evidence'); END;

-- An epoch: a stretch of this ledger's history that no other history shares. A restored backup numbers its attempts from
-- where it was, so an attempt is named by its epoch, request and number. The first has the ledger's own ID; another
-- begins when the last open gap is closed, in that very file: two restores of one backup have none in common, and
-- nothing is sent before. randomblob: 128 bits of a generator that the system seeds in each process.
CREATE TABLE epoch (
    epoch       INTEGER PRIMARY KEY,
    epoch_id    TEXT NOT NULL,
    why         TEXT NOT NULL CHECK (why <> ''),
    begun_at    TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX epoch_once ON epoch (epoch_id);

CREATE TRIGGER ledger_begins_its_first_epoch AFTER INSERT ON ledger
BEGIN INSERT INTO epoch VALUES (1, new.ledger_id, 'the ledger was begun', new.created_at); END;

CREATE TRIGGER gap_closed_begins_an_epoch AFTER UPDATE OF closed_at ON gap
WHEN NOT EXISTS (SELECT 1 FROM gap WHERE closed_at IS NULL)
BEGIN INSERT INTO epoch (epoch_id, why, begun_at) VALUES (lower(hex(randomblob(16))), new.why, new.closed_at); END;

CREATE TRIGGER epoch_begins_once BEFORE INSERT ON epoch
WHEN EXISTS (SELECT 1 FROM epoch WHERE epoch = new.epoch OR epoch_id = new.epoch_id)
    OR (new.epoch <> -1 AND new.epoch <= (SELECT max(epoch) FROM epoch)) OR new.epoch_id = '' OR new.why = ''
    OR EXISTS (SELECT 1 FROM gap WHERE closed_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'an epoch begins once, when no gap is open'); END;

CREATE TRIGGER epoch_stays BEFORE UPDATE ON epoch
BEGIN SELECT RAISE(ABORT, 'an epoch stays what it is'); END;
CREATE TRIGGER epoch_remains BEFORE DELETE ON epoch
BEGIN SELECT RAISE(ABORT, 'an epoch stays what it is'); END;

-- A run of a command that changes the ledger.
CREATE TABLE run (
    run         INTEGER PRIMARY KEY,
    command     TEXT NOT NULL,
    version     TEXT NOT NULL,          -- of the program
    as_of       TEXT NOT NULL,
    files       TEXT NOT NULL,          -- JSON list of names
    started_at  TEXT NOT NULL,
    ended_at    TEXT,
    exit_code   INTEGER                 -- NULL: it was killed
) STRICT;

CREATE INDEX run_open ON run (run) WHERE ended_at IS NULL;

CREATE TRIGGER run_is_written_once BEFORE INSERT ON run
WHEN EXISTS (SELECT 1 FROM run WHERE run = new.run) OR new.ended_at IS NOT NULL OR new.exit_code IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a run begins once'); END;

CREATE TRIGGER run_ends_once BEFORE UPDATE ON run
WHEN old.ended_at IS NOT NULL OR new.ended_at IS NULL OR new.run <> old.run OR new.command <> old.command
    OR new.version <> old.version OR new.as_of <> old.as_of OR new.files <> old.files OR new.started_at <> old.started_at
BEGIN SELECT RAISE(ABORT, 'a run ends once, and stays what it was'); END;

CREATE TRIGGER run_remains BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'a run ends once, and stays what it was'); END;

-- The ledger's last entry was later than the clock, and somebody said that the clock is right: then a wrong one wrote
-- what runs up to `last_run` noted after `corrected_at`.
CREATE TABLE clock_correction (
    correction   INTEGER PRIMARY KEY,
    latest       TEXT NOT NULL,         -- that last entry
    last_run     INTEGER NOT NULL REFERENCES run,
    corrected_by TEXT NOT NULL CHECK (corrected_by <> ''),
    corrected_at TEXT NOT NULL
) STRICT;

CREATE TRIGGER clock_correction_is_written_once BEFORE INSERT ON clock_correction
WHEN EXISTS (SELECT 1 FROM clock_correction WHERE correction = new.correction) OR new.corrected_by = ''
    OR new.latest <= new.corrected_at OR new.last_run IS NOT (SELECT max(run) FROM run)
BEGIN SELECT RAISE(ABORT, 'a correction of the clock stays'); END;

CREATE TRIGGER clock_correction_stays BEFORE UPDATE ON clock_correction
BEGIN SELECT RAISE(ABORT, 'a correction of the clock stays'); END;
CREATE TRIGGER clock_correction_remains BEFORE DELETE ON clock_correction
BEGIN SELECT RAISE(ABORT, 'a correction of the clock stays'); END;

-- What is asked of the carrier: one voucher.
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

CREATE TRIGGER request_is_written_once BEFORE INSERT ON request
WHEN EXISTS (
    SELECT 1 FROM request AS old
    WHERE old.request_id = new.request_id
      AND (old.voucher, old.market, old.amount, old.header_type, old.header_name, old.tax_no, old.phone, old.email, old.remarks)
       IS NOT (new.voucher, new.market, new.amount, new.header_type, new.header_name, new.tax_no, new.phone, new.email, new.remarks)
)
BEGIN SELECT RAISE(ABORT, 'a request stays what was asked'); END;

CREATE TRIGGER request_stays BEFORE UPDATE ON request
BEGIN SELECT RAISE(ABORT, 'a request stays what was asked'); END;
CREATE TRIGGER request_remains BEFORE DELETE ON request
BEGIN SELECT RAISE(ABORT, 'a request stays what was asked'); END;

-- Each time that a request is tried, of the epoch in which it is planned, and sent in that one alone.
CREATE TABLE attempt (
    attempt_id  INTEGER PRIMARY KEY,
    request_id  TEXT NOT NULL REFERENCES request,
    attempt     INTEGER NOT NULL CHECK (attempt > 0),
    run         INTEGER NOT NULL REFERENCES run,
    epoch       INTEGER NOT NULL,
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

-- One number, one voucher: an answer that brings a number again belongs to another request.
CREATE UNIQUE INDEX number_once ON attempt (number) WHERE state = 'issued';

CREATE INDEX attempt_open ON attempt (state) WHERE state = 'planned' OR state = 'sending' OR state = 'unknown';
CREATE INDEX attempt_run ON attempt (run);

-- A statement is compared with what was issued in its period, whatever the ledger's age.
CREATE INDEX attempt_issued_at ON attempt (ended_at) WHERE state = 'issued';

-- It begins blank, in a run that is on, at a request that is there.
CREATE TRIGGER attempt_begins_planned BEFORE INSERT ON attempt
WHEN new.state <> 'planned' OR new.reason <> '' OR new.number <> '' OR new.trace_id <> '' OR new.detail <> '' OR new.was_unknown <> 0
    OR coalesce(new.sending_at, new.answered_at, new.ended_at, new.http_status, new.answer, new.retry_after) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an attempt begins as planned'); END;

CREATE TRIGGER attempt_is_written_once BEFORE INSERT ON attempt
WHEN EXISTS (SELECT 1 FROM attempt WHERE attempt_id = new.attempt_id)
    OR EXISTS (SELECT 1 FROM attempt WHERE request_id = new.request_id AND attempt = new.attempt)
BEGIN SELECT RAISE(ABORT, 'an attempt stays the one it is'); END;

CREATE TRIGGER attempt_is_of_a_run_that_is_on BEFORE INSERT ON attempt
WHEN NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
    OR NOT EXISTS (SELECT 1 FROM request WHERE request_id = new.request_id)
    OR new.epoch IS NOT (SELECT max(epoch) FROM epoch)
BEGIN SELECT RAISE(ABORT, 'an attempt is made by a run that is on, at a request that is there, in this epoch'); END;

-- Which state follows which. An outcome stays what it is: only an open attempt is written to, but for its settlement.
CREATE TRIGGER attempt_state BEFORE UPDATE OF state ON attempt
WHEN NOT (
    (old.state = 'planned' AND new.state = 'sending')
    OR (old.state = 'sending' AND new.state IN ('issued', 'rejected', 'not_sent', 'unknown'))
    OR (old.state = 'unknown' AND EXISTS (
        SELECT 1 FROM settlement
        WHERE settlement.attempt_id = old.attempt_id AND settlement.state = new.state
          AND settlement.number = new.number AND withdrawn = 0
    ))
    OR (old.state IN ('issued', 'not_sent') AND new.state = 'unknown')
)
BEGIN SELECT RAISE(ABORT, 'an attempt can''t change its state like that'); END;

CREATE TRIGGER attempt_ended BEFORE UPDATE ON attempt
WHEN old.state IN ('issued', 'rejected', 'not_sent') AND NOT (
    new.state = 'unknown'
    AND (new.reason, new.trace_id, new.detail, new.ended_at) IS (old.reason, old.trace_id, old.detail, old.ended_at)
    AND NOT EXISTS (SELECT 1 FROM settlement WHERE settlement.attempt_id = old.attempt_id AND withdrawn = 0)
    AND EXISTS (
        SELECT 1 FROM settlement
        WHERE settlement.attempt_id = old.attempt_id AND settlement.state = old.state
          AND settlement.number = old.number AND withdrawn = 1
    )
)
BEGIN SELECT RAISE(ABORT, 'an ended attempt stays as it is'); END;

-- Sent whole: with all the charges that were asked for (one of them missing would be held by nothing), by a run that is
-- on; and not while the ledger may lack something.
CREATE TRIGGER attempt_is_sent_whole BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND (
    (SELECT sum(amount) FROM charge WHERE attempt_id = old.attempt_id)
        IS NOT (SELECT amount FROM request WHERE request_id = old.request_id)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = old.run AND ended_at IS NULL)
    OR old.epoch IS NOT (SELECT max(epoch) FROM epoch)
)
BEGIN SELECT RAISE(ABORT, 'an attempt is sent whole, by a run that is on, in its epoch'); END;

CREATE TRIGGER gap_holds BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND EXISTS (SELECT 1 FROM gap WHERE closed_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'nothing is sent while the ledger has a gap'); END;

-- Column by column: what may change, and when.
CREATE TRIGGER attempt_stays_itself BEFORE UPDATE ON attempt
WHEN new.attempt_id <> old.attempt_id OR new.request_id <> old.request_id OR new.attempt <> old.attempt
    OR new.run <> old.run OR new.planned_at <> old.planned_at OR new.epoch <> old.epoch
    OR new.sending_at IS NULL
    OR (new.sending_at IS NOT old.sending_at AND NOT (old.state = 'planned' AND new.state = 'sending'))
BEGIN SELECT RAISE(ABORT, 'an attempt stays the one it is'); END;

CREATE TRIGGER attempt_answer_stays BEFORE UPDATE ON attempt
WHEN (new.answer, new.http_status, new.retry_after, new.answered_at)
    IS NOT (old.answer, old.http_status, old.retry_after, old.answered_at)
    AND (old.state <> 'sending' OR new.state <> 'sending' OR old.answer IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a raw answer is written once, while the attempt is being sent'); END;

CREATE TRIGGER attempt_outcome_comes_with_its_state BEFORE UPDATE ON attempt
WHEN (new.state = old.state OR new.state = 'sending')
    AND (new.reason, new.number, new.trace_id, new.detail, new.ended_at)
     IS NOT (old.reason, old.number, old.trace_id, old.detail, old.ended_at)
BEGIN SELECT RAISE(ABORT, 'an outcome comes with its state'); END;

CREATE TRIGGER attempt_number BEFORE UPDATE ON attempt
WHEN (new.state = 'issued') <> (new.number <> '') OR (new.state = 'issued' AND (
    EXISTS (
        SELECT 1 FROM attempt AS other
        WHERE other.state = 'issued' AND other.number = new.number AND other.attempt_id <> old.attempt_id
    )
    OR EXISTS (SELECT 1 FROM reversal WHERE number = new.number AND withdrawn = 0)
    OR EXISTS (SELECT 1 FROM reversal WHERE red_number = new.number AND withdrawn = 0)
    OR EXISTS (
        SELECT 1 FROM elsewhere WHERE number = new.number AND withdrawn = 0
        AND ticket_no NOT IN (SELECT ticket_no FROM charge WHERE attempt_id = old.attempt_id)
    )
))
BEGIN SELECT RAISE(ABORT, 'what is issued has a number of its own, and nothing else has one'); END;

CREATE TRIGGER attempt_doubt_stays BEFORE UPDATE ON attempt
WHEN new.was_unknown <> old.was_unknown AND NOT (new.was_unknown = 1 AND new.state = 'unknown')
BEGIN SELECT RAISE(ABORT, 'a doubt is remembered'); END;

CREATE TRIGGER attempt_doubt AFTER UPDATE OF state ON attempt WHEN new.state = 'unknown'
BEGIN UPDATE attempt SET was_unknown = 1 WHERE attempt_id = new.attempt_id; END;

-- Charges go when their planned attempt goes, and not one by one; with or without foreign keys.
CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt WHEN old.state <> 'planned'
BEGIN SELECT RAISE(ABORT, 'only a planned attempt can be dropped'); END;

CREATE TRIGGER attempt_takes_its_charges AFTER DELETE ON attempt
BEGIN DELETE FROM charge WHERE attempt_id = old.attempt_id; END;

-- What an attempt is about, and the row of a workbook that it came from.
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
    content     TEXT NOT NULL,          -- a digest of what exactly was asked, to know a refused row that is unchanged
    passenger_name TEXT NOT NULL DEFAULT '',
    components  TEXT NOT NULL DEFAULT '{}',     -- what the amount is made of: JSON, columns to whole minor units
    carried     TEXT NOT NULL DEFAULT '{}',     -- the row's own columns (cost centre, department): JSON, headings to texts
    live        INTEGER NOT NULL DEFAULT 0 CHECK (live IN (0, 1)),      -- its attempt holds it
    PRIMARY KEY (attempt_id, ticket_no, charge, product)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX charge_live_once ON charge (ticket_no, charge, product) WHERE live = 1;
CREATE UNIQUE INDEX charge_live_once_on_the_wire ON charge (ticket_no, wire) WHERE live = 1 AND wire <> '';
CREATE INDEX charge_ticket ON charge (ticket_no);

CREATE TRIGGER charge_begins_planned BEFORE INSERT ON charge
WHEN new.live <> 0 OR (SELECT state FROM attempt WHERE attempt_id = new.attempt_id) IS NOT 'planned'
BEGIN SELECT RAISE(ABORT, 'charges join an attempt while it is planned'); END;

CREATE TRIGGER charge_is_written_once BEFORE INSERT ON charge
WHEN EXISTS (
    SELECT 1 FROM charge AS old
    WHERE old.attempt_id = new.attempt_id AND old.ticket_no = new.ticket_no AND old.charge = new.charge
      AND old.product = new.product
)
BEGIN SELECT RAISE(ABORT, 'a charge stays the one it is'); END;

CREATE TRIGGER charge_is_of_its_request BEFORE INSERT ON charge
WHEN new.voucher IS NOT (SELECT voucher FROM attempt JOIN request USING (request_id) WHERE attempt_id = new.attempt_id)
BEGIN SELECT RAISE(ABORT, 'a charge goes as the voucher of its request'); END;

CREATE TRIGGER charge_stays_itself
BEFORE UPDATE OF attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, content, passenger_name,
    components, carried ON charge
BEGIN SELECT RAISE(ABORT, 'a charge stays the one it is'); END;

CREATE TRIGGER charge_goes_with_its_attempt BEFORE DELETE ON charge
WHEN EXISTS (SELECT 1 FROM attempt WHERE attempt_id = old.attempt_id)
BEGIN SELECT RAISE(ABORT, 'a charge goes when its attempt goes'); END;

-- Held while its attempt is live, and written to only where that changes.
CREATE TRIGGER attempt_lives AFTER UPDATE OF state ON attempt
WHEN (old.state IN ('sending', 'issued', 'unknown')) <> (new.state IN ('sending', 'issued', 'unknown'))
BEGIN UPDATE charge SET live = (new.state IN ('sending', 'issued', 'unknown')) WHERE attempt_id = new.attempt_id; END;

CREATE TRIGGER charge_lives_with_its_attempt BEFORE UPDATE OF live ON charge
WHEN new.live IS NOT (
    SELECT state IN ('sending', 'unknown') OR (state = 'issued' AND NOT EXISTS (
        SELECT 1 FROM reversal WHERE reversal.attempt_id = old.attempt_id AND withdrawn = 0
    ))
    FROM attempt WHERE attempt_id = old.attempt_id
)
BEGIN SELECT RAISE(ABORT, 'a charge lives as its attempt does'); END;

-- Before the index, because OR IGNORE would leave the charge unheld, OR REPLACE delete the one that is held.
CREATE TRIGGER charge_lives_once BEFORE UPDATE OF live ON charge
WHEN new.live = 1 AND old.live = 0 AND EXISTS (
    SELECT 1 FROM charge AS other
    WHERE other.ticket_no = new.ticket_no AND other.live = 1
      AND ((other.charge = new.charge AND other.product = new.product) OR (other.wire = new.wire AND new.wire <> ''))
)
BEGIN SELECT RAISE(ABORT, 'the charge is in a live attempt already'); END;

-- A ticket's fare and refund: as invoice or as itinerary, never both.
CREATE TRIGGER one_voucher_kind BEFORE UPDATE OF live ON charge
WHEN new.live = 1 AND old.live = 0 AND new.charge IN ('ticket_fare', 'refund') AND EXISTS (
    SELECT 1 FROM charge AS other
    WHERE other.ticket_no = new.ticket_no AND other.live = 1 AND other.voucher <> new.voucher
      AND other.charge IN ('ticket_fare', 'refund')
)
BEGIN SELECT RAISE(ABORT, 'the ticket has the other kind of voucher'); END;

-- Evidence for an attempt whose outcome was unknown: what was found, who says so, when and why. An attempt whose settlement
-- is withdrawn may have another.
CREATE TABLE settlement (
    settlement  INTEGER PRIMARY KEY,
    attempt_id  INTEGER NOT NULL REFERENCES attempt,
    state       TEXT NOT NULL CHECK (state IN ('issued', 'not_sent')),
    number      TEXT NOT NULL,
    settled_by  TEXT NOT NULL CHECK (settled_by <> ''),
    evidence    TEXT NOT NULL CHECK (evidence <> ''),
    answered    TEXT NOT NULL DEFAULT '',       -- the evidence as a person typed it; '': a statement alone said it
    settled_at  TEXT NOT NULL,
    withdrawn   INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    CHECK (state <> 'issued' OR number <> '')
) STRICT;

CREATE UNIQUE INDEX settlement_stands_once ON settlement (attempt_id) WHERE withdrawn = 0;
CREATE INDEX settlement_of_attempt ON settlement (attempt_id);

CREATE TRIGGER settlement_of_the_unknown BEFORE INSERT ON settlement
WHEN (SELECT state FROM attempt WHERE attempt_id = new.attempt_id) IS NOT 'unknown'
BEGIN SELECT RAISE(ABORT, 'only an unknown outcome is settled'); END;

CREATE TRIGGER settlement_is_given_once BEFORE INSERT ON settlement
WHEN EXISTS (SELECT 1 FROM settlement WHERE settlement = new.settlement)
    OR EXISTS (SELECT 1 FROM settlement WHERE attempt_id = new.attempt_id AND withdrawn = 0)
BEGIN SELECT RAISE(ABORT, 'evidence stays as it was given'); END;

-- What was withdrawn once is said again only by a person, in other words: a statement shows the same under any name.
CREATE TRIGGER settlement_is_other_evidence BEFORE INSERT ON settlement
WHEN EXISTS (
    SELECT 1 FROM settlement AS old
    WHERE old.attempt_id = new.attempt_id AND old.state = new.state AND old.number = new.number AND (
        new.answered = ''
        OR (old.settled_by = new.settled_by AND old.answered = new.answered)
    )
)
BEGIN SELECT RAISE(ABORT, 'that evidence was withdrawn'); END;

-- Evidence that could not be followed would stand in the way of the one that can.
CREATE TRIGGER settlement_can_be_followed BEFORE INSERT ON settlement
WHEN (new.state = 'issued') <> (new.number <> '') OR new.settled_by = '' OR new.evidence = '' OR new.withdrawn <> 0
    OR new.state NOT IN ('issued', 'not_sent')
    OR (new.state = 'issued' AND (
        EXISTS (SELECT 1 FROM attempt WHERE state = 'issued' AND number = new.number)
        OR EXISTS (SELECT 1 FROM reversal WHERE number = new.number AND withdrawn = 0)
        OR EXISTS (SELECT 1 FROM reversal WHERE red_number = new.number AND withdrawn = 0)
        OR EXISTS (
            SELECT 1 FROM elsewhere WHERE number = new.number AND withdrawn = 0
            AND ticket_no NOT IN (SELECT ticket_no FROM charge WHERE attempt_id = new.attempt_id)
        )
    ))
BEGIN SELECT RAISE(ABORT, 'a settlement names its number, which no other attempt has'); END;

CREATE TRIGGER settlement_stays BEFORE UPDATE ON settlement
WHEN (new.settlement, new.attempt_id, new.state, new.number, new.settled_by, new.evidence, new.settled_at, new.answered)
    IS NOT (old.settlement, old.attempt_id, old.state, old.number, old.settled_by, old.evidence, old.settled_at, old.answered)
    OR new.withdrawn = old.withdrawn
    OR new.withdrawn <> EXISTS (SELECT 1 FROM withdrawal WHERE settlement = old.settlement)
BEGIN SELECT RAISE(ABORT, 'evidence stays as it was given'); END;

CREATE TRIGGER settlement_remains BEFORE DELETE ON settlement
BEGIN SELECT RAISE(ABORT, 'evidence stays as it was given'); END;

-- A charge that the carrier's statement shows as issued, though no attempt of this ledger issued it.
CREATE TABLE elsewhere (
    elsewhere   INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
    ticket_no   TEXT NOT NULL,
    charge      TEXT NOT NULL CHECK (charge IN ('ticket_fare', 'refund', 'ancillary')),
    product     TEXT NOT NULL,          -- '' where the statement does not say which: then it may be any
    wire        TEXT NOT NULL,          -- as charge.wire
    voucher     TEXT NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    number      TEXT NOT NULL CHECK (number <> ''),
    amount      INTEGER,                -- NULL where the statement does not say
    buyer       TEXT NOT NULL,
    issued_at   TEXT NOT NULL,          -- as the statement has it, '' where it does not say
    evidence    TEXT NOT NULL CHECK (evidence <> ''),   -- the statement and the place in it
    found_by    TEXT NOT NULL CHECK (found_by <> ''),
    found_at    TEXT NOT NULL,
    live        INTEGER NOT NULL DEFAULT 1 CHECK (live IN (0, 1)),      -- it holds its charge, as charge.live
    withdrawn   INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX elsewhere_once ON elsewhere (ticket_no, charge, product, voucher, number) WHERE withdrawn = 0;
CREATE INDEX elsewhere_number ON elsewhere (number);

CREATE TRIGGER elsewhere_is_written_once BEFORE INSERT ON elsewhere
WHEN EXISTS (SELECT 1 FROM elsewhere WHERE elsewhere = new.elsewhere)
    OR EXISTS (SELECT 1 FROM elsewhere AS old WHERE old.ticket_no = new.ticket_no AND old.charge = new.charge
               AND old.product = new.product AND old.voucher = new.voucher AND old.number = new.number AND old.withdrawn = 0)
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

CREATE TRIGGER elsewhere_can_be_followed BEFORE INSERT ON elsewhere
WHEN new.charge NOT IN ('ticket_fare', 'refund', 'ancillary') OR new.voucher NOT IN ('invoice', 'itinerary')
    OR new.number = '' OR new.evidence = '' OR new.found_by = '' OR new.withdrawn <> 0
    OR new.live = EXISTS (
        SELECT 1 FROM reversal WHERE number = new.number AND voucher = new.voucher AND reversal.withdrawn = 0
        AND (attempt_id IS NULL OR new.ticket_no IN (SELECT ticket_no FROM charge WHERE attempt_id = reversal.attempt_id))
    )
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'what a statement showed is recorded whole, by a run that is on'); END;

CREATE TRIGGER elsewhere_stays BEFORE UPDATE ON elsewhere
WHEN (new.elsewhere, new.run, new.ticket_no, new.charge, new.product, new.wire, new.voucher, new.number, new.amount,
      new.buyer, new.issued_at, new.evidence, new.found_by, new.found_at)
    IS NOT (old.elsewhere, old.run, old.ticket_no, old.charge, old.product, old.wire, old.voucher, old.number, old.amount,
      old.buyer, old.issued_at, old.evidence, old.found_by, old.found_at)
    OR (new.live, new.withdrawn) IS (old.live, old.withdrawn)
    OR new.withdrawn <> EXISTS (SELECT 1 FROM withdrawal WHERE elsewhere = old.elsewhere)
    OR new.live <> (new.withdrawn = 0 AND NOT EXISTS (
        SELECT 1 FROM reversal WHERE number = old.number AND voucher = old.voucher AND reversal.withdrawn = 0
        AND (attempt_id IS NULL OR old.ticket_no IN (SELECT ticket_no FROM charge WHERE attempt_id = reversal.attempt_id))
    ))
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

CREATE TRIGGER elsewhere_remains BEFORE DELETE ON elsewhere
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

CREATE TRIGGER elsewhere_holds BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND old.state <> 'sending' AND EXISTS (
    SELECT 1 FROM charge JOIN elsewhere USING (ticket_no)
    WHERE charge.attempt_id = old.attempt_id AND elsewhere.live = 1 AND (
        (elsewhere.charge = charge.charge AND elsewhere.product IN (charge.product, ''))
        OR (elsewhere.wire = charge.wire AND charge.wire <> '')
        OR (elsewhere.voucher <> charge.voucher AND elsewhere.charge IN ('ticket_fare', 'refund')
            AND charge.charge IN ('ticket_fare', 'refund'))
    )
)
BEGIN SELECT RAISE(ABORT, 'the carrier has issued a charge of it elsewhere'); END;

-- A voucher that the carrier has reversed, by number: of an attempt, of what statements show (elsewhere), or of both.
-- Its charges are held no more, and its number is never another attempt's.
CREATE TABLE reversal (
    reversal    INTEGER PRIMARY KEY,
    run         INTEGER REFERENCES run, -- NULL: said by hand, outside any run
    voucher     TEXT NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    number      TEXT NOT NULL CHECK (number <> ''),
    attempt_id  INTEGER REFERENCES attempt,     -- the one that issued it; NULL: statements alone show it
    red_number  TEXT NOT NULL,          -- of the red voucher, '' where it is not known
    reversed_by TEXT NOT NULL CHECK (reversed_by <> ''),
    evidence    TEXT NOT NULL CHECK (evidence <> ''),
    reversed_at TEXT NOT NULL,          -- when it was recorded
    withdrawn   INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX reversal_stands_once ON reversal (number, voucher) WHERE withdrawn = 0;
CREATE INDEX reversal_of_attempt ON reversal (attempt_id);
CREATE INDEX reversal_red_number ON reversal (red_number) WHERE withdrawn = 0;

CREATE TRIGGER reversal_of_what_is_issued BEFORE INSERT ON reversal
WHEN new.attempt_id IS NOT (
        SELECT attempt_id FROM attempt JOIN request USING (request_id)
        WHERE attempt.state = 'issued' AND attempt.number = new.number AND request.voucher = new.voucher
    )
    OR (new.attempt_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM elsewhere WHERE number = new.number AND voucher = new.voucher AND live = 1
    ))
BEGIN SELECT RAISE(ABORT, 'only a voucher that the ledger holds as issued is reversed'); END;

CREATE TRIGGER reversal_by_what_is_no_voucher BEFORE INSERT ON reversal
WHEN EXISTS (SELECT 1 FROM attempt WHERE state = 'issued' AND number = new.red_number)
    OR EXISTS (SELECT 1 FROM elsewhere WHERE number = new.red_number AND withdrawn = 0)
BEGIN SELECT RAISE(ABORT, 'what reverses a voucher is no voucher that was issued'); END;

CREATE TRIGGER reversal_is_written_once BEFORE INSERT ON reversal
WHEN EXISTS (SELECT 1 FROM reversal WHERE reversal = new.reversal)
    OR EXISTS (SELECT 1 FROM reversal WHERE number = new.number AND voucher = new.voucher AND withdrawn = 0)
    OR new.withdrawn <> 0 OR new.voucher NOT IN ('invoice', 'itinerary') OR new.number = '' OR new.red_number = new.number
    OR new.reversed_by = '' OR new.evidence = ''
    OR (new.run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'a voucher is reversed once'); END;

-- A red line stays on the statement after its reversal was withdrawn: only a person says it again.
CREATE TRIGGER reversal_withdrawn_stays_so BEFORE INSERT ON reversal
WHEN new.run IS NOT NULL
    AND EXISTS (SELECT 1 FROM reversal WHERE number = new.number AND voucher = new.voucher AND withdrawn = 1)
BEGIN SELECT RAISE(ABORT, 'that reversal was withdrawn'); END;

-- What an attempt issued is what it asked for: what a statement shows under that number of another ticket is a mistake in
-- it, and was issued under a number that is not known.
CREATE TRIGGER reversal_lets_go AFTER INSERT ON reversal
BEGIN
    UPDATE charge SET live = 0 WHERE attempt_id = new.attempt_id;
    UPDATE elsewhere SET live = 0 WHERE number = new.number AND voucher = new.voucher AND live = 1
    AND (new.attempt_id IS NULL OR ticket_no IN (SELECT ticket_no FROM charge WHERE attempt_id = new.attempt_id));
END;

CREATE TRIGGER reversal_stays BEFORE UPDATE ON reversal
WHEN (new.reversal, new.run, new.voucher, new.number, new.attempt_id, new.red_number, new.reversed_by, new.evidence, new.reversed_at)
    IS NOT (old.reversal, old.run, old.voucher, old.number, old.attempt_id, old.red_number, old.reversed_by, old.evidence,
            old.reversed_at)
    OR new.withdrawn = old.withdrawn
    OR new.withdrawn <> EXISTS (SELECT 1 FROM withdrawal WHERE reversal = old.reversal)
BEGIN SELECT RAISE(ABORT, 'a recorded reversal stays'); END;

CREATE TRIGGER reversal_remains BEFORE DELETE ON reversal
BEGIN SELECT RAISE(ABORT, 'a recorded reversal stays'); END;

-- Evidence that was given by mistake: a settlement, what a statement showed, or a reversal. It stays, marked. What follows
-- from a withdrawal is done here, so that none is ever half done.
CREATE TABLE withdrawal (
    withdrawal   INTEGER PRIMARY KEY,
    settlement   INTEGER REFERENCES settlement,
    elsewhere    INTEGER REFERENCES elsewhere,
    reversal     INTEGER REFERENCES reversal,
    withdrawn_by TEXT NOT NULL CHECK (withdrawn_by <> ''),
    why          TEXT NOT NULL CHECK (why <> ''),
    withdrawn_at TEXT NOT NULL,
    CHECK ((settlement IS NOT NULL) + (elsewhere IS NOT NULL) + (reversal IS NOT NULL) = 1)
) STRICT;

CREATE UNIQUE INDEX settlement_withdrawn_once ON withdrawal (settlement) WHERE settlement IS NOT NULL;
CREATE UNIQUE INDEX elsewhere_withdrawn_once ON withdrawal (elsewhere) WHERE elsewhere IS NOT NULL;
CREATE UNIQUE INDEX reversal_withdrawn_once ON withdrawal (reversal) WHERE reversal IS NOT NULL;

CREATE TRIGGER withdrawal_is_written_once BEFORE INSERT ON withdrawal
WHEN EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal = new.withdrawal)
    OR (new.settlement IS NOT NULL) + (new.elsewhere IS NOT NULL) + (new.reversal IS NOT NULL) <> 1
    OR EXISTS (SELECT 1 FROM withdrawal WHERE settlement = new.settlement)
    OR EXISTS (SELECT 1 FROM withdrawal WHERE elsewhere = new.elsewhere)
    OR EXISTS (SELECT 1 FROM withdrawal WHERE reversal = new.reversal)
    OR (new.settlement IS NOT NULL AND NOT EXISTS (SELECT 1 FROM settlement WHERE settlement = new.settlement))
    OR (new.elsewhere IS NOT NULL AND NOT EXISTS (SELECT 1 FROM elsewhere WHERE elsewhere = new.elsewhere))
    OR (new.reversal IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reversal WHERE reversal = new.reversal))
    OR new.withdrawn_by = '' OR new.why = ''
BEGIN SELECT RAISE(ABORT, 'evidence that is there is withdrawn once'); END;

-- A voucher that the carrier has reversed was issued, whatever became of the evidence for it.
CREATE TRIGGER withdrawal_not_of_the_reversed BEFORE INSERT ON withdrawal
WHEN EXISTS (
    SELECT 1 FROM settlement JOIN reversal USING (attempt_id)
    WHERE settlement.settlement = new.settlement AND reversal.withdrawn = 0
)
BEGIN SELECT RAISE(ABORT, 'a voucher that was reversed had been issued'); END;

CREATE TRIGGER withdrawal_of_a_settlement AFTER INSERT ON withdrawal WHEN new.settlement IS NOT NULL
BEGIN
    UPDATE settlement SET withdrawn = 1 WHERE settlement = new.settlement;
    UPDATE attempt SET state = 'unknown', number = ''
    WHERE attempt_id = (SELECT attempt_id FROM settlement WHERE settlement = new.settlement);
END;

CREATE TRIGGER withdrawal_of_an_elsewhere AFTER INSERT ON withdrawal WHEN new.elsewhere IS NOT NULL
BEGIN UPDATE elsewhere SET withdrawn = 1, live = 0 WHERE elsewhere = new.elsewhere; END;

CREATE TRIGGER withdrawal_of_a_reversal AFTER INSERT ON withdrawal WHEN new.reversal IS NOT NULL
BEGIN
    UPDATE reversal SET withdrawn = 1 WHERE reversal = new.reversal;
    UPDATE charge SET live = 1 WHERE attempt_id = (SELECT attempt_id FROM reversal WHERE reversal = new.reversal);
    UPDATE elsewhere SET live = 1
    WHERE (number, voucher) = (SELECT number, voucher FROM reversal WHERE reversal = new.reversal)
      AND withdrawn = 0 AND live = 0;
END;

CREATE TRIGGER withdrawal_stays BEFORE UPDATE ON withdrawal
BEGIN SELECT RAISE(ABORT, 'a withdrawal stays'); END;
CREATE TRIGGER withdrawal_remains BEFORE DELETE ON withdrawal
BEGIN SELECT RAISE(ABORT, 'a withdrawal stays'); END;

-- How a row was judged, noted where that is another judgement than the last one of its charge.
CREATE TABLE judgement (
    judgement   INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
    ticket_no   TEXT NOT NULL,
    charge      TEXT NOT NULL,
    product     TEXT NOT NULL,
    voucher     TEXT NOT NULL,
    amount      INTEGER NOT NULL,
    status      TEXT NOT NULL,
    reasons     TEXT NOT NULL,          -- codes, separated by spaces
    file        TEXT NOT NULL,
    sheet       TEXT NOT NULL,
    row         INTEGER NOT NULL,
    judged_at   TEXT NOT NULL
) STRICT;

CREATE INDEX judgement_of_charge ON judgement (ticket_no, charge, product, judgement);

CREATE TRIGGER judgement_is_written_once BEFORE INSERT ON judgement
WHEN EXISTS (SELECT 1 FROM judgement WHERE judgement = new.judgement)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'a judgement stays, and is made by a run that is on'); END;

CREATE TRIGGER judgement_stays BEFORE UPDATE ON judgement
BEGIN SELECT RAISE(ABORT, 'a judgement stays, and is made by a run that is on'); END;
CREATE TRIGGER judgement_remains BEFORE DELETE ON judgement
BEGIN SELECT RAISE(ABORT, 'a judgement stays, and is made by a run that is on'); END;

-- A file that came by an inbox: told by its content, not by its name. One that was handled in an earlier epoch is taken for
-- a new one: what it had led to may be what was lost.
CREATE TABLE handled (
    handled     INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
    epoch       INTEGER NOT NULL,
    sha256      TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('tickets', 'statement', 'resolved')),
    name        TEXT NOT NULL,
    result      TEXT NOT NULL,          -- the name of the workbook that was written of it, '' where none was
    fates       TEXT NOT NULL,          -- a digest of what became of its rows
    unfinished  INTEGER NOT NULL CHECK (unfinished IN (0, 1)),  -- rows of it may come to another end
    handled_at  TEXT NOT NULL
) STRICT;

CREATE INDEX handled_content ON handled (sha256, handled);

CREATE TRIGGER handled_is_written_once BEFORE INSERT ON handled
WHEN EXISTS (SELECT 1 FROM handled WHERE handled = new.handled)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
    OR new.epoch IS NOT (SELECT max(epoch) FROM epoch)
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;

CREATE TRIGGER handled_stays BEFORE UPDATE ON handled
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;
CREATE TRIGGER handled_remains BEFORE DELETE ON handled
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;
