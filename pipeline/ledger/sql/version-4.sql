-- What a ledger learns of itself: that it was restored, that a clock was wrong, that evidence was given by mistake, that
-- the carrier has reversed a voucher. Words are added; what was recorded before stays as it was.

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

INSERT INTO epoch SELECT 1, ledger_id, 'the ledger was begun', created_at FROM ledger;

-- Before there were epochs: what a history that was lost gave out is not told from what this one did.
INSERT INTO epoch SELECT 2, lower(hex(randomblob(16))), 'the ledger had a gap before it had epochs', max(closed_at)
FROM gap HAVING count(*) > 0 AND count(*) = count(closed_at);

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

-- A settlement has a number of its own from now on: an attempt whose settlement is withdrawn may have another.
DROP TRIGGER attempt_state;
DROP TRIGGER settlement_of_the_unknown;
DROP TRIGGER settlement_stays;
DROP TRIGGER settlement_remains;
DROP TRIGGER settlement_is_given_once;
DROP TRIGGER settlement_can_be_followed;
ALTER TABLE settlement RENAME TO settlement_before;
CREATE TABLE settlement (
    settlement  INTEGER PRIMARY KEY,
    attempt_id  INTEGER NOT NULL REFERENCES attempt,
    state       TEXT NOT NULL CHECK (state IN ('issued', 'not_sent')),
    number      TEXT NOT NULL,
    settled_by  TEXT NOT NULL CHECK (settled_by <> ''),
    evidence    TEXT NOT NULL CHECK (evidence <> ''),   -- ends with ': ' and what was answered, if anybody did
    settled_at  TEXT NOT NULL,
    withdrawn   INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    answered    TEXT NOT NULL DEFAULT '',       -- the evidence as a person typed it; '': a statement alone said it
    CHECK (state <> 'issued' OR number <> '')
) STRICT;
INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at)
SELECT attempt_id, state, number, settled_by, evidence, settled_at FROM settlement_before ORDER BY settled_at, attempt_id;
DROP TABLE settlement_before;

CREATE UNIQUE INDEX settlement_stands_once ON settlement (attempt_id) WHERE withdrawn = 0;
CREATE INDEX settlement_of_attempt ON settlement (attempt_id);

-- Evidence that was given by mistake: a settlement, what a statement showed, or a reversal. It stays, marked.
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
        OR (old.settled_by = new.settled_by
            AND substr(old.evidence, -length(new.answered) - 2) = ': ' || new.answered)
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

-- An attempt: of the epoch in which it is planned, and sent in that one alone.
ALTER TABLE attempt ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;

DROP TRIGGER attempt_is_of_a_run_that_is_on;
CREATE TRIGGER attempt_is_of_a_run_that_is_on BEFORE INSERT ON attempt
WHEN NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
    OR NOT EXISTS (SELECT 1 FROM request WHERE request_id = new.request_id)
    OR new.epoch IS NOT (SELECT max(epoch) FROM epoch)
BEGIN SELECT RAISE(ABORT, 'an attempt is made by a run that is on, at a request that is there, in this epoch'); END;

DROP TRIGGER attempt_is_sent_whole;
CREATE TRIGGER attempt_is_sent_whole BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND (
    (SELECT sum(amount) FROM charge WHERE attempt_id = old.attempt_id)
        IS NOT (SELECT amount FROM request WHERE request_id = old.request_id)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = old.run AND ended_at IS NULL)
    OR old.epoch IS NOT (SELECT max(epoch) FROM epoch)
)
BEGIN SELECT RAISE(ABORT, 'an attempt is sent whole, by a run that is on, in its epoch'); END;

DROP TRIGGER attempt_identity;
DROP TRIGGER attempt_stays_itself;
CREATE TRIGGER attempt_stays_itself BEFORE UPDATE ON attempt
WHEN new.attempt_id <> old.attempt_id OR new.request_id <> old.request_id OR new.attempt <> old.attempt
    OR new.run <> old.run OR new.planned_at <> old.planned_at OR new.epoch <> old.epoch
    OR new.sending_at IS NULL
    OR (new.sending_at IS NOT old.sending_at AND NOT (old.state = 'planned' AND new.state = 'sending'))
BEGIN SELECT RAISE(ABORT, 'an attempt stays the one it is'); END;

-- issued | not_sent -> unknown, only by withdrawing the settlement that said so.
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

DROP TRIGGER attempt_ended;
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

DROP TRIGGER attempt_number;
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

-- Charges are written to only where their being held changes.
DROP TRIGGER attempt_lives;
CREATE TRIGGER attempt_lives AFTER UPDATE OF state ON attempt
WHEN (old.state IN ('sending', 'issued', 'unknown')) <> (new.state IN ('sending', 'issued', 'unknown'))
BEGIN UPDATE charge SET live = (new.state IN ('sending', 'issued', 'unknown')) WHERE attempt_id = new.attempt_id; END;

CREATE TRIGGER attempt_doubt AFTER UPDATE OF state ON attempt WHEN new.state = 'unknown'
BEGIN UPDATE attempt SET was_unknown = 1 WHERE attempt_id = new.attempt_id; END;

DROP TRIGGER charge_lives_with_its_attempt;
CREATE TRIGGER charge_lives_with_its_attempt BEFORE UPDATE OF live ON charge
WHEN new.live IS NOT (
    SELECT state IN ('sending', 'unknown') OR (state = 'issued' AND NOT EXISTS (
        SELECT 1 FROM reversal WHERE reversal.attempt_id = old.attempt_id AND withdrawn = 0
    ))
    FROM attempt WHERE attempt_id = old.attempt_id
)
BEGIN SELECT RAISE(ABORT, 'a charge lives as its attempt does'); END;

-- What a statement showed: `live` while it holds its charge, as charge.live.
ALTER TABLE elsewhere ADD COLUMN live INTEGER NOT NULL DEFAULT 1 CHECK (live IN (0, 1));
ALTER TABLE elsewhere ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1));

DROP INDEX elsewhere_once;
CREATE UNIQUE INDEX elsewhere_once ON elsewhere (ticket_no, charge, product, voucher, number) WHERE withdrawn = 0;

DROP TRIGGER elsewhere_is_written_once;
CREATE TRIGGER elsewhere_is_written_once BEFORE INSERT ON elsewhere
WHEN EXISTS (SELECT 1 FROM elsewhere WHERE elsewhere = new.elsewhere)
    OR EXISTS (SELECT 1 FROM elsewhere AS old WHERE old.ticket_no = new.ticket_no AND old.charge = new.charge
               AND old.product = new.product AND old.voucher = new.voucher AND old.number = new.number AND old.withdrawn = 0)
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

DROP TRIGGER elsewhere_can_be_followed;
CREATE TRIGGER elsewhere_can_be_followed BEFORE INSERT ON elsewhere
WHEN new.charge NOT IN ('ticket_fare', 'refund', 'ancillary') OR new.voucher NOT IN ('invoice', 'itinerary')
    OR new.number = '' OR new.evidence = '' OR new.found_by = '' OR new.withdrawn <> 0
    OR new.live = EXISTS (
        SELECT 1 FROM reversal WHERE number = new.number AND voucher = new.voucher AND reversal.withdrawn = 0
        AND (attempt_id IS NULL OR new.ticket_no IN (SELECT ticket_no FROM charge WHERE attempt_id = reversal.attempt_id))
    )
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'what a statement showed is recorded whole, by a run that is on'); END;

DROP TRIGGER elsewhere_stays;
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

DROP TRIGGER elsewhere_holds;
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

-- Reversals.
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

-- Withdrawals: what follows from one is done here, so that none is ever half done.
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

-- A file that was handled in an earlier epoch is taken for a new one: what it had led to may be what was lost.
ALTER TABLE handled ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;

DROP TRIGGER handled_is_written_once;
CREATE TRIGGER handled_is_written_once BEFORE INSERT ON handled
WHEN EXISTS (SELECT 1 FROM handled WHERE handled = new.handled)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
    OR new.epoch IS NOT (SELECT max(epoch) FROM epoch)
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;
