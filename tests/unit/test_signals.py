"""An interruption ends what is under way, wherever the program is: it is neither lost nor does it leave anything half made.

Seen to catch: an interruption that Python drops; a scratch folder that is made, or taken away, where one may come in between.
"""

import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.file_writing import scratch_folder
from pipeline.signals import ENDING, heed

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def as_in_the_program() -> Any:
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    hook = sys.unraisablehook
    heed()
    yield
    sys.unraisablehook = hook
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupt(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_one_that_comes_where_python_drops_it_comes_again() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import os, signal, time, weakref\n"
                "from pipeline.signals import heed\n"
                "class Large: pass\n"
                "heed(); large = Large()\n"
                "watched = weakref.ref(large, lambda _: os.kill(os.getpid(), signal.SIGTERM))\n"
                "del large\n"
                "try: time.sleep(20)\n"
                "except KeyboardInterrupt: print('interrupted')"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (told.stdout, told.stderr) == ("interrupted\n", "")


def test_what_else_python_drops_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    class Large:
        pass

    def fail(_: object) -> None:
        raise ValueError("a defect of ours")

    large = Large()
    watched = weakref.ref(large, fail)
    del large
    assert watched() is None
    assert "a defect of ours" in capsys.readouterr().err


@pytest.mark.parametrize("moment", ["mkdir", "rmdir"])
def test_a_scratch_folder_is_taken_away_whenever_one_comes(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: Callable[..., Any] = getattr(os, moment)

    def and_interrupt(*given: Any, **named: Any) -> Any:
        result = None if moment == "rmdir" else done(*given, **named)
        interrupt()
        return done(*given, **named) if moment == "rmdir" else result

    monkeypatch.setattr(os, moment, and_interrupt)
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path) as folder:
        (folder / "half made").touch()
    assert list(tmp_path.iterdir()) == []
