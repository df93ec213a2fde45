"""A graph in the plane: the cyclic order of the edges around each node, the faces, the dual. All in O(n + m)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from ..errors import InvalidEmbeddingError, InvalidGraphError
from ..graphs.formats.convert import as_graph
from ..graphs.graph import Graph, as_count, as_edges, as_names, check_size, read_only
from ..graphs.names import Numbers, in_order, plain
from ..io.text import counted


class Embedding:
    """A graph in the plane, up to deformation: for each node, the cyclic order of its edges. Made by :func:`planegraph.embedding`.

    Edge e = (u, v) has two darts: 2e leads from u to v, 2e + 1 from v to u. So the reverse of dart d is d ^ 1.

    A face is a closed walk of darts with the face on its **left**. In a drawing bounded faces are walked counter-clockwise, as
    GeoJSON and most geometry programs want their polygons, and outer faces clockwise. (networkx has faces on the right, the other
    way round.)

    Each component has its own faces, an outer one among them; a node without edges has none. With c components that have edges
    and i nodes that have none, Euler's formula reads (n - i) - m + f = 2c. (The textbook counts all outer faces as one.)

    Loops and parallel edges are allowed, because duals have them: a bridge of a graph is a loop of its dual. For simple graphs,
    :meth:`to_graph` leads back.

    Args:
        num_nodes: the nodes are 0..num_nodes - 1.
        edges: shape (m, 2), the ends of each edge.
        next: shape (2m,), for each dart the dart that follows it counter-clockwise around its source. Checked.
        names: what the caller calls the nodes, as in :class:`Graph`.
        outer: a dart with the outer face on its left, for any of the components. In others the outer face is the longest one,
            the first of them if there are several.

    >>> import planegraph as pg
    >>> e = pg.embedding(pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))
    >>> e
    Embedding(4 nodes, 4 edges, 2 faces)
    >>> e.face(e.outer_face).tolist()
    [0, 1, 2, 3, 2]
    >>> e.dual().edges.tolist()  # the last edge is a bridge
    [[0, 1], [0, 1], [0, 1], [0, 0]]
    """

    def __init__(self, num_nodes: int, edges: Any, next: Any, names: Any = None, outer: Any = ()) -> None:
        n = as_count(num_nodes)
        pairs = as_edges(edges)
        check_size(len(pairs), "edges")
        if len(pairs) and not (pairs.min() >= 0 and pairs.max() < n):
            raise InvalidGraphError(f"edges must join nodes of 0..{n - 1}; found {int(pairs.min())} and {int(pairs.max())}")
        darts = 2 * len(pairs)
        self._set(n, pairs, _as_darts(next, darts, "next", (darts,)), as_names(names, n), None)
        self.check()
        if len(outer):
            self._set(n, pairs, self.next, self.names, self._complete(_as_darts(outer, darts, "outer")))

    def _set(self, n: int, edges: np.ndarray, next: np.ndarray, names: np.ndarray | None, outer: np.ndarray | None) -> None:
        for array in (edges, next, names, outer):
            if array is not None:
                read_only(array)
        self.__dict__.update(num_nodes=n, edges=edges, next=next, names=names, _outer=outer)

    @classmethod
    def _trusted(
        cls, n: int, edges: np.ndarray, next: np.ndarray, names: np.ndarray | None = None, outer: np.ndarray | None = None
    ) -> Embedding:
        """For arrays of the core or of another embedding; ``outer`` has a dart for every component that has an edge, in order."""
        embedding = cls.__new__(cls)
        embedding._set(n, edges, next, names, outer)
        return embedding

    num_nodes: int
    """The number of nodes; they are 0, 1, ..., num_nodes - 1."""
    edges: np.ndarray
    """Shape (m, 2), int64, read-only: the edges as they were given."""
    next: np.ndarray
    """Shape (2m,), int32, read-only: the dart after each dart, counter-clockwise around its source."""
    names: np.ndarray | None
    """What the caller calls the nodes; None if they are simply 0..n-1."""
    _outer: np.ndarray | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an Embedding cannot be changed; make a new one with another {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("an Embedding cannot be changed")

    def __reduce__(self) -> tuple:
        return Embedding, (self.num_nodes, self.edges, self.next, self.names, () if self._outer is None else self._outer)

    def __repr__(self) -> str:
        sizes = ((self.num_nodes, "node"), (self.num_edges, "edge"), (self.num_faces, "face"))
        return f"Embedding({', '.join(counted(k, what) for k, what in sizes)})"

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return len(self.edges)

    @cached_property
    def source(self) -> np.ndarray:
        """Shape (2m,), int64: the node that each dart leaves; ``source[d ^ 1]`` is the one that it leads to."""
        return self.edges.reshape(-1)

    # ---- nodes -------------------------------------------------------------------------------------------------------------------

    def rotation(self, node: Any) -> np.ndarray:
        """The neighbours of a node, counter-clockwise, by their names if they have any; in a multigraph once for each edge.

        >>> import planegraph as pg
        >>> pg.embedding(pg.families.wheel(4)).rotation(4).tolist()
        [0, 1, 2, 3]
        """
        return self.named(self.source[np.array(self._darts_around(self._numbers[node]), np.int64) ^ 1])

    def dart(self, u: Any, v: Any) -> int:
        """The dart from node u to node v; the first one around u if there are parallel edges.

        >>> import planegraph as pg
        >>> e = pg.embedding(pg.Graph(3, [(0, 1), (1, 2)]))
        >>> e.dart(2, 1)  # against the direction of edge 1
        3
        """
        target = self._numbers[v]
        for d in self._darts_around(self._numbers[u]):
            if self.source[d ^ 1] == target:
                return d
        raise InvalidGraphError(f"there is no edge from {u!r} to {v!r}")

    def named(self, nodes: np.ndarray) -> np.ndarray:
        """The names of these nodes, in an array of the same shape; the nodes themselves if they have no names."""
        return nodes if self.names is None else self.names[nodes]

    @cached_property
    def _numbers(self) -> Numbers:
        return Numbers(self.num_nodes, self.names)

    @cached_property
    def _first_dart(self) -> np.ndarray:
        """The least dart of each node, -1 if there is none."""
        first = np.full(self.num_nodes, -1)
        first[self.source[::-1]] = np.arange(2 * self.num_edges)[::-1]
        return read_only(first)

    def _darts_around(self, v: int) -> list[int]:
        start = int(self._first_dart[v])
        if start < 0:
            return []
        darts = [start]
        while (dart := int(self.next[darts[-1]])) != start:
            darts.append(dart)
        return darts

    # ---- faces -------------------------------------------------------------------------------------------------------------------

    @cached_property
    def _faces(self) -> tuple[np.ndarray, ...]:
        return tuple(map(read_only, _core.faces(self.num_nodes, self.edges, self.next)))

    @property
    def num_faces(self) -> int:
        """The number of faces."""
        return len(self.face_ptr) - 1

    @property
    def face_ptr(self) -> np.ndarray:
        """Shape (f + 1,), int32: face k has the darts ``face_darts[face_ptr[k]:face_ptr[k + 1]]``."""
        return self._faces[0]

    @property
    def face_darts(self) -> np.ndarray:
        """Shape (2m,), int32: the darts of all faces, one face after the other, each in the order of its walk."""
        return self._faces[1]

    @property
    def face_of(self) -> np.ndarray:
        """Shape (2m,), int32: the face on the left of each dart; edge e has ``face_of[2 * e]`` and ``face_of[2 * e + 1]``."""
        return self._faces[2]

    @cached_property
    def face_nodes(self) -> np.ndarray:
        """Shape (2m,), int64: the nodes 0..n-1 that ``face_darts`` leave, so the corners of all faces."""
        return read_only(self.source[self.face_darts])

    def face(self, face: int) -> np.ndarray:
        """The nodes of a face in the order of its walk, by their names if they have any; cut nodes may come more than once."""
        a, b = self.face_ptr[self._face(face)], self.face_ptr[face + 1]
        return self.named(self.face_nodes[a:b])

    @property
    def outer_faces(self) -> np.ndarray:
        """The outer face of each component that has an edge, in the order of their least nodes."""
        return self.face_of[self._outer_darts]

    @property
    def outer_face(self) -> int:
        """The outer face; of several components, the longest of their outer faces, the first of these if there are several.

        Raises ValueError if there are no edges.
        """
        faces = self.outer_faces
        if not len(faces):
            raise ValueError("a graph without edges has no faces; look at num_faces first")
        return int(faces[np.argmax(np.diff(self.face_ptr)[faces])])

    @property
    def _outer_darts(self) -> np.ndarray:
        return self._faces[3] if self._outer is None else self._outer

    def with_outer_face(self, face: int | Iterable[Any]) -> Embedding:
        """The same embedding with another outer face: a number, or nodes that lie on it; of several such faces, the longest.

        Other components keep their outer faces.

        >>> import planegraph as pg
        >>> e = pg.embedding(pg.families.prism(5)).with_outer_face([0, 1, 5])
        >>> sorted(e.face(e.outer_face).tolist())
        [0, 1, 5, 6]
        """
        chosen = self._face(face) if isinstance(face, int | np.integer) else self._face_with(face)
        outer = self._complete(self.face_darts[self.face_ptr[chosen] : self.face_ptr[chosen] + 1])
        return Embedding._trusted(self.num_nodes, self.edges, self.next, self.names, outer)

    def _face(self, face: int) -> int:
        if not 0 <= face < self.num_faces:
            raise IndexError(f"face {face} of an embedding with {counted(self.num_faces, 'face')}")
        return int(face)

    def _face_with(self, nodes: Iterable[Any]) -> int:
        wanted = np.zeros(self.num_nodes, bool)
        wanted[self._numbers.of(nodes)] = True
        at = np.flatnonzero(wanted[self.source])
        pairs = np.unique(np.stack([self.face_of[at], self.source[at]], axis=1), axis=0)
        has_all = np.bincount(pairs[:, 0], minlength=self.num_faces) == max(wanted.sum(), 1)
        if not has_all.any():
            raise InvalidEmbeddingError(
                f"no face of this embedding has all of the nodes {self.named(np.flatnonzero(wanted)).tolist()}; "
                "planegraph.embedding(graph, outer_face=nodes) looks for an embedding with such a face"
            )
        return int(np.argmax(np.where(has_all, np.diff(self.face_ptr), 0)))

    def _complete(self, outer: np.ndarray) -> np.ndarray:
        """A dart on the outer face of every component: these, and those there were where these have none."""
        darts = self._outer_darts.copy()
        darts[self._faces[4][self.source[outer]]] = outer
        return darts

    # ---- other embeddings --------------------------------------------------------------------------------------------------------

    def dual(self) -> Embedding:
        """The dual: its nodes are our faces, and its edge e leads from the face on the left of our edge e to the one on the right.

        Bridges become loops, and the two edges of a cut become parallel. The edges around a node of the dual are in the order of
        the walk of our face, counter-clockwise. The faces of the dual are our nodes, so the dual of the dual of a connected graph
        is the graph, with each edge turned round: that of dart d is the node that d leads to.

        >>> import planegraph as pg
        >>> cube = pg.embedding(pg.families.prism(4)).dual()
        >>> pg.is_isomorphic(cube.to_graph(), pg.Graph.from_graph6("E}lw"))  # the octahedron
        True
        """
        return Embedding._trusted(self.num_faces, self.face_of.reshape(-1, 2).astype(np.int64), self._after)

    @property
    def _after(self) -> np.ndarray:
        """The dart after each dart along its face."""
        after = np.empty_like(self.face_darts)
        following = np.roll(self.face_darts, -1)
        following[self.face_ptr[1:] - 1] = self.face_darts[self.face_ptr[:-1]]
        after[self.face_darts] = following
        return after

    def mirror(self) -> Embedding:
        """The mirror image, with the same outer faces.

        >>> import planegraph as pg
        >>> pg.embedding(pg.families.wheel(4)).mirror().rotation(4).tolist()
        [0, 3, 2, 1]
        """
        back = np.empty_like(self.next)
        back[self.next] = np.arange(len(back), dtype=back.dtype)
        return Embedding._trusted(self.num_nodes, self.edges, back, self.names, self._outer_darts ^ 1)

    # ---- the promise -------------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises :class:`InvalidEmbeddingError` unless the orders are those of a drawing in the plane.

        Each node must have one cyclic order of all its darts, and each component must have Euler's n - m + f = 2. Embeddings are
        checked when they are made; this is for those who trust nobody.
        """
        what, node = _core.embedding_problem(self.num_nodes, self.edges, self.next)
        if what:
            raise InvalidEmbeddingError(what.format(repr(plain(self.named(np.array([node]))[0])) if node >= 0 else ""))

    # ---- conversion --------------------------------------------------------------------------------------------------------------

    def to_graph(self) -> Graph:
        """The graph, without labels; raises :class:`InvalidGraphError` if it has loops or parallel edges."""
        return Graph(self.num_nodes, self.edges, names=self.names)

    @classmethod
    def from_rotations(cls, graph: Any, rotations: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]]) -> Embedding:
        """A graph with the neighbours of each node in counter-clockwise order, as :meth:`rotation` gives them; checked.

        Args:
            graph: a :class:`Graph`, or anything that :func:`planegraph.as_graph` reads.
            rotations: of each node, in the order of the nodes or as a dict by node. Nodes go by their names if they have any.

        >>> import planegraph as pg
        >>> Embedding.from_rotations(pg.families.path(3), [[1], [0, 2], [1]])
        Embedding(3 nodes, 2 edges, 1 face)
        """
        graph = as_graph(graph)
        names = graph.named(np.arange(graph.num_nodes)).tolist()
        if isinstance(rotations, Mapping):
            for name in rotations.keys() - set(names):
                raise InvalidEmbeddingError(f"there is an order around {plain(name)!r}, which is not a node of the graph")
            rotations = in_order(names, rotations, "the orders", InvalidEmbeddingError)
        rotations = list(rotations)
        if len(rotations) != graph.num_nodes:
            raise InvalidEmbeddingError(f"{counted(graph.num_nodes, 'node')} need as many orders; found {len(rotations)}")
        dart = {
            pair: d
            for e, (u, v) in enumerate(graph.named(graph.edges).tolist())
            for d, pair in ((2 * e, (u, v)), (2 * e + 1, (v, u)))
        }
        after = np.full(2 * graph.num_edges, -1, np.int32)
        for v, around in zip(names, rotations, strict=True):
            try:
                darts = [dart[v, u] for u in around]
            except KeyError as error:
                raise InvalidEmbeddingError(
                    f"the order around node {v!r} names {plain(error.args[0][1])!r}, which is not a neighbour"
                ) from None
            if len(set(darts)) < len(darts):
                twice = Counter(darts).most_common(1)[0][0]
                raise InvalidEmbeddingError(
                    f"the order around node {v!r} names its neighbour {names[graph.edges.reshape(-1)[twice ^ 1]]!r} twice"
                )
            for d, following in zip(darts, [*darts[1:], *darts[:1]], strict=True):
                after[d] = following
        if (after < 0).any():
            u, v = graph.edges.reshape(-1)[np.flatnonzero(after < 0)[0] ^ np.arange(2)].tolist()
            raise InvalidEmbeddingError(f"the order around node {names[u]!r} lacks its neighbour {names[v]!r}")
        return cls(graph.num_nodes, graph.edges, after, graph.names)

    def to_networkx(self) -> Any:
        """See :func:`planegraph.planarity.networkx.to_networkx`."""
        from .networkx import to_networkx

        return to_networkx(self)

    def to_multigraph(self) -> Any:
        """See :func:`planegraph.graphs.formats.networkx.to_multigraph`."""
        from ..graphs.formats.networkx import to_multigraph

        return to_multigraph(self)

    @classmethod
    def from_networkx(cls, embedding: Any) -> Embedding:
        """See :func:`planegraph.planarity.networkx.from_networkx`."""
        from .networkx import from_networkx

        return from_networkx(embedding)

    def to_planar_code(self) -> bytes:
        """See :func:`planegraph.planarity.planar_code.to_planar_code`."""
        from .planar_code import to_planar_code

        return to_planar_code(self)

    @classmethod
    def from_planar_code(cls, code: bytes) -> Embedding:
        """See :func:`planegraph.planarity.planar_code.from_planar_code`."""
        from .planar_code import from_planar_code

        return from_planar_code(code)

    def clockwise(self) -> Iterator[list[int]]:
        """The neighbours of each node, as numbers, clockwise from the one that ``rotation`` starts with."""
        for v in range(self.num_nodes):
            darts = np.array(self._darts_around(v), np.int64)
            yield self.source[np.roll(darts[::-1], 1) ^ 1].tolist()


def _as_darts(given: Any, darts: int, what: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
    array = np.asarray(given)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu" or array.ndim != 1 or (shape and array.shape != shape):
        length = f"{shape[0]}" if shape else "any number of"
        raise InvalidEmbeddingError(f"{what} must hold {length} darts; found shape {array.shape}, dtype {array.dtype}")
    if array.size and not (array.min() >= 0 and array.max() < darts):
        raise InvalidEmbeddingError(f"{what} must hold darts 0..{darts - 1}; found {int(array.min())} and {int(array.max())}")
    return array.astype(np.int32)
