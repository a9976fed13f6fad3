-- A ledger's life: the carrier's address moves, a backup is restored, the years go by. And what the first
-- version left to the good will of whoever writes to the file, the database now refuses itself.

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

-- What is asked at every start is found without reading the years before. (SQLite uses a partial index
-- only where the condition is one of its own terms, so not for IN: sqlite.org/partialindex.html, 3.)
-- One number, one voucher: an answer that brings a number again belongs to another request.
CREATE UNIQUE INDEX number_once ON attempt (number) WHERE state = 'issued';
DROP INDEX attempt_open;
CREATE INDEX attempt_open ON attempt (state) WHERE state = 'planned' OR state = 'sending' OR state = 'unknown';
CREATE INDEX run_open ON run (run) WHERE ended_at IS NULL;
CREATE INDEX gap_open ON gap (gap) WHERE closed_at IS NULL;

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

CREATE TRIGGER carrier_move_stays BEFORE UPDATE ON carrier_move
BEGIN SELECT RAISE(ABORT, 'a recorded move stays'); END;

CREATE TRIGGER carrier_move_remains BEFORE DELETE ON carrier_move
BEGIN SELECT RAISE(ABORT, 'a recorded move stays'); END;

CREATE TRIGGER gap_is_closed_once BEFORE UPDATE ON gap
WHEN old.closed_at IS NOT NULL OR new.closed_at IS NULL OR new.gap <> old.gap OR new.since <> old.since
    OR new.why <> old.why OR new.found_at <> old.found_at
BEGIN SELECT RAISE(ABORT, 'a gap is closed once, by evidence'); END;

CREATE TRIGGER gap_remains BEFORE DELETE ON gap
BEGIN SELECT RAISE(ABORT, 'a gap is closed once, by evidence'); END;

CREATE TRIGGER gap_holds BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND EXISTS (SELECT 1 FROM gap WHERE closed_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'nothing is sent while the ledger has a gap'); END;

-- OR REPLACE deletes rows without asking the triggers on deletion (unless the connection has recursive_triggers
-- on), and hands its REPLACE or IGNORE on to the statements inside triggers; foreign keys and CHECKs can be
-- switched off by a connection; `SET rowid = ` goes past UPDATE OF attempt_id. So whatever must hold is asked
-- of the rows here, before any index is, and for every column by name.

-- Written once: nothing is written over by REPLACE or an upsert.
CREATE TRIGGER ledger_is_written_once BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger)
BEGIN SELECT RAISE(ABORT, 'a ledger belongs to its carrier'); END;

CREATE TRIGGER run_is_written_once BEFORE INSERT ON run
WHEN EXISTS (SELECT 1 FROM run WHERE run = new.run) OR new.ended_at IS NOT NULL OR new.exit_code IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a run begins once'); END;

CREATE TRIGGER run_ends_once BEFORE UPDATE ON run
WHEN old.ended_at IS NOT NULL OR new.ended_at IS NULL OR new.run <> old.run OR new.command <> old.command
    OR new.version <> old.version OR new.as_of <> old.as_of OR new.files <> old.files OR new.started_at <> old.started_at
BEGIN SELECT RAISE(ABORT, 'a run ends once, and stays what it was'); END;

CREATE TRIGGER run_remains BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'a run ends once, and stays what it was'); END;

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

CREATE TRIGGER attempt_is_written_once BEFORE INSERT ON attempt
WHEN EXISTS (SELECT 1 FROM attempt WHERE attempt_id = new.attempt_id)
    OR EXISTS (SELECT 1 FROM attempt WHERE request_id = new.request_id AND attempt = new.attempt)
BEGIN SELECT RAISE(ABORT, 'an attempt stays the one it is'); END;

CREATE TRIGGER charge_is_written_once BEFORE INSERT ON charge
WHEN EXISTS (
    SELECT 1 FROM charge AS old
    WHERE old.attempt_id = new.attempt_id AND old.ticket_no = new.ticket_no AND old.charge = new.charge
      AND old.product = new.product
)
BEGIN SELECT RAISE(ABORT, 'a charge stays the one it is'); END;

CREATE TRIGGER settlement_is_given_once BEFORE INSERT ON settlement
WHEN EXISTS (SELECT 1 FROM settlement WHERE attempt_id = new.attempt_id)
BEGIN SELECT RAISE(ABORT, 'evidence stays as it was given'); END;

CREATE TRIGGER carrier_move_is_written_once BEFORE INSERT ON carrier_move
WHEN EXISTS (SELECT 1 FROM carrier_move WHERE move = new.move)
BEGIN SELECT RAISE(ABORT, 'a recorded move stays'); END;

CREATE TRIGGER gap_is_written_once BEFORE INSERT ON gap
WHEN EXISTS (SELECT 1 FROM gap WHERE gap = new.gap) OR new.closed_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a gap is closed once, by evidence'); END;

-- An attempt: begins blank, in a run that is on, at a request that is there.
CREATE TRIGGER attempt_begins_blank BEFORE INSERT ON attempt
WHEN new.reason <> '' OR new.number <> '' OR new.trace_id <> '' OR new.detail <> '' OR new.was_unknown <> 0
    OR coalesce(new.sending_at, new.answered_at, new.ended_at, new.http_status, new.answer, new.retry_after) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an attempt begins as planned'); END;

CREATE TRIGGER attempt_is_of_a_run_that_is_on BEFORE INSERT ON attempt
WHEN NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
    OR NOT EXISTS (SELECT 1 FROM request WHERE request_id = new.request_id)
BEGIN SELECT RAISE(ABORT, 'an attempt is made by a run that is on, at a request that is there'); END;

CREATE TRIGGER charge_is_of_its_request BEFORE INSERT ON charge
WHEN new.voucher IS NOT (SELECT voucher FROM attempt JOIN request USING (request_id) WHERE attempt_id = new.attempt_id)
BEGIN SELECT RAISE(ABORT, 'a charge goes as the voucher of its request'); END;

-- Sent whole: with all the charges that were asked for (one of them missing would be held by nothing), by a run that is on.
CREATE TRIGGER attempt_is_sent_whole BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND (
    (SELECT sum(amount) FROM charge WHERE attempt_id = old.attempt_id)
        IS NOT (SELECT amount FROM request WHERE request_id = old.request_id)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = old.run AND ended_at IS NULL)
)
BEGIN SELECT RAISE(ABORT, 'an attempt is sent whole, by a run that is on'); END;

-- Column by column: what may change, and when.
CREATE TRIGGER attempt_stays_itself BEFORE UPDATE ON attempt
WHEN new.attempt_id <> old.attempt_id OR new.request_id <> old.request_id OR new.attempt <> old.attempt
    OR new.run <> old.run OR new.planned_at <> old.planned_at
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
WHEN (new.state = 'issued') <> (new.number <> '') OR (new.state = 'issued' AND EXISTS (
    SELECT 1 FROM attempt AS other
    WHERE other.state = 'issued' AND other.number = new.number AND other.attempt_id <> old.attempt_id
))
BEGIN SELECT RAISE(ABORT, 'what is issued has a number of its own, and nothing else has one'); END;

CREATE TRIGGER attempt_doubt_stays BEFORE UPDATE ON attempt
WHEN new.was_unknown <> old.was_unknown AND NOT (new.was_unknown = 1 AND new.state = 'unknown')
BEGIN SELECT RAISE(ABORT, 'a doubt is remembered'); END;

-- Before the index, because OR IGNORE would leave the charge unheld, OR REPLACE delete the one that is held.
CREATE TRIGGER charge_lives_once BEFORE UPDATE OF live ON charge
WHEN new.live = 1 AND old.live = 0 AND EXISTS (
    SELECT 1 FROM charge AS other
    WHERE other.ticket_no = new.ticket_no AND other.live = 1
      AND ((other.charge = new.charge AND other.product = new.product) OR (other.wire = new.wire AND new.wire <> ''))
)
BEGIN SELECT RAISE(ABORT, 'the charge is in a live attempt already'); END;

-- Charges go when their planned attempt goes, and not one by one; with or without foreign keys.
CREATE TRIGGER attempt_takes_its_charges AFTER DELETE ON attempt
BEGIN DELETE FROM charge WHERE attempt_id = old.attempt_id; END;

CREATE TRIGGER charge_goes_with_its_attempt BEFORE DELETE ON charge
WHEN EXISTS (SELECT 1 FROM attempt WHERE attempt_id = old.attempt_id)
BEGIN SELECT RAISE(ABORT, 'a charge goes when its attempt goes'); END;

-- Evidence that could not be followed would stand in the way of the one that can.
CREATE TRIGGER settlement_can_be_followed BEFORE INSERT ON settlement
WHEN (new.state = 'issued') <> (new.number <> '') OR new.settled_by = '' OR new.evidence = ''
    OR new.state NOT IN ('issued', 'not_sent')
    OR (new.state = 'issued' AND EXISTS (SELECT 1 FROM attempt WHERE state = 'issued' AND number = new.number))
BEGIN SELECT RAISE(ABORT, 'a settlement names its number, which no other attempt has'); END;
