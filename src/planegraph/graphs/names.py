"""Nodes by the names that their caller gave them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import InvalidGraphError
from ..io.text import counted


class Numbers:
    """The numbers 0..n-1 of nodes, by their names; the reverse of :meth:`planegraph.Graph.named`.

    >>> Numbers(3, np.array(["a", "b", "c"], object))["c"]
    2
    >>> Numbers(3, None)[2]
    2
    """

    def __init__(self, num_nodes: int, names: np.ndarray | None) -> None:
        self._num_nodes = num_nodes
        self._number = None if names is None else {name: v for v, name in enumerate(names.tolist())}

    def __getitem__(self, name: Any) -> int:
        try:
            if self._number is not None:
                return self._number[name]
            v = operator.index(name)
        except (KeyError, TypeError):
            v = -1
        if not 0 <= v < self._num_nodes:
            raise InvalidGraphError(f"{name!r} is not a node of the graph")
        return v

    def of(self, names: Iterable[Any]) -> np.ndarray:
        """The numbers of several nodes."""
        return np.array([self[name] for name in names], np.int64)


def in_order(names: Iterable[Any], values: Mapping[Any, Any], what: str, error: type[Exception] = InvalidGraphError) -> list:
    """What a mapping by name says of these nodes; an error if it lacks some.

    >>> in_order("ab", {"b": 2, "a": 1}, "sizes")
    [1, 2]
    """
    names = list(names)
    missing = [name for name in names if name not in values]
    if missing:
        more = f" and {counted(len(missing) - 1, 'other')}" if len(missing) > 1 else ""
        raise error(f"{what} lack node {missing[0]!r}{more}")
    return [values[name] for name in names]


def plain(name: Any) -> Any:
    """A name as Python prints it: numbers of numpy as those of Python."""
    return name.item() if isinstance(name, np.generic) else name
