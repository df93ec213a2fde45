"""Many graphs, decomposed: flat tables plus features, nothing per graph in Python, nothing pickled.

A :class:`PackedDataset` is what the learning half of the package reads: the tables of tables.py, features of nodes and edges,
targets. Batches are made from graph ids by one call of the core (batch.py). Packing costs O(n log n) for all graphs together, on as
many threads as wanted; saving and memory-mapping are in format.py.

Labels: canonical walks break ties by labels, and these are all features by default, so that a model over the walks is invariant.
``fingerprint`` says which were used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..canonical.automorphisms import canonical_orbits
from ..decomposition.api import planar_mask
from ..errors import FormatError, InvalidGraphError
from ..graphs.batch import GraphBatch, rows_of
from ..graphs.graph import Graph
from ..graphs.labels import is_float
from ..io.text import counted
from .checks import check_tables
from .features import Features, as_features, as_targets, labelled
from .fingerprint import fingerprint
from .tables import PackedTables

if TYPE_CHECKING:
    from .batch import PlanarBatch
    from .format import PackedFile

OnNonplanar = Literal["raise", "set", "subgraph", "skip"]
_EXACT = 2**24  # float32 counts up to here


class PackedDataset:
    """Decomposed graphs with features, ready to be batched.

    Made by :meth:`from_pyg`, :meth:`from_graphs`, :meth:`from_smiles`, :meth:`from_arrays` or :meth:`open`. All arrays are numpy:
    ``x`` (nodes, width), ``edge_attr`` (edges, width) or ``dart_attr`` (edges, 2, width) where directions differ, ``y`` (graphs, ...),
    ``attrs`` (more arrays with a row per graph), ``orbits`` (nodes,) of :meth:`with_orbits`. Integers are int32 categories, floats float32
    or float64. ``file`` is where they were read, None for what was made in memory.

    >>> import planegraph as pg
    >>> ds = PackedDataset.from_graphs([pg.families.cycle(5), pg.families.wheel(4)], y=[0.5, 1.0])
    >>> ds
    PackedDataset(2 graphs, 10 nodes, 13 edges, y=float32 (2,))
    >>> len(ds.subset([1]))
    1
    """

    def __init__(
        self,
        tables: PackedTables,
        features: Features | None = None,
        *,
        node_labels: Sequence[str] = (),
        edge_labels: Sequence[str] = (),
        skipped: np.ndarray | None = None,
        file: PackedFile | None = None,
    ) -> None:
        self.tables, self.file = tables, file
        self.features = Features() if features is None else features
        self.node_labels, self.edge_labels = tuple(node_labels), tuple(edge_labels)
        self.skipped = np.empty(0, np.int64) if skipped is None else skipped
        self._check_features()

    # ---- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        batch: GraphBatch,
        x: Any = None,
        edge_attr: Any = None,
        y: Any = None,
        *,
        dart_attr: Any = None,
        attrs: Mapping[str, Any] | None = None,
        threads: int | None = None,
        on_nonplanar: OnNonplanar = "raise",
    ) -> PackedDataset:
        """Packs a batch of graphs; the fastest way, with nothing per graph in Python.

        Args:
            x: a row per node of the batch. Without it the batch's node labels are the features (float labels as float32).
            edge_attr, dart_attr: a row per edge, or per edge and direction (see :class:`planegraph.GraphBatch`); the latter are kept
                once per edge if no direction differs. Without either the batch's edge or dart labels are the features.
            y, attrs: a row per graph.
            threads: of the core; all by default.
            on_nonplanar: what to do with a graph that is not planar: "raise" :class:`NotPlanarError`, encode its rigid components
                that are not planar as a "set", decompose a maximal planar "subgraph" and keep its other edges as messages alone (see
                :func:`planegraph.planar_subgraph`; which edges these are depends on the order of nodes and edges), or "skip" the graph
                (see ``skipped``).

        Labels that the batch carries beside given features break ties too.

        >>> import planegraph as pg
        >>> b = pg.GraphBatch([0, 3, 5], [0, 3, 4], [(0, 1), (1, 2), (2, 0), (0, 1)])
        >>> PackedDataset.from_arrays(b, x=[0, 1, 1, 2, 0], y=[[1.0], [2.0]])
        PackedDataset(2 graphs, 5 nodes, 4 edges, x=int32 x 1, y=float32 (2, 1); labels x)
        """
        if not isinstance(batch, GraphBatch):
            raise InvalidGraphError(f"expected a planegraph.GraphBatch; found {type(batch).__name__}. Other graphs: from_graphs")
        features = _features_of(batch, x, edge_attr, dart_attr, y, attrs)
        given = edge_attr is not None or dart_attr is not None
        labels = batch.edge_labels if batch.dart_labels is None else batch.dart_labels
        nodes = _given(x=features.x, labels=None if x is None else batch.node_labels)
        edges = _given(edge_attr=features.edges, labels=labels if given else None)
        if x is None and not given and not is_float(batch.node_labels) and not is_float(labels):
            packed = batch  # its labels are the features, number for number
        else:
            packed = labelled(batch, nodes, edges)
        return cls._pack(packed, features, nodes, edges, threads, on_nonplanar)

    @classmethod
    def from_graphs(cls, graphs: Iterable[Graph] | GraphBatch, y: Any = None, **options: Any) -> PackedDataset:
        """Packs graphs; their labels are the features. Options as in :meth:`from_arrays`.

        >>> import planegraph as pg
        >>> PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[3, 5])]).x.tolist()
        [[3], [5]]
        """
        if isinstance(graphs, Graph):
            raise InvalidGraphError("from_graphs takes a list of graphs or a GraphBatch; found one Graph")
        batch = graphs if isinstance(graphs, GraphBatch) else GraphBatch.from_graphs(graphs)
        return cls.from_arrays(batch, y=y, **options)

    @classmethod
    def from_smiles(cls, smiles: Iterable[str], y: Any = None, *, stereo: bool = True, **options: Any) -> PackedDataset:
        """Packs molecules; needs RDKit. Options as in :meth:`from_arrays`.

        ``x`` and ``edge_attr`` are categories of a fixed vocabulary (vocabulary.py), so that a model can read any other molecule, too.
        Without ``stereo`` mirror images are equal.

        >>> PackedDataset.from_smiles(["CCO", "c1ccccc1[N+](=O)[O-]"], y=[1.0, 2.0])
        PackedDataset(2 graphs, 12 nodes, 11 edges, x=int32 x 6, edge_attr=int32 x 2, y=float32 (2,); labels x, edge_attr)
        """
        from ..graphs.formats.smiles import read_smiles

        return cls.from_arrays(read_smiles(smiles, stereo), y=y, **options)

    @classmethod
    def from_pyg(
        cls,
        graphs: Iterable[Any],
        threads: int | None = None,
        on_nonplanar: OnNonplanar = "raise",
        *,
        node_attrs: Sequence[str] = ("x",),
        edge_attrs: Sequence[str] = ("edge_attr",),
        y: str | None = "y",
        attrs: Sequence[str] = (),
    ) -> PackedDataset:
        """Packs PyG ``Data`` objects whose edges are there in both directions.

        ``x`` and ``edge_attr`` are the features; edge features that agree in both directions of every edge are kept once.

        Args:
            node_attrs, edge_attrs: the attributes that break ties, as far as they exist.
            y: the attribute with the targets; None for none.
            attrs: more attributes with one row (or a scalar) per graph.

        >>> from types import SimpleNamespace
        >>> data = SimpleNamespace(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3, x=[[1], [0], [1]], y=[0.5])
        >>> PackedDataset.from_pyg([data])
        PackedDataset(1 graph, 3 nodes, 2 edges, x=int32 x 1, y=float64 (1,); labels x)
        """
        from ..graphs.formats.pyg import as_names, read_pyg

        node_attrs, edge_attrs, attrs = as_names(node_attrs), as_names(edge_attrs), as_names(attrs)
        if hasattr(graphs, "to_dict"):
            raise InvalidGraphError(
                f"from_pyg takes a list of Data; found one {type(graphs).__name__} (batch.to_data_list() gives one)"
            )
        targets = attrs if y is None else (y, *attrs)
        g = read_pyg(list(graphs), ("x", *node_attrs), ("edge_attr", *edge_attrs), targets, as_rows=as_features)
        per_graph = {name: as_targets(values, len(g.batch), name) for name, values in g.graphs.items()}
        target = per_graph.pop(y, None) if y is not None else None
        features = Features(g.nodes.get("x"), g.edges.get("edge_attr"), target, per_graph)
        nodes = {name: g.nodes[name] for name in node_attrs if name in g.nodes}
        edges = {name: g.edges[name] for name in edge_attrs if name in g.edges}
        return cls._pack(labelled(g.batch, nodes, edges), features, nodes, edges, threads, on_nonplanar)

    @classmethod
    def _pack(
        cls,
        batch: GraphBatch,
        features: Features,
        node_labels: Iterable[str],
        edge_labels: Iterable[str],
        threads: int | None,
        on_nonplanar: OnNonplanar,
    ) -> PackedDataset:
        """Decomposes a batch whose labels are those of these names."""
        check_on_nonplanar(on_nonplanar)
        skipped = None
        if on_nonplanar == "skip":
            planar = planar_mask(batch)
            skipped = np.flatnonzero(~planar)
            if len(skipped):
                features = _select_features(features, batch, np.flatnonzero(planar))
                batch = batch[planar]
        tables = PackedTables.of(batch, threads, "raise" if on_nonplanar == "skip" else on_nonplanar)
        return cls(tables, features, node_labels=tuple(node_labels), edge_labels=tuple(edge_labels), skipped=skipped)

    # ---- using it -----------------------------------------------------------------------------------------------------

    @property
    def x(self) -> np.ndarray | None:
        """Node features (nodes, width), or None."""
        return self.features.x

    @property
    def edge_attr(self) -> np.ndarray | None:
        """Edge features (edges, width), or None."""
        return self.features.edge_attr

    @property
    def dart_attr(self) -> np.ndarray | None:
        """Edge features by direction (edges, 2, width), or None; ``[e, 0]`` goes from ``edges[e, 0]`` to ``edges[e, 1]``."""
        return self.features.dart_attr

    @property
    def y(self) -> np.ndarray | None:
        """Targets (graphs, ...), or None."""
        return self.features.y

    @property
    def attrs(self) -> Mapping[str, np.ndarray]:
        """More arrays with one row per graph."""
        return self.features.attrs

    @property
    def orbits(self) -> np.ndarray | None:
        """The orbit of each node (nodes,), or None; see :meth:`with_orbits`."""
        return self.features.orbits

    @property
    def fingerprint(self) -> str:
        """Format version and the labels that broke ties, as every batch carries it."""
        return fingerprint(self.node_labels, self.edge_labels)

    @property
    def nonplanar(self) -> np.ndarray:
        """Ids of the graphs that are not planar, encoded with ``on_nonplanar="set"`` or ``"subgraph"``."""
        t = self.tables
        marks = ((t.spqr_ptr, t.spqr_set), (t.edge_ptr, t.left_out()))
        return np.unique(np.concatenate([np.searchsorted(ptr, np.flatnonzero(marked), side="right") - 1 for ptr, marked in marks]))

    @property
    def counts(self) -> dict[str, int]:
        """How many graphs are here, how many of them are not planar, how many were skipped."""
        return {"graphs": len(self), "nonplanar": len(self.nonplanar), "skipped": len(self.skipped)}

    def __len__(self) -> int:
        return self.tables.num_graphs

    def __getitem__(self, ids: Any) -> PlanarBatch:
        """The batch of one graph, or of those that a slice, a list of ids or a boolean mask selects."""
        from .batch import collate

        return collate(self, self.resolve(ids), capacity=None)

    def subset(self, ids: Any) -> PackedDataset:
        """The dataset of the graphs that a slice, a list of ids or a mask selects, in that order; ``skipped`` is left behind."""
        which = self.resolve(ids)
        return PackedDataset(
            self.tables.select(which),
            _select_features(self.features, self.tables, which),
            node_labels=self.node_labels,
            edge_labels=self.edge_labels,
            file=self.file,
        )

    def with_y(self, y: Any) -> PackedDataset:
        """The same graphs with other targets, a row each; everything else is shared."""
        return self._with(y=as_targets(y, len(self), "y"))

    def with_attrs(self, **attrs: Any) -> PackedDataset:
        """The same graphs with more arrays that have a row for each graph."""
        return self._with(attrs={**self.attrs, **{name: as_targets(values, len(self), name) for name, values in attrs.items()}})

    def with_returns(self, steps: int, *, walks: bool = False) -> PackedDataset:
        """The same graphs with probabilities that a random walk is back after 1 to ``steps`` steps as further columns of ``x``, which are
        all floats then; see returns.py. A model reads them as :class:`planegraph.nn.Mixed` if the columns before were categories.

        With ``walks`` they also break ties in canonical walks, which are made anew: where labels alone leave a ring's beginning open, it is
        then a node that its surroundings tell apart.

        >>> import planegraph as pg
        >>> PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[3, 5])]).with_returns(2).x.tolist()
        [[3.0, 0.0, 8.0], [5.0, 0.0, 8.0]]
        """
        from .returns import SCALE, return_probabilities

        x = SCALE * return_probabilities(self.tables, steps)
        if self.x is not None:
            dtype = np.float64 if self.x.dtype == np.float64 or np.abs(self.x).max(initial=0) > _EXACT else np.float32
            x = np.concatenate([self.x, x], 1, dtype=dtype)
        if walks:
            return self._with_labels(x)
        # probabilities follow from the graph: walks that ignore them are as invariant as those that read them
        return self._with(x=x, node_labels=(*self.node_labels, "x") if self.x is None else None)

    def with_orbits(self) -> PackedDataset:
        """The same graphs with the orbits of their nodes, which models of ``level="node"`` average over; labels are respected.

        Two nodes are in one orbit if an automorphism that keeps all labels exchanges them. Orbits are numbered in canonical order, so that
        isomorphic graphs give corresponding nodes equal numbers. In a graph that is not planar, each node counts as an orbit, in the order
        of the input: there nodes that a symmetry exchanges may get different outputs. O(n log n).

        >>> import planegraph as pg
        >>> PackedDataset.from_graphs([pg.families.path(5), pg.Graph(2, [(0, 1)])]).with_orbits().orbits.tolist()
        [2, 1, 0, 1, 2, 0, 0]
        """
        if self.orbits is not None:
            return self
        batch = self._labelled(dict.fromkeys(self.node_labels, self.x), "orbits cannot be found")
        sizes, planar = np.diff(batch.node_ptr), np.ones(len(self), bool)
        planar[self.nonplanar] = False
        orbits = (np.arange(batch.num_nodes) - np.repeat(batch.node_ptr[:-1], sizes)).astype(np.int32)
        orbits[np.repeat(planar, sizes)] = canonical_orbits(batch if planar.all() else batch[planar])
        return self._with(orbits=orbits)

    def _with_labels(self, x: np.ndarray) -> PackedDataset:
        """The same graphs, packed with x as node features and labels."""
        nodes, edges = {"x": x}, dict.fromkeys(self.edge_labels, self.features.edges)
        batch, features = self._labelled(nodes, "walks cannot be made anew"), replace(self.features, x=x, orbits=None)
        return self._pack(batch, features, nodes, edges, None, "set" if len(self.nonplanar) else "raise")

    def _labelled(self, nodes: Mapping[str, np.ndarray], problem: str) -> GraphBatch:
        """The graphs with these labels of nodes and their own of edges; ``problem``: what cannot be done if they are not all here."""
        unknown = [name for name in (*self.node_labels, *self.edge_labels) if name not in ("x", "edge_attr")]
        if unknown:
            raise ValueError(f"{problem}: walks broke ties by {', '.join(unknown)}, which the dataset does not hold")
        self.verify()  # what is made of the tables no longer knows their file
        t, edges = self.tables, dict.fromkeys(self.edge_labels, self.features.edges)
        return labelled(GraphBatch(t.node_ptr, t.edge_ptr, t.edges), nodes, edges)

    def _with(self, node_labels: Sequence[str] | None = None, **features: Any) -> PackedDataset:
        labels = {"node_labels": self.node_labels if node_labels is None else node_labels, "edge_labels": self.edge_labels}
        return PackedDataset(self.tables, replace(self.features, **features), **labels, skipped=self.skipped, file=self.file)

    def resolve(self, ids: Any) -> np.ndarray:
        """Ids of graphs, int64, from an integer, a slice, a list of integers or a boolean mask; negative ones count from the end."""
        if isinstance(ids, slice):
            return np.arange(len(self))[ids]
        found = np.atleast_1d(ids.detach().cpu().numpy() if hasattr(ids, "detach") else np.asarray(ids))
        if found.size == 0:
            return np.empty(0, np.int64)
        if found.dtype == bool and found.shape == (len(self),):
            return np.flatnonzero(found)
        if found.dtype.kind not in "iu" or found.ndim != 1:
            raise IndexError(
                f"graphs are selected by an integer, a slice, a list of integers or a mask of length {len(self)}; "
                f"found dtype {found.dtype}, shape {found.shape}"
            )
        outside = (found < -len(self)) | (found >= len(self))
        if outside.any():
            raise IndexError(f"graph {found[outside][0]} of a dataset of {len(self)}")
        found = found.astype(np.int64)
        return np.where(found < 0, found + len(self), found)

    def check(self) -> None:
        """Verifies tables and features; raises :class:`FormatError` that says what is wrong and in which graph."""
        check_tables(self.tables)
        self._check_features()
        for name in ("x", "edge_attr", "dart_attr"):
            values = getattr(self.features, name)
            if values is not None and np.isnan(values).any():
                raise FormatError(f"{name} holds NaN")

    def _check_features(self) -> None:
        self.features.check(self.tables.node_ptr, self.tables.size("edge"))

    # ---- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Writes one safetensors file, and a readable manifest beside it; see :func:`planegraph.data.format.save`.

        What was opened with ``verify=False`` is verified first: FormatError if it is damaged.
        """
        from .format import save

        save(self, path)

    @classmethod
    def open(cls, path: str | PathLike[str], verify: bool = True, **options: str) -> PackedDataset:
        """Opens a file that :meth:`save` wrote, and maps a large one; options as in :func:`planegraph.data.format.open_packed`."""
        from .format import open_packed

        return open_packed(path, verify, **options)

    def verify(self) -> None:
        """Compares the checksums of the file that all this was read from, if that was not done yet; FormatError if it is damaged."""
        if self.file is not None:
            self.file.verify()

    def __getstate__(self) -> dict[str, Any]:
        """A mapped file is named instead of carried along: a worker process maps it, too. Arrays that are not the file's are carried."""
        from .format import arrays_of

        file = self.file
        if file is None:
            return self.__dict__
        if not file.can_be_mapped_again():
            file.verify()  # nobody can, once the arrays are on their own
            return {**self.__dict__, "file": None}
        arrays = {name: None if file.arrays.get(name) is values else values for name, values in arrays_of(self).items()}
        labels = {"node_labels": self.node_labels, "edge_labels": self.edge_labels}
        return {"file": file, "arrays": arrays, "attrs": list(self.attrs), "labels": labels}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from .format import features_of

        if "arrays" not in state:
            self.__dict__.update(state)
            return
        file = state["file"]
        arrays = {name: file.arrays[name] if values is None else values for name, values in state["arrays"].items()}
        tables, features = PackedTables(arrays), features_of(arrays, state["attrs"])
        PackedDataset.__init__(self, tables, features, **state["labels"], skipped=arrays["skipped"], file=file)

    def __repr__(self) -> str:
        size = self.tables.size
        parts = [counted(len(self), "graph"), counted(size("node"), "node"), counted(size("edge"), "edge")]
        for name in ("x", "edge_attr", "dart_attr"):
            values = getattr(self.features, name)
            if values is not None:
                parts.append(f"{name}={values.dtype} x {values.shape[-1]}")
        per_graph = self.attrs if self.y is None else {"y": self.y, **self.attrs}
        parts += [f"{name}={values.dtype} {values.shape}" for name, values in per_graph.items()]
        labels = ", ".join((*self.node_labels, *self.edge_labels))
        counts = self.counts
        notes = [f"labels {labels}"] if labels else []
        notes += [
            f"{counts[what]} {words}" for what, words in (("nonplanar", "not planar"), ("skipped", "skipped")) if counts[what]
        ]
        return f"PackedDataset({', '.join(parts)}{'; ' if notes else ''}{'; '.join(notes)})"


def check_on_nonplanar(choice: str) -> None:
    """Raises unless it is one of the ways to deal with graphs that are not planar."""
    if choice not in get_args(OnNonplanar):
        raise ValueError(f"on_nonplanar must be 'raise', 'set', 'subgraph' or 'skip'; found {choice!r}")


def _features_of(batch: GraphBatch, x: Any, edge_attr: Any, dart_attr: Any, y: Any, attrs: Mapping[str, Any] | None) -> Features:
    """The given features, or the labels of the batch where none are given."""
    if edge_attr is not None and dart_attr is not None:
        raise InvalidGraphError("give edge_attr (one row per edge) or dart_attr (one per direction), not both")
    if edge_attr is None and dart_attr is None:
        edge_attr, dart_attr = _single(batch.edge_labels), _single(batch.dart_labels)
    if x is None:
        x = _single(batch.node_labels)
    if dart_attr is None:
        edges = as_features(edge_attr, batch.edge_ptr, "edge_attr")
    else:
        edges = as_features(dart_attr, batch.edge_ptr, "dart_attr", (2,))
        if edges is not None and np.array_equal(edges[:, 0], edges[:, 1]):
            edges = np.ascontiguousarray(edges[:, 0])
    return Features(
        as_features(x, batch.node_ptr, "x"),
        edges,
        as_targets(y, len(batch), "y"),
        {name: as_targets(values, len(batch), name) for name, values in (attrs or {}).items()},
    )


def _single(labels: np.ndarray | None) -> np.ndarray | None:
    """A batch holds all float labels as float64; models read float32 unless told otherwise."""
    return labels if labels is None or labels.dtype.kind != "f" else labels.astype(np.float32)


def _given(**arrays: np.ndarray | None) -> dict[str, np.ndarray]:
    return {name: values for name, values in arrays.items() if values is not None}


def _select_features(features: Features, ptr: Any, ids: np.ndarray) -> Features:
    nodes, edges = (rows_of(offsets, ids)[0] for offsets in (ptr.node_ptr, ptr.edge_ptr))
    return features.select(nodes, edges, ids)
