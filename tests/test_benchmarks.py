"""The machinery of the speed tables on small data: rows, verdicts, skips, exit codes; no figure is judged here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the tables of learning and training need PyTorch")

import epochs
import first_batch
import table
import toolkit
import training

from planegraph import datasets
from planegraph.train import RunSettings, load_settings

CONFIG = """
task: p3r
model: {hidden: 8, layers: 1, pos_dim: 4}
train: {epochs: 3, batch_size: 128, seeds: 2}
"""


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """Packed files of this test alone."""
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Few(table.Table):
    """A table of rows made elsewhere."""

    def __init__(self, *rows: table.Row) -> None:
        super().__init__(Path("nowhere"), "")
        self.made = rows

    def rows(self):
        yield from self.made


@pytest.mark.parametrize(
    ("row", "code", "said"),
    [
        (table.Row("a", 2.0, 3.0), 0, "1 of 1 rows"),
        (table.Row("a", 2.0, 3.0, at_least=True), 1, "missed: a"),
        (table.Row("a", 2.0), 0, "1 of 1 rows"),
        (table.Row("a", 2.0, 3.0, but="5 of 9 epochs only"), 1, "does not count, 5 of 9 epochs only: a"),
    ],
)
def test_what_counts(row, code, said, tmp_path, capsys):
    out = tmp_path / "deep" / "out.json"
    assert table.report(Few(row), {"cpu": "any"}, out) == code
    assert said in capsys.readouterr().out
    assert [r["passed"] for r in json.loads(out.read_text())["rows"]] == [code == 0]


def test_the_runs_are_those_of_the_table():
    for name, seeds in (("time-one-seed", 1), ("time-ten-seeds", 10)):
        s = load_settings(training.CONFIGS / f"{name}.yaml")
        assert (s.task, s.options, s.model["hidden"]) == ("zinc12k", {"edge_features": True}, 128)
        assert (s.train.epochs, s.train.seeds) == (500, seeds)


def test_what_cannot_run_is_skipped_with_its_reason(tmp_path, cache, monkeypatch, capsys):
    monkeypatch.setattr(training.torch.cuda, "is_available", lambda: False)
    t = training.Training(tmp_path, "", turns=1)
    assert list(t.rows()) == []
    said = capsys.readouterr().out
    assert said.count("no CUDA device") == 3
    assert said.count("zinc12k needs raw files") == 4
    assert said.count("zincfull is not packed (raw files missing)") == len(t.not_measured) - 4 == 5
    assert list(training.Training(tmp_path, "no row has this name").rows()) == []


def test_a_run_and_a_quick_look_at_it(tmp_path, cache):
    config = tmp_path / "p3r.yaml"
    config.write_text(CONFIG)
    whole, each, rest = training.Training(tmp_path, "").run("p3r", config, 300.0, "", device="cpu")
    assert whole.passed
    assert whole.must is None  # the goal is for an H200
    assert 0 < each.value < whole.value
    assert rest.value == pytest.approx(whole.value - 3 * each.value)
    look = next(training.Training(tmp_path, "", epochs=1).run("p3r", config, 300.0, "", device="cpu"))
    assert not look.passed
    assert look.but == "1 of 3 epochs only"


def test_the_page_has_the_table_of_the_results():
    """What docs/molecules.md says of other tools is what benchmarks/results/chem.jsonl gives."""
    for package in ("rdkit", "scipy", "sklearn"):
        pytest.importorskip(package)
    import chem

    rows = chem.read_rows(chem.RESULTS)
    page = (Path(__file__).resolve().parents[1] / "docs" / "molecules.md").read_text(encoding="utf-8")
    assert chem.table(rows, tuple(chem.TOOLS), chem.SETS) in page
    assert all(row["version"] and row["processor"] for row in rows)
    assert len({tuple(row[name] for name in chem.KEY) for row in rows}) == len(rows)


def test_the_toolkit_beside_other_packages():
    for package in ("networkx", "planarity", "pynauty", "rustworkx", "scipy"):
        pytest.importorskip(package)
    rows = list(toolkit.Toolkit(Path("nowhere"), "10^3", quick=True).rows())
    assert len(rows) == 5 + len(toolkit.SYMMETRIC)
    assert all(row.value > 0 and all(value > 0 for value in row.yardsticks.values() if value is not None) for row in rows)


def test_epochs_and_their_clocks(tmp_path, cache):
    task = datasets.get("p3r", tmp_path).task()
    settings = RunSettings("p3r", model={"hidden": 8, "layers": 1}).with_overrides(["train.batch_size=64", "train.epochs=9"])
    run = epochs.Epochs(task, settings)
    found = epochs.epochs_by_turns({"ours": run}, turns=2, threads=1)["ours"]
    assert len(found) == 2
    assert run.stack.epoch == 3  # one to warm up
    for epoch in found:
        assert 0 < epoch.waited < epoch.wall
        assert 0 < epoch.collated < epoch.cpu
    assert training.medians({"ours": found}, lambda e: e.wall)["ours"] == pytest.approx(sum(e.wall for e in found) / 2)


def test_a_start_in_a_fresh_process(tmp_path, cache):
    datasets.get("p3r", tmp_path).load()
    for how in ({}, {"padded": True}, {"cold": hasattr(first_batch.os, "posix_fadvise")}):
        found = first_batch.in_a_fresh_process("p3r", tmp_path, **how)
        assert found["graphs"] == 450
        assert found["imports"] > 0
        assert found["all"] == pytest.approx(found["open"] + found["batch"])
