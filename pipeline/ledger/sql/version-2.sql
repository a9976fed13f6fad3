-- Who had a hand in a run. What must hold is asked in triggers, as in version-1.sql.
CREATE TABLE run_person (
    run_person  INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run,
    role        TEXT NOT NULL CHECK (role IN ('prepared', 'proposed', 'approved', 'sent', 'reconciled', 'stopped')),
    person      TEXT NOT NULL CHECK (person <> ''),
    plan        TEXT NOT NULL,          -- the digest of the plan that was approved, '' in any other role
    noted_at    TEXT NOT NULL           -- when the plan was approved, of those who had a hand in that; else when it was recorded
) STRICT;

CREATE INDEX run_person_of_run ON run_person (run);

CREATE TRIGGER run_person_is_written_once BEFORE INSERT ON run_person
WHEN EXISTS (SELECT 1 FROM run_person WHERE run_person = new.run_person) OR new.person = ''
    OR new.role NOT IN ('prepared', 'proposed', 'approved', 'sent', 'reconciled', 'stopped')
    OR NOT EXISTS (SELECT 1 FROM run WHERE run = new.run AND ended_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'who had a hand in a run stays, and is recorded while it is on'); END;

CREATE TRIGGER run_person_stays BEFORE UPDATE ON run_person
BEGIN SELECT RAISE(ABORT, 'who had a hand in a run stays, and is recorded while it is on'); END;
CREATE TRIGGER run_person_remains BEFORE DELETE ON run_person
BEGIN SELECT RAISE(ABORT, 'who had a hand in a run stays, and is recorded while it is on'); END;
