"""A naive decomposition in plain Python, to compare with: blocks from networkx, SPQR trees by trying every pair of nodes.

It splits at separation pairs until nothing splits, then merges neighbouring cycles and bonds. The tables it returns keep every promise
of docs/design.md but one: of equally shaped walks it takes any, so they are right but not canonical. Cost: about O(n^2) per split.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import networkx as nx
from plain import Plain

Edge = tuple[int, int, tuple[str, int]]  # poles and ("real", e) or ("virtual", k)


def spqr_components(edges: list[Edge], faults: frozenset[str] = frozenset()) -> list[tuple[str, list[Edge]]]:
    """The skeletons of a biconnected graph. A virtual edge appears in two of them under the same number."""
    if "unsplit" in faults:
        return [("R", edges)]
    tags = iter(range(10**9))
    todo, done = [edges], []
    while todo:
        part = todo.pop()
        half = _half(part)
        if half is None:
            done.append((_kind(part), part))
            continue
        (a, b), inside = half
        virtual = ("virtual", next(tags))
        rest = [e for e in part if e not in inside]
        todo += [[*inside, (a, b, virtual)], [*rest, (a, b, virtual)]]
    return done if "unmerged" in faults else _merge(done)


def _kind(part: list[Edge]) -> str:
    degree = Counter(v for u, w, _ in part for v in (u, w))
    if len(degree) == 2:
        return "P"
    return "S" if set(degree.values()) == {2} else "R"


def _half(part: list[Edge]) -> tuple[tuple[int, int], list[Edge]] | None:
    """One side of a separation pair, or None for a cycle of 3 edges, a bond of 3 edges, or a 3-connected graph."""
    if len(part) <= 3:
        return None
    graph = nx.Graph([(u, v) for u, v, _ in part])
    bundles = defaultdict(list)
    for e in part:
        bundles[frozenset(e[:2])].append(e)
    for pair, bundle in bundles.items():
        if 2 <= len(bundle) < len(part) - 1 or (len(bundle) == len(part) and len(part) > 3):
            return tuple(sorted(pair)), bundle[:2] if len(bundle) == len(part) else bundle
    for a in sorted(graph):
        rest = graph.subgraph(set(graph) - {a})
        for b in nx.articulation_points(rest):
            side = next(iter(nx.connected_components(graph.subgraph(set(graph) - {a, b}))))
            inside = [e for e in part if e[0] in side or e[1] in side]
            if 2 <= len(inside) <= len(part) - 2:
                return (a, b), inside
    return None


def _merge(done: list[tuple[str, list[Edge]]]) -> list[tuple[str, list[Edge]]]:
    parts = dict(enumerate(done))
    holders = defaultdict(set)
    for i, (_, part) in parts.items():
        for _, _, (kind, k) in part:
            if kind == "virtual":
                holders[k].add(i)
    for k in list(holders):
        i, j = sorted(holders[k])
        kind = parts[i][0]
        if kind == parts[j][0] and kind in "SP":
            edges = [e for x in (i, j) for e in parts[x][1] if e[2] != ("virtual", k)]
            parts[i] = (kind, edges)
            for _, _, (name, tag) in parts.pop(j)[1]:
                if name == "virtual" and tag != k:
                    holders[tag] = {i if x == j else x for x in holders[tag]}
    return list(parts.values())


FAULTS = ("unsplit", "unmerged", "off centre", "block tree off centre", "wrong direction", "wrong start", "joined blocks")


def tables(g: Plain, *, flip_roots: bool = False, faults: Iterable[str] = ()) -> dict[str, list[int]]:
    """Valid tables for ``g``, in the layout of ``cpp/planegraph/tables/schema.hpp``; or with one of ``FAULTS``, to test a checker."""
    assert set(faults) <= set(FAULTS)
    return _Writer(g, flip_roots, frozenset(faults)).run()


class _Writer:
    def __init__(self, g: Plain, flip_roots: bool, faults: frozenset[str]) -> None:
        self.g = g
        self.faults = faults
        self.flip_roots = flip_roots
        self.out: dict[str, list[int]] = defaultdict(list)

    def run(self) -> dict[str, list[int]]:
        g, out = self.g, self.out
        graph = nx.Graph()
        graph.add_nodes_from(range(g.n))
        graph.add_edges_from((u, v, {"id": e}) for e, (u, v) in enumerate(g.edges))
        component = {v: k for k, nodes in enumerate(nx.connected_components(graph)) for v in nodes}
        out["node_component"] = [component[v] for v in range(g.n)]
        out["labelling"] = list(range(g.n))
        blocks = [[graph.edges[e]["id"] for e in part] for part in nx.biconnected_component_edges(graph)]
        if "joined blocks" in self.faults:
            blocks = [blocks[0] + blocks[1], *blocks[2:]]
        self.write_block_cut_tree(blocks)
        for b, block in enumerate(blocks):
            self.write_block(b, block)
        for name in (
            *("walk_node", "walk_edge", "walk_other", "walk_kappa", "walk_pos", "walk_spqr"),
            *("spqr_type", "spqr_set", "spqr_parent", "spqr_theta", "spqr_level", "spqr_block", "block_root"),
            *("node_spqr_node", "node_spqr_spqr", "node_block_node", "node_block_block"),
        ):
            out.setdefault(name, [])
        return dict(out)

    def write_block_cut_tree(self, blocks: list[list[int]]) -> None:
        out = self.out
        nodes = [sorted({v for e in block for v in self.g.edges[e]}) for block in blocks]
        counts = Counter(v for block in nodes for v in block)
        cuts = sorted(v for v, count in counts.items() if count > 1)
        tree = nx.Graph()
        tree.add_nodes_from(("block", b) for b in range(len(blocks)))
        tree.add_edges_from((("block", b), ("cut", v)) for b, block in enumerate(nodes) for v in block if counts[v] > 1)
        parent, level = {}, {}
        for part in nx.connected_components(tree):
            roots = min(part), min(nx.center(tree.subgraph(part)))
            _root_tree(tree.subgraph(part), roots["block tree off centre" not in self.faults], parent, level)
        row = {("cut", v): i for i, v in enumerate(cuts)} | {("block", b): b for b in range(len(blocks))}
        row[None] = -1
        out["block_level"] = [level["block", b] for b in range(len(blocks))]
        out["block_parent_cut"] = [row[parent["block", b]] for b in range(len(blocks))]
        out["cut_node"] = cuts
        out["cut_level"] = [level["cut", v] for v in cuts]
        out["cut_parent_block"] = [row[parent["cut", v]] for v in cuts]
        for b, block in enumerate(nodes):
            out["node_block_node"] += block
            out["node_block_block"] += [b] * len(block)

    def write_block(self, b: int, block: list[int]) -> None:
        out, base = self.out, len(self.out["spqr_type"])
        edges = [(*self.g.edges[e], ("real", e)) for e in block]
        parts = spqr_components(edges, self.faults) if len(edges) > 1 else [("Q", edges)]
        holders = defaultdict(list)
        for i, (_, part) in enumerate(parts):
            for _, _, (kind, k) in part:
                if kind == "virtual":
                    holders[k].append(i)
        tree = nx.Graph()
        tree.add_nodes_from(range(len(parts)))
        tree.add_edges_from(holders.values())
        centres = sorted(nx.center(tree) if "off centre" not in self.faults else nx.periphery(tree)[:1])
        root = centres[-1] if self.flip_roots else centres[0]
        parent, level = {}, {}
        _root_tree(tree, root, parent, level)
        out["block_root"].append(base + root)
        named = [(kind, [(u, v, self._rename(x, i, holders)) for u, v, x in part]) for i, (kind, part) in enumerate(parts)]
        walks = {}
        start = None if len(centres) == 1 else ("virtual", next(c for c in centres if c != root))
        for i in nx.dfs_preorder_nodes(tree, root):
            if parent[i] is not None:
                pos, dart = next((p, d) for p, d in _positions(walks[parent[i]]) if d[2] == ("virtual", i))
                start = (*dart[:2], ("virtual", parent[i]))
                if "wrong direction" in self.faults:
                    start = _reverse(start)
                if "wrong start" in self.faults:
                    start = next(e for e in named[i][1] if e[2] != start[2])
                theta = pos
            else:
                theta = 0
            walks[i] = _walk(*named[i], start)
            parts[i] = (*parts[i], theta)
        for i, (kind, _, theta) in enumerate(parts):
            out["spqr_type"].append("SPQR".index(kind))
            out["spqr_set"].append(int(walks[i][0] == "set"))
            out["spqr_parent"].append(-1 if parent[i] is None else base + parent[i])
            out["spqr_theta"].append(theta)
            out["spqr_level"].append(level[i])
            out["spqr_block"].append(b)
            self.write_walk(base, i, walks[i])

    @staticmethod
    def _rename(edge: tuple[str, int], i: int, holders: dict[int, list[int]]) -> tuple[str, int]:
        kind, k = edge
        return edge if kind == "real" else ("virtual", next(j for j in holders[k] if j != i))

    def write_walk(self, base: int, i: int, walk: tuple[str, list[Edge]]) -> None:
        out = self.out
        kappa: dict[int, int] = {}
        for pos, (u, _, (kind, k)) in _positions(walk):
            out["walk_node"].append(u)
            out["walk_edge"].append(k if kind == "real" else -1)
            out["walk_other"].append(base + k if kind == "virtual" else -1)
            out["walk_kappa"].append(kappa.setdefault(u, len(kappa) + 1) if walk[0] != "set" else 0)
            out["walk_pos"].append(pos)
            out["walk_spqr"].append(base + i)
        nodes = {u for u, _, _ in walk[1]}
        out["node_spqr_node"] += nodes
        out["node_spqr_spqr"] += [base + i] * len(nodes)


def _root_tree(tree: nx.Graph, root, parent: dict, level: dict) -> None:
    parent[root] = None
    order = list(nx.bfs_edges(tree, root))
    parent.update((w, v) for v, w in order)
    level.update((v, 0) for v in tree)
    for v, w in reversed(order):
        level[v] = max(level[v], level[w] + 1)


def _positions(walk: tuple[str, list[Edge]]) -> Iterator[tuple[int, Edge]]:
    kind, darts = walk
    for i, dart in enumerate(darts):
        yield {"set": 0, "P": i // 2 + 1}.get(kind, i + 1), dart


def _reverse(dart: Edge) -> Edge:
    return dart[1], dart[0], dart[2]


def _walk(kind: str, part: list[Edge], start) -> tuple[str, list[Edge]]:
    """Some walk of the right shape. ``start``: None, an edge, or a dart."""
    if start is None:
        start = part[0]
    elif len(start) == 2:
        start = next(e for e in part if e[2] == start)
    if kind in "PQ":
        others = [e if e[0] == start[0] else _reverse(e) for e in part if e[2] != start[2]]
        return kind, [dart for e in (start, *others) for dart in (e, _reverse(e))]
    if kind == "S":
        darts, left = [start], [e for e in part if e[2] != start[2]]
        while left:
            e = next(e for e in left if darts[-1][1] in e[:2])
            left.remove(e)
            darts.append(e if e[0] == darts[-1][1] else _reverse(e))
        return kind, darts
    planar, embedding = nx.check_planarity(nx.Graph([e[:2] for e in part]))
    if not planar:
        return "set", [dart for e in part for dart in (e, _reverse(e))]
    name = {frozenset(e[:2]): e[2] for e in part}
    nodes = weinberg(embedding, start[0], start[1])
    return kind, [(u, v, name[frozenset((u, v))]) for u, v in nodes]


def weinberg(embedding: nx.PlanarEmbedding, u: int, v: int, turn: str = "cw") -> list[tuple[int, int]]:
    """Weinberg's walk from dart u -> v: the darts in order. ``turn``: "cw" or "ccw", the mirror image."""
    darts, used, seen = [], set(), {u}
    while True:
        darts.append((u, v))
        used.add((u, v))
        if v in seen and (v, u) not in used:  # an old node by a new edge: turn back at once
            u, v = v, u
            continue
        seen.add(v)
        w = u
        for _ in range(len(embedding[v])):  # else the next edge whose dart from here is unused
            w = embedding[v][w][turn]
            if (v, w) not in used:
                break
        else:
            return darts
        u, v = v, w
