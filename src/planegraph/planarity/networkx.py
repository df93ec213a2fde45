"""Embeddings to and from networkx."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidGraphError
from ..graphs.formats.convert import as_graph
from ..graphs.formats.networkx import networkx_for
from .embedding import Embedding


def to_networkx(embedding: Embedding) -> Any:
    """A ``networkx.PlanarEmbedding`` of nodes with their names; loops and parallel edges raise :class:`InvalidGraphError`.

    >>> import planegraph as pg
    >>> p = pg.embedding(pg.families.wheel(4)).to_networkx()
    >>> p.check_structure()
    >>> list(p.neighbors_cw_order(4))
    [0, 3, 2, 1]
    """
    nx = networkx_for("to_networkx")
    embedding.to_graph()  # to refuse what a PlanarEmbedding cannot hold
    p = nx.PlanarEmbedding()
    names = embedding.named(np.arange(embedding.num_nodes)).tolist()
    p.add_nodes_from(names)
    p.set_data({names[v]: [names[u] for u in around] for v, around in enumerate(embedding.clockwise())})
    return p


def from_networkx(embedding: Any) -> Embedding:
    """A ``networkx.PlanarEmbedding``, checked; node i is the i-th of ``embedding.nodes``, which ``names`` keeps.

    >>> import networkx as nx
    >>> from_networkx(nx.check_planarity(nx.cycle_graph(4))[1])
    Embedding(4 nodes, 4 edges, 2 faces)
    """
    if not hasattr(embedding, "neighbors_cw_order"):
        raise InvalidGraphError(f"expected a networkx.PlanarEmbedding; found {type(embedding).__name__}")
    return Embedding.from_rotations(as_graph(embedding), {v: [*embedding.neighbors_cw_order(v)][::-1] for v in embedding.nodes})
