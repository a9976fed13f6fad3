"""A clock that nobody sets, and that goes on while the machine or the process sleeps: what a fence may be timed by."""

import time


def boot_time() -> float:
    """Seconds since this machine was started (CLOCK_BOOTTIME)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
