"""A batch of decomposed graphs: one buffer of indices, its features, and the collation that makes it.

All index arrays are views of one int32 buffer, ``batch.index``, so that moving a batch is one copy and a captured step needs one
``copy_``. The host's knowledge is ``batch.layout``; nothing here ever reads a value back from a device. -1 means nothing.

Rows: nodes and edges in graph order. Blocks, cut nodes and SPQR nodes in slices by depth, deepest first (``layout.block_slices``,
``cut_slices``, ``spqr_slices``); within a slice by the row of the parent, so that the children of a row are the rows ``begin`` to
``end``. The last slice of SPQR nodes holds the roots in the order of the blocks. cpp/planegraph/collate/collate.hpp says the rest.

A padded batch has the lengths of its capacity: in each table or slice the real rows come first; pad rows hold ids -1, positions 0 and
features 0, and are in no segment of any ``*_ptr``. Cost: linear in the size of the batch, no Python per graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _core
from ..errors import FormatError, InvalidGraphError
from ..io.text import counted
from .batch_checks import check_entries, check_tensors
from .collate import Feature, as_ids, collate_index
from .layout import SECTION_NAMES, Capacity, Layout
from .packed import PackedDataset


class PlanarBatch:
    """Graphs that were collated into one batch.

    Attributes:
        x: (N, cx) node features or None; edge_attr: (F, ce) or None, F rows: one per edge, or two (one per direction).
        y: (G, ...) or None; attrs: other tensors with one row per graph, and ``node_orbit`` (N,) int32, if the dataset has orbits: a number
            below N for each node, the same for the nodes of one orbit.
        index: the int32 buffer; layout: its :class:`Layout`.
        num_graphs: how many real graphs there are; graph_ids: which (int64, on the host).
        fingerprint: what the data was made from, so that a model can refuse a foreign batch.

    Index arrays, with N nodes, D darts v -> u, F rows of edge features, W walk entries, C SPQR nodes, B blocks, K cut nodes and
    incidences I1 (node in SPQR node), I2 (node in block):

    ================================================= ==================== ======================================================
    counts                                            10                   the real G, N, D, F, W, C, B, K, I1, I2
    node_ptr, node_graph                              G + 1, N             nodes of each graph; graph of each node
    dart_ptr, dart_source, dart_target, dart_reverse  N + 1, D, D, D       darts sorted by target u
    dart_row, row_dart_ptr, row_dart                  D, F + 1, D          row of edge features of a dart, and the transpose
    walk_ptr, walk_spqr, walk_node, walk_kappa,       C + 1, W ...         walks, sorted by SPQR node
    walk_pos, walk_row
    node_walk_ptr, node_walk                          N + 1, W             transpose of walk_node
    row_walk_ptr, row_walk                            F + 1, W             transpose of walk_row, where it is not -1
    spqr_type, spqr_theta, spqr_parent, spqr_begin,   C                    SPQR trees
    spqr_end
    node_spqr_ptr, node_spqr; spqr_node_ptr,          N + 1, I1; C + 1, I1 incidence and transpose
    spqr_node
    block_parent, block_begin, block_end              B                    parent cut node; children are cut nodes
    cut_parent, cut_begin, cut_end, cut_node          K                    parent block; children are blocks; the node
    node_cut                                          N                    cut node of a node
    node_block_ptr, node_block; block_node_ptr,       N + 1, I2; B + 1, I2 incidence and transpose
    block_node
    ================================================= ==================== ======================================================

    The arrays of edge features (dart_row, row_dart_ptr, row_dart, walk_row, row_walk_ptr, row_walk) are empty if there are none.

    >>> import planegraph as pg
    >>> from planegraph.data.tables import PackedTables
    >>> tables = PackedTables.of(pg.GraphBatch.from_graphs([pg.families.path(3), pg.families.cycle(4)]))
    >>> batch = PlanarBatch.from_tables(tables)
    >>> batch
    PlanarBatch(2 graphs, 7 nodes, 12 darts, 8 walk entries, 3 SPQR nodes, 3 blocks, 1 cut node)
    >>> batch.node_graph.tolist(), batch.layout.block_slices, batch.cut_node.tolist()
    ([0, 0, 0, 1, 1, 1, 1], ((0, 2), (2, 3)), [1])
    """

    index: Tensor
    layout: Layout
    x: Tensor | None
    edge_attr: Tensor | None
    y: Tensor | None
    attrs: dict[str, Tensor]
    graph_ids: Tensor | None
    num_graphs: int
    fingerprint: Any

    def __init__(
        self,
        index: Tensor,
        layout: Layout,
        *,
        x: Tensor | None = None,
        edge_attr: Tensor | None = None,
        y: Tensor | None = None,
        attrs: Mapping[str, Tensor] | None = None,
        graph_ids: Tensor | None = None,
        num_graphs: int | None = None,
        fingerprint: Any = None,
    ) -> None:
        self.__dict__.update(
            index=index,
            layout=layout,
            x=x,
            edge_attr=edge_attr,
            y=y,
            attrs=dict(attrs or {}),
            graph_ids=graph_ids,
            num_graphs=layout.num_graphs if num_graphs is None else num_graphs,
            fingerprint=fingerprint,
            _checked=None,  # the version of the buffer whose entries were checked
        )
        self._cut_sections()

    def _cut_sections(self) -> None:
        try:
            sections = self.index.split_with_sizes(self.layout.section_lengths, dim=-1)
        except (RuntimeError, IndexError):
            raise InvalidGraphError(
                f"index must have {self.layout.length} entries, as the layout says; found shape {tuple(self.index.shape)}. Take both "
                "from one batch"
            ) from None
        self.__dict__.update(zip(SECTION_NAMES, sections, strict=True))

    def __getattr__(self, name: str) -> Tensor:  # the sections are found before; this tells type checkers what they are
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Features may be replaced; the index may not, as its sections are views of one checked buffer."""
        if name in _FIXED:
            raise AttributeError(f"{name} of a batch cannot be replaced; make a new one: PlanarBatch(index, layout, x=...)")
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Without the sections: they must be views of the buffer again afterwards."""
        kept = {name: value for name, value in self.__dict__.items() if name not in SECTION_NAMES}
        return kept | {"_checked": self._is_checked()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._checked = _version(self.index) if state["_checked"] else None
        self._cut_sections()

    def _trusted(self) -> PlanarBatch:
        """The batch itself, whose entries need no check, as the core made them or they were checked."""
        self.__dict__["_checked"] = _version(self.index)
        return self

    def _is_checked(self) -> bool:
        return self._checked is not None and self._checked == _version(self.index)

    def check(self) -> None:
        """Raises InvalidGraphError unless a model can read the batch: types, shapes and, once, the range of every id; see batch_checks.py.

        Models do this by themselves. What collation made is known to be in range; a batch made by hand, or whose index was changed in
        place, is not.
        """
        check_tensors(self)
        if not self._is_checked():
            check_entries(self)
            self._checked = _version(self.index)

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, np.ndarray],
        *,
        x: Tensor | None = None,
        edge_attr: Tensor | None = None,
        rows_per_edge: int | None = None,
        y: Tensor | None = None,
        attrs: Mapping[str, Tensor] | None = None,
        pool_ptr: np.ndarray | None = None,
        fingerprint: Any = None,
    ) -> PlanarBatch:
        """All graphs of the tables as one batch, with features that already stand in its order.

        Args:
            x: (nodes, cx); y, attrs: (graphs, ...), of the graphs of ``pool_ptr`` if it is given.
            edge_attr: (edges * rows_per_edge, ce); ``rows_per_edge`` is 1 unless told otherwise.
            pool_ptr: if the tables hold a joined batch as one graph with global ids: where the nodes of its graphs begin, and the end.
        """
        rows = (0 if edge_attr is None else 1) if rows_per_edge is None else rows_per_edge
        pool = None if pool_ptr is None else np.ascontiguousarray(pool_ptr, np.int64)
        index, layout, graphs = collate_index(_core.Tables(tables), np.arange(len(tables["node_ptr"]) - 1), rows, None, pool)
        _check_rows("x", x, layout.num_nodes, "nodes")
        _check_rows("edge_attr", edge_attr, layout.num_rows, "edges (or directions)")
        for name, values in {"y": y, **(attrs or {})}.items():
            _check_rows(name, values, graphs, "graphs")
        features: dict[str, Any] = {"x": x, "edge_attr": edge_attr, "y": y, "attrs": attrs}
        return cls(index, layout, graph_ids=torch.arange(graphs), fingerprint=fingerprint, **features)._trusted()

    # ---- moving ------------------------------------------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.index.device

    def to(self, device: torch.device | str | torch.dtype, non_blocking: bool = False) -> PlanarBatch:
        """The batch on another device; or, given a floating-point dtype, with floats (features, targets, attributes) of that dtype.

        Categories and the index stay integers.

        >>> import planegraph as pg
        >>> from planegraph.data import PackedDataset
        >>> batch = PackedDataset.from_graphs([pg.families.cycle(4)], y=[0.5])[:].to(torch.float64)
        >>> batch.y.dtype, batch.index.dtype
        (torch.float64, torch.int32)
        """
        if not isinstance(device, torch.dtype):
            return self._map(lambda t: t.to(device, non_blocking=non_blocking))
        if not device.is_floating_point:
            raise TypeError(f"a batch is cast to floating-point dtypes only; found {device}. Categories and ids stay int32")
        return self._map(lambda t: t.to(device, non_blocking=non_blocking) if t.is_floating_point() else t)

    def pin_memory(self) -> PlanarBatch:
        """The batch in page-locked memory, from which copies to a GPU need not wait."""
        return self._map(lambda t: t.pin_memory())

    def copy_(self, other: PlanarBatch, non_blocking: bool = True) -> PlanarBatch:
        """Overwrites all tensors with those of a batch of equal layout: new data for a captured step."""
        if other.layout != self.layout:
            raise ValueError("the batches have different layouts; pad both to one capacity")
        mine, theirs = self._tensors(), other._tensors()
        if mine.keys() != theirs.keys():
            raise ValueError(f"the batches have different tensors: {sorted(mine.keys() ^ theirs.keys())}")
        other.check()  # a captured step reads this batch without asking again
        for name, tensor in mine.items():
            tensor.copy_(theirs[name], non_blocking=non_blocking)
        self._checked = _version(self.index)
        self.graph_ids, self.num_graphs, self.fingerprint = other.graph_ids, other.num_graphs, other.fingerprint
        return self

    @staticmethod
    def stack(batches: Sequence[PlanarBatch]) -> PlanarBatch:
        """Batches of equal layout as one, every tensor with a leading replica dimension; ``num_graphs`` counts all replicas together.

        >>> import planegraph as pg
        >>> from planegraph.data.tables import PackedTables
        >>> tables = PackedTables.of(pg.GraphBatch.from_graphs([pg.families.path(3), pg.families.cycle(4)]))
        >>> PlanarBatch.stack([PlanarBatch.from_tables(tables)] * 3).node_graph.shape
        torch.Size([3, 7])
        """
        batches = list(batches)
        if not batches:
            raise ValueError("there is nothing to stack")
        first = batches[0]
        for k, other in enumerate(batches):
            if other.layout != first.layout:
                raise ValueError(f"batch {k} has another layout than batch 0; pad both to one capacity")
            if other._tensors().keys() != first._tensors().keys() or other.fingerprint != first.fingerprint:
                raise ValueError(f"batch {k} has other features or was made from other data than batch 0")
        tensors = [b._tensors() for b in batches]
        joined = {name: torch.stack([t[name] for t in tensors]) for name in tensors[0]}
        ids = [b.graph_ids for b in batches]
        known = all(i is not None for i in ids)
        stacked = first._with(joined, torch.cat(ids) if known else None, sum(b.num_graphs for b in batches))
        stacked._checked = _version(stacked.index) if all(b._is_checked() for b in batches) else None
        return stacked

    def _tensors(self) -> dict[str, Tensor]:
        named = {"index": self.index, "x": self.x, "edge_attr": self.edge_attr, "y": self.y}
        named |= {f"attrs.{name}": value for name, value in self.attrs.items()}
        return {name: value for name, value in named.items() if value is not None}

    def _with(self, tensors: dict[str, Tensor], graph_ids: Tensor | None, num_graphs: int) -> PlanarBatch:
        made = PlanarBatch(
            tensors["index"],
            self.layout,
            x=tensors.get("x"),
            edge_attr=tensors.get("edge_attr"),
            y=tensors.get("y"),
            attrs={name: tensors[f"attrs.{name}"] for name in self.attrs},
            graph_ids=graph_ids,
            num_graphs=num_graphs,
            fingerprint=self.fingerprint,
        )
        return made._trusted() if self._is_checked() else made

    def _map(self, function: Callable[[Tensor], Tensor]) -> PlanarBatch:
        moved = {name: function(value) for name, value in self._tensors().items()}
        return self._with(moved, self.graph_ids, self.num_graphs)

    # ---- which rows are real: computed where the batch is, None if all are --------------------------------------------------

    @property
    def graph_mask(self) -> Tensor | None:
        """(G,) True at real graphs."""
        if not self.layout.padded:
            return None
        return torch.arange(self.layout.num_graphs, device=self.device) < self.counts[..., :1]

    @property
    def node_mask(self) -> Tensor | None:
        """(N,) True at real nodes."""
        return self._marked(self.node_graph)

    @property
    def dart_mask(self) -> Tensor | None:
        """(D,) True at real darts."""
        return self._marked(self.dart_source)

    @property
    def walk_mask(self) -> Tensor | None:
        """(W,) True at real walk entries."""
        return self._marked(self.walk_node)

    @property
    def spqr_mask(self) -> Tensor | None:
        """(C,) True at real SPQR nodes."""
        return self._marked(self.spqr_type)

    @property
    def block_mask(self) -> Tensor | None:
        """(B,) True at real blocks: those whose SPQR tree has a root."""
        start, stop = self.layout.spqr_slices[-1]
        return self._marked(self.spqr_type[..., start:stop])

    @property
    def cut_mask(self) -> Tensor | None:
        """(K,) True at real cut nodes."""
        return self._marked(self.cut_node)

    def _marked(self, ids: Tensor) -> Tensor | None:
        return ids >= 0 if self.layout.padded else None

    def __repr__(self) -> str:
        s = self.layout
        counts = {
            "node": s.num_nodes,
            "dart": s.num_darts,
            "walk entry": s.num_walks,
            "SPQR node": s.num_spqr,
            "block": s.num_blocks,
            "cut node": s.num_cuts,
        }
        parts = [counted(self.num_graphs, "graph"), *(counted(count, what) for what, count in counts.items())]
        if s.padded:
            parts.append("padded")
        if self.index.dim() > 1:
            parts.append(f"replicas {tuple(self.index.shape[:-1])}")
        return f"PlanarBatch({', '.join(parts)})"


_FIXED = frozenset((*SECTION_NAMES, "index", "layout"))


def _version(index: Tensor) -> int | None:
    """How often the buffer or a view of it was changed in place; None for inference tensors, which do not say."""
    return None if index.is_inference() else index._version


def _check_rows(name: str, values: Tensor | None, count: int, what: str) -> None:
    if values is not None and (values.dim() == 0 or len(values) != count):
        raise ValueError(f"{name} must have one row for each of the {count} {what} of the batch; found shape {tuple(values.shape)}")


# ---- collation --------------------------------------------------------------------------------------------------------------


def collate(ds: Any, ids: Any, capacity: Capacity | None = None) -> PlanarBatch:
    """The graphs of a packed dataset with these ids (repetitions are allowed) as one batch, padded if a capacity is given.

    Raises:
        IndexError: an id is out of range. DoesNotFitError: the capacity is too small. FormatError: the tables are damaged.
    """
    return Collator(ds)(ids, capacity)


class Collator:
    """Makes batches of one dataset: its tables are bound to the core once, a batch is then one call for the indices and one per feature.

    It may be called from any thread, and works without the GIL. A copy, by pickle too, is bound anew to the copy of its dataset.
    """

    def __init__(self, ds: Any) -> None:
        self.ds = ds
        tables = ds.tables
        edge_attr, dart_attr = getattr(ds, "edge_attr", None), getattr(ds, "dart_attr", None)
        self.tables = _core.Tables(tables)
        self.num_graphs = len(tables["node_ptr"]) - 1
        self.fingerprint = ds.fingerprint
        self.rows_per_edge = 2 if dart_attr is not None else 0 if edge_attr is None else 1
        self.x = Feature.of(ds.x, tables["node_ptr"])
        self.edge_attr = Feature.of(edge_attr if dart_attr is None else dart_attr, tables["edge_ptr"], self.rows_per_edge)
        self.y = Feature.of(ds.y, None)
        self.attrs = {name: Feature.of(value, None) for name, value in (ds.attrs or {}).items()}
        self.orbits = Feature.of(getattr(ds, "orbits", None), tables["node_ptr"])

    def __reduce__(self) -> tuple[type[Collator], tuple[Any]]:
        return type(self), (self.ds,)

    def __call__(self, ids: Any, capacity: Capacity | None = None, pin: bool = False) -> PlanarBatch:
        ids = as_ids(ids)
        try:
            index, layout, graphs = collate_index(self.tables, ids, self.rows_per_edge, capacity, pin=pin)
        except FormatError:
            if isinstance(self.ds, PackedDataset):
                self.ds.verify()  # if the file is damaged the message names it
            raise

        def take(feature: Feature | None, rows: int) -> Tensor | None:
            return None if feature is None else feature.take(ids, rows, pin)

        batch = PlanarBatch(
            index,
            layout,
            x=take(self.x, layout.num_nodes),
            edge_attr=take(self.edge_attr, layout.num_rows),
            y=take(self.y, layout.num_graphs),
            attrs={name: take(feature, layout.num_graphs) for name, feature in self.attrs.items()},
            graph_ids=torch.from_numpy(ids),
            num_graphs=graphs,
            fingerprint=self.fingerprint,
        )._trusted()
        orbits = take(self.orbits, layout.num_nodes)
        if orbits is not None:
            nodes = int(batch.node_ptr[graphs])
            orbits[:nodes] += batch.node_ptr[batch.node_graph[:nodes]]  # from the first node of its graph: no two graphs share one
            orbits[nodes:] = -1
            batch.attrs["node_orbit"] = orbits
        return batch
