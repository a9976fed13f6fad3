-- Reconciling: what a statement shows beyond this ledger, how every row was judged, and which files from an
-- inbox are dealt with.

-- What exactly was asked for a charge (a digest), so that a row that was refused is known to be unchanged; '' of
-- attempts that are older than this.
DROP TRIGGER charge_stays_itself;
ALTER TABLE charge ADD COLUMN content TEXT NOT NULL DEFAULT '';
CREATE TRIGGER charge_stays_itself
BEFORE UPDATE OF attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, content ON charge
BEGIN SELECT RAISE(ABORT, 'a charge stays the one it is'); END;

-- A charge that the carrier's statement shows as issued, though no attempt of this ledger issued it. `product` is ''
-- where the statement does not say which ancillary product it was: then it may be any.
CREATE TABLE elsewhere (
    elsewhere   INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
    ticket_no   TEXT NOT NULL,
    charge      TEXT NOT NULL CHECK (charge IN ('ticket_fare', 'refund', 'ancillary')),
    product     TEXT NOT NULL,
    wire        TEXT NOT NULL,          -- as charge.wire
    voucher     TEXT NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    number      TEXT NOT NULL CHECK (number <> ''),
    amount      INTEGER,                -- NULL where the statement does not say
    buyer       TEXT NOT NULL,
    issued_at   TEXT NOT NULL,          -- as the statement has it, '' where it does not say
    evidence    TEXT NOT NULL CHECK (evidence <> ''),  -- the statement and the place in it
    found_by    TEXT NOT NULL CHECK (found_by <> ''),
    found_at    TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX elsewhere_once ON elsewhere (ticket_no, charge, product, voucher, number);

CREATE INDEX elsewhere_number ON elsewhere (number);

CREATE TRIGGER elsewhere_is_written_once BEFORE INSERT ON elsewhere
WHEN EXISTS (SELECT 1 FROM elsewhere WHERE elsewhere = new.elsewhere)
    OR EXISTS (SELECT 1 FROM elsewhere AS old WHERE old.ticket_no = new.ticket_no AND old.charge = new.charge
               AND old.product = new.product AND old.voucher = new.voucher AND old.number = new.number)
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

-- As with everything that must hold: asked of the row here, since a connection can switch CHECKs off.
CREATE TRIGGER elsewhere_can_be_followed BEFORE INSERT ON elsewhere
WHEN new.charge NOT IN ('ticket_fare', 'refund', 'ancillary') OR new.voucher NOT IN ('invoice', 'itinerary')
    OR new.number = '' OR new.evidence = '' OR new.found_by = ''
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'what a statement showed is recorded whole, by a run that is on'); END;

CREATE TRIGGER elsewhere_stays BEFORE UPDATE ON elsewhere
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

CREATE TRIGGER elsewhere_remains BEFORE DELETE ON elsewhere
BEGIN SELECT RAISE(ABORT, 'what a statement showed stays'); END;

CREATE TRIGGER elsewhere_holds BEFORE UPDATE OF state ON attempt
WHEN new.state = 'sending' AND old.state <> 'sending' AND EXISTS (
    SELECT 1 FROM charge JOIN elsewhere USING (ticket_no)
    WHERE charge.attempt_id = old.attempt_id AND (
        (elsewhere.charge = charge.charge AND elsewhere.product IN (charge.product, ''))
        OR (elsewhere.wire = charge.wire AND charge.wire <> '')
        OR (elsewhere.voucher <> charge.voucher AND elsewhere.charge IN ('ticket_fare', 'refund')
            AND charge.charge IN ('ticket_fare', 'refund'))
    )
)
BEGIN SELECT RAISE(ABORT, 'the carrier has issued a charge of it elsewhere'); END;

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

-- A file that came by an inbox: told by its content, not by its name.
CREATE TABLE handled (
    handled     INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
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
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;

CREATE TRIGGER handled_stays BEFORE UPDATE ON handled
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;

CREATE TRIGGER handled_remains BEFORE DELETE ON handled
BEGIN SELECT RAISE(ABORT, 'what was handled stays'); END;

-- A statement is compared with what was issued in its period, whatever the ledger's age.
CREATE INDEX attempt_issued_at ON attempt (ended_at) WHERE state = 'issued';
