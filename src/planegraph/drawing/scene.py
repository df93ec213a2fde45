"""What a drawing shows, as plain data: a decomposition, points and labels, the canonical code, and the same under other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..canonical.automorphisms import automorphisms
from ..canonical.form import digest
from ..decomposition.api import decompose, run_graph
from ..decomposition.objects import Decomposition, SpqrNode
from ..decomposition.rows import checked_number
from ..errors import InvalidGraphError
from ..graphs.graph import Graph
from ..graphs.names import in_order
from ..io.text import counted
from ..planarity.positions import as_points
from .markup import shown
from .places import bends, graph_points, skeleton_points

LARGEST = 5000
"""Nodes that a drawing can have; of larger graphs one block is drawn."""

GENERATORS = 12
"""Of the symmetries, at most."""

RENUMBERINGS, _BUDGET = 8, 24_000  # at most, and the numbers that they may take together


@dataclass(frozen=True)
class Skeleton:
    """The picture of an SPQR node: points (from 0 to ``places.UNIT``), edges as (u, v, edge, other) with -1 for None, their bends,
    and the walk: the place in ``points`` of the node that each dart leaves, and the place in ``edges`` of its edge."""

    node: SpqrNode
    points: np.ndarray
    edges: list[tuple[int, int, int, int]]
    bends: list[int]
    walk: list[int]
    walk_edges: list[int]


@dataclass(frozen=True)
class Numbering:
    """The graph renumbered: ``new[v]`` is the number of node v; its code, labelling and walks are those of the renumbered graph."""

    new: np.ndarray
    digest: str
    labelling: np.ndarray
    walk: np.ndarray


@dataclass(frozen=True)
class Symmetries:
    """The automorphisms of the graph.

    Attributes:
        order: how many there are, as text.
        node_orbits, edge_orbits: of each node and edge the orbit.
        generators: some of the permutations that generate all: the nodes that move, and their images. Those that move most come first.
        total: how many generators there are.
    """

    order: str
    node_orbits: np.ndarray
    edge_orbits: np.ndarray
    generators: list[tuple[np.ndarray, np.ndarray]]
    total: int


@dataclass(frozen=True)
class Scene:
    """All that a drawing shows.

    Attributes:
        points: shape (n, 2), y downwards.
        labels: what stands at the nodes.
        lines: of each edge how many lines it is drawn with, None for one each: double bonds.
        notes: what a reader must know, such as that only a block is drawn.
    """

    title: str
    decomposition: Decomposition
    points: np.ndarray
    labels: list[str]
    lines: np.ndarray | None
    notes: list[str]
    code_bytes: int
    digest: str
    skeletons: list[Skeleton]
    numberings: list[Numbering]
    symmetries: Symmetries
    node_word: str

    @property
    def graph(self) -> Graph:
        return simple_graph(self.decomposition)


def simple_graph(d: Decomposition) -> Graph:
    """The graph of a decomposition; InvalidGraphError if it has loops or parallel edges, for which there is no drawing."""
    if isinstance(d.graph, Graph):
        return d.graph
    raise InvalidGraphError("drawings are of simple graphs; draw graph.simple(), without loops and parallel edges")


def make_scene(
    d: Decomposition,
    title: str | None = None,
    points: Any = None,
    labels: Any = None,
    lines: np.ndarray | None = None,
    block: int | None = None,
    node_word: str = "node",
) -> Scene:
    """Chooses the part to draw, and computes all that belongs to it; raises NotPlanarError for graphs that are not planar."""
    graph = simple_graph(d)
    names = graph.named(np.arange(graph.num_nodes)).tolist()
    if isinstance(labels, Mapping):
        labels = in_order(names, labels, "labels")
    labels = names if labels is None else list(labels)
    if len(labels) != graph.num_nodes:
        raise InvalidGraphError(f"labels must be a text for each of the {graph.num_nodes} nodes; found {len(labels)}")
    if points is not None:
        points = as_points(graph, points) * (1, -1)
    title = f"Graph with {counted(graph.num_nodes, 'node')}" if title is None else title
    notes: list[str] = []
    if block is not None or graph.num_nodes > LARGEST:
        nodes, edges, note = _part(d, block)
        notes.append(note)
        new = np.full(graph.num_nodes, -1)
        new[nodes] = np.arange(len(nodes))
        labels = [labels[v] for v in nodes.tolist()]
        points = None if points is None else points[nodes]
        lines = None if lines is None else lines[edges]
        d = decompose(_part_of(graph, nodes, edges, new))
    graph = simple_graph(d)
    out = run_graph(graph, walks=False, codes=True)
    return Scene(
        title=title,
        decomposition=d,
        points=graph_points(graph, d.components) if points is None else points,
        labels=[shown(label) for label in labels],
        lines=lines,
        notes=notes,
        code_bytes=len(out["code"]),
        digest=digest(out["code"].tobytes()),
        skeletons=[_skeleton(c) for c in d.spqr_nodes],
        numberings=_numberings(d),
        symmetries=_symmetries(graph),
        node_word=node_word,
    )


def _part(d: Decomposition, block: int | None) -> tuple[np.ndarray, np.ndarray, str]:
    """The nodes and edges of a block, ascending, and what to say about it."""
    a = d.arrays
    sizes = np.bincount(a["node_block_block"], minlength=len(a["block_root"]))
    total = f"{d.graph.num_nodes:,} nodes and {len(sizes):,} blocks"
    if block is not None:
        block = checked_number(block, len(sizes), "block")
        if sizes[block] > LARGEST:
            raise InvalidGraphError(f"block {block} has {sizes[block]:,} nodes; a drawing has at most {LARGEST:,}")
        chosen, why = block, "the one that was asked for"
    else:
        fit = np.flatnonzero(sizes <= LARGEST)
        if not len(fit):
            raise InvalidGraphError(
                f"the graph has {total}, none of which fits: a drawing has at most {LARGEST:,} nodes. Give it a part of the graph"
            )
        chosen = int(fit[np.argmax(sizes[fit])])
        why = "the largest" if len(fit) == len(sizes) else f"the largest of those with at most {LARGEST:,} nodes"
    nodes = np.sort(a["node_block_node"][a["node_block_block"] == chosen])
    walked = a["walk_edge"][(a["spqr_block"][a["walk_spqr"]] == chosen) & (a["walk_edge"] >= 0)]
    note = f"The graph has {total}. Drawn is block {chosen} alone, {why}: {sizes[chosen]:,} nodes."
    return nodes, np.unique(walked), note + " The code, the numbers of parts and the walks are those of this block as a graph."


def _part_of(graph: Graph, nodes: np.ndarray, edges: np.ndarray, new: np.ndarray) -> Graph:
    """The graph of these nodes and edges, with its labels; nodes keep what they are called."""

    def rows(values: np.ndarray | None, which: np.ndarray) -> np.ndarray | None:
        return None if values is None else values[which]

    return Graph(
        len(nodes),
        new[graph.edges[edges]],
        rows(graph.node_labels, nodes),
        rows(graph.edge_labels, edges),
        rows(graph.dart_labels, edges),
        graph.named(nodes),
    )


def _skeleton(c: SpqrNode) -> Skeleton:
    at = {v: i for i, v in enumerate(c.nodes)}
    edges = [(at[e.u], at[e.v], -1 if e.edge is None else e.edge, -1 if e.other is None else e.other) for e in c.edges]
    if c.type == "S":
        walk_edges = list(range(len(c.walk)))
    elif c.type == "R":
        between = {frozenset(e[:2]): k for k, e in enumerate(edges)}
        ends = zip(c.walk, (*c.walk[1:], c.walk[0]), strict=True)
        walk_edges = [between[frozenset((at[u], at[v]))] for u, v in ends]
    else:
        walk_edges = [i // 2 for i in range(len(c.walk))]
    return Skeleton(c, skeleton_points(c), edges, bends(c), [at[v] for v in c.walk], walk_edges)


def _numberings(d: Decomposition) -> list[Numbering]:
    """Random renumberings, each decomposed and canonised anew: what a page says of them is computed, not copied."""
    graph = simple_graph(d)
    size = 2 * graph.num_nodes + len(d.arrays["walk_node"])
    rng = np.random.default_rng(0)
    found = []
    for _ in range(int(np.clip(_BUDGET // max(size, 1), 1, RENUMBERINGS))):
        new = rng.permutation(graph.num_nodes)
        out = run_graph(graph.relabel(new), walks=True, codes=True)
        found.append(Numbering(new, digest(out["code"].tobytes()), out["labelling"], out["walk_node"]))
    return found


def _symmetries(graph: Graph) -> Symmetries:
    found = automorphisms(graph)
    many = found.generators
    shown_first = np.argsort(-np.diff(many.ptr), kind="stable")[:GENERATORS]
    moves = [(many.nodes[many.ptr[k] : many.ptr[k + 1]], many.images[many.ptr[k] : many.ptr[k + 1]]) for k in shown_first]
    order = f"{found.order:,}" if found.log10_order < 15 else f"about 10^{found.log10_order:.1f}"
    return Symmetries(order, found.node_orbits, found.edge_orbits, moves, len(many))


def as_data(scene: Scene) -> dict[str, Any]:
    """What the script of the page reads."""
    d, symmetries = scene.decomposition, scene.symmetries
    a = d.arrays
    return {
        "labels": scene.labels,
        "word": scene.node_word,
        "digest": scene.digest,
        "labelling": d.labelling.tolist(),
        "blocks": _groups(a["node_block_block"], a["node_block_node"], len(a["block_root"])),
        "cuts": a["cut_node"].tolist(),
        "spqr": [_row(s) for s in scene.skeletons],
        "numberings": [
            {"new": k.new.tolist(), "digest": k.digest, "labelling": k.labelling.tolist(), "walk": k.walk.tolist()}
            for k in scene.numberings
        ],
        "symmetries": {
            "order": symmetries.order,
            "nodes": symmetries.node_orbits.tolist(),
            "edges": symmetries.edge_orbits.tolist(),
            "generators": [[moved.tolist(), images.tolist()] for moved, images in symmetries.generators],
            "total": symmetries.total,
        },
    }


def _row(s: Skeleton) -> list[Any]:
    """In the order in which the script names them. Kappa of a dart is the place of its node in ``nodes``, from 1."""
    c = s.node
    plain = c.positions == tuple(range(1, len(c.walk) + 1))
    return [
        c.type,
        c.block,
        -1 if c.parent is None else c.parent,
        c.theta,
        c.nodes,
        s.points.ravel().tolist(),
        [x for e in s.edges for x in e],
        s.bends,
        s.walk,
        s.walk_edges,
        0 if plain else c.positions,
    ]


def _groups(group: np.ndarray, values: np.ndarray, count: int) -> list[list[int]]:
    order = np.lexsort((values, group))
    return [part.tolist() for part in np.split(values[order], np.searchsorted(group[order], np.arange(1, count)))] if count else []
