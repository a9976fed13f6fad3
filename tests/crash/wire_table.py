"""The whole table of faults, and what of it the program is known to get wrong."""

from collections.abc import Iterator, Sequence

from tests.crash import wire_broken, wire_said
from tests.crash.wire_bench import Case
from tests.crash.wire_fault import Fault

#: Rows by the beginning of their names, with the reason; each is a defect until the program is mended.
KNOWN_DEFECTS: dict[str, str] = {}


def faults(elsewhere: str = "http://127.0.0.1:9") -> list[Fault]:
    """Every row; `elsewhere` is the origin to which redirects would lead."""
    return [*wire_said.faults(), *wire_broken.faults(elsewhere)]


def defect(fault: Fault) -> str:
    """Why the program fails this row, "" where it does not."""
    return next((why for name, why in KNOWN_DEFECTS.items() if fault.name.startswith(name)), "")


def cases(table: Sequence[Fault]) -> Iterator[Case]:
    """Every row with every voucher and connection that it is for."""
    kinds = (
        (fault, voucher, reused) for fault in table for voucher in fault.vouchers for reused in fault.reused
    )
    for serial, (fault, voucher, reused) in enumerate(kinds, start=1):
        yield Case(fault, voucher, reused, serial)
