"""How often a wrong password may be tried, of one name and from one address, and how long to wait then."""

import hashlib
import time
from pathlib import Path

from pipeline.page.page_database import connected, transaction

#: Wrong passwords of one name, and of one address, within so long; then nobody may try for them until the first is that old.
TRIES_OF_NAME, TRIES_OF_ADDRESS, TRIES_SECONDS = 5, 20, 15 * 60
_AHEAD = 60  # seconds; a try that lies further in the future was noted by a clock that was wrong


def begin_try(folder: Path, name: str, address: str) -> float:
    """Note that a password is tried, before it is: it counts as wrong until `right`. Seconds to wait instead, 0 for none."""
    now, kept = time.time(), _kept(name)
    with transaction(folder) as connection:
        connection.execute(
            "DELETE FROM login_try WHERE at <= ? OR at > ?", (now - TRIES_SECONDS, now + _AHEAD)
        )
        for column, value, most in (("name", kept, TRIES_OF_NAME), ("address", address, TRIES_OF_ADDRESS)):
            times = connection.execute(
                f"SELECT at FROM login_try WHERE {column} = ? ORDER BY at DESC LIMIT 1 OFFSET ?",  # noqa: S608 - names of ours
                (value, most - 1),
            ).get
            if times is not None:
                return max(1.0, float(times) + TRIES_SECONDS - now)
        connection.execute("INSERT INTO login_try (name, address, at) VALUES (?, ?, ?)", (kept, address, now))
    return 0


def right(folder: Path, name: str) -> None:
    """The password was right: the wrong ones of this name count no more."""
    connected(folder).execute("DELETE FROM login_try WHERE name = ?", (_kept(name),))


def _kept(name: str) -> bytes:
    return hashlib.sha256(name.strip().casefold().encode(errors="surrogatepass")).digest()
