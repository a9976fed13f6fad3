"""The buyers of a register: which lines are of one buyer, what it is called, and a register for each (`--split-by buyer`)."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, count

from pipeline.model.columns import Lang
from pipeline.model.register_line import RegisterLine
from pipeline.reporting.output_paths import file_name
from pipeline.reporting.register_values import Register
from pipeline.reporting.words_register import label


def buyer_numbers(lines: Iterable[RegisterLine]) -> list[int]:
    """By line the number of its buyer, in the order in which they first stand.

    A buyer is its name and tax number; of those without one it takes telephone and e-mail to tell two of one name apart.
    A statement knows names alone: they mean the one buyer of that name, if there is just one.
    """
    lines = list(lines)
    of_name: dict[str, set[tuple[str, ...]]] = {}
    for line in lines:
        if not line.elsewhere:
            of_name.setdefault(_plain(line.buyer), set()).add(_buyer_key(line))
    numbers: dict[tuple[str, ...], int] = {}
    found = []
    for line in lines:
        key = _buyer_key(line)
        if line.elsewhere and len(meant := of_name.get(key[0], set())) == 1:
            (key,) = meant
        found.append(numbers.setdefault(key, len(numbers) + 1))
    return found


def _buyer_key(line: RegisterLine) -> tuple[str, ...]:
    return (
        (_plain(line.buyer), line.tax_no) if line.tax_no else (_plain(line.buyer), "", line.phone, line.email)
    )


@functools.cache
def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def split_by_buyer(register: Register) -> Iterator[Register]:
    """A register for each buyer, in the order of their numbers."""
    lines: dict[int, list[RegisterLine]] = {}
    for number, line in zip(register.buyers, register.lines, strict=True):
        lines.setdefault(number, []).append(line)
    for number, own in sorted(lines.items()):
        yield replace(register, lines=own, buyers=[number] * len(own), of_buyer=number, undated=0)


def names_by_buyer(registers: Iterable[Register], stem: str, lang: Lang) -> Iterator[tuple[Register, str]]:
    """Each buyer's register with a name for its workbook, which no other has where capitals make no difference."""
    taken: set[str] = set()
    for one in registers:
        buyer = file_name(buyer_of(one, lang)) if one.masks.whole else f"buyer-{one.of_buyer}"
        first = f"{stem}-{buyer or one.of_buyer}"
        name = next(
            name
            for name in chain([first], (f"{first}-{number}" for number in count(2)))
            if name.casefold() not in taken
        )
        taken.add(name.casefold())
        yield one, name


def shown_buyer(register: Register, number: int, name: str, lang: Lang) -> str:
    """A buyer's name."""
    if not name.strip():
        return label("no_buyer", lang)
    return register.masks.buyer(name, number)


def buyer_of(register: Register, lang: Lang) -> str:
    """The name of the one buyer that a register is of, as its ledger's own vouchers have it."""
    named = next((line for line in register.lines if not line.elsewhere), register.lines[0])
    return shown_buyer(register, register.of_buyer, named.buyer, lang)
