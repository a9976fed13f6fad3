"""Ticket numbers that stand in two columns: the airline's three digits (ticket_prefix 结算代码), and the other ten.

Source: interface.md, Input columns: ticket_no, ticket_prefix.

>>> prefixes, numbers = ["999", 999.0, "18", "", "784"], [2420000001.0, "9992420000001"] * 2 + ["999-2420000001"]
>>> put_together({"ticket_prefix": Cells.of(prefixes), "ticket_no": Cells.of(numbers)}).objects().tolist()
['999-2420000001', '9992420000001', '18-2420000001', '9992420000001', '784-999-2420000001']
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.model.shown_cells import shown
from pipeline.reading.character_width import one_width
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Cells, Sheet

_AIRLINE, _REST, _WHOLE = (re.compile(digits) for digits in ("[0-9]{3}", "[0-9]{10}", "[0-9]{3}-?[0-9]{10}"))
_SPACES = re.compile(r"\s+")


def of_sheet(sheet: Sheet, layout: Layout) -> Cells:
    """The ticket numbers of all rows of a sheet that has headings of tickets."""
    wanted = ("ticket_no", "ticket_prefix")
    return put_together(
        {name: sheet.columns[layout.columns[name]] for name in wanted if name in layout.columns}
    )


def put_together(columns: Mapping[str, Cells]) -> Cells:
    """Each row's ticket number: the cell itself, or the airline's digits and the other ten."""
    numbers = columns["ticket_no"]
    if "ticket_prefix" not in columns:
        return numbers
    prefixes, size = columns["ticket_prefix"], len(numbers.different)
    pairs, codes = np.unique(prefixes.codes.astype(np.int64) * size + numbers.codes, return_inverse=True)
    found = [
        _ticket_no(prefixes.different[prefix], numbers.different[number])
        for prefix, number in zip(*(part.tolist() for part in np.divmod(pairs, size)), strict=True)
    ]
    return Cells(found, codes.astype(np.int32))


def _ticket_no(prefix: Any, number: Any) -> Any:
    """Both as one text; a number that is whole says all, unless another airline's digits stand beside it."""
    airline, plain = (_SPACES.sub("", one_width(shown(cell))) for cell in (prefix, number))
    differs = _WHOLE.fullmatch(plain) and _AIRLINE.fullmatch(airline) and not plain.startswith(airline)
    return f"{airline}-{plain}" if differs or (airline and _REST.fullmatch(plain)) else number
