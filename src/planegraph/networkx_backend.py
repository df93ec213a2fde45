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
from .errors import NotPlanarError
from .graphs.formats.convert import as_any_graph
from .graphs.graph import Graph
from .graphs.multigraph import MultiGraph
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
        return api.decompose(self.simple, "set") if self.is_multigraph() else self.decomposition


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
    cache = getattr(args[0] if args else kwargs["G"], "__networkx_cache__", None) or {}
    return name != "articulation_points" or "planegraph" in cache.get("backends", ())


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
    if G.is_multigraph() or G.simple.num_nodes < 2:
        raise NotImplementedError("loops count in networkx, and graphs of one node or none have answers there")
    connectivity = G.decomposition.node_connectivity
    if connectivity > 2 or k not in (None, connectivity):
        raise NotImplementedError("only the smallest cuts, of one or two nodes")
    return _smallest_cuts(G, connectivity)


def _smallest_cuts(G: Converted, connectivity: int) -> Iterator[set]:
    if connectivity == 0:
        raise nx.NetworkXError("Input graph is disconnected.")
    n = G.simple.num_nodes
    if G.simple.num_edges < n * (n - 1) // 2:
        yield from map(set, G.decomposition.separation_pairs) if connectivity == 2 else ({v} for v in articulation_points(G))


def _in_component_of(G: Converted, root: Any) -> np.ndarray:
    nodes = range(G.graph.num_nodes) if G.graph.names is None else G.graph.names.tolist()
    try:
        component = G.decomposition.components[nodes.index(root)]
    except ValueError:
        raise nx.NodeNotFound(f"Root node {root} is not in graph") from None
    return G.decomposition.components == component
