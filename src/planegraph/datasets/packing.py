"""Packing with progress, and the summary of a packed dataset. Linear in the tables.

Graphs are decomposed in slices, each by one parallel call of the core, and the tables are joined.

Ids in the tables are local to their graph, so joining is concatenation; only offsets are shifted. The result is the same as that of
one call for all graphs, and costs one copy more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..data.features import Features
from ..data.packed import OnNonplanar, PackedDataset
from ..data.tables import NAMES, PackedTables
from ..errors import NotPlanarError
from ..io.progress import Progress
from .raw import RawGraphs

_SLICE = 8192
_TYPES = ("S", "P", "Q", "R")
_NAMES = ("graphs", "nodes", "edges", "largest", "planar", "blocks", "cuts", *_TYPES, "spqr_height", "block_cut_height")


def pack(
    raw: RawGraphs,
    name: str,
    *,
    edge_features: bool = True,
    on_nonplanar: OnNonplanar = "set",
    threads: int | None = None,
    size: int = _SLICE,
) -> PackedDataset:
    """Decomposes all graphs; ``edge_features=False`` leaves those of edges out, and walks do not depend on them."""
    parts = []
    with Progress(f"packing {name}", len(raw)) as bar:
        for start in range(0, max(len(raw), 1), size):
            stop = min(start + size, len(raw))
            try:
                parts.append(
                    PackedDataset.from_arrays(**raw.rows(start, stop, edge_features), threads=threads, on_nonplanar=on_nonplanar)
                )
            except NotPlanarError as error:
                where = "" if error.graph_index is None else f" (graph {start + error.graph_index})"
                raise NotPlanarError(f"{name}{where}: {error}", error.witness, error.graph_index) from None
            bar.add(stop - start)
    return concatenate(parts)


def concatenate(parts: Sequence[PackedDataset]) -> PackedDataset:
    """The graphs of all parts, which have the same features, in order.

    >>> import planegraph as pg
    >>> a = PackedDataset.from_graphs([pg.families.cycle(4)], y=[1.0])
    >>> concatenate([a, a])
    PackedDataset(2 graphs, 8 nodes, 8 edges, y=float32 (2,))
    """
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        part.verify()  # the joined dataset has no file to verify later
    first = parts[0]
    tables = {name: _join_column(name, [p.tables[name] for p in parts]) for name in NAMES}
    x, edge_attr, dart_attr, y = (_join([getattr(p, name) for p in parts]) for name in ("x", "edge_attr", "dart_attr", "y"))
    features = Features(
        x,
        edge_attr,
        dart_attr,
        y,
        {name: _join([p.attrs[name] for p in parts]) for name in first.attrs},
    )
    return PackedDataset(PackedTables(tables), features, node_labels=first.node_labels, edge_labels=first.edge_labels)


def _join_column(name: str, columns: Sequence[np.ndarray]) -> np.ndarray:
    if not name.endswith("_ptr"):
        return np.concatenate(columns)
    starts = np.cumsum([0, *(int(c[-1]) for c in columns[:-1])])
    return np.concatenate([columns[0][:1], *(c[1:] + start for c, start in zip(columns, starts, strict=True))])


def _join(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    return None if arrays[0] is None else np.concatenate(arrays)


def summarise(ds: PackedDataset) -> dict[str, int]:
    """Counts over all graphs, and the largest heights (a tree of one node has height 0).

    >>> import planegraph as pg
    >>> s = summarise(PackedDataset.from_graphs([pg.families.path(3), pg.families.wheel(4)]))
    >>> s["blocks"], s["S"], s["R"], s["spqr_height"], s["block_cut_height"]
    (3, 0, 1, 0, 1)
    """
    tables = ds.tables
    kinds = np.bincount(tables.spqr_type, minlength=len(_TYPES))
    return {
        "graphs": len(ds),
        "nodes": tables.size("node"),
        "edges": tables.size("edge"),
        "largest": int(np.diff(tables.node_ptr).max(initial=0)),
        "planar": len(ds) - len(ds.nonplanar),
        "blocks": tables.size("block"),
        "cuts": tables.size("cut"),
        **{name: int(kinds[i]) for i, name in enumerate(_TYPES)},
        "spqr_height": int(tables.spqr_level.max(initial=0)),
        "block_cut_height": int(max(tables.block_level.max(initial=0), tables.cut_level.max(initial=0))),
    }


def is_summary(value: object) -> bool:
    """Returns whether this is a mapping with all numbers of :func:`summarise`, and perhaps more."""
    return isinstance(value, Mapping) and value.keys() >= set(_NAMES) and all(type(v) is int for v in value.values())
