"""What a form brings: its token, its fields, and the files of one with files, which are taken as they come and bounded."""

from collections.abc import AsyncIterator
from typing import BinaryIO

from aiohttp import BodyPartReader, MultipartReader, web

from pipeline.model.message import message
from pipeline.page.refused import Refused

#: Bytes of one upload, all of its files together; and of a form without files.
MOST_UPLOADED, MOST_TYPED = 200_000_000, 2_000_000

_PARTS: web.RequestKey[MultipartReader] = web.RequestKey("parts", MultipartReader)
_TOKEN = "csrf"  # noqa: S105 - the field's name
_LONGEST_TOKEN = 200  # bytes
_MOST_PARTS = 2_000


async def token_given(request: web.Request) -> str:
    """The token that a request brings: in its header, or as a field of its form, the first one where the form has files."""
    if header := request.headers.get("X-CSRF-Token"):
        return header
    if request.content_type == "multipart/form-data":
        request[_PARTS] = await request.multipart()
        first = await request[_PARTS].next()
        if isinstance(first, BodyPartReader) and first.name == _TOKEN:
            return (await first.read_chunk(_LONGEST_TOKEN)).decode("ascii", "replace")
        return ""
    if request.content_type == "application/x-www-form-urlencoded":
        token = (await request.post()).get(_TOKEN, "")
        return token if isinstance(token, str) else ""
    return ""


async def typed(request: web.Request, name: str) -> str:
    """A field of a form without files, its line breaks as the script and files have them; "" where it is not there."""
    value = (await request.post()).get(name, "")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


async def parts(request: web.Request) -> AsyncIterator[BodyPartReader]:
    """The fields and files of a form with files, one after another, each to be read before the next."""
    if _PARTS not in request:
        request[_PARTS] = await request.multipart()
    count = 0
    async for part in request[_PARTS]:
        count += 1
        if count > _MOST_PARTS:
            raise too_large()
        if isinstance(part, BodyPartReader) and part.name != _TOKEN:
            yield part


async def take(part: BodyPartReader, into: BinaryIO, left: int) -> int:
    """Write one file of an upload; how many bytes may still come after it. Raises Refused where it is more than is `left`."""
    while chunk := await part.read_chunk(1 << 18):
        left -= len(chunk)
        if left < 0:
            raise too_large()
        into.write(chunk)
    return left


def too_large() -> Refused:
    """An upload that is more than is taken."""
    return Refused(
        413,
        message(
            "This is more than {most} MB, which is not taken at once; upload the files one after another",
            most=MOST_UPLOADED // 1_000_000,
        ),
    )
