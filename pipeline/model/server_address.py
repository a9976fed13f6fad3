"""The address of a shared ledger, as `--ledger` and VOUCHER_LEDGER take it: `postgresql://[USER@]HOST[:PORT]/DATABASE[?SETTING=VALUE]`.

What is no such address may be a mistyped one with a password in it, and libpq takes much of that for something else: a password for a
port, or for a database, which it then names. So only what is written like this is handed on, and nothing else is ever repeated.
"""

import re

from pipeline.model.errors import InputProblem

_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[\w.%-]*)(?::\d{1,5})?"  # a folder of sockets has its / as %2F
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:[^\s:/@?#]+@)?(?P<hosts>{_HOST}(?:,{_HOST})*)/(?P<database>[^\s:/@?#]+)"
    r"(?:\?(?:[a-z_]+=[^\s&?@]*)(?:&[a-z_]+=[^\s&?@]*)*)?",
    re.ASCII,
)
_MEANT_AS_ONE = re.compile(
    r"\s*(?:postgres|psql|pgsql)[\w+]*:|\w://[^/]*:[^/]*@|\b(?:host|dbname)\s*=", re.ASCII | re.IGNORECASE
)
#: What an address says before its settings, and what would be named by it and not reached: a setting wins over it.
_NAMED_TWICE = re.compile(r"[?&](host|port|dbname)=", re.IGNORECASE)
_PASSWORD = re.compile(r"//[^@]*:[^@]*@|pass(?:word|wd)\s*=", re.IGNORECASE)


def is_server(ledger: str) -> bool:
    """Whether a ledger is named by the address of a server.

    >>> is_server("postgresql://ledger.example/vouchers"), is_server("/srv/a.ledger")
    (True, False)
    """
    return ledger.startswith(("postgresql://", "postgres://"))


def shared_address(ledger: str | None) -> str:
    """The address of a ledger that several machines share, for what is done with no other. Raises InputProblem for a file, and where none
    is named.
    """
    if not is_server(ledger or ""):
        raise InputProblem(
            "this command is for a ledger that several machines share; name that with --ledger or VOUCHER_LEDGER, like"
            " postgresql://host/database"
        )
    return checked_ledger(ledger or "")


def checked_ledger(ledger: str) -> str:
    """A ledger's path or address as it was given. Raises InputProblem for what is meant as an address and is none, or has a password.

    >>> checked_ledger("a.ledger")
    'a.ledger'
    >>> checked_ledger("postgresql://chen:secret@ledger.example/vouchers")
    Traceback (most recent call last):
    pipeline.model.errors.InputProblem: the ledger's address has a password in it, ...
    """
    if not _MEANT_AS_ONE.search(ledger):
        return ledger
    if _PASSWORD.search(ledger):
        raise InputProblem(
            "the ledger's address has a password in it, which others on this machine can read; leave it out, and put it into ~/.pgpass, or"
            " into a file that PGPASSFILE names"
        )
    if not _ADDRESS.fullmatch(ledger):
        raise InputProblem(
            "the ledger's address is not one of a PostgreSQL server; write it like postgresql://host/database"
        )
    if twice := _NAMED_TWICE.search(ledger):
        raise InputProblem(
            "the ledger's address has the setting {setting} after its “?”, so that another server or database would be reached than it names;"
            " write it like postgresql://host/database",
            setting=twice[1],
        )
    return ledger


def server_name(address: str) -> str:
    """An address as messages and results name it: the server and the database, and nothing of who reaches them.

    >>> server_name("postgresql://chen@ledger.example:5433/vouchers?sslrootcert=/etc/ca.pem")
    'postgresql://ledger.example:5433/vouchers'
    """
    found = _ADDRESS.fullmatch(checked_ledger(address))
    return f"postgresql://{found['hosts']}/{found['database']}" if found else ""
