from __future__ import annotations

import pytest

from planegraph.runs.errors import SettingsError
from planegraph.runs.schedules import Cosine, Plateau, StepDecay
from planegraph.runs.settings import batch_size_for
from planegraph.train import RunSettings, TrainSettings, load_settings, save_settings, train

from .tasks import regression


def test_a_saved_file_gives_the_same_settings(tmp_path):
    train = TrainSettings(lr=3e-4, schedule=Plateau(patience=30), clip=1.0, ema=0.99, seeds=4)
    settings = RunSettings("zinc", {"edge_features": False}, {"hidden": 128, "norm": "batch"}, "BasePlanE", train)
    save_settings(settings, tmp_path / "a.yaml")
    assert load_settings(tmp_path / "a.yaml") == settings


def test_yaml_by_hand_and_overrides(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("task: zinc\nmodel: {hidden: 32}\ntrain:\n  lr: 1e-3\n  schedule: {kind: cosine, warmup: 5}\n")
    settings = load_settings(path)
    assert settings.train.lr == 0.001
    assert settings.train.schedule == Cosine(warmup=5)
    changed = settings.with_overrides(["model.hidden=128", "train.schedule=step", "train.lr=5e-4", "train.clip=null"])
    assert changed.model["hidden"] == 128
    assert changed.train.schedule == StepDecay()
    assert changed.train.lr == 0.0005
    assert settings.with_overrides(["train.schedule.warmup=2"]).train.schedule == Cosine(warmup=2)
    other = settings.with_overrides(["train.schedule.kind=plateau", "train.schedule.patience=5"])
    assert other.train.schedule == Plateau(patience=5)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("train.epoch=3", "train.epoch"),
        ("model.hiden=3", "hiden"),
        ("model.norm=bach", "norm must be one of"),
        ("model.outputs=3", "decided by the task"),
        ("train.lr=-1", "train.lr must be a number above 0; found -1"),
        ("train.epochs=many", "train.epochs must be an integer"),
        ("train.optimizer=sgd", "adam, adamw; found 'sgd'"),
        ("train.schedule=never", "train.schedule must be one of"),
        ("train.schedule={kind: plateau, patience: 0}", "train.schedule.patience"),
        (
            "train.schedule={kind: step, patience: 3}",
            "no setting train.schedule.patience. Known: train.schedule.gamma, train.schedule.every",
        ),
        ("train.schedule={kind: [a]}", "train.schedule must be one of"),
        ("train.schedule={kind: plateau, factor: 2}", "train.schedule.factor must be a number, from 0 to 1; found 2"),
        ("train.schedule={kind: cosine, warmup: .inf}", "train.schedule.warmup must be a number, at least 0"),
        ("train.lr=.inf", "train.lr must be a number above 0; found inf"),
        ("train.seed=18446744073709551616", "at most 2"),
        ("train.lr=1" + 400 * "0", "integers must be at most 2^63 - 1; found one of 1329 bits"),
        ("train.epochs=1" + 4000 * "0", "integers must be at most"),
        ("train.schedule={kind: cosine, warmup: 1" + 400 * "0" + "}", "integers must be at most"),
        ("model.graph_scale=1" + 40 * "0", "integers must be at most"),
        ("model..hidden=3", "key.key=value"),
        ("train.ema=1", "train.ema"),
        ("train.lr.x=1", "train.lr has no settings"),
        ("lr", "key.key=value"),
        ("model_class=GAT", "model_class must be one of"),
        ("train.together=3", "train.together must be true or false; found 3"),
        ("train.ema=1.5", "train.ema must be a number above 0 and below 1; found 1.5"),
        ("train.seeds=1001", "train.seeds must be at most 1000; found 1001. Further seeds are another run"),
        ("train=[]", "train must be a table of settings"),
        ("train={seed: 1, seed: 2}", "seed is given twice, again in line 1"),
        ("train.lr=[", r"'train\.lr=\[' is not YAML"),
        ("train.lr=2026-13-01", r"'train\.lr=2026-13-01' is not YAML: month must be in 1\.\.12"),
        ("train.lr=" + 3000 * "[", "is not YAML: maximum recursion depth"),
        ("train.lr=\udcff", "is not YAML"),
    ],
)
def test_what_is_wrong_is_named(override, words):
    with pytest.raises(SettingsError, match=words.replace("(", r"\(").replace("^", r"\^")):
        RunSettings("zinc").with_overrides([override])


@pytest.mark.parametrize(
    "text", ["", "task: [", "- a", "model: {}", "task: zinc\ntrain: 3", "task: zinc\ntrain: []", "task: zinc\nmodel: []"]
)
def test_bad_files(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(SettingsError, match=r"a\.yaml"):
        load_settings(tmp_path / "a.yaml")


@pytest.mark.parametrize("text", ["options: &a {b: *a}", "a: &a [1]\nb: &b [*a, *a]", "options: &a {seed: 1}\ntrain: {<<: *a}"])
def test_aliases_are_refused(tmp_path, text):
    """A few hundred characters of them may stand for millions of values."""
    (tmp_path / "a.yaml").write_text(f"task: zinc\n{text}\n")
    with pytest.raises(SettingsError, match=r"a\.yaml: line [23] has an alias \(\*name\); write out what it stands for"):
        load_settings(tmp_path / "a.yaml")


def test_what_is_saved_has_no_alias(tmp_path):
    same = ["mu", "gap"]
    settings = RunSettings("zinc", {"targets": same, "measured": same})
    save_settings(settings, tmp_path / "a.yaml")
    assert load_settings(tmp_path / "a.yaml") == settings


def test_a_key_that_is_there_twice(tmp_path):
    """The later one does not win in silence; at different places a key may be there again."""
    path = tmp_path / "a.yaml"
    path.write_text("task: zinc\ntrain:\n  seed: 1\n  lr: 0.1\n  'seed': 2\n")
    with pytest.raises(SettingsError, match=r"a\.yaml: seed is given twice, again in line 5; keep one of them"):
        load_settings(path)
    path.write_text("task: zinc\noptions: {seed: 1}\ntrain: {seed: 3}\n")
    settings = load_settings(path)
    assert (settings.train.seed, settings.options["seed"]) == (3, 1)


def test_no_settings_are_the_defaults(tmp_path):
    (tmp_path / "a.yaml").write_text("task: zinc\ntrain:\nmodel:\n")
    assert load_settings(tmp_path / "a.yaml") == RunSettings("zinc")


def test_batch_sizes_by_the_number_of_graphs(tmp_path):
    """Filled in when a run begins, and kept, so that a resumed run has the same; a size that was said stays."""
    assert [batch_size_for(n) for n in (0, 1, 72, 5_000, 10_000, 40_000, 10**7)] == [64, 64, 64, 64, 128, 256, 256]
    settings = RunSettings("counting", model={"hidden": 8, "layers": 1}).with_overrides(["train.epochs=1"])
    assert settings.with_overrides(["train.batch_size=7"]).for_graphs(10_000).train.batch_size == 7
    assert settings.for_graphs(40_000, processes=3).train.batch_size == 86  # of each, about 256 together
    result = train(regression(), settings, tmp_path / "run", device="cpu")
    assert load_settings(tmp_path / "run" / "settings.yaml").train.batch_size == 64
    assert train(regression(), settings, tmp_path / "run", device="cpu", resume=True) == result


def test_a_short_run_warms_up_for_half_of_it():
    rates = TrainSettings(epochs=4).schedule.rates(1.0, {}, 1, 4, 2)
    assert rates[-1] == 1.0
