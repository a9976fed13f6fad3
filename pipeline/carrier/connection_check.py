"""Whether the carrier can be connected to, tried before a first real run: nothing is sent, and no key."""

import ssl
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import aiohttp
from aiohttp.connector import Connection

from pipeline.carrier.client import ERROR_NAMES, ErrorNames, send_is_called, timeout_of
from pipeline.carrier.connection_reuse import connector
from pipeline.model.message import N_, NOTHING, Message, message
from pipeline.model.profile import Profile


class _Connected(Exception):
    """Where a request would have been written: over a connection whose certificate is trusted until then, None without TLS."""

    def __init__(self, trusted_until: datetime | None) -> None:
        super().__init__()
        self.trusted_until = trusted_until


class _Unsent(aiohttp.ClientRequest):
    """A request that is given up where it would be written: all that happens is what it takes to have a connection."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        tls = conn.transport.get_extra_info("ssl_object") if conn.transport else None
        if conn.transport:
            conn.transport.abort()  # nobody is kept waiting for TLS to say good-bye
        ends = ssl.cert_time_to_seconds(tls.getpeercert()["notAfter"]) if tls else None
        raise _Connected(datetime.fromtimestamp(ends, UTC) if ends else None)


#: What is wrong with a certificate, by OpenSSL's number of it (X509_V_ERR_*).
_UNTRUSTED = {
    9: N_("it is not valid yet, or this machine's clock is wrong"),
    10: N_("it has expired, or this machine's clock is wrong"),
    **dict.fromkeys(
        (18, 19, 20, 21),
        N_(
            "it was issued by nobody that this machine trusts; if that is right, put the issuer's certificate into a file and name"
            " it as ca_file under [carrier]"
        ),
    ),
    **dict.fromkeys((62, 64), N_("it is another host's; check base_url")),
}
#: What happens between here and the proxy, where there is one: the carrier's own name is the proxy's to resolve.
_OF_PROXY: ErrorNames = (
    ((aiohttp.ClientConnectorDNSError, UnicodeError), N_("the proxy's name could not be resolved")),
    (aiohttp.ClientHttpProxyError, N_("the proxy refused")),
    (
        (aiohttp.ServerDisconnectedError, aiohttp.ClientResponseError),
        N_("the proxy gave no answer that could be understood"),
    ),
)


@dataclass(frozen=True)
class Reached:
    """Whether the carrier can be connected to, and how long that took: `problem` is why not; `trusted_until` is its certificate's last
    moment, None without TLS.
    """

    problem: Message = NOTHING
    trusted_until: datetime | None = None
    seconds: float = field(default=0, compare=False)


async def reach(profile: Profile) -> Reached:
    """Connect to the carrier as a run would, by TCP and TLS, through the proxy where there is one; send it nothing, and no key."""
    carrier = profile.carrier
    if await send_is_called():
        try:
            async with aiohttp.ClientSession(
                connector=connector(profile, keep=False),
                request_class=_Unsent,
                timeout=timeout_of(profile),
                trust_env=False,
            ) as session:
                begun = time.perf_counter()
                async with session.post(carrier.base_url, proxy=carrier.proxy or None):
                    pass  # never: `send` ends it
        except _Connected as now:
            return Reached(trusted_until=now.trusted_until, seconds=time.perf_counter() - begun)
        except Exception as error:  # noqa: BLE001 - as in `post`
            return Reached(_why_not(error, proxy=bool(carrier.proxy)))
    return Reached(message("the aiohttp that is installed can't connect without sending"))


def _why_not(error: Exception, *, proxy: bool) -> Message:
    """Why there is no connection, more closely than a request's outcome has it; never in the error's own words."""
    names = (*_OF_PROXY, *ERROR_NAMES) if proxy else ERROR_NAMES
    what = Message(next((words for kind, words in names if isinstance(error, kind)), type(error).__name__))
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        number = getattr(error.certificate_error, "verify_code", None)
        return (
            message("{problem}: {detail}", problem=what, detail=Message(_UNTRUSTED[number]))
            if number in _UNTRUSTED
            else what
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        detail = (
            message('it wants a name and a password, as in proxy = "http://NAME:PASSWORD@HOST:PORT"')
            if error.status == 407
            else message("HTTP {status}", status=error.status)
        )
        return message("{problem}: {detail}", problem=what, detail=detail)
    return what
