"""What is seen in an itinerary file: the words that the process which reads it may use, and how it ends the reading of one."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from pipeline.model.itinerary_file import FieldSource, FileStatus
from pipeline.model.message import N_

#: Processor time that one file may take, in seconds; one of an itinerary takes some milliseconds.
FILE_SECONDS = 10


class Reason(StrEnum):
    """What was seen. The process that reads names one of these, with facts; its parent takes no other text for ours."""

    # Not read at all.
    EMPTY = N_("it is empty")
    BYTES = N_("it has {count} bytes")
    NOT_OFD = N_("it is not an OFD file")
    OTHER_DOCUMENT = N_("it is an OFD file, but not an itinerary")
    PASSWORD = N_("it is protected by a password")
    CUT_OFF = N_("it is cut off, or its parts do not fit together")
    PARTS = N_("it holds {count} parts")
    PAGES = N_("it has {count} pages")
    ONE_NAME = N_("two parts of it have the name {name}, and programs differ in which of them they show")
    PART_NAME = N_("a part of it is called {name}, which leads out of the file")
    LINK = N_("its part {name} is a link to another file")
    OVERLAP = N_("its parts lie over each other")
    PACKED = N_("its part {name} is packed in a way that OFD does not use")
    UNPACKS = N_("its part {name} unpacks to more than {count} bytes")
    UNPACKED = N_("its parts unpack to more than {count} bytes")
    NO_PART = N_("its part {name} is missing")
    NOT_XML = N_("its part {name} is not well-formed")
    ENTITIES = N_("its part {name} declares a document type or entities, which no OFD file does")
    TICKETS = N_("it names more than {count} tickets, as no itinerary does")
    TEXTS = N_("its pages hold more than {count} elements, as no itinerary does")
    NESTED = N_("its part {name} holds more, or is nested deeper, than that of any itinerary")
    MEMORY = N_("it takes more memory than such a file may")
    TIME = N_("it took longer than {seconds} seconds")
    ENDED = N_("the reader ended with {code}")
    NO_ANSWER = N_("the reader's answer does not fit together")

    # Altered, or not clear.
    DIFFER = N_("{field} is {one} in {source}, and {other} in {other_source}")
    SUM = N_("its amounts come to {one}, and its total is {other}")
    NET = N_("without VAT it comes to {one} in {source}, and its amounts to {other}")
    NO_NUMBER = N_("it says no number of 20 digits")
    NO_TICKET = N_("it says no ticket number of 13 digits")
    RED = N_("its total is negative, and it does not say which itinerary it takes back")
    SEALED_PART = N_("its part {name} is not what was sealed")
    SEALED_GONE = N_("its part {name}, which was sealed, is missing")
    SEAL_FORM = N_("its seal can't be read: {name} is damaged")
    SEAL_SIGNATURE = N_("its seal was not set on this file, or was altered")
    SEAL_SIGNER = N_("its seal was set with a certificate that the seal does not name")
    SEAL_MAKER = N_("the picture or the owner of its seal was altered")

    # Noted.
    NOT_UNDERSTOOD = N_("{field} is {one} in {source}, which is not understood")
    MALFORMED = N_("its part {name} is not well-formed and is left out")
    ODD_NAMES = N_("its part {name} has names that XML does not allow")
    NOT_SEALED = N_("its part {name} is not under the seal")
    SEAL_KIND = N_("its seal is of a kind that can't be checked here ({name})")
    NO_SM3 = N_("its seal can't be checked, because Python's OpenSSL has no SM3")
    SEAL_DATES = N_("its seal or a certificate of it was not valid on the day that it gives")


#: The fields of ItineraryData, as a reason names them.
FIELD_WORDS = {
    "number": N_("the itinerary's number"),
    "tickets": N_("the ticket number"),
    "buyer_name": N_("the buyer's name"),
    "buyer_tax_no": N_("the buyer's tax number"),
    "fare": N_("the fare"),
    "fuel": N_("the fuel surcharge"),
    "vat": N_("the VAT"),
    "fund": N_("the civil aviation development fund"),
    "other_taxes": N_("the amount of other taxes"),
    "total": N_("the total"),
    "net": N_("the amount without VAT"),
    "issued_on": N_("the date of issue"),
    "red_of": N_("the number of the itinerary that it takes back"),
}
SOURCE_WORDS = {
    FieldSource.XBRL: N_("its XBRL data"),
    FieldSource.CUSTOM_TAG: N_("its tags"),
    FieldSource.PAGE: N_("its page's text"),
}

Fact = str | int


class Found(NamedTuple):
    """A reason and its facts: texts of the file, numbers, and `field`, `source` and `other_source` by their names."""

    reason: Reason
    facts: Mapping[str, Fact]


class Refused(Exception):
    """A file that is not read."""

    def __init__(self, status: FileStatus, reason: Reason, /, **facts: Fact) -> None:
        super().__init__(status, reason, facts)
        self.status, self.found = status, Found(reason, facts)


def found(reason: Reason, /, **facts: Fact) -> Found:
    """What was seen."""
    return Found(reason, facts)


def unreadable(reason: Reason, /, **facts: Fact) -> Refused:
    """A file that is refused because it can't be read, or must not be."""
    return Refused(FileStatus.UNREADABLE, reason, **facts)
