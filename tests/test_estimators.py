"""The estimators as scikit-learn uses them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import planegraph as pg
from planegraph.errors import FormatError, InvalidGraphError, PlanegraphError
from planegraph.estimators import PlanEClassifier, PlanERegressor

QUICK = {"hidden": 8, "layers": 1, "epochs": 5, "device": "cpu"}


def cycles(count: int = 40) -> tuple[list[pg.Graph], np.ndarray]:
    """Rings, and how long they are."""
    sizes = 3 + np.arange(count) % 8
    return [pg.families.cycle(int(n)) for n in sizes], sizes.astype(float)


def test_graphs_of_every_kind():
    networkx, rustworkx = map(pytest.importorskip, ("networkx", "rustworkx"))
    pyg = pytest.importorskip("torch_geometric.utils")
    graphs, y = cycles()
    as_networkx = [networkx.cycle_graph(g.num_nodes) for g in graphs]
    as_pyg = [pyg.from_networkx(g) for g in as_networkx]
    as_rustworkx = [rustworkx.generators.cycle_graph(g.num_nodes) for g in graphs]
    found = [PlanERegressor(**QUICK).fit(X, y).predict(X) for X in (graphs, as_networkx, as_pyg, as_rustworkx)]
    assert found[0].shape == (40,)
    for other in found[1:]:
        assert np.allclose(found[0], other, atol=1e-4)


def test_it_learns():
    graphs, y = cycles(80)
    assert PlanERegressor(hidden=16, layers=2, epochs=60, device="cpu").fit(graphs, y).score(graphs, y) > 0.95
    labels = np.where(y < 6, "small", "large")
    model = PlanEClassifier(hidden=16, layers=2, epochs=60, device="cpu").fit(graphs, labels)
    assert model.score(graphs, labels) > 0.9
    shares = model.predict_proba(graphs)
    assert np.allclose(shares.sum(1), 1)
    assert (model.classes_[shares.argmax(1)] == model.predict(graphs)).all()


def test_smiles_with_descriptors():
    pytest.importorskip("rdkit")
    smiles = [f"C({'C' * (k % 5 + 1)})N" + "O" * (k % 2) for k in range(30)]
    y = np.array([[len(s), s.count("O")] for s in smiles], float)
    model = PlanERegressor(**QUICK, ensemble=2).fit(smiles, y)
    assert len(model.models_) == 2
    assert model.models_[0].config.descriptors > 50
    assert model.predict(smiles).shape == (30, 2)
    assert model.predict(np.array(smiles[:3])).shape == (3, 2)
    assert np.isfinite(model.predict(["[SeH2]", "C"])).all()
    with pytest.raises(FormatError, match=r"X\[1\]: RDKit refuses the SMILES 'C1CC'"):
        model.predict(["C", "C1CC"])
    with pytest.raises(InvalidGraphError, match="the estimator was fitted on smiles; found graph"):
        model.predict([pg.families.cycle(3)])


def test_cross_validation_grid_search_and_pipelines():
    graphs, y = cycles()
    assert cross_val_score(PlanERegressor(**QUICK), graphs, y, cv=3).shape == (3,)
    search = GridSearchCV(PlanEClassifier(**QUICK), {"hidden": [4, 8]}, cv=2).fit(graphs, y < 6)
    assert search.best_params_["hidden"] in (4, 8)
    assert search.predict(graphs[:2]).shape == (2,)
    again = make_pipeline(FunctionTransformer(list), PlanERegressor(**QUICK)).fit(graphs, y)
    assert again.predict(graphs).shape == (40,)


def test_parameters_clones_and_unfitted():
    model = PlanERegressor(hidden=12, dropout=0.1)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.set_params(layers=2).layers == 2
    assert clone(pickle.loads(pickle.dumps(model))).get_params() == model.get_params()
    for unfitted in (model, PlanEClassifier()):
        for method in ("predict", "predict_proba", "score", "save"):
            if hasattr(unfitted, method):
                with pytest.raises(NotFittedError):
                    getattr(unfitted, method)(*[[pg.families.cycle(3)], [1]][: 2 if method == "score" else 1])


def test_a_column_of_a_table():
    """Columns come as arrays of shape (n, 1), and as objects with ``to_numpy``, whose items are the names of the columns."""
    graphs, y = cycles()
    column = np.empty((len(graphs), 1), object)
    column[:, 0] = graphs

    class Frame(list):
        def to_numpy(self):
            return column

    expected = PlanERegressor(**QUICK).fit(graphs, y).predict(graphs)
    for X in (column, column[:, 0], Frame(["graph"])):
        assert np.array_equal(PlanERegressor(**QUICK).fit(X, y).predict(X), expected)


# ---- scikit-learn's own checks ----------------------------------------------------------------------------------------------


class ReadsRows:
    """scikit-learn's checks feed rows of numbers: here each row is a path whose nodes have the numbers as labels.

    Input is validated as scikit-learn does it, so that what is checked are parameters, state, shapes, dtypes, pickling and errors.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = True, False
        tags.no_validation = tags.non_deterministic = False
        (tags.regressor_tags or tags.classifier_tags).poor_score = True  # one epoch
        return tags

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        return super().fit(paths(X), y)

    def _outputs(self, X):
        check_is_fitted(self)
        return super()._outputs(paths(validate_data(self, X, reset=False)))


class RowRegressor(ReadsRows, PlanERegressor):
    pass


class RowClassifier(ReadsRows, PlanEClassifier):
    pass


def paths(X: np.ndarray) -> list[pg.Graph]:
    """A path for each row; its nodes have the numbers and their positions."""
    steps = [(i, i + 1) for i in range(X.shape[1] - 1)]
    place = np.arange(X.shape[1])
    return [pg.Graph(len(row), steps, node_labels=np.stack([row, place], 1).astype(np.float64)) for row in X]


@parametrize_with_checks([estimator(hidden=4, layers=1, epochs=1, device="cpu") for estimator in (RowRegressor, RowClassifier)])
def test_checks_of_scikit_learn(estimator, check):
    """All of them, without expected failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_what_the_tags_say():
    """Rows of numbers are not graphs, so ``check_estimator`` runs on the estimators themselves only what needs no data."""
    for model in (PlanERegressor(), PlanEClassifier()):
        tags = get_tags(model)
        assert (tags.input_tags.two_d_array, tags.input_tags.string, tags.no_validation) == (False, True, True)
        assert not hasattr(model, "n_features_in_")


def test_the_same_state_gives_the_same_model():
    graphs, y = cycles()
    a, b = (PlanERegressor(**QUICK, random_state=3).fit(graphs, y).predict(graphs) for _ in range(2))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("labels", [np.array([0, 1, 2] * 10), np.array(["a", "b"] * 15), np.array([True, False] * 15)])
def test_saved_without_pickle(tmp_path, labels):
    graphs, _ = cycles(30)
    model = PlanEClassifier(**QUICK).fit(graphs, labels)
    model.save(tmp_path / "model")
    assert not list(tmp_path.rglob("*.pkl"))
    again = PlanEClassifier.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(graphs), model.predict_proba(graphs))
    assert np.array_equal(again.classes_, model.classes_)
    with pytest.raises(FormatError, match=r"is a PlanEClassifier; use PlanEClassifier\.load"):
        PlanERegressor.load(tmp_path / "model")
    (tmp_path / "model" / "estimator.json").write_text("{")
    with pytest.raises(FormatError, match="is damaged"):
        PlanEClassifier.load(tmp_path / "model")


def test_bad_input():
    graphs, y = cycles(10)
    with pytest.raises(ValueError, match="X has 10 graphs, and y 9 rows"):
        PlanERegressor(**QUICK).fit(graphs, y[:9])
    with pytest.raises(ValueError, match="4 graphs at least"):
        PlanERegressor(**QUICK).fit(graphs[:3], y[:3])
    with pytest.raises(ValueError, match="finite numbers"):
        PlanERegressor(**QUICK).fit(graphs, np.where(y > 3, np.nan, y))
    with pytest.raises(ValueError, match="two classes at least; found one class, a"):
        PlanEClassifier(**QUICK).fit(graphs, ["a"] * 10)
    with pytest.raises(InvalidGraphError, match="X must be of one kind; found graph, smiles"):
        PlanERegressor(**QUICK).fit([*graphs[:9], "C"], y)
    with pytest.raises(InvalidGraphError, match="X is a list of SMILES or graphs; found str"):
        PlanERegressor(**QUICK).fit("CCO", y)
    with pytest.raises(InvalidGraphError, match=r"one column of SMILES or graphs; found an array of shape \(10, 3\)"):
        PlanERegressor(**QUICK).fit(np.zeros((10, 3)), y)
    with pytest.raises(PlanegraphError, match="found int"):
        PlanERegressor(**QUICK).fit([1] * 10, y)
    with pytest.raises(ValueError, match="validation is a share"):
        PlanERegressor(**QUICK, validation=1.5).fit(graphs, y)


@pytest.mark.parametrize("kind", [PlanERegressor, PlanEClassifier])
def test_graphs_of_weight_zero_are_left_out(kind):
    """They do not touch targets' units, batches or norms: the model is that of the other graphs alone."""
    graphs, y = cycles()
    weights = np.random.default_rng(0).exponential(size=40) * (np.arange(40) % 4 > 0)
    y, kept = y if kind is PlanERegressor else y % 3, weights > 0
    model = kind(**QUICK).fit(graphs, np.where(kept, y, 100 * y), sample_weight=weights)
    other = kind(**QUICK).fit([g for g, k in zip(graphs, kept, strict=True) if k], y[kept], sample_weight=weights[kept])
    assert np.array_equal(model.predict(graphs), other.predict(graphs))


def test_equal_weights_are_no_weights():
    graphs, y = cycles()
    plain, equal = (PlanERegressor(**QUICK).fit(graphs, y, w).predict(graphs) for w in (None, np.full(40, 3.0)))
    assert np.array_equal(plain, equal)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(9), r"a number for each of 10 graphs; found shape \(9,\)"),
        (np.r_[np.ones(9), -1], "finite and at least 0; found -1.0 at 9"),
        (np.r_[np.nan, np.ones(9)], "found nan at 0"),
        (np.zeros(10), "0 for all graphs"),
    ],
)
def test_bad_sample_weights(weights, message):
    graphs, y = cycles(10)
    with pytest.raises(ValueError, match=message):
        PlanERegressor(**QUICK).fit(graphs, y, sample_weight=weights)


@pytest.mark.parametrize("random_state", [None, np.int64(3), np.random.RandomState(0)])
def test_parameters_as_numpy_has_them(random_state, tmp_path):
    smiles = ["C" * k + "O" for k in range(1, 21)]
    model = PlanERegressor(
        epochs=np.int64(1), hidden=np.int64(4), layers=1, dropout=np.float32(0.1), descriptors=False, random_state=random_state
    ).fit(smiles, [len(s) for s in smiles])
    model.save(tmp_path)
    assert np.array_equal(PlanERegressor.load(tmp_path).predict(smiles), model.predict(smiles))


@pytest.mark.parametrize("text", ["[]", '{"estimator": "PlanERegressor", "params": {"foo": 1}}', "not JSON", None])
def test_a_damaged_estimator_is_named(text, tmp_path):
    if text is not None:
        (tmp_path / "estimator.json").write_text(text)
    with pytest.raises(FormatError, match=r"estimator\.json is (damaged|missing)"):
        PlanERegressor.load(tmp_path)
