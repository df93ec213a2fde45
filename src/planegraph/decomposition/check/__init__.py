"""Verify everything that a decomposition promises with code simpler than what produced it (docs/design.md lists the promises).

``check_decomposition(d)`` reads nothing but the graph and the tables, rebuilds each skeleton from its walk and tests, in this order:
shapes; skeletons and walks (kappa, positions, Weinberg's rule); real edges (each in one skeleton); virtual edges (pairs with equal
poles); the SPQR trees (heights, centre, no S-S or P-P, theta, starts of walks); rigid skeletons (simple, 3-connected); gluing; the
block-cut tree (heights, centre, cut nodes); components, incidences and labelling.

It proves the tables right rather than computing them again: skeletons that are biconnected and glued along a tree give biconnected
blocks, and biconnected pieces that hang together as a block-cut tree are the blocks. Only 3-connectivity needs an algorithm:
:func:`plane_weak_parts` where skeletons are planar, else :func:`is_three_connected`. Passes of numpy, and sorts; it takes a few times as
long as the decomposition. The first broken promise raises :class:`DecompositionError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...io.progress import Progress
from ..tables import TABLES
from .connectivity import is_three_connected, plane_weak_parts
from .skeletons import Skeletons, check_rigid, check_skeletons
from .tables import DecompositionError, P, Q, S, Tables, check_shapes, refuse, require

__all__ = ["TABLES", "DecompositionError", "check_decomposition", "check_tables", "is_three_connected", "plane_weak_parts"]


def check_decomposition(d: Any, progress: bool | None = None) -> None:
    """Raise :class:`DecompositionError` unless ``d`` keeps every promise.

    >>> import planegraph as pg
    >>> check_decomposition(pg.decompose(pg.Graph(3, [(0, 1), (1, 2), (2, 0)])))
    """
    check_tables(d.graph.num_nodes, d.graph.edges, d.arrays, progress)


def check_tables(num_nodes: int, edges: Any, arrays: Mapping[str, Any], progress: bool | None = False) -> None:
    """The same for one graph given as plain arrays: ``arrays`` maps the column names of ``TABLES`` to sequences."""
    t = Tables(num_nodes, edges, arrays)
    checks = (
        check_skeletons,
        _check_real_edges,
        _check_virtual_edges,
        _check_spqr_trees,
        _check_walk_starts,
        check_rigid,
        _check_gluing,
        _check_block_cut_tree,
        _check_components,
        _check_incidences,
        _check_labelling,
    )
    with Progress("checking", len(checks) + 2, "steps", progress) as bar:
        check_shapes(t)
        bar.add(1)
        s = Skeletons(t)
        bar.add(1)
        for check in checks:
            check(s)
            bar.add(1)


# ---------------------------------------------------------------- edges, real and virtual


def _check_real_edges(s: Skeletons) -> None:
    refuse(s.once[: len(s.t.edges)] < 0, lambda e: f"edge {e} {s.t.edges[e].tolist()} lies in no skeleton")


def _check_virtual_edges(s: Skeletons) -> None:
    t, m = s.t, len(s.t.edges)
    child = np.flatnonzero(t.spqr_parent >= 0)
    up, down = s.once[m + child], s.once[m + t.num_spqr + child]
    refuse((up < 0) | (down < 0), lambda i: f"SPQR node {child[i]} and its parent have no virtual edges to each other")
    refuse(
        ~s.same_ends(up, np.stack([s.source[down], s.target[down]])),
        lambda i: f"the virtual edges between SPQR node {child[i]} and its parent have different poles",
    )


# ---------------------------------------------------------------- SPQR trees


def _check_heights(what: str, parents: np.ndarray, levels: np.ndarray, tree_of: np.ndarray, slack: int) -> np.ndarray:
    """Parent pointers that form trees rooted at a centre, with their heights. Returns the root of each tree id, -1 for none.

    The two longest arms of a centre differ by at most ``slack``: 1, or 0 where the centre is known to be unique.
    """
    trees = int(tree_of.max(initial=-1)) + 1
    root, child = np.flatnonzero(parents < 0), np.flatnonzero(parents >= 0)
    above = parents[child]
    refuse(tree_of[above] != tree_of[child], lambda i: f"{what}: {child[i]} and its parent lie in different trees")
    roots = np.bincount(tree_of[root], minlength=trees)
    refuse(roots > 1, lambda tree: f"{what}: tree {tree} has several roots")
    refuse((np.bincount(tree_of, minlength=trees) > 0) & (roots == 0), lambda tree: f"{what}: tree {tree} has no root")
    # Strictly rising levels exclude cycles of parents; so this also shows that the trees are trees.
    longest, second = _longest_arms(parents, levels)
    refuse(levels != longest, lambda x: f"{what}: level of {x} is {levels[x]}, its height is {longest[x]}")
    refuse(
        longest[root] - second[root] > slack,
        lambda i: f"{what}: root {root[i]} is not a centre: arms {longest[root][i]} and {second[root][i]}",
    )
    root_of = np.full(trees, -1)
    root_of[tree_of[root]] = root
    return root_of


def _longest_arms(parents: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the two longest paths that lead down from each node in different directions, from the levels of its children."""
    child = np.flatnonzero(parents >= 0)
    child = child[np.lexsort((levels[child], parents[child]))]  # the children of a node together, the highest last
    above = parents[child]
    last = np.flatnonzero(np.append(above[1:] != above[:-1], True)) if len(child) else child
    arms = np.zeros((2, len(parents)), np.int64)
    arms[0, above[last]] = levels[child[last]] + 1
    two = last[(last > 0) & (above[last - 1] == above[last])]
    arms[1, above[two]] = levels[child[two - 1]] + 1
    return arms[0], arms[1]


def _check_spqr_trees(s: Skeletons) -> None:
    t = s.t
    roots = _check_heights("SPQR tree", t.spqr_parent, t.spqr_level, t.spqr_block, slack=1)
    require(len(roots) == t.num_blocks, f"{len(roots)} blocks have SPQR nodes; there are {t.num_blocks} blocks")
    refuse(roots != t.block_root, lambda b: f"block {b}: block_root is {t.block_root[b]}, the root of its SPQR tree is {roots[b]}")
    sizes = np.bincount(t.spqr_block, minlength=t.num_blocks)
    refuse((t.spqr_type == Q) & (sizes[t.spqr_block] > 1), lambda c: f"SPQR node {c} (Q) is not alone in its block")
    child = np.flatnonzero(t.spqr_parent >= 0)
    kind = t.spqr_type[child]
    refuse(
        (kind == t.spqr_type[t.spqr_parent[child]]) & ((kind == S) | (kind == P)),
        lambda i: f"SPQR node {child[i]} and its parent have the same type",
    )


def _check_walk_starts(s: Skeletons) -> None:
    """theta, and the start of each walk: a child's at the dart its parent meets first, a two-centred root's at the centre edge."""
    t, m = s.t, len(s.t.edges)
    root, child = np.flatnonzero(t.spqr_parent < 0), np.flatnonzero(t.spqr_parent >= 0)
    refuse(t.spqr_theta[root] != 0, lambda i: f"SPQR node {root[i]} is a root, but its theta is {t.spqr_theta[root][i]}")
    met = s.once[m + t.num_spqr + child]
    refuse(
        t.spqr_theta[child] != t.walk_pos[met],
        lambda i: f"SPQR node {child[i]}: theta is not where its parent's walk meets it first, {t.walk_pos[met[i]]}",
    )
    begin, is_set = s.begin[child], t.spqr_set[child] > 0
    refuse(
        ~is_set & (s.key[begin] != m + child), lambda i: f"the walk of SPQR node {child[i]} does not start with its parent's edge"
    )
    refuse(
        ~is_set & (t.spqr_set[t.spqr_parent[child]] == 0) & (s.source[begin] != s.source[met]),
        lambda i: f"the walk of SPQR node {child[i]} starts at node {s.source[begin[i]]}, its parent meets it from the other",
    )
    longest, second = _longest_arms(t.spqr_parent, t.spqr_level)
    centred = root[(longest > second)[root] & (t.spqr_set[root] == 0)]
    key = s.key[s.begin[centred]] - m - t.num_spqr  # the child there
    refuse(
        (key < 0) | (t.spqr_level[np.maximum(key, 0)] + 1 != longest[centred]),
        lambda i: f"the walk of the two-centred root {centred[i]} does not start at the centre edge",
    )


def _check_gluing(s: Skeletons) -> None:
    """Within a block, the skeletons that hold a node are connected through virtual edges at that node: it is glued to one node.

    These skeletons and edges are a forest, so that there are as many copies of a node as skeletons less edges. There are no
    more copies than nodes in all if there is one of each.
    """
    t = s.t
    copies = len(s.node) - 2 * int((t.spqr_parent >= 0).sum())
    nodes = len(s.block_nodes[0])
    require(copies == nodes, f"gluing the skeletons of all blocks leaves {copies} copies of their {nodes} nodes")


# ---------------------------------------------------------------- block-cut tree, components, incidences


def _check_block_cut_tree(s: Skeletons) -> None:
    """One tree per component over blocks 0.. and cut nodes blocks.., whose edges are exactly the incidences."""
    t = s.t
    block, node = s.block_nodes
    times = np.bincount(node, minlength=t.num_nodes)
    cut_of = np.full(t.num_nodes, -1)
    cut_of[t.cut_node] = np.arange(len(t.cut_node))
    require((cut_of[t.cut_node] == np.arange(len(t.cut_node))).all(), "a cut node is listed twice")
    refuse(
        (cut_of >= 0) != (times > 1),
        lambda v: f"node {v} lies in {times[v]} blocks, and {'is' if cut_of[v] >= 0 else 'is not'} a cut node",
    )
    _check_tree_edges_are_incidences(t, cut_of[node], block)
    parents = np.concatenate([np.where(t.block_parent_cut >= 0, t.block_parent_cut + t.num_blocks, -1), t.cut_parent_block])
    one = np.zeros(t.num_blocks, np.int64)
    one[block] = node
    component = t.node_component[np.concatenate([one, t.cut_node])]
    _check_heights("block-cut tree", parents, np.concatenate([t.block_level, t.cut_level]), component, slack=0)
    refuse(t.cut_level == 0, lambda x: f"cut node {t.cut_node[x]} is a leaf of the block-cut tree")


def _check_tree_edges_are_incidences(t: Tables, cut: np.ndarray, block: np.ndarray) -> None:
    """``cut`` and ``block`` are the incidences, of other nodes than cut nodes with -1."""
    b, x = np.flatnonzero(t.block_parent_cut >= 0), np.flatnonzero(t.cut_parent_block >= 0)
    found = np.concatenate([t.block_parent_cut[b] * t.num_blocks + b, x * t.num_blocks + t.cut_parent_block[x]])
    expected = (cut * t.num_blocks + block)[cut >= 0]
    same = np.array_equal(np.sort(found), np.sort(expected))
    require(same, f"the {len(found)} edges of the block-cut tree are not the {len(expected)} incidences of blocks and cut nodes")


def _check_components(s: Skeletons) -> None:
    """Each component has one id, as all edges join equal ids. Different components have different ids if there are as many ids as
    components: one for each root of the block-cut tree, whose edges were checked, and for each node that is in no block."""
    t = s.t
    refuse(t.node_component[t.edges[:, 0]] != t.node_component[t.edges[:, 1]], lambda e: f"edge {e} joins two components")
    alone = np.bincount(s.block_nodes[1], minlength=t.num_nodes) == 0
    components = int(alone.sum()) + int((t.block_parent_cut < 0).sum()) + int((t.cut_parent_block < 0).sum())
    found = np.bincount(t.node_component, minlength=components)
    require(len(found) == components and found.all(), f"component ids are not 0..{components - 1}")


def _check_incidences(s: Skeletons) -> None:
    t = s.t
    for name, (part, node) in (("spqr", (s.owner, s.node)), ("block", s.block_nodes)):
        found = np.sort(getattr(t, f"node_{name}_{name}") * t.num_nodes + getattr(t, f"node_{name}_node"))
        same = np.array_equal(found, np.sort(part * t.num_nodes + node))
        require(same, f"node-{name} incidences: wrong, missing or repeated ones among {len(found)}, of {len(node)}")


def _check_labelling(s: Skeletons) -> None:
    t = s.t
    if not t.spqr_set.any():
        require(np.array_equal(np.sort(t.labelling), np.arange(t.num_nodes)), "labelling is not a permutation of the nodes")
