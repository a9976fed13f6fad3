"""Ctrl-C, SIGTERM and a closed terminal: one way to be stopped, whatever a command is doing.

While requests are in flight `submission/graceful_stop.py` takes the signals itself and waits for the answers; at any other time they
raise KeyboardInterrupt where the program is, so that transactions are rolled back, files half made are removed,
and the process that reads a workbook is ended.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

#: What systemd, `kill`, a terminal that closes, and Ctrl-C send.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed() -> None:
    """Let SIGTERM and a closed terminal do what Ctrl-C does; what was ignored on purpose (`nohup`) stays ignored."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    sys.unraisablehook = _raise_again


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupt once more where Python has dropped an interruption.

    It drops what is raised in a weak reference's callback, of which the import of one large library makes thousands.
    """
    if lost.exc_type is KeyboardInterrupt:
        # From another thread and a moment later: raised in here it would be dropped as well.
        threading.Timer(0.01, _interrupt).start()
    else:
        sys.__unraisablehook__(lost)


def _interrupt() -> None:
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            os.kill(os.getpid(), number)
            return


def let_finish() -> None:
    """The command has ended but for its last words and its exit code: nothing is interrupted any more."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """For a moment that must not be cut in two: an interruption in it comes at its end."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # where none arrives
        yield
        return
    with as_before():
        for number in ENDING:
            if signal.getsignal(number) is signal.default_int_handler:
                signal.signal(number, lambda number, _: came.append(number))
        yield
    if came:
        raise KeyboardInterrupt


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """An event loop forgets how signals were taken before it took them; afterwards they are taken so again."""
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
