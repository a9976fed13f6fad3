"""Good files with random changes: none ends a process that reads, and none with a valid seal says anything else than was sealed.

The long form, of so many files: `VOUCHER_MUTATED_FILES=10000 pytest -m slow tests/unit/itinerary_files/test_mutated_ofd_files.py`.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.itinerary_files import reading_processes
from pipeline.itinerary_files.reading_processes import read_itinerary_files
from pipeline.model.itinerary_file import FoundFile, ReadFile, SealStatus
from tests.unit.itinerary_files.ofd_files import (
    ROOT,
    SIGNATURE,
    VALUE,
    Sealer,
    Voucher,
    issued,
    itinerary,
    parts,
    sealed,
    zipped,
)

SEED = 20_260_908
MANY = int(os.environ.get("VOUCHER_MUTATED_FILES", "2000"))
PARTS = sealed(parts(Voucher()), Sealer(), Sealer(signer=issued(61, "Seller", ROOT)))
WHOLE = zipped(PARTS)
#: What is put into texts.
SCRAPS = (
    b"",
    b"\0",
    b"&#0;",
    b"<",
    b"]]>",
    b"-1",
    b"9" * 30,
    b"\xff\xfe",
    "购买方名称:".encode(),
    b"</ofd:Page>",
    b"<!DOCTYPE x>",
    b"\x30\x84\xff\xff\xff\xff",
)


def changed(content: bytes, chance: random.Random) -> bytes:
    """Some bytes with one to four changes."""
    made = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(made) + 1), chance.choice((1, 1, 1, 2, 8, 64, 1000))
        match chance.randrange(6):
            case 0 if at < len(made):
                made[at] ^= 1 << chance.randrange(8)
            case 1:
                del made[at : at + length]
            case 2:
                made[at:at] = made[at : at + length]
            case 3:
                made[at:at] = chance.choice(SCRAPS)
            case 4:
                other = chance.randrange(len(made) + 1)
                made[at : at + length] = made[other : other + length]
            case _:
                made[at : at + length] = chance.randbytes(min(length, 8))
    return bytes(made)


def mutants(count: int) -> Iterator[FoundFile]:
    """Files whose bytes were changed, or a part of them, or whose parts were exchanged, renamed, or left out."""
    chance = random.Random(SEED)
    names = [*PARTS]
    for at in range(count):
        match chance.randrange(6):
            case 0:
                content = changed(WHOLE, chance)
            case 1:
                one, other = chance.sample(names, 2)
                content = zipped(PARTS | {one: PARTS[other]})
            case 2:
                gone = chance.choice(names)
                content = zipped({name: part for name, part in PARTS.items() if name != gone})
            case 3:
                seal = chance.choice(
                    [name for name in names if name.startswith(SIGNATURE[:11])] + [VALUE] * 3
                )
                content = zipped(PARTS | {seal: changed(PARTS[seal], chance)})
            case _:
                part = chance.choice(names)
                content = zipped(PARTS | {part: changed(PARTS[part], chance)})
        yield FoundFile((f"{at}",), content)


@pytest.mark.parametrize("count", [250, pytest.param(MANY, marks=pytest.mark.slow)])
def test_no_change_ends_a_process_or_passes_under_a_valid_seal(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, pids = reading_processes.started, list[int]()

    def started(script: Path, stdin: int) -> object:
        process = real(script, stdin=stdin)
        pids.append(process.pid)
        return process

    monkeypatch.setattr(reading_processes, "started", started)
    roots = (ROOT.certificate,)
    (_, good), *rest = read_itinerary_files([FoundFile(("good",), WHOLE), *mutants(count)], roots)
    assert (good.seal, good.problem) == (SealStatus.VALID, None)
    assert len(rest) == count
    assert len(pids) <= reading_processes.PROCESSES
    seals = {seal: [file for _, file in rest if file.seal is seal] for seal in SealStatus}
    assert all(_says_the_same(file, good) for file in seals[SealStatus.VALID])
    assert all(seals[seal] for seal in (SealStatus.VALID, SealStatus.BROKEN, SealStatus.NONE))


def _says_the_same(file: ReadFile, good: ReadFile) -> bool:
    if file.data is None or good.data is None:
        return file.problem is not None
    same = all(getattr(file.data, name) == getattr(good.data, name) for name in good.data.sources)
    return same and file.data.sources == good.data.sources and file.problem is None


def test_the_changes_are_the_same_each_time() -> None:
    assert [one.content for one in mutants(20)] == [one.content for one in mutants(20)]
    assert itinerary() != WHOLE
