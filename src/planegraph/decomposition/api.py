"""Planarity, and decomposition of one graph or of a whole batch by one call of the core."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from .. import _core
from ..errors import NotPlanarError
from ..graphs.batch import GraphBatch
from ..graphs.formats.convert import as_any_graph, as_batch, as_simple_graph
from ..graphs.graph import Graph
from ..graphs.labels import is_float, to_keys
from ..graphs.multigraph import MultiGraph
from ..io.text import counted
from ..kuratowski import KuratowskiWitness
from .connectivity import R
from .multigraph import run_multigraph
from .objects import Decomposition
from .tables import COLUMNS, TABLES, Tables

OnNonplanar = Literal["raise", "set"]


def is_planar(graph: Any) -> bool:
    """Whether the graph can be drawn in the plane without crossings; O(n + m).

    >>> import planegraph as pg
    >>> pg.is_planar(pg.families.wheel(6)), pg.is_planar(pg.families.complete(5))
    (True, False)
    """
    graph = as_simple_graph(graph)
    return _core.is_planar(graph.num_nodes, graph.edges)


def planar_mask(graphs: Any) -> np.ndarray:
    """For each graph of a batch, whether it is planar; a boolean array that can select: ``batch[planar_mask(batch)]``.

    Args:
        graphs: a :class:`GraphBatch`, or several graphs of any kind that :func:`planegraph.as_graph` reads.

    >>> import planegraph as pg
    >>> pg.planar_mask(pg.families.complete(n) for n in (3, 4, 5)).tolist()
    [True, True, False]
    """
    batch = as_batch(graphs)
    return _core.planar_mask(batch.node_ptr, batch.edge_ptr, batch.edges).view(bool)


def kuratowski_witness(graph: Any) -> KuratowskiWitness | None:
    """The edges, as rows (u, v), of a subgraph that is a subdivision of K5 or K3,3; None if the graph is planar.

    The array knows its ``kind``, ``branch_nodes`` and ``paths``. It is small where what makes the graph non-planar is: regions of some
    dozen nodes are looked at first, and paths between branch nodes are shortened. O((n + m) log n), unless no region shows it.

    >>> import planegraph as pg
    >>> len(pg.kuratowski_witness(pg.families.complete_bipartite(3, 3)))
    9
    """
    graph = as_simple_graph(graph)
    ids = _core.kuratowski(graph.num_nodes, graph.edges)
    return KuratowskiWitness.of(graph.named(graph.edges[ids])) if len(ids) else None


def decompose(graph: Any, on_nonplanar: OnNonplanar = "raise") -> Decomposition:
    """Blocks, cut nodes and SPQR trees with their canonical walks; O(n log n).

    Args:
        graph: a :class:`Graph`, or anything that :func:`planegraph.as_graph` reads. It may have loops and parallel edges: a
            :class:`MultiGraph`, or one of networkx, igraph or rustworkx.
        on_nonplanar: what to do about a rigid component that is not planar: "raise" a :class:`NotPlanarError` with a witness,
            or encode that component as the plain "set" of its darts.

    >>> import planegraph as pg
    >>> pg.decompose(pg.families.k2n(4)).counts
    {'blocks': 1, 'S': 4, 'P': 1, 'Q': 0, 'R': 0}
    """
    graph = as_any_graph(graph)
    if isinstance(graph, MultiGraph):
        with with_names(graph):
            arrays = run_multigraph(graph, _as_set(on_nonplanar))
    else:
        arrays = run_graph(graph, on_nonplanar, walks=True, codes=False)
    return Decomposition(graph, {name: arrays[name] for names in TABLES.values() for name in names})


def decompose_batch(
    graphs: Any, threads: int | None = None, on_nonplanar: OnNonplanar = "raise", codes: bool = False
) -> PackedDecomposition:
    """All graphs of a batch by one call, without the GIL, on ``threads`` threads (None: all cores this process may use).

    The result does not depend on the number of threads. If graphs are bad, the error is that of the first of them, and says its
    position. With ``codes`` the canonical codes come along (no graph may then be non-planar).

    Args:
        graphs: a :class:`GraphBatch`, or several graphs of any kind that :func:`planegraph.as_graph` reads.

    >>> import planegraph as pg
    >>> p = pg.decompose_batch([pg.families.cycle(3), pg.families.wheel(5)])
    >>> p.spqr_ptr.tolist(), p.spqr_type.tolist()
    ([0, 1, 2], [0, 3])
    """
    batch = as_batch(graphs)
    return PackedDecomposition(batch, **run_batch(batch, threads, on_nonplanar, walks=True, codes=codes))


def run_graph(graph: Graph, on_nonplanar: OnNonplanar = "raise", *, walks: bool, codes: bool) -> dict[str, np.ndarray]:
    """The core's arrays for one graph; the witness of a graph that is not planar has the names of its nodes."""
    with with_names(graph):
        return run_batch(GraphBatch.from_graphs([graph]), 1, on_nonplanar, walks=walks, codes=codes)


@contextmanager
def with_names(graph: Graph | MultiGraph) -> Iterator[None]:
    """What the body says is not planar is this graph, so the witness gets the names of its nodes."""
    try:
        yield
    except NotPlanarError as error:
        error.witness = KuratowskiWitness.of(graph.named(error.witness))
        raise


def run_batch(
    batch: GraphBatch, threads: int | None, on_nonplanar: OnNonplanar = "raise", *, walks: bool, codes: bool
) -> dict[str, np.ndarray]:
    """The core's arrays for a batch; what :func:`decompose_batch` and the functions of canon.py stand on."""
    arguments = core_arguments(batch)
    as_set, count = _as_set(on_nonplanar), number_of_threads(threads)
    return _core.run(*arguments, nonplanar_as_set=as_set, walks=walks, codes=codes, threads=count)


def core_arguments(batch: GraphBatch) -> tuple:
    """A batch with its labels as the core takes it."""
    edge_labels = batch.dart_labels
    if batch.edge_labels is not None:
        edge_labels = batch.edge_labels[:, None]
    return (
        batch.node_ptr,
        batch.edge_ptr,
        batch.edges,
        None if batch.node_labels is None else to_keys(batch.node_labels),
        is_float(batch.node_labels),
        None if edge_labels is None else to_keys(edge_labels),
        is_float(edge_labels),
    )


def _as_set(on_nonplanar: str) -> bool:
    if on_nonplanar not in ("raise", "set"):
        raise ValueError(f"on_nonplanar must be 'raise' or 'set'; found {on_nonplanar!r}")
    return on_nonplanar == "set"


def number_of_threads(threads: int | None) -> int:
    """The number of threads that is meant; None stands for all cores that this process may use."""
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or not 1 <= threads <= 4096:
        raise ValueError(f"threads must be None or an integer from 1 to 4096; found {threads!r}")
    return int(threads)


class PackedDecomposition(Tables):
    """The decompositions of a batch as flat arrays plus offsets (docs/arrays.md describes each).

    Ids are local to their graph: graph i owns rows ``x_ptr[i]:x_ptr[i + 1]`` of the tables ``walk_*``, ``spqr_*``, ``block_*``,
    ``cut_*``, ``node_spqr_*`` and ``node_block_*``. ``packed[i]`` is the :class:`Decomposition` of graph i.
    """

    NAMES = tuple(column.name for column in COLUMNS.values() if column.core)
    WHAT = "the arrays of a decomposition"
    batch: GraphBatch

    def __init__(self, batch: GraphBatch, **arrays: np.ndarray) -> None:
        super().__init__(arrays)
        self.__dict__["batch"] = batch

    @property
    def node_ptr(self) -> np.ndarray:
        """Offsets of ``node_component`` and ``labelling``: those of the batch."""
        return self.batch.node_ptr

    @property
    def edge_ptr(self) -> np.ndarray:
        """Offsets of the edges: those of the batch."""
        return self.batch.edge_ptr

    def codes(self) -> list[bytes]:
        """The canonical code of each graph, if they were asked for."""
        if len(self.code_ptr) != len(self) + 1:
            raise ValueError("codes were not asked for; use decompose_batch(..., codes=True)")
        return split_codes(self.code_ptr, self.code)

    @property
    def node_connectivity(self) -> np.ndarray:
        """For each graph the least number of nodes whose removal disconnects it: 0, 1, 2, or 3 for "3 or more".

        As in networkx, the complete graph of n nodes has n - 1. See :attr:`Decomposition.node_connectivity`.

        >>> import planegraph as pg
        >>> graphs = [pg.families.path(3), pg.families.cycle(3), pg.families.wheel(3), pg.Graph(2, [])]
        >>> pg.decompose_batch(graphs).node_connectivity.tolist()
        [1, 2, 3, 0]
        """
        nodes, blocks, components = np.diff(self.node_ptr), np.diff(self.block_ptr), np.diff(self.spqr_ptr)
        connected = np.ones(len(self), bool)
        connected[np.searchsorted(self.node_ptr, np.flatnonzero(self.node_component), side="right") - 1] = False
        found = (connected & (nodes > 1)).astype(np.int64)
        found[(found > 0) & (blocks == 1) & (nodes > 2)] = 2
        whole = np.flatnonzero((found == 2) & (components == 1))
        found[whole[self.spqr_type[self.spqr_ptr[whole]] == R]] = 3
        return found

    def __len__(self) -> int:
        return len(self.batch)

    def __getitem__(self, index: int) -> Decomposition:
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(
                f"a PackedDecomposition is indexed by one integer; found {type(index).__name__}. "
                "Select graphs first: decompose_batch(batch[...])"
            ) from None
        i += len(self) if i < 0 else 0
        if not 0 <= i < len(self):
            raise IndexError(f"graph {index} of a batch of {len(self)}")
        local: dict[str, np.ndarray] = {}
        for table, names in TABLES.items():
            ptr = getattr(self, f"{table}_ptr")
            rows = slice(ptr[i], ptr[i + 1])
            local |= {name: getattr(self, name)[rows] for name in names}
        return Decomposition(self.batch[i], local)

    def __iter__(self) -> Iterator[Decomposition]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        sizes = self.sizes(block="block", cut="cut node", spqr="SPQR node", walk="walk entry")
        return f"PackedDecomposition({counted(len(self), 'graph')}, {sizes})"


def split_codes(code_ptr: np.ndarray, code: np.ndarray) -> list[bytes]:
    """One byte string per graph."""
    data = code.tobytes()
    return [data[a:b] for a, b in pairwise(code_ptr.tolist())]
