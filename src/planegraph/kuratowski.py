"""Why a graph is not planar: a subdivision of K5 or K3,3 in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np


class KuratowskiWitness(np.ndarray):
    """The edges, as rows (u, v), of a subgraph that is a subdivision of K5 or K3,3: an array that knows its structure.

    What is computed from it, and what is taken out of it, are plain arrays and numbers.

    >>> import planegraph as pg
    >>> witness = pg.kuratowski_witness(pg.families.complete_bipartite(3, 4))
    >>> witness.kind, len(witness)
    ('K3,3', 9)
    >>> witness.branch_nodes  # of K3,3, the first three are joined to the last three
    [0, 1, 2, 3, 4, 5]
    >>> witness.paths[:2]
    [[0, 3], [0, 4]]
    """

    @classmethod
    def of(cls, edges: Any) -> KuratowskiWitness:
        """The edges of such a subgraph."""
        return np.asarray(edges).view(cls)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(np.asarray(self))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array is self:  # changed in place
            return self
        return np.asarray(array)[()]  # of no dimensions: a number

    @property
    def kind(self) -> str:
        """``"K5"`` or ``"K3,3"``."""
        return "K5" if len(self.branch_nodes) == 5 else "K3,3"

    @property
    def branch_nodes(self) -> list[Any]:
        """The five nodes of K5; of K3,3 the three of one side, then those of the other. Each side as its nodes come in the edges."""
        return self._structure()[0]

    @property
    def paths(self) -> list[list[Any]]:
        """The nodes of the path for each edge of K5 (ten) or K3,3 (nine), from one branch node to the other."""
        return self._structure()[1]

    def _structure(self) -> tuple[list[Any], list[list[Any]]]:
        if self.ndim != 2 or self.shape[1] != 2:
            raise ValueError(f"a witness has shape (edges, 2); this array has shape {self.shape}")
        around: dict[Any, list[Any]] = defaultdict(list)
        for u, v in self.tolist():
            around[u].append(v)
            around[v].append(u)
        nodes = [v for v, others in around.items() if len(others) > 2]
        degrees = sorted(len(others) for others in around.values())
        if degrees not in ([2] * (len(degrees) - 5) + [4] * 5, [2] * (len(degrees) - 6) + [3] * 6):
            raise ValueError(f"these {len(self)} edges are no subdivision of K5 or K3,3; take all edges of a witness")
        place = {v: k for k, v in enumerate(nodes)}
        paths = []
        for start in nodes:
            for second in around[start]:
                path = [start, second]
                while path[-1] not in place:
                    a, b = around[path[-1]]
                    path.append(a if b == path[-2] else b)
                if place[start] < place[path[-1]]:
                    paths.append(path)
        if len(nodes) == 6:
            far = {path[-1] for path in paths if path[0] == nodes[0]}
            nodes = [v for v in nodes if v not in far] + [v for v in nodes if v in far]
        return nodes, paths
