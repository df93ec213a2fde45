"""Who is trained on, validated on and tested on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import PlanegraphError
from ..graphs.labels import to_numpy
from . import PARTS


def by_number(split: np.ndarray) -> dict[str, np.ndarray]:
    """Ids of the graphs of each part, from 0 (train), 1 (val) and 2 (test).

    >>> {part: ids.tolist() for part, ids in by_number(np.array([0, 2, 0, 1])).items()}
    {'train': [0, 2], 'val': [3], 'test': [1]}
    """
    return {part: np.flatnonzero(split == i) for i, part in enumerate(PARTS)}


def contiguous_folds(count: int, folds: int = 10) -> list[dict[str, np.ndarray]]:
    """The graphs in file order cut into contiguous blocks: test is block i, validation is block i of the rest cut again.

    >>> fold = contiguous_folds(100)[1]
    >>> fold["test"].tolist(), fold["val"].tolist(), len(fold["train"])
    ([10, 11, 12, 13, 14, 15, 16, 17, 18, 19], [9, 20, 21, 22, 23, 24, 25, 26, 27], 81)
    """
    result = []
    for i, test in enumerate(np.array_split(np.arange(count), folds)):
        rest = np.setdiff1d(np.arange(count), test)
        val = np.array_split(rest, folds)[i]
        result.append({"train": np.setdiff1d(rest, val), "val": val, "test": test})
    return result


def part_title(part: str, fold: int | None = None) -> str:
    """For messages: ``part 'val'``, or ``part 'val' of fold 3``."""
    return f"part {part!r}" + ("" if fold is None else f" of fold {fold}")


def checked_split(task: str, split: Any, graphs: int, fold: int | None = None) -> dict[str, np.ndarray]:
    """The ids of each part of a split of ``graphs`` graphs; PlanegraphError, which names the task and the part, if they are none.

    >>> checked_split("rings", {"train": [True, False, True], "val": [1]}, 3)["train"].tolist()
    [0, 2]
    """
    if not isinstance(split, Mapping):
        of = "splits" if fold is None else f"fold {fold}"
        raise PlanegraphError(f"task {task}: {of} must give ids by {', '.join(PARTS)}; found {type(split).__name__}")
    parts = {part: _ids(f"task {task}: {part_title(part, fold)}", found, graphs) for part, found in split.items()}
    for part in ("val", "test"):  # in others it is oversampling
        twice = np.flatnonzero(np.bincount(parts.get(part, ()), minlength=graphs) > 1)
        if len(twice):
            raise PlanegraphError(f"task {task}: {part_title(part, fold)} names graph {twice[0]} more than once")
    return parts


def shared_graphs(split: Mapping[str, np.ndarray], fold: int | None = None) -> str:
    """What figures of this split do not show: graphs that are validated or tested on, and in an earlier part, too; empty if none are.

    >>> shared_graphs({"train": np.array([0, 1]), "val": np.array([2]), "test": np.array([1, 2, 3])})
    "1 of the 3 graphs of part 'test' are in part 'train', too; 1 of the 3 graphs of part 'test' are in part 'val', too"
    """
    found = []
    for k, part in enumerate(PARTS):
        for earlier in PARTS[:k]:
            common = np.intersect1d(split.get(part, ()), split.get(earlier, ()))
            if len(common):
                title, other = part_title(part, fold), part_title(earlier, fold)
                found.append(f"{len(common)} of the {len(split[part])} graphs of {title} are in {other}, too")
    return "; ".join(found)


def _ids(where: str, found: Any, graphs: int) -> np.ndarray:
    """Ids as int64, from ids or a mask. Nothing is rounded, and integers are never a mask."""
    ids = to_numpy(found, where)
    if ids.dtype == bool and ids.shape == (graphs,):
        return np.flatnonzero(ids)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise PlanegraphError(
            f"{where} must be integers, the ids of graphs, or a boolean mask of length {graphs}; found {ids.dtype}, shape {ids.shape}"
        )
    outside = ids[(ids < 0) | (ids >= graphs)]
    if len(outside):
        raise PlanegraphError(f"{where} names graph {outside[0]}; there are {graphs}, from 0")
    if len(ids) == graphs > 2 and ids.max() < 2:
        raise PlanegraphError(
            f"{where} holds nothing but 0 and 1, as a mask does; give the ids of its graphs, or the mask as booleans"
        )
    return ids.astype(np.int64)
