"""Who is trained on, validated on and tested on."""

from __future__ import annotations

import numpy as np

from .raw import SPLITS


def by_number(split: np.ndarray) -> dict[str, np.ndarray]:
    """Ids of the graphs of each part, from 0 (train), 1 (val) and 2 (test).

    >>> {part: ids.tolist() for part, ids in by_number(np.array([0, 2, 0, 1])).items()}
    {'train': [0, 2], 'val': [3], 'test': [1]}
    """
    return {part: np.flatnonzero(split == i) for i, part in enumerate(SPLITS)}


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
