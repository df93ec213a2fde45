"""Connectivity by definition: reachability, and 3-connectivity through fans of disjoint paths."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Mapping, Sequence


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
