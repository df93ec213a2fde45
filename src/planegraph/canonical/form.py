"""Canonical form and isomorphism of labelled planar graphs; O(n log n), exact."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..decomposition.api import is_planar, run_batch, run_graph, split_codes
from ..errors import NotPlanarError
from ..graphs.formats.convert import as_batch, as_graph
from ..graphs.graph import Graph
from .code import decode


@dataclass(frozen=True)
class CanonicalForm:
    """What all graphs isomorphic to a given one have in common, and how the given one maps onto it.

    Attributes:
        code: equal for two graphs exactly when they are isomorphic, labels included (format: docs/code.md).
        labelling: canonical index of each node of the given graph; not part of equality, it is the given graph's own.
    """

    code: bytes
    labelling: np.ndarray = field(compare=False, repr=False)

    @property
    def digest(self) -> str:
        """The first 16 bytes of the SHA-256 of the code, in hex: short, for people and tables. The code decides, not this."""
        return digest(self.code)

    def graph(self) -> Graph:
        """The graph in canonical numbering, rebuilt from the code alone."""
        return decode(self.code)

    def __repr__(self) -> str:
        return f"CanonicalForm({self.digest}, {len(self.labelling)} nodes, {len(self.code)} bytes)"


def canonical_form(graph: Any) -> CanonicalForm:
    """The canonical form of a planar graph; raises :class:`NotPlanarError` for others.

    >>> import planegraph as pg
    >>> f = pg.canonical_form(pg.families.path(3))
    >>> f == pg.canonical_form(pg.Graph(3, [(2, 0), (0, 1)]))
    True
    >>> f.graph() == pg.families.path(3).relabel(f.labelling)
    True
    """
    out = run_graph(as_graph(graph), walks=False, codes=True)
    labelling = out["labelling"]
    labelling.flags.writeable = False
    return CanonicalForm(out["code"].tobytes(), labelling)


def canonical_codes(graphs: Any, threads: int | None = None) -> list[bytes]:
    """The canonical code of each graph of a batch, on ``threads`` threads (None: all cores this process may use).

    Args:
        graphs: a :class:`GraphBatch`, or several graphs of any kind that :func:`planegraph.as_graph` reads.

    >>> import planegraph as pg
    >>> a, b, c = pg.canonical_codes([pg.families.k2n(2), pg.families.cycle(4), pg.families.path(4)])
    >>> a == b, a == c
    (True, False)
    """
    out = run_batch(as_batch(graphs), threads, walks=False, codes=True)
    return split_codes(out["code_ptr"], out["code"])


def digest(code: bytes) -> str:
    """The first 16 bytes of the SHA-256 of a code, in hex."""
    return hashlib.sha256(code).hexdigest()[:32]


def is_isomorphic(g: Any, h: Any) -> bool:
    """Whether a bijection of the nodes maps g onto h, edges and labels included. At least one of them must be planar.

    >>> import planegraph as pg
    >>> pg.is_isomorphic(pg.families.prism(4), pg.families.grid(2, 4))
    False
    """
    return _bijection(as_graph(g), as_graph(h)) is not None


def isomorphism(g: Any, h: Any) -> np.ndarray | dict[Any, Any] | None:
    """A bijection of the nodes that maps g onto h, edges and labels included; None if there is none. At least one must be planar.

    It is an array: node v of g goes to node ``result[v]`` of h. If nodes have names, it is a dict from those of g to those of h.

    >>> import planegraph as pg
    >>> int(pg.isomorphism(pg.Graph(3, [(0, 1), (1, 2)]), pg.Graph(3, [(1, 0), (0, 2)]))[1])
    0
    >>> import networkx as nx
    >>> pg.isomorphism(nx.Graph([("a", "b"), ("b", "c")]), nx.Graph([("x", "y"), ("x", "z")]))["b"]
    'x'
    """
    g, h = as_graph(g), as_graph(h)
    found = _bijection(g, h)
    if found is None or (g.names is None and h.names is None):
        return found
    return dict(zip(g.named(np.arange(g.num_nodes)).tolist(), h.named(found).tolist(), strict=True))


def _bijection(g: Graph, h: Graph) -> np.ndarray | None:
    if (g.num_nodes, g.num_edges) != (h.num_nodes, h.num_edges):
        return None
    try:
        a = canonical_form(g)
    except NotPlanarError:
        if is_planar(h):
            return None
        raise
    try:
        b = canonical_form(h)
    except NotPlanarError:
        return None
    if a.code != b.code:
        return None
    back = np.empty(h.num_nodes, np.int64)
    back[b.labelling] = np.arange(h.num_nodes)
    return back[a.labelling]
