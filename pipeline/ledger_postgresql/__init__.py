"""A ledger that several machines share, on PostgreSQL (the extra `postgresql`).

`sql/` holds its tables, what may change in them, the functions that everybody works by, with the fence that keeps anything from being sent
twice, and the roles. `server_schema` makes it, `server_connection` reaches it, `sqlstates` says what a refusal means. `postgresql_ledger`
is what a run asks of it (`ledger.operations`), `worker_turns` what whoever sends does; `shared_writer` does that for all lanes of a
process, by one thread (`turn_thread`).
"""

from pipeline.model.errors import InputProblem

try:
    import psycopg  # noqa: F401 - whoever imports anything of this needs it, and is told so
except ImportError:
    raise InputProblem(
        "a ledger on PostgreSQL needs the extra postgresql: pip install 'voucher-pipeline[postgresql]'"
    ) from None
