"""Trying the connection: what a run would meet is told, and nobody is sent a request or a key."""

import asyncio
import datetime
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from pipeline.carrier.connection_check import Reached, reach
from pipeline.model.profile import Carrier, Profile, Submission
from tests.conftest import needs_tool
from tests.crash.wire_server import Line, Server
from tests.crash.wire_unreached import Way, certificate, expired, secured, ways

WAYS = {way.name: way for way in ways()}
#: Of those in which a request is lost: the connection itself is made, and what comes over it later is not tried.
BEHIND_THE_HELLO = [name for name, way in WAYS.items() if way.state != "not_sent"]


def reached(base_url: str, proxy: str = "", ca_file: str = "") -> Reached:
    carrier = Carrier(base_url=base_url, proxy=proxy, ca_file=ca_file, agency="AGENCY")
    profile = Profile(carrier=carrier, submission=Submission(connect_timeout_seconds=0.5))

    async def run() -> Reached:
        said = await reach(profile)
        await asyncio.sleep(0.02)  # connections are closed, which the end of the loop would cut off
        return said

    return asyncio.run(run())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for those that are made once."""
    needs_tool("openssl", shutil.which("openssl"))
    return tmp_path_factory.mktemp("certificates")


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_what_a_run_could_not_send_over_is_told_and_nothing_else(certificates: Path, name: str) -> None:
    way: Way = WAYS[name]
    with way.opened(certificates) as address:
        said = reached(address.base_url, address.proxy, address.ca_file)
        if way.state != "either":
            assert bool(said.problem) is (way.state == "not_sent"), said
        assert bool(said.trusted_until) is (name in BEHIND_THE_HELLO and not said.problem)
        for log in address.logs:
            assert not log.asked
            assert b"POST" not in log.heard
            assert b"AGENCY" not in log.heard


def test_over_plain_http_nothing_at_all_is_sent() -> None:
    with closing(Server(lambda line: line.read_some(1 << 20))) as server:
        assert reached(server.url) == Reached()
    assert server.log.heard == b""


def test_the_end_of_a_trusted_certificate_is_told(certificates: Path) -> None:
    pem = certificate(certificates, "IP:127.0.0.1")
    with closing(Server(Line.hold, tls=secured(pem))) as server:
        said = reached(server.url, ca_file=f"{pem}.crt")
    assert said.trusted_until is not None
    left = said.trusted_until - datetime.datetime.now(datetime.UTC)
    assert datetime.timedelta(days=29) < left <= datetime.timedelta(days=30)


@pytest.mark.parametrize(
    ("made", "trusted", "why"),
    [
        (expired, True, "it has expired"),
        (partial(certificate, name="DNS:another.invalid"), True, "it is another host's"),
        (partial(certificate, name="IP:127.0.0.2"), True, "it is another host's"),
        (
            partial(certificate, name="IP:127.0.0.1"),
            False,
            "it was issued by nobody that this machine trusts",
        ),
    ],
)
def test_what_is_wrong_with_a_certificate_is_told(
    certificates: Path,
    made: Callable[[Path], Path],
    trusted: bool,
    why: str,
) -> None:
    pem = made(certificates)
    with closing(Server(Line.hold, tls=secured(pem))) as server:
        said = reached(server.url, ca_file=f"{pem}.crt" if trusted else "")
    assert str(said.problem).startswith(f"the carrier's certificate is not trusted: {why}")
    assert said.trusted_until is None


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        ("http://nobody:s3cret@proxy.invalid:1", "the proxy's name could not be resolved"),
        ("http://nobody:s3cret@127.0.0.1:1", "the proxy could not be reached"),
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "the proxy refused: HTTP 403"),
        (
            b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n",
            'the proxy refused: it wants a name and a password, as in proxy = "http://NAME:PASSWORD@HOST:PORT"',
        ),
        (b"", "the proxy gave no answer that could be understood"),
        (b"what?\r\n\r\n", "the proxy gave no answer that could be understood"),
    ],
)
def test_what_is_wrong_with_a_proxy_is_told_as_the_proxy_s(proxy: str | bytes, why: str) -> None:
    """The carrier's own name is the proxy's to resolve."""
    if isinstance(proxy, str):
        assert str(reached("https://carrier.invalid", proxy).problem) == why
        return

    def answers(line: Line) -> None:
        line.read_some(1)
        line.send(proxy)
        line.fin()

    with closing(Server(answers)) as server:
        assert str(reached("https://carrier.invalid", server.url).problem) == why
    assert server.log.heard.startswith(b"CONNECT carrier.invalid:443 ")
