"""The PyG face of a decomposition: one graph as a ``Data`` object that PyG's own loaders batch, and such a batch as a PlanarBatch.

:class:`PlanarData` holds the tables of docs/arrays.md as int64 tensors without sentinels: where a table would hold -1, a two-row
tensor lists the pairs that exist instead, so that PyG can shift every id when it joins graphs. It works in any PyG dataset, loader
or transform; :func:`planar_batch` turns a batch of them into what the models read, :func:`bare_batch` into what a single layer reads.
Slower than PackedLoader (each batch passes through PyG's collation and then the core's), but the same numbers.

Transforms that change nodes or edges must come before :class:`planegraph.transforms.Planar`, not after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..decomposition.tables import COLUMNS
from ..errors import FormatError, InvalidGraphError, MissingDependencyError
from ..graphs.batch import locate, offsets
from ..graphs.directions import Directions
from .tables import TABLES, PackedTables

try:
    import torch
    from torch_geometric.data import Data
except ImportError:
    raise MissingDependencyError(
        "PlanarData needs PyTorch and PyTorch Geometric: pip install torch torch-geometric, or planegraph[learn]"
    ) from None

if TYPE_CHECKING:
    from .batch import PlanarBatch

_PLAIN = tuple(c for c in (COLUMNS[name] for t in ("walk", "spqr", "block", "cut") for name in TABLES[t]) if not c.none)
"""Columns without -1, which are separate tensors."""

IDS: dict[str, tuple[str, ...]] = {
    **{column.name: (column.ids_of,) if column.ids_of else () for column in _PLAIN},
    "walk_edge": ("walk", "column"),
    "spqr_up": ("spqr", "spqr"),
    "block_up": ("block", "cut"),
    "cut_up": ("cut", "block"),
    "node_spqr": ("node", "spqr"),
    "node_block": ("node", "block"),
    "dart_reverse": ("column",),
}
"""The tensors of a PlanarData: what each row counts (and is shifted by in a batch); () for plain numbers."""

_GRAPH = ("edge_index", "ptr", "skipped")  # what the graphs are, beside their tables
_BATCH, _BARE = "_planar_batch", "_bare_batch"  # where the results of planar_batch and bare_batch are kept
_Made = TypeVar("_Made")


class PlanarData(Data):
    """A PyG ``Data`` object with its decomposition; made by :class:`planegraph.transforms.Planar`.

    Ids are local to the graph, and global in a PyG ``Batch``. Beside the tables of docs/arrays.md:

    - ``walk_edge`` (2, real entries): row of the walk table, and the column of ``edge_index`` that this entry walks along
    - ``spqr_up`` (2, .): SPQR node and its parent; ``block_up``: block and parent cut; ``cut_up``: cut and parent block
    - ``node_spqr``, ``node_block`` (2, .): incidences
    - ``dart_reverse`` (E,): the column of ``edge_index`` that holds the other direction
    - ``planar`` (1,): whether the graph is planar; ``skipped`` (1,): whether it was left undecomposed (``on_nonplanar="skip"``)
    - ``fingerprint``: format version and labels, see :mod:`planegraph.data.fingerprint`

    >>> from planegraph.transforms import Planar
    >>> edge_index = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]])
    >>> data = Planar()(Data(x=torch.zeros(4, 1), edge_index=edge_index))
    >>> data.cut_node.tolist(), data.block_up.tolist()
    ([2], [[0, 1], [0, 0]])
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key not in IDS:
            return super().__inc__(key, value, *args, **kwargs)
        shifts = [self.count(table) for table in IDS[key]]
        if len(shifts) == 2:
            return torch.tensor(shifts).view(2, 1)
        return shifts[0] if shifts else 0

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key not in IDS:
            return super().__cat_dim__(key, value, *args, **kwargs)
        return len(IDS[key]) - 1 if len(IDS[key]) else 0

    def count(self, table: str) -> int:
        """How many rows a table has: "node", "column" (of ``edge_index``), "walk", "spqr", "block" or "cut"."""
        if table == "node":
            return int(self.num_nodes)
        if table == "column":
            return self.edge_index.size(1)
        return self[{"walk": "walk_node", "spqr": "spqr_type", "block": "block_root", "cut": "cut_node"}[table]].size(0)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in (_BATCH, _BARE)}


# PyG reads processed datasets with torch.load(weights_only=True), which knows only the classes it was told of.
torch.serialization.add_safe_globals([PlanarData])


# ---- from tables to a PlanarData ------------------------------------------------------------------------------------------


def as_planar_data(data: Data, tables: PackedTables | None, directions: Directions, planar: bool, fingerprint: str) -> PlanarData:
    """``data`` with the tables of its (only) graph; without tables it is marked as skipped, and its tables are empty."""
    result = PlanarData.from_dict(data.to_dict())
    result.num_nodes = data.num_nodes  # PyG would guess it from the first attribute with "node" in its name
    arrays = _empty() if tables is None else _pairs(tables, directions)
    device = data.edge_index.device
    for name, values in {**arrays, "dart_reverse": directions.reverse}.items():
        result[name] = torch.from_numpy(values.astype(np.int64)).to(device)
    result.planar = torch.tensor([planar], device=device)
    result.skipped = torch.tensor([tables is None], device=device)
    result.fingerprint = fingerprint
    return result


def _pairs(t: PackedTables, d: Directions) -> dict[str, np.ndarray]:
    real = np.flatnonzero(t.walk_edge >= 0)
    edge = t.walk_edge[real]
    forward = t.edges[edge, 0] == t.walk_node[real]
    plain = {column.name: t[column.name] for column in _PLAIN}
    return plain | {
        "walk_edge": np.stack([real, np.where(forward, d.first[edge], d.second[edge])]),
        "spqr_up": _up(t.spqr_parent),
        "block_up": _up(t.block_parent_cut),
        "cut_up": _up(t.cut_parent_block),
        "node_spqr": np.stack([t.node_spqr_node, t.node_spqr_spqr]),
        "node_block": np.stack([t.node_block_node, t.node_block_block]),
    }


def _up(parent: np.ndarray) -> np.ndarray:
    child = np.flatnonzero(parent >= 0)
    return np.stack([child, parent[child]])


def _empty() -> dict[str, np.ndarray]:
    return {name: np.empty((2, 0) if len(of) == 2 else 0, np.int64) for name, of in IDS.items() if name != "dart_reverse"}


# ---- from a PyG batch to a PlanarBatch ------------------------------------------------------------------------------------


def planar_batch(data: Any) -> PlanarBatch:
    """The PlanarBatch of a ``PlanarData`` or of a PyG ``Batch`` of them, on the same device.

    Index arrays are built on the CPU, whatever the device. The result is kept on the object and used again as long as its tensors
    stay the same ones and none requires a gradient, so that several layers may ask for it.

    ``y`` is that of ``data`` if it is a tensor with exactly one row per graph, as PyG makes of scalars and of shape (1, ...); any other
    (targets of nodes, several targets of a graph in one axis, lists) is left out: ``y`` is None, and yours to read from ``data.y``.

    Raises:
        InvalidGraphError: ``x`` or ``edge_attr`` has a wrong shape or holds NaN, or a graph was skipped by ``Planar``.
        FormatError: edges or tables were changed after ``Planar``, or are missing.

    >>> from torch_geometric.data import Batch
    >>> from planegraph.transforms import Planar
    >>> path = Planar()(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2))
    >>> planar_batch(Batch.from_data_list([path, path])).num_graphs
    2
    """
    _expect_planar(data)
    return _kept(data, _BATCH, data.to_dict(), _convert)


class BareBatch(NamedTuple):
    """A PlanarBatch without features, and ``columns`` (2E,): the column of ``edge_index`` that each row of edge features belongs to."""

    batch: PlanarBatch
    columns: torch.Tensor


def bare_batch(data: Any) -> BareBatch:
    """As :func:`planar_batch`, for layers that are given representations: nothing but the graphs is read.

    Every edge has two rows of features, one per direction, so that any tensor with a row per column of ``edge_index`` can be read, as
    ``values[columns]``. Kept as long as ``edge_index`` and the tables stay the same ones.

    >>> from planegraph.transforms import Planar
    >>> edge_index = torch.tensor([[0, 1, 2, 1], [1, 2, 1, 0]])
    >>> bare_batch(Planar()(Data(edge_index=edge_index, num_nodes=3))).columns.tolist()
    [0, 3, 1, 2]
    """
    _expect_planar(data)
    return _kept(data, _BARE, (*IDS, *_GRAPH), _convert_bare)


def _expect_planar(data: Any) -> None:
    if not isinstance(data, PlanarData):
        listed = isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(one, PlanarData) for one in data)
        way = "Make one of it with Batch.from_data_list" if listed else "Apply planegraph.transforms.Planar first"
        raise InvalidGraphError(f"expected a PlanarData or a PyG Batch of them; found {type(data).__name__}. {way}")


def _kept(data: PlanarData, where: str, names: Iterable[str], make: Callable[[PlanarData], _Made]) -> _Made:
    """What was made before, if the tensors of these names are still the same; or what is made now.

    What gradients go through is made anew for each pass: backward() frees the way to it, and a pass without gradients has none. Anything
    else is made outside of inference mode, so that a pass with gradients can use it again.
    """
    state = _state(data, names)
    if any(value.requires_grad for value, _ in state.values()):
        return make(data)
    kept = data.__dict__.get(where)
    if kept is not None and _unchanged(kept[0], state):
        return kept[1]
    with torch.inference_mode(False):
        result = make(data)
    data.__dict__[where] = (state, result)
    return result


def _state(data: PlanarData, names: Iterable[str]) -> dict[str, tuple[Any, Any]]:
    """The tensors and how often each was changed in place.

    Inference tensors do not say, so their features count as changed each time; tables and edges are not expected to be.
    """
    tensors = {key: value for key in names if isinstance(value := data.get(key), torch.Tensor)}
    return {key: (value, _version(key, value)) for key, value in tensors.items()}


def _version(key: str, value: torch.Tensor) -> Any:
    if not value.is_inference():
        return value._version
    return 0 if key in IDS or key in _GRAPH else object()


def _unchanged(a: Mapping[str, tuple[Any, Any]], b: Mapping[str, tuple[Any, Any]]) -> bool:
    return a.keys() == b.keys() and all(a[key][0] is b[key][0] and a[key][1] == b[key][1] for key in a)


def _convert(data: PlanarData) -> PlanarBatch:
    _check_skipped(_numpy(data, "skipped").reshape(-1))
    arrays, directions, ptr = _graphs(data)
    x = _features(data, "x", int(data.num_nodes))
    edge_attr, rows_per_edge = _edge_features(data, directions)
    _check_nan(data, ptr, arrays["edge_index"][0])
    y = _targets(data, len(ptr) - 1)
    return _collated(data, arrays, directions, ptr, x=x, edge_attr=edge_attr, rows_per_edge=rows_per_edge, y=y)


def _convert_bare(data: PlanarData) -> BareBatch:
    _check_skipped(_numpy(data, "skipped").reshape(-1))
    arrays, directions, ptr = _graphs(data)
    columns = torch.from_numpy(np.stack([directions.first, directions.second], axis=1).reshape(-1))
    return BareBatch(_collated(data, arrays, directions, ptr, rows_per_edge=2), columns.to(data.edge_index.device))


def _graphs(data: PlanarData) -> tuple[dict[str, np.ndarray], Directions, np.ndarray]:
    """The tables, the columns of each edge, and where the nodes of each graph begin."""
    arrays = {name: _numpy(data, name) for name in (*IDS, "edge_index")}
    directions = _directions(arrays)
    _check_ids(data, arrays)
    return arrays, directions, _numpy(data, "ptr") if "ptr" in data else np.array([0, int(data.num_nodes)])


def _collated(
    data: PlanarData, arrays: Mapping[str, np.ndarray], directions: Directions, ptr: np.ndarray, **features: Any
) -> PlanarBatch:
    from .batch import PlanarBatch

    tables = _joined(arrays, directions, int(data.num_nodes))
    batch = PlanarBatch.from_tables(tables, pool_ptr=ptr, fingerprint=_fingerprint(data), **features)
    return batch.to(data.edge_index.device)


def _check_nan(data: PlanarData, ptr: np.ndarray, sources: np.ndarray) -> None:
    """Names the first NaN of the features; ``sources`` are the nodes that the columns of ``edge_index`` leave."""
    for name in ("x", "edge_attr"):
        values = data.get(name)
        if values is not None and torch.isnan(values.detach()).any():
            first, *at = torch.isnan(values).nonzero()[0].tolist()
            g = locate(ptr, first if name == "x" else sources[first])[0]  # the columns of a graph are those that leave its nodes
            row = first - int(ptr[g] if name == "x" else (sources < ptr[g]).sum())
            where = ", ".join(map(str, (row, *at)))
            raise InvalidGraphError(
                f"graph {g} of the batch: {name}[{where}] is nan; replace it by a number of your choice, before Planar", g
            )


def _targets(data: PlanarData, graphs: int) -> torch.Tensor | None:
    """``y`` if it has one row for each graph, as far as PyG can tell."""
    y = data.get("y")
    if not isinstance(y, torch.Tensor) or y.dim() == 0 or len(y) != graphs:
        return None
    rows = (getattr(data, "_slice_dict", None) or {}).get("y")  # which rows of y PyG made of each graph; old if y was replaced
    if isinstance(rows, torch.Tensor) and int(rows[-1]) == graphs and bool((rows.diff() != 1).any()):
        return None
    return y


def _features(data: PlanarData, name: str, rows: int) -> torch.Tensor | None:
    """A feature matrix as in a packed dataset: two axes; int32, float32 or float64."""
    values = data.get(name)
    if values is None:
        return None
    if values.dim() not in (1, 2) or len(values) != rows:
        raise InvalidGraphError(f"{name} must have shape ({rows}, width); found {tuple(values.shape)}")
    values = values.view(rows, -1) if values.dim() == 1 else values
    if not values.size(1):
        return None
    if not values.is_floating_point():
        narrow = values.to(torch.int32)
        if values.dtype != torch.bool and not torch.equal(narrow.to(values.dtype), values):
            raise InvalidGraphError(
                f"{name} holds integers beyond 32 bits, found {int(values.abs().max())}; number the categories from 0"
            )
        return narrow
    return values if values.dtype == torch.float64 else values.float()


def _edge_features(data: PlanarData, d: Directions) -> tuple[torch.Tensor | None, int]:
    """``edge_attr`` by edge if both directions are equal, by dart otherwise; and how many rows an edge has."""
    values = _features(data, "edge_attr", len(d.reverse))
    if values is None:
        return None, 0
    first, second = (torch.from_numpy(columns).to(values.device) for columns in (d.first, d.second))
    there, back = values[first], values[second]
    if torch.equal(there, back):
        return there, 1
    return torch.stack([there, back], dim=1).flatten(0, 1), 2


def _fingerprint(data: PlanarData) -> str:
    found = data.get("fingerprint")
    found = [found] if isinstance(found, str) else list(found or [])
    if not found or any(not isinstance(f, str) for f in found):
        raise FormatError(f"fingerprint is missing from {type(data).__name__}; apply planegraph.transforms.Planar (again)")
    for i, other in enumerate(found):
        if other != found[0]:
            raise FormatError(f"graph {i} of the batch was made with other labels than graph 0: {other!r}, {found[0]!r}")
    return found[0]


def _numpy(data: PlanarData, name: str) -> np.ndarray:
    value = data.get(name)
    if value is None:
        raise FormatError(f"{name} is missing from {type(data).__name__}; apply planegraph.transforms.Planar (again)")
    return value.detach().cpu().numpy()


def _check_ids(data: PlanarData, arrays: Mapping[str, np.ndarray]) -> None:
    """Integers of the right shape, each the id of a row that exists."""
    again = "it was changed after Planar"
    for name, of in IDS.items():
        values = arrays[name]
        shape = "(2, rows)" if len(of) == 2 else "(rows,)"
        if values.dtype != np.int64 or values.ndim != max(len(of), 1) or (len(of) == 2 and len(values) != 2):
            raise FormatError(f"{name} must hold integers of shape {shape}; found {values.dtype}, {values.shape}: {again}")
        for row, table in zip(values.reshape(len(of) or 1, -1), of, strict=False):
            most = data.count(table)
            if row.size and (row.min() < 0 or row.max() >= most):
                raise FormatError(f"{name} must hold ids from 0 to {most - 1}; found {row.min()} to {row.max()}: {again}")


def _check_skipped(marks: np.ndarray) -> None:
    skipped = np.flatnonzero(marks)
    if len(skipped):
        raise InvalidGraphError(
            f"graph {skipped[0]} of the batch is not planar and was skipped by Planar(on_nonplanar='skip'), as {len(skipped)} of "
            "this batch; select the others with dataset[~dataset.skipped]",
            int(skipped[0]),
        )


def _directions(arrays: Mapping[str, np.ndarray]) -> Directions:
    """The columns of each edge, from ``dart_reverse`` if it (still) fits ``edge_index``."""
    index, reverse = arrays["edge_index"], arrays["dart_reverse"]
    columns = index.shape[1]
    inside = reverse.dtype == np.int64 and reverse.shape == (columns,) and bool(((reverse >= 0) & (reverse < columns)).all())
    if not (inside and np.array_equal(index[:, reverse], index[::-1])):
        raise FormatError("edge_index was changed after Planar; transforms that change nodes or edges must come before it")
    first = np.flatnonzero(reverse > np.arange(columns))
    return Directions(first, reverse[first], reverse, np.array([0, len(first)]))


def _joined(a: Mapping[str, np.ndarray], d: Directions, nodes: int) -> PackedTables:
    """The tables of one graph that is all graphs of the batch side by side, with -1 where there is nothing."""
    edge_of = np.empty(len(d.reverse), np.int64)
    edge_of[d.first] = edge_of[d.second] = np.arange(len(d.first))
    walks, spqrs, blocks, cuts = (len(a[name]) for name in ("walk_node", "spqr_type", "block_root", "cut_node"))
    walk_edge = np.full(walks, -1, np.int64)
    walk_edge[a["walk_edge"][0]] = edge_of[a["walk_edge"][1]]
    columns = {column.name: a[column.name] for column in _PLAIN} | {
        "edges": a["edge_index"].T[d.first],
        "walk_edge": walk_edge,
        "spqr_parent": _parents(a["spqr_up"], spqrs),
        "block_parent_cut": _parents(a["block_up"], blocks),
        "cut_parent_block": _parents(a["cut_up"], cuts),
        **{f"node_{of}_{row}": a[f"node_{of}"][i] for of in ("spqr", "block") for i, row in enumerate(("node", of))},
    }
    sizes = {
        "node": nodes,
        "edge": len(d.first),
        "walk": walks,
        "spqr": spqrs,
        "block": blocks,
        "cut": cuts,
        "node_spqr": a["node_spqr"].shape[1],
        "node_block": a["node_block"].shape[1],
    }
    ptrs = {f"{table}_ptr": offsets([size]) for table, size in sizes.items()}
    return PackedTables(ptrs | {name: np.ascontiguousarray(v, np.int32) for name, v in columns.items()})


def _parents(pairs: np.ndarray, count: int) -> np.ndarray:
    parent = np.full(count, -1, np.int64)
    parent[pairs[0]] = pairs[1]
    return parent
