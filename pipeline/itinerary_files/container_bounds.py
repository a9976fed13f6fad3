"""The bounds of what is looked into for itinerary files, and why something in it is handed on without its content.

All bounds stand here. What passes one becomes a finding that names it; nothing that a file says of itself is believed.
"""

from enum import StrEnum
from typing import IO

from pipeline.model.itinerary_file import FileStatus, FoundFile
from pipeline.model.message import N_, Fact, Message

MIB = 1024**2
#: A single file that is handed on. An itinerary's OFD has some hundred kilobytes (inferred from public samples).
LARGEST_FILE = 32 * MIB
#: A mail, as it is sent: providers take 50 MB of attachments at most, which base64 makes a third larger.
LARGEST_MAIL = 72 * MIB
#: All that one given file unpacks to, on every level together.
LARGEST_UNPACKED = 2048 * MIB
#: How many times its packed size a part may unpack to, where it is large at all.
LARGEST_RATIO, RATIO_COUNTS_FROM = 250, MIB
#: Parts of one given file, on every level together; of a file of mails (mbox) each mail counts anew.
MOST_PARTS = 20_000
#: How deep a file may lie in others: a forwarded mail's archive in an archive is 3.
MOST_DEPTH = 8
#: Of the process that unpacks: four times what the largest mail takes.
MEMORY_BYTES = 1024 * MIB
#: How long that process may say nothing; the largest mail takes it 4 seconds.
SILENT_SECONDS = 30


class Seen(StrEnum):
    """Why a file, or a part of one, is not looked into; with the cure, where there is one.

    The process that unpacks names one of these to its parent, which takes no other text for ours.
    """

    EMPTY = N_("it is empty; fetch it again")
    LARGE_FILE = N_("it is larger than an itinerary file may be ({most} MiB)")
    LARGE_MAIL = N_("it is larger than a mail may be ({most} MiB); save its attachments and give those")
    UNPACKED = N_(
        "all that it holds would be larger than {most} MiB unpacked; unpack it and give what is in it"
    )
    RATIO = N_("it would unpack to more than {most} times its size, as no itinerary file does")
    MANY_PARTS = N_("it holds more than {most} files; unpack it and give what is in it")
    DEEP = N_("it lies more than {most} files deep in others; unpack those and give what is in them")
    DAMAGED_ARCHIVE = N_("the archive is cut off, or its parts do not fit together; fetch it again")
    OVERLAPPING = N_("the archive's parts overlap, as no program writes them; ask for the files once more")
    DAMAGED_PART = N_("it is damaged within its archive; fetch the archive again")
    ENCRYPTED = N_("it is protected by a password; unpack it with the password and give what is in it")
    PACKED_OTHERWISE = N_("it is packed in a way that is not read here; unpack it and give what is in it")
    OTHER_ARCHIVE = N_("it is an archive of a kind that is not read here; unpack it and give what is in it")
    OUTLOOK_MAIL = N_("it is a mail as Outlook saves it (.msg); save it as .eml, or give its attachments")
    OUTLOOK_ATTACHMENTS = N_(
        "it holds attachments as Outlook packs them (winmail.dat); open the mail in Outlook and give its attachments, or ask"
        " for them in an ordinary mail"
    )
    WRAPPED_MAIL = N_(
        "it is a mail that is encrypted, or signed as a whole (S/MIME, PGP), and not opened here: open it in a mail program,"
        " save its attachments and give those"
    )
    LINK = N_("it is a link to another file, which is not followed; give that file itself")
    DAMAGED_MAIL = N_("the mail can't be understood; save its attachments and give those")
    ONLY_A_LINK = N_(
        "the mail holds a link in place of the file, and links are not followed: open it, save the file and give that"
    )
    ONLY_A_PAGE = N_(
        "it is a web page with a link in place of the file, and links are not followed: open it, save the file and give that"
    )
    NO_ATTACHMENT = N_("the mail has no attachment and no link to an itinerary")
    UNREADABLE = N_("it can't be read; check the path and its permissions")
    NO_FILE = N_("it is not a file but a pipe or a device")
    MEMORY = N_("it takes more memory than a file may; unpack it and give what is in it")
    TIME = N_("its reading said nothing for {most} seconds; unpack it and give what is in it")
    ENDED = N_("its reading came to a sudden end; unpack it and give what is in it")


class Refused(Exception):
    """A container, or a part of one, that is not looked into."""

    def __init__(self, seen: Seen, /, **facts: Fact) -> None:
        super().__init__(seen)
        self.reason = Message(seen, facts)

    def found(self, place: tuple[str, ...]) -> FoundFile:
        """The finding about what lies there."""
        return FoundFile(place, problem=FileStatus.UNREADABLE, reason=self.reason)


class Exhausted(Refused):
    """A bound of a given file as a whole: nothing more of it is looked into."""


class Budget:
    """What one given file may still hold and unpack to."""

    def __init__(self) -> None:
        self._parts, self._unpacked = 0, 0

    def count_parts(self, parts: int = 1) -> None:
        """So many parts more. Raises Exhausted."""
        self._parts += parts
        if self._parts > MOST_PARTS:
            raise Exhausted(Seen.MANY_PARTS, most=MOST_PARTS)

    def count_unpacked(self, size: int) -> None:
        """So many bytes more. Raises Exhausted."""
        self._unpacked += size
        if self._unpacked > LARGEST_UNPACKED:
            raise Exhausted(Seen.UNPACKED, most=LARGEST_UNPACKED // MIB)


def size_of(file: IO[bytes]) -> int:
    """How many bytes a file has; it is read from its beginning afterwards."""
    size = file.seek(0, 2)
    file.seek(0)
    return size
