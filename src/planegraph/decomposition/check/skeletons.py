"""Each skeleton read back from its walk: shape, positions, kappa and Weinberg's rule. Passes over all walks at once."""

from __future__ import annotations

import numpy as np

from .connectivity import adjacency_of, find_weak_pair, plane_weak_parts, reachable
from .tables import P, Q, R, S, Tables, distinct, refuse, require

_RIGID = "simple with at least 4 nodes"


class Skeletons:
    """The skeletons' edges as the walks show them.

    An edge of a skeleton has a *key*: e for edge e of the graph, m + c for the virtual edge of SPQR node c to its parent, and
    m + k + c for its twin, which lies in the parent (k is the number of SPQR nodes).

    Attributes:
        begin, size: the rows of each walk.
        key, source, target: of each row, whose dart leads from source to target.
        once: of each key, the first row that has it.
        owner, node: each SPQR node with each node of its skeleton, ascending.
        pair: of each row, which of these its SPQR node and its source are.
        kappa: of each row, the order of the first visit of its source.
    """

    def __init__(self, t: Tables) -> None:
        self.t, owner, rows = t, t.walk_spqr, len(t.walk_node)
        self.size = np.bincount(owner, minlength=t.num_spqr)
        self.begin = np.cumsum(self.size) - self.size
        self.kind, self.is_set = t.spqr_type[owner], t.spqr_set[owner] > 0
        self.place = np.arange(rows) - self.begin[owner]
        self.paired = self.is_set | (self.kind == P) | (self.kind == Q)
        refuse(self.paired & (self.size % 2 == 1)[owner], lambda odd: f"the walk of {self.title(odd)} has an odd number of darts")
        self.following = np.arange(1, rows + 1)
        self.following[self.begin + self.size - 1] = self.begin
        reverse = np.arange(rows) + 1 - 2 * (self.place % 2)
        self._towards = np.where(self.paired, reverse, self.following)  # a row whose source is the target
        self.source, self.target = t.walk_node, t.walk_node[self._towards]
        self._read_keys()
        self._read_visits()

    def title(self, row: int) -> str:
        """The SPQR node of a row of the walks."""
        return self.t.title(self.t.walk_spqr[row])

    def where(self, row: int) -> str:
        return f"walk entry {row} of {self.title(row)}"

    def _read_keys(self) -> None:
        t, owner, m = self.t, self.t.walk_spqr, len(self.t.edges)
        virtual = np.flatnonzero(t.walk_other >= 0)
        other, c = t.walk_other[virtual], owner[virtual]
        up, down = t.spqr_parent[c] == other, t.spqr_parent[other] == c
        refuse(
            ~up & ~down,
            lambda i: f"{self.where(virtual[i])}: a virtual edge to {other[i]}, which is neither its parent nor its child",
        )
        self.key = t.walk_edge.copy()
        self.key[virtual] = np.where(up, m + c, m + t.num_spqr + other)
        keys = m + 2 * t.num_spqr
        self.once, last = np.full(keys, -1), np.full(keys, -1)
        self.once[self.key[::-1]] = np.arange(len(self.key))[::-1]
        last[self.key] = np.arange(len(self.key))
        times = np.bincount(self.key, minlength=keys)
        self.is_new = self.once[self.key] == np.arange(len(self.key))
        refuse(
            owner != owner[self.once[self.key]],
            lambda i: f"edge {t.walk_edge[i]} lies in {self.title(self.once[self.key[i]])} and {self.title(i)}",
        )
        expected = np.where((self.kind == S) & ~self.is_set, 1, 2)
        refuse(
            times[self.key] != expected, lambda i: f"{self.where(i)}: its edge has {times[self.key[i]]} darts, not {expected[i]}"
        )
        refuse(
            self.paired & (self.place % 2 == 1) & (self.key != np.roll(self.key, 1)),
            lambda i: f"walk entries {i - 1}, {i} of {self.title(i)} are not the two darts of one edge",
        )
        back = last[self.key]
        refuse(
            (times[self.key] == 2) & ((self.source != self.target[back]) | (self.target != self.source[back])) & self.is_new,
            lambda i: f"{self.where(i)}: its dart is not the reverse of entry {back[i]}",
        )
        refuse((self.source == self.target) & (self.kind != Q), lambda i: f"{self.where(i)}: a loop at node {self.source[i]}")
        real = np.flatnonzero(t.walk_edge >= 0)
        refuse(
            ~self.same_ends(real, t.edges[t.walk_edge[real]].T),
            lambda i: f"{self.where(real[i])}: the ends of edge {t.walk_edge[real[i]]} are not those in the graph",
        )

    def ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the darts of these rows, as rows of ``owner`` and ``node``: a node has a number in each skeleton."""
        return self.pair[rows], self.pair[self._towards[rows]]

    def same_ends(self, rows: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Whether the darts of these rows have these ends, in one direction or the other."""
        u, v = self.source[rows], self.target[rows]
        return ((u == ends[0]) & (v == ends[1])) | ((u == ends[1]) & (v == ends[0]))

    def _read_visits(self) -> None:
        """First visits, and with them kappa and the nodes of each skeleton."""
        t, owner = self.t, self.t.walk_spqr
        codes = owner * max(t.num_nodes, 1) + self.source
        order = np.argsort(codes, kind="stable")
        starts = np.ones(len(order), bool)
        starts[1:] = codes[order[1:]] != codes[order[:-1]]
        group = np.cumsum(starts) - 1
        earliest = order[starts]
        self.is_first = np.zeros(len(order), bool)
        self.is_first[earliest] = True
        visits = np.cumsum(self.is_first)
        before = visits[self.begin] - 1  # visits in the walks before
        self.kappa = np.empty(len(order), np.int64)
        self.kappa[order] = visits[earliest][group]
        self.kappa -= before[owner]
        self.pair = np.empty(len(order), np.int64)
        self.pair[order] = group
        self.owner, self.node = np.divmod(codes[earliest], max(t.num_nodes, 1))
        self.block_nodes = distinct(t.spqr_block[self.owner], self.node, t.num_nodes)  # blocks, and nodes of theirs
        self.num_nodes = np.bincount(self.owner, minlength=t.num_spqr)
        self.num_edges = np.bincount(owner[self.is_new], minlength=t.num_spqr)
        self.num_virtual = np.bincount(owner[self.is_new & (t.walk_other >= 0)], minlength=t.num_spqr)


def check_skeletons(s: Skeletons) -> None:
    t = s.t
    expected = np.where(s.is_set, 0, s.kappa)
    refuse(t.walk_kappa != expected, lambda i: f"{s.where(i)}: kappa is {expected[i]}, found {t.walk_kappa[i]}")
    expected = np.where(s.is_set, 0, np.where(s.kind == P, s.place // 2, s.place) + 1)
    refuse(t.walk_pos != expected, lambda i: f"{s.where(i)}: its position is {expected[i]}, found {t.walk_pos[i]}")
    refuse(
        (s.kind == P) & ~s.is_set & (s.place % 2 == 0) & (s.source != s.source[s.begin[t.walk_spqr]]),
        lambda i: f"{s.where(i)}: edges with different poles or directions",
    )
    _check_shapes_of_skeletons(s)
    _check_weinberg(s)


def _check_shapes_of_skeletons(s: Skeletons) -> None:
    t, nodes, edges = s.t, s.num_nodes, s.num_edges
    alone = (edges == 2) & (s.num_virtual == 0)  # a block of two parallel edges
    _require_shape(s, S, (edges == nodes) & (nodes >= 3), "a cycle of at least 3")
    bond = (nodes == 2) & ((edges >= 3) | alone | _are_neutral_roots(s))
    _require_shape(s, P, bond, "a bond of at least 3 edges")
    _require_shape(s, Q, (edges == 1) & (s.num_virtual == 0), "one real edge")
    _require_shape(s, R, nodes >= 4, _RIGID)
    for c in np.flatnonzero((t.spqr_type == S) & (t.spqr_set > 0)).tolist():
        _check_set_cycle(s, c)
    rows = np.flatnonzero((s.kind == R) & s.is_new)
    one, other = s.ends(rows)
    codes = distinct(np.minimum(one, other), np.maximum(one, other), len(s.node))[0]
    pairs = np.bincount(s.owner[codes], minlength=t.num_spqr)
    _require_shape(s, R, pairs == edges, _RIGID)


def _require_shape(s: Skeletons, kind: int, right: np.ndarray, what: str) -> None:
    def message(c: int) -> str:
        return f"{s.t.title(c)} with {s.num_nodes[c]} nodes and {s.num_edges[c]} edges is not {what}"

    refuse((s.t.spqr_type == kind) & ~right, message)


def _check_set_cycle(s: Skeletons, c: int) -> None:
    """A set of darts that is a cycle: all degrees 2, and connected."""
    pairs = _pairs(s, c)
    adjacency = adjacency_of(pairs)
    ok = all(len(near) == 2 for near in adjacency.values()) and len(reachable(adjacency, pairs[0][0])) == len(adjacency)
    require(ok, f"{s.t.title(c)} with {len(adjacency)} nodes and {len(pairs)} edges is not a cycle of at least 3")


def _pairs(s: Skeletons, c: int) -> list[tuple[int, int]]:
    """The ends of each edge of a skeleton."""
    rows = s.begin[c] + np.flatnonzero(s.is_new[s.begin[c] : s.begin[c] + s.size[c]])
    return list(zip(s.source[rows].tolist(), s.target[rows].tolist(), strict=True))


def _are_neutral_roots(s: Skeletons) -> np.ndarray:
    """Whether SPQR nodes only join two centres that look alike, as they or something below is encoded as a set.

    Such a root of a block whose SPQR tree is rooted in the middle of an edge between two R is a bond of just two virtual edges, itself
    a set.
    """
    t, roots = s.t, np.zeros(s.t.num_spqr, bool)
    for c in np.flatnonzero((t.spqr_type == P) & (t.spqr_set > 0) & (t.spqr_parent < 0) & (s.num_edges == 2)).tolist():
        children, below = np.flatnonzero(t.spqr_parent == c), t.spqr_block == t.spqr_block[c]
        roots[c] = (
            len(children) == 2
            and (t.spqr_type[children] == R).all()
            and t.spqr_level[children[0]] == t.spqr_level[children[1]]
            and (below & (t.spqr_set > 0) & (t.spqr_type == R)).any()
        )
    return roots


def _check_weinberg(s: Skeletons) -> None:
    """Weinberg's walk through R: each edge once in each direction, closed.

    After a dart that reaches a new node, or that comes back along an old edge, the walk goes on; after a dart along a new edge that
    reaches an old node, it turns back at once.
    """
    rows = np.flatnonzero((s.kind == R) & ~s.is_set)
    after = s.following[rows]
    closes = after < rows
    old_node = closes | ~s.is_first[after]
    turns_back = ~closes & (s.key[after] == s.key[rows])
    refuse(turns_back != (s.is_new[rows] & old_node), lambda i: f"{s.where(rows[i])} breaks Weinberg's rule")


def check_rigid(s: Skeletons) -> None:
    """Rigid skeletons are 3-connected: by their faces where they are planar, else one by one."""
    t = s.t
    plane = np.flatnonzero((s.kind == R) & ~s.is_set & s.is_new)
    # each node of each skeleton is a node of one graph
    weak = plane_weak_parts(np.stack(s.ends(plane), axis=1), t.walk_spqr[plane], t.num_spqr)
    apart = np.flatnonzero((t.spqr_type == R) & (t.spqr_set > 0))
    for c in [*weak, *apart.tolist()]:
        pair = find_weak_pair(_pairs(s, c))
        require(pair is None, f"{t.title(c)} is not 3-connected: see nodes {pair}")
