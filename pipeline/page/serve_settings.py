"""What `voucher serve` is started with, and the bounds that the page keeps to: everything that a handler may ask `app[SETTINGS]` for."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from pipeline.beside_ledger import beside_ledger
from pipeline.model.columns import Lang
from pipeline.model.job import Job
from pipeline.model.profile import Owner, Profile, Secrets
from pipeline.model.server_address import is_server, server_name

#: Months that nobody has changed for so many days are taken out with their files: a voucher can be asked for no longer than a year.
KEEP_DAYS = 400


@dataclass(frozen=True)
class ServeSettings:
    """What the page is started with.

    `ledger` is a file, or a server's address; `folder` is the page's own (beside_ledger.py). `login` is who started it. `secrets` are None
    where the sandbox is sent to. `names` are the host names by which a proxy is called that stands before it; `host` and `port` where it
    listens.
    """

    profile: Profile
    secrets: Secrets | None
    ledger: str
    folder: Path
    sandbox: bool = False
    new_ledger: bool = False
    as_of: datetime.date | None = None
    keep_days: int = KEEP_DAYS
    lang: Lang = "en"
    login: str = ""
    host: str = "127.0.0.1"
    port: int = 8750
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()

    @property
    def job(self) -> Job:
        """What a flow that only looks at the ledger is asked with."""
        return Job((), self.profile, None, ledger=self.ledger, as_of=self.as_of, sandbox=self.sandbox)

    @property
    def ledger_file(self) -> Path | None:
        """The ledger's file, which may not be there yet; None for one that several machines share."""
        return None if is_server(self.ledger) else Path(self.ledger)

    @property
    def ledger_name(self) -> str:
        """The ledger as the page names it."""
        return self.ledger_file.name if self.ledger_file else server_name(self.ledger)

    @property
    def owner(self) -> Owner:
        """The carrier that is sent to, as the ledger has it."""
        return self.job.owner

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine reaches it."""
        return is_loopback_host(self.host) and not self.names

    @property
    def tls(self) -> bool:
        """Whether browsers reach it by https alone."""
        return bool(self.certificate or self.names)


SETTINGS: web.AppKey[ServeSettings] = web.AppKey("settings", ServeSettings)


def is_loopback_host(host: str) -> bool:
    """Whether this is a name or an address of this machine's loopback."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def page_folder(job: Job) -> Path:
    """The page's own folder: accounts, months, uploads, results. Deleting it loses no voucher."""
    return beside_ledger(job, ".page")
