"""Files that mean harm: each ends as one finding, the process that reads them stays, and stays small."""

import os
import re
import resource
import sys
from pathlib import Path

import pytest

from pipeline.itinerary_files import reading_processes
from pipeline.itinerary_files.reading_processes import read_itinerary_files
from pipeline.model.itinerary_file import FoundFile, ReadFile
from tests.unit.itinerary_files.hostile_ofd_files import HOSTILE
from tests.unit.itinerary_files.ofd_files import ROOT

#: Of the process, at most, whatever it has read: its largest parts are 16 and 48 MB.
PEAK_MEGABYTES = 200
#: Processor time of all of them.
SECONDS = 30


@pytest.fixture(scope="module")
def one_after_another() -> tuple[dict[str, ReadFile], list[int], int, float]:
    """What is read of each, by one process; how many there were of it, its peak in MB, its processor time."""
    started, pids = reading_processes.started, list[int]()
    seen: dict[str, ReadFile] = {}
    peak, seconds = 0, 0.0

    def counted(script: Path, stdin: int) -> object:
        process = started(script, stdin=stdin)
        pids.append(process.pid)
        return process

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_processes, "started", counted)
        patch.setattr(reading_processes, "PROCESSES", 1)
        files = (FoundFile((name,), make()) for name, (make, _, _) in HOSTILE.items())
        for found, file in read_itinerary_files(files, (ROOT.certificate,)):
            seen[found.place[0]] = file
            if sys.platform == "linux" and len(seen) == len(HOSTILE):
                status = Path(f"/proc/{pids[-1]}/status").read_text()
                peak = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) >> 10
                ticks = Path(f"/proc/{pids[-1]}/stat").read_text().rpartition(")")[2].split()[11:13]
                seconds = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return seen, pids, peak, seconds


@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_one_finding(
    one_after_another: tuple[dict[str, ReadFile], list[int], int, float], name: str
) -> None:
    _, problem, words = HOSTILE[name]
    file = one_after_another[0][name]
    said = "; ".join(map(str, file.reasons))
    assert (file.problem, bool(file.reasons)) == (problem, problem is not None), said
    assert re.search(words, said), said


def test_one_process_read_them_all_within_its_bounds(
    one_after_another: tuple[dict[str, ReadFile], list[int], int, float],
) -> None:
    seen, pids, peak, seconds = one_after_another
    assert [*seen] == [*HOSTILE]
    assert len(HOSTILE) >= 30
    assert len(pids) == 1
    assert peak < PEAK_MEGABYTES
    assert seconds < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10 < 4 * 1024
