"""The summary of a packed dataset: counts over all graphs, and the largest heights of their trees. Linear in the tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..data.packed import PackedDataset
from ..decomposition.tables import TYPES

_NAMES = ("graphs", "nodes", "edges", "largest", "planar", "blocks", "cuts", *TYPES, "spqr_height", "block_cut_height")


def summarise(ds: PackedDataset) -> dict[str, int]:
    """Counts over all graphs, and the largest heights (a tree of one node has height 0).

    >>> import planegraph as pg
    >>> s = summarise(PackedDataset.from_graphs([pg.families.path(3), pg.families.wheel(4)]))
    >>> s["blocks"], s["S"], s["R"], s["spqr_height"], s["block_cut_height"]
    (3, 0, 1, 0, 1)
    """
    tables = ds.tables
    kinds = np.bincount(tables.spqr_type, minlength=len(TYPES))
    return {
        "graphs": len(ds),
        "nodes": tables.size("node"),
        "edges": tables.size("edge"),
        "largest": int(np.diff(tables.node_ptr).max(initial=0)),
        "planar": len(ds) - len(ds.nonplanar),
        "blocks": tables.size("block"),
        "cuts": tables.size("cut"),
        **{name: int(kinds[i]) for i, name in enumerate(TYPES)},
        "spqr_height": int(tables.spqr_level.max(initial=0)),
        "block_cut_height": int(max(tables.block_level.max(initial=0), tables.cut_level.max(initial=0))),
    }


def is_summary(value: object) -> bool:
    """Returns whether this is a mapping with all numbers of :func:`summarise`, and perhaps more."""
    return isinstance(value, Mapping) and value.keys() >= set(_NAMES) and all(type(v) is int for v in value.values())
