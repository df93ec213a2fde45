"""PyG ``Data`` objects as flat arrays: each attribute of each graph is read once, then everything is vectorised.

Duck-typed: anything with an ``edge_index`` (2, E) and ``num_nodes`` (or ``x``) will do, so this needs neither torch nor torch_geometric.
Every edge must be there in both directions, as PyG's undirected graphs have it. One that is there once is refused, since it could just
as well be meant to have a direction; ``torch_geometric.utils.to_undirected`` adds the other one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidGraphError
from ..batch import GraphBatch, offsets
from ..directions import Directions, by_edge, pair_directions
from ..graph import Graph, as_count
from ..labels import as_labels, to_numpy


@dataclass(frozen=True, eq=False)
class PygGraphs:
    """The graphs without labels, and attributes by name: of nodes; of edges, (edges, width) or (edges, 2, width) where directions differ;
    of graphs, as PyG would batch them."""

    batch: GraphBatch
    directions: Directions
    nodes: dict[str, np.ndarray]
    edges: dict[str, np.ndarray]
    graphs: dict[str, np.ndarray]


def from_pyg(data: Any, node_attr: str | None = "x", edge_attr: str | None = "edge_attr") -> Graph:
    """A PyG ``Data`` object, or anything like it (see above), whose edges are there in both directions.

    All of ``x`` and ``edge_attr`` become labels, labels that differ by direction dart labels; pass None for those that should not count.

    >>> from types import SimpleNamespace
    >>> from_pyg(SimpleNamespace(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3)).edges.tolist()
    [[0, 1], [1, 2]]
    """
    try:
        found = read_pyg([data], [node_attr] if node_attr else (), [edge_attr] if edge_attr else ())
    except InvalidGraphError as error:
        raise InvalidGraphError(str(error).removeprefix("graph 0: ")) from None
    nodes, labels = (next(iter(part.values()), None) for part in (found.nodes, found.edges))
    by_dart = labels is not None and labels.ndim == 3
    b = found.batch
    return Graph._trusted(b.num_nodes, b.edges, nodes, None if by_dart else labels, labels if by_dart else None)


def _as_labels(values: np.ndarray, ptr: np.ndarray, name: str) -> np.ndarray | None:
    return as_labels(values, (int(ptr[-1]),), name)


def read_pyg(
    graphs: Sequence[Any],
    node_attrs: Sequence[str] = (),
    edge_attrs: Sequence[str] = (),
    graph_attrs: Sequence[str] = (),
    *,
    as_rows: Callable[[np.ndarray, np.ndarray, str], np.ndarray | None] = _as_labels,
) -> PygGraphs:
    """Reads the named attributes of all graphs; ``x``, ``edge_attr`` and ``y`` need not exist.

    Args:
        as_rows: what attributes of nodes and of columns of ``edge_index`` become: exact labels, unless told otherwise. It gets the rows
            of all graphs, their offsets and the name.
    """
    _refuse_batches(graphs)
    index, column_ptr = _edge_indices(graphs)
    node_ptr = offsets([_num_nodes(g, i) for i, g in enumerate(graphs)])
    directions = pair_directions(index, column_ptr, node_ptr)
    edges = np.ascontiguousarray(index.T[directions.first])

    def rows(name: str, ptr: np.ndarray, per: str) -> np.ndarray | None:
        found = _rows(graphs, name, ptr, per)
        return None if found is None else as_rows(found, ptr, name)

    columns = _existing(edge_attrs, lambda name: rows(name, column_ptr, "column of edge_index"))
    return PygGraphs(
        GraphBatch._trusted(node_ptr, directions.edge_ptr, edges, None, None, None),
        directions,
        _existing(node_attrs, lambda name: rows(name, node_ptr, "node")),
        {name: by_edge(values, directions) for name, values in columns.items()},
        _existing(graph_attrs, lambda name: _per_graph(graphs, name)),
    )


def _refuse_batches(graphs: Sequence[Any]) -> None:
    for i, g in enumerate(graphs):
        if getattr(g, "ptr", None) is not None and getattr(g, "batch", None) is not None:
            raise InvalidGraphError(
                f"item {i} is a PyG batch, which would count as one graph; give the graphs themselves: the dataset, not its loader, "
                "or batch.to_data_list()",
                i,
            )


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names of attributes, each once; one name may stand alone.

    >>> as_names("x"), as_names(["x", "pos", "x"])
    (('x',), ('x', 'pos'))
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"attributes are given by their names; found {names!r}")
    return tuple(dict.fromkeys(names))


def _existing(names: Sequence[str], read: Callable[[str], np.ndarray | None]) -> dict[str, np.ndarray]:
    found = {name: read(name) for name in dict.fromkeys(names)}
    for name, values in found.items():
        if values is None and name not in ("x", "edge_attr", "y"):
            raise InvalidGraphError(f"no graph has the attribute {name}")
    return {name: values for name, values in found.items() if values is not None}


def _edge_indices(graphs: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    found = [_edge_index(g, i) for i, g in enumerate(graphs)]
    column_ptr = offsets([a.shape[1] for a in found])
    return np.concatenate([np.empty((2, 0), np.int64), *found], axis=1), column_ptr


def _edge_index(graph: Any, i: int) -> np.ndarray:
    value = getattr(graph, "edge_index", None)
    if value is None:
        raise InvalidGraphError(f"graph {i}: edge_index is missing from {type(graph).__name__}", i)
    index = to_numpy(value, f"graph {i}: edge_index", i)
    if index.size == 0:
        return np.empty((2, 0), np.int64)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise InvalidGraphError(
            f"graph {i}: edge_index must be integers of shape (2, E); found shape {index.shape}, dtype {index.dtype}", i
        )
    return index.astype(np.int64, copy=False)


def _num_nodes(graph: Any, i: int) -> int:
    n, x = (getattr(graph, name, None) for name in ("num_nodes", "x"))
    if n is None and not hasattr(x, "__len__"):
        raise InvalidGraphError(f"graph {i}: num_nodes is missing from {type(graph).__name__}; set it, or x", i)
    with suppress(TypeError):  # a tensor of one integer will do; anything else is refused by as_count, which names it
        n = len(x) if n is None else operator.index(n)
    try:
        return as_count(n)
    except InvalidGraphError as error:
        raise InvalidGraphError(f"graph {i}: {error}", i) from None


def _rows(graphs: Sequence[Any], name: str, ptr: np.ndarray, per: str) -> np.ndarray | None:
    """The attribute of all graphs, one after another, (rows, width); None if no graph has it."""
    found = _read(graphs, name)
    if found is None:
        return None
    found = [a[:, None] if a.ndim == 1 else a for a in found]
    for i, (a, rows) in enumerate(zip(found, np.diff(ptr).tolist(), strict=True)):
        if a.ndim != 2 or len(a) != rows:
            raise InvalidGraphError(f"graph {i}: {name} must have one row per {per}, {rows}; found shape {a.shape}", i)
    _same(found, name, lambda a: (a.dtype, a.shape[1]), lambda a: f"{a.dtype} of width {a.shape[1]}")
    return np.concatenate(found)


def _per_graph(graphs: Sequence[Any], name: str) -> np.ndarray | None:
    """One row per graph, as PyG would batch it: scalars and shape (1, ...) are joined; other shapes are stacked."""
    found = _read(graphs, name)
    if found is None:
        return None
    _same(found, name, lambda a: (a.dtype, a.shape), lambda a: f"{a.dtype} of shape {a.shape}; one per graph is needed")
    return np.concatenate(found) if found[0].ndim and len(found[0]) == 1 else np.stack(found)


def _read(graphs: Sequence[Any], name: str) -> list[np.ndarray] | None:
    values = [getattr(g, name, None) for g in graphs]
    missing = [i for i, v in enumerate(values) if v is None]
    if len(missing) == len(values):
        return None
    if missing:
        has = next(i for i, v in enumerate(values) if v is not None)
        raise InvalidGraphError(f"graph {missing[0]}: {name} is missing, while graph {has} has it", missing[0])
    return [to_numpy(v, f"graph {i}: {name}", i) for i, v in enumerate(values)]


def _same(found: list[np.ndarray], name: str, key: Any, words: Any) -> None:
    first = key(found[0])
    for i, a in enumerate(found):
        if key(a) != first:
            raise InvalidGraphError(f"graph {i}: {name} is {words(a)}, while graph 0 has {words(found[0])}", i)
