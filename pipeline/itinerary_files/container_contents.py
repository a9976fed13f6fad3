"""What a file holds: itself, or, where it is an archive, a mail or a series of mails, what lies in it, on every level."""

import io
from collections.abc import Iterator
from email.message import Message as Mail
from typing import IO

from pipeline.itinerary_files import container_bounds as bounds
from pipeline.itinerary_files import mail_parts, zip_parts
from pipeline.itinerary_files.container_bounds import Budget, Exhausted, Refused, Seen
from pipeline.model.itinerary_file import FileStatus, FoundFile
from pipeline.model.message import Message

Place = tuple[str, ...]
#: What other archives begin with: RAR, 7z, gzip, xz, bzip2, cabinet.
_OTHER_ARCHIVES = (
    b"Rar!\x1a\x07",
    b"7z\xbc\xaf\x27\x1c",
    b"\x1f\x8b\x08",
    b"\xfd7zXZ\x00",
    b"BZh",
    b"MSCF\x00\x00\x00\x00",
)
#: What stands within a tape archive's first header (POSIX.1, ustar).
_TAPE_ARCHIVE, _TAPE_ARCHIVE_AT = b"ustar", 257
#: What Outlook packs attachments into ([MS-OXTNEF] 2.1.3.2).
_PACKED_BY_OUTLOOK = b"\x78\x9f\x3e\x22"
#: Object identifiers of what a mail is wrapped in (RFC 5652, 4 to 6; RFC 5083; RFC 3274): signed, encrypted, encrypted otherwise, packed.
_PKCS7 = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"
_SIGNED, _ENCRYPTED = _PKCS7 + b"\x02", _PKCS7 + b"\x03"
_OTHERS = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01"
#: Content that is signed, and not beside its signature.
_WITHIN = _PKCS7 + b"\x01\xa0"
_PGP = b"-----BEGIN PGP MESSAGE-----"
#: A compound file, and the name of a stream that only Outlook's mails have ([MS-OXMSG] 2.2).
_COMPOUND_FILE, _OUTLOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "__nameid_version1.0".encode("utf-16-le")


def contents(file: IO[bytes], place: Place) -> Iterator[FoundFile]:
    """What is found in one given file, at least one thing."""
    try:
        yield from _contents(file, place, Budget())
    except Exhausted as refused:
        yield refused.found(place)


def _contents(file: IO[bytes], place: Place, budget: Budget, depth: int = 0) -> Iterator[FoundFile]:
    head = file.read(mail_parts.HEAD_BYTES)
    file.seek(0)
    try:
        if head.startswith(zip_parts.MAGIC) or (head and zip_parts.MAGIC[0].startswith(head)):
            yield from _of_archive(file, place, budget, depth)
        elif mail_parts.is_mbox(head):
            yield from _of_mbox(file, place, budget, depth)
        elif mail_parts.is_mail(head):
            yield from _of_mail(mail_parts.parsed(file), place, budget, depth)
        else:
            yield _single(file, head, place)
    except Exhausted:
        raise
    except Refused as refused:
        yield refused.found(place)


def _of_archive(file: IO[bytes], place: Place, budget: Budget, depth: int) -> Iterator[FoundFile]:
    with zip_parts.opened(file) as archive:
        if zip_parts.is_document(archive):
            yield _single(file, b"", place)
            return
        _check_depth(depth)
        empty = True
        for part in zip_parts.zip_parts(archive, place, budget):
            empty = False
            if isinstance(part, FoundFile):
                yield part
            else:
                name, content = part
                yield from _contents(content, (*place, name), budget, depth + 1)
        if empty:
            raise Refused(Seen.EMPTY)


def _of_mbox(file: IO[bytes], place: Place, budget: Budget, depth: int) -> Iterator[FoundFile]:
    """The mails of a given file need no bound: together they are no larger than it."""
    _check_depth(depth)
    for name, mail in mail_parts.mbox_mails(file):
        budget = budget if depth else Budget()
        budget.count_parts()
        try:
            yield from _contents(mail, (*place, name), budget, depth + 1)
        except Exhausted as refused:
            if depth:
                raise
            yield refused.found((*place, name))


def _of_mail(mail: Mail, place: Place, budget: Budget, depth: int) -> Iterator[FoundFile]:
    _check_depth(depth)
    empty = True
    for name, content in mail_parts.attachments(mail):
        empty = False
        budget.count_parts()
        within = (*place, name)
        if isinstance(content, bytes):
            budget.count_unpacked(len(content))
            yield from _contents(io.BytesIO(content), within, budget, depth + 1)
        else:
            try:
                yield from _of_mail(content, within, budget, depth + 1)
            except Exhausted:
                raise
            except Refused as refused:
                yield refused.found(within)
    if empty and mail_parts.offers_link(mail):
        yield FoundFile(place, problem=FileStatus.LINK_ONLY, reason=Message(Seen.ONLY_A_LINK))
    elif empty:
        yield FoundFile(place, problem=FileStatus.NOT_AN_ITINERARY, reason=Message(Seen.NO_ATTACHMENT))


def _check_depth(depth: int) -> None:
    if depth >= bounds.MOST_DEPTH:
        raise Refused(Seen.DEEP, most=bounds.MOST_DEPTH)


def _single(file: IO[bytes], head: bytes, place: Place) -> FoundFile:
    """A file that holds no others. Raises Refused."""
    if not (size := bounds.size_of(file)):
        raise Refused(Seen.EMPTY)
    if head.startswith(_OTHER_ARCHIVES) or head.startswith(_TAPE_ARCHIVE, _TAPE_ARCHIVE_AT):
        raise Refused(Seen.OTHER_ARCHIVE)
    if head.startswith(_PACKED_BY_OUTLOOK):
        raise Refused(Seen.OUTLOOK_ATTACHMENTS)
    if _is_wrapped_mail(head):
        raise Refused(Seen.WRAPPED_MAIL)
    if size > bounds.LARGEST_FILE:
        raise Refused(Seen.LARGE_FILE, most=bounds.LARGEST_FILE // bounds.MIB)
    content = file.read()
    if head.startswith(_COMPOUND_FILE) and _OUTLOOK in content:
        raise Refused(Seen.OUTLOOK_MAIL)
    if mail_parts.is_page_with_link(content):
        return FoundFile(place, problem=FileStatus.LINK_ONLY, reason=Message(Seen.ONLY_A_PAGE))
    return FoundFile(place, content)


def _is_wrapped_mail(head: bytes) -> bool:
    """Whether a file begins as a mail that is encrypted or signed as a whole; a signature beside what is signed is none."""
    kind = head[:32] if head.startswith(b"\x30") else b""
    return (
        head.startswith(_PGP)
        or _ENCRYPTED in kind
        or _OTHERS in kind
        or (_SIGNED in kind and _WITHIN in head)
    )
