"""One number that Hypothesis draws, as several choices: drawing is what takes Hypothesis its time."""

from hypothesis import strategies as st

ONE = st.integers(0, 2**24 - 1)  # of more bits, Hypothesis draws small numbers rather than large ones


def mixed(number: int) -> int:
    """A drawn number spread over 64 bits: every choice made of it is likely to be each of its values."""
    number = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    return number ^ number >> 31


def parts(number: int, *sizes: int) -> list[int]:
    """One number as several choices, each below its size."""
    number, found = mixed(number), []
    for size in sizes:
        number, part = divmod(number, size)
        found.append(part)
    return found


def several(number: int) -> list[int]:
    """One number as one to five."""
    return [number + place for place in range(1 + mixed(number) % 5)]
