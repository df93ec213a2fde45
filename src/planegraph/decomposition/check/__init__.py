"""Verify everything that a decomposition promises with code simpler than what produced it (docs/design.md lists the promises).

``check_decomposition(d)`` reads nothing but the graph and the tables, rebuilds each skeleton from its walk and tests, in this order:
shapes; skeletons and walks (kappa, positions, Weinberg's rule); real edges (each in one skeleton); virtual edges (pairs with equal
poles); the SPQR trees (heights, centre, no S-S or P-P, theta, starts of walks); rigid skeletons (simple, 3-connected); gluing; the
block-cut tree (heights, centre, cut nodes); components, incidences and labelling.

It proves the tables right rather than computing them again: skeletons that are biconnected and glued along a tree give biconnected
blocks, and biconnected pieces that hang together as a block-cut tree are the blocks. Only 3-connectivity needs an algorithm,
see :func:`is_three_connected`. Plain Python, about 10 microseconds per walk entry. The first broken promise raises
:class:`DecompositionError`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from .connectivity import adjacency_of, is_three_connected, reachable
from .skeletons import check_rigid, read_skeletons
from .tables import TABLES, DecompositionError, P, Q, R, S, Tables, check_shapes, require, title

__all__ = ["TABLES", "DecompositionError", "check_decomposition", "check_tables", "is_three_connected"]


def check_decomposition(d: Any) -> None:
    """Raise :class:`DecompositionError` unless ``d`` keeps every promise.

    >>> import planegraph as pg
    >>> check_decomposition(pg.decompose(pg.Graph(3, [(0, 1), (1, 2), (2, 0)])))
    """
    check_tables(d.graph.num_nodes, d.graph.edges, d.arrays)


def check_tables(num_nodes: int, edges: Any, arrays: Mapping[str, Any]) -> None:
    """The same for one graph given as plain arrays: ``arrays`` maps the column names of ``TABLES`` to sequences."""
    t = Tables(num_nodes, edges, arrays)
    check_shapes(t)
    t.skeletons = read_skeletons(t)
    _check_real_edges(t)
    _check_virtual_edges(t)
    _check_spqr_trees(t)
    _check_walk_starts(t)
    for c, skeleton in enumerate(t.skeletons):
        if t.spqr_type[c] == R:
            check_rigid(c, skeleton)
    _check_gluing(t)
    _check_block_cut_tree(t)
    _check_components(t)
    _check_incidences(t)
    _check_labelling(t)


# ---------------------------------------------------------------- edges, real and virtual


def _check_real_edges(t: Tables) -> None:
    owner: dict[int, int] = {}
    for c, skeleton in enumerate(t.skeletons):
        for kind, e in skeleton.ends:
            if kind == "real":
                require(e not in owner, f"edge {e} lies in SPQR nodes {owner.get(e)} and {c}")
                owner[e] = c
    for e in range(len(t.edges)):
        require(e in owner, f"edge {e} {t.edges[e]} lies in no skeleton")


def _check_virtual_edges(t: Tables) -> None:
    for c, skeleton in enumerate(t.skeletons):
        for (kind, other), ends in skeleton.ends.items():
            if kind != "virtual":
                continue
            require(
                t.spqr_parent[c] == other or t.spqr_parent[other] == c,
                f"{title(t, c)} has a virtual edge to {title(t, other)}, which is neither its parent nor its child",
            )
            back = t.skeletons[other].ends.get(("virtual", c))
            require(back is not None, f"the virtual edge of {title(t, c)} to {title(t, other)} has no partner")
            require(
                back is not None and sorted(back) == sorted(ends),
                f"virtual edge {c}-{other}: poles {sorted(ends)} on one side, {sorted(back or ())} on the other",
            )
    for c, parent in enumerate(t.spqr_parent):
        if parent >= 0:
            require(("virtual", parent) in t.skeletons[c].ends, f"{title(t, c)} has no virtual edge to its parent {parent}")


# ---------------------------------------------------------------- SPQR trees


def _check_heights(
    what: str, parents: Sequence[int], levels: Sequence[int], tree_of: Sequence[Hashable], slack: int
) -> dict[Hashable, int]:
    """Parent pointers that form trees rooted at a centre, with their heights. Returns the root of each tree id.

    The two longest arms of a centre differ by at most ``slack``: 1, or 0 where the centre is known to be unique.
    """
    heights: list[list[int]] = [[] for _ in parents]  # heights of the children
    roots: dict[Hashable, int] = {}
    for x, parent in enumerate(parents):
        if parent < 0:
            require(tree_of[x] not in roots, f"{what}: {x} and {roots.get(tree_of[x])} are both roots of tree {tree_of[x]}")
            roots[tree_of[x]] = x
        else:
            require(tree_of[parent] == tree_of[x], f"{what}: {x} and its parent {parent} lie in different trees")
            heights[parent].append(levels[x])
    for x, below in enumerate(heights):
        # Strictly rising levels exclude cycles of parents; so this also shows that the trees are trees.
        expected = 1 + max(below) if below else 0
        require(levels[x] == expected, f"{what}: level of {x} is {levels[x]}, its height is {expected}")
    for tree in set(tree_of):
        require(tree in roots, f"{what}: tree {tree} has no root")
        first, second = _longest_arms(heights[roots[tree]])
        require(first - second <= slack, f"{what}: root {roots[tree]} of tree {tree} is not a centre: arms {first} and {second}")
    return roots


def _longest_arms(heights: Iterable[int]) -> tuple[int, int]:
    """Lengths of the two longest paths that leave a root in different directions, from the heights of its children."""
    first, second = sorted((h + 1 for h in (*heights, -1, -1)), reverse=True)[:2]
    return first, second


def _check_spqr_trees(t: Tables) -> None:
    roots = _check_heights("SPQR tree", t.spqr_parent, t.spqr_level, t.spqr_block, slack=1)
    for b, root in enumerate(t.block_root):
        require(roots.get(b) == root, f"block {b}: block_root is {root}, the root of its SPQR tree is {roots.get(b)}")
    sizes: dict[int, int] = defaultdict(int)
    for b in t.spqr_block:
        sizes[b] += 1
    for c, parent in enumerate(t.spqr_parent):
        require(t.spqr_type[c] != Q or sizes[t.spqr_block[c]] == 1, f"{title(t, c)} is not alone in its block")
        if parent >= 0:
            pair = {t.spqr_type[c], t.spqr_type[parent]}
            require(pair not in ({S}, {P}), f"{title(t, c)} and its parent {parent} have the same type")


def _check_walk_starts(t: Tables) -> None:
    """theta, and the start of each walk: a child's at the dart its parent meets first, a two-centred root's at the centre edge."""
    children: dict[int, list[int]] = defaultdict(list)
    for c, parent in enumerate(t.spqr_parent):
        children[parent].append(c)
        begin = t.skeletons[c].begin
        if parent < 0:
            require(t.spqr_theta[c] == 0, f"{title(t, c)} is a root, but its theta is {t.spqr_theta[c]}")
            continue
        met = t.skeletons[parent].first["virtual", c]
        require(
            t.spqr_theta[c] == t.walk_pos[met],
            f"{title(t, c)}: theta is {t.spqr_theta[c]}, its parent's walk meets it first at {t.walk_pos[met]}",
        )
        if t.spqr_set[c]:
            continue
        require(t.edge_of(begin) == ("virtual", parent), f"the walk of {title(t, c)} does not start with its parent's edge")
        require(
            t.spqr_set[parent] or t.walk_node[begin] == t.walk_node[met],
            f"the walk of {title(t, c)} starts at node {t.walk_node[begin]}, its parent meets it from {t.walk_node[met]}",
        )
    for root in t.block_root:
        first, second = _longest_arms(t.spqr_level[c] for c in children[root])
        if first > second and not t.spqr_set[root]:
            other = max(children[root], key=lambda c: t.spqr_level[c])
            edge = t.edge_of(t.skeletons[root].begin)
            require(
                edge == ("virtual", other),
                f"the walk of the two-centred root {root} starts at {edge}, not at the centre edge to {other}",
            )


def _check_gluing(t: Tables) -> None:
    """Within a block, the skeletons that hold a node are connected through virtual edges at that node: it is glued to one node."""
    pieces: dict[tuple[int, int], int] = defaultdict(int)
    for c, skeleton in enumerate(t.skeletons):
        for v in skeleton.nodes:
            pieces[t.spqr_block[c], v] += 1
        parent = t.spqr_parent[c]
        if parent >= 0:
            for v in skeleton.ends["virtual", parent]:
                pieces[t.spqr_block[c], v] -= 1
    for (b, v), count in pieces.items():
        require(count == 1, f"gluing the skeletons of block {b} leaves {count} copies of node {v}")


# ---------------------------------------------------------------- block-cut tree, components, incidences


def _block_nodes(t: Tables) -> list[set[int]]:
    nodes: list[set[int]] = [set() for _ in t.block_root]
    for c, skeleton in enumerate(t.skeletons):
        nodes[t.spqr_block[c]] |= skeleton.nodes
    return nodes


def _check_block_cut_tree(t: Tables) -> None:
    """One tree per component over blocks 0.. and cut nodes blocks.., whose edges are exactly the incidences."""
    blocks = len(t.block_root)
    holders: dict[int, list[int]] = defaultdict(list)
    for b, nodes in enumerate(_block_nodes(t)):
        for v in nodes:
            holders[v].append(b)
    expected = {v for v, held in holders.items() if len(held) > 1}
    require(len(set(t.cut_node)) == len(t.cut_node), "a cut node is listed twice")
    require(set(t.cut_node) == expected, f"cut nodes are {sorted(t.cut_node)}, nodes in several blocks are {sorted(expected)}")
    _check_tree_edges_are_incidences(t, holders)
    parents = [x + blocks if x >= 0 else -1 for x in t.block_parent_cut] + t.cut_parent_block
    component = [t.node_component[next(iter(nodes))] for nodes in _block_nodes(t)] + [t.node_component[v] for v in t.cut_node]
    _check_heights("block-cut tree", parents, t.block_level + t.cut_level, component, slack=0)
    for x in range(len(t.cut_node)):
        require(t.cut_level[x] > 0, f"cut node {t.cut_node[x]} is a leaf of the block-cut tree")


def _check_tree_edges_are_incidences(t: Tables, holders: Mapping[int, list[int]]) -> None:
    tree_edges = [(x, b) for b, x in enumerate(t.block_parent_cut) if x >= 0]
    tree_edges += [(x, b) for x, b in enumerate(t.cut_parent_block) if b >= 0]
    incidences = [(x, b) for x, v in enumerate(t.cut_node) for b in holders[v]]
    require(
        sorted(tree_edges) == sorted(incidences),
        f"the block-cut tree's edges are not its incidences: {sorted(set(tree_edges) ^ set(incidences))[:12]}",
    )


def _check_components(t: Tables) -> None:
    adjacency = adjacency_of(t.edges, range(t.num_nodes))
    seen: set[int] = set()
    ids: set[int] = set()
    for v in range(t.num_nodes):
        if v in seen:
            continue
        reach = reachable(adjacency, v)
        found = {t.node_component[w] for w in reach}
        require(len(found) == 1, f"the component of node {v} carries ids {sorted(found)}")
        require(not found & ids, f"component id {found} is used for two components")
        seen |= reach
        ids |= found
    require(ids == set(range(len(ids))), f"component ids are not 0..{len(ids) - 1}")


def _check_incidences(t: Tables) -> None:
    for name, expected in (
        ("spqr", [(v, c) for c, skeleton in enumerate(t.skeletons) for v in skeleton.nodes]),
        ("block", [(v, b) for b, nodes in enumerate(_block_nodes(t)) for v in nodes]),
    ):
        found = list(zip(getattr(t, f"node_{name}_node"), getattr(t, f"node_{name}_{name}"), strict=True))
        wrong = set(found) ^ set(expected)
        require(not wrong and len(found) == len(expected), f"node-{name} incidences: wrong or repeated {sorted(wrong)[:12]}")


def _check_labelling(t: Tables) -> None:
    if not any(t.spqr_set):
        require(sorted(t.labelling) == list(range(t.num_nodes)), "labelling is not a permutation of the nodes")
