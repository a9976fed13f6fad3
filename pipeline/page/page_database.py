"""The page's own database, `page.sqlite`: accounts and sessions, months with their corrections and approvals, work.

The ledger is another file, and knows nothing of this one. WAL, so that pages are shown while others write; one connection a
thread, since handlers ask in threads of their own (`asyncio.to_thread`).
"""

import contextlib
import errno
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from pipeline.file_writing import PRIVATE, private_folder
from pipeline.model.message import message

NAME = "page.sqlite"
#: Times are seconds since 1970, UTC.
SCHEMA = """
CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    folded TEXT NOT NULL UNIQUE,                -- casefolded: names that differ in it alone would be taken for each other
    role TEXT NOT NULL CHECK (role IN ('viewer', 'preparer', 'approver', 'administrator')),
    password TEXT NOT NULL,                     -- argon2id, with its parameters and salt
    lang TEXT CHECK (lang IN ('en', 'zh')),
    made REAL NOT NULL,
    last_login REAL
) STRICT;
CREATE TABLE session (
    id BLOB PRIMARY KEY,                        -- SHA-256 of what the cookie holds
    account INTEGER REFERENCES account (id) ON DELETE CASCADE,  -- NULL: whoever started the server, by a one-time link
    name TEXT NOT NULL,
    begun REAL NOT NULL,
    used REAL NOT NULL,
    lang TEXT CHECK (lang IN ('en', 'zh'))
) STRICT;
CREATE INDEX session_account ON session (account);
CREATE TABLE login_try (                        -- of wrong passwords only
    name BLOB NOT NULL,                         -- SHA-256 of the name as typed, which may be a password by mistake
    address TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX login_try_at ON login_try (at);
CREATE TABLE month (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    made_at REAL NOT NULL, made_by TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    judged INTEGER NOT NULL DEFAULT 0,           -- the version that was judged last
    plan TEXT NOT NULL DEFAULT '',               -- what it came to (plan_facts.py)
    problem TEXT NOT NULL DEFAULT '',            -- why that version could not be judged
    ended TEXT NOT NULL DEFAULT '' CHECK (ended IN ('', 'stopped', 'sent'))  -- how the sending of that version ended
) STRICT;
CREATE TABLE upload (
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,                          -- of the file in uploads/NUMBER/
    kind TEXT NOT NULL CHECK (kind IN ('new', 'workbook', 'buyers', 'statement', 'resolved', 'answered')),
    size INTEGER NOT NULL,
    at REAL NOT NULL, by TEXT NOT NULL,
    reconcile_in TEXT NOT NULL DEFAULT '',       -- the language of a reconciliation with it; '': nobody who may has asked for one
    PRIMARY KEY (month, number)
) STRICT;
CREATE TABLE correction (                        -- what cells are to say in place of what the files say
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    file TEXT NOT NULL, sheet TEXT NOT NULL, line INTEGER NOT NULL, name TEXT NOT NULL,
    before TEXT NOT NULL,                        -- what the file says
    value TEXT NOT NULL,
    at REAL NOT NULL, by TEXT NOT NULL,
    PRIMARY KEY (month, file, sheet, line, name)
) STRICT;
CREATE TABLE buyer_correction (                  -- buyers that are new, or are to be other than the files say
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    buyer TEXT NOT NULL,
    header_type TEXT NOT NULL, header_name TEXT NOT NULL, tax_no TEXT NOT NULL, phone TEXT NOT NULL, email TEXT NOT NULL,
    at REAL NOT NULL, by TEXT NOT NULL,
    PRIMARY KEY (month, buyer)
) STRICT;
CREATE TABLE preparer (                          -- who changed what is judged, whatever became of the change
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (month, name)
) STRICT;
CREATE TABLE approval (
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,                        -- of the plan that was looked at
    step TEXT NOT NULL CHECK (step IN ('proposed', 'approved')),
    at REAL NOT NULL, by TEXT NOT NULL,
    PRIMARY KEY (month, version, step)
) STRICT;
CREATE TABLE change (                            -- who did what to a month, for whoever looks at it
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    at REAL NOT NULL, by TEXT NOT NULL,
    said TEXT NOT NULL                           -- a message
) STRICT;
CREATE INDEX change_by_month ON change (month);
CREATE TABLE team_mapping (                      -- what new months begin with; one at most
    one INTEGER PRIMARY KEY CHECK (one = 1),
    text TEXT NOT NULL,                          -- as a file of --columns has it
    month TEXT NOT NULL,                         -- the title of the month that it was made for
    at REAL NOT NULL, by TEXT NOT NULL
) STRICT;
CREATE TABLE work (                              -- what is done in processes of their own
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    month TEXT REFERENCES month ON DELETE SET NULL,  -- NULL: about no month
    kind TEXT NOT NULL CHECK (
        kind IN ('judge', 'survey', 'send', 'result', 'reconcile', 'register', 'ledger_check', 'backup', 'gap')
    ),
    asked TEXT NOT NULL,                         -- what it was begun with, as JSON
    by TEXT NOT NULL,
    begun_at REAL NOT NULL,
    pid INTEGER NOT NULL DEFAULT 0,              -- of its process, while that holds the work's lock
    ended_at REAL,
    progress TEXT NOT NULL DEFAULT '',           -- requests by state, and how many there are, as JSON
    notes TEXT NOT NULL DEFAULT '[]',            -- messages, as JSON
    exit_code INTEGER,
    problem TEXT NOT NULL DEFAULT '',            -- the message with which it stopped
    files TEXT NOT NULL DEFAULT '[]',            -- names of what it wrote
    stopping INTEGER NOT NULL DEFAULT 0,         -- it was told to stop, which a second signal would undo
    stopped_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX work_by_month ON work (month);
-- Of each kind one at a time, of a month or of none; but registers are asked for by everybody, and evidence, which waits for the ledger.
CREATE UNIQUE INDEX work_on ON work (ifnull(month, ''), kind) WHERE ended_at IS NULL AND kind NOT IN ('register', 'reconcile');
CREATE INDEX work_by_kind ON work (kind);
"""
#: Itinerary files are uploaded and collected as well: tables whose columns say what they may hold are made anew.
ITINERARY_FILES = """
CREATE TABLE upload_2 (
    month TEXT NOT NULL REFERENCES month ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('new', 'workbook', 'buyers', 'statement', 'resolved', 'answered', 'itineraries')),
    size INTEGER NOT NULL,
    at REAL NOT NULL, by TEXT NOT NULL,
    reconcile_in TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (month, number)
) STRICT;
INSERT INTO upload_2 SELECT * FROM upload;
DROP TABLE upload;
ALTER TABLE upload_2 RENAME TO upload;
CREATE TABLE work_2 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    month TEXT REFERENCES month ON DELETE SET NULL,
    kind TEXT NOT NULL CHECK (
        kind IN ('judge', 'survey', 'send', 'result', 'reconcile', 'collect', 'register', 'ledger_check', 'backup', 'gap')
    ),
    asked TEXT NOT NULL,
    by TEXT NOT NULL,
    begun_at REAL NOT NULL,
    pid INTEGER NOT NULL DEFAULT 0,
    ended_at REAL,
    progress TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '[]',
    exit_code INTEGER,
    problem TEXT NOT NULL DEFAULT '',
    files TEXT NOT NULL DEFAULT '[]',
    stopping INTEGER NOT NULL DEFAULT 0,
    stopped_by TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO work_2 SELECT * FROM work;
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'work') WHERE name = 'work_2';
DROP TABLE work;
ALTER TABLE work_2 RENAME TO work;
CREATE INDEX work_by_month ON work (month);
CREATE UNIQUE INDEX work_on ON work (ifnull(month, ''), kind)
    WHERE ended_at IS NULL AND kind NOT IN ('register', 'reconcile', 'collect');
CREATE INDEX work_by_kind ON work (kind);
"""
#: The step from each version of the file to the next; a new file takes all of them.
STEPS = (SCHEMA, ITINERARY_FILES)

_open = threading.local()


def connected(folder: Path) -> apsw.Connection:
    """The calling thread's connection to the database of that folder; file and tables are made where they are missing."""
    connections: dict[Path, apsw.Connection] = _open.__dict__.setdefault("connections", {})
    if folder not in connections:
        connections[folder] = _connect(folder)
    return connections[folder]


def _connect(folder: Path) -> apsw.Connection:
    private_folder(folder)
    path = folder / NAME
    path.touch(PRIVATE)
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(10_000)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", 2)  # FULL: what a person was told is saved stays saved
    connection.pragma("foreign_keys", True)
    connection.pragma("secure_delete", True)
    _bring_up_to_date(connection)
    return connection


def _bring_up_to_date(connection: apsw.Connection) -> None:
    if connection.pragma("user_version") == len(STEPS):
        return
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        for step in STEPS[connection.pragma("user_version") :]:
            connection.execute(step)
        connection.pragma("user_version", len(STEPS))
    connection.execute("COMMIT")


@contextlib.contextmanager
def transaction(folder: Path) -> Iterator[apsw.Connection]:
    """All of it or nothing; from its beginning on nobody else writes."""
    connection = connected(folder)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself where the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


#: What is said where there is none.
NO_ROOM = message(
    "There is no room on the server's disk, so this could not be done. Free some space there, look how it stands, then try again"
)


def is_full(error: Exception) -> bool:
    """Whether there is no room on the disk, by what SQLite or the system says."""
    return isinstance(error, apsw.FullError) or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT)


def named_columns(folder: Path, sql: str, *given: Any) -> list[dict[str, Any]]:
    """What is asked for, line by line, by the names of its columns."""
    cursor = connected(folder).execute(sql, given)
    try:
        names = [name for name, _ in cursor.get_description()]
    except apsw.ExecutionCompleteError:  # no line at all
        return []
    return [dict(zip(names, line, strict=True)) for line in cursor]
