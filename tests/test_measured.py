"""The measured tables: the closest pair of many vectors against all pairs, every row of the tables, and the command."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="the tables need PyTorch")

import expressiveness
import measured
import tiger
import torch
from closest import closest_pair, count_close
from connected_planar import COUNTS, up_to
from measure import by_turns

from planegraph.data import PackedDataset
from planegraph.experiments.records import checked_record

CPU = torch.device("cpu")


@pytest.mark.parametrize("seed", range(40))
def test_against_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n, width = rng.integers(2, 200), rng.integers(1, 6)
    v = rng.standard_normal((n, width)) * 10.0 ** rng.integers(-3, 4, (n, 1))
    v = np.round(v, 1) if seed % 3 == 0 else v
    norms = np.linalg.norm(v, axis=1)
    scale = np.maximum(np.maximum(norms[:, None], norms), np.finfo(float).tiny)
    gaps = np.linalg.norm(v[:, None] - v, axis=2) / scale
    np.fill_diagonal(gaps, np.inf)
    found = closest_pair(v)
    assert found.gap == pytest.approx(gaps.min(), rel=1e-12)
    assert found.gap == pytest.approx(gaps[found.i, found.j], rel=1e-12)
    for gap in (0.0, 1e-3, 0.1, 0.4):
        assert count_close(v, gap) == (gaps[np.triu_indices(len(v), 1)] <= gap).sum()


def test_all_small_planar_graphs():
    row = expressiveness._all(PackedDataset.from_graphs(up_to(7)), CPU)
    graphs = sum(COUNTS[:7])
    assert row["graphs"] == graphs
    assert row["distinguished by BasePlanE"] == row["pairs"] == graphs * (graphs - 1) // 2
    assert row["smallest gap, BasePlanE"] > expressiveness.GAP
    assert row["distinguished by GIN"] < row["pairs"]  # 1-WL confuses connected graphs from 6 nodes on
    assert row["smallest gap, GIN"] < 1e-12


def test_expressiveness(data_root, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(tmp_path))
    said = []
    rows, notes = expressiveness.measure(str(data_root), CPU, said.append, nodes=5)
    assert [(row["pairs"], row["distinguished by BasePlanE"]) for row in rows] == [(600, 600), (467, 467), (31, 31), (435, 435)]
    assert [row["distinguished by GIN"] for row in rows[:3:2]] == [0, 0]
    assert len(said) == 4
    assert "width 32" in notes


def test_tiger(data_root):
    rows, notes = tiger.measure(str(data_root), CPU, lambda text: None, sizes=("1k", "2k"), repeats=1)
    assert [(row["graph"], row["nodes"]) for row in rows] == [("1k", 1000), ("2k", 2000)]
    for row in rows:
        assert 0 < row["preprocessing, ms"] < 100 * row["epoch of BasePlanE, ms"]
        assert row["BasePlanE / GIN"] == row["epoch of BasePlanE, ms"] / row["epoch of GIN, ms"] > 0
    assert "medians of 1 repeats" in notes


def test_by_turns_calls_by_turns():
    calls = []
    found = by_turns({name: lambda name=name: calls.append(name) for name in "ab"}, repeats=3, warm_up=1)
    assert calls == list("abababab")
    assert set(found) == {"a", "b"}


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(
        measured.MEASURES, "tiger", lambda root, device, say: ([{"graph": root, "preprocessing, ms": 1.5}], "a note")
    )
    measured.main(["tiger", "--records", str(tmp_path), "--data-root", "25k"])
    record = checked_record(tmp_path / "tiger")
    assert capsys.readouterr().out == f"{record.folder}\n"
    assert record.result["notes"] == "a note"
    assert record.result["rows"] == [{"graph": "25k", "preprocessing, ms": 1.5}]
