"""`voucher profile check`: what a carrier profile, the keys and the connection lack before a first real run. No request is sent.

It says, too, what the ledger's disk costs: a request in flight is a while with the disk, in a sync, and only the rest with the carrier.
"""

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from pipeline.carrier.connection_check import reach
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.sync_time import sync_seconds
from pipeline.model.columns import CHARGES, HEADER_TYPES, PRODUCTS
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Job
from pipeline.model.message import Message, Term, joined, message, system_error
from pipeline.model.profile import Carrier, Profile, is_loopback
from pipeline.model.server_address import is_server
from pipeline.open_ledger import shared_ledger_answers
from pipeline.secret_keys import KEYRING_SERVICE, key_places, load_secrets

_FLIGHT, *_SERVICES = (choice.name for choice in PRODUCTS)
_MOST_IN_FLIGHT = 1000  # that a profile takes
#: Seconds after which an answer is supposed to come: what the carrier takes is not known before it is asked, and less would have
#: more requests with it at once than the profile means.
_ANSWER = 0.2


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, as it is, and what the command ends with for it."""

    said: Message
    exit_code: ExitCode = ExitCode.DONE


def profile_findings(profile: Profile) -> Iterator[Finding]:
    """What the profile says and lacks: the carrier, then each kind of charge and of buyer (rules/carrier_codes.py, code_not_configured)."""
    carrier = profile.carrier
    if not carrier.base_url:
        yield _missing(
            message("Carrier: base_url is missing under [carrier]; without its address nothing is sent")
        )
    else:
        yield Finding(
            message("Carrier: {carrier} as agency {agency}", carrier=carrier.base_url, agency=carrier.agency)
        )
    if carrier.agency == Carrier().agency and not (carrier.base_url and is_loopback(carrier.base_url)):
        yield _missing(
            message(
                "Agency: {agency} is the example's; write your own under [carrier]", agency=carrier.agency
            )
        )
    if profile.approval.people > 1:
        yield Finding(
            message(
                "Approval: what one person prepared another approves; both do so on the page (voucher serve), and nothing is sent elsewhere"
            )
        )
    for charge in CHARGES:
        for product in _SERVICES if charge.name == "ancillary" else (_FLIGHT,):
            what = product if charge.name == "ancillary" else charge.name
            yield _codes(
                message("Invoices: {what}", what=Term(what, "choice")),
                profile,
                fee_type=charge.name,
                product_type=product,
            )
    for header_type in HEADER_TYPES:
        buyer = Term(header_type.name, "choice")
        yield _codes(
            message("Invoices and itineraries: {buyer}", buyer=buyer), profile, header_type=header_type.name
        )


def _codes(what: Message, profile: Profile, **needed: str) -> Finding:
    """Whether the carrier's codes for something are in the profile; `needed` are their keys, by section."""
    lacking = [
        f"[codes.{section}] {key}"
        for section, key in needed.items()
        if not getattr(profile.codes, section)[key]
    ]
    if not lacking:
        return Finding(message("{what}: can be sent", what=what))
    return _missing(message("{what}: not sent without {keys}", what=what, keys=joined(lacking)))


def _missing(said: Message) -> Finding:
    return Finding(said, ExitCode.NEEDS_PERSON)


def key_findings() -> Iterator[Finding]:
    """Whether each key is found, and where; never a key itself."""
    try:
        places = key_places()
    except InputProblem as problem:
        yield _missing(problem.message)
        return
    for name, place in places.items():
        if place == "environment":
            yield Finding(message("{name}: found in the environment", name=name))
        elif place == "keyring":
            yield Finding(message("{name}: found in the system keyring", name=name))
        else:
            yield _missing(
                message(
                    "{name}: missing; put the key into the environment variable of that name, or into the system keyring (service"
                    " {service}, the variable's name as user name)",
                    name=name,
                    service=KEYRING_SERVICE,
                )
            )
    if "nowhere" not in places.values():
        try:
            load_secrets()
        except InputProblem as problem:
            yield _missing(problem.message)


def connection_finding(profile: Profile) -> Finding:
    """Whether the carrier's address answers, as a run would connect to it."""
    reached = asyncio.run(reach(profile))
    if reached.problem:
        return Finding(message("Connection: {problem}", problem=reached.problem), ExitCode.STOPPED)
    address = urlsplit(profile.carrier.base_url)
    host = address.hostname or ""
    said = message("Connection: {host} answers", host=host)
    if profile.carrier.proxy:
        said = message("Connection: {host} answers through the proxy", host=host)
    if reached.trusted_until:
        day = reached.trusted_until.date().isoformat()
        said = message("{said}; its certificate is trusted, until {day}", said=said, day=day)
    return Finding(said)


def disk_finding(profile: Profile, ledger: str | None) -> Finding:
    """What a sync takes where the ledger lies, and what that makes of the requests in flight.

    `ledger` is as in `Job`. A disk that can't be written is told where it is written.
    """
    try:
        folder = path_for(Job((), profile, None, ledger=ledger)).absolute().parent
    except InputProblem as problem:
        return _missing(problem.message)
    try:
        sync = sync_seconds(folder)
    except OSError as error:
        return Finding(
            message(
                "Disk: the time of a sync can't be measured in {folder}, where the ledger is to lie: {problem}",
                folder=str(folder),
                problem=system_error(error),
            )
        )
    said = message(
        "Disk: a sync takes {sync} ms in {folder}, where the ledger lies; every request waits for one",
        sync=_milliseconds(sync),
        folder=str(folder),
    )
    in_flight, whole = profile.submission.concurrency, _ANSWER + sync
    return Finding(
        message(
            "{said}; with answers after {answer} ms {concurrency} requests in flight give at most"
            " {rate} a second; to keep {concurrency} of them with the carrier at once in spite of the disk: {wanted}",
            said=said,
            answer=int(1000 * _ANSWER),
            concurrency=in_flight,
            rate=int(in_flight / whole),
            wanted=f"concurrency = {min(_MOST_IN_FLIGHT, math.ceil(in_flight * whole / _ANSWER))}",
        )
    )


def server_finding(profile: Profile, ledger: str | None) -> Finding:
    """Whether a ledger that several machines share is there, and is this carrier's."""
    job = Job((), profile, None, ledger=ledger)
    try:
        name = shared_ledger_answers(job)
        return Finding(message("Ledger: {ledger} answers, and is this carrier's", ledger=name))
    except InputProblem as problem:
        return _missing(message("Ledger: {problem}", problem=problem.message))
    except LedgerProblem as problem:
        return Finding(message("Ledger: {problem}", problem=problem.message), ExitCode.STOPPED)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f}"


def findings(profile: Profile, ledger: str | None = None) -> Iterator[Finding]:
    """Everything, each as soon as it is known."""
    yield from profile_findings(profile)
    yield from key_findings()
    if profile.carrier.base_url:
        yield connection_finding(profile)
        yield server_finding(profile, ledger) if is_server(ledger or "") else disk_finding(profile, ledger)
