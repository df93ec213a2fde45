"""The PyG transform from ``Data`` to :class:`planegraph.data.PlanarData`, and a filter for graphs that are not planar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .data.features import as_features, labelled
from .data.fingerprint import fingerprint
from .data.packed import OnNonplanar, check_on_nonplanar
from .data.pyg import PlanarData, as_planar_data
from .data.tables import PackedTables
from .decomposition.api import planar_mask
from .errors import InvalidGraphError, MissingDependencyError, NotPlanarError
from .graphs.formats.pyg import PygGraphs, as_names, read_pyg

try:
    from torch_geometric.data import Batch, Data
    from torch_geometric.transforms import BaseTransform
except ImportError:
    raise MissingDependencyError("planegraph.transforms needs PyTorch Geometric: pip install planegraph[learn]") from None


class Planar(BaseTransform):
    """Decomposes a graph and keeps its canonical walks beside its features.

    Canonical walks break ties by labels. These must be all features that the model reads, which is the default. Put it after
    every transform that changes nodes, edges or features, best as ``pre_transform`` so that each graph is decomposed once::

        dataset = ZINC(root, pre_transform=Planar())

    Args:
        node_attrs: attributes with a row per node that are labels; ``x`` need not exist.
        edge_attrs: attributes with a row per column of ``edge_index`` that are labels; ``edge_attr`` need not exist.
        on_nonplanar: what to do with a graph that is not planar. "raise" :class:`planegraph.NotPlanarError`. "set": encode those of
            its rigid components that are not planar as plain sets of darts. "subgraph": decompose a maximal planar subgraph
            (:func:`planegraph.planar_subgraph`); the few other edges pass messages between neighbours like all edges, and are in
            no block and no SPQR tree. Which edges these are depends on the order of nodes and edges, so the outputs for such
            graphs can, too; those for planar graphs do not. "skip": give it back without a decomposition, marked
            ``skipped``; a transform cannot drop it. Drop it afterwards, ``dataset[~dataset.skipped]``, or before:
            PyG calls ``pre_filter`` ahead of ``pre_transform``, so pass ``pre_filter=is_planar``.

    Attributes:
        counts: how many graphs were "planar", encoded as "set" or as "subgraph", and "skipped", in this process.

    >>> import torch
    >>> transform = Planar(on_nonplanar="set")
    >>> data = transform(Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])))
    >>> data.cut_node.tolist(), transform.counts
    ([1], {'planar': 1, 'set': 0, 'subgraph': 0, 'skipped': 0})
    """

    def __init__(
        self,
        node_attrs: Sequence[str] = ("x",),
        edge_attrs: Sequence[str] = ("edge_attr",),
        on_nonplanar: OnNonplanar = "raise",
    ) -> None:
        check_on_nonplanar(on_nonplanar)
        self.node_attrs, self.edge_attrs = as_names(node_attrs), as_names(edge_attrs)
        self.on_nonplanar = on_nonplanar
        self.counts = {"planar": 0, "set": 0, "subgraph": 0, "skipped": 0}

    def forward(self, data: Data) -> PlanarData:
        """Decomposes one graph."""
        _expect_data(data, "Planar")
        call = sum(self.counts.values())
        try:
            graph = read_pyg([data], self.node_attrs, self.edge_attrs, as_rows=as_features)
            tables = self._decompose(graph)
        except InvalidGraphError as error:
            raise InvalidGraphError(_renamed(error, call), call) from None
        except NotPlanarError as error:
            raise NotPlanarError(_renamed(error, call), error.witness, call) from None
        kind = _kind(tables)
        self.counts[kind] += 1
        labels = fingerprint(tuple(graph.nodes), tuple(graph.edges))
        return as_planar_data(data, tables, graph.directions, kind == "planar", labels)

    def _decompose(self, graph: PygGraphs) -> PackedTables | None:
        batch = labelled(graph.batch, graph.nodes, graph.edges)
        if self.on_nonplanar == "skip" and not planar_mask(batch)[0]:
            return None
        return PackedTables.of(batch, 1, "raise" if self.on_nonplanar == "skip" else self.on_nonplanar)

    def __repr__(self) -> str:  # PyG compares it to see whether processed files fit, so it says the settings and nothing else
        return f"Planar(node_attrs={self.node_attrs}, edge_attrs={self.edge_attrs}, on_nonplanar={self.on_nonplanar!r})"


def is_planar(data: Data) -> bool:
    """Whether the graph of a PyG ``Data`` object is planar; for ``pre_filter``.

    >>> import torch
    >>> is_planar(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2))
    True
    """
    _expect_data(data, "is_planar")
    return bool(planar_mask(read_pyg([data]).batch)[0])


def _kind(tables: PackedTables | None) -> str:
    if tables is None:
        return "skipped"
    if tables.spqr_set.any():
        return "set"
    return "subgraph" if tables.left_out().any() else "planar"


def _expect_data(data: Any, what: str) -> None:
    if isinstance(data, Batch):
        raise InvalidGraphError(
            f"expected one graph; found {type(data).__name__}, a batch. Apply {what} to each Data before batching"
        )
    if not isinstance(data, Data):
        raise InvalidGraphError(f"expected a torch_geometric.data.Data object; found {type(data).__name__}")


def _renamed(error: Exception, call: int) -> str:
    """A transform sees one graph at a time, graph 0 to those it asks; its number is how many came before."""
    return re.sub(r"^(graph 0|the graph)\b", f"graph {call} given to Planar", str(error))
