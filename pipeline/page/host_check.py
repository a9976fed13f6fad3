"""By which host names the page may be called: a stranger's name that leads to this address (DNS rebinding) is none of them."""

import ipaddress
from urllib.parse import urlsplit

from aiohttp import web

from pipeline.page.serve_settings import SETTINGS, ServeSettings, is_loopback_host

#: The names in the certificate that the page shows, as it was started.
CERTIFIED: web.AppKey[tuple[str, ...]] = web.AppKey("certified", tuple)


def host_of(given: str) -> str:
    """The name or address in a Host header, in small letters; "" for what is none.

    >>> host_of("Pay.Office:8443"), host_of("[::1]:8750"), host_of("a@b"), host_of("a/b")
    ('pay.office', '::1', '', '')
    """
    try:
        parts = urlsplit(f"//{given}")
        _ = parts.port  # raises ValueError for what is no number
    except ValueError:
        return ""
    if parts.username is not None or parts.path or parts.query or parts.fragment or not given.isascii():
        return ""
    return (parts.hostname or "").rstrip(".")


def is_ours(request: web.Request) -> bool:
    """Whether a request calls the page by a name of its own: the one it listens on, its certificate's, its proxy's, or localhost's.

    An address is always its own if the request came to it: no name leads there that a stranger could have made.
    """
    hosts = request.headers.getall("Host", [])
    host = host_of(hosts[0]) if len(hosts) == 1 else ""
    settings = request.app[SETTINGS]
    if not host:
        return False
    if is_loopback_host(host) or host == settings.host.lower() or _came_to(request, host):
        return True
    return any(matches(host, name) for name in (*map(host_of, settings.names), *request.app[CERTIFIED]))


def matches(host: str, name: str) -> bool:
    """Whether a host is the one of this name; `*.office` is any of one label more, as in certificates (RFC 6125, 6.4.3).

    >>> matches("pay.office", "*.office"), matches("a.pay.office", "*.office"), matches("office", "*.office")
    (True, False, False)
    """
    name = name.lower().rstrip(".")
    if name.startswith("*."):
        return bool(host.partition(".")[0]) and host.partition(".")[2] == name[2:]
    return host == name


def _came_to(request: web.Request, host: str) -> bool:
    local = request.transport.get_extra_info("sockname") if request.transport else None
    if not local:
        return False
    try:
        return ipaddress.ip_address(host) == ipaddress.ip_address(local[0].partition("%")[0])
    except ValueError:
        return False


def address_of(request: web.Request) -> str:
    """Where a request comes from: what the proxy says, if there is one, which puts its word last; else its connection."""
    if request.app[SETTINGS].names and (given := _forwarded(request, "X-Forwarded-For")):
        return given
    return request.remote or ""


def is_own_origin(settings: ServeSettings, host: str, origin: str) -> bool:
    """Whether an Origin header names the page itself, as it is called by this Host header."""
    return origin.lower() == f"{'https' if settings.tls else 'http'}://{host}".lower()


def _forwarded(request: web.Request, header: str) -> str:
    return ",".join(request.headers.getall(header, [])).rpartition(",")[2].strip()[:100]
