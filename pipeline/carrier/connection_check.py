"""Whether the carrier can be connected to, tried before a first real run: nothing is sent, and no key."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import aiohttp
from yarl import URL

from pipeline.carrier.client import ERROR_NAMES, ErrorNames, connect
from pipeline.carrier.connection_reuse import connector
from pipeline.model.message import N_, NOTHING, Message, message
from pipeline.model.profile import Profile

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
    """Whether the carrier can be connected to: `problem` is why not; `trusted_until` is its certificate's last moment, None without TLS."""

    problem: Message = NOTHING
    trusted_until: datetime | None = None


async def reach(profile: Profile) -> Reached:
    """Connect to the carrier as a run would, by TCP and TLS, through the proxy where there is one; send it nothing, and no key."""
    carrier = profile.carrier
    try:
        async with connector(profile) as connections:
            proxy = URL(carrier.proxy) if carrier.proxy else None
            request = aiohttp.ClientRequest("POST", URL(carrier.base_url), proxy=proxy)
            connection = await connect(connections, request, profile)
            transport: Any = connection.transport  # there is one as long as nothing else is waited for
            certificate = transport.get_extra_info("peercert")
            connection.close()
    except Exception as error:  # noqa: BLE001 - as in `post`
        return Reached(_why_not(error, proxy=bool(carrier.proxy)))
    ends = ssl.cert_time_to_seconds(certificate["notAfter"]) if certificate else None
    return Reached(trusted_until=datetime.fromtimestamp(ends, UTC) if ends else None)


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
