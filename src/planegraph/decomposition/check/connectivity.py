"""Connectivity by definition: reachability, and 3-connectivity through fans of disjoint paths, or from the faces of an embedding."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ... import _core


def adjacency_of(pairs: Iterable[tuple[int, int]], nodes: Iterable[int] = ()) -> dict[int, list[int]]:
    adjacency: dict[int, list[int]] = {v: [] for v in nodes}
    for u, v in pairs:
        adjacency.setdefault(u, []).append(v)
        adjacency.setdefault(v, []).append(u)
    return adjacency


def reachable(adjacency: Mapping[int, Iterable[int]], start: int) -> set[int]:
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
    adjacency = adjacency_of(pairs)
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


# ---- planar graphs ----------------------------------------------------------------------------------------------------------------

_AT_ONCE = 2**21  # paths of two edges that are looked at together


def plane_weak_parts(edges: np.ndarray, part: np.ndarray, parts: int) -> list[int]:
    """The parts of a simple graph that are not 3-connected, or that cannot be judged here.

    ``part`` says to which part each edge belongs; each is connected and has four nodes or more. Consider the *radial graph* of an
    embedding, which joins each node to the faces that it lies on. A part is biconnected if no face meets a node twice. If so, the nodes
    of a separation pair lie on two common faces, and make a cycle of four with them; so do the ends of each edge. A part is thus
    3-connected exactly if its radial graph is simple and has as many cycles of four as the part has edges. The embedding is taken from
    the core and verified: cyclic orders that satisfy Euler's formula.
    """
    if not len(edges):
        return []
    n = int(edges.max()) + 1
    edges = np.ascontiguousarray(edges, np.int64)
    after = _core.embed(n, edges)
    everything = np.unique(part).tolist()
    if after is None or _core.embedding_problem(n, edges, after)[0]:
        return everything
    face = _core.faces(n, edges, after)[2].astype(np.int64)
    node, faces = edges.reshape(-1), int(face.max()) + 1  # corners: the source of each dart, in the face on its left
    part_of = np.empty(n + faces, np.int64)
    part_of[node] = part_of[n + face] = np.repeat(part, 2)
    cycles = np.zeros(parts, np.int64)
    for top, count in _four_cycles(node, n + face, n + faces):
        cycles += np.bincount(part_of[top], count, parts).astype(np.int64)
    wrong = cycles != np.bincount(part, minlength=parts)
    corners = np.sort(node * faces + face)
    wrong[part_of[corners[1:][corners[1:] == corners[:-1]] // faces]] = True
    return np.flatnonzero(wrong).tolist()


def _four_cycles(a: np.ndarray, b: np.ndarray, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers of cycles of four in a bipartite graph of edges a-b, each by a node of the cycle (Chiba and Nishizeki, 1985).

    Each cycle is found at its node of the highest degree, as two paths of two edges to the same node. There are O(n) such paths in
    planar graphs.
    """
    degree = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    rank = np.empty(n, np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(n)
    codes = np.sort(rank[np.concatenate([a, b])] * n + rank[np.concatenate([b, a])])
    source, target = np.divmod(codes, n)
    begin = np.searchsorted(source, np.arange(n))
    node_at = np.argsort(rank)
    downhill = np.flatnonzero(target < source)
    top, middle = source[downhill], target[downhill]
    paths = np.searchsorted(codes, middle * n + top) - begin[middle]  # neighbours of the middle below the top
    ends = np.cumsum(paths)
    start = 0
    while start < len(top):
        last = np.searchsorted(ends, (ends[start - 1] if start else 0) + _AT_ONCE)
        stop = int(np.searchsorted(top, top[min(last, len(top) - 1)], side="right"))  # all paths of a top together
        count = paths[start:stop]
        at = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        bottom = target[np.repeat(begin[middle[start:stop]], count) + at]
        pairs, times = np.unique(np.repeat(top[start:stop], count) * n + bottom, return_counts=True)
        yield node_at[pairs // n], times * (times - 1) // 2
        start = stop
