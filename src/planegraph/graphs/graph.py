"""One graph: nodes 0..n-1, undirected edges, labels. Immutable and checked when made, in O(n + m log m).

Equality (``==``) means the same nodes, edges and labels under the same numbering, in whatever order and direction the edges were
given, and whatever the nodes' names are. It is not isomorphism; that is :func:`planegraph.is_isomorphic`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidGraphError
from ..io.text import counted
from .labels import as_labels, if_any, refuse_masked

MAX_SIZE = 2**28  # of nodes and of edges of one graph: kMaxItems of the core (cpp/planegraph/graph/graph.cpp)


class Graph:
    """A simple undirected graph with labels.

    Args:
        num_nodes: the number of nodes; they are 0, 1, ..., num_nodes - 1.
        edges: shape (m, 2), each undirected edge once, in either direction.
        node_labels: shape (n,) or (n, width); integers, booleans, floats or text, compared exactly.
        edge_labels: shape (m,) or (m, width), the same label in both directions.
        dart_labels: shape (m, 2) or (m, 2, width), in place of edge_labels: ``dart_labels[e, 0]`` is the label of
            edge e = (u, v) in the direction u -> v, ``dart_labels[e, 1]`` of v -> u.
        names: what the caller calls the nodes: n different hashable objects. Results of functions say nodes by these names.

    Labels on nothing count as no labels: without edges ``edge_labels`` and ``dart_labels`` are None, without nodes ``node_labels`` is.

    >>> import planegraph as pg
    >>> g = pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)], node_labels=[6, 6, 6, 8])
    >>> g
    Graph(4 nodes, 4 edges, node_labels=int64 x 1)
    >>> g == pg.Graph(4, [(3, 2), (0, 2), (1, 0), (1, 2)], node_labels=[6, 6, 6, 8])
    True
    """

    __slots__ = ("__weakref__", "_dart_labels", "_edge_labels", "_edges", "_names", "_node_labels", "_num_nodes")
    _num_nodes: int
    _edges: np.ndarray
    _node_labels: np.ndarray | None
    _edge_labels: np.ndarray | None
    _dart_labels: np.ndarray | None
    _names: np.ndarray | None

    def __init__(
        self,
        num_nodes: int,
        edges: Any,
        node_labels: Any = None,
        edge_labels: Any = None,
        dart_labels: Any = None,
        names: Any = None,
    ) -> None:
        n = as_count(num_nodes)
        pairs = as_edges(edges)
        _check_simple(n, pairs, names)
        if edge_labels is not None and dart_labels is not None:
            raise InvalidGraphError("give edge_labels (one per edge) or dart_labels (one per direction), not both")
        m = len(pairs)
        self._set(
            n,
            pairs,
            as_labels(node_labels, (n,), "node_labels"),
            as_labels(edge_labels, (m,), "edge_labels"),
            as_labels(dart_labels, (m, 2), "dart_labels"),
            as_names(names, n),
        )

    def _set(self, n: int, edges: np.ndarray, node: Any, edge: Any, dart: Any, names: Any) -> None:
        node, edge, dart = if_any(node), if_any(edge), if_any(dart)
        for array in (edges, node, edge, dart, names):
            if array is not None:
                read_only(array)
        labels = {"_node_labels": node, "_edge_labels": edge, "_dart_labels": dart}
        for name, value in {"_num_nodes": n, "_edges": edges, "_names": names, **labels}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _trusted(
        cls, n: int, edges: np.ndarray, node: Any = None, edge: Any = None, dart: Any = None, names: np.ndarray | None = None
    ) -> Graph:
        """For arrays that are already normalised, fresh and known to be a simple graph."""
        graph = cls.__new__(cls)
        graph._set(n, edges, node, edge, dart, names)
        return graph

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph cannot be changed; make a new one with another {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Graph cannot be changed")

    def __reduce__(self) -> tuple:
        return Graph, (self._num_nodes, self._edges, self._node_labels, self._edge_labels, self._dart_labels, self._names)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self._num_nodes

    @property
    def num_edges(self) -> int:
        """The number of undirected edges."""
        return len(self._edges)

    @property
    def edges(self) -> np.ndarray:
        """Shape (m, 2), int64, read-only; row e is edge e as it was given."""
        return self._edges

    @property
    def node_labels(self) -> np.ndarray | None:
        """Shape (n, width), int64 or float64, read-only; or None."""
        return self._node_labels

    @property
    def edge_labels(self) -> np.ndarray | None:
        """Shape (m, width), int64 or float64, read-only; or None (also if there are dart labels)."""
        return self._edge_labels

    @property
    def dart_labels(self) -> np.ndarray | None:
        """Shape (m, 2, width), int64 or float64, read-only; or None (also if there are edge labels)."""
        return self._dart_labels

    @property
    def names(self) -> np.ndarray | None:
        """What the caller calls the nodes, read-only; None if they are simply 0..n-1."""
        return self._names

    def named(self, nodes: np.ndarray) -> np.ndarray:
        """The names of these nodes, in an array of the same shape; the nodes themselves if they have no names.

        >>> import planegraph as pg
        >>> pg.Graph(2, [(0, 1)], names=["home", "work"]).named(np.array([1, 0])).tolist()
        ['work', 'home']
        """
        return nodes if self._names is None else self._names[nodes]

    def __repr__(self) -> str:
        parts = [counted(self.num_nodes, "node"), counted(self.num_edges, "edge")]
        for name in ("node_labels", "edge_labels", "dart_labels"):
            labels = getattr(self, name)
            if labels is not None:
                parts.append(f"{name}={labels.dtype} x {labels.shape[-1]}")
        return f"Graph({', '.join(parts)})"

    # ---- equality under the same numbering --------------------------------------------------------------------------

    def _rows_per_edge(self) -> np.ndarray | None:
        """Labels of darts u -> v and v -> u with u < v, shape (m, 2, width), in the order of ``self.edges``."""
        if self._dart_labels is None:
            return None if self._edge_labels is None else np.stack([self._edge_labels] * 2, axis=1)
        backwards = self._edges[:, 0] > self._edges[:, 1]
        return np.where(backwards[:, None, None], self._dart_labels[:, ::-1], self._dart_labels)

    def _sorted(self) -> tuple[np.ndarray, np.ndarray | None]:
        low, high = self._edges.min(axis=1), self._edges.max(axis=1)
        order = np.lexsort((high, low))
        rows = self._rows_per_edge()
        return np.stack([low[order], high[order]], axis=1), None if rows is None else rows[order]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        if (self.num_nodes, self.num_edges) != (other.num_nodes, other.num_edges):
            return False
        mine, theirs = self._sorted(), other._sorted()
        return (
            np.array_equal(mine[0], theirs[0])
            and _same_labels(self._node_labels, other._node_labels)
            and _same_labels(mine[1], theirs[1])
        )

    def __hash__(self) -> int:
        return hash((self._num_nodes, self._sorted()[0].tobytes()))

    def relabel(self, mapping: Sequence[int] | np.ndarray) -> Graph:
        """The same graph with node v called ``mapping[v]``; the mapping must be a permutation of the nodes.

        >>> import planegraph as pg
        >>> pg.families.path(3).relabel([1, 0, 2]).edges.tolist()
        [[1, 0], [0, 2]]
        """
        n = self._num_nodes
        new = np.asarray(mapping)
        if new.shape != (n,) or (n and new.dtype.kind not in "iu"):
            raise InvalidGraphError(f"a mapping of {n} nodes needs {n} integers; found shape {new.shape}, dtype {new.dtype}")
        new = new.astype(np.int64)
        if not np.array_equal(np.sort(new), np.arange(n)):
            raise InvalidGraphError(f"the mapping must hold each of 0..{n - 1} exactly once")
        node = None if self._node_labels is None else np.empty_like(self._node_labels)
        if node is not None:
            node[new] = self._node_labels
        names = None if self._names is None else np.empty_like(self._names)
        if names is not None:
            names[new] = self._names
        return Graph._trusted(n, new[self._edges], node, self._edge_labels, self._dart_labels, names)

    # ---- conversion (see formats/) ---------------------------------------------------------

    @classmethod
    def from_networkx(cls, G: Any, node_attrs: Any = None, edge_attrs: Any = None) -> Graph:
        """See :func:`planegraph.graphs.formats.networkx.from_networkx`."""
        from .formats.networkx import from_networkx

        return from_networkx(G, node_attrs, edge_attrs)

    @classmethod
    def from_graph6(cls, text: str | bytes) -> Graph:
        """See :func:`planegraph.graphs.formats.graph6.from_graph6`."""
        from .formats.graph6 import from_graph6

        return from_graph6(text)

    @classmethod
    def from_sparse6(cls, text: str | bytes) -> Graph:
        """See :func:`planegraph.graphs.formats.sparse6.from_sparse6`."""
        from .formats.sparse6 import from_sparse6

        return from_sparse6(text)

    @classmethod
    def from_smiles(cls, smiles: str, stereo: bool = True) -> Graph:
        """See :func:`planegraph.graphs.formats.molecules.from_smiles`."""
        from .formats.molecules import from_smiles

        return from_smiles(smiles, stereo)

    @classmethod
    def from_rdkit(cls, mol: Any, stereo: bool = True) -> Graph:
        """See :func:`planegraph.graphs.formats.molecules.from_rdkit`."""
        from .formats.molecules import from_rdkit

        return from_rdkit(mol, stereo)

    @classmethod
    def from_pyg(cls, data: Any, node_attr: str | None = "x", edge_attr: str | None = "edge_attr") -> Graph:
        """See :func:`planegraph.graphs.formats.pyg.from_pyg`."""
        from .formats.pyg import from_pyg

        return from_pyg(data, node_attr, edge_attr)

    def to_networkx(self) -> Any:
        """See :func:`planegraph.graphs.formats.networkx.to_networkx`."""
        from .formats.networkx import to_networkx

        return to_networkx(self)

    def to_graph6(self, header: bool = False) -> str:
        """See :func:`planegraph.graphs.formats.graph6.to_graph6`."""
        from .formats.graph6 import to_graph6

        return to_graph6(self, header)

    def to_sparse6(self, header: bool = False) -> str:
        """See :func:`planegraph.graphs.formats.sparse6.to_sparse6`."""
        from .formats.sparse6 import to_sparse6

        return to_sparse6(self, header)


def read_only(array: np.ndarray) -> np.ndarray:
    """The array, which can no longer be written to."""
    array.flags.writeable = False
    return array


def _same_labels(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b)


def as_count(num_nodes: Any) -> int:
    """A number of nodes that a graph may have, or an error that says what was found instead."""
    if isinstance(num_nodes, bool | np.bool_) or not isinstance(num_nodes, int | np.integer):
        raise InvalidGraphError(f"num_nodes must be an integer; found {num_nodes!r} of type {type(num_nodes).__name__}")
    n = int(num_nodes)
    check_size(n, "nodes")
    return n


def check_size(count: int, what: str, where: str = "", index: int | None = None) -> None:
    """Raises unless a graph may have so many ``what`` (nodes or edges); ``where`` and ``index`` name the graph of a batch."""
    if not 0 <= count <= MAX_SIZE:
        raise InvalidGraphError(f"{where}the number of {what} must be between 0 and 2^28, found {count}", index)


def as_names(names: Any, n: int) -> np.ndarray | None:
    """An array of n different names, of integers if all are; None for the names 0..n-1."""
    if names is None:
        return None
    names = list(names) if not isinstance(names, np.ndarray) else names.tolist()
    if len(names) != n:
        raise InvalidGraphError(f"names must hold a name for each of the {n} nodes; found {len(names)}")
    try:
        distinct = len(set(names))
    except TypeError as error:
        raise InvalidGraphError(f"names must be hashable, such as text, numbers or tuples of them; {error}") from None
    if distinct < n:
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise InvalidGraphError(f"names must differ; found {twice!r} {names.count(twice)} times")
    if all(type(name) is int and abs(name) < 2**63 for name in names):
        array = np.array(names, np.int64)
        return None if np.array_equal(array, np.arange(n)) else array
    return np.fromiter(names, object, n)


def as_edges(edges: Any) -> np.ndarray:
    """A fresh C-contiguous int64 array of shape (m, 2), or an error that says what was found instead."""
    refuse_masked(edges, "edges")
    try:
        array = np.asarray(edges if hasattr(edges, "__array__") or isinstance(edges, Sequence) else list(edges))
    except (TypeError, ValueError) as error:
        raise InvalidGraphError(f"edges must be an array of shape (m, 2); {error}") from None
    if array.size == 0 and array.shape in ((0,), (0, 2)):
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        hint = "; transpose an edge_index" if array.ndim == 2 and array.shape[0] == 2 else ""
        raise InvalidGraphError(f"edges must have shape (m, 2), a row per undirected edge; found shape {array.shape}{hint}")
    if array.dtype.kind not in "iu":
        raise InvalidGraphError(f"edges must be integers; found dtype {array.dtype}")
    if array.dtype == np.uint64 and array.max() > np.uint64(MAX_SIZE):
        e = int(np.argmax(array.max(axis=1)))
        raise InvalidGraphError(f"edge {e} = {_pair(array[e])} names a node beyond {MAX_SIZE}")
    return array.astype(np.int64, order="C", copy=True)


def _pair(row: np.ndarray) -> str:
    u, v = row.tolist()
    return f"({u!r}, {v!r})"


_IN_MULTIGRAPHS = (
    "planegraph.MultiGraph may have such edges: decompose takes it, MultiGraph.of(graph) makes it of other libraries' graphs, and its "
    "simple() leaves them out"
)


def _check_simple(n: int, edges: np.ndarray, names: Any) -> None:
    """Raises unless all ends lie in 0..n-1 and there are neither self-loops nor parallel edges."""
    check_size(len(edges), "edges")
    if not len(edges):
        return
    u, v = edges[:, 0], edges[:, 1]
    if edges.min() < 0 or edges.max() >= n:
        e = int(np.argmax(((edges < 0) | (edges >= n)).any(axis=1)))
        nodes = f"the nodes are 0..{n - 1}" if n else "the graph has no nodes"
        raise InvalidGraphError(f"edge {e} = {_pair(edges[e])} names a node that does not exist; {nodes}")
    if (u == v).any():
        e = int(np.argmax(u == v))
        text = _pair(_called(edges[e], names, n))
        raise InvalidGraphError(f"edge {e} = {text} is a self-loop; drop it, or say it by a node label. {_IN_MULTIGRAPHS}")
    keys = np.minimum(u, v) * n + np.maximum(u, v)
    ordered = np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        key = ordered[1:][ordered[1:] == ordered[:-1]][0]
        first, second = (int(e) for e in np.flatnonzero(keys == key)[:2])
        one, other = (_pair(_called(edges[e], names, n)) for e in (first, second))
        raise InvalidGraphError(
            f"edges {first} = {one} and {second} = {other} are parallel; give each undirected edge once, and put a multiplicity into "
            f"its label. {_IN_MULTIGRAPHS}"
        )


def _called(nodes: np.ndarray, names: Any, n: int) -> np.ndarray:
    found = as_names(names, n)
    return nodes if found is None else found[nodes]
