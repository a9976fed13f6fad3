-- What is noted of runs, and what people and the carrier's statements say, beside what settles an attempt (tables.sql): the same tables,
-- names and columns as in the ledger of one machine (ledger/sql).

-- Every move of the carrier's address, with who said so and why.
CREATE TABLE voucher.carrier_move (
    move          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_base_url text NOT NULL,
    from_agency   text NOT NULL,
    to_base_url   text NOT NULL,
    to_agency     text NOT NULL,
    moved_by      text NOT NULL CHECK (moved_by <> ''),
    why           text NOT NULL CHECK (why <> ''),
    moved_at      timestamptz NOT NULL
);

-- Here one clock orders everything, the server's, so that nothing is ever written of a wrong one. What a copied file said of its
-- machine's clocks stays with what they had written: those times prove nothing.
CREATE TABLE voucher.clock_correction (
    correction   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    latest       timestamptz NOT NULL,      -- the last entry, which was later than the clock
    last_run     bigint NOT NULL REFERENCES voucher.run,
    corrected_by text NOT NULL CHECK (corrected_by <> ''),
    corrected_at timestamptz NOT NULL,
    CHECK (latest > corrected_at)
);

-- Who had a hand in a run.
CREATE TABLE voucher.run_person (
    run_person  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         bigint NOT NULL REFERENCES voucher.run,
    role        text NOT NULL CHECK (role IN ('prepared', 'proposed', 'approved', 'sent', 'reconciled', 'stopped')),
    person      text NOT NULL CHECK (person <> ''),
    plan        text NOT NULL,          -- the digest of the plan that was approved, '' in any other role
    noted_at    timestamptz NOT NULL    -- when the plan was approved, of those who had a hand in that; else when it was recorded
);
CREATE INDEX run_person_of_run ON voucher.run_person (run);

-- How a row was judged, noted where that is another judgement than the last one of its charge.
CREATE TABLE voucher.judgement (
    judgement   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         bigint NOT NULL REFERENCES voucher.run,
    ticket_no   text NOT NULL,
    charge      text NOT NULL,
    product     text NOT NULL,
    voucher     text NOT NULL,
    amount      bigint NOT NULL,
    status      text NOT NULL,
    reasons     text NOT NULL,          -- codes, separated by spaces
    file        text NOT NULL,
    sheet       text NOT NULL,
    row         integer NOT NULL,
    judged_at   timestamptz NOT NULL
);
CREATE INDEX judgement_of_charge ON voucher.judgement (ticket_no, charge, product, judgement);

-- A voucher that the carrier has reversed, by number: of an attempt, of what statements show (elsewhere), or of both. Its charges are
-- held no more, and its number is never another attempt's.
CREATE TABLE voucher.reversal (
    reversal    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         bigint REFERENCES voucher.run,      -- NULL: said by hand, outside any run
    voucher     text NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    number      text NOT NULL CHECK (number <> ''),
    attempt_id  bigint REFERENCES voucher.attempt,  -- the one that issued it; NULL: statements alone show it
    red_number  text NOT NULL CHECK (red_number <> number),     -- of the red voucher, '' where it is not known
    reversed_by text NOT NULL CHECK (reversed_by <> ''),
    evidence    text NOT NULL CHECK (evidence <> ''),
    reversed_at timestamptz NOT NULL,   -- when it was recorded
    withdrawn   boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX reversal_stands_once ON voucher.reversal (number, voucher) WHERE NOT withdrawn;
CREATE INDEX reversal_of_attempt ON voucher.reversal (attempt_id);
CREATE INDEX reversal_red_number ON voucher.reversal (red_number) WHERE NOT withdrawn;

-- Evidence that was given by mistake: a settlement, what a statement showed, or a reversal. It stays, marked.
CREATE TABLE voucher.withdrawal (
    withdrawal   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    settlement   bigint UNIQUE REFERENCES voucher.settlement,
    elsewhere    bigint UNIQUE REFERENCES voucher.elsewhere,
    reversal     bigint UNIQUE REFERENCES voucher.reversal,
    withdrawn_by text NOT NULL CHECK (withdrawn_by <> ''),
    why          text NOT NULL CHECK (why <> ''),
    withdrawn_at timestamptz NOT NULL,
    CHECK (num_nonnulls(settlement, elsewhere, reversal) = 1)
);

-- A file that came by an inbox: told by its content, not by its name. One that was handled in an earlier epoch is taken for a new one:
-- what it had led to may be what was lost.
CREATE TABLE voucher.handled (
    handled     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         bigint NOT NULL REFERENCES voucher.run,
    epoch       bigint NOT NULL REFERENCES voucher.epoch,
    sha256      text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('tickets', 'statement', 'resolved')),
    name        text NOT NULL,
    result      text NOT NULL,          -- the name of the workbook that was written of it, '' where none was
    fates       text NOT NULL,          -- a digest of what became of its rows
    unfinished  boolean NOT NULL,       -- rows of it may come to another end
    handled_at  timestamptz NOT NULL
);
CREATE INDEX handled_content ON voucher.handled (sha256, handled);

-- Itinerary files that came by mail, told by their content: what each came to.
CREATE TABLE voucher.received_file (
    received_file bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         bigint NOT NULL REFERENCES voucher.run,
    sha256      text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    status      text NOT NULL CHECK (status IN ('received', 'differs', 'altered', 'duplicate', 'red', 'foreign', 'unknown_ticket',
                                                'unclear', 'not_an_itinerary', 'unreadable', 'link_only')),
    attempt_id  bigint REFERENCES voucher.attempt,  -- the one that it is about; NULL: of none of this ledger
    number      text NOT NULL,          -- as the file has it, '' where it has none
    ticket_no   text NOT NULL,          -- likewise; of a conjunction set the first
    total       bigint,                 -- NULL where the file does not say
    seal        text NOT NULL CHECK (seal IN ('valid', 'intact', 'none', 'partial', 'broken', 'unsupported')),
    place       text NOT NULL,          -- its name, after those of what it lay in
    archived    text NOT NULL,          -- its path in the archive, '' where it is not kept there
    reasons     text NOT NULL,          -- why it has this status: a message, '' for none
    received_at timestamptz NOT NULL,
    CHECK (status <> 'received' OR (number <> '' AND seal <> 'broken'))
);
CREATE INDEX received_file_content ON voucher.received_file (sha256, received_file);
CREATE INDEX received_file_number ON voucher.received_file (number) WHERE status = 'received';
CREATE INDEX received_file_of_attempt ON voucher.received_file (attempt_id);
CREATE INDEX received_file_of_ticket ON voucher.received_file (ticket_no);

-- A statement is compared with what was issued in its period, whatever the ledger's age.
CREATE INDEX attempt_issued_at ON voucher.attempt (ended_at) WHERE state = 'issued';
