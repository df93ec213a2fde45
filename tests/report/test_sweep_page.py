"""The page and the table of a sweep, from folders made up file by file."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from planegraph.errors import FormatError, PlanegraphError
from planegraph.report import is_sweep, side_by_side, write_report, write_sweep
from planegraph.report.plot import COLOURS, OTHERS

from .runs import SVG, figure, frame, make_run, parse, points, words


def make_sweep(folder: Path, rates: int = 3, widths: int = 2, metric: str = "mae", kind: str = "regression") -> dict[str, float]:
    """A finished run for each combination, whose validation is known; the figure of each folder. Test figures are 77.7 and more."""
    figures, plan = {}, []
    for i in range(rates):
        for j in range(widths):
            name, values = f"lr=0.{i + 1},hidden={2**j}", {"train.lr": (i + 1) / 10, "model.hidden": 2**j}
            figures[name] = round(0.5 + 0.02 * (7 * (i * widths + j) % (rates * widths)), 4)
            val = {"mean": figures[name], "std": 0.01}
            make_run(folder / name, metric, val=val, test={"mean": 77.7 + len(figures) / 10, "std": 0.01}, kind=kind)
            plan.append({"folder": name, "values": values})
    (folder / "sweep.json").write_text(json.dumps({"runs": plan}))
    return figures


def test_the_best_on_validation_comes_first(tmp_path):
    figures = make_sweep(tmp_path)
    write_report(tmp_path / "lr=0.1,hidden=1")
    page, rows = write_sweep(tmp_path)
    assert is_sweep(tmp_path)
    assert not is_sweep(tmp_path / "lr=0.1,hidden=1")
    ordered = sorted(figures, key=figures.get)
    with open(rows, newline="") as file:
        assert [(row["run"], float(row["validation"])) for row in csv.DictReader(file)] == [
            (name, figures[name]) for name in ordered
        ]
    root = parse(page)
    table = [[cell.itertext() for cell in row.iter("td")] for row in next(root.iter("tbody")).iter("tr")]
    table = [["".join(cell) for cell in row] for row in table]
    assert [f"lr={row[1]},hidden={row[2]}" for row in table] == ordered
    assert [row[0] for row in table] == [f"● {k}" for k in range(1, 7)]
    assert [link.get("href") for link in root.iter("a")] == ["lr%3D0.1%2Chidden%3D1/report.html"]
    assert (page.parent / unquote(next(root.iter("a")).get("href"))).is_file()
    shown = [float(number) for number in re.findall(r"77\.\d+|78\.\d+", words(root))]
    best = 77.7 + (list(figures).index(ordered[0]) + 1) / 10
    assert shown == pytest.approx([best])  # test figures of other runs are not on the page


@pytest.mark.parametrize(("metric", "kind", "best"), [("mae", "regression", min), ("accuracy", "binary", max)])
def test_validation_by_setting(tmp_path, metric, kind, best):
    figures = make_sweep(tmp_path, metric=metric, kind=kind)
    root = parse(write_sweep(tmp_path)[0])
    assert best(figures, key=figures.get) in words(root)
    for title, columns in (("lr", ["0.1", "0.2", "0.3"]), ("hidden", ["1", "2"])):
        svg = figure(root, f"validation by {title}")
        labels = [text.text for text in svg.iter(f"{SVG}text")]
        assert labels[: len(columns)] == columns
        left, top, right, bottom = frame(svg)
        dots = [points(path)[0] for path in svg.iter(f"{SVG}path") if path.get("stroke-linecap") == "round"]
        assert len(dots) == 6
        counts = np.bincount([int((x - left) / (right - left) * len(columns)) for x, _ in dots])
        assert counts.tolist() == [6 // len(columns)] * len(columns)
        heights = sorted(bottom - y for _, y in dots)
        assert np.allclose(np.diff(heights) / (heights[-1] - heights[0]), 0.2, atol=0.01)  # the figures are equally spaced
        assert all(left <= x <= right and top <= y <= bottom for x, y in dots)


def test_many_runs(tmp_path):
    make_sweep(tmp_path, 8, 3)
    page, _ = write_sweep(tmp_path)
    root = parse(page)
    svg = figure(root, "validation mean absolute error over epochs")
    strokes = [path.get("stroke") for path in svg.iter(f"{SVG}path")]
    assert strokes == [OTHERS] * 18 + list(COLOURS[::-1])  # the best on top
    assert "others grey" in words(root)
    assert page.stat().st_size < 300_000


def test_runs_without_a_figure(tmp_path):
    make_sweep(tmp_path)
    plan = json.loads((tmp_path / "sweep.json").read_text())
    plan["runs"] += [{"folder": f"lr=9,hidden={k}", "values": {"train.lr": 9, "model.hidden": k}} for k in range(3)]
    (tmp_path / "sweep.json").write_text(json.dumps(plan))
    make_run(tmp_path / "lr=9,hidden=0", finished=False)
    (tmp_path / "lr=9,hidden=1").mkdir()
    (tmp_path / "lr=9,hidden=1" / "diverged.json").write_text(json.dumps({"message": "a loss is not finite"}))
    page, rows = write_sweep(tmp_path, tmp_path / "pages" / "sweep.html")
    text = words(parse(page))
    assert "6 of 9 runs finished, after" in text
    assert re.findall("diverged|not finished", text)[:3] == ["diverged", "not finished", "not finished"]
    with open(rows, newline="") as file:
        assert [row["state"] for row in csv.DictReader(file)] == ["finished"] * 6 + ["diverged"] + ["not finished"] * 2


def test_a_sweep_of_which_nothing_is_trained(tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps({"runs": [{"folder": f"a={k}", "values": {"train.a": k}} for k in range(2)]}))
    assert "0 of 2 runs finished" in words(parse(write_sweep(tmp_path)[0]))
    with pytest.raises(PlanegraphError, match="holds no sweep"):
        write_sweep(tmp_path / "none")
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(FormatError, match="damaged"):
        write_sweep(tmp_path)


def test_texts_are_escaped(tmp_path):
    plan = {"runs": [{"folder": f"name={k}", "values": {"options.<b>": value}} for k, value in enumerate(("<script>", "&amp;"))]}
    (tmp_path / "sweep.json").write_text(json.dumps(plan))
    for k in range(2):
        make_run(tmp_path / f"name={k}", kind="regression", val={"mean": 0.5 + k, "std": 0.0})
    page, _ = write_sweep(tmp_path)
    assert "<script>" in words(parse(page))
    assert "<script" not in page.read_text()


def test_side_by_side_of_many(tmp_path):
    folders = [make_run(tmp_path / f"run{k}", seeds=1 + k % 2, epochs=6 + k) for k in range(9)]
    root = parse(side_by_side(folders, tmp_path / "all.html"))
    text = words(root)
    heads = [[cell.text for cell in table.iter("th")] for table in root.iter("thead")]
    assert ["run", "train.epochs", "train.seeds"] in heads  # a row for each run
    assert "BasePlanE (run8)" in text
    svg = figure(root, "training loss over epochs")
    assert not [line for line in svg.iter(f"{SVG}line") if line.get("stroke-width") == "3"]  # the table has the colours
    assert text.count("●") == 9
