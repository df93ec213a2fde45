"""Automorphisms of labelled planar graphs: how many there are, what they exchange, and which of them generate all. O(n log n), exact."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..decomposition.api import core_arguments, number_of_threads, run_batch, with_names
from ..graphs.batch import GraphBatch
from ..graphs.formats.convert import as_batch, as_graph
from ..graphs.graph import Graph
from ..graphs.names import Numbers
from ..io.text import counted


class Factors(NamedTuple):
    """A large number as a product: of base ** times for each row of ``powers``, and of (base!) ** times for each of ``factorials``.

    Both have shape (k, 2), int64, bases ascending. Isomorphic graphs have equal factors.
    """

    powers: np.ndarray
    factorials: np.ndarray

    def product(self) -> int:
        """The number itself; of a star with 10^6 leaves it has 5.6 million digits, and takes seconds."""
        numbers = [base**times for base, times in self.powers.tolist()]
        numbers += [math.factorial(base) ** times for base, times in self.factorials.tolist()]
        while len(numbers) > 1:  # numbers of equal size together
            numbers = [math.prod(numbers[k : k + 2]) for k in range(0, len(numbers), 2)]
        return math.prod(numbers)

    def log10(self) -> float:
        """Its logarithm to base 10."""
        terms = [times * math.log10(base) for base, times in self.powers.tolist()]
        terms += [times * math.lgamma(base + 1) / math.log(10) for base, times in self.factorials.tolist()]
        return math.fsum(terms)


class Generators:
    """Permutations of nodes that generate a group, as sparse arrays; made by :attr:`Automorphisms.generators`.

    Generator k moves node ``nodes[j]`` to ``images[j]`` for j from ``ptr[k]`` to ``ptr[k + 1]``, and no other node. ``generators[k]`` is
    this pair of arrays, in the names of the nodes if they have any.

    Attributes:
        ptr: shape (number of generators + 1,), int64.
        nodes: the moved nodes 0..n-1, int32, ascending in each generator.
        images: where they go.
    """

    def __init__(self, graph: Graph, ptr: np.ndarray, nodes: np.ndarray, images: np.ndarray) -> None:
        for array in (ptr, nodes, images):
            array.flags.writeable = False
        self._graph, self.ptr, self.nodes, self.images = graph, ptr, nodes, images

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        rows = self._rows(index)
        return self._graph.named(self.nodes[rows]), self._graph.named(self.images[rows])

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return (self[k] for k in range(len(self)))

    def permutation(self, index: int) -> np.ndarray:
        """One generator as an array of all images: node v goes to node ``result[v]``.

        >>> import planegraph as pg
        >>> pg.automorphisms(pg.families.path(4)).generators.permutation(0).tolist()
        [3, 2, 1, 0]
        """
        rows = self._rows(index)
        full = np.arange(self._graph.num_nodes)
        full[self.nodes[rows]] = self.images[rows]
        return full

    def _rows(self, index: int) -> slice:
        k = operator.index(index)
        if not -len(self) <= k < len(self):
            raise IndexError(f"generator {index} of {len(self)}")
        return slice(self.ptr[k % len(self)], self.ptr[k % len(self) + 1])

    def __repr__(self) -> str:
        return f"Generators({counted(len(self), 'permutation')}, {counted(len(self.nodes), 'moved node')})"


class Automorphisms:
    """The group of all automorphisms of a graph: permutations of its nodes that keep edges and labels. Made by :func:`automorphisms`.

    Attributes:
        graph: the graph.
        node_orbits: shape (n,), int32: the orbit of each node. Two nodes are in one orbit exactly if an automorphism takes one to the
            other. Orbits are numbered by first appearance.
        edge_orbits: shape (m,), int32: the orbit of each edge, in the order of ``graph.edges``. An automorphism may turn an edge round.
        factors: the order of the group as a product; see :class:`Factors`.
        reflects: whether a mirror image is involved: some automorphism maps a rigid part (a 3-connected SPQR node) of the graph to
            itself and reverses its orientation, so that the order of edges around its nodes turns round. Without rigid parts, and if
            all of them are chiral, it is False.
    """

    graph: Graph
    node_orbits: np.ndarray
    edge_orbits: np.ndarray
    factors: Factors
    reflects: bool

    def __init__(self, graph: Graph, node_orbits: np.ndarray, edge_orbits: np.ndarray, factors: Factors, reflects: bool) -> None:
        for array in (node_orbits, edge_orbits, *factors):
            array.flags.writeable = False
        self.__dict__.update(
            graph=graph, node_orbits=node_orbits, edge_orbits=edge_orbits, factors=factors, reflects=bool(reflects)
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("Automorphisms cannot be changed")

    def __reduce__(self) -> tuple:
        return Automorphisms, (self.graph, self.node_orbits, self.edge_orbits, self.factors, self.reflects)

    @cached_property
    def order(self) -> int:
        """How many automorphisms there are, the identity among them; exact, and computed when first asked for.

        >>> import planegraph as pg
        >>> pg.automorphisms(pg.families.star(20)).order == math.factorial(20)
        True
        """
        return self.factors.product()

    @property
    def log10_order(self) -> float:
        """The logarithm of the order to base 10, from the factors."""
        return self.factors.log10()

    @property
    def is_trivial(self) -> bool:
        """Whether the identity is the only automorphism."""
        return not len(self.factors.powers) and not len(self.factors.factorials)

    @cached_property
    def generators(self) -> Generators:
        """Automorphisms that generate all of them; found when first asked for.

        There is one for each exchange of two equal parts and a few for each symmetric rigid part or cycle; none is the identity. Most
        move few nodes, and all together move O(n log n).

        >>> import planegraph as pg
        >>> a = pg.automorphisms(pg.Graph(4, [(0, 1), (0, 2), (0, 3)]))
        >>> [(nodes.tolist(), images.tolist()) for nodes, images in a.generators]
        [([1, 2], [2, 1]), ([2, 3], [3, 2])]
        """
        found = _core.symmetries(*core_arguments(GraphBatch.from_graphs([self.graph])), generators=True)
        return Generators(self.graph, found["move_ptr"], found["move_node"], found["move_image"])

    def orbit(self, node: Any) -> np.ndarray:
        """All nodes in the orbit of a node, in the order of the graph; by names if nodes have names.

        >>> import planegraph as pg
        >>> pg.automorphisms(pg.families.path(4)).orbit(1).tolist()
        [1, 2]
        """
        number = self._numbers[node]
        return self.graph.named(np.flatnonzero(self.node_orbits == self.node_orbits[number]))

    @cached_property
    def _numbers(self) -> Numbers:
        return Numbers(self.graph.num_nodes, self.graph.names)

    def __repr__(self) -> str:
        size = f"order {self.order}" if self.log10_order < 15 else f"order about 10^{self.log10_order:.1f}"
        orbits = ((_count(self.node_orbits), "node orbit"), (_count(self.edge_orbits), "edge orbit"))
        return f"Automorphisms({size}, {', '.join(counted(k, what) for k, what in orbits)})"


class AutomorphismBatch:
    """The automorphisms of many graphs as flat arrays; ``batch[i]`` are the :class:`Automorphisms` of graph i.

    Attributes:
        batch: the graphs.
        node_orbits: orbits of the nodes of all graphs, numbered from 0 in each; those of graph i are in rows
            ``node_ptr[i]:node_ptr[i + 1]``, with the batch's ``node_ptr``.
        edge_orbits: the same for edges, with the batch's ``edge_ptr``.
        factor_ptr: graph i has rows ``factor_ptr[i]:factor_ptr[i + 1]`` of the next three.
        factorial, factor_base, factor_times: the order is the product of base ** times, or of (base!) ** times where ``factorial`` is set.
        reflects: per graph, as in :class:`Automorphisms`.
    """

    batch: GraphBatch
    node_orbits: np.ndarray
    edge_orbits: np.ndarray
    factor_ptr: np.ndarray
    factorial: np.ndarray
    factor_base: np.ndarray
    factor_times: np.ndarray
    reflects: np.ndarray

    def __init__(self, batch: GraphBatch, **arrays: np.ndarray) -> None:
        for array in arrays.values():
            array.flags.writeable = False
        self.__dict__.update(batch=batch, **arrays)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an AutomorphismBatch cannot be changed")

    def __len__(self) -> int:
        return len(self.batch)

    def __getitem__(self, index: int) -> Automorphisms:
        i = operator.index(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"graph {index} of a batch of {len(self)}")
        i %= len(self)
        return self._of(i, self.batch[i])

    def _of(self, i: int, graph: Graph) -> Automorphisms:
        nodes, edges, rows = (slice(ptr[i], ptr[i + 1]) for ptr in (self.batch.node_ptr, self.batch.edge_ptr, self.factor_ptr))
        table = np.stack([self.factor_base[rows], self.factor_times[rows]], axis=1).astype(np.int64)
        factors = Factors(table[~self.factorial[rows]], table[self.factorial[rows]])
        return Automorphisms(graph, self.node_orbits[nodes], self.edge_orbits[edges], factors, self.reflects[i])

    def __iter__(self) -> Iterator[Automorphisms]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"AutomorphismBatch({counted(len(self), 'graph')})"


def automorphisms(graph: Any) -> Automorphisms:
    """All automorphisms of a planar graph, labels of nodes, edges and darts respected; raises :class:`NotPlanarError` for others.

    Order and orbits are there at once, in O(n log n); the order as an integer and generators are computed when asked for.

    >>> import planegraph as pg
    >>> a = pg.automorphisms(pg.families.prism(6))
    >>> a
    Automorphisms(order 24, 1 node orbit, 2 edge orbits)
    >>> a.reflects
    True
    """
    graph = as_graph(graph)
    with with_names(graph):
        return automorphism_batch(GraphBatch.from_graphs([graph]), threads=1)._of(0, graph)


def automorphism_batch(graphs: Any, threads: int | None = None) -> AutomorphismBatch:
    """The automorphisms of many graphs by one call, without the GIL, on ``threads`` threads (None: all cores this process may use).

    Args:
        graphs: a :class:`GraphBatch`, or several graphs of any kind that :func:`planegraph.as_graph` reads.
        threads: the result does not depend on their number.

    >>> import planegraph as pg
    >>> [a.order for a in pg.automorphism_batch([pg.families.cycle(5), pg.families.wheel(5)])]
    [10, 10]
    """
    batch = as_batch(graphs)
    found = _core.symmetries(*core_arguments(batch), threads=number_of_threads(threads))
    return AutomorphismBatch(
        batch,
        node_orbits=found["node_orbit"],
        edge_orbits=found["edge_orbit"],
        factor_ptr=found["factor_ptr"],
        factorial=found["factorial"].view(bool),
        factor_base=found["factor_base"],
        factor_times=found["factor_times"],
        reflects=found["reflects"].view(bool),
    )


def canonical_orbits(batch: GraphBatch, threads: int | None = None) -> np.ndarray:
    """The orbits of all nodes as in ``AutomorphismBatch.node_orbits``, but numbered in the order of the canonical labelling.

    >>> import planegraph as pg
    >>> star = pg.families.star(3)
    >>> [sorted(canonical_orbits(pg.GraphBatch.from_graphs([g])).tolist()) for g in (star, pg.families.shuffled(star, seed=1))]
    [[0, 1, 1, 1], [0, 1, 1, 1]]
    """
    sizes = np.diff(batch.node_ptr)
    start = np.repeat(batch.node_ptr[:-1], sizes)
    orbit = start + automorphism_batch(batch, threads).node_orbits
    place = run_batch(batch, threads, walks=False, codes=True)["labelling"]
    first = np.full(batch.num_nodes, batch.num_nodes, np.int64)
    np.minimum.at(first, orbit, start + place)
    _, number = np.unique(first[orbit], return_inverse=True)
    return (number - np.repeat(number[place == 0], sizes[sizes > 0])).astype(np.int32)


def _count(orbits: np.ndarray) -> int:
    return int(orbits.max()) + 1 if len(orbits) else 0
