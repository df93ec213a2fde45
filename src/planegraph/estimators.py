"""scikit-learn estimators over molecules and graphs: ``PlanERegressor`` and ``PlanEClassifier``.

``X`` is a list of SMILES, of PyG's ``Data``, or of graphs of planegraph, networkx, igraph and rustworkx (of the last three only the
structure is read). A share of the training data chooses the epoch; several models are an ensemble. A fitted estimator is saved as
safetensors and JSON, without pickle.
"""

from __future__ import annotations

import numbers
import tempfile
import warnings
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from .data.packed import PackedDataset
from .errors import FormatError, InvalidGraphError, MissingDependencyError, PlanegraphWarning
from .graphs.formats.convert import as_graph
from .graphs.graph import Graph
from .io.atomic import replace_files
from .io.checksums import json_text, read_json
from .nn import BasePlanE
from .predict.predictor import each_prediction
from .tasks.checks import bad_weight
from .tasks.molecules.features import EDGE_FEATURES, NODE_FEATURES, Featurizer, seen_categories
from .tasks.sources import Kind, make_task
from .tasks.task import Task
from .train import RunSettings, train
from .train.environment import resolve_device
from .train.tasks import epochs_for, graph_scale

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import unique_labels
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingDependencyError("planegraph.estimators needs scikit-learn: pip install 'planegraph[sklearn]'") from error

_FILE = "estimator.json"


class PlanEEstimator(BaseEstimator):
    """The base of both estimators.

    Args:
        hidden, layers, dropout: of the model (:class:`planegraph.nn.PlanEConfig`).
        epochs, lr, batch_size: of training; None: by the number of graphs.
        ensemble: so many models are trained, and their predictions averaged.
        validation: the share of the training data that chooses the epoch.
        stereo: of SMILES, whether mirror images differ.
        descriptors: of SMILES, whether RDKit's descriptors are read, too; None: up to 3,000 molecules.
        random_state: of weights, data order and validation, as scikit-learn takes it. device: a GPU if there is one, by default.
    """

    def __init__(
        self,
        *,
        hidden: int = 64,
        layers: int = 3,
        dropout: float = 0.0,
        epochs: int | None = None,
        lr: float = 2e-3,
        batch_size: int | None = None,
        ensemble: int = 1,
        validation: float = 0.1,
        stereo: bool = True,
        descriptors: bool | None = None,
        random_state: int = 0,
        device: str | None = None,
    ) -> None:
        self.hidden, self.layers, self.dropout = hidden, layers, dropout
        self.epochs, self.lr, self.batch_size, self.ensemble, self.validation = epochs, lr, batch_size, ensemble, validation
        self.stereo, self.descriptors, self.random_state, self.device = stereo, descriptors, random_state, device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        tags.non_deterministic = True
        return tags

    # ---- fitting ----------------------------------------------------------------------------------------------------------------

    featurizer_: Featurizer | None

    def _fit(self, data: _Data, y: np.ndarray, kind: Kind) -> Self:
        graphs = data.graphs
        if len(graphs) < 4:
            raise ValueError(f"there must be 4 graphs at least, of which some choose the epoch; found n_samples={len(graphs)}")
        self.kind_ = _kind_of(graphs)
        smiles = self.kind_ == "smiles"
        self.featurizer_ = Featurizer(self.stereo) if smiles else None
        seed = _seed(self.random_state)
        train_ids, val = self._parts(len(graphs), seed)
        dataset = self._pack(graphs)
        if smiles:
            self.featurizer_, dataset, _ = self.featurizer_.with_descriptors(dataset, graphs, train_ids, self.descriptors)
        if data.weights is not None:
            dataset = dataset.with_attrs(sample_weight=data.weights)
        task = make_task(
            "estimator",
            dataset,
            y,
            kind,
            {"train": train_ids, "val": val, "test": val},
            metric={"regression": "rmse", "binary": "logloss", "multiclass": "logloss"}[kind],
            features=(NODE_FEATURES, EDGE_FEATURES) if smiles else None,
            seen=seen_categories(dataset, train_ids) if smiles else None,
        )
        self.models_ = self._trained(task, len(train_ids), seed)
        self.task_kind_ = kind
        return self

    def _pack(self, graphs: list[Any]) -> PackedDataset:
        kind = _kind_of(graphs) if graphs else self.kind_
        if kind != self.kind_:
            raise InvalidGraphError(f"the estimator was fitted on {self.kind_}; found {kind}")
        if kind == "smiles":
            found = self.featurizer_(graphs)
            for position, reason in found.problems.items():
                raise FormatError(f"X[{position}]: {reason}")
            return found.dataset
        if kind == "pyg":
            return PackedDataset.from_pyg(graphs, on_nonplanar="set", y=None)
        return PackedDataset.from_graphs([as_graph(graph) for graph in graphs], on_nonplanar="set")

    def _parts(self, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(self.validation, numbers.Real) or not 0 < self.validation < 1:
            raise ValueError(f"validation is a share, above 0 and below 1; found {self.validation!r}")
        held = min(max(1, round(self.validation * count)), count - 1)
        order = np.random.default_rng(seed).permutation(count)
        return np.sort(order[held:]), np.sort(order[:held])

    def _trained(self, task: Task, graphs: int, seed: int) -> list[BasePlanE]:
        model = {
            "hidden": _plain(self.hidden),
            "layers": _plain(self.layers),
            "dropout": _plain(self.dropout),
            "graph_scale": graph_scale(task.dataset),
        }
        settings = RunSettings("estimator", model=model).with_overrides(
            [
                f"train.epochs={epochs_for(graphs) if self.epochs is None else self.epochs}",
                f"train.lr={self.lr}",
                f"train.batch_size={'null' if self.batch_size is None else self.batch_size}",
                f"train.seeds={self.ensemble}",
                f"train.seed={seed}",
                "train.save_seconds=1e9",
            ]
        )
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanegraphWarning)  # nothing is tested: the validation part serves as test part
            train(task, settings, folder, device=self.device, report=False)
            return [BasePlanE.from_pretrained(path.parent) for path in sorted(Path(folder).glob("models/*/model.safetensors"))]

    # ---- predicting ---------------------------------------------------------------------------------------------------------------

    def _outputs(self, X: Any) -> np.ndarray:
        """(n, outputs) float64: the mean over the models of values or probabilities."""
        check_is_fitted(self, "models_")
        graphs, device = _as_list(X), resolve_device(self.device)
        dataset = self._pack(graphs)
        return each_prediction(self.task_kind_, [model.to(device) for model in self.models_], dataset, device).mean(0).numpy()

    # ---- files ----------------------------------------------------------------------------------------------------------------------

    def save(self, folder: str | PathLike[str]) -> None:
        """Writes the fitted estimator: a folder for each model, and ``estimator.json``."""
        check_is_fitted(self, "models_")
        root = Path(fspath(folder))
        for k, model in enumerate(self.models_):
            model.save_pretrained(root / f"model{k}")
        values = {
            "estimator": type(self).__name__,
            "params": self.get_params() | {"random_state": _seed(self.random_state)},
            "kind": self.kind_,
            "task": self.task_kind_,
            "models": len(self.models_),
            "featurizer": None if self.featurizer_ is None else self.featurizer_.to_dict(),
            **self._more(),
        }
        replace_files({root / _FILE: json_text(values, _plain)})

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """The estimator that :meth:`save` wrote."""
        path = Path(fspath(folder)) / _FILE
        try:
            values = read_json(path)
            name = values["estimator"]
            if name == cls.__name__:
                return cls._read(values, path.parent)
        except FileNotFoundError:
            raise FormatError(f"{path} is missing; save writes it") from None
        except FormatError:
            raise
        except (AttributeError, ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{path} is damaged: {error!r}") from None
        raise FormatError(f"{path} is a {name}; use {name}.load")

    @classmethod
    def _read(cls, values: dict[str, Any], folder: Path) -> Self:
        found = cls(**values["params"])
        found.kind_, found.task_kind_ = values["kind"], values["task"]
        found.featurizer_ = None if values["featurizer"] is None else Featurizer.from_dict(values["featurizer"])
        found._set_more(values)
        found.models_ = [BasePlanE.from_pretrained(folder / f"model{k}") for k in range(values["models"])]
        return found

    def _more(self) -> dict[str, Any]:
        return {}

    def _set_more(self, values: dict[str, Any]) -> None:
        pass


class PlanERegressor(RegressorMixin, PlanEEstimator):
    """Learns numbers of molecules or graphs; ``y`` is (n,) or (n, targets). Arguments: :class:`PlanEEstimator`.

    >>> smiles = ["C" * k + "O" for k in range(1, 21)]
    >>> model = PlanERegressor(epochs=3, hidden=8, layers=1, descriptors=False).fit(smiles, [len(s) for s in smiles])
    >>> model.predict(["CCCO", "O"]).shape
    (2,)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains on graphs and their numbers. ``sample_weight``: of each graph in the loss; graphs of weight 0 are left out."""
        data = _Data.of(X, np.asarray(y, np.float64), sample_weight)
        y = data.y
        if y.ndim not in (1, 2) or y.shape[-1] == 0 or not np.isfinite(y).all():
            raise ValueError(f"y must be finite numbers of shape (n,) or (n, targets); found shape {y.shape}")
        self.flat_ = y.ndim == 1
        return self._fit(data, y, "regression")

    def predict(self, X: Any) -> np.ndarray:
        """Numbers in the units of ``y``, and in its shape."""
        found = self._outputs(X)
        return found[:, 0] if self.flat_ else found

    def _more(self) -> dict[str, Any]:
        return {"flat": self.flat_}

    def _set_more(self, values: dict[str, Any]) -> None:
        self.flat_ = values["flat"]


class PlanEClassifier(ClassifierMixin, PlanEEstimator):
    """Learns classes of molecules or graphs; ``y`` has a label for each, numbers or strings. Arguments: :class:`PlanEEstimator`.

    >>> smiles = ["C" * k + "O" for k in range(1, 11)] + ["C" * k + "N" for k in range(1, 11)]
    >>> model = PlanEClassifier(epochs=3, hidden=8, layers=1, descriptors=False).fit(smiles, ["alcohol"] * 10 + ["amine"] * 10)
    >>> model.predict_proba(["CCCO", "CN"]).shape, model.classes_.tolist()
    ((2, 2), ['alcohol', 'amine'])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains on graphs and their classes. ``sample_weight``: of each graph in the loss; graphs of weight 0 are left out."""
        data = _Data.of(X, np.asarray(y), sample_weight)
        y = data.y
        if y.ndim != 1:
            raise ValueError(f"y must have a label for each graph; found shape {y.shape}")
        self.classes_ = unique_labels(y)
        if len(self.classes_) < 2:
            found = f"one class, {self.classes_[0]}" if len(self.classes_) else "none"
            raise ValueError(f"y must have two classes at least; found {found}")
        numbers = np.searchsorted(self.classes_, y)
        return self._fit(data, numbers, "binary" if len(self.classes_) == 2 else "multiclass")

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes): the probability of each class, in the order of ``classes_``."""
        found = self._outputs(X)
        return np.concatenate([1 - found, found], axis=1) if self.task_kind_ == "binary" else found

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each graph."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def _more(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist()}

    def _set_more(self, values: dict[str, Any]) -> None:
        self.classes_ = np.array(values["classes"])


class _Data(NamedTuple):
    """The training data: graphs, a row of y for each, and their weights, if given."""

    graphs: list[Any]
    y: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, X: Any, y: np.ndarray, sample_weight: Any) -> Self:
        """Without the graphs of weight 0; ValueError for weights that are none."""
        graphs = _as_list(X)
        if y.ndim and len(graphs) != len(y):
            raise ValueError(f"X has {len(graphs)} graphs, and y {len(y)} rows; they must be as many")
        if sample_weight is None:
            return cls(graphs, y, None)
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (len(graphs),):
            raise ValueError(f"sample_weight must be a number for each of {len(graphs)} graphs; found shape {weights.shape}")
        bad = bad_weight(weights)
        if bad is not None:
            raise ValueError(f"sample_weight must be finite and at least 0; found {weights[bad]} at {bad}")
        kept = np.flatnonzero(weights)
        if not len(kept):
            raise ValueError("sample_weight is 0 for all graphs; there is nothing to learn")
        return cls([graphs[k] for k in kept], y[kept], weights[kept])


def _seed(random_state: Any) -> int:
    """A seed from a number, None or a generator, as scikit-learn takes them."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _plain(value: Any) -> Any:
    """A Python number in place of numpy's, as grids of parameters have them."""
    return value.item() if isinstance(value, np.generic) else value


def _as_list(X: Any) -> list[Any]:
    if isinstance(X, str | Graph) or not hasattr(X, "__len__"):
        raise InvalidGraphError(f"X is a list of SMILES or graphs; found {type(X).__name__}")
    if hasattr(X, "to_numpy"):  # a table of pandas or polars, whose items would be the names of its columns
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        if X.ndim != 1 and X.shape[1:] != (1,):
            raise InvalidGraphError(f"X is a list or one column of SMILES or graphs; found an array of shape {X.shape}")
        X = X.reshape(-1).tolist()
    found = list(X)
    return [str(item) if isinstance(item, np.str_) else item for item in found]


def _kind_of(graphs: Sequence[Any]) -> str:
    """The kind of all items: smiles, pyg (whose features are read) or graph."""
    kinds = {"smiles" if isinstance(g, str) else "pyg" if hasattr(g, "edge_index") else "graph" for g in graphs}
    if len(kinds) != 1:
        raise InvalidGraphError(f"X must be of one kind; found {', '.join(sorted(kinds)) or 'nothing'}")
    return kinds.pop()
