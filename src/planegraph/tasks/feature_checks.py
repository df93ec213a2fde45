"""Are the features of a dataset those that its task says? Kind, columns and values, of nodes and of edges.

A pass for the least and the largest value of each column, or of all columns at once where they have no sizes: O(size), 20 ms for a
million nodes with nine columns. A value that does not fit is looked for only where there is one.
"""

from __future__ import annotations

import numpy as np

from ..data.packed import PackedDataset
from ..data.sizes import FeatureSizes
from ..errors import PlanegraphError
from ..graphs.batch import locate

_ADVICE = (
    "Correct the features, or the sizes that the task says; if they come from raw files, fetch these again, remove the packed file and "
    "pack anew (planegraph datasets NAME --pack)"
)


def check_features(task: str, dataset: PackedDataset, nodes: FeatureSizes, edges: FeatureSizes) -> None:
    """PlanegraphError, which names the task, unless ``x`` fits ``nodes`` and ``edge_attr`` or ``dart_attr`` fits ``edges``.

    None fits everything. Where there are no nodes, or no edges, no features are needed.

    >>> import planegraph as pg
    >>> ds = PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[3, 5])])
    >>> check_features("pairs", ds, ("categorical", (6,)), None)
    """
    by_dart = dataset.edge_attr is None and dataset.dart_attr is not None
    edge_name, edge_values = ("dart_attr", dataset.dart_attr) if by_dart else ("edge_attr", dataset.edge_attr)
    for name, values, sizes, table in (("x", dataset.x, nodes, "node"), (edge_name, edge_values, edges, "edge")):
        if sizes is not None and dataset.tables.size(table):
            problem = _kind_problem(values, sizes) or _value_problem(values, sizes, dataset.tables[f"{table}_ptr"], table)
            if problem:
                raise PlanegraphError(f"task {task}: {name}{problem}. {_ADVICE}")


def _kind_problem(values: np.ndarray | None, sizes: FeatureSizes) -> str:
    """What is wrong with the type or the number of columns; empty if nothing is."""
    categorical = sizes[0] == "categorical"
    width = {"categorical": lambda s: len(s), "continuous": int, "mixed": lambda s: len(s[0]) + s[1]}[sizes[0]](sizes[1])
    wanted = f" must have {_columns(width)} of {'integers' if categorical else 'floats'}"
    if values is None:
        return f"{wanted}; the dataset has none"
    if (values.dtype.kind in "iu") != categorical or values.shape[-1] != width:
        return f"{wanted}; found {_columns(values.shape[-1])} of {values.dtype}"
    return ""


def _value_problem(values: np.ndarray, sizes: FeatureSizes, ptr: np.ndarray, row: str) -> str:
    """The first value that is no number, or none of its column's categories, and where it is; empty if there is none."""
    if sizes[0] != "categorical":
        if np.isfinite(values.min()) and np.isfinite(values.max()):  # both are NaN if one value is
            return "" if sizes[0] == "continuous" else _category_problem(values, sizes[1][0], ptr, row)
        column = int(np.argwhere(~np.isfinite(values))[0, -1])
        return _found(values[..., column], ~np.isfinite(values[..., column]), column, "finite", ptr, row)
    return _category_problem(values, sizes[1], ptr, row)


def _category_problem(values: np.ndarray, sizes: tuple[int, ...], ptr: np.ndarray, row: str) -> str:
    for column, size in enumerate(sizes):
        found = values[..., column]
        bad = (found < 0) | (found >= size)
        if found.dtype.kind == "f":
            bad |= found != np.floor(found)
        if bad.any():
            return _found(found, bad, column, f"0 to {size - 1}", ptr, row)
    return ""


def _found(values: np.ndarray, bad: np.ndarray, column: int, wanted: str, ptr: np.ndarray, row: str) -> str:
    where = tuple(np.argwhere(bad)[0])
    graph, place = locate(ptr, int(where[0]))
    return f", column {column}, must be {wanted}; found {values[where]} at {row} {place} of graph {graph}"


def _columns(width: int) -> str:
    return f"{width} column{'' if width == 1 else 's'}"
