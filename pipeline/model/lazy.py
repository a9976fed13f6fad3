"""A sequence whose members are made when they are looked at.

A month has hundreds of thousands of rows, of which a run looks at few one by one: what is said of a row, the request
that it is in, its result. What all rows have is kept by column, and a member is made of it where somebody asks.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class LazySequence(Sequence[T_co], Generic[T_co]):
    """`make` gives the member at a position, from 0; it is asked anew each time unless it remembers (functools.cache).

    >>> squares = LazySequence(4, lambda at: at * at)
    >>> squares[-1], squares[1:3], list(squares), len(squares)
    (9, [1, 4], [0, 1, 4, 9], 4)
    """

    def __init__(self, size: int, make: Callable[[int], T_co]) -> None:
        self._size = size
        self._make = make

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T_co]:
        return map(self._make, range(self._size))

    @overload
    def __getitem__(self, at: int) -> T_co: ...

    @overload
    def __getitem__(self, at: slice) -> list[T_co]: ...

    def __getitem__(self, at: int | slice) -> T_co | list[T_co]:
        places = range(self._size)[at]  # counts from the end and refuses as a list does
        return self._make(places) if isinstance(places, int) else [self._make(place) for place in places]
