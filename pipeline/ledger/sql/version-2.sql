-- A ledger's life: the carrier's address moves, a backup is restored, the years go by.

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
