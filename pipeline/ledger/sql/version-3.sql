-- Itinerary files that came by mail, told by their content: what each came to. What must hold is asked in triggers, as in version-1.sql.
CREATE TABLE received_file (
    received_file INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
    sha256      TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('received', 'differs', 'altered', 'duplicate', 'red', 'foreign', 'unknown_ticket',
                                                'unclear', 'not_an_itinerary', 'unreadable', 'link_only')),
    attempt_id  INTEGER REFERENCES attempt,     -- the one that it is about; NULL: of none of this ledger
    number      TEXT NOT NULL,          -- as the file has it, '' where it has none
    ticket_no   TEXT NOT NULL,          -- likewise; of a conjunction set the first
    total       INTEGER,                -- NULL where the file does not say
    seal        TEXT NOT NULL CHECK (seal IN ('valid', 'intact', 'none', 'partial', 'broken', 'unsupported')),
    place       TEXT NOT NULL,          -- its name, after those of what it lay in
    archived    TEXT NOT NULL,          -- its path in the archive, '' where it is not kept there
    reasons     TEXT NOT NULL,          -- why it has this status: a message, '' for none
    received_at TEXT NOT NULL
) STRICT;

CREATE INDEX received_file_content ON received_file (sha256, received_file);
CREATE INDEX received_file_number ON received_file (number) WHERE status = 'received';
CREATE INDEX received_file_of_attempt ON received_file (attempt_id);
CREATE INDEX received_file_of_ticket ON received_file (ticket_no);

CREATE TRIGGER received_file_is_written_once BEFORE INSERT ON received_file
WHEN EXISTS (SELECT 1 FROM received_file WHERE received_file = new.received_file)
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
    OR length(new.sha256) <> 64 OR new.sha256 GLOB '*[^0-9a-f]*'
    OR new.status NOT IN ('received', 'differs', 'altered', 'duplicate', 'red', 'foreign', 'unknown_ticket', 'unclear',
                          'not_an_itinerary', 'unreadable', 'link_only')
    OR new.seal NOT IN ('valid', 'intact', 'none', 'partial', 'broken', 'unsupported')
    OR (new.attempt_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt_id = new.attempt_id))
BEGIN SELECT RAISE(ABORT, 'what a file came to stays, and is noted whole, by a run that is on'); END;

-- A content comes once; it is noted again where it comes to something else, as when an outcome is known meanwhile.
CREATE TRIGGER received_file_comes_to_something_else BEFORE INSERT ON received_file
WHEN EXISTS (
    SELECT 1 FROM received_file AS old
    WHERE old.received_file = (SELECT max(received_file) FROM received_file WHERE sha256 = new.sha256)
      AND (old.status, old.attempt_id) IS (new.status, new.attempt_id)
)
BEGIN SELECT RAISE(ABORT, 'that content is noted already'); END;

-- Received is the file of an itinerary that is issued, under its number, and only one of each number.
CREATE TRIGGER received_file_of_what_is_issued BEFORE INSERT ON received_file
WHEN new.status = 'received' AND (
    new.number = '' OR new.seal = 'broken'
    OR EXISTS (SELECT 1 FROM received_file WHERE status = 'received' AND number = new.number AND sha256 <> new.sha256)
    OR (new.attempt_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM elsewhere WHERE number = new.number AND voucher = 'itinerary' AND withdrawn = 0
    ))
    OR (new.attempt_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM attempt JOIN request USING (request_id)
        WHERE attempt_id = new.attempt_id AND attempt.state = 'issued' AND attempt.number = new.number AND voucher = 'itinerary'
    ))
)
BEGIN SELECT RAISE(ABORT, 'received is one file of an itinerary that is issued'); END;

CREATE TRIGGER received_file_stays BEFORE UPDATE ON received_file
BEGIN SELECT RAISE(ABORT, 'what a file came to stays'); END;
CREATE TRIGGER received_file_remains BEFORE DELETE ON received_file
BEGIN SELECT RAISE(ABORT, 'what a file came to stays'); END;
