"""Weinberg's code of a labelled map, in plain Python: the oracle for the refinement of dart classes.

A map is a list of edges and ``following[d]``, the next dart around the source of d. Dart 2e goes u -> v for edge e = (u, v), dart 2e + 1
back. State 2d is dart d in the map, state 2d + 1 the same dart in its mirror image. Two states are equivalent exactly when some
automorphism of the labelled map, orientation-preserving or not, takes one to the other, that is when their codes are equal.
"""

from __future__ import annotations


def weinberg_code(ends: list[int], following: list[int], node_colours, dart_colours, start: int) -> tuple[int, ...]:
    """The code of one start dart. ``ends[d]`` is the node that dart d leaves; ``following`` turns one way round each node.

    Weinberg's walk takes each dart once. Reaching a new node, or coming back along an old edge, it continues with the next dart whose turn
    has not come yet; reaching an old node along a new edge, it turns back at once. Each step notes the number of the node (by first
    visit), its colour, and the colours of the dart in both directions: all that there is to know.
    """
    number = {ends[start]: 0}
    used = bytearray(len(ends))
    code: list[int] = []
    dart = start
    while True:
        source = ends[dart]
        code += (number[source], node_colours[source], dart_colours[dart], dart_colours[dart ^ 1])
        used[dart] = 1
        target = ends[dart ^ 1]
        back = dart ^ 1
        if target in number and not used[back]:
            dart = back
            continue
        number.setdefault(target, len(number))
        dart = following[back]
        while used[dart]:
            if dart == back:
                return tuple(code)
            dart = following[dart]


def state_codes(edges, following, node_colours, dart_colours) -> list[tuple[int, ...]]:
    """The code of every state: dart d in the map at 2d, in its mirror image at 2d + 1."""
    ends = [v for edge in edges for v in edge]
    previous = [0] * len(ends)
    for d, after in enumerate(following):
        previous[after] = d
    codes = []
    for d in range(len(ends)):
        codes.append(weinberg_code(ends, following, node_colours, dart_colours, d))
        codes.append(weinberg_code(ends, previous, node_colours, dart_colours, d))
    return codes
