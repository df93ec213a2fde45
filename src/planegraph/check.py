"""Verify everything that a decomposition promises (DESIGN section 3), with code simpler than what produced it.

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

import random
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import PlanegraphError

S, P, Q, R = range(4)
TYPE_NAMES = "SPQR"

TABLES = {
    "walk": ("walk_node", "walk_edge", "walk_other", "walk_kappa", "walk_pos", "walk_spqr"),
    "spqr": ("spqr_type", "spqr_set", "spqr_parent", "spqr_theta", "spqr_level", "spqr_block"),
    "block": ("block_root", "block_level", "block_parent_cut"),
    "cut": ("cut_node", "cut_level", "cut_parent_block"),
    "node_spqr": ("node_spqr_node", "node_spqr_spqr"),
    "node_block": ("node_block_node", "node_block_block"),
    "node": ("node_component", "labelling"),
}


class DecompositionError(PlanegraphError, AssertionError):
    """A decomposition breaks one of its promises; the message says which, and where."""


def check_decomposition(d: Any) -> None:
    """Raise :class:`DecompositionError` unless ``d`` keeps every promise of DESIGN section 3.

    >>> import planegraph as pg
    >>> check_decomposition(pg.decompose(pg.Graph(3, [(0, 1), (1, 2), (2, 0)])))
    """
    check_tables(d.graph.num_nodes, d.graph.edges, d.arrays)


def check_tables(num_nodes: int, edges: Any, arrays: Mapping[str, Any]) -> None:
    """The same for one graph given as plain arrays: ``arrays`` maps the column names of ``TABLES`` to sequences."""
    t = _Tables(num_nodes, edges, arrays)
    _check_shapes(t)
    t.skeletons = _read_skeletons(t)
    _check_real_edges(t)
    _check_virtual_edges(t)
    _check_spqr_trees(t)
    _check_walk_starts(t)
    for c, skeleton in enumerate(t.skeletons):
        if t.spqr_type[c] == R:
            _check_rigid(c, skeleton)
    _check_gluing(t)
    _check_block_cut_tree(t)
    _check_components(t)
    _check_incidences(t)
    _check_labelling(t)


# ---------------------------------------------------------------- what is checked


@dataclass
class _Skeleton:
    """One skeleton as its walk shows it. An edge is ``("real", e)`` or ``("virtual", other SPQR node)``."""

    ends: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    first: dict[tuple[str, int], int] = field(default_factory=dict)  # index of the entry that meets the edge first
    begin: int = 0  # its rows in the walk table
    end: int = 0

    @property
    def nodes(self) -> set[int]:
        return {v for pair in self.ends.values() for v in pair}


class _Tables:
    """The columns as Python lists, one attribute each."""

    def __init__(self, num_nodes: int, edges: Any, arrays: Mapping[str, Any]) -> None:
        self.num_nodes = int(num_nodes)
        self.edges: list[tuple[int, int]] = [(int(u), int(v)) for u, v in np.asarray(edges, dtype=np.int64).reshape(-1, 2)]
        for columns in TABLES.values():
            for name in columns:
                setattr(self, name, np.asarray(arrays[name]).tolist())
        self.skeletons: list[_Skeleton] = []

    def __getattr__(self, name: str) -> list[int]:  # for type checkers: the columns set above
        raise AttributeError(name)

    def edge_of(self, i: int) -> tuple[str, int]:
        """The skeleton edge of walk entry ``i``."""
        return ("real", self.walk_edge[i]) if self.walk_edge[i] >= 0 else ("virtual", self.walk_other[i])


def _require(condition: object, message: str) -> None:
    if not condition:
        raise DecompositionError(message)


def _name(t: _Tables, c: int) -> str:
    return f"SPQR node {c} ({TYPE_NAMES[t.spqr_type[c]]})"


# ---------------------------------------------------------------- shapes


def _check_shapes(t: _Tables) -> None:
    for table, columns in TABLES.items():
        lengths = {name: len(getattr(t, name)) for name in columns}
        _require(len(set(lengths.values())) <= 1, f"columns of table {table} differ in length: {lengths}")
    n, m = t.num_nodes, len(t.edges)
    walks, spqrs, blocks, cuts = len(t.walk_node), len(t.spqr_type), len(t.block_root), len(t.cut_node)
    _require(len(t.node_component) == n, f"node_component has {len(t.node_component)} rows for {n} nodes")
    for name, low, high in (
        ("walk_node", 0, n),
        ("walk_edge", -1, m),
        ("walk_other", -1, spqrs),
        ("walk_kappa", 0, n + 1),
        ("walk_pos", 0, walks + 1),
        ("walk_spqr", 0, spqrs),
        ("spqr_type", 0, 4),
        ("spqr_set", 0, 2),
        ("spqr_parent", -1, spqrs),
        ("spqr_theta", 0, walks + 1),
        ("spqr_level", 0, spqrs),
        ("spqr_block", 0, blocks),
        ("block_root", 0, spqrs),
        ("block_level", 0, blocks + cuts),
        ("block_parent_cut", -1, cuts),
        ("cut_node", 0, n),
        ("cut_level", 0, blocks + cuts),
        ("cut_parent_block", -1, blocks),
        ("node_spqr_node", 0, n),
        ("node_spqr_spqr", 0, spqrs),
        ("node_block_node", 0, n),
        ("node_block_block", 0, blocks),
        ("node_component", 0, n),
    ):
        for row, value in enumerate(getattr(t, name)):
            _require(low <= value < high, f"{name}[{row}] = {value} is outside {low}..{high - 1}")
    _require(t.walk_spqr == sorted(t.walk_spqr), "walk_spqr does not ascend")
    _require(set(t.walk_spqr) == set(range(spqrs)), "some SPQR node has no walk")
    for i, (edge, other) in enumerate(zip(t.walk_edge, t.walk_other, strict=True)):
        _require((edge >= 0) != (other >= 0), f"walk entry {i} must be real or virtual: edge {edge}, other {other}")


# ---------------------------------------------------------------- skeletons and their walks


def _read_skeletons(t: _Tables) -> list[_Skeleton]:
    skeletons = [_Skeleton() for _ in t.spqr_type]
    bounds: dict[int, list[int]] = {}
    for i, c in enumerate(t.walk_spqr):
        bounds.setdefault(c, [i, i])[1] = i + 1
    readers = {S: _read_cycle, P: _read_bond, Q: _read_single, R: _read_rigid}
    for c, skeleton in enumerate(skeletons):
        skeleton.begin, skeleton.end = bounds[c]
        if t.spqr_set[c]:
            _read_set(t, c, skeleton)
        else:
            readers[t.spqr_type[c]](t, c, skeleton)
            _check_kappa(t, c, skeleton)
        _check_shape_of_skeleton(t, c, skeleton)
        for (kind, e), ends in skeleton.ends.items():
            if kind == "real":
                _require(
                    sorted(ends) == sorted(t.edges[e]),
                    f"{_name(t, c)} has edge {e} between {ends}, the graph between {t.edges[e]}",
                )
    return skeletons


def _add_dart(t: _Tables, c: int, skeleton: _Skeleton, i: int, target: int) -> bool:
    """Record the dart of entry ``i``; return whether its edge is new."""
    edge, source = t.edge_of(i), t.walk_node[i]
    new = edge not in skeleton.ends
    if new:
        skeleton.ends[edge] = (source, target)
        skeleton.first[edge] = i
    else:
        _require(
            skeleton.ends[edge] == (target, source),
            f"walk entry {i} of {_name(t, c)}: dart {source}->{target} of {edge} is not the reverse of {skeleton.ends[edge]}",
        )
    _require(source != target, f"walk entry {i} of {_name(t, c)}: a loop at node {source}")
    return new


def _check_positions(t: _Tables, c: int, skeleton: _Skeleton, expected: Iterable[int]) -> None:
    found = t.walk_pos[skeleton.begin : skeleton.end]
    _require(found == list(expected), f"positions in the walk of {_name(t, c)}: found {found[:12]}")


def _check_kappa(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """kappa is the order of first visit, from 1."""
    kappa: dict[int, int] = {}
    for i in range(skeleton.begin, skeleton.end):
        expected = kappa.setdefault(t.walk_node[i], len(kappa) + 1)
        _require(
            t.walk_kappa[i] == expected,
            f"walk entry {i} of {_name(t, c)}: kappa of node {t.walk_node[i]} is {expected}, found {t.walk_kappa[i]}",
        )


def _read_cycle(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """S: once round the cycle."""
    begin, end = skeleton.begin, skeleton.end
    for i in range(begin, end):
        new = _add_dart(t, c, skeleton, i, t.walk_node[i + 1 if i + 1 < end else begin])
        _require(new, f"walk entry {i} of {_name(t, c)}: {t.edge_of(i)} appears twice in a cycle")
    _check_positions(t, c, skeleton, range(1, end - begin + 1))


def _read_pairs(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """Darts in consecutive pairs: a dart and its reverse."""
    _require((skeleton.end - skeleton.begin) % 2 == 0, f"the walk of {_name(t, c)} has an odd number of darts")
    for i in range(skeleton.begin, skeleton.end, 2):
        u, v = t.walk_node[i : i + 2]
        new = _add_dart(t, c, skeleton, i, v)
        _add_dart(t, c, skeleton, i + 1, u)
        _require(
            new and t.edge_of(i) == t.edge_of(i + 1),
            f"walk entries {i}, {i + 1} of {_name(t, c)} are not the two darts of one edge",
        )


def _read_bond(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """P: both darts of each parallel edge, at the edge's position, always from the same pole."""
    _read_pairs(t, c, skeleton)
    poles = set(skeleton.ends.values())
    _require(len(poles) == 1, f"{_name(t, c)}: edges with different poles or directions: {sorted(poles)}")
    _check_positions(t, c, skeleton, (j // 2 + 1 for j in range(skeleton.end - skeleton.begin)))


def _read_single(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """Q: both darts of its edge."""
    _read_pairs(t, c, skeleton)
    _check_positions(t, c, skeleton, range(1, skeleton.end - skeleton.begin + 1))


def _read_set(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """A plain multiset of darts: no order, so no kappa and no positions."""
    _read_pairs(t, c, skeleton)
    rows = slice(skeleton.begin, skeleton.end)
    _require(not any(t.walk_kappa[rows]), f"{_name(t, c)} is a plain set but has a kappa that is not 0")
    _require(not any(t.walk_pos[rows]), f"{_name(t, c)} is a plain set but has a position that is not 0")


def _read_rigid(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    """R: Weinberg's walk.

    Each edge once in each direction, closed. After a dart that reaches a new node, or that comes back along an old edge, the walk
    goes on; after a dart along a new edge that reaches an old node, it turns back at once.
    """
    begin, end = skeleton.begin, skeleton.end
    visited = {t.walk_node[begin]}
    count: dict[tuple[str, int], int] = defaultdict(int)
    for i in range(begin, end):
        following = i + 1 if i + 1 < end else begin
        target = t.walk_node[following]
        edge_is_new = _add_dart(t, c, skeleton, i, target)
        edge = t.edge_of(i)
        count[edge] += 1
        turns_back = t.edge_of(following) == edge and following != begin
        must_turn = edge_is_new and target in visited
        _require(
            turns_back == must_turn,
            f"walk entry {i} of {_name(t, c)} breaks Weinberg's rule: reaches {'an old' if target in visited else 'a new'} node by "
            f"{'a new' if edge_is_new else 'an old'} edge and {'turns back' if turns_back else 'goes on'}",
        )
        visited.add(target)
    for edge, times in count.items():
        _require(times == 2, f"the walk of {_name(t, c)} takes {edge} {times} times, not twice")
    _check_positions(t, c, skeleton, range(1, end - begin + 1))


def _check_shape_of_skeleton(t: _Tables, c: int, skeleton: _Skeleton) -> None:
    kind, edges, nodes = t.spqr_type[c], len(skeleton.ends), len(skeleton.nodes)
    if kind == S:
        ok = edges == nodes >= 3 and _is_connected(skeleton.ends.values())
        wanted = "a cycle of at least 3"
    elif kind == P:
        real = sum(name == "real" for name, _ in skeleton.ends)
        ok = nodes == 2 and real <= 1 and (edges >= 3 or _is_neutral_root(t, c, skeleton))
        wanted = "a bond of at least 3 edges, at most one of them real"
    elif kind == Q:
        ok = edges == 1 and next(iter(skeleton.ends))[0] == "real"
        wanted = "one real edge"
    else:
        ok = nodes >= 4 and len({frozenset(ends) for ends in skeleton.ends.values()}) == edges
        wanted = "simple with at least 4 nodes"
    if kind == S:  # a connected graph with all degrees 2 is a cycle
        degree: dict[int, int] = defaultdict(int)
        for u, v in skeleton.ends.values():
            degree[u] += 1
            degree[v] += 1
        ok = ok and set(degree.values()) == {2}
    _require(ok, f"{_name(t, c)} with {nodes} nodes and {edges} edges is not {wanted}: {list(skeleton.ends.items())[:12]}")


def _is_neutral_root(t: _Tables, c: int, skeleton: _Skeleton) -> bool:
    """Whether ``c`` only joins two centres that could not be told apart, as they or something below is encoded as a set.

    The root of a block whose SPQR tree is rooted in the middle of an edge between two R: a bond of just two virtual edges, itself a set.
    """
    block, children = t.spqr_block[c], [x for x, parent in enumerate(t.spqr_parent) if parent == c]
    return (
        t.spqr_set[c] == 1
        and t.spqr_parent[c] < 0
        and sorted(skeleton.ends) == [("virtual", x) for x in children]
        and len(children) == 2
        and all(t.spqr_type[x] == R for x in children)
        and t.spqr_level[children[0]] == t.spqr_level[children[1]]
        and any(t.spqr_set[x] and t.spqr_type[x] == R for x, b in enumerate(t.spqr_block) if b == block)
    )


def _is_connected(pairs: Iterable[tuple[int, int]]) -> bool:
    adjacency = _adjacency(pairs)
    start = next(iter(adjacency))
    return len(_reach(adjacency, start)) == len(adjacency)


def _check_rigid(c: int, skeleton: _Skeleton) -> None:
    pair = find_weak_pair(skeleton.ends.values())
    _require(pair is None, f"SPQR node {c} (R) is not 3-connected: see nodes {pair}")


# ---------------------------------------------------------------- edges, real and virtual


def _check_real_edges(t: _Tables) -> None:
    owner: dict[int, int] = {}
    for c, skeleton in enumerate(t.skeletons):
        for kind, e in skeleton.ends:
            if kind == "real":
                _require(e not in owner, f"edge {e} lies in SPQR nodes {owner.get(e)} and {c}")
                owner[e] = c
    for e in range(len(t.edges)):
        _require(e in owner, f"edge {e} {t.edges[e]} lies in no skeleton")


def _check_virtual_edges(t: _Tables) -> None:
    for c, skeleton in enumerate(t.skeletons):
        for (kind, other), ends in skeleton.ends.items():
            if kind != "virtual":
                continue
            _require(
                t.spqr_parent[c] == other or t.spqr_parent[other] == c,
                f"{_name(t, c)} has a virtual edge to {_name(t, other)}, which is neither its parent nor its child",
            )
            back = t.skeletons[other].ends.get(("virtual", c))
            _require(back is not None, f"the virtual edge of {_name(t, c)} to {_name(t, other)} has no partner")
            _require(
                back is not None and sorted(back) == sorted(ends),
                f"virtual edge {c}-{other}: poles {sorted(ends)} on one side, {sorted(back or ())} on the other",
            )
    for c, parent in enumerate(t.spqr_parent):
        if parent >= 0:
            _require(("virtual", parent) in t.skeletons[c].ends, f"{_name(t, c)} has no virtual edge to its parent {parent}")


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
            _require(tree_of[x] not in roots, f"{what}: {x} and {roots.get(tree_of[x])} are both roots of tree {tree_of[x]}")
            roots[tree_of[x]] = x
        else:
            _require(tree_of[parent] == tree_of[x], f"{what}: {x} and its parent {parent} lie in different trees")
            heights[parent].append(levels[x])
    for x, below in enumerate(heights):
        # Strictly rising levels exclude cycles of parents; so this also shows that the trees are trees.
        expected = 1 + max(below) if below else 0
        _require(levels[x] == expected, f"{what}: level of {x} is {levels[x]}, its height is {expected}")
    for tree in set(tree_of):
        _require(tree in roots, f"{what}: tree {tree} has no root")
        first, second = _longest_arms(heights[roots[tree]])
        _require(first - second <= slack, f"{what}: root {roots[tree]} of tree {tree} is not a centre: arms {first} and {second}")
    return roots


def _longest_arms(heights: Iterable[int]) -> tuple[int, int]:
    """Lengths of the two longest paths that leave a root in different directions, from the heights of its children."""
    first, second = sorted((h + 1 for h in (*heights, -1, -1)), reverse=True)[:2]
    return first, second


def _check_spqr_trees(t: _Tables) -> None:
    roots = _check_heights("SPQR tree", t.spqr_parent, t.spqr_level, t.spqr_block, slack=1)
    for b, root in enumerate(t.block_root):
        _require(roots.get(b) == root, f"block {b}: block_root is {root}, the root of its SPQR tree is {roots.get(b)}")
    sizes: dict[int, int] = defaultdict(int)
    for b in t.spqr_block:
        sizes[b] += 1
    for c, parent in enumerate(t.spqr_parent):
        _require(t.spqr_type[c] != Q or sizes[t.spqr_block[c]] == 1, f"{_name(t, c)} is not alone in its block")
        if parent >= 0:
            pair = {t.spqr_type[c], t.spqr_type[parent]}
            _require(pair not in ({S}, {P}), f"{_name(t, c)} and its parent {parent} have the same type")


def _check_walk_starts(t: _Tables) -> None:
    """theta, and the start of each walk: a child's at the dart its parent meets first, a two-centred root's at the centre edge."""
    children: dict[int, list[int]] = defaultdict(list)
    for c, parent in enumerate(t.spqr_parent):
        children[parent].append(c)
        begin = t.skeletons[c].begin
        if parent < 0:
            _require(t.spqr_theta[c] == 0, f"{_name(t, c)} is a root, but its theta is {t.spqr_theta[c]}")
            continue
        met = t.skeletons[parent].first["virtual", c]
        _require(
            t.spqr_theta[c] == t.walk_pos[met],
            f"{_name(t, c)}: theta is {t.spqr_theta[c]}, its parent's walk meets it first at {t.walk_pos[met]}",
        )
        if t.spqr_set[c]:
            continue
        _require(t.edge_of(begin) == ("virtual", parent), f"the walk of {_name(t, c)} does not start with its parent's edge")
        _require(
            t.spqr_set[parent] or t.walk_node[begin] == t.walk_node[met],
            f"the walk of {_name(t, c)} starts at node {t.walk_node[begin]}, its parent meets it from {t.walk_node[met]}",
        )
    for root in t.block_root:
        first, second = _longest_arms(t.spqr_level[c] for c in children[root])
        if first > second and not t.spqr_set[root]:
            other = max(children[root], key=lambda c: t.spqr_level[c])
            edge = t.edge_of(t.skeletons[root].begin)
            _require(
                edge == ("virtual", other),
                f"the walk of the two-centred root {root} starts at {edge}, not at the centre edge to {other}",
            )


def _check_gluing(t: _Tables) -> None:
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
        _require(count == 1, f"gluing the skeletons of block {b} leaves {count} copies of node {v}")


# ---------------------------------------------------------------- block-cut tree, components, incidences


def _block_nodes(t: _Tables) -> list[set[int]]:
    nodes: list[set[int]] = [set() for _ in t.block_root]
    for c, skeleton in enumerate(t.skeletons):
        nodes[t.spqr_block[c]] |= skeleton.nodes
    return nodes


def _check_block_cut_tree(t: _Tables) -> None:
    """One tree per component over blocks 0.. and cut nodes blocks.., whose edges are exactly the incidences."""
    blocks = len(t.block_root)
    holders: dict[int, list[int]] = defaultdict(list)
    for b, nodes in enumerate(_block_nodes(t)):
        for v in nodes:
            holders[v].append(b)
    expected = {v for v, held in holders.items() if len(held) > 1}
    _require(len(set(t.cut_node)) == len(t.cut_node), "a cut node is listed twice")
    _require(set(t.cut_node) == expected, f"cut nodes are {sorted(t.cut_node)}, nodes in several blocks are {sorted(expected)}")
    _check_tree_edges_are_incidences(t, holders)
    parents = [x + blocks if x >= 0 else -1 for x in t.block_parent_cut] + t.cut_parent_block
    component = [t.node_component[next(iter(nodes))] for nodes in _block_nodes(t)] + [t.node_component[v] for v in t.cut_node]
    _check_heights("block-cut tree", parents, t.block_level + t.cut_level, component, slack=0)
    for x in range(len(t.cut_node)):
        _require(t.cut_level[x] > 0, f"cut node {t.cut_node[x]} is a leaf of the block-cut tree")


def _check_tree_edges_are_incidences(t: _Tables, holders: Mapping[int, list[int]]) -> None:
    tree_edges = [(x, b) for b, x in enumerate(t.block_parent_cut) if x >= 0]
    tree_edges += [(x, b) for x, b in enumerate(t.cut_parent_block) if b >= 0]
    incidences = [(x, b) for x, v in enumerate(t.cut_node) for b in holders[v]]
    _require(
        sorted(tree_edges) == sorted(incidences),
        f"the block-cut tree's edges are not its incidences: {sorted(set(tree_edges) ^ set(incidences))[:12]}",
    )


def _check_components(t: _Tables) -> None:
    adjacency = _adjacency(t.edges, range(t.num_nodes))
    seen: set[int] = set()
    ids: set[int] = set()
    for v in range(t.num_nodes):
        if v in seen:
            continue
        reach = _reach(adjacency, v)
        found = {t.node_component[w] for w in reach}
        _require(len(found) == 1, f"the component of node {v} carries ids {sorted(found)}")
        _require(not found & ids, f"component id {found} is used for two components")
        seen |= reach
        ids |= found
    _require(ids == set(range(len(ids))), f"component ids are not 0..{len(ids) - 1}")


def _check_incidences(t: _Tables) -> None:
    for name, expected in (
        ("spqr", [(v, c) for c, skeleton in enumerate(t.skeletons) for v in skeleton.nodes]),
        ("block", [(v, b) for b, nodes in enumerate(_block_nodes(t)) for v in nodes]),
    ):
        found = list(zip(getattr(t, f"node_{name}_node"), getattr(t, f"node_{name}_{name}"), strict=True))
        wrong = set(found) ^ set(expected)
        _require(not wrong and len(found) == len(expected), f"node-{name} incidences: wrong or repeated {sorted(wrong)[:12]}")


def _check_labelling(t: _Tables) -> None:
    if not any(t.spqr_set):
        _require(sorted(t.labelling) == list(range(t.num_nodes)), "labelling is not a permutation of the nodes")


# ---------------------------------------------------------------- connectivity


def _adjacency(pairs: Iterable[tuple[int, int]], nodes: Iterable[int] = ()) -> dict[int, list[int]]:
    adjacency: dict[int, list[int]] = {v: [] for v in nodes}
    for u, v in pairs:
        adjacency.setdefault(u, []).append(v)
        adjacency.setdefault(v, []).append(u)
    return adjacency


def _reach(adjacency: Mapping[int, Iterable[int]], start: int) -> set[int]:
    seen = {start}
    todo = [start]
    while todo:
        for w in adjacency[todo.pop()]:
            if w not in seen:
                seen.add(w)
                todo.append(w)
    return seen


def is_three_connected(pairs: Iterable[tuple[int, int]]) -> bool:
    """Whether a simple graph, given by its edges, has at least 4 nodes and stays connected without any two of them.

    >>> is_three_connected([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    True
    """
    pairs = list(pairs)
    return len({v for pair in pairs for v in pair}) >= 4 and find_weak_pair(pairs) is None


def find_weak_pair(pairs: Iterable[tuple[int, int]]) -> tuple[int, ...] | None:
    """None if the graph is 3-connected, else nodes that two others separate from what was looked at before.

    Take the nodes in any order. Three nodes x, y, z that no two others separate are a start; each later node must have three paths,
    disjoint but for itself, to three different earlier nodes. Then nothing of two nodes can separate the first node that lies apart
    from those before it, as it would have to cut three disjoint paths (Even, 1975). High degrees go first and the rest in random
    order, so that paths are short: nearly linear in practice, whatever the order exact.
    """
    adjacency = _adjacency(pairs)
    order = sorted(adjacency)
    random.Random(1).shuffle(order)
    order.sort(key=lambda v: -len(adjacency[v]))
    if any(len(adjacency[v]) < 3 for v in adjacency):
        return (order[-1],)
    x = order[0]
    y, z = adjacency[x][:2]
    if z not in adjacency[y] and not _has_fan(adjacency, y, set(adjacency[z]), banned=z):
        return (y, z)
    earlier = {x, y, z}
    for v in order:
        if v not in earlier:
            if not _has_fan(adjacency, v, earlier):
                return (v,)
            earlier.add(v)
    return None


def _has_fan(adjacency: Mapping[int, Sequence[int]], v: int, targets: set[int], banned: int = -1) -> bool:
    """Whether three paths lead from ``v`` to three different targets, disjoint but for ``v``; none enters ``banned``.

    Augmenting paths. ``before[w]`` is the node before ``w`` on the paths found so far, so each ``w`` carries at most one path.
    """
    before: dict[int, int] = {}
    return all(_augment(adjacency, v, targets, banned, before) for _ in range(3))


def _augment(adjacency: Mapping[int, Sequence[int]], v: int, targets: set[int], banned: int, before: dict[int, int]) -> bool:
    # A state (w, True) may leave w freely; (w, False) has entered a node that carries a path and must go back along it.
    came: dict[tuple[int, bool], tuple[int, bool] | None] = {(v, True): None}
    todo = deque(came)

    def visit(state: tuple[int, bool], origin: tuple[int, bool]) -> None:
        if state not in came:
            came[state] = origin
            todo.append(state)

    while todo:
        state = todo.popleft()
        u, free = state
        if not free:
            visit((before[u], True), state)
            continue
        if u in before:  # it lies on a path that has just been given up behind it: give up the part before it, too
            visit((u, False), state)
        for w in adjacency[u]:
            if w in (v, banned) or before.get(w) == u:
                continue
            if w in before:
                visit((w, False), state)
            elif w in targets:
                _reroute(came, state, w, before)
                return True
            else:
                visit((w, True), state)
    return False


def _reroute(
    came: Mapping[tuple[int, bool], tuple[int, bool] | None],
    state: tuple[int, bool] | None,
    end: int,
    before: dict[int, int],
) -> None:
    """Flip the augmenting path that ends with the step from ``state`` to ``end``."""
    added, removed = [], []
    node = end
    while state is not None:
        u, free = state
        if free and u != node:
            added.append((u, node))
        elif not free and u != node:
            removed.append((node, u))
        node, state = u, came[state]
    for u, w in removed:
        if before.get(w) == u:
            del before[w]
    for u, w in added:
        before[w] = u
