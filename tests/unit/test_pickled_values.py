"""Values from one process of ours to another: whole, in their order, however they come."""

from typing import NamedTuple

import pytest

from pipeline.pickled_values import packed, taken

VALUES = [1, "空", b"\x00" * 300, None, [("sending", 7)], {"a": 1.5}]


@pytest.mark.parametrize("at_once", [1, 7, 100, 10_000])
def test_values_are_taken_as_soon_as_they_have_come_whole(at_once: int) -> None:
    whole = b"".join(map(packed, VALUES))
    ends = [sum(len(packed(value)) for value in VALUES[: count + 1]) for count in range(len(VALUES))]
    came, found = bytearray(), []
    for begin in range(0, len(whole), at_once):
        came += whole[begin : begin + at_once]
        found += taken(came)
        assert found == VALUES[: sum(end <= begin + at_once for end in ends)]
    assert not came


def test_what_has_names_for_its_parts_comes_without_them() -> None:
    class Named(NamedTuple):
        number: int
        text: str

    (value,) = taken(bytearray(packed(Named(1, "two"))))
    assert (value, type(value)) == ((1, "two"), tuple)
