"""Tables as sequences: an object is built when it is asked for, and not kept. So a sequence of any length is made at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

import numpy as np

from ..errors import InvalidGraphError
from ..io.text import counted

Item = TypeVar("Item")

_AT_ONCE = 4096  # rows that are built together while somebody iterates


def checked_number(number: int, count: int, what: str) -> int:
    """A number from 0 to count - 1 of something that a graph has, or an error; -1 is no such number.

    >>> checked_number(2, 3, "block")
    2
    """
    k = operator.index(number)
    if not 0 <= k < count:
        raise InvalidGraphError(f"there is no {what} {k}; the graph has {counted(count, what)}, numbered from 0")
    return k


class Rows(Sequence[Item], Generic[Item]):
    """A read-only sequence of ``count`` objects; ``build(a, b)`` makes those of rows a to b.

    >>> squares = Rows(10**9, lambda a, b: [i * i for i in range(a, b)])
    >>> len(squares), squares[3], squares[-1], squares[2:4]
    (1000000000, 9, 999999998000000001, (4, 9))
    """

    __slots__ = ("_build", "_count")

    def __init__(self, count: int, build: Callable[[int, int], Sequence[Item]]) -> None:
        self._count, self._build = count, build

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            rows = range(self._count)[index]
            if rows.step == 1:
                return tuple(self._build(rows.start, rows.stop)) if len(rows) else ()
            return tuple(self[i] for i in rows)
        i = operator.index(index)
        if not -self._count <= i < self._count:
            raise IndexError(f"index {i} of a sequence of {self._count}")
        i %= self._count
        return self._build(i, i + 1)[0]

    def __iter__(self) -> Iterator[Item]:
        for a in range(0, self._count, _AT_ONCE):
            yield from self._build(a, min(a + _AT_ONCE, self._count))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        shown = [repr(x) for x in self[:3]]
        return f"<{len(self)}: {', '.join(shown)}{', ...' if len(self) > 3 else ''}>"


class Groups:
    """The rows of a table by the value that a column has there; values below 0 are none.

    Linear, and no more than one pass where the column ascends, as most columns of the core do.

    >>> groups = Groups(np.array([1, -1, 0, 1]))
    >>> groups.of(1).tolist(), groups.of(7).tolist()
    ([0, 3], [])
    """

    def __init__(self, column: np.ndarray) -> None:
        self.rows = np.flatnonzero(column >= 0)
        self.values = column[self.rows]
        if (self.values[1:] < self.values[:-1]).any():
            order = np.argsort(self.values, kind="stable")
            self.rows, self.values = self.rows[order], self.values[order]

    def bounds(self, first: int, last: int) -> np.ndarray:
        """Where in ``rows`` the groups first, ..., last - 1 begin, and where the last of them ends."""
        return np.searchsorted(self.values, np.arange(first, last + 1, dtype=self.values.dtype))

    def of(self, value: int) -> np.ndarray:
        """The rows with this value, ascending."""
        a, b = self.bounds(value, value + 1)
        return self.rows[a:b]
