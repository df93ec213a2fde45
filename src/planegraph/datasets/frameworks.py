"""The framework of a molecule: its rings and the chains between them, which is what is left when ends are taken away until there are none.

It is the scaffold of Bemis and Murcko (1996), less the double bonds that RDKit leaves on its rings, read from the graph alone. Equal
frameworks are found by their canonical codes, so no SMILES is needed. O(edges) for each atom of the longest chain.
"""

from __future__ import annotations

import numpy as np

from ..canonical.form import canonical_codes
from ..graphs.batch import GraphBatch, offsets


def framework_codes(batch: GraphBatch) -> list[bytes]:
    """Equal for graphs whose frameworks are isomorphic with their labels; those without rings share one.

    >>> import planegraph as pg
    >>> ring, tailed = pg.families.cycle(4), pg.Graph(6, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)])
    >>> path, star, a, b = framework_codes(pg.GraphBatch.from_graphs([pg.families.path(3), pg.families.star(9), ring, tailed]))
    >>> path == star, a == b, a == path
    (True, True, False)
    """
    return canonical_codes(_without_ends(batch))


def _without_ends(batch: GraphBatch) -> GraphBatch:
    """The largest subgraphs in which every node has two neighbours or more, with labels of nodes and edges."""
    graph_of_edge = np.repeat(np.arange(len(batch)), np.diff(batch.edge_ptr))
    ends = batch.edges + batch.node_ptr[graph_of_edge, None]
    edges = np.arange(len(ends))
    while True:
        degree = np.bincount(ends[edges].ravel(), minlength=batch.num_nodes)
        inner = (degree[ends[edges]] > 1).all(1)
        if inner.all():
            break
        edges = edges[inner]
    kept = np.flatnonzero(degree)
    node_ptr = np.searchsorted(kept, batch.node_ptr)
    number = np.zeros(batch.num_nodes, np.int64)
    number[kept] = np.arange(len(kept))
    graph = graph_of_edge[edges]
    return GraphBatch(
        node_ptr,
        offsets(np.bincount(graph, minlength=len(batch))),
        number[ends[edges]] - node_ptr[graph, None],
        node_labels=None if batch.node_labels is None else batch.node_labels[kept],
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[edges],
    )
