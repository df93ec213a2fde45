"""Your own data through `train` and through the command: packed files, functions, tasks of other packages."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.cli import main
from planegraph.data import PackedDataset
from planegraph.nn import BasePlanE
from planegraph.runs.checkpoint import load_checkpoint
from planegraph.tasks import Task
from planegraph.train import load_settings, settings_for, train

from .tasks import stopped_at

FAST = ["--set", "model.hidden=8", "model.layers=1", "train.epochs=3", "train.batch_size=16", "--device", "cpu", "-q"]

MODULE = """
import torch
from torch_geometric.data import Data
from planegraph.tasks import Task

def rings(count=60, scale=10.0):
    graphs = []
    for k in range(count):
        n = 3 + k % 7
        u = torch.arange(n)
        index = torch.stack([torch.cat([u, (u + 1) % n]), torch.cat([(u + 1) % n, u])])
        graphs.append(Data(edge_index=index, x=(u % 3)[:, None], y=torch.tensor([scale * n])))
    return Task.from_pyg(graphs, name="rings")

def number():
    return 3

def broken():
    return 1 / 0

def refused():
    return Task.from_graphs([], [])

CONSTANT = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module with tasks in the current folder, which nothing else knows."""
    name = f"own_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])  # undone afterwards
    yield name
    sys.modules.pop(name, None)


def refused(capsys, *words: str) -> str:
    assert main(["train", *words, "--device", "cpu"]) == 2
    return capsys.readouterr().err


def test_figures_are_in_units(tmp_path):
    """The result by hand: rmse of values that were never standardised, from the saved model and the saved predictions."""
    lengths = 3 + np.arange(60) % 7
    y = 1000.0 * lengths + 7.0
    task = Task.from_graphs([pg.families.cycle(int(n)) for n in lengths], y, name="rings")
    settings = settings_for(task, ["model.hidden=8", "model.layers=1", "train.epochs=5"])
    result = train(task, settings, tmp_path / "run", device="cpu")
    saved, _ = load_checkpoint(tmp_path / "run" / "models" / "seed0" / "test.safetensors")
    ids, predicted = saved["id"].numpy(), saved["predicted"].double().numpy()[:, 0]
    assert np.array_equal(ids, task.splits["test"])
    assert np.allclose(saved["true"].numpy()[:, 0], y[ids], rtol=1e-5)
    assert result["test"]["mean"] == pytest.approx(np.sqrt(np.mean((predicted - y[ids]) ** 2)), rel=1e-4)
    assert result["metric"] == "rmse"
    model = BasePlanE.from_pretrained(tmp_path / "run" / "models" / "seed0").eval()
    with torch.no_grad():
        alone = model(task.dataset[ids]).double().numpy()[:, 0]
    assert np.allclose(alone, predicted, rtol=1e-4)
    assert (tmp_path / "run" / "report.html").exists()


def test_a_function(module, tmp_path, capsys):
    name = f"{module}:rings"
    assert main(["train", name, *FAST, "--set", "options.scale=100"]) == 0
    assert "kept in runs/rings\nreport: runs/rings/report.html\n" in capsys.readouterr().out
    out = tmp_path / "runs" / "rings"
    settings = load_settings(out / "settings.yaml")
    assert (settings.task, settings.options, settings.model["graph_scale"]) == (name, {"scale": 100}, 5.9)
    result = json.loads((out / "result.json").read_text())
    assert result["task"] == "rings"
    assert result["test"]["mean"] > 10  # of targets from 300 to 900
    assert (out / "report.html").exists()


def test_the_folder_alone_resumes_a_function(module, tmp_path, capsys):
    """With the numbers of a run that was not interrupted."""
    words = ["train", f"{module}:rings", *FAST, "--set", "train.save_seconds=0"]
    assert main([*words, "--out", "whole"]) == 0
    stopped_at(4, lambda: main([*words, "--out", "part"]))
    assert "stopped in epoch 2" in capsys.readouterr().err
    assert not (tmp_path / "part" / "result.json").exists()
    assert main(["train", "--resume", "--out", "part", "-q", "--device", "cpu"]) == 0
    whole, part = (json.loads((tmp_path / folder / "result.json").read_text())["trials"] for folder in ("whole", "part"))
    assert whole == part
    assert len((tmp_path / "part" / "log.jsonl").read_text().splitlines()) == 3


def test_a_packed_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lengths = 3 + np.arange(60) % 7
    split = np.arange(60) % 3
    packed = PackedDataset.from_graphs([pg.families.cycle(int(n)) for n in lengths], lengths.astype(float), attrs={"part": split})
    packed.save("rings.safetensors")
    assert main(["train", "rings.safetensors", *FAST]) == 0
    assert main(["train", "rings.safetensors", *FAST, "--split", "column:part", "--metric", "mae", "--out", "mine"]) == 0
    settings = load_settings(tmp_path / "mine" / "settings.yaml")
    assert (settings.task, settings.options) == ("rings.safetensors", {"metric": "mae", "split": "column:part"})
    saved, _ = load_checkpoint(tmp_path / "mine" / "models" / "seed0" / "test.safetensors")
    assert np.array_equal(saved["id"].numpy(), np.flatnonzero(split == 2))
    before = (tmp_path / "mine" / "result.json").read_text()
    assert main(["train", "--resume", "--out", "mine", "-q", "--device", "cpu"]) == 0
    assert (tmp_path / "mine" / "result.json").read_text() == before
    folds = ["--folds", "3", "--task", "multiclass", "--set", "options.name=classes"]
    assert main(["train", "rings.safetensors", *FAST, *folds, "--out", "folds"]) == 0
    result = json.loads((tmp_path / "folds" / "result.json").read_text())
    assert (result["task"], result["metric"], len(result["trials"])) == ("classes", "accuracy", 3)
    assert "task rings: split is 'random', 'column:NAME', " in refused(capsys, "rings.safetensors", "--split", "by-size")
    assert "options of the task rings.safetensors: " in refused(capsys, "rings.safetensors", "--set", "options.colour=red")
    assert "other.safetensors: there is no such file; PackedDataset.save writes one" in refused(capsys, "other.safetensors")
    assert "is a run on rings.safetensors, not p3r" in refused(capsys, "p3r", "--resume", "--out", "mine")


def test_a_task_of_another_package(module, tmp_path, capsys, monkeypatch):
    """An installed package registers it by an entry point; the name alone resumes it."""
    info = tmp_path / "polygons-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: polygons\nVersion: 0.1\n")
    lines = [f"polygons = {module}:rings", "absent = nosuchmodule:rings", f"odd = {module}:number"]
    (info / "entry_points.txt").write_text("\n".join(["[planegraph.tasks]", *lines]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["train", "polygons", *FAST, "--set", "options.count=40"]) == 0
    assert load_settings(tmp_path / "runs" / "polygons" / "settings.yaml").task == "polygons"
    assert main(["train", "--resume", "--out", "runs/polygons", "-q", "--device", "cpu"]) == 0
    capsys.readouterr()
    assert "; installed packages add absent, odd, polygons. Your own data is named as " in refused(capsys, "nosuch")
    what = (
        "loading nosuchmodule:rings, which a package registers for it, failed (ModuleNotFoundError: No module named 'nosuchmodule')"
    )
    assert f"task absent: {what}" in refused(capsys, "absent")
    assert "task odd: the function must return a planegraph.tasks.Task; found int" in refused(capsys, "odd")


def test_functions_that_are_refused(module, tmp_path, capsys):
    (tmp_path / f"{module}_bad.py").write_text("import nosuchmodule\n")
    (tmp_path / f"{module}_worse.py").write_text("x = (\n")
    for words, message in {
        ("nosuchmodule:rings",): "task nosuchmodule:rings: there is no module nosuchmodule, here or in Python's path",
        (f"{module}.tasks:rings",): f"there is no module {module}.tasks, here or in Python's path",
        (f"{module}:ring",): f"module {module} has no function ring; its functions are rings, number, broken, refused",
        (f"{module}:CONSTANT",): f"module {module} has CONSTANT, which is int and no function; its functions are rings",
        (f"{module}:number",): "the function must return a planegraph.tasks.Task; found int",
        (f"{module}:broken",): f"the function failed (ZeroDivisionError: division by zero; {module}.py, line 19)",
        (f"{module}:refused",): "task graphs: there are no graphs",
        (
            f"{module}:rings",
            "--set",
            "options.colour=red",
        ): f"options of the task {module}:rings: got an unexpected keyword argument",
        (
            f"{module}:rings",
            "--split",
            "random2",
        ): f"options of the task {module}:rings: got an unexpected keyword argument 'split'",
        (
            f"{module}_bad:rings",
        ): f"importing {module}_bad failed (ModuleNotFoundError: No module named 'nosuchmodule'; {module}_bad.py, line 1)",
        (f"{module}_worse:rings",): f"importing {module}_worse failed (SyntaxError: '(' was never closed",
        ("nosuch",): "there is no dataset 'nosuch'; there are exp, ",
    }.items():
        assert message in refused(capsys, *words)
    assert not (tmp_path / "runs").exists()
