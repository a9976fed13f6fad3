"""What a mail carries: its attachments, forwarded mails, and whether it offers a link in place of a file.

Parts are told by their content; what a mail says of their kinds decides only which of its texts, pictures and signatures
are part of the mail itself. Names and subjects are often GBK bytes in no encoding at all. That a mail which has no attachment and speaks
of an itinerary (`_WORDS`) beside a web address has the file behind that address is inferred: no wording of airlines was to be had.
"""

import base64
import contextlib
import email
import re
import tempfile
from collections.abc import Iterator
from email.errors import InvalidBase64LengthDefect, MessageError
from email.header import decode_header
from email.message import Message as Mail
from email.policy import Compat32
from email.utils import parsedate_to_datetime
from typing import IO

from pipeline.itinerary_files import container_bounds as bounds
from pipeline.itinerary_files import zip_parts
from pipeline.itinerary_files.container_bounds import Refused, Seen
from pipeline.itinerary_files.shown_names import decoded, shown_name
from pipeline.model.quoting import one_line, quoted

#: Enough of a file to know a mail by its headers.
HEAD_BYTES = 1 << 16
#: Characters of a header that are looked at: what reads them takes more than twice the time for twice the length.
_LONGEST_HEADER = 4_000
#: What some programs write before the first header.
_BEFORE, _BEFORE_SERIES = re.compile(rb"(?:\xef\xbb\xbf)?[\s\0]*"), re.compile(rb"[\r\n]*")
_HEADER = re.compile(rb"([!-9;-~]+):")
#: Of these a mail has two at least.
_KNOWN_HEADERS = frozenset((
    b"from", b"to", b"date", b"subject", b"received", b"return-path", b"message-id", b"mime-version", b"content-type", b"delivered-to",
))  # fmt: skip
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_END_OF_HEADERS = re.compile(rb"(?<=\n)\r?\n")
#: The line before each mail of an mbox file: "From ", a sender, and when it came.
_SEPARATOR = re.compile(rb"From \S.* \d\d:\d\d.* \d{4}")
_LONGEST_SEPARATOR = 400
_LINE = 1 << 16
_WORDS = re.compile("行程单|行程單|电子客票|itinerary|\\.ofd", re.IGNORECASE)
_LINK = re.compile(r"https?://", re.IGNORECASE)
#: What a web page begins with; a link in it, or what leads on from it without one.
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf|\x841\x953)?\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE,
)
_LINK_OF_PAGE = re.compile(r"<(?:a|meta)\b[^<>]{0,500}(?:href|url)\s*=\s*[\"']?https?://", re.IGNORECASE)
_TEXT_BYTES = 1 << 20
_SIGNATURES = ("application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature")
#: What Chinese programs call by these names holds characters of the larger set.
_LARGER_SET = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "cp936": "gb18030"}


class _CutHeaders(Compat32):
    """Headers as they stand in a mail, up to a bounded length."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


_CUT = _CutHeaders()


def is_mail(head: bytes) -> bool:
    r"""Whether a file begins with a mail's headers.

    >>> is_mail(b"Subject: x\r\nFrom: a@b.cn\r\n\r\n"), is_mail(b"From: the desk\nof somebody\n"), is_mail(b"PK\x03\x04")
    (True, False, False)
    """
    known = set[bytes]()
    for line in _BEFORE.sub(b"", head, 1).splitlines()[:500]:
        if not line or (line[:1] in b" \t" and known):
            if not line:
                break
        elif header := _HEADER.match(line):
            known.add(header[1].lower())
        else:
            return len(line) + 1 >= HEAD_BYTES and len(known & _KNOWN_HEADERS) > 1
    return len(known & _KNOWN_HEADERS) > 1


def is_mbox(head: bytes) -> bool:
    """Whether a file is a series of mails (mbox)."""
    first, _, rest = _BEFORE_SERIES.sub(b"", head, 1).partition(b"\n")
    return _separates(first) and is_mail(rest)


def mbox_mails(file: IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    """The mails of such a file, one after another, each with its number, subject and day for a name; a content is gone when the next
    is asked for.
    """
    number, after_blank, at_start = 0, True, True
    with tempfile.SpooledTemporaryFile(max_size=bounds.LARGEST_FILE) as mail:
        while line := file.readline(_LINE):
            if after_blank and _separates(line):
                if number:
                    yield _numbered(number, mail), mail
                number += 1
                mail.seek(0)
                mail.truncate()
            else:
                mail.write(line)
            after_blank = at_start and line in (b"\n", b"\r\n")
            at_start = line.endswith(b"\n")
        yield _numbered(number, mail), mail


def _separates(line: bytes) -> bool:
    return bool(_SEPARATOR.match(line, 0, _LONGEST_SEPARATOR))


def _numbered(number: int, mail: IO[bytes]) -> str:
    """What people know a mail of a series by; it is read from its beginning afterwards."""
    mail.seek(0)
    known = headers(mail.read(HEAD_BYTES))
    mail.seek(0)
    return " ".join(filter(None, (f"#{number}", subject(known), day(known))))


def parsed(file: IO[bytes]) -> Mail:
    """A mail in its parts. Raises Refused for one that is too large, or that the parser can't follow."""
    if bounds.size_of(file) > bounds.LARGEST_MAIL:
        raise Refused(Seen.LARGE_MAIL, most=bounds.LARGEST_MAIL // bounds.MIB)
    file.seek(_BEFORE.match(file.read(HEAD_BYTES)).end())  # type: ignore[union-attr] # it matches nothing, too
    with _followed():
        return email.message_from_binary_file(file, policy=_CUT)


def attachments(mail: Mail) -> Iterator[tuple[str, bytes | Mail]]:
    """Each attachment's name for people and its content; of a forwarded mail, the mail. Raises Refused."""
    with _followed():
        for number, (part, pictured) in enumerate(_leaves(mail), 1):
            forwarded = part.get_payload(0) if part.get_content_type() == "message/rfc822" else None
            if isinstance(forwarded, Mail):
                name = _file_name(part) or subject(forwarded) or f"#{number}"
                yield name, _packed_mail(part, forwarded) or forwarded
                continue
            content = _content(part)
            if content.startswith(zip_parts.MAGIC) or not _is_of_mail(part, pictured):
                yield _file_name(part) or f"#{number}", content


def offers_link(mail: Mail) -> bool:
    """Whether it speaks of an itinerary and holds a web address. Raises Refused."""
    with _followed():
        texts = [
            _text(_content(part)[:_TEXT_BYTES], part.get_content_charset() or "")
            for part, _ in _leaves(mail)
            if part.get_content_maintype() == "text"
        ]
        whole = "\n".join([subject(mail), *texts])
    return bool(_WORDS.search(whole) and _LINK.search(whole))


def is_page_with_link(content: bytes) -> bool:
    """Whether a file is a web page that speaks of an itinerary and links to somewhere."""
    if not _PAGE.match(content):
        return False
    text = decoded(content[:_TEXT_BYTES])
    return bool(_WORDS.search(text) and _LINK_OF_PAGE.search(text))


def subject(mail: Mail) -> str:
    """A mail's subject for people, "" without one."""
    return quoted(one_line(_words(_raw(mail, "subject"))))


def day(mail: Mail) -> str:
    """The day on which a mail says that it was sent, where it was sent; "" where it does not say one."""
    try:
        return parsedate_to_datetime(_raw(mail, "date")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def headers(head: bytes) -> Mail:
    """The headers at a mail's beginning."""
    return email.message_from_bytes(_END_OF_HEADERS.split(head, 1)[0], policy=_CUT)


@contextlib.contextmanager
def _followed() -> Iterator[None]:
    """What mails break Python's parser with is that they can't be understood."""
    try:
        yield
    except (MessageError, RecursionError, AssertionError, ValueError, LookupError, TypeError, AttributeError):
        raise Refused(Seen.DAMAGED_MAIL) from None


def _leaves(mail: Mail, pictured: bool = False) -> Iterator[tuple[Mail, bool]]:
    """Its parts that are not themselves of parts, and whether each may be a picture within a text (RFC 2387)."""
    parts = mail.get_payload()
    if mail.get_content_maintype() == "multipart" and isinstance(parts, list):
        for part in parts:
            if isinstance(part, Mail):
                yield from _leaves(part, pictured or mail.get_content_subtype() == "related")
    else:
        yield mail, pictured


def _is_of_mail(part: Mail, pictured: bool) -> bool:
    """Whether a part is the mail's own text, a picture in it, a signature, or a report of a mail server."""
    if part.get_content_type() in _SIGNATURES or part.get_content_maintype() in ("message", "multipart"):
        return True
    if pictured and part.get_content_maintype() == "image" and part["content-id"]:
        return True
    return (
        part.get_content_maintype() == "text"
        and part.get_content_disposition() != "attachment"
        and not _file_name(part)
    )


def _content(part: Mail) -> bytes:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return b""
    undecoded = any(isinstance(defect, InvalidBase64LengthDefect) for defect in part.defects)
    return _of_base64(content) if undecoded else content


def _of_base64(text: bytes) -> bytes:
    """What Base64 says, be it cut off anywhere: of a group's four characters the first alone says no byte (RFC 4648, 4), and Python refuses
    it.
    """
    digits = _NOT_BASE64.sub(b"", text.partition(b"=")[0])
    return base64.b64decode(digits[: len(digits) - (len(digits) % 4 == 1)] + b"==")


def _packed_mail(part: Mail, forwarded: Mail) -> bytes | None:
    """A forwarded mail that some programs encode whole, against RFC 2046 5.2.1; None where it is as it should be."""
    text = forwarded.get_payload()
    if _raw(part, "content-transfer-encoding").strip().lower() != "base64" or not isinstance(text, str):
        return None
    return _of_base64(text.encode("ascii", "ignore"))


def _raw(mail: Mail, name: str) -> str:
    """A header as it stands in the mail, on one line; of several the first."""
    for key, value in mail.raw_items():
        if key.lower() == name:
            return " ".join(decoded(str(value).encode("utf-8", "surrogateescape")).splitlines())
    return ""


def _file_name(part: Mail) -> str:
    """The name that a part is to be saved under, for people; "" without one."""
    plain = Mail()
    for name in ("Content-Disposition", "Content-Type"):
        plain[name] = _raw(part, name.lower())
    return shown_name(_words(plain.get_filename() or "").encode("utf-8", "replace"))


def _words(text: str) -> str:
    """A header's text, its encoded words (RFC 2047) read."""
    if "=?" not in text:
        return text
    try:
        pieces = decode_header(text)
    except (MessageError, ValueError):
        return text
    return "".join(
        piece if isinstance(piece, str) else _text(piece, charset or "") if charset else _unencoded(piece)
        for piece, charset in pieces
    )


def _unencoded(piece: bytes) -> str:
    """What stands between encoded words: `decode_header` gives it so."""
    return piece.decode("raw-unicode-escape", "replace")


def _text(content: bytes, charset: str) -> str:
    try:
        return content.decode(_LARGER_SET.get(charset.lower(), charset or "utf-8"))
    except (LookupError, ValueError):
        return decoded(content)
