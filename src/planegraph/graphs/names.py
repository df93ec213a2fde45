"""Nodes by the names that their caller gave them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidGraphError


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


def plain(name: Any) -> Any:
    """A name as Python prints it: numbers of numpy as those of Python."""
    return name.item() if isinstance(name, np.generic) else name
