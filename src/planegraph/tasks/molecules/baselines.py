"""Baselines for a table of molecules: a random forest on Morgan fingerprints, and gradient boosting on RDKit's descriptors.

Both are trained on the split's training molecules, with their weights, and judged on its test molecules, as the model is; validation is
not used. Each target has its own model, trained on the molecules with a value. A figure is the mean over the folds. Settings are
scikit-learn's defaults with a fixed seed, except that a split of a regression tree looks at a third of the bits, which is faster than
looking at all of them.

Lipophilicity (3,360 training molecules) takes about 130 s on one core of a busy AMD EPYC: 75 s for the forest, 50 s for the descriptors,
unless the model reads them, too, and they are there already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graphs.formats.molecules import mol_from_smiles, rdkit
from ..metrics import figures, mean_over_folds, metrics_of
from .features import descriptors

if TYPE_CHECKING:
    from ..task import Split, Task
    from .task import MoleculeTask

FOREST, BOOSTING = "random forest", "gradient boosting"
TREES = 200
RADIUS, BITS = 2, 2048
MOST_MOLECULES = 20_000
"""Above so many training molecules there are no baselines."""
MOST_FITTED = 100_000
"""Nor above so many in all folds and for all targets together."""

Figures = dict[str, dict[str, float | None]]


def baseline_figures(found: MoleculeTask, threads: int = 1) -> dict[str, Figures] | dict[str, str]:
    """All test metrics of each baseline, by its name and by target; or ``{"skipped": reason}``.

    The figures do not depend on ``threads``. A figure is None where no fold defines it.
    """
    task = found.task
    reason = _too_much(task)
    if reason is not None:
        return {"skipped": reason}
    try:
        make = _estimators(task.kind)
    except ImportError:
        return {"skipped": "scikit-learn is not installed (pip install scikit-learn)"}
    y = _values(task)
    inputs = {FOREST: fingerprints(found.smiles), BOOSTING: _finite_descriptors(found)}
    return {
        name: mean_over_folds([_of_split(task, make[name], x, y, split, threads) for _, split in task.by_fold()])
        for name, x in inputs.items()
    }


def fingerprints(smiles: Sequence[str]) -> np.ndarray:
    """Morgan fingerprints (molecules, bits) as uint8.

    >>> fingerprints(["CCO", "OCC"]).sum(1).tolist()
    [6, 6]
    """
    rdkit()
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    rows = [generator.GetFingerprintAsNumPy(mol_from_smiles(text)) for text in smiles]
    return np.array(rows, np.uint8).reshape(-1, BITS)


def _too_much(task: Task) -> str | None:
    sizes = [len(split["train"]) for _, split in task.by_fold()]
    if max(sizes) > MOST_MOLECULES:
        return f"{max(sizes):,} training molecules are more than {MOST_MOLECULES:,}"
    fitted = sum(sizes) * len(task.names)
    if fitted > MOST_FITTED:
        return f"{fitted:,} training molecules, over all folds and targets, are more than {MOST_FITTED:,}"
    return None


def _estimators(kind: str) -> dict[str, Callable[[], Any]]:
    """Makers of untrained estimators, by the baseline's name."""
    from sklearn import ensemble

    if kind == "regression":
        forest = (ensemble.RandomForestRegressor, {"max_features": 1 / 3})
        boosting = ensemble.HistGradientBoostingRegressor
    else:
        forest, boosting = (ensemble.RandomForestClassifier, {}), ensemble.HistGradientBoostingClassifier
    return {
        FOREST: lambda: forest[0](n_estimators=TREES, random_state=0, **forest[1]),
        BOOSTING: lambda: boosting(early_stopping=False, random_state=0),
    }


def _values(task: Task) -> np.ndarray:
    """The targets (molecules, targets) in the units of the table; NaN where one is missing."""
    y = np.asarray(task.dataset.y, np.float64).reshape(len(task.dataset), -1)
    if task.units is None:
        return y
    center, spread = np.array(task.units).T
    return y * spread + center


def _finite_descriptors(found: MoleculeTask) -> np.ndarray:
    values = descriptors(found.smiles)[1] if found.descriptors is None else found.descriptors
    return np.where(np.isfinite(values), values, np.nan)


def _of_split(
    task: Task, make: Callable[[], Any], x: np.ndarray, y: np.ndarray, split: Split, threads: int
) -> dict[str, dict[str, float]]:
    """All metrics of each target on the test part."""
    train, test, found = split["train"], split["test"], {}
    weights = task.dataset.attrs.get("sample_weight")
    for k, name in enumerate(task.names):
        known = train[~np.isnan(y[train, k])]
        if len(known) == 0:
            found[name] = dict.fromkeys(metrics_of(task.kind), np.nan)
            continue
        of_known = None if weights is None else weights[known]
        predicted = _predicted(task, make(), (x[known], y[known, k], of_known), x[test], threads)
        found[name] = figures(task.kind, y[test, k], predicted)
    return found


def _predicted(
    task: Task, model: Any, train: tuple[np.ndarray, np.ndarray, np.ndarray | None], at: np.ndarray, threads: int
) -> np.ndarray:
    """Values, probabilities of class 1, or probabilities (molecules, classes), as metrics.py wants them.

    Args:
        train: features, targets and weights.
    """
    x, y, weights = train
    if task.kind == "regression":
        return _fitted(model, x, y, weights, threads).predict(at)
    shares = np.zeros((len(at), 2 if task.kind == "binary" else task.outputs))
    if (y == y[0]).all():  # gradient boosting refuses a single class
        shares[:, int(y[0])] = 1
    else:
        model = _fitted(model, x, y.astype(np.int64), weights, threads)
        shares[:, model.classes_] = model.predict_proba(at)
    return shares[:, 1] if task.kind == "binary" else shares


def _fitted(model: Any, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, threads: int) -> Any:
    """Trees grow in threads; predictions are added up in one, so that rounding is the same every time."""
    from joblib import parallel_backend

    with parallel_backend("threading", n_jobs=threads):
        return model.fit(x, y, sample_weight=weights)
