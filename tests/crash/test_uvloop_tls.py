"""Connections that end while TLS begins, many at once. Seen to fail without sockets of our own: the process is aborted."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.uvloop_tls import POSTS

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.usefixtures("openssl")
@pytest.mark.parametrize("loop", ["uvloop", pytest.param("asyncio", marks=pytest.mark.slow)])
def test_every_post_comes_to_an_end_though_tls_fails_for_many_at_once(loop: str) -> None:
    command = [sys.executable, "-m", "tests.crash.uvloop_tls", loop]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    came = {
        what: int(count.replace(",", ""))
        for count, what in (line.split(maxsplit=1) for line in ran.stdout.splitlines())
    }
    assert sum(came.values()) == POSTS
    assert came["answered"] > POSTS / 10
    assert came.keys() <= {
        "answered", "the connection broke", "the carrier closed the connection without an answer", "no answer in time",
        "the connection was refused or could not be made", "the secure connection failed", "the connection was not made in time",
    }  # fmt: skip
