"""Answers that planegraph had no part in: nauty, networkx, and brute force."""

from __future__ import annotations

import itertools
from collections import defaultdict

import networkx as nx
from plain import Plain


def _coloured(g: Plain, subdivide: bool) -> tuple[int, dict[int, list[int]], dict[tuple[int, int], set[int]]]:
    """Size, neighbours and colour classes for nauty, which knows no labels of edges.

    To subdivide is to make each edge u-v a path u - x - y - v, where x carries the label of the dart u -> v and y that of v -> u. Nodes,
    and each label, have their own colour class.
    """
    adjacency: dict[int, list[int]] = {v: [] for v in range(g.n)}
    colours: dict[tuple[int, int], set[int]] = defaultdict(set)
    for v in range(g.n):
        colours[0, g.node_labels[v] if g.node_labels else 0].add(v)
    for e, ((u, v), (there, back)) in enumerate(zip(g.edges, g.darts(), strict=True)):
        if not subdivide:
            adjacency[u].append(v)
            continue
        x, y = g.n + 2 * e, g.n + 2 * e + 1
        adjacency[u].append(x)
        adjacency[x] = [y]
        adjacency[y] = [v]
        colours[1, there].add(x)
        colours[1, back].add(y)
    return len(adjacency), adjacency, colours


def nauty_certificate(g: Plain) -> tuple:
    """Equal exactly for isomorphic labelled graphs."""
    import pynauty  # here: the examples of this module's users need it only for this, and a machine with a GPU may lack it

    size, adjacency, colours = _coloured(g, g.edge_labels is not None or g.dart_labels is not None)
    classes = sorted(colours)
    graph = pynauty.Graph(size, adjacency_dict=adjacency, vertex_coloring=[colours[c] for c in classes])
    return size, tuple((c, len(colours[c])) for c in classes), pynauty.certificate(graph) if size else b""


def nauty_automorphisms(g: Plain) -> tuple[float, int, list, list]:
    """Of the group of automorphisms: mantissa and exponent of its order (exact if the exponent is 0), orbits of nodes, orbits of edges."""
    import pynauty

    size, adjacency, colours = _coloured(g, subdivide=True)
    if not size:
        return 1.0, 0, [], []
    graph = pynauty.Graph(size, adjacency_dict=adjacency, vertex_coloring=[colours[c] for c in sorted(colours)])
    _, mantissa, exponent, orbits, _ = pynauty.autgrp(graph)
    of_darts = orbits[g.n :]
    return mantissa, exponent, orbits[: g.n], [frozenset(of_darts[2 * e : 2 * e + 2]) for e in range(len(g.edges))]


def networkx_graph(g: Plain) -> nx.DiGraph:
    """Both darts of each edge, with labels as attributes."""
    graph = nx.DiGraph()
    graph.add_nodes_from((v, {"label": g.node_labels[v] if g.node_labels else 0}) for v in range(g.n))
    for (u, v), (there, back) in zip(g.edges, g.darts(), strict=True):
        graph.add_edge(u, v, label=there)
        graph.add_edge(v, u, label=back)
    return graph


def networkx_isomorphic(g: Plain, h: Plain) -> bool:
    """VF2 with labels."""

    def same(a: dict, b: dict) -> bool:
        return a["label"] == b["label"]

    return nx.is_isomorphic(networkx_graph(g), networkx_graph(h), node_match=same, edge_match=same)


def is_isomorphism(g: Plain, h: Plain, mapping) -> bool:
    """Whether ``mapping`` (node of g -> node of h) preserves nodes, edges and all labels, looked at one by one."""
    mapping = [int(v) for v in mapping]
    if sorted(mapping) != list(range(h.n)) or g.n != h.n or len(g.edges) != len(h.edges):
        return False
    if any((g.node_labels or (0,) * g.n)[v] != (h.node_labels or (0,) * h.n)[mapping[v]] for v in range(g.n)):
        return False
    labels = {}
    for (u, v), (there, back) in zip(h.edges, h.darts(), strict=True):
        labels[u, v], labels[v, u] = there, back
    return all(
        labels.get((mapping[u], mapping[v])) == there and labels.get((mapping[v], mapping[u])) == back
        for (u, v), (there, back) in zip(g.edges, g.darts(), strict=True)
    )


def networkx_planar(g: Plain) -> bool:
    return nx.check_planarity(nx.Graph(list(g.edges)))[0]


def networkx_blocks(g: Plain) -> set[frozenset[frozenset[int]]]:
    """Each block as the set of its edges."""
    return {frozenset(frozenset(e) for e in block) for block in nx.biconnected_component_edges(nx.Graph(list(g.edges)))}


def networkx_cut_nodes(g: Plain) -> set[int]:
    return set(nx.articulation_points(nx.Graph(list(g.edges))))


def is_kuratowski_subdivision(edges) -> str | None:
    """ "K5" or "K3,3" if these edges are a subdivision of it, nothing more and nothing less; else None.

    Degrees must be 2 but at the branch nodes; each branch node is followed along its paths until the next.
    """
    neighbours: dict[int, list[int]] = defaultdict(list)
    for u, v in edges:
        neighbours[int(u)].append(int(v))
        neighbours[int(v)].append(int(u))
    if any(len(set(near)) != len(near) for near in neighbours.values()):
        return None
    branch = {v for v, near in neighbours.items() if len(near) != 2}
    links, used = [], 0
    for start in branch:
        for step in neighbours[start]:
            before, at, length = start, step, 1
            while at not in branch:
                before, at = at, next(x for x in neighbours[at] if x != before)
                length += 1
            links.append((start, at))
            used += length
    if used != 2 * len(list(edges)):  # a cycle apart from the branch nodes
        return None
    found = set(links)
    if len(found) != len(links) or any(u == v for u, v in links):
        return None
    if len(branch) == 5 and found == set(itertools.permutations(branch, 2)):
        return "K5"
    if len(branch) == 6:
        left = {v for v in branch if (min(branch), v) not in found}
        right = branch - left
        if len(left) == 3 and found == {x for a in left for b in right for x in ((a, b), (b, a))}:
            return "K3,3"
    return None
