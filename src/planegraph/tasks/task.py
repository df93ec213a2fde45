"""The seam between datasets and training: packed graphs, who is trained on and tested, and how an answer is judged. Plain data only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, astuple, dataclass, replace
from functools import cached_property
from hashlib import sha256
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np

from ..data.packed import PackedDataset
from ..data.sizes import Features
from ..errors import PlanegraphError
from .checks import check_features, check_measure, check_scale, check_targets, check_weights
from .splits import checked_split, part_title, shared_graphs

Split = Mapping[str, np.ndarray]


class Part(NamedTuple):
    """A part of a split: its title for messages, its name, and the ids of its graphs or nodes."""

    title: str
    name: str
    ids: np.ndarray


@dataclass(frozen=True)
class Task:
    """A dataset with its splits and its measure. What does not fit together is refused at once, with :class:`PlanegraphError`.

    Args:
        name: of the task, for files and messages.
        dataset: the graphs; ``y`` is (G, outputs) numbers, float32 as a rule, or (G,) if there is one; of "multiclass" (G,) integers
            from 0 to outputs - 1. In the parts of the split it must be finite, of "binary" 0 or 1. ``attrs["sample_weight"]``, if there,
            multiplies the loss of each training graph; validation and test do not read it.
        node_y: None, or the targets of the nodes of all graphs, graph after graph, in place of ``y``: the model then has an output for
            each node (``level`` is "node"), and parts of splits are nodes. Training reads the graphs that hold training nodes, as a
            whole; only the targets of the part count.
        splits: ids of the graphs (or nodes) in "train", "val" and "test", or masks with an entry for each; or ``folds``: a list of such
            splits, for cross-validation. Both are kept as ids; those of nodes ascending.
        node_features, edge_features: what the columns of ``x`` and ``edge_attr`` hold (data/sizes.py), or None.
        kind: what is predicted. loss: what is trained on. metric: what is reported. Which go together is in checks.py.
        outputs: width of the model's output. output: what is applied to it.
        scale: the metric is divided by this before it is reported; a factor, or one for each target.
        targets: None, or the names of the columns of y if each is to have its own model; ``outputs`` is that of one of them.
        names: of the outputs, for people; None: they are numbered.
        units: None, or (center, spread) of each output: ``y`` is (value - center) / spread, and figures are given for the values.
        seen: None, or the categories of each column of "x" and "edge_attr" that occur in training: others keep embeddings of 0.
        missing: whether NaN in ``y`` means that a value was not measured: it adds nothing to loss and metric.
        notes: what a reader of the results should know.
        checked: everything is that of a task that was checked, and is not read again.

    >>> import planegraph as pg
    >>> ds = PackedDataset.from_graphs([pg.families.cycle(n) for n in (3, 4, 5)], y=[[0.0], [1.0], [2.0]])
    >>> Task("rings", ds, {"train": np.array([0]), "val": np.array([1]), "test": np.array([2])}).metric
    'mae'
    """

    name: str
    dataset: PackedDataset
    splits: Split | None = None
    folds: Sequence[Split] | None = None
    node_features: Features = None
    edge_features: Features = None
    kind: Literal["regression", "binary", "multiclass"] = "regression"
    loss: Literal["l1", "mse", "rmse", "bce", "ce"] = "l1"
    metric: str = "mae"
    outputs: int = 1
    output: Literal["identity", "sigmoid"] = "identity"
    scale: float | tuple[float, ...] | None = None
    notes: str = ""
    targets: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    units: tuple[tuple[float, float], ...] | None = None
    missing: bool = False
    seen: Mapping[str, Sequence[Sequence[int]]] | None = None
    node_y: np.ndarray | None = None
    checked: InitVar[bool] = False

    # ---- your own data ------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_csv(cls, path: str | PathLike[str], **options: Any) -> Task:
        """A table of molecules: CSV, TSV, Parquet, SDF or SMILES. Options: :class:`~planegraph.tasks.molecules.task.MoleculeOptions`.

        It is the task alone. ``read_molecule_task`` gives it together with the rows that were skipped and with what
        ``planegraph predict`` needs, which :func:`planegraph.train.molecules.train_molecules` writes into the run's folder.

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        ...     _ = file.write("smiles,length\\n" + "".join(f"{'C' * n}O,{n}\\n" for n in range(1, 21)))
        ...     file.flush()
        ...     task = Task.from_csv(file.name, targets="length", descriptors=False)
        >>> task.kind, len(task.splits["train"]), task.units[0][0]
        ('regression', 16, 10.4375)
        """
        from .molecules.task import MoleculeOptions, read_molecule_task

        return read_molecule_task(path, MoleculeOptions(**options)).task

    @classmethod
    def from_packed(cls, data: PackedDataset | str | PathLike[str], **options: Any) -> Task:
        """A packed dataset with ``y``, or the file that :meth:`PackedDataset.save` wrote.

        Numbers are standardised for training, and figures are in the units of ``y``. NaN in ``y`` means that a value was not measured.

        Args:
            name: of the task; by default that of the file, or "graphs".
            kind: "regression", "binary" or "multiclass" (classes 0, 1, 2, ...); by default what ``y`` looks like: see
                :func:`~planegraph.tasks.sources.guess_kind`.
            metric: chooses the epoch and is reported; by default rmse, rocauc or accuracy.
            split: "random" (80 % train, 10 % val, 10 % test); ids or masks by "train", "val" and "test"; a list of such splits, for
                cross-validation; or "column:NAME" for an array of ``attrs`` with 0 (train), 1 (val) or 2 (test) for each graph.
            folds: so many random splits, each graph tested once. seed: of the random split.
            names: of the columns of ``y``: the result then has all metrics of each.

        >>> import planegraph as pg
        >>> rings = PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 23)], y=np.arange(3.0, 23.0))
        >>> task = Task.from_packed(rings, name="rings", seed=1)
        >>> task.kind, task.metric, len(task.splits["test"]), task.units[0][0]
        ('regression', 'rmse', 2, 11.625)
        """
        from .sources import from_packed

        return from_packed(data, **options)

    @classmethod
    def from_pyg(cls, graphs: Iterable[Any], **options: Any) -> Task:
        """A PyG dataset, or a list of ``Data`` with edges in both directions: features are ``x`` and ``edge_attr``, integers categories.

        Args:
            y: the attribute with the targets of a graph, or of its nodes; "y" by default.
            level: "graph", or "node" for a target for each node. The split is then as in :meth:`from_nodes`, and by default that of
                ``train_mask``, ``val_mask`` and ``test_mask``, if the graphs have them.
            options: as in :meth:`from_packed`; "column:NAME" is an attribute of each graph here.

        >>> from types import SimpleNamespace
        >>> paths = [[*range(n)] for n in range(2, 22)]
        >>> graphs = [SimpleNamespace(num_nodes=len(p), edge_index=[p[1:] + p[:-1], p[:-1] + p[1:]], y=len(p) / 2) for p in paths]
        >>> Task.from_pyg(graphs, metric="mae").kind
        'regression'
        """
        from .sources import from_pyg

        return from_pyg(graphs, **options)

    @classmethod
    def from_graphs(cls, graphs: Iterable[Any], y: Any, **options: Any) -> Task:
        """Planegraph's or networkx's graphs, and a target or a row of targets for each.

        Labels of a :class:`planegraph.Graph` are its features.

        Args:
            node_attrs, edge_attrs: the attributes of networkx graphs that are features, a name or several.
            options: as in :meth:`from_packed`.

        >>> import planegraph as pg
        >>> Task.from_graphs([pg.families.cycle(3 + n % 2) for n in range(99)], [n % 2 for n in range(99)]).metric
        'rocauc'
        """
        from .sources import from_graphs

        return from_graphs(graphs, y, **options)

    @classmethod
    def from_nodes(cls, graphs: Any, y: Any, **options: Any) -> Task:
        """A target, or a row of targets, for each node of one graph or of several; the model gets an output for each node.

        Args:
            graphs: a packed dataset; or one graph, or a list of graphs, of planegraph or networkx, whose labels are the features.
            y: the targets of all nodes, graph after graph, in the order of the nodes; for one networkx graph also a mapping by node; or
                the name of the attribute of networkx nodes that holds them. NaN: not measured.
            node_attrs, edge_attrs: the attributes of networkx graphs that are features, a name or several.
            split: "random" (80 % of the nodes train, 10 % val, 10 % test), "graphs" (the same of whole graphs), node ids or masks by
                "train", "val" and "test", or a list of such splits. Nodes are numbered over all graphs.
            options: name, kind, metric, folds, seed and names as in :meth:`from_packed`.

        >>> import planegraph as pg
        >>> grid = pg.families.grid(8, 8)
        >>> task = Task.from_nodes(grid, np.bincount(grid.edges.ravel()) < 4, name="border")
        >>> task.level, task.kind, len(task.splits["train"])
        ('node', 'binary', 52)
        """
        from .sources import from_nodes

        return from_nodes(graphs, y, **options)

    def __post_init__(self, checked: bool) -> None:
        if checked:
            return
        try:
            self._check()
        except PlanegraphError:
            self.dataset.verify()  # where the file is damaged, that is what is wrong
            raise

    def _check(self) -> None:
        check_measure(self)
        self._keep_ids()
        check_features(self.name, self.dataset, self.node_features, self.edge_features)
        check_targets(self)
        check_weights(self)
        check_scale(self)

    def _keep_ids(self) -> None:
        """Splits and folds become ids, whatever they were given as."""
        if self.splits is not None and self.folds is not None:
            raise PlanegraphError(f"task {self.name}: give splits or folds, not both")
        if self.splits is not None:
            object.__setattr__(self, "splits", self._checked(self.splits))
        elif self.folds is not None:
            folds = [self._checked(split, fold) for fold, split in enumerate(self.folds)]
            if not folds:
                raise PlanegraphError(f"task {self.name}: folds must be a list of splits; found none")
            object.__setattr__(self, "folds", folds)

    def _checked(self, split: Any, fold: int | None = None) -> dict[str, np.ndarray]:
        found = checked_split(self.name, split, self.size, fold, self.level)
        return found if self.level == "graph" else {part: np.unique(ids) for part, ids in found.items()}

    @property
    def level(self) -> Literal["graph", "node"]:
        """What has targets."""
        return "graph" if self.node_y is None else "node"

    @property
    def y(self) -> np.ndarray | None:
        """The targets: a row for each graph, or for each node."""
        return self.dataset.y if self.node_y is None else self.node_y

    @property
    def size(self) -> int:
        """How many graphs, or nodes, there are."""
        return len(self.dataset) if self.node_y is None else self.dataset.tables.size("node")

    @property
    def descriptors(self) -> int:
        """How many descriptors each graph has."""
        found = self.dataset.attrs.get("descriptors")
        return 0 if found is None else found.shape[1]

    def by_fold(self) -> list[tuple[int | None, Split]]:
        """All splits with the numbers of their folds; the only one has none, and is empty if the task has no split."""
        return [(None, self.splits or {})] if self.folds is None else list(enumerate(self.folds))

    def parts(self) -> list[Part]:
        """All parts of all splits; none if the task has no split."""
        return [Part(part_title(name, fold), name, ids) for fold, split in self.by_fold() for name, ids in split.items()]

    @cached_property
    def shared(self) -> str:
        """What a reader of its figures should know: graphs that are tested on and trained on, too, of the first split that has such."""
        return next(filter(None, (shared_graphs(split, fold, self.level) for fold, split in self.by_fold())), "")

    def of_target(self, target: str | None) -> Task:
        """The task of one of its targets, by name; the task itself for None. Graphs are shared."""
        if target is None:
            return self
        if target not in (self.targets or ()):
            raise PlanegraphError(f"task {self.name} has the targets {', '.join(self.targets or ()) or 'none'}; found {target!r}")
        column = self.targets.index(target)
        y = self.y[:, [column]]
        own = {"dataset": self.dataset.with_y(y)} if self.node_y is None else {"node_y": y}
        scale = self.scale[column] if isinstance(self.scale, tuple) else self.scale
        name = f"{self.name}-{target}"
        return replace(self, name=name, **own, scale=scale, targets=None, checked=True)

    @cached_property
    def digest(self) -> str:
        """Of all that a task decides: how answers are judged, graphs, decompositions, features and targets, who is trained on.

        Reads all arrays once, at about 1 GB/s.
        """
        features = [None if f is None else _described(f) for f in (self.node_features, self.edge_features)]
        scale = None if self.scale is None else np.asarray(self.scale, float).tolist()
        judged = [self.name, features, self.kind, self.loss, self.metric, self.outputs, self.output, scale, self.targets]
        judged += [self.names, self.units, self.missing] if self.names or self.units or self.missing else []
        dataset = self.dataset
        arrays = {**dataset.tables, "y": dataset.y, "x": dataset.x, "edge_attr": dataset.edge_attr, "dart_attr": dataset.dart_attr}
        arrays |= {name: dataset.attrs.get(name) for name in ("descriptors", "sample_weight")} | {"node_y": self.node_y}
        arrays |= {part.title: part.ids for part in self.parts()}
        found = sha256(json.dumps(judged).encode())
        for name, values in arrays.items():
            if values is not None:
                found.update(f"{name} {values.dtype.str} {values.shape} ".encode())
                found.update(np.ascontiguousarray(values).data)
        return found.hexdigest()

    @staticmethod
    def options_of(target: str | None) -> dict[str, str]:
        """The options by which a dataset gives the task of this target; none for None."""
        return {} if target is None else {"target": target}


def _described(features: Any) -> list:
    """Kind and sizes as JSON has them."""
    sizes = [list(value) if isinstance(value, tuple) else value for value in astuple(features)]
    return [type(features).__name__.lower(), sizes if len(sizes) > 1 else sizes[0]]
