"""Where a harness of the shared ledger stands: said every half a minute and when it is cut off, for one that ends without a word is no evidence."""

import contextlib
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg

_EVERY = 30.0  # seconds
_LOOKS = {
    "attempts": "SELECT CASE WHEN barred <> '' THEN 'barred' ELSE state END, count(*) FROM voucher.attempt GROUP BY 1 ORDER BY 1",
    "workers": "SELECT CASE WHEN left_at IS NOT NULL THEN 'left' WHEN dead_at IS NOT NULL THEN 'dead' WHEN silent_at IS NOT NULL THEN 'silent' ELSE 'on' END"
    " || CASE WHEN vouched_life < (SELECT max(life) FROM voucher.server_life) THEN ', not vouched' ELSE '' END, count(*)"
    " FROM voucher.worker GROUP BY 1 ORDER BY 1",
    "claims": "SELECT CASE WHEN EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL) THEN 'gap' WHEN opened_at IS NULL THEN 'shut' ELSE 'open' END, life"
    " FROM voucher.server_life ORDER BY life DESC LIMIT 1",
    "waiting": "SELECT format('%s for %s s behind %s: %s', pid, round(extract(epoch FROM clock_timestamp() - query_start)), pg_blocking_pids(pid),"
    " left(regexp_replace(query, '\\s+', ' ', 'g'), 100)) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
}  # fmt: skip


def of_ledger(url: str) -> list[str]:
    """Its attempts and workers by how they stand, whether claims are open, and who waits for whom; or that it does not say."""
    try:
        with psycopg.connect(
            url, connect_timeout=3, options="-c statement_timeout=5s", autocommit=True
        ) as connection:
            return [
                f"{name}: " + ("; ".join(" ".join(map(str, row)) for row in connection.execute(query.encode())) or "none")
                for name, query in _LOOKS.items()
            ]  # fmt: skip
    except psycopg.Error as error:
        return [f"the ledger does not say: {type(error).__name__} {str(error).strip()}"]


def of_process(pid: int) -> str:
    """R, S, D: it lives; T: it is stopped; Z: it has ended; proc(5)."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "gone"


def of_thread(thread: int | None) -> str:
    """What it is at: this project's functions, from the outermost in, each with its line."""
    found = sys._current_frames().get(thread or 0)
    stack = traceback.extract_stack(found) if found else ()
    return " > ".join(f"{one.name}:{one.lineno}" for one in stack if "tests" in Path(one.filename).parts)


@contextlib.contextmanager
def told(what: str, url: str, pids: Callable[[], Sequence[int]]) -> Iterator[None]:
    """While this lasts, say on stderr where it stands; and once more where it ends by an exception, which SIGTERM is (`main`)."""
    began, harness, over = time.monotonic(), threading.current_thread().ident, threading.Event()

    def say(how: str, at: str) -> None:
        lives = ", ".join(f"{pid} {of_process(pid)}" for pid in pids())
        lines = [f"{what}, {time.monotonic() - began:.0f} s, {how}: {at}", f"processes: {lives or 'none'}", *of_ledger(url)]  # fmt: skip
        sys.stderr.write("\n    ".join(lines) + "\n")
        sys.stderr.flush()

    def watch() -> None:
        while not over.wait(_EVERY):
            say("at", of_thread(harness))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    except BaseException as error:
        stack = traceback.extract_tb(error.__traceback__)[1:]  # but for this function
        say(f"cut off by {error!r}", " > ".join(f"{one.name}:{one.lineno}" for one in stack))
        raise
    finally:
        over.set()
        watching.join()
