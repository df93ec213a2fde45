"""What is measured rather than trained: that every row is there and says what theory says."""

from __future__ import annotations

import torch

from planegraph.data import PackedDataset
from planegraph.experiments import expressiveness, tiger
from planegraph.experiments.exhaustive import COUNTS, up_to

CPU = torch.device("cpu")


def test_all_small_planar_graphs():
    row = expressiveness._all(PackedDataset.from_graphs(up_to(7)), CPU)
    graphs = sum(COUNTS[:7])
    assert row["graphs"] == graphs
    assert row["baseplane_told_apart"] == row["pairs"] == graphs * (graphs - 1) // 2
    assert row["baseplane_smallest_gap"] > expressiveness.GAP
    assert row["gin_told_apart"] < row["pairs"]  # 1-WL confuses connected graphs from 6 nodes on
    assert row["gin_smallest_gap"] < 1e-12


def test_expressiveness(data_root, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(tmp_path))
    said = []
    rows, notes = expressiveness.measure(str(data_root), CPU, said.append, nodes=5)
    assert [(row["pairs"], row["baseplane_told_apart"]) for row in rows] == [(600, 600), (467, 467), (31, 31), (435, 435)]
    assert [row["gin_told_apart"] for row in rows[:3:2]] == [0, 0]
    assert len(said) == 4
    assert "width 32" in notes


def test_tiger(data_root):
    rows, notes = tiger.measure(str(data_root), CPU, lambda text: None, sizes=("1k", "2k"), repeats=1)
    assert [(row["graph"], row["nodes"]) for row in rows] == [("1k", 1000), ("2k", 2000)]
    for row in rows:
        assert 0 < row["preprocessing_seconds"] < row["baseplane_epoch_seconds"] * 100
        assert row["gin_epoch_seconds"] > 0
    assert "medians of 1 repeats" in notes


def test_by_turns_calls_by_turns():
    calls = []
    found = tiger.by_turns({name: lambda name=name: calls.append(name) for name in "ab"}, CPU, repeats=3, warm_up=1)
    assert calls == list("abababab")
    assert set(found) == {"a", "b"}
