"""A month's rows: all of them in a table that the server pages, sorts, filters and searches, and one row by itself, to be corrected."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode

import orjson
from aiohttp import web

from pipeline.messages.translate import rendered
from pipeline.model.message import Term, message
from pipeline.model.status import STATUS
from pipeline.page import month_corrections, months, work
from pipeline.page.html import see_other, shown
from pipeline.page.month_corrections import Correction
from pipeline.page.months import Month, Overtaken
from pipeline.page.refused import Refused
from pipeline.page.rows_file import FAILING, SORTS, Asked, Row, RowsFile, columns_of
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import fields, typed
from pipeline.page.view_month import asked_for
from pipeline.page.visitor import visitor_of
from pipeline.page.vocabulary import Words
from pipeline.rules.buyer_lookup import name_key

#: What a table of rows shows of each.
COLUMNS = ("row", "ticket_no", "passenger_name", "charge", "voucher", "buyer", "amount", "status", "last_day")


def rows_of(request: web.Request, month: Month) -> RowsFile:
    """The rows of a month, in the visitor's language."""
    folder = months.folder_of(request.app[SETTINGS].folder, month.id)
    return RowsFile(folder / "rows.sqlite", visitor_of(request).lang)


async def rows(request: web.Request) -> web.StreamResponse:
    """A screen of the rows: `status`, `q`, `sort`, `desc` and `page` in the address say which."""
    month, asked = await asked_for(request), _asked(request)
    screen = await asyncio.to_thread(rows_of(request, month).screen, asked)
    asked = replace(asked, page=min(asked.page, screen.pages))

    def address(**other: Any) -> str:
        said = {
            "status": asked.status, "q": asked.text, "sort": asked.sort, "desc": "1" if asked.descending else "",
            "day": asked.day, "reason": asked.reason, "page": str(asked.page), **other,
        }  # fmt: skip
        kept = {name: value for name, value in said.items() if value and (name, value) not in _USUAL}
        return f"/months/{month.id}/rows" + (f"?{urlencode(kept)}" if kept else "")

    corrected = await asyncio.to_thread(_corrected, request, month)
    return shown(
        request, "rows.html", month=month, screen=screen, asked=asked, address=address, sorts=SORTS,
        failing=FAILING, statuses=STATUS, columns=COLUMNS,
        page_address=lambda page: address(page=str(page)), corrected=corrected, words=Words(visitor_of(request).lang),
        buyers=await asyncio.to_thread(_buyer_names, request, month),
    )  # fmt: skip


_USUAL = (("sort", "row"), ("page", "1"))


def _asked(request: web.Request) -> Asked:
    said = request.query
    return Asked(
        said.get("status", ""),
        said.get("q", "")[:200],
        said.get("sort", "row") if said.get("sort") in SORTS else "row",
        said.get("desc") == "1",
        page_asked(request),
        said.get("day", "")[:10],
        said.get("reason", "")[:100],
    )


def page_asked(request: web.Request) -> int:
    """Which page of a list is asked for, from 1 on."""
    return max(_number(request.query.get("page", "1")), 1)


def _number(text: str) -> int:
    """A whole number of an address, -1 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS else -1


_MOST_DIGITS = 10


def _corrected(
    request: web.Request, month: Month
) -> dict[tuple[str, str, int], dict[str, month_corrections.Kept]]:
    """The corrections that stand, by row and column."""
    found: dict[tuple[str, str, int], dict[str, month_corrections.Kept]] = {}
    for one in month_corrections.corrections(request.app[SETTINGS].folder, month.id):
        found.setdefault((one.file, one.sheet, one.line), {})[one.column] = one
    return found


def _changed(request: web.Request, month: Month, one: Row) -> dict[str, month_corrections.Kept]:
    """The corrections of one row that stand, by column."""
    return _corrected(request, month).get((one.file, one.sheet, one.line), {})


def known_buyers(request: web.Request, month: Month) -> list[dict[str, str]]:
    """The buyers of a month, those that were added or corrected on the page as they are said there; `by` is who did."""
    said = {name_key(one["buyer"]): one for one in rows_of(request, month).buyers()}
    for one in month_corrections.buyers(request.app[SETTINGS].folder, month.id):
        said[name_key(one["buyer"])] = one
    return sorted(said.values(), key=itemgetter("buyer"))


def _buyer_names(request: web.Request, month: Month) -> dict[str, str]:
    """The buyers that a row may name, each as its own word."""
    return {one["buyer"]: one["buyer"] for one in known_buyers(request, month)}


async def row(request: web.Request) -> web.StreamResponse:
    """One row, with every cell that can be corrected."""
    month = await asked_for(request)
    one = await _row(request, month)
    return shown(
        request, "row.html", month=month, row=one, columns=columns_of(one), words=Words(visitor_of(request).lang),
        changed=await asyncio.to_thread(_changed, request, month, one),
        buyers=await asyncio.to_thread(_buyer_names, request, month), statuses=STATUS,
    )  # fmt: skip


def _check_same(one: Row, said: Mapping[str, str]) -> None:
    """Raises Overtaken where the row at an index is not the one of the file, sheet and line that the person saw there."""
    if (said["file"], said["sheet"], said["line"]) != (one.file, one.sheet, str(one.line)):
        raise Overtaken(
            "Another row stands here by now, since files were taken out or brought, and nothing was saved. Look at the rows again."
        )


_PLACE = ("file", "sheet", "line")


async def _row(request: web.Request, month: Month) -> Row:
    said = request.match_info["row"]
    found = await asyncio.to_thread(rows_of(request, month).row, _number(said))
    if found is None:
        raise Refused(404, message("The month has no such row."))
    return found


async def row_state(request: web.Request) -> web.StreamResponse:
    """What the script asks for after a correction (JSON): whether the month is judged, and if so the row as it is shown now.

    `part` says which part of a page is to be replaced; `told` is said to whoever does not see it.
    """
    month = await asked_for(request)
    judged = month.judged == month.version or bool(month.problem)
    told: dict[str, Any] = {"judged": judged, "stamp": month.stamp}
    if judged:
        one, lang = await _row(request, month), visitor_of(request).lang
        _check_same(one, {name: request.query.get(name, "") for name in _PLACE})
        part = "row_cells.html" if request.query.get("part") == "row_cells" else "row_group.html"
        columns = columns_of(one) if part == "row_cells.html" else COLUMNS
        shown_now = shown(
            request, part, month=month, row=one, columns=columns, words=Words(lang), statuses=STATUS,
            changed=await asyncio.to_thread(_changed, request, month, one),
            buyers=await asyncio.to_thread(_buyer_names, request, month),
        )  # fmt: skip
        status = Term(one.status, "status")
        told |= {
            "html": shown_now.text,
            "told": rendered(message("Row {row}: {status}", row=one.line, status=status), lang),
        }
    return web.Response(body=orjson.dumps(told), content_type="application/json")


async def correct(request: web.Request) -> web.StreamResponse:
    """Save what the cells of a row are to say, each where it still says what the person saw, and judge the month anew.

    The form has the row's `file`, `sheet` and `line`, and `cell.COLUMN` and `seen.COLUMN` for each cell; the script sends one
    cell at a time and is answered with JSON.
    """
    settings, visitor, month = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    one, form = await _row(request, month), await fields(request)
    _check_same(one, {name: await typed(request, name) for name in _PLACE})
    columns = [name.removeprefix("cell.") for name in form if name.startswith("cell.")]
    known = {*columns_of(one), *one.cells, *await asyncio.to_thread(_changed, request, month, one)}
    if not known.issuperset(columns):
        raise Refused(400, message("The form is not as it was shown; open the page again."))
    wanted = [
        Correction(
            one.file, one.sheet, one.line, column,
            (await typed(request, f"cell.{column}")).strip(), (await typed(request, f"seen.{column}")).strip(),
        )
        for column in columns
    ]  # fmt: skip

    def saved() -> None:
        changed = [correction for correction in wanted if correction.value != correction.seen]
        month_corrections.correct(settings.folder, month.id, changed, one.cells, visitor.name)
        work.judge(settings, month.id, visitor.name)

    await asyncio.to_thread(saved)
    if "application/json" in request.headers.get("Accept", ""):
        return web.Response(body=b"{}", content_type="application/json")
    return see_other(f"/months/{month.id}/rows/{one.at}")


async def take_back(request: web.Request) -> web.StreamResponse:
    """Let a cell say again what its file says, where the correction is the one that the person saw (`seen`)."""
    settings, by, month = request.app[SETTINGS], visitor_of(request).name, await asked_for(request)
    file, sheet, line, column, seen = [await typed(request, name) for name in (*_PLACE, "column", "seen")]
    wanted = Correction(file, sheet, _number(line), column, "", seen)

    def taken_back() -> None:
        month_corrections.take_back(settings.folder, month.id, wanted, by)
        work.judge(settings, month.id, by)

    await asyncio.to_thread(taken_back)
    return see_other(f"/months/{month.id}")
