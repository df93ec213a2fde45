"""Assertions for your own models: the output does not depend on the numbering of a graph, and two graphs are distinguished.

A relabelled copy of a graph has its nodes renamed, its edges in another order and each in another direction, with all features
moved along; an invariant function gives it the same output. Needs torch, and PyG where the graph is a PyG ``Data``. The cost is that
of ``relabelings + 1`` evaluations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InvalidGraphError, MissingDependencyError, PlanegraphError
from .graphs.graph import Graph

try:
    import torch
except ImportError:
    raise MissingDependencyError("planegraph.testing needs PyTorch: pip install 'planegraph[learn]'") from None

__all__ = ["Relabelling", "assert_distinguishes", "assert_invariant", "relabelled"]

_SAME = {torch.float64: 1e-9}  # relative to the largest entry of the output; any other type has _SAME_OTHERWISE
_SAME_OTHERWISE = 1e-4
_DIFFERENT = {torch.float64: 1e-8}
_DIFFERENT_OTHERWISE = 1e-5
_SHOWN = 400  # graphs of more nodes are not written out as graph6


@dataclass(frozen=True, eq=False)
class Relabelling:
    """Node v becomes ``nodes[v]``; row i of the new edges is row ``edges[i]`` of the old, turned round where ``turned[i]``.

    In a PyG ``Data`` the rows are the columns of ``edge_index``, which holds both directions: none is turned round.
    """

    nodes: np.ndarray
    edges: np.ndarray
    turned: np.ndarray

    def __str__(self) -> str:
        turned = np.flatnonzero(self.turned)
        text = f"nodes {self.nodes.tolist()}, edges {self.edges.tolist()}"
        return f"{text}, turned round {turned.tolist()}" if len(turned) else text


def relabelled(graph: Any, seed: int | np.random.Generator = 0) -> tuple[Any, Relabelling]:
    """An isomorphic copy of a ``Graph`` or a PyG ``Data``, features included, and how it was made.

    >>> import planegraph as pg
    >>> g = pg.Graph(3, [(0, 1), (1, 2)], node_labels=[6, 7, 8])
    >>> copy, how = relabelled(g, seed=1)
    >>> pg.is_isomorphic(g, copy), copy.node_labels[how.nodes, 0].tolist()
    (True, [6, 7, 8])
    """
    rng = np.random.default_rng(seed)
    return _relabelled_graph(graph, rng) if isinstance(graph, Graph) else _relabelled_data(graph, rng)


def assert_invariant(
    model_or_fn: torch.nn.Module | Callable[[Any], Any],
    graph: Any,
    relabelings: int = 5,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    """Raises AssertionError unless relabelled copies of a graph get the same output as the graph itself, and it is finite.

    Args:
        model_or_fn: a module that reads batches of planegraph (its ``embed``, if it has one, is what is compared), or any function
            of a graph that returns a tensor. A module is put into evaluation mode for the time being: dropout and batch statistics
            are not functions of a graph.
        graph: a :class:`planegraph.Graph`, whose labels are the features, or a PyG ``Data``; a function gets copies of the same type.
        relabelings: how many copies are tried.
        tolerance: how much an entry may differ, relative to the largest entry of the output; by default 1e-9 for float64 and 1e-4
            for other types.
        seed: of the copies.

    >>> import planegraph as pg
    >>> g = pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)], node_labels=[6, 6, 6, 8])
    >>> assert_invariant(lambda graph: torch.tensor([graph.num_edges]), g)
    >>> assert_invariant(lambda graph: torch.tensor(graph.node_labels[0]), g)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    AssertionError: the output depends on the numbering of the graph: it changes by 0.25, relative to its largest entry 8; allowed is 0.0001
      graph: graph6 Cx, node_labels=[[6], [6], [6], [8]]
      relabelling ... of 5, seed 0: nodes [...], edges [...], turned round [...]
    """
    if relabelings < 1:
        raise ValueError(f"relabelings must be at least 1; found {relabelings}")
    rng = np.random.default_rng(seed)
    copies = [relabelled(graph, rng) for _ in range(relabelings)]
    expected = _outputs(model_or_fn, [graph])[0]  # on its own: what else is in a batch must not matter
    described = f"\n  graph: {_describe(graph)}"
    _check_finite(expected, described)
    allowed = _SAME.get(expected.dtype, _SAME_OTHERWISE) if tolerance is None else tolerance
    found = _outputs(model_or_fn, [copy for copy, _ in copies])
    for i, (output, (_, how)) in enumerate(zip(found, copies, strict=True), start=1):
        where = f"{described}\n  relabelling {i} of {relabelings}, seed {seed}: {how}"
        if output.shape != expected.shape:
            raise AssertionError(f"the shape of the output depends on the numbering: {_shapes(expected, output)}{where}")
        _check_finite(output, where)
        difference, scale = _difference(expected, output)
        if difference > allowed:
            raise AssertionError(
                f"the output depends on the numbering of the graph: it changes by {difference:.2g}, relative to its largest entry "
                f"{scale:.3g}; allowed is {allowed:.2g}{where}"
            )


def assert_distinguishes(
    model_or_fn: torch.nn.Module | Callable[[Any], Any], g: Any, h: Any, tolerance: float | None = None
) -> None:
    """Raises AssertionError unless two graphs get different outputs, both finite.

    Args:
        model_or_fn: as in :func:`assert_invariant`.
        g, h: two graphs, both :class:`planegraph.Graph` or both PyG ``Data``.
        tolerance: outputs count as different if an entry differs by more than this, relative to the largest entry of both; by
            default 1e-8 for float64 and 1e-5 for other types.

    >>> import planegraph as pg
    >>> one, other = pg.families.cycle(6), pg.families.prism(3)
    >>> assert_distinguishes(lambda graph: torch.tensor([graph.num_edges]), one, other)
    >>> assert_distinguishes(lambda graph: torch.tensor([graph.num_nodes]), one, other)
    Traceback (most recent call last):
    ...
    AssertionError: the two graphs get the same output: it differs by 0, relative to its largest entry 6; needed is more than 1e-05
      first: graph6 EhEG
      second: graph6 E{Sw
    """
    first, second = _outputs(model_or_fn, [g])[0], _outputs(model_or_fn, [h])[0]
    needed = _DIFFERENT.get(first.dtype, _DIFFERENT_OTHERWISE) if tolerance is None else tolerance
    where = f"\n  first: {_describe(g)}\n  second: {_describe(h)}"
    if first.shape != second.shape:
        raise AssertionError(f"outputs of different shapes cannot be compared: {_shapes(first, second)}{where}")
    for graph, output in ((g, first), (h, second)):
        _check_finite(output, f"\n  graph: {_describe(graph)}")
    difference, scale = _difference(first, second)
    if not difference > needed:
        hint = "; the graphs are isomorphic, so no invariant distinguishes them" if _isomorphic(g, h) else ""
        raise AssertionError(
            f"the two graphs get the same output: it differs by {difference:.2g}, relative to its largest entry {scale:.3g}; "
            f"needed is more than {needed:.2g}{hint}{where}"
        )


# ---- relabelling ------------------------------------------------------------------------------------------------------------


def _relabelled_graph(graph: Graph, rng: np.random.Generator) -> tuple[Graph, Relabelling]:
    m = graph.num_edges
    how = Relabelling(rng.permutation(graph.num_nodes), rng.permutation(m), rng.random(m) < 0.5)
    turn = how.turned[:, None]
    edges = how.nodes[graph.edges[how.edges]] if m else graph.edges
    labels: dict[str, np.ndarray] = {}
    if graph.node_labels is not None:
        labels["node_labels"] = graph.node_labels[np.argsort(how.nodes)]
    if graph.edge_labels is not None:
        labels["edge_labels"] = graph.edge_labels[how.edges]
    if graph.dart_labels is not None:
        darts = graph.dart_labels[how.edges]
        labels["dart_labels"] = np.where(turn[..., None], darts[:, ::-1], darts)
    return Graph(graph.num_nodes, np.where(turn, edges[:, ::-1], edges), **labels), how


def _relabelled_data(data: Any, rng: np.random.Generator) -> tuple[Any, Relabelling]:
    """Every attribute that PyG takes for one of nodes or of edges moves along; the others stay as they are."""
    if not hasattr(data, "is_node_attr") or getattr(data, "edge_index", None) is None:
        raise InvalidGraphError(f"expected a planegraph.Graph or a PyG Data with an edge_index; found {type(data).__name__}")
    if "walk_node" in data:
        raise InvalidGraphError(
            "this Data is decomposed already; give it as it was before Planar, and apply Planar in the function"
        )
    columns = data.edge_index.size(1)
    how = Relabelling(rng.permutation(data.num_nodes), rng.permutation(columns), np.zeros(columns, bool))
    new, old, order = (torch.from_numpy(a) for a in (how.nodes, np.argsort(how.nodes), how.edges))
    copy = data.clone()
    for name, values in data.to_dict().items():
        if name == "edge_index":
            copy[name] = new.to(values)[values[:, order]]
        elif data.is_node_attr(name):
            copy[name] = values.index_select(data.__cat_dim__(name, values), old.to(values.device))
        elif data.is_edge_attr(name):
            copy[name] = values.index_select(data.__cat_dim__(name, values), order.to(values.device))
    return copy, how


# ---- outputs ----------------------------------------------------------------------------------------------------------------


def _outputs(model_or_fn: Any, graphs: list[Any]) -> list[torch.Tensor]:
    """One detached tensor per graph."""
    with torch.no_grad():
        if isinstance(model_or_fn, torch.nn.Module):
            return list(_embed(model_or_fn, graphs))
        return [torch.as_tensor(model_or_fn(graph)).detach() for graph in graphs]


def _embed(model: torch.nn.Module, graphs: list[Any]) -> torch.Tensor:
    """All graphs as one batch; parts that are not planar are encoded as plain sets."""
    from .data import PackedDataset

    if isinstance(graphs[0], Graph):
        dataset = PackedDataset.from_graphs(graphs, on_nonplanar="set")
    else:
        dataset = PackedDataset.from_pyg(graphs, on_nonplanar="set")
    batch = dataset[:]
    parameter = next(model.parameters(), None)
    batch = batch if parameter is None else batch.to(parameter.device)
    training = model.training
    model.eval()
    try:
        return getattr(model, "embed", model)(batch)
    finally:
        model.train(training)


def _difference(a: torch.Tensor, b: torch.Tensor) -> tuple[float, float]:
    """The largest difference of two entries relative to the largest entry of all, and that entry."""
    if not a.numel():
        return 0.0, 0.0
    a, b = a.to(torch.float64), b.to(torch.float64)
    scale = float(torch.maximum(a.abs().max(), b.abs().max()))
    return float((a - b).abs().max()) / (scale or 1.0), scale


def _check_finite(output: torch.Tensor, where: str) -> None:
    """NaN and infinity cannot be compared; ``where`` says of which graph the output is."""
    bad = ~torch.isfinite(output)
    if bad.any():
        at = tuple(bad.nonzero()[0].tolist())
        raise AssertionError(
            f"the output is not finite: entry {list(at)} is {output[at].item()}, {int(bad.sum())} of {output.numel()} are not; look for "
            f"the cause in the model or its input{where}"
        )


def _shapes(a: torch.Tensor, b: torch.Tensor) -> str:
    return f"{tuple(a.shape)} and {tuple(b.shape)}"


# ---- messages ---------------------------------------------------------------------------------------------------------------


def _describe(graph: Any) -> str:
    try:
        g = graph if isinstance(graph, Graph) else Graph.from_pyg(graph)
    except PlanegraphError:  # a function may read more than a Graph can hold, such as NaN
        return repr(graph)
    text = f"graph6 {g.to_graph6()}" if g.num_nodes <= _SHOWN else repr(g)
    for name in ("node_labels", "edge_labels", "dart_labels"):
        labels = getattr(g, name)
        if labels is not None and g.num_nodes <= _SHOWN:
            text += f", {name}={labels.tolist()}"
    if g.num_nodes <= _SHOWN and (g.edge_labels is not None or g.dart_labels is not None):
        text += f", edges={g.edges.tolist()}"
    return text


def _isomorphic(g: Any, h: Any) -> bool:
    from .canonical.form import is_isomorphic

    try:
        return is_isomorphic(*(x if isinstance(x, Graph) else Graph.from_pyg(x) for x in (g, h)))
    except PlanegraphError:  # not planar
        return False
