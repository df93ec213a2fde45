"""Planarity, codes and isomorphism of random graphs against networkx and nauty; embeddings and drawings against their definitions.

A new function: its check, which raises or returns what is wrong, in ``_PLANE``.
"""

from __future__ import annotations

import pickle
import random
import traceback

import maps
import networkx as nx
import plane_checks
import toolkit_checks
from oracles import is_isomorphism, is_kuratowski_subdivision, nauty_certificate, networkx_isomorphic, networkx_planar
from plain import Plain, disjoint_union, graph6
from skeletons import glue_random_tree

import planegraph as pg

_LABELS = ({}, {}, {"nodes": 2}, {"edges": 2}, {"darts": 2}, {"nodes": 3, "edges": 2}, {"nodes": 2, "darts": 3})
_VF2 = 12  # nodes up to which networkx decides isomorphism, too


def trial(seed: int) -> str | None:
    """Planarity of a graph with edges too many; then, of a planar one, a copy that is equal and one that is nearly so, or the plane, or
    what the rest of the toolkit says of it."""
    rng = random.Random(seed)
    g = _planar(rng)
    found = _planarity(_with_more_edges(g, rng))
    if found:
        return found
    kind = rng.random()
    if kind < 0.2:
        return _toolkit(g, rng)
    return _plane(g, rng) if kind < 0.5 else _isomorphism(g.with_labels(rng, **rng.choice(_LABELS)), rng)


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


# ---- the plane ------------------------------------------------------------------------------------------------------------------


def _plane(plain: Plain, rng: random.Random) -> str | None:
    """One of the functions on embeddings and drawings."""
    plain, check = plain.shuffled(rng)[0], rng.choice(_PLANE)
    try:
        found = check(plain.build(), rng)
    except AssertionError:
        found = traceback.format_exc()
    return found and f"{check.__name__}: {graph6(plain)}: {found}"


def _embedding(g: pg.Graph, rng: random.Random) -> str | None:
    e = pg.embedding(g)
    for same in (e, e.mirror(), pickle.loads(pickle.dumps(e))):
        plane_checks.check_embedding(g, same)
    plane_checks.check_dual(e)
    plane_checks.check_planar_code(g)
    return None


def _outer_faces(g: pg.Graph, rng: random.Random) -> str | None:
    plane_checks.check_outside(g, rng)
    e = pg.embedding(g)
    if not e.num_faces:
        return None
    face = rng.randrange(e.num_faces)
    again = pickle.loads(pickle.dumps(e.with_outer_face(face)))
    return None if again.outer_face == e.with_outer_face(face).outer_face else "a pickle has another outer face"


def _rotations(g: pg.Graph, rng: random.Random) -> str | None:
    plane_checks.check_rotations(_networkx(g, range(rng.randint(1, 8))), rng)
    return None


def _positions(g: pg.Graph, rng: random.Random) -> str | None:
    plane_checks.check_positions(g, rng.randint(1, 9), rng)
    return None


def _drawings(g: pg.Graph, rng: random.Random) -> str | None:
    """On the grid and by Tutte's method, of the graph and of an embedding with any outer face."""
    e = pg.embedding(g)
    e = e.with_outer_face(rng.randrange(e.num_faces)) if e.num_faces else e
    method = rng.choice(("grid", "tutte"))
    plane_checks.check_drawing(g, pg.planar_layout(g, method))
    points = pg.planar_layout(e, method)
    plane_checks.check_drawing(g, points)
    plane_checks.check_drawn(e, points)
    return None


def _orders(g: pg.Graph, rng: random.Random) -> str | None:
    """Triangulations, their canonical orders, and st-numberings of graphs that need not be planar."""
    plane_checks.check_triangulation(g)
    if 3 <= g.num_nodes <= _VF2:
        t = pg.triangulate(g)
        t = t.with_outer_face(rng.randrange(t.num_faces))
        plane_checks.check_canonical(t, pg.canonical_order(t).tolist())
    if g.num_nodes >= 2:
        graph = _networkx(g, range(g.num_nodes))
        graph.add_edges_from(rng.sample(range(g.num_nodes), 2) for _ in range(rng.randrange(g.num_nodes)))
        plane_checks.check_st_numbering(graph, *rng.sample(range(g.num_nodes), 2))
    return None


_PLANE = (_embedding, _outer_faces, _rotations, _positions, _drawings, _orders)


# ---- symmetries, connectivity, graphs that are not planar -----------------------------------------------------------------------


def _toolkit(plain: Plain, rng: random.Random) -> str | None:
    """networkx's connectivity and sympy's groups take long for more than some 20 nodes."""
    try:
        toolkit_checks.check(plain.with_labels(rng, **rng.choice(_LABELS)).shuffled(rng)[0], group=plain.n <= 20)
        if plain.n <= 20:
            toolkit_checks.assert_connectivity(plain)
        for _ in range(2):
            plain = _with_more_edges(plain, rng)
        toolkit_checks.assert_maximal(plain)
        size = rng.randint(2, 9)
        points = rng.sample([(x, y) for x in range(size) for y in range(size)], min(plain.n, size * size, 14))
        toolkit_checks.assert_arrangement(points, [e for e in plain.edges if max(e) < len(points)])
    except AssertionError:
        return traceback.format_exc()
    return None


def _networkx(g: pg.Graph, nodes: range) -> nx.Graph:
    """The part of the graph on these nodes, all of which it has."""
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edge for edge in g.edges.tolist() if set(edge) <= set(nodes))
    return graph
