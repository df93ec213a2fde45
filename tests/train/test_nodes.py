"""Targets of nodes through `train`: full-batch and in batches, stacks of seeds, folds, resumed runs, files, reports."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph import PlanegraphError
from planegraph.cli import main
from planegraph.nn import GIN, BasePlanE
from planegraph.runs.checkpoint import load_checkpoint
from planegraph.runs.trials import trials_of
from planegraph.tasks import Task
from planegraph.train import settings_for, train
from planegraph.train.batches import Batches
from planegraph.train.environment import World
from planegraph.train.stack import Stack

from .tasks import small, stopped_at

CPU = torch.device("cpu")
MODULE = """
import numpy as np
import planegraph as pg
from planegraph.tasks import Task

def border(side=6):
    grid = pg.families.grid(side, side)
    return Task.from_nodes(grid, np.bincount(grid.edges.ravel()) < 4, name="border")
"""


def degrees(graphs: int = 12, **options) -> Task:
    """Random planar graphs; the degree of each node, and its square."""
    found = [pg.families.random_planar(6 + k, 0.5, seed=k) for k in range(graphs)]
    y = np.concatenate([np.bincount(g.edges.ravel(), minlength=g.num_nodes) for g in found]).astype(float)
    return Task.from_nodes(found, np.stack([y, y**2], 1), name="degrees", kind="regression", **options)


def read(folder, name="seed0") -> dict[str, np.ndarray]:
    return {key: value.numpy() for key, value in load_checkpoint(folder / "models" / name / "test.safetensors")[0].items()}


def test_parts_are_of_nodes():
    task = degrees()
    (trial,) = trials_of(task, small().train)
    assert sum(map(len, trial.nodes.values())) == task.size == task.dataset.tables.size("node")
    graph = np.repeat(np.arange(12), np.diff(task.dataset.tables.node_ptr))
    for part, ids in trial.split.items():
        assert ids.tolist() == sorted(set(graph[trial.nodes[part]]))
    assert len(trial.split["train"]) == 12  # nodes of most graphs are in several parts


@pytest.mark.parametrize("pad", [False, True])
def test_batches_have_targets_and_weights_of_nodes(pad):
    task = degrees()
    (trial,) = trials_of(task, small().train)
    batches = Batches(task.dataset, [trial], 5, pad, CPU, node_y=task.node_y)
    ptr, seen = task.dataset.tables.node_ptr, []
    for (batch,) in batches.training(0):
        rows = np.concatenate([np.arange(ptr[i], ptr[i + 1]) for i in batch.graph_ids.tolist()])
        counts = batch.attrs["weight"].bool().numpy()
        assert len(counts) == len(batch.y) == batch.layout.num_nodes
        assert np.array_equal(batch.y.numpy()[: len(rows)], task.node_y[rows])
        assert not counts[len(rows) :].any()
        seen += rows[counts[: len(rows)]].tolist()
    assert sorted(seen) == trial.nodes["train"].tolist()
    batches.close()


def test_the_loss_of_a_step_is_over_the_training_nodes():
    task = degrees()
    settings = small(batch_size=100, schedule="constant")
    (trial,) = trials_of(task, settings.train)
    stack = Stack(task, settings, [trial], CPU, World())
    (graphs,) = list(stack.batches.training(0))
    (batch,) = graphs
    with torch.no_grad():
        stack.model.train()
        out = stack.model(batch)
    counts = batch.attrs["weight"].bool()
    wanted = (out - batch.y).square().mean(-1)[counts]
    stack.step.differentiate(batch)
    total, count = stack.step.sums[-2:].tolist()
    assert count == len(trial.nodes["train"])
    assert total == pytest.approx(float(wanted.sum()), rel=1e-5)
    stack.batches.close()


def test_files_of_a_run(tmp_path):
    """Ids, predictions and targets of the test nodes in their units; the saved model gives the same from the dataset."""
    task = degrees(names=["degree", "square"])
    result = train(task, settings_for(task, ["model.hidden=8", "model.layers=1", "train.epochs=4"]), tmp_path / "run", device="cpu")
    saved = read(tmp_path / "run")
    assert np.array_equal(saved["id"], task.splits["test"])
    assert np.allclose(saved["true"][:, 0] ** 2, saved["true"][:, 1], rtol=1e-4)
    model = BasePlanE.from_pretrained(tmp_path / "run" / "models" / "seed0")
    assert model.config.level == "node"
    with torch.no_grad():
        alone = model(task.dataset[:]).numpy()[saved["id"]]
    assert np.allclose(alone, saved["predicted"], rtol=1e-3, atol=1e-4)
    rmse = np.sqrt(((saved["predicted"].astype(float) - saved["true"]) ** 2).mean(0))
    assert result["test"]["mean"] == pytest.approx(rmse.mean(), rel=1e-4)
    assert result["trials"][0]["figures"]["test"]["square"]["rmse"] == pytest.approx(rmse[1], rel=1e-4)
    assert result["level"] == "node"
    assert f"{len(saved['id'])} test nodes" in (tmp_path / "run" / "report.html").read_text()


def test_a_stack_of_seeds_is_each_seed_alone(tmp_path):
    task = degrees()
    together = train(task, small("degrees", seeds=3), tmp_path / "stack", device="cpu")
    for trial in together["trials"]:
        seed = trial["seed"]
        alone = train(task, small("degrees", seed=seed), tmp_path / f"seed{seed}", device="cpu", report=False)
        assert alone["trials"][0]["test"] == pytest.approx(trial["test"], rel=1e-4)


@pytest.mark.parametrize("options", [{"folds": 3}, {"split": "graphs"}, {"split": "graphs", "folds": 3}])
def test_splits(options, tmp_path):
    task = degrees(**options)
    graph = np.repeat(np.arange(12), np.diff(task.dataset.tables.node_ptr))
    for _, split in task.by_fold():
        assert np.array_equal(np.sort(np.concatenate(list(split.values()))), np.arange(task.size))
        shared = set(graph[split["train"]]) & set(graph[split["test"]])
        assert bool(shared) != ("split" in options)
    result = train(task, small("degrees", epochs=2), tmp_path / "run", device="cpu", report=False)
    assert len(result["trials"]) == options.get("folds", 1)


def test_an_interrupted_run_is_resumed(tmp_path):
    task, settings = degrees(), small("degrees", batch_size=4, epochs=4)
    whole = train(task, settings, tmp_path / "whole", device="cpu", report=False)
    with pytest.raises(PlanegraphError, match="stopped in epoch"):
        stopped_at(5, lambda: train(task, settings, tmp_path / "part", device="cpu"))
    assert train(task, settings, tmp_path / "part", resume=True, device="cpu")["trials"] == whole["trials"]
    other = Task.from_nodes(
        task.dataset, np.where(np.arange(task.size)[:, None] == 3, 7.0, task.node_y), name="degrees", kind="regression"
    )
    with pytest.raises(PlanegraphError, match="was made of other data"):
        train(other, small("degrees", batch_size=4, epochs=5), tmp_path / "part", resume=True, device="cpu")


def test_a_model_for_each_target(tmp_path):
    task = replace(degrees(), targets=("degree", "square"), outputs=1, units=None, loss="l1", metric="mae")
    train(task, small("degrees", epochs=2), tmp_path / "run", device="cpu")
    for k, name in enumerate(task.targets):
        assert np.array_equal(read(tmp_path / "run" / name)["true"][:, 0], task.node_y[task.splits["test"], k])


def test_it_learns(tmp_path, monkeypatch, capsys):
    """By the command, from a function; the node at the border of a grid is what has fewer than four neighbours."""
    name = f"own_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    options = ["--set", "model.hidden=8", "model.layers=1", "train.epochs=60", "train.lr=0.02", "--device", "cpu", "-q"]
    assert main(["train", f"{name}:border", *options]) == 0
    result = json.loads((tmp_path / "runs" / "border" / "result.json").read_text())
    assert (result["metric"], result["test"]["mean"]) == ("rocauc", 1.0)
    assert main(["train", "--resume", "--out", "runs/border", "-q", "--device", "cpu"]) == 0
    sys.modules.pop(name)


# ---- where targets come from --------------------------------------------------------------------------------------------------------


def test_networkx_graphs():
    graph = nx.grid_2d_graph(4, 4)
    degree = dict(graph.degree())
    nx.set_node_attributes(graph, degree, "degree")
    nx.set_edge_attributes(graph, {edge: 0.5 + edge[0][0] for edge in graph.edges}, "length")
    wanted = [degree[node] for node in graph]
    for y in (wanted, degree, "degree", np.array(wanted)):
        task = Task.from_nodes(graph, y, kind="regression", edge_attrs="length")
        (center, spread), *_ = task.units
        assert np.allclose(task.node_y[:, 0] * spread + center, wanted, atol=1e-5)
        assert task.edge_features.width == 1


def test_pyg_graphs():
    from torch_geometric.data import Data

    index = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    masks = {f"{part}_mask": torch.tensor([k == j for j in (0, 0, 1, 2)]) for k, part in enumerate(("train", "val", "test"))}
    data = Data(edge_index=index, x=torch.tensor([[0], [1], [0], [1]]), y=torch.tensor([0, 1, 0, 1]), **masks)
    task = Task.from_pyg(data, level="node", metric="accuracy")
    assert {part: ids.tolist() for part, ids in task.splits.items()} == {"train": [0, 1], "val": [2], "test": [3]}
    two = Task.from_pyg([data, data], level="node", metric="accuracy")
    assert two.splits["test"].tolist() == [3, 7]
    assert GIN.for_data(two, hidden=8)(two.dataset[:]).shape == (8, 1)
    with pytest.raises(PlanegraphError, match="there is no y: graph 1 has no attribute 'speed'"):
        Task.from_pyg([Data(edge_index=index, speed=torch.ones(4)), data], y="speed", level="node")
    with pytest.raises(PlanegraphError, match="level is graph or node; found 'edge'"):
        Task.from_pyg(data, level="edge")


def test_missing_targets_are_in_no_random_part():
    grid = pg.families.grid(6, 6)
    y = np.arange(36.0)
    y[::4] = np.nan
    task = Task.from_nodes(grid, y)
    assert task.missing
    assert not np.isnan(y[np.concatenate(list(task.splits.values()))]).any()


def test_refused():
    grid = pg.families.grid(3, 3)
    y = np.arange(9.0)
    for given, options, message in [
        ((grid, y[:8]), {}, "y must have one row for each of the 9 nodes; found shape (8,)"),
        ((grid, "degree"), {}, "task nodes: the attribute 'degree' is for networkx graphs"),
        ((nx.path_graph(3), {0: 1.0, 1: 2.0}), {}, "task nodes: node 2 has no target; NaN says that it was not measured"),
        ((pg.Graph(0, []), []), {}, "task nodes: there are no nodes"),
        ((grid, np.where(y == 4, np.inf, y)), {}, "task nodes: y must be finite, or NaN if not measured; found inf at node 4"),
        ((grid, y), {"split": "scaffold"}, "task nodes: split is 'random', 'graphs', the ids or masks of train, val and test"),
        ((grid, y), {"split": {"train": [0, 9], "val": [1], "test": [2]}}, "part 'train' names node 9; there are 9, from 0"),
        ((grid, y), {"split": {"train": [0], "val": [1, 1], "test": [2]}}, "part 'val' names node 1 more than once"),
    ]:
        with pytest.raises(PlanegraphError) as error:
            Task.from_nodes(*given, **options)
        assert message in str(error.value)
    task = Task.from_nodes(grid, y)
    with pytest.raises(PlanegraphError, match="sample_weight weighs graphs, but this task has targets of nodes"):
        Task("weighted", task.dataset.with_attrs(sample_weight=[1.0]), task.splits, node_y=task.node_y)
    with pytest.raises(PlanegraphError, match=r"node_y must have a row for each of 9 nodes; found shape \(8, 1\)"):
        Task("short", task.dataset, task.splits, node_y=task.node_y[:8])
    with pytest.raises(PlanegraphError, match="no nodes in part 'test'; the parts with nodes are train, val"):
        trials_of(Task.from_nodes(grid, y, split={"train": [0], "val": [1], "test": []}), small().train)


def test_settings_go_by_the_number_of_graphs():
    """One map of 10,000 nodes is one graph, that is one step an epoch, and not 10,000."""
    grid = pg.families.grid(100, 100)
    settings = settings_for(Task.from_nodes(grid, np.bincount(grid.edges.ravel()) < 4))
    assert (settings.train.epochs, settings.train.lr, settings.model["norm_momentum"]) == (100, 0.01, 1)
    assert settings.model["graph_scale"] == 10_000


def test_processes_share_a_step():
    """With two processes and three graphs the second has one graph, then a stand-in that does not count."""
    task = degrees(3)
    (trial,) = trials_of(task, small().train)
    counted = []
    for rank in range(2):
        batches = Batches(task.dataset, [trial], 1, False, CPU, World(2, rank), node_y=task.node_y)
        counted.append([int(batch.attrs["weight"].sum()) for (batch,) in batches.training(0)])
        batches.close()
    assert len(counted[0]) == len(counted[1]) == 2
    assert counted[1][1] == 0
    assert sum(map(sum, counted)) == len(trial.nodes["train"])
