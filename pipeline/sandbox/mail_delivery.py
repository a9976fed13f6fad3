"""The files of the itineraries that the carrier issues, on their way: what is mailed of each, handed to the process that does it."""

import asyncio
import contextlib
import errno
import os
import pickle
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

from pipeline import sm2
from pipeline.file_writing import private_folder
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, counted, message, system_error
from pipeline.pickled_values import packed
from pipeline.sandbox.fault_file import FileStrike
from pipeline.sandbox.itinerary import FareParts, Itinerary
from pipeline.sandbox.itinerary_mail import MailOrder
from pipeline.sandbox.mail_process import Delivered
from pipeline.sandbox.preconditions import Books
from pipeline.sandbox.seal_certificates import ROOT, certificate, pem
from pipeline.sandbox.sold_tickets import Charge
from pipeline.sandbox.wire_documents import Buyer

#: How the names of our settings begin in the environment, those of the keys among them.
_OURS = "VOUCHER_"
_RUN = "from pipeline.sandbox.mail_process import main; main()"
#: What the certificate of the seal's root is called: after the folder, and beside it, so that the folder holds mails alone.
_ROOT_PEM, _ROOT_DER = ".seal-root.pem", ".seal-root.der"


class MailDelivery:
    """Hands over what is to be mailed, after the answer that is on its way has left; what an itinerary said is kept for its reversal."""

    def __init__(self, books: Books, process: asyncio.StreamWriter) -> None:
        self._books = books
        self._process = process
        self._mailed: dict[str, MailOrder] = {}

    def issued(self, number: str, charge: Charge, buyer: Buyer, strike: FileStrike) -> None:
        """Have the file of an itinerary mailed to its buyer."""
        itinerary = Itinerary(
            number,
            charge.key.ticket_no,
            self._books.registry.passenger_name(charge.key.ticket_no),
            buyer.name,
            buyer.tax_no,
            charge.market,
            charge.flight_date,
            self._today(),
            FareParts.of(charge.amount, charge.components),
        )
        order = MailOrder(itinerary, buyer.email, time.time() + strike.seconds, strike.kinds)
        self._mailed[number] = order
        self._hand_over(order)

    def reversed(self, number: str, red: str) -> None:
        """Have the red itinerary's file mailed, not before the one that it takes back.

        An itinerary of an earlier life of the carrier stands in its statement without its buyer's address: nothing is mailed.
        """
        if (first := self._mailed.get(number)) is None:
            return
        told = replace(
            first.itinerary,
            number=red,
            issued_on=self._today(),
            parts=first.itinerary.parts.negative,
            red_of=number,
        )
        self._hand_over(MailOrder(told, first.address, max(first.due, time.time())))

    def _today(self) -> date:
        settings = self._books.settings
        return settings.now().astimezone(settings.zone).date()

    def _hand_over(self, order: MailOrder) -> None:
        asyncio.get_running_loop().call_soon(self._process.write, packed(order))


@contextlib.asynccontextmanager
async def delivering(books: Books, ended: Callable[[Delivered], None]) -> AsyncIterator[MailDelivery | None]:
    """The way to the folder that the carrier mails to, for as long as the context lasts; None where it has none.

    At its end every mail that is due is written, and `ended` is told what became of them. Raises InputProblem where the folder can't
    be used.
    """
    folder = books.settings.deliver_to
    if folder is None:
        yield None
        return
    _prepare(folder := folder.absolute())
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _RUN, str(folder)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        | {"PYTHONPATH": str(Path(__file__).parents[2])},
        start_new_session=True,  # a terminal's Ctrl-C is for the carrier, which ends it
    )
    assert process.stdin is not None  # noqa: S101 - pipes, as asked for
    assert process.stdout is not None  # noqa: S101 - likewise
    try:
        yield MailDelivery(books, process.stdin)
    finally:
        process.stdin.close()
        told = await process.stdout.read()
        await process.wait()
        ended(pickle.loads(told) if told else Delivered(failed=1, problem="it ended early"))  # noqa: S301 - from our own process


def delivered_note(delivered: Delivered, folder: Path) -> Message:
    """What was mailed, for whoever runs the carrier."""
    if delivered.failed:
        return counted(
            "{count} mail could not be written to {folder} ({problem}); make room there, or choose another folder with --deliver-to",
            "{count} mails could not be written to {folder} ({problem}); make room there, or choose another folder with --deliver-to",
            delivered.failed,
            folder=str(folder),
            problem=Message(delivered.problem),
        )
    written = counted(
        "{count} mail written to {folder}",
        "{count} mails written to {folder}",
        delivered.written,
        folder=str(folder),
    )
    if not delivered.not_due:
        return written
    return message("{written}; {count} were not due yet", written=written, count=delivered.not_due)


def _prepare(folder: Path) -> None:
    """Make the folder, and put the certificate of the seal's root beside it."""
    try:
        root = certificate(ROOT)
    except sm2.NoSM3:
        raise InputProblem(
            "--deliver-to: the OpenSSL of this Python has no SM3, without which itinerary files can't be sealed; leave it out, or use"
            " another Python"
        ) from None
    try:
        private_folder(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        folder.with_name(folder.name + _ROOT_PEM).write_text(pem(root), encoding="ascii")
        folder.with_name(folder.name + _ROOT_DER).write_bytes(root)
    except OSError as error:
        raise InputProblem(
            "{file}: no mails can be put there ({problem}): choose another folder with --deliver-to",
            file=str(error.filename or folder),
            problem=system_error(error),
        ) from None
