"""The tables of a graph with loops and parallel edges.

The core puts parallel edges into bonds (cpp/planegraph/spqr/spqr.hpp). It knows no loops: each becomes an edge to a new leaf before,
and the leaf is renamed afterwards. A loop is a separate block either way, so that the trees stay what they are.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..graphs.multigraph import MultiGraph


def run_multigraph(graph: MultiGraph, as_set: bool) -> dict[str, np.ndarray]:
    """The core's arrays for one graph."""
    n, edges = graph.num_nodes, graph.edges
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    leaf = n + np.arange(len(loops))
    if len(loops):
        edges = edges.copy()
        edges[loops, 1] = leaf
    is_leaf = (np.arange(n + len(loops)) >= n).astype(np.int64)[:, None]  # a label, as loops are no edges to leaves
    arrays = _core.run(
        np.array([0, n + len(loops)]),
        np.array([0, len(edges)]),
        edges,
        is_leaf if len(loops) else None,
        nonplanar_as_set=as_set,
        multigraph=True,
    )
    return _without_leaves(arrays, n, loops, edges[loops, 0]) if len(loops) else arrays


def _without_leaves(arrays: dict[str, np.ndarray], n: int, loops: np.ndarray, at: np.ndarray) -> dict[str, np.ndarray]:
    """Nodes n and up are the leaves of the loops; ``at`` are the nodes of these."""
    a = dict(arrays)
    a["walk_node"] = np.concatenate([np.arange(n), at]).astype(np.int32)[a["walk_node"]]
    a["walk_kappa"] = np.where(np.isin(a["walk_edge"], loops), 1, a["walk_kappa"]).astype(np.int32)  # a loop's node is its first
    for table in ("spqr", "block"):
        names = (f"node_{table}_node", f"node_{table}_{table}")
        kept = a[names[0]] < n
        for name in names:
            a[name] = a[name][kept]
    a["node_component"] = a["node_component"][:n]
    index = np.empty(n, np.int32)
    index[np.argsort(a["labelling"][:n])] = np.arange(n)
    a["labelling"] = index
    return a
