-- A ledger that several machines share. What the database itself sees to:
--
--   planned -> sending -> issued | rejected | not_sent | unknown
--   unknown -> issued | not_sent | rejected, only beside a settlement of that very attempt
--   issued | not_sent | rejected -> unknown, only where the settlement that said so is withdrawn
--
-- and a charge is in one live attempt (sending, issued, unknown) at most. Rules about one row are CHECKs and triggers; rules about
-- other rows are unique indexes, which two transactions at once can't both get past, or the gate (functions.sql): a trigger that
-- looks for another row doesn't see what is not committed yet.
--
-- Times are the server's own (clock_timestamp), so that one clock orders everything. Amounts are whole minor units. Workers and
-- issuers may call functions and nothing else (roles.sql).

CREATE SCHEMA voucher;

-- The ledger itself: whose it is, and the bounds of the fence.
CREATE TABLE voucher.ledger (
    only_row     integer PRIMARY KEY CHECK (only_row = 1),
    version      integer NOT NULL,
    ledger_id    text NOT NULL,
    base_url     text NOT NULL,
    agency       text NOT NULL,
    created_at   timestamptz NOT NULL,
    send_within  interval NOT NULL CHECK (send_within > interval '0'),  -- from a claim until the request is written, or it is not sent
    lease        interval NOT NULL,     -- a worker that is silent for longer has lost what it was sending
    settle_after interval NOT NULL,     -- so much older than an attempt's sending must silence be to prove anything
    CHECK (send_within < lease AND lease < settle_after)
);

-- A life of the server, from one start to the next, with these very tables. Claims are shut at its beginning: what is in them
-- may be an older copy.
CREATE TABLE voucher.server_life (
    life        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,               -- life_now()
    seen_at     timestamptz NOT NULL,               -- when somebody noticed
    opened_at   timestamptz                         -- when claims were opened
);

CREATE TABLE voucher.gap (
    gap         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    since       timestamptz NOT NULL,
    why         text NOT NULL CHECK (why <> ''),
    found_at    timestamptz NOT NULL,
    closed_at   timestamptz,
    closed_by   text CHECK (closed_by <> ''),
    evidence    text CHECK (evidence <> ''),
    CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (evidence IS NULL))
);
CREATE INDEX gap_open ON voucher.gap (gap) WHERE closed_at IS NULL;

-- As in the ledger of one machine (ledger/sql/version-1.sql): an attempt is named by its epoch, request and number.
CREATE TABLE voucher.epoch (
    epoch       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    epoch_id    text NOT NULL UNIQUE CHECK (epoch_id <> ''),
    why         text NOT NULL CHECK (why <> ''),
    begun_at    timestamptz NOT NULL
);

-- Whoever sends. Its ID is its own making, so that a restored copy never gives it to another.
CREATE TABLE voucher.worker (
    worker       uuid PRIMARY KEY,
    machine      text NOT NULL,
    process      integer NOT NULL,
    life         bigint NOT NULL REFERENCES voucher.server_life,    -- in which it joined
    vouched_life bigint NOT NULL REFERENCES voucher.server_life,    -- the last in which it found what it was told
    turn         bigint NOT NULL DEFAULT 0,     -- its last one that was committed
    joined_at    timestamptz NOT NULL,
    heard_at     timestamptz NOT NULL,
    silent_at    timestamptz,           -- it was silent for a lease: it claims nothing more
    left_at      timestamptz,           -- it has ended in good order
    dead_at      timestamptz,           -- somebody has seen it dead
    dead_by      text CHECK (dead_by <> ''),
    dead_how     text CHECK (dead_how <> ''),
    CHECK ((dead_at IS NULL) = (dead_by IS NULL) AND (dead_at IS NULL) = (dead_how IS NULL))
);

-- `issuer` is the worker that plans the run and waits for its end: nothing of it is claimed when that one is gone, so that a stale plan is
-- never sent. `rate` and `concurrency` are what all workers together may do; failures in a row are theirs together, too.
CREATE TABLE voucher.run (
    run         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    command     text NOT NULL,
    version     text NOT NULL,          -- of the program
    as_of       text NOT NULL,
    files       jsonb NOT NULL,         -- a list of names
    started_at  timestamptz NOT NULL,
    stopped     text NOT NULL DEFAULT '',   -- why nothing of it is claimed any more
    ended_at    timestamptz,
    exit_code   integer,
    issuer      uuid REFERENCES voucher.worker,     -- NULL: it sends nothing
    rate        float8 NOT NULL DEFAULT 0 CHECK (rate >= 0),    -- requests a second; 0: no limit
    concurrency integer NOT NULL DEFAULT 0 CHECK (concurrency >= 0),    -- requests in flight; 0: no limit
    unknown_in_a_row  integer NOT NULL DEFAULT 0,
    not_sent_in_a_row integer NOT NULL DEFAULT 0
);
CREATE INDEX run_open ON voucher.run (run) WHERE ended_at IS NULL;

-- How many requests of a run a worker may have in flight: those of a run are never more than its concurrency, those of all runs that are on
-- never more than the greatest of theirs.
CREATE TABLE voucher.allotment (
    run         bigint NOT NULL REFERENCES voucher.run,
    worker      uuid NOT NULL REFERENCES voucher.worker,
    wanted      integer NOT NULL CHECK (wanted > 0),
    slots       integer NOT NULL CHECK (slots >= 0),
    PRIMARY KEY (run, worker)
);

-- When the next request may leave, by the rate: one row for the carrier, whichever run asks.
CREATE TABLE voucher.pace (
    only_row    integer PRIMARY KEY CHECK (only_row = 1),
    next_at     timestamptz NOT NULL
);
INSERT INTO voucher.pace VALUES (1, 'epoch');

CREATE TABLE voucher.request (
    request_id  text PRIMARY KEY,
    voucher     text NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    market      text NOT NULL,
    amount      bigint NOT NULL,
    header_type text NOT NULL,
    header_name text NOT NULL,
    tax_no      text NOT NULL,
    phone       text NOT NULL,
    email       text NOT NULL,
    remarks     text NOT NULL
);

CREATE TABLE voucher.attempt (
    attempt_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id  text NOT NULL REFERENCES voucher.request,
    attempt     integer NOT NULL CHECK (attempt > 0),
    run         bigint NOT NULL REFERENCES voucher.run,
    epoch       bigint NOT NULL REFERENCES voucher.epoch,
    state       text NOT NULL CHECK (state IN ('planned', 'sending', 'issued', 'rejected', 'not_sent', 'unknown')),
    doubted     boolean NOT NULL DEFAULT false,     -- a charge of it was ever unknown, so that a no to it may mean that it is issued already
    tries       integer NOT NULL DEFAULT 1,     -- which attempt of its run at the request it is
    due_at      timestamptz,                -- it is not claimed before; NULL: at once
    barred      text NOT NULL DEFAULT '',   -- why it can't be claimed: what it asks for is held by another
    worker      uuid REFERENCES voucher.worker,
    reason      text NOT NULL DEFAULT '',
    number      text NOT NULL DEFAULT '',
    trace_id    text NOT NULL DEFAULT '',
    detail      text NOT NULL DEFAULT '',
    was_unknown boolean NOT NULL DEFAULT false,
    planned_at  timestamptz NOT NULL,
    sending_at  timestamptz,
    answered_at timestamptz,
    ended_at    timestamptz,
    http_status integer,                -- the raw answer, as it came
    answer      bytea,
    retry_after text,
    body        bytea,                  -- what is sent, sealed; gone when its outcome is known
    UNIQUE (request_id, attempt),
    CHECK ((state = 'issued') = (number <> '')),
    CHECK ((state = 'planned') = (sending_at IS NULL)),
    CHECK ((state = 'planned') = (worker IS NULL)),
    CHECK (state IN ('planned', 'sending') = (ended_at IS NULL)),
    CHECK (state IN ('planned', 'sending') = (body IS NOT NULL)),
    CHECK (state <> 'unknown' OR was_unknown)
);
CREATE UNIQUE INDEX number_once ON voucher.attempt (number) WHERE state = 'issued';
CREATE INDEX attempt_planned ON voucher.attempt (run, attempt_id) WHERE state = 'planned';
CREATE INDEX attempt_sending ON voucher.attempt (worker) WHERE state = 'sending';
CREATE INDEX attempt_unknown ON voucher.attempt (attempt_id) WHERE state = 'unknown';
CREATE INDEX attempt_run ON voucher.attempt (run);
CREATE INDEX attempt_unread ON voucher.attempt (attempt_id) WHERE reason = 'run_killed' AND answer IS NOT NULL;

CREATE TABLE voucher.charge (
    attempt_id  bigint NOT NULL REFERENCES voucher.attempt ON DELETE CASCADE,
    ticket_no   text NOT NULL,
    charge      text NOT NULL CHECK (charge IN ('ticket_fare', 'refund', 'ancillary')),
    product     text NOT NULL,
    wire        text NOT NULL,
    voucher     text NOT NULL CHECK (voucher = 'invoice' OR (voucher = 'itinerary' AND charge = 'ticket_fare')),
    amount      bigint NOT NULL,
    file        text NOT NULL,
    sheet       text NOT NULL,
    row         integer NOT NULL,
    content     text NOT NULL,
    passenger_name text NOT NULL DEFAULT '',
    components  text NOT NULL DEFAULT '{}',
    carried     text NOT NULL DEFAULT '{}',
    live        boolean NOT NULL DEFAULT false,
    PRIMARY KEY (attempt_id, ticket_no, charge, product)
);
CREATE UNIQUE INDEX charge_live_once ON voucher.charge (ticket_no, charge, product) WHERE live;
CREATE UNIQUE INDEX charge_live_once_on_the_wire ON voucher.charge (ticket_no, wire) WHERE live AND wire <> '';
-- A refund goes as an invoice alone (the CHECK above), so that a ticket has both kinds where it has a refund and its fare as itinerary.
CREATE UNIQUE INDEX one_voucher_kind ON voucher.charge (ticket_no)
WHERE live AND (charge = 'refund' OR (charge = 'ticket_fare' AND voucher = 'itinerary'));
CREATE INDEX charge_ticket ON voucher.charge (ticket_no);

-- What settles an unknown attempt: a statement, a person, or the late word of the worker that sent it. An attempt whose settlement is
-- withdrawn may have another.
CREATE TABLE voucher.settlement (
    settlement  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    attempt_id  bigint NOT NULL REFERENCES voucher.attempt,
    state       text NOT NULL CHECK (state IN ('issued', 'not_sent', 'rejected')),
    number      text NOT NULL,
    settled_by  text NOT NULL CHECK (settled_by <> ''),
    evidence    text NOT NULL CHECK (evidence <> ''),
    answered    text NOT NULL DEFAULT '',
    as_of       timestamptz NOT NULL,   -- the moment that the evidence is about
    settled_at  timestamptz NOT NULL,
    withdrawn   boolean NOT NULL DEFAULT false,
    CHECK ((state = 'issued') = (number <> ''))
);
CREATE UNIQUE INDEX settlement_stands_once ON voucher.settlement (attempt_id) WHERE NOT withdrawn;
CREATE INDEX settlement_of_attempt ON voucher.settlement (attempt_id);

-- What a worker said of an attempt after it had lost it: kept whatever becomes of it. `taken`: it settled the attempt, or says what it is.
CREATE TABLE voucher.late_word (
    late_word   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    attempt_id  bigint NOT NULL REFERENCES voucher.attempt,
    worker      uuid NOT NULL REFERENCES voucher.worker,
    state       text NOT NULL,
    reason      text NOT NULL,
    number      text NOT NULL,
    trace_id    text NOT NULL,
    detail      text NOT NULL,
    taken       boolean NOT NULL,
    said_at     timestamptz NOT NULL,
    UNIQUE (attempt_id, state, number)
);

CREATE TABLE voucher.elsewhere (
    elsewhere   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run         bigint NOT NULL REFERENCES voucher.run,
    ticket_no   text NOT NULL,
    charge      text NOT NULL CHECK (charge IN ('ticket_fare', 'refund', 'ancillary')),
    product     text NOT NULL,
    wire        text NOT NULL,
    voucher     text NOT NULL CHECK (voucher IN ('invoice', 'itinerary')),
    number      text NOT NULL CHECK (number <> ''),
    amount      bigint,
    buyer       text NOT NULL,
    issued_at   text NOT NULL,
    evidence    text NOT NULL CHECK (evidence <> ''),
    found_by    text NOT NULL CHECK (found_by <> ''),
    found_at    timestamptz NOT NULL,
    live        boolean NOT NULL DEFAULT true,      -- it holds its charge, as charge.live
    withdrawn   boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX elsewhere_once ON voucher.elsewhere (ticket_no, charge, product, voucher, number) WHERE NOT withdrawn;
CREATE INDEX elsewhere_ticket ON voucher.elsewhere (ticket_no);     -- every claim looks there
CREATE INDEX elsewhere_number ON voucher.elsewhere (number);
