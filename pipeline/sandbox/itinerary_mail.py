"""The mails of an itinerary, as the ticketing data provider sends them, with whatever is wrong with it.

Subject and the attachment's name are those observed of the PDF (itinerary-files.md), with OFD in its place; how airlines word
theirs is not known.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime

from pipeline.sandbox.itinerary import FareParts, Itinerary
from pipeline.sandbox.ofd_file import altered, ofd, packed

_SENDER = "itinerary@sandbox.invalid"
_OTHER_BUYER = ("另一家贸易有限公司", "91310000MA1K000002")
_OTHER_AMOUNT = 10_00  # minor units more


@dataclass(frozen=True)
class MailOrder:
    """An itinerary that is to be mailed: to whom, when, and the faults of its file (`FileStrike.kinds`). `due` is in seconds since 1970."""

    itinerary: Itinerary
    address: str
    due: float
    faults: frozenset[str] = frozenset()


def mails(order: MailOrder) -> Iterator[tuple[str, bytes]]:
    """Each mail of the order, and the name of the file that it is written to. Raises NoSM3."""
    if "never" in order.faults:
        return
    number = order.itinerary.number
    written = bytes(_mail(order))
    yield f"{number}.eml", written
    if "twice" in order.faults:
        yield f"{number}.2.eml", written


def _mail(order: MailOrder) -> EmailMessage:
    number = order.itinerary.number
    # An address that is not ASCII can't go into a header of another kind (RFC 6532).
    policy = SMTP if order.address.isascii() else SMTPUTF8
    mail = EmailMessage(policy.clone(refold_source="none"))
    # As it was given: Python's own reading of addresses changes some, and fails for such as 0@[.
    mail.set_raw("To", order.address)
    mail["Subject"] = f"【电子行程单OFD版】- 行程单号：{number}"
    mail["From"] = _SENDER
    mail["Date"] = format_datetime(datetime.fromtimestamp(order.due).astimezone())
    mail["Message-ID"] = f"<{number}@sandbox.invalid>"
    if "link_only" in order.faults:
        link = f"https://sandbox.invalid/itinerary?number={number}"
        mail.set_content(f"您的电子行程单（{number}）已开具，请点击下载：\n{link}\n")
    else:
        mail.set_content(f"您的电子行程单（{number}）已开具，见附件。沙箱测试邮件，没有任何效力。\n")
        name, file = _file(order)
        mail.add_attachment(file, maintype="application", subtype="octet-stream", filename=name)
    return mail


def _file(order: MailOrder) -> tuple[str, bytes]:
    """The attachment's name and bytes."""
    told = _told(order)
    if "altered" in order.faults:
        dearer = replace(told, parts=FareParts.of(told.parts.total + _OTHER_AMOUNT))
        parts = altered(told, dearer)
    else:
        parts = ofd(told, sealed="unsealed" not in order.faults)
    name, file = f"电子行程单_{told.number}.ofd", packed(parts)
    return (f"电子行程单_{told.number}.zip", packed({name: file})) if "zip" in order.faults else (name, file)


def _told(order: MailOrder) -> Itinerary:
    """The itinerary as its file tells it."""
    told = order.itinerary
    if "wrong_buyer" in order.faults:
        told = replace(told, buyer_name=_OTHER_BUYER[0], buyer_tax_no=_OTHER_BUYER[1])
    if "wrong_amount" in order.faults:
        told = replace(told, parts=FareParts.of(told.parts.total + _OTHER_AMOUNT))
    return told
