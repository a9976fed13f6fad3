"""What a form brings: its token, its fields, and the files of one with files, which are taken as they come and bounded."""

import contextlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping
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
_MOST_DIGITS = 10
_MULTIPART = "multipart/form-data"
#: A month, and a moment, as people type them.
MONTH = re.compile(r"20\d{2}-(0[1-9]|1[0-2])")
MOMENT = re.compile(r"20\d{2}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?")


@contextlib.contextmanager
def _understood() -> Iterator[None]:
    """Refuse what a stranger's form is no form by: whatever the parser raises there is no defect of ours."""
    try:
        yield
    except (web.HTTPException, OSError):
        raise
    except Exception:  # noqa: BLE001 - it raises ValueError, LookupError, AssertionError and more
        raise web.HTTPBadRequest from None


async def token_given(request: web.Request) -> str:
    """The token that a request brings: in its header, or as a field of its form, the first one where the form has files."""
    if header := request.headers.get("X-CSRF-Token"):
        return header
    if request.content_type == _MULTIPART:
        return await _first_token(request)
    if request.content_type == "application/x-www-form-urlencoded":
        return await typed(request, _TOKEN)
    return ""


async def _first_token(request: web.Request) -> str:
    token = b""
    with _understood():
        request[_PARTS] = await request.multipart()
        first = await request[_PARTS].next()
        if isinstance(first, BodyPartReader) and first.name == _TOKEN:
            while len(token) <= _LONGEST_TOKEN and (piece := await first.read_chunk(_LONGEST_TOKEN)):
                token += piece  # it may come in pieces
    return token.decode("ascii", "replace") if len(token) <= _LONGEST_TOKEN else ""


async def fields(request: web.Request) -> Mapping[str, str]:
    """The fields of a form without files, their line breaks as the script and files have them. Raises HTTPBadRequest for what is no such
    form.
    """
    if request.content_type == _MULTIPART or (request.charset or "utf-8").lower() != "utf-8":
        raise web.HTTPBadRequest
    with _understood():
        form = await request.post()
    return {name: value.replace("\r\n", "\n") for name, value in form.items() if isinstance(value, str)}


async def typed(request: web.Request, name: str) -> str:
    """A field of a form without files; "" where it is not there."""
    return (await fields(request)).get(name, "")


def month_asked_for(request: web.Request) -> str:
    """The month that the address names as its `month`, "" where it names none. Raises Refused for what is no month."""
    text = request.query.get("month", "").strip()
    if text and not MONTH.fullmatch(text):
        raise Refused(400, message("A month is written like 2026-10."))
    return text


def whole_number(text: str) -> int:
    """The number that a field says, 0 for what is none or is too long for one of ours."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS else 0


async def parts(request: web.Request) -> AsyncIterator[BodyPartReader]:
    """The fields and files of a form with files, one after another, each to be read before the next. Raises HTTPBadRequest for what is
    none.
    """
    with _understood():
        if _PARTS not in request:
            request[_PARTS] = await request.multipart()
    for _ in range(_MOST_PARTS):
        with _understood():
            part = await request[_PARTS].next()
            if part is None:
                return
            if not isinstance(part, BodyPartReader):
                continue
            name, _ = part.name, part.filename  # what is wrong with either shows when it is asked for
        if name != _TOKEN:
            yield part
    raise too_large()


async def piece_of(part: BodyPartReader, size: int) -> bytes:
    """The next bytes of a field or a file, none at its end. Raises HTTPBadRequest where the form ends within it."""
    with _understood():
        return await part.read_chunk(size)


async def take(part: BodyPartReader, into: BinaryIO, left: int) -> int:
    """Write one file of an upload; how many bytes may still come after it. Raises Refused where it is more than is `left`."""
    while piece := await piece_of(part, 1 << 18):
        left -= len(piece)
        if left < 0:
            raise too_large()
        into.write(piece)
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
