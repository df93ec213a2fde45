"""What a model must know of a dataset: which features it has, how many categories, and how large its graphs are.

Reads all features once: O(size). See :meth:`planegraph.nn.GraphModel.for_data`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..data.features import as_features
from ..data.packed import PackedDataset
from ..data.sizes import Features, feature_sizes
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.formats.pyg import read_pyg
from ..graphs.graph import Graph
from .config import Level


class DataSizes(NamedTuple):
    """Features, the mean number of nodes of a graph, the width of the output, descriptors of a graph, and a task's units and level."""

    node_features: Features
    edge_features: Features
    nodes: float
    outputs: int = 1
    descriptors: int = 0
    units: tuple[tuple[float, float], ...] | None = None
    level: Level = "graph"


def sizes_of(dataset: Any) -> DataSizes:
    """Of a PackedDataset, a task, a GraphBatch, or a list (or PyG dataset) of Graphs or ``Data``.

    >>> import planegraph as pg
    >>> sizes_of([pg.Graph(3, [(0, 1), (1, 2)], node_labels=[6, 8, 6], edge_labels=[0.5, 1.5])])[:3]
    (Categorical(sizes=(9,)), Continuous(width=1), 3.0)
    """
    if hasattr(dataset, "dataset") and hasattr(dataset, "edge_features"):  # a Task, which this folder does not know
        own = {name: getattr(dataset, name) for name in ("node_features", "edge_features", "outputs", "units", "level")}
        return sizes_of(dataset.dataset)._replace(**own)
    if isinstance(dataset, PackedDataset):
        found = dataset.attrs.get("descriptors")
        width = 0 if found is None or found.ndim != 2 else found.shape[1]
        return _sizes(dataset.x, dataset.features.edges, dataset.tables["node_ptr"])._replace(descriptors=width)
    if isinstance(dataset, GraphBatch):
        edges = dataset.edge_labels if dataset.dart_labels is None else dataset.dart_labels
        return _sizes(dataset.node_labels, edges, dataset.node_ptr)
    graphs = _listed(dataset)
    if graphs and isinstance(graphs[0], Graph):
        return sizes_of(GraphBatch.from_graphs(graphs))
    found = read_pyg(graphs, ("x",), ("edge_attr",), as_rows=as_features)
    return _sizes(found.nodes.get("x"), found.edges.get("edge_attr"), found.batch.node_ptr)


def _listed(dataset: Any) -> list[Any]:
    """The graphs of a list or of a PyG dataset."""
    wanted = "a PackedDataset, a task, a PyG dataset, or a list of graphs"
    if isinstance(dataset, Graph) or hasattr(dataset, "to_dict"):
        raise InvalidGraphError(f"expected {wanted}; found one {type(dataset).__name__}: give a list, [graph]")
    if hasattr(dataset, "batch_size"):
        raise InvalidGraphError(f"expected {wanted}; found a {type(dataset).__name__}: give the dataset, not its loader")
    if isinstance(dataset, str) or not (isinstance(dataset, Iterable) or hasattr(dataset, "__getitem__")):
        raise InvalidGraphError(f"expected {wanted}; found {type(dataset).__name__}")
    return list(dataset)


def _sizes(x: np.ndarray | None, edges: np.ndarray | None, node_ptr: np.ndarray) -> DataSizes:
    graphs, nodes = len(node_ptr) - 1, int(node_ptr[-1])
    if nodes == 0:
        raise InvalidGraphError(f"the dataset has {graphs} graphs and no nodes: there is nothing to make a model for")
    of_nodes, of_edges = (feature_sizes(name, values) for name, values in (("x", x), ("edge_attr", edges)))
    return DataSizes(of_nodes, of_edges, nodes / graphs)
