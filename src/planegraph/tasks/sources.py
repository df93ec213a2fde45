"""Tasks from your own data: a packed dataset or its file, PyG's, networkx's or planegraph's graphs, a table of molecules.

What is not said is found: features by their types (data/sizes.py), the kind of task by its targets (:func:`guess_kind`), the split at
random. Regression targets are standardised, and every figure is given in the units they came in. NaN in ``y`` is a value that was not
measured. :func:`make_task` is where all of these, tables of molecules and scikit-learn's estimators meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..data.features import as_targets
from ..data.packed import PackedDataset
from ..data.sizes import Features, dataset_sizes
from ..errors import FormatError, PlanegraphError
from ..graphs.batch import GraphBatch
from ..graphs.graph import Graph
from ..graphs.labels import to_numpy
from . import PARTS
from .checks import KINDS, bad_weight
from .metrics import metrics_of
from .splits import PART_OF_WORD, by_number, random_split
from .splits import folds as random_folds
from .task import Split, Task

Kind = Literal["regression", "binary", "multiclass"]
LOSSES: dict[str, Any] = {"regression": "mse", "binary": "bce", "multiclass": "ce"}
METRICS = {"regression": "rmse", "binary": "rocauc", "multiclass": "accuracy"}
_COLUMN = "column:"


def from_packed(
    data: PackedDataset | str | PathLike[str],
    *,
    name: str | None = None,
    kind: Kind | None = None,
    metric: str | None = None,
    split: str | Split | Sequence[Split] = "random",
    folds: int | None = None,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Task:
    """See :meth:`Task.from_packed`."""
    dataset = data if isinstance(data, PackedDataset) else PackedDataset.open(data)
    name = name or ("graphs" if isinstance(data, PackedDataset) else Path(fspath(data)).stem)
    if not len(dataset):
        raise PlanegraphError(f"task {name}: there are no graphs")
    if dataset.y is None:
        raise PlanegraphError(f"task {name}: the dataset has no y; give each graph a target, or a row of them")
    y = _columns(name, dataset.y, "graph")

    def splits(measured: np.ndarray) -> Split | list[Split]:
        if isinstance(split, str) and split.startswith(_COLUMN):
            if folds is not None:
                raise _drawn(name, folds)
            return _column_split(name, dataset, split.removeprefix(_COLUMN))
        return _splits(name, measured, split, folds, seed, "graph")

    return _task(name, dataset, y, kind, metric, splits, names)


def from_nodes(
    graphs: Any,
    y: Any,
    *,
    node_attrs: Any = None,
    edge_attrs: Any = None,
    name: str = "nodes",
    kind: Kind | None = None,
    metric: str | None = None,
    split: str | Split | Sequence[Split] = "random",
    folds: int | None = None,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Task:
    """See :meth:`Task.from_nodes`."""
    if isinstance(graphs, PackedDataset):
        dataset = graphs
    else:
        found = list(graphs) if isinstance(graphs, list | tuple | GraphBatch) else [graphs]
        dataset = PackedDataset.from_graphs(_read(found, node_attrs, edge_attrs), on_nonplanar="set")
        y = _of_nodes(name, found, y)
    ptr = dataset.tables.node_ptr
    if not ptr[-1]:
        raise PlanegraphError(f"task {name}: there are no nodes")
    found = as_targets(y, int(ptr[-1]), "y", "nodes")
    columns = _columns(name, found, "node")

    def splits(measured: np.ndarray) -> Split | list[Split]:
        if not (isinstance(split, str) and split == "graphs"):
            return _splits(name, measured, split, folds, seed, "node")
        graph = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        of_graphs = _splits(name, np.bincount(graph[measured], minlength=len(ptr) - 1) > 0, "random", folds, seed, "graph")
        several = [of_graphs] if isinstance(of_graphs, Mapping) else of_graphs
        of_nodes: list[Split] = [
            {part: np.flatnonzero(measured & np.isin(graph, ids)) for part, ids in one.items()} for one in several
        ]
        return of_nodes[0] if isinstance(of_graphs, Mapping) else of_nodes

    return _task(name, dataset.with_orbits(), columns, kind, metric, splits, names, "node")


def _task(
    name: str,
    dataset: PackedDataset,
    y: np.ndarray,
    kind: Kind | None,
    metric: str | None,
    splits: Callable[[np.ndarray], Split | list[Split]],
    names: Sequence[str] | None,
    level: Literal["graph", "node"] = "graph",
) -> Task:
    """The task to learn ``y``; ``splits``: given what is measured, a mask."""
    if names is not None and len(names) != y.shape[1]:
        raise PlanegraphError(f"task {name}: names must have one for each of {y.shape[1]} columns of y; found {', '.join(names)}")
    kind = _kind(name, y, kind, names, level)
    names = None if names is None else tuple(names)
    found = splits(~np.isnan(y).all(1))
    return make_task(name, dataset, y, kind, found, metric=metric, level=level, names=names, notes=_nonplanar(dataset))


def from_pyg(
    graphs: Iterable[Any], *, y: str = "y", level: Literal["graph", "node"] = "graph", split: Any = None, **options: Any
) -> Task:
    """See :meth:`Task.from_pyg`."""
    if level not in ("graph", "node"):
        raise PlanegraphError(f"level is graph or node; found {level!r}")
    if level == "node":
        several = [graphs] if hasattr(graphs, "edge_index") else list(graphs)
        absent = next((k for k, graph in enumerate(several) if getattr(graph, y, None) is None), None)
        if absent is not None or not several:
            raise PlanegraphError(
                f"there is no y: {f'graph {absent} has no attribute {y!r}' if several else 'there are no graphs'}"
            )
        dataset = PackedDataset.from_pyg(several, on_nonplanar="set", y=None)
        values = np.concatenate([to_numpy(getattr(graph, y), y) for graph in several])
        return from_nodes(dataset, values, split=_masks(several) if split is None else split, **options)
    split = "random" if split is None else split
    column = (split.removeprefix(_COLUMN),) if isinstance(split, str) and split.startswith(_COLUMN) else ()
    dataset = PackedDataset.from_pyg(graphs, on_nonplanar="set", y=y, attrs=column)
    return from_packed(dataset, split=split, **options)


def from_graphs(graphs: Iterable[Any], y: Any, *, node_attrs: Any = None, edge_attrs: Any = None, **options: Any) -> Task:
    """See :meth:`Task.from_graphs`."""
    return from_packed(PackedDataset.from_graphs(_read(graphs, node_attrs, edge_attrs), y, on_nonplanar="set"), **options)


def _read(graphs: Iterable[Any], node_attrs: Any, edge_attrs: Any) -> list[Graph]:
    if node_attrs is not None or edge_attrs is not None:
        return [Graph.from_networkx(graph, node_attrs, edge_attrs) for graph in graphs]
    return [graph if isinstance(graph, Graph) else Graph.from_networkx(graph) for graph in graphs]


def make_task(
    name: str,
    dataset: PackedDataset,
    y: np.ndarray,
    kind: Kind,
    splits: Split | Sequence[Split],
    *,
    metric: str | None = None,
    features: tuple[Features, Features] | None = None,
    level: Literal["graph", "node"] = "graph",
    **fields: Any,
) -> Task:
    """The task to learn ``y``, (graphs,) or (graphs, targets) in its own units: for numbers, the model learns standardised ones.

    Args:
        splits: one, or one for each fold.
        metric: rmse, rocauc or accuracy by default. features: of nodes and edges; None: those that the dataset has.
        level: "node" if ``y`` has a row for each node of all graphs.
        fields: more fields of :class:`Task`.
    """
    count = len(dataset) if level == "graph" else dataset.tables.size("node")
    y, units = np.asarray(y, np.float64).reshape(count, -1), None
    metric = metric or METRICS[kind]
    if metric not in metrics_of(kind):
        raise PlanegraphError(f"the metric of a {kind} task is one of {', '.join(metrics_of(kind))}; found {metric!r}")
    one, several = (splits, None) if isinstance(splits, Mapping) else (None, splits)
    train = trained_on([one] if several is None else several, count)
    if kind == "regression":
        units = tuple(_unit(values[train], values) for values in y.T)
        y = (y - np.array(units)[:, 0]) / np.array(units)[:, 1]
    classes = kind == "multiclass"
    nodes, edges = dataset_sizes(dataset) if features is None else features
    weights = dataset.attrs.get("sample_weight")
    if (
        level == "graph"
        and weights is not None
        and weights.ndim == 1
        and bad_weight(weights[train]) is None
        and weights[train].any()
    ):
        dataset = dataset.with_attrs(sample_weight=scaled_weights(weights, train))
    learned = y[:, 0].astype(np.int32) if classes else y.astype(np.float32)
    return Task(
        name,
        dataset.with_y(learned) if level == "graph" else dataset,
        one,
        several,
        node_y=learned if level == "node" else None,
        node_features=nodes,
        edge_features=edges,
        kind=kind,
        loss=LOSSES[kind],
        metric=metric,
        outputs=int(y.max()) + 1 if classes else y.shape[1],
        units=units,
        missing=bool(np.isnan(y).any()),
        **fields,
    )


def trained_on(splits: Iterable[Split], count: int) -> np.ndarray:
    """The ids of all graphs, or nodes, in a training part; wrong ones are left to the checks of the task."""
    chosen = np.zeros(count, bool)
    for part in (np.asarray(split.get("train", ())) for split in splits):
        ids = np.flatnonzero(part[:count]) if part.dtype == bool else part.astype(np.int64, copy=False).reshape(-1)
        chosen[ids[(ids >= 0) & (ids < count)]] = True
    return np.flatnonzero(chosen)


def scaled_weights(weights: np.ndarray, train: np.ndarray) -> np.ndarray:
    """The weights as float32, scaled to a mean of 1 over the graphs ``train``, so that the learning rate keeps its meaning.

    >>> scaled_weights(np.array([1.0, 3.0, 8.0]), np.array([0, 1])).tolist()
    [0.5, 1.5, 4.0]
    """
    scaled = weights / weights[train].max()  # first: a sum of large weights may overflow
    return (scaled / scaled[train].mean()).astype(np.float32)


def _unit(train: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of what was measured in training, or at all if nothing was; 1 in place of a deviation of 0."""
    measured = [some[~np.isnan(some)] for some in (train, values)]
    chosen = measured[0] if len(measured[0]) else measured[1]
    return float(chosen.mean()), float(chosen.std()) or 1.0


# ---- targets ------------------------------------------------------------------------------------------------------------------------


def _columns(name: str, y: np.ndarray, what: str) -> np.ndarray:
    """(graphs or nodes, targets) in float64."""
    if y.ndim > 2 or not y.size:
        raise PlanegraphError(f"task {name}: y must have shape ({len(y)},) or ({len(y)}, targets); found {y.shape}")
    y = y.reshape(len(y), -1).astype(np.float64)
    if np.isinf(y).any():
        row, column = np.argwhere(np.isinf(y))[0]
        raise PlanegraphError(f"task {name}: y must be finite, or NaN if not measured; found {y[row, column]} at {what} {row}")
    for k, column in enumerate(y.T):
        found = np.unique(column[~np.isnan(column)])
        if len(found) < 2:
            what = f"all values are {found[0]:g}" if len(found) else "all values are missing"
            raise PlanegraphError(f"task {name}: {what} in column {k} of y; there is nothing to learn")
    return y


def _kind(name: str, y: np.ndarray, kind: Kind | None, names: Sequence[str] | None, what: str) -> Kind:
    """The kind that is said, or the one that all columns look like; an error if y is not of that kind."""
    kind = kind or kind_of(y, names or [f"column {k} of y" for k in range(y.shape[1])], "kind=")
    if kind not in KINDS:
        raise PlanegraphError(f"task {name}: kind is one of {', '.join(KINDS)}; found {kind!r}")
    if kind == "multiclass":
        if y.shape[1] > 1:
            raise PlanegraphError(f"task {name}: a multiclass task has one target; found {y.shape[1]} columns of y")
        bad = (y[:, 0] != np.floor(y[:, 0])) | ~(y[:, 0] >= 0)  # NaN, too
        if bad.any():
            found = f"{y[np.argmax(bad), 0]:g} at {what} {np.argmax(bad)}"
            raise PlanegraphError(f"task {name}: classes are numbered 0, 1, 2, ..., one for each {what}; found {found}")
    return kind


def kind_of(y: np.ndarray, targets: Sequence[str], how: str) -> Kind:
    """What kind of task the columns of y, named by ``targets``, look like together; ``how`` says how the user decides otherwise."""
    kinds = {name: guess_kind(y[:, k]) for k, name in enumerate(targets)}
    if len(set(kinds.values())) == 1:
        return next(iter(kinds.values()))
    if set(kinds.values()) == {"binary", "regression"}:
        return "regression"
    said = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
    raise PlanegraphError(f"the targets look like tasks of different kinds ({said}); train them one by one, or say the kind: {how}")


def guess_kind(y: np.ndarray) -> Kind:
    """What kind of target these values look like; NaN is missing and does not count.

    - *binary*: nothing but 0 and 1, even if only one of them occurs;
    - *multiclass*: the integers 0 to k - 1, all of them, with 3 <= k <= 20 and on average five values or more for each;
    - *regression*: everything else, such as -1 and 1, or classes numbered from 1.

    Small counts, such as a number of rings, look like classes. It is a guess: let the user decide otherwise.

    >>> guess_kind(np.array([0, 1, np.nan])), guess_kind(np.arange(30) % 3), guess_kind(np.array([0.5, 1]))
    ('binary', 'multiclass', 'regression')
    """
    observed = np.asarray(y, np.float64)
    observed = observed[~np.isnan(observed)]
    if not len(observed):
        raise FormatError("all targets are missing: their kind cannot be guessed. Check the column, or name the kind")
    distinct = np.unique(observed)
    if np.isin(distinct, (0, 1)).all():
        return "binary"
    k = len(distinct)
    if 3 <= k <= 20 and len(observed) >= 5 * k and np.array_equal(distinct, np.arange(k)):
        return "multiclass"
    return "regression"


# ---- splits -------------------------------------------------------------------------------------------------------------------------


def _splits(name: str, measured: np.ndarray, split: Any, folds: int | None, seed: int, what: str) -> Split | list[Split]:
    """As given; a random one is of the graphs, or nodes, with a target."""
    if isinstance(split, str) and split == "random":
        ids = np.flatnonzero(measured)
        if folds is None:
            return _of_ids(random_split(len(ids), seed, what=f"{what}s"), ids)
        return [_of_ids(fold, ids) for fold in random_folds(len(ids), folds, seed, what=f"{what}s")]
    if folds is not None:
        raise _drawn(name, folds)
    if isinstance(split, Mapping):
        return _with_usual_names(split)
    if isinstance(split, Sequence) and not isinstance(split, str) and all(isinstance(fold, Mapping) for fold in split):
        return [_with_usual_names(fold) for fold in split]
    word = "'column:NAME'" if what == "graph" else "'graphs'"
    raise PlanegraphError(
        f"task {name}: split is 'random', {word}, the ids or masks of train, val and test by name, or a list of such splits; "
        f"found {split!r}"
    )


def _drawn(name: str, folds: int) -> PlanegraphError:
    return PlanegraphError(f"task {name}: folds={folds} are drawn at random; leave folds out, or the split")


def _of_ids(split: Split, ids: np.ndarray) -> dict[str, np.ndarray]:
    return {part: ids[places] for part, places in split.items()}


def _with_usual_names(split: Split) -> dict[str, Any]:
    """``valid`` and ``validation`` are val."""
    return {PART_OF_WORD.get(part, part): ids for part, ids in split.items()}


def _column_split(name: str, dataset: PackedDataset, column: str) -> dict[str, np.ndarray]:
    """By an array with 0 (train), 1 (val) or 2 (test) for each graph."""
    if column not in dataset.attrs:
        there = ", ".join(dataset.attrs) or "none"
        raise PlanegraphError(f"task {name}: the dataset has no column {column!r} to split by; its columns are {there}")
    numbers = np.asarray(dataset.attrs[column])
    numbers = numbers[:, 0] if numbers.shape[1:] == (1,) else numbers
    bad = ~np.isin(numbers, range(len(PARTS)))
    if numbers.ndim != 1 or bad.any():
        found = f"shape {numbers.shape}" if numbers.ndim != 1 else f"{numbers[bad][0]} at graph {int(np.argmax(bad))}"
        raise PlanegraphError(
            f"task {name}: column {column!r} must hold 0 (train), 1 (val) or 2 (test) for each graph; found {found}"
        )
    return by_number(numbers)


def _masks(graphs: Sequence[Any]) -> dict[str, np.ndarray] | str:
    """The split by ``train_mask``, ``val_mask`` and ``test_mask`` of PyG graphs; a random one if they have none."""
    names = {part: f"{part}_mask" for part in PARTS}
    if not all(hasattr(graph, name) for graph in graphs for name in names.values()):
        return "random"
    return {part: np.concatenate([to_numpy(getattr(graph, name), name) for graph in graphs]) for part, name in names.items()}


def _of_nodes(name: str, graphs: Sequence[Any], y: Any) -> Any:
    """The targets in the order of the nodes, where they are named by node or as an attribute of nodes; others as they are."""
    if not isinstance(y, str | Mapping):
        return y
    if not all(hasattr(graph, "nodes") for graph in graphs) or (isinstance(y, Mapping) and len(graphs) != 1):
        what = f"the attribute {y!r} is" if isinstance(y, str) else "a mapping by node is"
        raise PlanegraphError(
            f"task {name}: {what} for networkx graphs, a mapping for one of them; give an array with a row for each node"
        )
    values = [y if isinstance(y, Mapping) else dict(graph.nodes(data=y)) for graph in graphs]
    absent = next((n for graph, of in zip(graphs, values, strict=True) for n in graph if of.get(n) is None), None)
    if absent is not None:
        raise PlanegraphError(f"task {name}: node {absent!r} has no target; NaN says that it was not measured")
    return np.array([of[n] for graph, of in zip(graphs, values, strict=True) for n in graph])


def _nonplanar(dataset: PackedDataset) -> str:
    count = len(dataset.nonplanar)
    return f"{count} of {len(dataset)} graphs are not planar: their rigid components are read as sets" if count else ""
