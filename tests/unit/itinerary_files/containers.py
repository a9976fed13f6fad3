"""Archives and mails made for tests, good ones and bad ones."""

import base64
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable

#: Told to be an OFD by its parts; what is in them matters to the reader alone.
BOUNDARY = b"=B"


def zipped(parts: Iterable[tuple[str | zipfile.ZipInfo, bytes]], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packed) as archive:
        for name, content in parts:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            archive.writestr(info, content, packed)
    return file.getvalue()


def ofd(text: str = "") -> bytes:
    """What is told to be an OFD."""
    return zipped([("OFD.xml", f"<OFD>{text}</OFD>".encode()), ("Doc_0/Document.xml", b"<Document/>")])


def raw_zip(parts: Iterable[tuple[bytes, bytes, dict[str, int]]]) -> bytes:
    """An archive whose fields may say anything: each part's name, its bytes as stored, and the fields that are to differ.

    Fields: `flags`, `method`, `crc`, `packed`, `size`, `offset` (of the header that the list of parts names), `attributes`.
    """
    body, listing, count = bytearray(), bytearray(), 0
    for name, content, fields in parts:
        crc, size = fields.get("crc", zlib.crc32(content)), fields.get("size", len(content))
        packed, flags, method = (
            fields.get("packed", len(content)),
            fields.get("flags", 0),
            fields.get("method", 0),
        )
        shared = struct.pack("<HHHHIIIHH", flags, method, 0, 33, crc, packed, size, len(name), 0)
        offset = fields.get("offset", len(body))
        body += b"PK\3\4" + struct.pack("<H", 20) + shared + name + content
        listing += b"PK\1\2" + struct.pack("<HH", 0x0314, 20) + shared
        listing += struct.pack("<HHHII", 0, 0, 0, fields.get("attributes", 0), offset) + name
        count += 1
    end = struct.pack("<HHHHIIH", 0, 0, min(count, 65535), min(count, 65535), len(listing), len(body), 0)
    return bytes(body + listing) + b"PK\5\6" + end


def part(content: bytes, *headers: bytes, kind: bytes = b"application/octet-stream") -> bytes:
    """A part of a mail."""
    lines = [b"Content-Type: " + kind, b"Content-Transfer-Encoding: base64", *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + base64.encodebytes(content).replace(b"\n", b"\r\n")


def mail(
    *parts: bytes, subject: bytes = b"hello", kind: bytes = b"multipart/mixed", boundary: bytes = BOUNDARY
) -> bytes:
    """A mail of these parts."""
    head = (
        b"From: carrier@example.cn\r\nTo: a@b.cn\r\nDate: Tue, 08 Sep 2026 10:00:00 +0800\r\nSubject: "
        + subject
    )
    head += b"\r\nMIME-Version: 1.0\r\nContent-Type: " + kind + b'; boundary="' + boundary + b'"\r\n\r\n'
    return head + b"".join(b"--" + boundary + b"\r\n" + one for one in parts) + b"--" + boundary + b"--\r\n"


def text_mail(text: str, subject: str = "", encoding: str = "utf-8") -> bytes:
    """A mail of one text and nothing else."""
    head = f"From: carrier@example.cn\r\nSubject: {subject}\r\nContent-Type: text/plain; charset={encoding}\r\n\r\n"
    return f"{head}{text}\r\n".encode(encoding)


def attached(content: bytes, name: bytes = b"x.ofd") -> bytes:
    """A file that is attached."""
    return part(content, b'Content-Disposition: attachment; filename="' + name + b'"')


def overlapping(parts: int, size: int) -> bytes:
    """Many parts that are one deflated run of zeros: the list of parts names the same bytes over and over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = b"\0" * size
    content = packer.compress(zeros) + packer.flush()
    fields = {"method": 8, "size": size, "crc": zlib.crc32(zeros), "packed": len(content)}
    first = (b"0", content, fields)
    return raw_zip([first, *((b"0", b"", fields | {"offset": 0}) for _ in range(parts - 1))])
