"""A symbolic PlanE: the paper's equations over a decomposition, with exact interning in place of MLPs.

Every map is injective and every sum is a multiset, so two graphs get the same representation exactly when no choice of weights could
distinguish them. With walks that are canonical up to automorphism this is an invariant; by the paper's theorem it is complete on planar
graphs after ceil(log2 n) + 1 layers. Where a term is a sum of unlike things (h_u + sum h_B), it is one multiset here, as in the paper.

``edge_features``: E-BasePlanE, whose walk reads the label of each real dart (or "virtual") and whose neighbour term reads the label of
the dart v -> u. Without it, real and virtual edges look alike to TriEnc, as in BasePlanE.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from plain import Plain


@dataclass
class Interner:
    """Numbers for tuples: equal numbers exactly for equal tuples. Share one between graphs that are to be compared."""

    numbers: dict[Hashable, int] = field(default_factory=dict)

    def __call__(self, *value: Hashable) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def bag(self, items: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(items))


class SymbolicPlanE:
    """Encode graphs; ``encode`` returns the readout, ``node_representations`` the last layer's nodes."""

    def __init__(self, *, edge_features: bool = True, layers: int | None = None) -> None:
        self.intern = Interner()
        self.edge_features = edge_features
        self.layers = layers

    def encode(self, g: Plain, arrays) -> int:
        sums = [self.intern.bag(h) for h in self._run(g, _Rows(g, arrays))]
        return self.intern("readout", *sums)

    def node_representations(self, g: Plain, arrays) -> list[int]:
        return list(self._run(g, _Rows(g, arrays)))[-1]

    def _run(self, g: Plain, t: _Rows) -> list[list[int]]:
        layers = self.layers or math.ceil(math.log2(max(g.n, 1))) + 1
        labels = g.node_labels or (0,) * g.n
        h = [self.intern("node", label) for label in labels]
        out = []
        for _ in range(layers):
            h = self._layer(t, h)
            out.append(h)
        return out

    def _layer(self, t: _Rows, h: list[int]) -> list[int]:
        tri = self._tri_enc(t, h)
        block = self._bi_enc(t, tri)
        cut = self._cut_enc(t, h, block)
        return self._update(t, h, tri, block, cut)

    def _tri_enc(self, t: _Rows, h: list[int]) -> list[int]:
        bags: list[list[int]] = [[] for _ in t.parent]
        for node, label, kappa, pos, c in t.walk:
            bags[c].append(self.intern("entry", h[node], label if self.edge_features else None, kappa, pos))
        return [self.intern("TriEnc", self.intern.bag(bag)) for bag in bags]

    def _bi_enc(self, t: _Rows, tri: list[int]) -> list[int]:
        below: list[list[int]] = [[x] for x in tri]
        for c in sorted(range(len(tri)), key=t.level.__getitem__):  # leaves first
            value = self.intern("BiEnc", self.intern.bag(below[c]))
            if t.parent[c] >= 0:
                below[t.parent[c]].append(self.intern("child", value, t.theta[c]))
            below[c] = [value]
        return [below[root][0] for root in t.block_root]

    def _cut_enc(self, t: _Rows, h: list[int], block: list[int]) -> dict[int, int]:
        sums = {v: [h[v]] for v in t.cut_node}
        inner: list[list[int]] = [[x] for x in block]
        out = {}
        order = [(level, "block", b) for b, level in enumerate(t.block_level)]
        order += [(level, "cut", x) for x, level in enumerate(t.cut_level)]
        for _, kind, i in sorted(order):  # leaves first
            if kind == "cut":
                v = t.cut_node[i]
                out[v] = self.intern("CutEnc", self.intern.bag(sums[v]))
                if t.cut_parent_block[i] >= 0:
                    inner[t.cut_parent_block[i]].append(out[v])
            elif t.block_parent_cut[i] >= 0:
                sums[t.cut_node[t.block_parent_cut[i]]].append(self.intern("block", self.intern.bag(inner[i])))
        return out

    def _update(self, t: _Rows, h: list[int], tri: list[int], block: list[int], cut: dict[int, int]) -> list[int]:
        intern, bag = self.intern, self.intern.bag
        everything = intern("g2", bag(h))
        new = []
        for u, h_u in enumerate(h):
            near = [intern("g5", h[v], label) if self.edge_features else h[v] for v, label in t.neighbours[u]]
            new.append(
                intern(
                    "Update",
                    bag([h_u, *near]),
                    everything,
                    bag([h_u, *(tri[c] for c in t.spqr_of[u])]),
                    bag([h_u, *(block[b] for b in t.blocks_of[u])]),
                    cut.get(u),
                )
            )
        return new


class _Rows:
    """The tables that the equations read, as Python lists."""

    def __init__(self, g: Plain, arrays) -> None:
        col = {name: list(map(int, arrays[name])) for name in _COLUMNS}
        darts = g.darts()
        self.neighbours: list[list[tuple[int, int]]] = [[] for _ in range(g.n)]
        for (u, v), (there, back) in zip(g.edges, darts, strict=True):
            self.neighbours[u].append((v, back))
            self.neighbours[v].append((u, there))
        label_of = [
            None if e < 0 else darts[e][0] if g.edges[e][0] == node else darts[e][1]
            for node, e in zip(col["walk_node"], col["walk_edge"], strict=True)
        ]
        self.walk = list(zip(col["walk_node"], label_of, col["walk_kappa"], col["walk_pos"], col["walk_spqr"], strict=True))
        self.parent, self.theta, self.level = col["spqr_parent"], col["spqr_theta"], col["spqr_level"]
        self.block_root, self.block_level, self.block_parent_cut = col["block_root"], col["block_level"], col["block_parent_cut"]
        self.cut_node, self.cut_level, self.cut_parent_block = col["cut_node"], col["cut_level"], col["cut_parent_block"]
        self.spqr_of, self.blocks_of = defaultdict(list), defaultdict(list)
        for v, c in zip(col["node_spqr_node"], col["node_spqr_spqr"], strict=True):
            self.spqr_of[v].append(c)
        for v, b in zip(col["node_block_node"], col["node_block_block"], strict=True):
            self.blocks_of[v].append(b)


_COLUMNS = (
    *("walk_node", "walk_edge", "walk_kappa", "walk_pos", "walk_spqr", "spqr_parent", "spqr_theta", "spqr_level"),
    *("block_root", "block_level", "block_parent_cut", "cut_node", "cut_level", "cut_parent_block"),
    *("node_spqr_node", "node_spqr_spqr", "node_block_node", "node_block_block"),
)
