"""Hypothesis strategies over the generators of this folder. Each draws a few sizes and a seed, so that failures shrink to small graphs."""

from __future__ import annotations

import random

import maps
from hypothesis import strategies as st
from plain import Plain, disjoint_union
from skeletons import GluedGraph, glue_random_tree

seeds = st.integers(0, 2**32 - 1)


@st.composite
def labels_on(draw, graphs: st.SearchStrategy[Plain]) -> Plain:
    """Graphs of the given strategy with no labels, or few labels of one or several kinds."""
    g = draw(graphs)
    rng = random.Random(draw(seeds))
    kinds = draw(st.sampled_from(["none", "none", "nodes", "edges", "darts", "nodes+edges", "nodes+darts"]))
    values = draw(st.integers(2, 3))
    return g.with_labels(rng, **{kind: values for kind in kinds.split("+") if kind != "none"})


@st.composite
def planar_graphs(draw, max_nodes: int = 24) -> Plain:
    """Subgraphs of random triangulations, from forests to triangulations; often disconnected."""
    n = draw(st.integers(0, max_nodes))
    density = draw(st.sampled_from([0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0]))
    return maps.planar(n, density, random.Random(draw(seeds)))


@st.composite
def glued_graphs(draw, max_skeletons: int = 12, nonplanar: bool = False) -> GluedGraph:
    """Biconnected graphs glued from random skeletons, together with the SPQR tree that must come back."""
    size = draw(st.integers(1, max_skeletons))
    return glue_random_tree(size, random.Random(draw(seeds)), nonplanar=nonplanar)


@st.composite
def lookalike_graphs(draw) -> Plain:
    """Symmetric graphs whose parts are not planar and look alike as plain sets."""
    return maps.host_of_lookalikes(random.Random(draw(seeds)))


@st.composite
def unions(draw, parts: st.SearchStrategy[Plain], copies: int = 3) -> Plain:
    """Disjoint unions, with repeated components."""
    chosen = draw(st.lists(parts, min_size=1, max_size=2))
    return disjoint_union(*(g for g in chosen for _ in range(draw(st.integers(1, copies)))))


@st.composite
def any_planar(draw) -> Plain:
    """The usual mix: random planar, glued, and unions of these, with and without labels."""
    kind = draw(st.sampled_from(["planar", "glued", "union"]))
    if kind == "planar":
        base = planar_graphs()
    elif kind == "glued":
        base = glued_graphs().map(lambda glued: glued.graph)
    else:
        base = unions(planar_graphs(8))
    return draw(labels_on(base))
