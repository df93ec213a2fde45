"""Verdicts, and the text of the results: every task is there, numbers are those of the records, nothing changes between two runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planegraph.cli import main
from planegraph.experiments.configs import load_config
from planegraph.experiments.published import MEASURES, TABLES, Published, Table, config_names_of
from planegraph.experiments.records import Record, write_measure, write_record
from planegraph.experiments.tables import difference, overview, results_text, write_tables
from planegraph.experiments.verdicts import judge, judge_best
from planegraph.report.formatting import spread
from planegraph.runs.folder import Predictions

from .edits import edit_json, of_earlier_model


def made(mean: float, trials: int = 10, name: str = "zinc12k-edges-baseplane", device: str = "cpu", overrides=(), seconds=60.0):
    """A record in memory with this test figure."""
    settings = load_config(name).with_overrides(overrides)
    result = {"metric": "mae", "test": {"mean": mean, "std": 0.001}, "trials": [{}] * trials, "seconds": seconds}
    tested = next(table.tested for table in TABLES if name in config_names_of(table.name))
    graphs = np.zeros(tested)
    tests = {f"seed{k}": Predictions(graphs, graphs, graphs) for k in range(trials)}
    return Record(
        Path(name), {"name": name, "parameters": 455_953}, result, [{"machine": {"device": device}}], settings, tests=tests
    )


def table(name: str) -> Table:
    return next(found for found in TABLES if found.name == name)


ROOT = Path(__file__).parents[2]
LOWER = Table("t", "T", "MAE", "lower", "tab:t")
HIGHER = Table("t", "T", "accuracy, %", "higher", "tab:t", factor=100)
ROW = Published("zinc12k-edges-baseplane", "E-BasePlanE", 0.076, 0.003, bar=0.070, repeats=10)


def test_directions():
    assert judge(LOWER, ROW, made(0.0700)).kind == "reached"
    assert judge(LOWER, ROW, made(0.0650)).text == "reached"
    missed = judge(LOWER, ROW, made(0.0721))
    assert (missed.kind, missed.text) == ("missed", "missed by 0.0021 (3.0%)")
    row = Published("zinc12k-edges-baseplane", "x", bar=80.0)
    assert judge(HIGHER, row, made(0.8005)).kind == "reached"
    assert judge(HIGHER, row, made(0.796)).text == "missed by 0.4 (0.5%)"
    assert judge(HIGHER, Published(ROW.name, "x", bar=100.0), made(1.0)).kind == "reached"
    assert judge(HIGHER, Published(ROW.name, "x", bar=100.0), made(0.999)).kind == "missed"


def test_exact_bars():
    row = Published("zinc12k-edges-baseplane", "GIN", bar=11.1, exactly=True)
    assert judge(HIGHER, row, made(1 / 9)).kind == "reached"
    assert judge(HIGHER, row, made(0.1333)).text == "missed: 2.23 off"


def test_what_does_not_count():
    assert judge(LOWER, ROW, None).text == "not run"
    few = judge(LOWER, ROW, made(0.065, trials=3))
    assert (few.kind, few.text) == ("reached by fewer seeds", "reached, but 3 of 10 seeds or folds")
    few = judge(LOWER, ROW, made(0.075, trials=3, overrides=["train.seeds=3"]))
    assert (few.kind, few.text) == ("missed", "missed by 0.005 (7.1%), but 3 of 10 seeds or folds")
    full = table("zincfull")
    few = judge(full, full.rows[0], made(0.03, trials=2, name="zincfull-baseplane", overrides=["train.seeds=2"]))
    assert (few.kind, few.text) == ("missed", "missed by 0.005 (20.0%), but 2 of 10 seeds or folds")
    more = judge(LOWER, ROW, made(0.065, trials=20, overrides=["train.seeds=20"]))
    assert more.kind == "other settings"
    other = judge(LOWER, ROW, made(0.065, overrides=["train.epochs=3"]))
    assert other.kind == "other settings"
    assert other.text == "reached, but settings differ from configs/zinc12k-edges-baseplane.yaml: train.epochs=3"
    assert judge(LOWER, Published(ROW.name, "x"), made(0.5)).kind == "shown"


def test_times_count_on_their_device_only():
    times = table("time")
    one = times.rows[0]
    assert judge(times, one, made(0.08, 1, one.name, "NVIDIA H200", seconds=250)).kind == "reached"
    assert judge(times, one, made(0.08, 1, one.name, "NVIDIA H200", seconds=330)).text == "missed by 30 (10.0%)"
    assert judge(times, one, made(0.08, 1, one.name, "cpu", seconds=250)).kind == "not judged"
    partly = made(0.08, 1, one.name, "NVIDIA H200", seconds=250)
    partly = replace(partly, sessions=[{"machine": {"device": "NVIDIA A100"}}, *partly.sessions])
    assert judge(times, one, partly).kind == "not judged"


def test_a_time_of_fewer_seeds_is_none():
    times = table("time")
    ten = times.rows[1]
    few = {"trials": 3, "name": ten.name, "overrides": ["train.seeds=3"], "seconds": 500.0}
    found = judge(times, ten, made(0.08, device="NVIDIA H200", **few))
    assert (found.kind, found.text) == ("incomplete", "reached, but 3 of 10 seeds or folds")
    assert judge(times, ten, made(0.08, device="NVIDIA H200", **few | {"seconds": 1000.0})).kind == "missed"
    assert judge(times, ten, made(0.08, device="cpu", **few)).text == "not judged: the bar is for an H200"


def test_other_graphs_and_units_are_not_judged():
    zinc = table("zinc12k")
    row = zinc.rows[2]
    good = made(0.06)
    assert judge(zinc, row, good).kind == "reached"
    for trial in ("seed3", "seed9"):  # the 500 that are predicted best
        few = replace(good, tests=good.tests | {trial: Predictions(*[np.zeros(500)] * 3)})
        assert judge(zinc, row, few).text == "not judged: tested on 500 graphs, not the 1000 of the task"
    twice = replace(good, result=good.result | {"scale": 2.0})
    assert judge(zinc, row, twice).text == "not judged: errors are divided by 2.0, not 1"
    qm9 = table("qm9")
    energy = made(0.8, trials=5, name="qm9-U0")
    assert judge(qm9, qm9.rows[7], energy).text == "not judged: errors are divided by 1.0, not 0.00416549"
    energy.result["scale"] = 0.004165489
    assert judge(qm9, qm9.rows[7], energy).kind == "reached"


def test_an_earlier_model_reaches_nothing():
    old = replace(made(0.065), earlier={"hidden": 64, "g_depth": 2})
    found = judge(LOWER, ROW, old)
    assert (found.kind, found.text) == ("earlier model", "by an earlier model: reached")
    assert judge(LOWER, Published(ROW.name, "x"), old).text == "by an earlier model"
    ablation = table("ablation")
    records = {row.name: replace(made(row.paper, name=row.name), earlier={}) for row in ablation.rows}
    assert judge_best(ablation, records).kind == "not run"
    records["ablation-full"] = made(0.9, name="ablation-full")  # is not compared with others of an earlier model
    assert judge_best(ablation, records).kind == "not run"
    assert "| 0 of 7 | 5 earlier model, 1 missed, 1 not run |" in overview(records)


def ablated(**means: float) -> dict[str, Record]:
    """Records in memory of the ablation with the paper's figures, but for these; None: not run."""
    figures = {row.name: row.paper for row in table("ablation").rows} | {
        f"ablation-{k.replace('_', '-')}": v for k, v in means.items()
    }
    return {name: made(mean, name=name) for name, mean in figures.items() if mean is not None}


@pytest.mark.parametrize(
    ("means", "kind", "text", "line"),
    [
        ({}, "reached", "reached", "| 7 of 7 |  |"),
        ({"no_readout": 0.076}, "reached", "reached", "| 7 of 7 |  |"),
        ({"no_cutenc": 0.07}, "not the best", "not the best: no CutEnc", "| 6 of 7 | 1 not the best |"),
        (
            {"no_cutenc": 0.07, "full": 0.08, "only_trienc": 0.0795},
            "not the best",
            "not the best: no readout, no CutEnc, only TriEnc",
            "| 5 of 7 | 1 missed, 1 not the best |",
        ),
        ({"full": None}, "not run", "nothing to compare", "| 5 of 7 | 2 not run |"),
        ({"no_cutenc": None}, "incomplete", "the best of the 5 of 6 rows that were run", "| 5 of 7 | 1 incomplete, 1 not run |"),
    ],
)
def test_the_full_model_must_be_the_best(means, kind, text, line):
    records, ablation = ablated(**means), table("ablation")
    found = judge_best(ablation, records)
    assert (found.kind, found.text) == (kind, text)
    shown = next(row for row in overview(records).splitlines() if row.startswith("| [ablation]"))
    assert line in shown


@pytest.mark.parametrize("change", [{"overrides": ["train.epochs=3"]}, {"trials": 1, "overrides": ["train.seeds=1"]}])
def test_the_best_of_what_does_not_count_is_not_reached(change):
    rows = table("ablation").rows
    for factor in (1, 1.2):  # their bars are reached or missed
        found = judge_best(table("ablation"), {row.name: made(factor * row.paper, name=row.name, **change) for row in rows})
        assert (found.kind, found.text) == ("incomplete", "the best, but 6 of the 6 rows do not count")


def test_a_bar_for_small_models():
    zinc = table("zinc12k")
    large = made(0.05)
    large.facts["parameters"] = 500_001
    assert judge(zinc, zinc.rows[2], large).text == "not judged: the bar is for at most 500,000 parameters"


@pytest.mark.skipif(not (ROOT / "records").is_dir(), reason="the records are not in the source distribution")
def test_the_released_tables_are_those_of_the_records():
    assert difference(ROOT / "records", ROOT / "docs" / "results.md") == ""
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert "not judged" not in text
    assert "settings differ" not in text


@pytest.fixture
def records(runs, tmp_path) -> Path:
    """A record under the name of a published row (its settings are others), one of none, and two that were measured."""
    root = tmp_path / "records"
    write_record(runs["seeds"], root, "zinc12k-gin")
    write_record(runs["classes"], root, "something-else")
    rows = [{"graph": name, "nodes": 25_000, "preprocessing, ms": found} for name, found in {"2k": 2.0, "25k": 60.1234}.items()]
    write_measure(rows, root, "tiger", 5.0, "cpu", notes="")
    write_measure([{"set": "EXP", "distinguished by BasePlanE": 599}], root, "expressiveness", 5.0, "cpu", notes="")
    return root


def test_results(runs, records, tmp_path):
    text = results_text(records, tmp_path / "docs" / "results.md")
    for known in (*TABLES, *MEASURES):
        assert f"\n## {known.title}\n" in text
    test = json.loads((runs["seeds"] / "result.json").read_text())["test"]
    row = next(line for line in text.splitlines() if line.startswith("| GIN, no edge features"))
    assert f"| {spread('mae', **test, count=2)} (n = 2) |" in row
    assert "0.387 ± 0.015" in row
    assert "settings differ from configs/zinc12k-gin.yaml: " in row
    assert "train.epochs=4" in row
    assert "(../records/zinc12k-gin/)" in row
    assert "| E-BasePlanE |  | 0.028 ± 0.002 | ≤ 0.025 | not run |" in text
    assert "| graph | nodes | preprocessing, ms | bar | verdict |" in text
    assert "| 2k | 25,000 | 2 |  |  |\n| 25k | 25,000 | 60.1 | ≤ 50 | missed by 10.1 (20.2%) |" in text
    assert "| EXP | 599 | ≥ 600 | missed by 1 (0.2%) |\n| CEXP, planar pairs |  | ≥ 467 | not run |" in text
    assert "[expressiveness](#expressiveness-untrained-models-in-float64) | 0 of 4 | 1 missed, 3 not run |" in text
    assert "## Further records" in text
    assert "| something-else | cubic | accuracy " in text
    assert "CoSp-PPGN 0.050" in text


def test_results_of_an_earlier_model(records, tmp_path):
    of_earlier_model(records / "zinc12k-gin", hidden=8, layers=2, pos_dim=4, norm="layer", g_depth=2, mean_pooling=True)
    of_earlier_model(records / "tiger")
    text = results_text(records, tmp_path / "docs" / "results.md")
    row = next(line for line in text.splitlines() if line.startswith("| GIN, no edge features"))
    assert "| by an earlier model | width 8, 2 layers, pe 4, norm layer, g_depth 2, mean_pooling; 4 epochs" in row
    assert "| 60.1 | ≤ 50 | by an earlier model |" in text


def test_the_same_records_give_the_same_text(records, tmp_path):
    out = tmp_path / "docs" / "results.md"
    assert write_tables(records, out) == results_text(records, out) == out.read_text()


def test_command(records, tmp_path, capsys):
    arguments = ["tables", "--records", str(records), "--out", str(tmp_path / "docs" / "results.md")]
    assert main([*arguments, "--check"]) == 1
    assert "results.md is missing" in capsys.readouterr().err
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0
    (tmp_path / "docs" / "results.md").write_text("0.050, honestly\n")
    capsys.readouterr()
    assert main([*arguments, "--check"]) == 1
    assert "does not agree with the records in" in capsys.readouterr().err
    assert (tmp_path / "docs" / "results.md").read_text() == "0.050, honestly\n"


def test_a_broken_record_is_an_error(records, tmp_path, capsys):
    path = records / "zinc12k-gin" / "result.json"
    edit_json(path, lambda result: result["test"].update(mean=9.0))
    for check in ([], ["--check"]):
        assert main(["tables", "--records", str(records), "--out", str(tmp_path / "r.md"), *check]) == 2
        assert f"{path}: test is given as 9 ±" in capsys.readouterr().err
    assert not (tmp_path / "r.md").exists()


def test_a_single_run_has_no_deviation(records, tmp_path):
    row = next(line for line in results_text(records, tmp_path / "r.md").splitlines() if line.startswith("| something-else"))
    assert "(n = 1)" in row
    assert "±" not in row


def test_notes_are_text_in_a_line(runs, records, tmp_path):
    write_record(runs["seeds"], records, "zinc12k-gin", note="one\n\n## two <b>x</b> | y")
    assert "\n- zinc12k-gin: one ## two &lt;b&gt;x&lt;/b&gt; \\| y\n" in results_text(records, tmp_path / "r.md")


def test_a_note_that_several_records_have_is_said_once(runs, records, tmp_path):
    for name, note in (("zinc12k-gin", "shared"), ("zinc12k-edges-gine", "shared"), ("zinc12k-baseplane", "alone")):
        write_record(runs["seeds"], records, name, note=note)
    text = results_text(records, tmp_path / "r.md")
    assert "\n- zinc12k-baseplane: alone\n- zinc12k-gin, zinc12k-edges-gine: shared\n" in text
    assert text.count("shared") == 1


def test_without_any_record(tmp_path):
    empty = tmp_path / "none"
    empty.mkdir()
    text = results_text(empty, tmp_path / "results.md")
    assert "0 of 1 | 1 not run" in text
    assert "- not run; `python benchmarks/measured.py tiger` measures it" in text
