"""Planarity, canonical codes and isomorphism of random graphs, against networkx and nauty, which know nothing of planegraph."""

from __future__ import annotations

import random

import maps
from oracles import is_isomorphism, is_kuratowski_subdivision, nauty_certificate, networkx_isomorphic, networkx_planar
from plain import Plain, disjoint_union, graph6
from skeletons import glue_random_tree

import planegraph as pg

_LABELS = ({}, {}, {"nodes": 2}, {"edges": 2}, {"darts": 2}, {"nodes": 3, "edges": 2}, {"nodes": 2, "darts": 3})
_VF2 = 12  # nodes up to which networkx decides isomorphism, too


def trial(seed: int) -> str | None:
    """Planarity of a graph with edges too many; then, of a planar one, a copy that is equal and one that is nearly so."""
    rng = random.Random(seed)
    g = _planar(rng)
    return _planarity(_with_more_edges(g, rng)) or _isomorphism(g.with_labels(rng, **rng.choice(_LABELS)), rng)


def _planar(rng: random.Random) -> Plain:
    kind, n = rng.randrange(4), rng.randint(0, rng.choice((6, 12, 30)))
    if kind == 0:
        return glue_random_tree(rng.randint(1, 8), rng).graph
    if kind == 1:
        part = maps.planar(rng.randint(1, 8), rng.random(), rng)
        return disjoint_union(*[part] * rng.randint(1, 3), maps.planar(rng.randint(0, 6), rng.random(), rng))
    return maps.planar(n, rng.random() if kind == 2 else 1.0, rng)


def _with_more_edges(g: Plain, rng: random.Random) -> Plain:
    edges = {tuple(sorted(edge)) for edge in g.edges}
    for _ in range(rng.randrange(3) if g.n > 2 else 0):
        edges.add(tuple(sorted(rng.sample(range(g.n), 2))))
    return Plain.of(g.n, sorted(edges)).shuffled(rng)[0]


def _planarity(g: Plain) -> str | None:
    expected, built = networkx_planar(g), g.build()
    if pg.is_planar(built) != expected:
        return f"{graph6(g)}: networkx says planar={expected}, is_planar says otherwise"
    if bool(pg.planar_mask(pg.GraphBatch.from_graphs([built]))[0]) != expected:
        return f"{graph6(g)}: networkx says planar={expected}, planar_mask says otherwise"
    witness = pg.kuratowski_witness(built)
    if (witness is None) != expected:
        return f"{graph6(g)}: networkx says planar={expected}, kuratowski_witness says otherwise"
    if witness is not None and is_kuratowski_subdivision(witness) is None:
        return f"{graph6(g)}: the witness is not a subdivision of K5 or K3,3: {witness.tolist()}"
    pg.decompose(built, "set").check()
    return None


def _isomorphism(g: Plain, rng: random.Random) -> str | None:
    g, other = _nearly_equal(g, rng)
    same, other = g.shuffled(rng)[0], other.shuffled(rng)[0]
    form = pg.canonical_form(g.build())
    if form.graph() != g.build().relabel(form.labelling):
        return f"the code does not rebuild {g}"
    pg.decompose(g.build()).check()
    threads = rng.choice((1, 2))
    codes = pg.canonical_codes(pg.GraphBatch.from_graphs([h.build() for h in (same, same)]), threads)
    if set(codes) != {form.code}:
        return f"codes differ: {g} and {same}"
    for h in (same, other):
        expected = nauty_certificate(g) == nauty_certificate(h)
        if g.n <= _VF2 and networkx_isomorphic(g, h) != expected:
            return f"nauty and networkx differ on {g} and {h}"
        mapping = pg.isomorphism(g.build(), h.build())
        if (mapping is not None, pg.canonical_form(h.build()).code == form.code) != (expected, expected):
            return f"nauty says isomorphic={expected}, planegraph says otherwise: {g} and {h}"
        if mapping is not None and not is_isomorphism(g, h, mapping):
            return f"a wrong mapping {mapping.tolist()} from {g} to {h}"
    return None


def _nearly_equal(g: Plain, rng: random.Random) -> tuple[Plain, Plain]:
    """Two graphs of one size: the given one and the same with its labels shuffled; without labels, each without an edge of it."""
    kept = {name: getattr(g, name) for name in ("node_labels", "edge_labels", "dart_labels") if getattr(g, name) is not None}
    if kept or len(g.edges) < 2:
        return g, Plain(g.n, g.edges, **{name: tuple(rng.sample(values, len(values))) for name, values in kept.items()})
    first, second = (Plain(g.n, tuple(edge for edge in g.edges if edge != left_out)) for left_out in rng.sample(g.edges, 2))
    return first, second
