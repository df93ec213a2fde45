"""Sweeps: combinations and their folders, what is kept, resumed and recorded, the order, and the command."""

from __future__ import annotations

import csv
import itertools
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from planegraph import datasets
from planegraph.cli import main
from planegraph.cli.sweep import table
from planegraph.errors import FormatError, PlanegraphError
from planegraph.runs.errors import FolderError, SettingsError, Stopped
from planegraph.runs.sweeps import MOST, SweepRun, combinations, read_sweep, value_text, varies
from planegraph.train import RunSettings, sweep, train

from .tasks import regression, small, stopped_at
from .test_targets import several

MADE_UP = ("train.lr", "model.hidden", "train.patience", "train.schedule.patience", "options.name", "model_class")
VALUES = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(max_codepoint=0xFFFF, codec="utf-8"), min_size=1, max_size=40),
    st.booleans(),
    st.none(),
    st.lists(st.integers(0, 9), max_size=3),
)
RESERVED = set('<>:"/\\|?* ') | {chr(k) for k in range(32)}


# ---- combinations -------------------------------------------------------------------------------------------------------------


SEVERAL = st.lists(VALUES, min_size=2, max_size=4, unique_by=lambda value: value_text(value).casefold())


@given(st.dictionaries(st.sampled_from(MADE_UP), SEVERAL, max_size=3))
@example({"options.name": ["a/b", "a:b", "a.", "a"]})
@example(
    {"train.lr": [1e-3, 2e-5], "options.name": ["x" * 40, "y" * 40], "model.hidden": [32, 64], "train.patience": ["p" * 40, "q"]}
)
def test_combinations_are_the_cross_product(swept):
    assume(all(a != b for values in swept.values() for a, b in itertools.combinations(values, 2)))  # 0 is False
    overrides = ["train.epochs=3", *(f"{key}={','.join(map(json.dumps, values))}" for key, values in swept.items())]
    found = combinations(overrides)
    assert varies(overrides) == (len(swept) > 0)
    assert [tuple(c.values.values()) for c in found] == list(itertools.product(*swept.values()))
    for combination in found:
        assert combination.overrides[0] == "train.epochs=3"
        given = dict(override.partition("=")[::2] for override in combination.overrides[1:])
        assert {key: json.loads(text) for key, text in given.items()} == combination.values
    if swept:
        names = [c.name for c in found]
        assert len({name.casefold() for name in names}) == len(names)
        for name in names:
            assert name.isascii()
            assert not set(name) & RESERVED
            assert len(name) <= 120
            assert not name.endswith(".")


def test_what_is_one_value():
    for override in ("options.target=[mu,gap]", "train.schedule={kind: step, every: 5}", "options.name='a,b'", "train.lr=1e-3,"):
        assert not varies([override])
        assert combinations([override])[0].overrides == (override,)
    assert [c.values["options.target"] for c in combinations(["options.target=[mu,gap],[mu],gap"])] == [
        ["mu", "gap"],
        ["mu"],
        "gap",
    ]
    kinds = [c.overrides for c in combinations(["train.schedule={kind: step, every: 5},constant"])]
    settings = [RunSettings("x").with_overrides(o).train.schedule for o in kinds]
    assert [type(schedule).__name__ for schedule in settings] == ["StepDecay", "Constant"]


def test_names():
    assert [c.name for c in combinations(["train.lr=1e-3,2e-3", "model.hidden=32,64"])][:2] == [
        "lr=0.001,hidden=32",
        "lr=0.001,hidden=64",
    ]
    assert (
        combinations(["train.patience=1,2", "train.schedule.patience=3,4"])[0].name == "train.patience=1,train.schedule.patience=3"
    )
    few, more = (combinations([f"train.lr={values}"]) for values in ("1e-3,2e-3", "1e-3,2e-3,4e-3"))
    assert [c.name for c in few] == [c.name for c in more][:2]  # a sweep with further values finds its runs


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["train.lr=1e-3,0.001"], "train.lr has the value 0.001 twice"),
        (["train.lr=1e-3,2e-3", "train.lr=1e-3"], "train.lr is set 2 times"),
        (["options.name=a,A"], "name=a and name=A would share a folder"),
        (
            [f"train.seed={','.join(map(str, range(15)))}", f"model.hidden={','.join(map(str, range(14)))}"],
            "found 210, 15 of train.seed x 14",
        ),
    ],
)
def test_combinations_that_are_refused(overrides, words):
    with pytest.raises(SettingsError, match=words):
        combinations(overrides)
    assert len(combinations([f"train.seed={','.join(map(str, range(MOST)))}"])) == MOST


# ---- the sweep ----------------------------------------------------------------------------------------------------------------


def run(folder: Path, *overrides: str, trained: list[str] | None = None) -> list[SweepRun]:
    """A sweep on a small task; ``trained`` is told which runs were asked for."""
    task = regression()

    def train_one(settings: RunSettings, out: Path) -> None:
        if trained is not None:
            trained.append(out.name)
        train(task, settings, out, resume=True, device="cpu")

    return sweep(train_one, small(epochs=2).with_overrides, overrides, folder)


def test_runs_are_ordinary_and_ordered_by_validation(tmp_path):
    runs = run(tmp_path / "sweep", "train.lr=1e-2,1e-3,1e-4", "model.hidden=4,8")
    assert len(runs) == 6
    for found in runs:
        alone = train(
            regression(),
            small(epochs=2).with_overrides([f"{k}={v}" for k, v in found.values.items()]),
            tmp_path / found.folder.name,
        )
        assert found.result["val"] == alone["val"]
    errors = [found.result["val"]["mean"] for found in runs]
    assert errors == sorted(errors)
    assert read_sweep(tmp_path / "sweep") == runs


def result(val: float, metric: str = "mae", kind: str = "regression") -> dict:
    """A result whose test figure says the opposite of validation."""
    return {
        "metric": metric,
        "kind": kind,
        "val": {"mean": val, "std": 0.0},
        "test": {"mean": -val, "std": 0.0},
        "seconds": 1.0,
        "trials": [{}],
    }


@pytest.mark.parametrize(
    ("metric", "kind", "best"), [("mae", "regression", 0.1), ("r2", "regression", 0.9), ("rocauc", "binary", 0.9)]
)
def test_order_of_metrics(tmp_path, metric, kind, best):
    values = {"a=1": 0.5, "a=2": best, "a=3": math.nan, "a=4": None, "a=5": 1 - best}
    (tmp_path / "sweep.json").write_text(json.dumps({"runs": [{"folder": name, "values": {"train.a": name}} for name in values]}))
    for name, val in values.items():
        (tmp_path / name).mkdir()
        if val is not None:
            (tmp_path / name / "result.json").write_text(json.dumps(result(val, metric, kind)))
    (tmp_path / "a=4" / "diverged.json").write_text(json.dumps({"message": "no"}))
    runs = read_sweep(tmp_path)
    assert [found.folder.name for found in runs] == ["a=2", "a=1", "a=5", "a=3", "a=4"]
    assert [found.state for found in runs] == ["finished"] * 4 + ["diverged"]


def test_an_interrupted_sweep_is_continued(tmp_path):
    overrides = ("train.lr=1e-2,1e-3,1e-4", "train.epochs=4")
    whole = run(tmp_path / "whole", *overrides)
    with pytest.raises(Stopped):
        stopped_at(3, lambda: run(tmp_path / "cut", *overrides), stack=1)  # in the second run
    states = {found.folder.name: found.state for found in read_sweep(tmp_path / "cut")}
    assert states == {"lr=0.01": "finished", "lr=0.001": "not finished", "lr=0.0001": "not finished"}
    assert (tmp_path / "cut" / "lr=0.001" / "checkpoint.safetensors").exists()
    assert not (tmp_path / "cut" / "lr=0.0001").exists()
    first = (tmp_path / "cut" / "lr=0.01" / "result.json").stat().st_mtime_ns
    again = run(tmp_path / "cut", *overrides)
    assert (tmp_path / "cut" / "lr=0.01" / "result.json").stat().st_mtime_ns == first
    assert len(json.loads((tmp_path / "cut" / "lr=0.001" / "machine.json").read_text())["sessions"]) == 2
    assert [(f.folder.name, f.result["val"], f.result["test"]) for f in again] == [
        (f.folder.name, f.result["val"], f.result["test"]) for f in whole
    ]


def test_further_values_keep_the_runs(tmp_path):
    before = run(tmp_path, "train.lr=1e-2,1e-3")
    times = {found.folder: (found.folder / "result.json").stat().st_mtime_ns for found in before}
    after = run(tmp_path, "train.lr=1e-2,1e-3,1e-4")
    assert len(after) == 3
    assert all((folder / "result.json").stat().st_mtime_ns == time for folder, time in times.items())


def test_a_run_that_diverges_is_recorded_and_the_others_are_trained(tmp_path):
    overrides, trained = ("train.lr=1e30,1e-2", "train.epochs=9"), []
    runs = run(tmp_path, *overrides, trained=trained)
    assert [(found.folder.name, found.state) for found in runs] == [("lr=0.01", "finished"), ("lr=1e+30", "diverged")]
    assert "epoch" in runs[1].diverged
    assert trained == ["lr=1e+30", "lr=0.01"]
    assert run(tmp_path, *overrides, trained=trained) == runs
    assert trained[2:] == ["lr=0.01"]  # it would diverge again
    shutil.rmtree(tmp_path / "lr=1e+30")
    run(tmp_path, *overrides, trained=trained)
    assert trained[3:] == ["lr=1e+30", "lr=0.01"]


def test_folders_that_are_refused(tmp_path):
    train(regression(), small(epochs=1), tmp_path / "run", device="cpu")
    with pytest.raises(FolderError, match="already holds a run"):
        run(tmp_path / "run", "train.lr=1e-2,1e-3")
    with pytest.raises(SettingsError, match=r"train\.colour"):
        run(tmp_path / "none", "train.colour=1,2")
    with pytest.raises(SettingsError, match="no setting has several values"):
        run(tmp_path / "none", "train.lr=1e-2")
    with pytest.raises(SettingsError, match="need one task"):
        run(tmp_path / "none", "task=a,b")
    assert not (tmp_path / "none").exists()
    with pytest.raises(PlanegraphError, match="holds no sweep"):
        read_sweep(tmp_path)
    for text in ("[", "{}", '{"runs": [3]}'):
        (tmp_path / "sweep.json").write_text(text)
        with pytest.raises(FormatError, match="damaged"):
            read_sweep(tmp_path)


# ---- the command --------------------------------------------------------------------------------------------------------------

FAST = ["--set", "model.layers=1", "train.epochs=2", "train.schedule=constant", "--device", "cpu", "-q"]


@pytest.fixture
def counting(monkeypatch):
    class Dataset:
        asked = 0

        def task(self, target=None):
            Dataset.asked += 1
            return several() if target == "each" else regression()

    monkeypatch.setattr(datasets, "get", lambda name, root=None: Dataset(), raising=False)
    return Dataset


def test_sweep_on_a_benchmark(tmp_path, capsys, counting):
    out = tmp_path / "sweep"
    command = ["train", "counting", *FAST, "--set", "train.lr=1e-2,1e-3", "model.hidden=4,8", "--seeds", "2", "--out", str(out)]
    assert main(command) == 0
    assert counting.asked == 1
    text = capsys.readouterr().out
    runs = read_sweep(out)
    assert [line.split()[:2] for line in text.splitlines()[1:5]] == [[str(v) for v in found.values.values()] for found in runs]
    assert text.count("test at the best epoch") == 1
    assert f"best on validation: {runs[0].folder.name}\n" in text
    assert f"kept in {runs[0].folder}\n" in text
    assert all((found.folder / "report.html").is_file() for found in runs)
    assert all(len(found.result["trials"]) == 2 for found in runs)
    with open(out / "sweep.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == [found.folder.name for found in runs]
    assert [bool(row["test"]) for row in rows] == [True, False, False, False]
    assert float(rows[1]["validation"]) == runs[1].result["val"]["mean"]
    (out / "sweep.html").unlink()
    assert main(["report", str(out)]) == 0
    assert (out / "sweep.html").is_file()
    assert main(["report", str(out), "--svg", str(tmp_path)]) == 2


def test_exit_codes(tmp_path, capsys, counting):
    out = ["--out", str(tmp_path / "sweep")]
    assert main(["train", "counting", *FAST, "--set", "train.lr=1e30,1e-2", "train.epochs=9", *out]) == 3
    told = capsys.readouterr()
    assert "diverged" in told.out
    assert "best on validation: lr=0.01" in told.out
    codes = []
    other = ["--out", str(tmp_path / "stopped")]
    stopped_at(1, lambda: codes.append(main(["train", "counting", *FAST, "--set", "train.lr=1e-3,1e-2", *other])), stack=1)
    assert codes == [143]
    assert "and saved in" in (err := capsys.readouterr().err)
    assert "; the same command continues the sweep" in err
    assert "--resume" not in err
    assert main(["train", "counting", *FAST, "--set", "train.lr=1e30,1e29", "train.epochs=9", "--out", str(tmp_path / "all")]) == 3
    assert "best" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train.colour=1,2"], "there is no setting train.colour"),
        (["train.lr=1e-3,fast"], "train.lr must be a number"),
        (["train.lr=1e-3,0.001"], "has the value 0.001 twice"),
        (["train.seed=" + ",".join(map(str, range(201)))], "at most 200 combinations; found 201"),
        (["task=counting,other"], "--set makes the task other"),
        (["options.colour=1,2"], "options of the task counting"),
    ],
)
def test_usage_errors(tmp_path, capsys, counting, words, message):
    assert main(["train", "counting", *FAST, "--set", *words, "--out", str(tmp_path / "sweep")]) == 2
    assert message in capsys.readouterr().err


def test_a_model_for_each_target_has_no_single_figure(tmp_path, capsys, counting):
    out = ["--out", str(tmp_path / "sweep")]
    assert main(["train", "counting", *FAST, "--set", "train.lr=1e-3,1e-2", "options.target=each", *out]) == 2
    assert f"{', '.join(several().targets)} have a model each" in capsys.readouterr().err
    assert not list(tmp_path.glob("sweep/*/settings.yaml"))


def test_a_sweep_needs_its_task(tmp_path, capsys, counting):
    assert main(["train", "--resume", "--out", str(tmp_path), "--set", "train.lr=1e-3,1e-2"]) == 2
    assert "name the task of the sweep" in capsys.readouterr().err


def test_the_table_is_cut():
    runs = [SweepRun(Path(f"a={k}"), {"train.a": k}, result=result(k / 10)) for k in range(30)]
    lines = table(runs).splitlines()
    assert len(lines) == 22
    assert lines[0].split() == ["a", "validation", "mae", "time"]
    assert lines[-1] == "... and 10 more, in sweep.csv"


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit")
    rng = np.random.default_rng(0)
    smiles = ["C" + "".join(rng.choice(["C", "O", "N", "C(=O)"], 4)) + "C" for _ in range(60)]
    rows = [(s, s.count("O") + 0.1 * len(s)) for s in smiles]
    with open(tmp_path / "mols.csv", "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "value"), *rows, ("not a molecule", 1.0)])
    return tmp_path / "mols.csv"


def test_sweep_on_molecules(tmp_path, capsys, monkeypatch, molecules):
    from planegraph.tasks.molecules import task as molecule_task
    from planegraph.train import molecules as training

    read, seen, compared = molecule_task.read_molecule_task, [], []
    monkeypatch.setattr(molecule_task, "read_molecule_task", lambda *a: seen.append(a) or read(*a))
    monkeypatch.setattr(training, "baseline_figures", lambda *a: compared.append(a) or {"skipped": "a test"})
    out = tmp_path / "sweep"
    command = [
        "train",
        str(molecules),
        "--no-descriptors",
        *FAST,
        "--set",
        "train.lr=1e-2,1e-3",
        "model.hidden=4,8",
        "--ensemble",
        "2",
    ]
    assert main([*command, "--out", str(out)]) == 0
    told = capsys.readouterr()
    best, *others = read_sweep(out)
    assert (len(seen), len(compared)) == (1, 1)  # the table is read once, and baselines are for the chosen run
    assert "baselines" in best.result
    assert not any("baselines" in found.result for found in others)
    assert len(best.result["trials"]) == 2
    assert f"planegraph predict {best.folder} FILE -o OUT.csv" in told.out
    assert "1 row skipped: skipped.csv in the folder of each run" in told.err
    assert main(["predict", str(best.folder), str(molecules), "-o", str(tmp_path / "predicted.csv"), "-q"]) == 1  # one bad row
    assert main([*command, "--out", str(out)]) == 0  # nothing is left to do
    assert [found.folder for found in read_sweep(out)] == [best.folder, *(found.folder for found in others)]


def test_a_run_on_molecules_that_died_before_its_first_checkpoint(tmp_path, molecules):
    command = [
        "train",
        str(molecules),
        "--no-descriptors",
        "--no-baselines",
        *FAST,
        "--set",
        "model.hidden=4,8",
        "--out",
        str(tmp_path / "sweep"),
    ]
    assert main(command) == 0
    folder = tmp_path / "sweep" / "hidden=4"
    before = json.loads((folder / "result.json").read_text())
    for name in ("checkpoint.safetensors", "result.json", "log.jsonl"):
        (folder / name).unlink()
    assert main(command) == 0
    assert json.loads((folder / "result.json").read_text())["val"] == before["val"]
