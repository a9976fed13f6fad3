"""A process that holds keys is no reading for others: it leaves no core dump, and other processes of its user can't look into it."""

import contextlib
import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4  # prctl(2)


def protect_process() -> None:
    """Leave no core dump from here on; on Linux, also hide this process's memory and environment.

    With PR_SET_DUMPABLE 0 the files of /proc/PID are root's (proc(5)), and nobody of the same user may trace it
    (ptrace(2)). Another program that this one starts begins anew, without it.
    """
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
