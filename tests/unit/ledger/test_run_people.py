"""Who had a hand in a run is recorded with it, stays, and is there of ledgers that an earlier program began."""

from contextlib import closing
from pathlib import Path

from pipeline.ledger import opening, run_people, runs, schema
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.schema import STEPS
from pipeline.model.profile import Owner

OWNER = Owner("http://127.0.0.1:1", "DEMO")


def test_a_ledger_of_the_first_version_is_shown_without_people_and_takes_them_from_then_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True, steps=STEPS[:1])
    with closing(lock), closing(connection):
        assert schema.differences(connection, STEPS[:1]) == []
        runs.end(connection, lock, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")), 0)
    with closing(opening.open_existing(path, OWNER)) as older:
        assert older.pragma("user_version") == 1
        assert run_people.of_ticket(older, "9990000000001") == []
    told: list[str] = []
    connection, lock = opening.open_for_run(
        path, OWNER, opening.OpenOptions(note=lambda said: told.append(str(said))), may_create=False
    )
    with closing(lock), closing(connection):
        assert (connection.pragma("user_version"), schema.differences(connection)) == (schema.VERSION, [])
        run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-21"))
        run_people.note(connection, run, [RunPerson("sent", " li \n na "), RunPerson("stopped", "")])
        assert list(connection.execute("SELECT run, role, person, plan FROM run_person")) == [
            (2, "sent", "li na", "")
        ]
        runs.end(connection, lock, run, 0)
    assert told == [
        f"The ledger was upgraded from version 1 to {schema.VERSION}; as it was before: {path}.version-1"
    ]
