"""planegraph as a backend of networkx, which then answers questions of planarity and connectivity in linear time, many times faster.

A networkx user sets ``nx.config.backend_priority = ["planegraph"]`` (or the variable ``NETWORKX_BACKEND_PRIORITY``), or asks for one call
with ``backend="planegraph"``, and changes nothing else. networkx calls the functions of this module with graphs that
:func:`convert_from_nx` has converted, and keeps the conversion with its graph.

Answers are those of networkx, but for their order, and for choices that networkx leaves open: which planar embedding or which
counterexample ``check_planarity`` returns. A function that cannot answer raises NotImplementedError, and networkx does the work itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from .decomposition import api
from .decomposition.objects import Decomposition
from .errors import InvalidGraphError, NotPlanarError
from .graphs.formats.convert import as_any_graph
from .graphs.graph import Graph
from .graphs.multigraph import MultiGraph
from .graphs.names import Numbers
from .planarity.find import embedding


class Converted:
    """A graph of networkx as ours, and its decomposition, when it is first needed."""

    __networkx_backend__ = "planegraph"

    def __init__(self, graph: Any) -> None:
        self.graph = as_any_graph(graph)  # attributes are left behind: none of our functions reads them

    def is_directed(self) -> bool:
        return False

    def is_multigraph(self) -> bool:
        return isinstance(self.graph, MultiGraph)

    @cached_property
    def simple(self) -> Graph:
        return self.graph.simple() if isinstance(self.graph, MultiGraph) else self.graph

    @cached_property
    def decomposition(self) -> Decomposition:
        return api.decompose(self.graph, "set")  # connectivity asks for no planarity

    @cached_property
    def of_simple(self) -> Decomposition:
        """Loops and parallel edges do not change what nodes separate."""
        return api.decompose(self.simple, "set")


def convert_from_nx(graph: Any, **options: Any) -> Converted:
    return Converted(graph)


def convert_to_nx(result: Any, **options: Any) -> Any:
    """Results are already those of networkx."""
    return result


def can_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool:
    """networkx refuses directed graphs itself."""
    return not (args[0] if args else kwargs["G"]).is_directed()


def should_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool:
    """networkx finds cut nodes in the time that a conversion takes, so there we answer for graphs that are already converted."""
    graph = args[0] if args else kwargs["G"]
    return name != "articulation_points" or "planegraph" in graph.__networkx_cache__.get("backends", ())


# ---- planarity


def is_planar(G: Converted) -> bool:
    return api.is_planar(G.simple)


def check_planarity(G: Converted, counterexample: bool = False) -> tuple[bool, Any]:
    try:
        return True, embedding(G.simple).to_networkx()
    except NotPlanarError as error:
        return False, nx.Graph(error.witness.tolist()) if counterexample else None


# ---- connectivity


def bridges(G: Converted, root: Any = None) -> Iterator[tuple]:
    d = G.decomposition
    edges = d.bridges
    if root is not None:
        edges = edges[_in_component_of(G, root)[G.graph.edges[edges, 0]]]
    yield from map(tuple, d.ends(edges).tolist())


def has_bridges(G: Converted, root: Any = None) -> bool:
    return next(bridges(G, root), None) is not None


def articulation_points(G: Converted) -> Iterator[Any]:
    yield from G.simple.named(G.of_simple.cut_nodes.node).tolist()


def all_node_cuts(G: Converted, k: int | None = None, flow_func: Any = None) -> Iterator[set]:
    d, n = G.of_simple, G.simple.num_nodes
    if n < 2:
        raise NotImplementedError("graphs of one node or none")
    if d.node_connectivity == 0:
        raise nx.NetworkXError("Input graph is disconnected.")
    if G.simple.num_edges == n * (n - 1) // 2:
        return iter(())
    if d.node_connectivity > 2 or k not in (None, d.node_connectivity):
        raise NotImplementedError("only the smallest cuts, of one or two nodes")
    return map(set, d.separation_pairs) if d.node_connectivity == 2 else ({v} for v in articulation_points(G))


def _in_component_of(G: Converted, root: Any) -> np.ndarray:
    try:
        v = Numbers(G.graph.num_nodes, G.graph.names)[root]
    except InvalidGraphError:
        raise nx.NodeNotFound(f"Root node {root} is not in graph") from None
    return G.decomposition.components == G.decomposition.components[v]
