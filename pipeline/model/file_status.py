"""What the status of an itinerary file is to people: its colour, whether somebody has to act on it, and its words."""

from dataclasses import dataclass

from pipeline.model.itinerary_file import CollectedFile, FileStatus
from pipeline.model.message import N_, P_

#: What a seal says, as people read it.
SEALS = (
    P_("status", "valid"), P_("status", "intact"), P_("status", "none"), P_("status", "partial"), P_("status", "broken"),
    P_("status", "unsupported"),
)  # fmt: skip
#: Of an issued itinerary, beside the statuses of files: no file about it has come.
MISSING = P_("status", "missing")


@dataclass(frozen=True)
class FileStatusMeaning:
    """`tone` as of a row's status; `meaning` and `step` (what to do; "" for nothing) are texts."""

    status: FileStatus
    tone: str
    meaning: str
    step: str = ""
    needs_person: bool = True


#: In the order in which they are listed.
FILE_STATUSES = (
    FileStatusMeaning(
        FileStatus(P_("status", "received")), "good",
        N_("the file of an itinerary that this ledger issued, and it says what was asked for"),
        needs_person=False,
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "differs")), "bad",
        N_("about an itinerary or a ticket of this ledger, and says something else than was asked for"),
        N_("Ask the carrier which is right. A wrong itinerary is taken back by a red one, then issued again: voucher help reversals."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "altered")), "bad",
        N_("was changed after it was made: its seal is broken, its parts disagree, or its sums are wrong"),
        N_("Do not pay on it. Ask the carrier to send the file again."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "duplicate")), "plain",
        N_("the same number was received before"),
        N_("Look at both where their content is not the same; the one that came first counts."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "red")), "bad",
        N_("a red itinerary: it takes another one back"),
        N_("Where the carrier has taken the itinerary back, record that: voucher ledger reverse NUMBER --evidence TEXT."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "foreign")), "warn",
        N_("of a ticket and a buyer that this ledger does not know"),
        N_("Not yours: take it away, or name the ledger that issued it."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "unknown_ticket")), "bad",
        N_("of one of your buyers, and this ledger issued no itinerary of its ticket"),
        N_("Find out who issued it before the ticket is sent: compare the carrier's statement (voucher reconcile --statement)."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "unclear")), "warn",
        N_("an itinerary that can't be tied to one of the ledger's, or does not prove what it says"),
        N_("The reason says what is missing. Look at the file, and ask the carrier."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "not_an_itinerary")), "plain",
        N_("something else, such as a picture or another document"),
        needs_person=False,
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "unreadable")), "bad",
        N_("can't be read: damaged, encrypted, or too large"),
        N_("Ask for the file again, or unpack it first."),
    ),
    FileStatusMeaning(
        FileStatus(P_("status", "link_only")), "warn",
        N_("a mail or a web page that brings no file, only an address to fetch it from; nothing is fetched"),
        N_("Fetch the file yourself, if you trust the address, and collect it."),
    ),
)  # fmt: skip
FILE_STATUS = {one.status: one for one in FILE_STATUSES}


def needs_person(file: CollectedFile) -> bool:
    """Whether somebody has to act on a file."""
    return FILE_STATUS[file.status].needs_person and not (file.same or file.done)
