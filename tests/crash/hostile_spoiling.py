"""Ways to spoil a file: see hostile_files. Each takes a chance (a random.Random) and the bytes, and gives bytes."""

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from random import Random

Spoil = Callable[[Random, bytes], bytes]

_NUMBERS = (
    "0",
    "-1",
    "1",
    "16384",
    "1048576",
    "1048577",
    "4294967295",
    "99999999999999999999",
    "1e309",
    "NaN",
    "",
)
_PLACES = (
    "XFD1048576",
    "A1048576",
    "XFD1",
    "ZZZ9",
    "AAAAAAA1",
    "A0",
    "A99999999999",
    "ALL100000",
    "1A",
    "",
    "$A$1",
    "C3",
)
_TYPES = ("s", "e", "str", "inlineStr", "b", "n", "d", "x", "")
_BITS = (
    b"\x00",
    b"\xff",
    b"<",
    b">",
    b"&",
    b'"',
    b"\r",
    b"</c>",
    b"]]>",
    b"<!--",
    b"&lol;",
    b"\xff\xfe",
    b"<?",
    b"\xf0\x9f",
)


def flipped(chance: Random, content: bytes) -> bytes:
    """Some bytes are others."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        if made:
            made[chance.randrange(len(made))] = chance.randrange(256)
    return bytes(made)


def cut(chance: Random, content: bytes) -> bytes:
    """The end is missing, or a piece in the middle, or it is there twice."""
    first, last = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return chance.choice(
        (content[:first], content[:first] + content[last:], content[:last] + content[first:], content[first:])
    )


def stuffed(chance: Random, content: bytes) -> bytes:
    """Something stands in it that has no business there."""
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice(_BITS) * chance.choice((1, 1, 3, 5_000)) + content[at:]


def wild_numbers(chance: Random, content: bytes) -> bytes:
    """Places, counts and types in XML are impossible ones, or far away."""
    for _ in range(chance.choice((1, 1, 3))):
        what, values = chance.choice(
            (
                (rb'\br="[^"]*"', _PLACES),
                (rb'\bref="[^"]*"', _PLACES),
                (rb'\bt="[^"]*"', _TYPES),
                (rb'\bs="[^"]*"', _NUMBERS),
                (rb'-repeated="[^"]*"', _NUMBERS),
                (
                    rb'\b(?:office:value|r:id|Target|name|office:value-type|number-columns-repeated)="[^"]*"',
                    _NUMBERS,
                ),
                (rb"<v>[^<]*</v>", _NUMBERS),
            )
        )
        if places := list(re.finditer(what, content)):
            found = chance.choice(places)
            text = chance.choice(values).encode()
            made = (
                b"<v>" + text + b"</v>"
                if found[0].startswith(b"<v>")
                else found[0].split(b'"')[0] + b'"' + text + b'"'
            )
            content = content[: found.start()] + made + content[found.end() :]
    return content


def bomb(chance: Random, content: bytes) -> bytes:
    """XML with entities that grow, or a tag in a tag in a tag, or an endless attribute."""
    lol = (
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
        + b"]>"
    )
    at = content.find(b"?>") + 2
    end = content.find(b"<v>") + 3
    return chance.choice(
        (
            content[:at] + lol + content[at:].replace(b"<v>", b"<v>&j;", 1).replace(b"<t>", b"<t>&j;", 1),
            content[:at] + b'<!DOCTYPE x SYSTEM "file:///etc/passwd">' + content[at:],
            content[:end] + b"<c>" * 100_000 + content[end:],
            content[:at] + b'<x y="' + b"z" * 1_000_000 + b'"/>' + content[at:],
            content.decode("utf-8", errors="replace").encode("utf-16"),
        )
    )


@cache
def _zeros(size: int) -> tuple[bytes, int]:
    """So many zero bytes, deflated, and their checksum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece, packed, check = bytes(1 << 20), [], 0
    for _ in range(size >> 20):
        packed.append(packer.compress(piece))
        check = zlib.crc32(piece, check)
    return b"".join([*packed, packer.flush()]), check


def _parts(content: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _packed(parts: list[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # two parts of one name are meant
        for name, content in parts:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return made.getvalue()


def in_a_part(spoil: Spoil, at_first: bool = False) -> Spoil:
    """The same, done to what a part of the archive unpacks to."""

    def spoilt(chance: Random, content: bytes) -> bytes:
        parts = _parts(content)
        likely = [n for n, (name, _) in enumerate(parts) if "sheet" in name.lower() or name == "content.xml"]
        at = chance.choice(likely) if at_first or chance.random() < 0.6 else chance.randrange(len(parts))
        parts[at] = (parts[at][0], spoil(chance, parts[at][1]))
        return _packed(parts)

    return spoilt


def parts_changed(chance: Random, content: bytes) -> bytes:
    """A part is missing, exchanged, there under another name, or one is there that should not be."""
    parts = _parts(content)
    at, other = chance.randrange(len(parts)), chance.randrange(len(parts))
    (name, inside), (other_name, other_inside) = parts[at], parts[other]
    change = chance.randrange(6)
    if change == 0:
        del parts[at]
    elif change == 1:
        parts[at], parts[other] = (name, other_inside), (other_name, inside)
    elif change == 2:
        parts[at] = (
            chance.choice(
                (name.upper(), "/" + name, "../" + name, name.replace("/", "\\"), "", "x" * 60_000)
            ),
            inside,
        )
    elif change == 3:
        parts.append(
            (chance.choice(("xl/vbaProject.bin", "mimetype", "xl/workbook.bin", "content.xml")), inside)
        )
    elif change == 4:
        parts[at] = (name, b"")
    else:
        parts.append((name.swapcase(), other_inside))
    return _packed(parts)


def archive_lies(chance: Random, content: bytes) -> bytes:
    """The archive's directory says of a part what is not so: its size, its packing, that it has a password."""
    made = bytearray(content)
    entries = [found.start() for found in re.finditer(rb"PK\x01\x02", content)]
    if not entries:
        return flipped(chance, content)
    at = chance.choice(entries)
    field, length = chance.choice(((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (42, 4), (28, 2)))
    made[at + field : at + field + length] = chance.choice(
        (b"\xff" * 4, b"\x00" * 4, b"\x01\x00\x00\x00", b"\x09\x00\x00\x00", chance.randbytes(4))
    )[:length]
    return bytes(made)


def zip_bomb(chance: Random, content: bytes) -> bytes:
    """A part unpacks to hundreds of megabytes, whether the archive says so or not."""
    parts = _parts(content)
    names = [
        name
        for name, _ in parts
        if "sheet" in name.lower() or "haredStrings" in name or name == "content.xml"
    ]
    name, size = chance.choice(names or [parts[0][0]]), 256 << 20
    packed, check = _zeros(size)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for other, inside in parts:
            if other != name:
                archive.writestr(other, inside)
        info = zipfile.ZipInfo(name)
        archive.writestr(info, packed)
        info.compress_type, info.CRC = zipfile.ZIP_DEFLATED, check
        info.file_size = size if chance.random() < 0.5 else chance.choice((0, 100, 1 << 31))
    return made.getvalue()


#: What is done to which kind of file; the more frequent ones more than once.
TO_ARCHIVES: tuple[Spoil, ...] = (
    flipped,
    cut,
    in_a_part(flipped),
    in_a_part(cut),
    in_a_part(stuffed),
    in_a_part(wild_numbers, at_first=True),
    in_a_part(wild_numbers, at_first=True),
    in_a_part(wild_numbers),
    in_a_part(bomb),
    parts_changed,
    archive_lies,
)
TO_OTHERS: tuple[Spoil, ...] = (flipped, flipped, cut, stuffed)


def spoilt(chance: Random, content: bytes) -> bytes:
    """The file, spoilt in one or two ways."""
    for _ in range(chance.choice((1, 1, 2))):
        ways = TO_ARCHIVES if content.startswith(b"PK") else TO_OTHERS
        way = zip_bomb if ways is TO_ARCHIVES and chance.random() < 0.005 else chance.choice(ways)
        try:
            content = way(chance, content)
        except (
            zipfile.BadZipFile,
            zlib.error,
            ValueError,
            IndexError,
            NotImplementedError,
            RuntimeError,
            EOFError,
            OSError,
        ):
            content = flipped(chance, content)  # spoilt before, so that it can't be unpacked
    return content
