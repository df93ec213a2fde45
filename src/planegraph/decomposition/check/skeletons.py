"""Each skeleton read back from its walk: shape, positions, kappa and Weinberg's rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .connectivity import adjacency_of, find_weak_pair, reachable
from .tables import Lists, P, Q, R, S, Skeleton, require, title


def read_skeletons(t: Lists) -> list[Skeleton]:
    skeletons = [Skeleton() for _ in t.spqr_type]
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
                require(
                    sorted(ends) == sorted(t.edges[e]),
                    f"{title(t, c)} has edge {e} between {ends}, the graph between {t.edges[e]}",
                )
    return skeletons


def _add_dart(t: Lists, c: int, skeleton: Skeleton, i: int, target: int) -> bool:
    """Record the dart of entry ``i``; return whether its edge is new."""
    edge, source = t.edge_of(i), t.walk_node[i]
    new = edge not in skeleton.ends
    if new:
        skeleton.ends[edge] = (source, target)
        skeleton.first[edge] = i
    else:
        require(
            skeleton.ends[edge] == (target, source),
            f"walk entry {i} of {title(t, c)}: dart {source}->{target} of {edge} is not the reverse of {skeleton.ends[edge]}",
        )
    require(source != target, f"walk entry {i} of {title(t, c)}: a loop at node {source}")
    return new


def _check_positions(t: Lists, c: int, skeleton: Skeleton, expected: Iterable[int]) -> None:
    found = t.walk_pos[skeleton.begin : skeleton.end]
    require(found == list(expected), f"positions in the walk of {title(t, c)}: found {found[:12]}")


def _check_kappa(t: Lists, c: int, skeleton: Skeleton) -> None:
    """kappa is the order of first visit, from 1."""
    kappa: dict[int, int] = {}
    for i in range(skeleton.begin, skeleton.end):
        expected = kappa.setdefault(t.walk_node[i], len(kappa) + 1)
        require(
            t.walk_kappa[i] == expected,
            f"walk entry {i} of {title(t, c)}: kappa of node {t.walk_node[i]} is {expected}, found {t.walk_kappa[i]}",
        )


def _read_cycle(t: Lists, c: int, skeleton: Skeleton) -> None:
    """S: once round the cycle."""
    begin, end = skeleton.begin, skeleton.end
    for i in range(begin, end):
        new = _add_dart(t, c, skeleton, i, t.walk_node[i + 1 if i + 1 < end else begin])
        require(new, f"walk entry {i} of {title(t, c)}: {t.edge_of(i)} appears twice in a cycle")
    _check_positions(t, c, skeleton, range(1, end - begin + 1))


def _read_pairs(t: Lists, c: int, skeleton: Skeleton) -> None:
    """Darts in consecutive pairs: a dart and its reverse."""
    require((skeleton.end - skeleton.begin) % 2 == 0, f"the walk of {title(t, c)} has an odd number of darts")
    for i in range(skeleton.begin, skeleton.end, 2):
        u, v = t.walk_node[i : i + 2]
        new = _add_dart(t, c, skeleton, i, v)
        _add_dart(t, c, skeleton, i + 1, u)
        require(
            new and t.edge_of(i) == t.edge_of(i + 1),
            f"walk entries {i}, {i + 1} of {title(t, c)} are not the two darts of one edge",
        )


def _read_bond(t: Lists, c: int, skeleton: Skeleton) -> None:
    """P: both darts of each parallel edge, at the edge's position, always from the same pole."""
    _read_pairs(t, c, skeleton)
    poles = set(skeleton.ends.values())
    require(len(poles) == 1, f"{title(t, c)}: edges with different poles or directions: {sorted(poles)}")
    _check_positions(t, c, skeleton, (j // 2 + 1 for j in range(skeleton.end - skeleton.begin)))


def _read_single(t: Lists, c: int, skeleton: Skeleton) -> None:
    """Q: both darts of its edge."""
    _read_pairs(t, c, skeleton)
    _check_positions(t, c, skeleton, range(1, skeleton.end - skeleton.begin + 1))


def _read_set(t: Lists, c: int, skeleton: Skeleton) -> None:
    """A plain multiset of darts: no order, so no kappa and no positions."""
    _read_pairs(t, c, skeleton)
    rows = slice(skeleton.begin, skeleton.end)
    require(not any(t.walk_kappa[rows]), f"{title(t, c)} is a plain set but has a kappa that is not 0")
    require(not any(t.walk_pos[rows]), f"{title(t, c)} is a plain set but has a position that is not 0")


def _read_rigid(t: Lists, c: int, skeleton: Skeleton) -> None:
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
        require(
            turns_back == must_turn,
            f"walk entry {i} of {title(t, c)} breaks Weinberg's rule: reaches {'an old' if target in visited else 'a new'} node by "
            f"{'a new' if edge_is_new else 'an old'} edge and {'turns back' if turns_back else 'goes on'}",
        )
        visited.add(target)
    for edge, times in count.items():
        require(times == 2, f"the walk of {title(t, c)} takes {edge} {times} times, not twice")
    _check_positions(t, c, skeleton, range(1, end - begin + 1))


def _check_shape_of_skeleton(t: Lists, c: int, skeleton: Skeleton) -> None:
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
    require(ok, f"{title(t, c)} with {nodes} nodes and {edges} edges is not {wanted}: {list(skeleton.ends.items())[:12]}")


def _is_neutral_root(t: Lists, c: int, skeleton: Skeleton) -> bool:
    """Whether ``c`` only joins two centres that could not be distinguished, as they or something below is encoded as a set.

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
    adjacency = adjacency_of(pairs)
    start = next(iter(adjacency))
    return len(reachable(adjacency, start)) == len(adjacency)


def check_rigid(c: int, skeleton: Skeleton) -> None:
    pair = find_weak_pair(skeleton.ends.values())
    require(pair is None, f"SPQR node {c} (R) is not 3-connected: see nodes {pair}")
