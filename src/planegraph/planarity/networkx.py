"""Embeddings to and from networkx."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidGraphError, MissingDependencyError
from ..graphs.formats.convert import as_graph
from .embedding import Embedding


def to_networkx(embedding: Embedding) -> Any:
    """A ``networkx.PlanarEmbedding`` of nodes with their names; loops and parallel edges raise :class:`InvalidGraphError`.

    >>> import planegraph as pg
    >>> p = pg.embedding(pg.families.wheel(4)).to_networkx()
    >>> p.check_structure()
    >>> list(p.neighbors_cw_order(4))
    [0, 3, 2, 1]
    """
    nx = _networkx("to_networkx")
    embedding.to_graph()  # to refuse what a PlanarEmbedding cannot hold
    p = nx.PlanarEmbedding()
    names = embedding.named(np.arange(embedding.num_nodes)).tolist()
    p.add_nodes_from(names)
    p.set_data({names[v]: [names[u] for u in around] for v, around in enumerate(embedding.clockwise())})
    return p


def to_multigraph(embedding: Embedding) -> Any:
    """A ``networkx.MultiGraph`` in which edge e has the key e: for duals, which may have loops and parallel edges.

    >>> import planegraph as pg
    >>> list(pg.embedding(pg.families.cycle(3)).dual().to_multigraph().edges(keys=True))
    [(0, 1, 0), (0, 1, 1), (0, 1, 2)]
    """
    graph = _networkx("to_multigraph").MultiGraph()
    graph.add_nodes_from(embedding.named(np.arange(embedding.num_nodes)).tolist())
    graph.add_edges_from((u, v, e) for e, (u, v) in enumerate(embedding.named(embedding.edges).tolist()))
    return graph


def from_networkx(embedding: Any) -> Embedding:
    """A ``networkx.PlanarEmbedding``, checked; node i is the i-th of ``embedding.nodes``, which ``names`` keeps.

    >>> import networkx as nx
    >>> from_networkx(nx.check_planarity(nx.cycle_graph(4))[1])
    Embedding(4 nodes, 4 edges, 2 faces)
    """
    if not hasattr(embedding, "neighbors_cw_order"):
        raise InvalidGraphError(f"expected a networkx.PlanarEmbedding; found {type(embedding).__name__}")
    number = {name: v for v, name in enumerate(embedding.nodes)}
    rotations = [[number[u] for u in embedding.neighbors_cw_order(v)][::-1] for v in embedding.nodes]
    return Embedding.from_rotations(as_graph(embedding), rotations)


def _networkx(what: str) -> Any:
    try:
        import networkx as nx
    except ImportError:
        raise MissingDependencyError(f"{what} needs networkx: pip install networkx") from None
    return nx
