"""Where everything stands in the result workbook, so that its sheets can point at each other."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pipeline.model.lazy import LazySequence
from pipeline.model.result import RunResult
from pipeline.model.result_values import RequestResult
from pipeline.reporting.rows_by_position import ByRow

#: Links that a sheet may hold: a spreadsheet program takes 65,530, and refuses a file with more.
MOST_LINKS = 65_000

#: Rows of data that one sheet takes below its headings.
ROOM = 1_048_575


class Cell(NamedTuple):
    """A value that is shown in a special way: as a link, marked as to be corrected, or in another tone than its own."""

    value: object
    link: str = ""
    marked: bool = False
    tone: str = ""


def part(name: str, number: int) -> str:
    """The name of a sheet's part: where it is full, it goes on in "name 2" and so on.

    >>> part("Rows", 0), part("Rows", 1)
    ('Rows', 'Rows 2')
    """
    return f"{name} {number + 1}" if number else name


def to_line(name: str, position: int) -> str:
    """The place of a sheet's row of data, counted from 0, as a link.

    >>> to_line("Rows", 0), to_line("Rows", ROOM)
    ("internal:'Rows'!A2", "internal:'Rows 2'!A2")
    """
    return f"internal:'{part(name, position // ROOM)}'!A{line_number(position)}"


def line_number(position: int) -> int:
    """The number of a sheet's row of data, counted from 0, as the spreadsheet program shows it.

    >>> line_number(0), line_number(ROOM)
    (2, 2)
    """
    return position % ROOM + 2


def _lines(name: str, keys: Iterable[object]) -> dict[object, str]:
    return {key: to_line(name, position) for position, key in enumerate(keys)}


class AllRequests(LazySequence[RequestResult]):
    """The requests for a voucher in the order of their sheet: this run's, then those that earlier runs had issued.

    What each asks for, and its ID, is there without its result being made.
    """

    def __init__(self, result: RunResult, voucher: str) -> None:
        own = {at: asked for at, asked in enumerate(result.asked) if asked.voucher == voucher}
        before = [one for one in result.issued_before if one.request.voucher == voucher]
        places = [*own]
        super().__init__(
            len(own) + len(before),
            lambda at: result.requests[places[at]] if at < len(own) else before[at - len(own)],
        )
        self.asked = [*own.values(), *(one.request for one in before)]
        self.ids = [*(asked.request_id for asked in own.values()), *(one.request_id for one in before)]


class Places:
    """The links of one run's workbook: to requests and doubts by their ID, to failed rows by their position."""

    def __init__(self, result: RunResult) -> None:
        self.rows = ByRow(result)
        self.requests: Mapping[object, str] = {
            **_lines("Invoices", AllRequests(result, "invoice").ids),
            **_lines("Itineraries", AllRequests(result, "itinerary").ids),
        }
        self.doubts: Mapping[object, str] = _lines("Unknown", (doubt.request_id for doubt in result.doubts))
        self.failures: Mapping[object, str] = _lines("Failures", self.rows.failed)
        self.repeats = result.repeats

    def looked_into(self) -> set[int]:
        """The rows of which `remedy` may say a place, by their positions."""
        found = {*self.rows.failed, *self.repeats}
        if self.doubts:
            asked = enumerate(self.rows.requests)
            found.update(position for position, ids in asked if not self.doubts.keys().isdisjoint(ids))
        return found

    def remedy(self, position: int) -> str:
        """Where to look for a row: its line of Failures, or of Unknown, or the row that it repeats; "" where nowhere."""
        if position in self.failures:
            return self.failures[position]
        asked = self.rows.requests[position] if self.doubts else ()
        unknown = next((self.doubts[request] for request in asked if request in self.doubts), "")
        return unknown or (self.row(self.repeats[position]) if position in self.repeats else "")

    @staticmethod
    def row(position: int) -> str:
        """Where an input row stands on the sheet Rows."""
        return to_line("Rows", position)


class NoPlaces(Places):
    """For a workbook without the sheets that these links lead to."""

    def __init__(self, result: RunResult) -> None:
        self.rows = ByRow(result)
        self.requests = self.doubts = self.failures = {}
        self.repeats = {}

    @staticmethod
    def row(position: int) -> str:  # noqa: ARG004 - there is no such sheet
        """Nowhere."""
        return ""
