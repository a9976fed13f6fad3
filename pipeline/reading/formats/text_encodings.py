"""What encoding a text is in: UTF-8 or UTF-16 where its bytes tell so, else GB18030 or Big5.

Nearly any bytes are a text in either of the last two. So both are handed over, and whoever knows the headings chooses the one
in which they make sense.
"""

import codecs
from collections.abc import Iterator

from pipeline.reading.formats.refusal import Refusal, Seen

#: Told by headings alone; the more frequent first.
_CHINESE = ("gb18030", "big5hkscs")


def start_of(content: bytes) -> str:
    """The text's beginning as far as it can be told, to see whether it is a web page."""
    head = content[:4096]
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if head.startswith(mark):
            return head.decode(encoding, errors="replace").strip()
    return head.removeprefix(codecs.BOM_UTF8).replace(b"\x00", b"").decode("latin-1").strip()


def certain_text(content: bytes, signs: str) -> str | None:
    """The text, where the bytes themselves tell its encoding; None where they don't.

    UTF-16 without its mark is told by one of the `signs`, of which any text has some. Raises Refusal where UTF-16 breaks off.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decoded(content, "utf-16")
    if encoding := _plain_utf16(content, signs):
        return _decoded(content, encoding)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def possible_texts(content: bytes) -> Iterator[str]:
    """What the bytes say in each encoding that they may be in, where none is certain."""
    for encoding in _CHINESE:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        yield text


def of_no_encoding(content: bytes) -> Refusal:
    """The refusal of a text that is not UTF-8, and of which nothing tells what it is."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Refusal("encoding", Seen.BYTE, byte=error.start + 1)
    return Refusal("encoding")


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Refusal("damaged", Seen.TEXT_ENDS, byte=error.start + 1) from error


def _plain_utf16(content: bytes, signs: str) -> str:
    """UTF-16 without its mark: each line break and separator has a zero byte, always on the same side."""
    sample = content[:65_536]
    if b"\x00" not in sample:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if min(even, odd) or len(content) % 2:
        return ""
    encoding = "utf-16-le" if odd else "utf-16-be"
    text = sample.decode(encoding, errors="replace")
    return encoding if any(sign in text for sign in signs) else ""
