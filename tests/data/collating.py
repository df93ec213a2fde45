"""What tests of collation share: tables of graphs, a dataset of them, and checks of a batch's sections and of its padding."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import torch
from plain import Plain
from slow_collate import slow_collate

import planegraph as pg
from planegraph.data import Capacity, Layout, PlanarBatch
from planegraph.data.batch import Collator, collate
from planegraph.data.layout import SECTION_NAMES
from planegraph.data.tables import PackedTables


def tables_of(made: list[Plain], on_nonplanar: str = "raise") -> PackedTables:
    plain = [Plain(g.n, g.edges) for g in made]
    return PackedTables.of(pg.GraphBatch.from_graphs([g.build() for g in plain]), 1, on_nonplanar)


def stand_in(tables: PackedTables, rows_per_edge: int = 0, seed: int = 0) -> SimpleNamespace:
    """A dataset with features that tell every row from every other."""
    rng = np.random.default_rng(seed)
    n, m, g = int(tables.node_ptr[-1]), len(tables.edges), len(tables.node_ptr) - 1
    return SimpleNamespace(
        tables=tables,
        x=np.arange(2 * n, dtype=np.float32).reshape(n, 2),
        edge_attr=np.arange(m, dtype=np.int32).reshape(m, 1) if rows_per_edge == 1 else None,
        dart_attr=np.arange(6 * m, dtype=np.float64).reshape(m, 2, 3) if rows_per_edge == 2 else None,
        y=rng.random((g, 4)).astype(np.float32),
        attrs={"weight": rng.random(g), "flag": rng.random(g) < 0.5},
        fingerprint="test",
    )


def check_sections(tables: PackedTables, ids: list[int], rows_per_edge: int, capacity: Capacity | None = None) -> PlanarBatch:
    batch = collate(stand_in(tables, rows_per_edge), ids, capacity)
    expected, sizes = slow_collate(tables, ids, rows_per_edge, capacity)
    assert batch.layout == Layout(sizes, rows_per_edge, capacity is not None)
    assert set(expected) == set(SECTION_NAMES)
    for name in SECTION_NAMES:
        assert getattr(batch, name).tolist() == expected[name], name
    assert batch.index.dtype == torch.int32
    assert batch.index.numel() == batch.layout.length
    return batch


def roomy(tables: PackedTables, ids: list[int], rng: random.Random) -> Capacity:
    """A capacity with random room to spare, and sometimes more slices than needed."""
    need = Collator(stand_in(tables))(ids).layout.sizes
    more = rng.randrange(3)

    def widen(widths: tuple[int, ...], longer: int) -> tuple[int, ...]:
        return tuple(w + rng.randrange(1, 5) for w in (0,) * longer + widths)

    names = ("graphs", "nodes", "edges", "walks", "node_spqr", "node_block", "max_position")
    return Capacity(
        **{name: getattr(need, name) + rng.randrange(1, 9) for name in names},
        spqr=widen(need.spqr, rng.randrange(3)),
        blocks=widen(need.blocks, more),
        cuts=widen(need.cuts, more),
    )


ROWS = {
    "node": "node_mask",
    "dart": "dart_mask",
    "walk": "walk_mask",
    "spqr": "spqr_mask",
    "block": "block_mask",
    "cut": "cut_mask",
}
SECTION_OF = {  # section: what its entries stand for, and what they are ids of
    "node_graph": ("node", "graph"),
    "dart_source": ("dart", "node"),
    "dart_target": ("dart", "node"),
    "dart_reverse": ("dart", "dart"),
    "dart_row": ("dart", None),
    "walk_spqr": ("walk", "spqr"),
    "walk_node": ("walk", "node"),
    "walk_kappa": ("walk", None),
    "walk_pos": ("walk", None),
    "walk_row": ("walk", None),
    "spqr_type": ("spqr", None),
    "spqr_theta": ("spqr", None),
    "spqr_parent": ("spqr", "spqr"),
    "block_parent": ("block", "cut"),
    "cut_parent": ("cut", "block"),
    "cut_node": ("cut", "node"),
    "node_cut": ("node", "cut"),
}


def check_padding(plain: PlanarBatch, padded: PlanarBatch) -> None:
    """Take the pad rows out, renumber, and the unpadded batch is left; and the last row of each table is padding."""
    assert plain.counts.equal(padded.counts)
    assert plain.node_mask is plain.graph_mask is plain.spqr_mask is None
    assert padded.graph_mask.sum() == padded.num_graphs == plain.num_graphs
    masks = {kind: getattr(padded, name) for kind, name in ROWS.items()} | {"graph": padded.graph_mask}
    for kind, mask in masks.items():
        assert mask.sum() == getattr(plain.layout, f"num_{kind}" + ("s" if kind not in ("spqr",) else "")), kind
        assert kind == "graph" or len(mask) == 0 or not mask[-1], kind
    renumber = {kind: torch.cumsum(mask, 0) - 1 for kind, mask in masks.items()}
    for name, (kind, of) in SECTION_OF.items():
        values = getattr(padded, name)
        if len(values) == 0:
            continue
        values = values[masks[kind]]
        if of is not None:
            new = torch.cat([renumber[of], torch.tensor([-1])])  # -1 stays
            values = new[values]
        assert values.tolist() == getattr(plain, name).tolist(), name
    for name in ("x", "edge_attr", "y"):
        a, b = getattr(plain, name), getattr(padded, name)
        if a is not None:
            assert torch.equal(a, b[: len(a)])
            assert not b[len(a) :].any()
