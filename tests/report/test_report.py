"""The page of a run: what it says, that it is one well-formed file, and that what is drawn lies where it should."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from planegraph.cli import main
from planegraph.errors import FormatError, PlanegraphError
from planegraph.report import side_by_side, write_report, write_svgs

from .runs import SVG, binary_tests, class_tests, figure, frame, make_run, parse, points, regression_tests, words


def assert_inside(svg) -> None:
    """All marks lie in the plot area."""
    left, top, right, bottom = frame(svg)
    marks = [points(path) for path in svg.iter(f"{SVG}path")]
    marks += [np.array([[float(c.get("cx")), float(c.get("cy"))]]) for c in svg.iter(f"{SVG}circle")]
    for at in marks:
        assert np.all(at >= [left - 0.06, top - 0.06])
        assert np.all(at <= [right + 0.06, bottom + 0.06])


def test_the_page_of_a_regression(tmp_path):
    run = make_run(tmp_path / "run", tests=regression_tests(), notes="scaled <by> 0.1 & more")
    path = write_report(run)
    assert path == run / "report.html"
    root = parse(path)
    text = words(root)
    assert "0.8050 ± 0.0071" in text
    assert "mean ± standard deviation of 2 trials" in text
    assert "scaled <by> 0.1 & more" in text
    assert "seed 1" in text
    assert "train.epochs" in text
    for title in ("training loss", "validation mean absolute error", "predicted against true"):
        assert_inside(figure(root, title))
    scatter = figure(root, "predicted against true")
    assert sorted(len(points(p)) for p in scatter.iter(f"{SVG}path")) == [2, 50]
    left, top, right, bottom = frame(scatter)
    diagonal = points(scatter.find(f"{SVG}path"))
    assert diagonal.tolist() == [[left, bottom], [right, top]]


def test_nothing_is_fetched_from_elsewhere(tmp_path):
    text = write_report(make_run(tmp_path / "run", tests=regression_tests())).read_text()
    assert re.findall(r"https?://[^\"']+", text) == ["http://www.w3.org/2000/svg"] * 3  # names of the namespace
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", text)


def test_curves(tmp_path):
    """Losses fall from 0.5 to 0.5**40: a straight line on a logarithmic axis; the rings are at the best epochs."""
    root = parse(write_report(make_run(tmp_path / "run", epochs=40, metric="accuracy")))
    loss = figure(root, "training loss")
    curves = [points(path) for path in loss.iter(f"{SVG}path")]
    assert [len(c) for c in curves] == [40, 40, 40]  # two trials and their mean
    assert np.abs(np.diff(curves[0][:, 1], n=2)).max() < 0.25
    assert loss.findall(f"{SVG}path")[-1].get("class") == "mean"
    val = figure(root, "validation accuracy")
    rings = [(float(c.get("cx")), float(c.get("cy"))) for c in val.iter(f"{SVG}circle")]
    assert len(rings) == 2
    assert rings[0] == pytest.approx(points(val.find(f"{SVG}path"))[37].tolist())
    assert rings[0][1] == pytest.approx(points(val.find(f"{SVG}path"))[:, 1].min())  # the top is the smallest y


def test_ticks_are_in_order_on_the_page(tmp_path):
    root = parse(write_report(make_run(tmp_path / "run", metric="accuracy", epochs=100)))
    svg = figure(root, "validation accuracy")
    left, _, _, bottom = frame(svg)
    across = [t for t in svg.findall(f"{SVG}text") if float(t.get("y")) == bottom + 18]
    assert [t.text for t in across] == ["20", "40", "60", "80", "100"]
    assert np.all(np.diff([float(t.get("x")) for t in across]) > 0)
    up = [t for t in svg.findall(f"{SVG}text") if float(t.get("x")) == left - 7]
    assert np.all(np.diff([float(t.text) for t in up]) > 0)
    assert np.all(np.diff([float(t.get("y")) for t in up]) < 0)


def test_an_unfinished_run(tmp_path):
    run = make_run(tmp_path / "run", seeds=1, folds=2, finished=False)
    with open(run / "log.jsonl", "a") as file:
        file.write('{"epoch": 7, "se')
    (run / "group1").mkdir()
    record = {"epoch": 1, "seed": 0, "fold": 2, "loss": 1.0, "rate": 0.1, "val": None, "val_loss": None, "best": None}
    (run / "group1" / "log.jsonl").write_text(json.dumps(record | {"best_epoch": None, "seconds": 4.0}) + "\n")
    root = parse(write_report(run))
    text = words(root)
    assert "This run is not finished: there is no result yet." in text
    assert "So far 13 epochs of 3 trials, of 6 planned for each; 7.0 s of training." in text
    assert "seed0-fold2" in text
    assert_inside(figure(root, "validation metric"))


def test_a_run_that_has_only_begun(tmp_path):
    run = make_run(tmp_path / "run", finished=False)
    (run / "log.jsonl").unlink()
    assert "Its log is empty." in words(parse(write_report(run)))


def test_one_epoch(tmp_path):
    root = parse(write_report(make_run(tmp_path / "run", epochs=1, seeds=1)))
    assert_inside(figure(root, "training loss"))


def test_classes(tmp_path):
    run = make_run(tmp_path / "run", metric="accuracy", seeds=1, folds=2, tests=class_tests())
    root = parse(write_report(run))
    svg = figure(root, "confusion matrix")
    assert len(svg.findall(f"{SVG}rect")) == 16
    counts = [int(t.text) for t in svg.findall(f"{SVG}text") if t.get("font-size")]
    assert sum(counts) == 80
    assert "74 of 80 graphs right" in words(root)
    assert "90.0 %" in words(root)  # the recall of a class
    assert "80.50 ± 0.71 %" in words(root)


def test_many_classes_make_a_table(tmp_path):
    root = parse(write_report(make_run(tmp_path / "run", metric="accuracy", tests=class_tests(classes=25, graphs=50))))
    assert not any(svg.find(f"{SVG}title").text.startswith("confusion") for svg in root.iter(f"{SVG}svg"))
    assert "recall" in words(root)


def test_roc(tmp_path):
    root = parse(write_report(make_run(tmp_path / "run", metric="rocauc", seeds=3, tests=binary_tests())))
    svg = figure(root, "ROC curve")
    assert_inside(svg)
    left, top, right, bottom = frame(svg)
    for curve in [points(path) for path in svg.iter(f"{SVG}path")][1:]:
        assert curve[0].tolist() == [left, bottom]
        assert curve[-1].tolist() == [right, top]
        assert np.all(np.diff(curve[:, 0]) >= 0)
        assert np.all(np.diff(curve[:, 1]) <= 0)
    assert "90 predictions, 30 positive" in words(root)
    assert figure(root, "confusion matrix") is not None


def test_several_targets(tmp_path):
    run = make_run(tmp_path / "run", tests=regression_tests(targets=3))
    result = json.loads((run / "result.json").read_text())
    for k, trial in enumerate(result["trials"]):
        trial["test_by_target"] = [1.0, 2.0, 3.0 + 2 * k]
    (run / "result.json").write_text(json.dumps(result))
    root = parse(write_report(run))
    assert sum(svg.find(f"{SVG}title").text.startswith("predicted") for svg in root.iter(f"{SVG}svg")) == 3
    assert "4.0 ± 1.4" in words(root)


def test_the_typical_seed_is_shown(tmp_path):
    text = words(parse(write_report(make_run(tmp_path / "run", seeds=5, tests=regression_tests()))))
    assert "50 test graphs, seed 2, the median of the seeds" in text


def test_a_large_run_is_thinned(tmp_path):
    path = write_report(make_run(tmp_path / "run", seeds=10, epochs=2000, tests=regression_tests(20_000)))
    assert path.stat().st_size < 300_000
    root = parse(path)
    assert "3,000 are drawn" in words(root)
    assert max(len(points(p)) for p in figure(root, "predicted").iter(f"{SVG}path")) <= 3000
    assert sum(len(points(p)) for p in figure(root, "training loss").iter(f"{SVG}path")) <= 4000


def test_machines_are_named(tmp_path):
    run = make_run(tmp_path / "run")
    sessions = [{"commit": "abc<d", "machine": {"device": "a GPU", "cores": k}} for k in (2, 16)]
    (run / "machine.json").write_text(json.dumps({"sessions": sessions}))
    text = words(parse(write_report(run)))
    assert "Start 2 of 2" in text
    assert "abc<d" in text
    assert "machine.cores" in text
    (run / "machine.json").write_text(json.dumps({"sessions": sessions[:1]}))
    assert "Started by" in words(parse(write_report(run)))


def test_text_cannot_become_markup(tmp_path):
    run = make_run(tmp_path / "run", notes="<script>alert(1)</script>")
    settings = yaml.safe_load((run / "settings.yaml").read_text())
    (run / "settings.yaml").write_text(yaml.safe_dump(settings | {"options": {"</style><b>": "\x00<b>"}}))
    root = parse(write_report(run))
    assert not list(root.iter("script"))
    assert not list(root.iter("b"))
    assert "<script>alert(1)</script>" in words(root)


def test_the_same_run_gives_the_same_page(tmp_path):
    run = make_run(tmp_path / "run", tests=regression_tests(5000))
    assert write_report(run).read_bytes() == write_report(run, tmp_path / "deep" / "b.html").read_bytes()


def test_svg_files(tmp_path):
    run = make_run(tmp_path / "run", tests=regression_tests())
    paths = write_svgs(run, tmp_path / "figures")
    assert [p.name for p in paths] == ["curve-loss.svg", "curve-val.svg", "scatter-0.svg"]
    for path in paths:
        svg = ElementTree.fromstring(path.read_text())
        assert svg.tag == f"{SVG}svg"
        assert float(svg.get("width")) > 0
        assert "prefers-color-scheme" in svg.find(f"{SVG}style").text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("settings.yaml", "a: [", "settings.yaml is not YAML"),
        ("settings.yaml", "- 1", "must be a table of settings; found list"),
        ("result.json", "{", "result.json is damaged: it is not JSON"),
        ("result.json", "[]", "is damaged: "),
        ("result.json", '{"a": 1}', "is damaged: "),
        ("machine.json", '{"sessions": 3}', "is damaged: "),
        ("log.jsonl", '{"epoch": 1}', "is damaged: "),
        ("log.jsonl", "[1]", "is damaged: "),
        ("models/seed0/test.safetensors", "nothing", "holds no predictions"),
    ],
)
def test_damaged_files_are_named(tmp_path, name, content, message):
    run = make_run(tmp_path / "run", tests=regression_tests())
    (run / name).write_text(content)
    with pytest.raises(FormatError, match=re.escape(message)):
        write_report(run)
    assert not (run / "report.html").exists()


def test_a_number_that_no_float_holds_is_damage(tmp_path):
    run = make_run(tmp_path / "run", tests=regression_tests())
    result = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps(result | {"seconds": 10**400}))
    with pytest.raises(FormatError, match=f"a file of the run {run} is damaged: OverflowError"):
        write_report(run)


def test_a_folder_without_a_run(tmp_path):
    with pytest.raises(PlanegraphError, match=r"holds no run: settings\.yaml is missing"):
        write_report(tmp_path)


# ---- several runs ---------------------------------------------------------------------------------------------------------------


def test_side_by_side(tmp_path):
    a = make_run(tmp_path / "a", metric="accuracy", tests=class_tests(wrong=0))
    b = make_run(tmp_path / "b", metric="accuracy", tests=class_tests(wrong=9), model="GIN", epochs=9)
    root = parse(side_by_side([a, b], tmp_path / "both.html"))
    text = words(root)
    assert "made up: BasePlanE and GIN" in text
    svg = figure(root, "training loss")
    assert_inside(svg)
    colours = {p.get("stroke") for p in svg.iter(f"{SVG}path")}
    assert len(colours) == 2
    assert {line.get("stroke") for line in svg.iter(f"{SVG}line") if line.get("stroke-width") == "3"} == colours  # the legend
    assert "80 of 80 graphs right" in text
    assert "62 of 80 graphs right" in text
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in root.iter("tr") if row[0].text}
    assert rows["train.epochs"] == ["6", "9"]
    assert rows["model_class"] == ["BasePlanE", "GIN"]


def test_side_by_side_of_one_model_and_of_different_tasks(tmp_path):
    a, b = make_run(tmp_path / "a"), make_run(tmp_path / "b", finished=False)
    text = words(parse(side_by_side([a, b], tmp_path / "both.html")))
    assert "BasePlanE (a)" in text
    assert "not finished" in text
    settings = yaml.safe_load((b / "settings.yaml").read_text())
    (b / "settings.yaml").write_text(yaml.safe_dump(settings | {"task": "other"}))
    with pytest.raises(PlanegraphError, match="found made up, other"):
        side_by_side([a, b], tmp_path / "both.html")
    with pytest.raises(PlanegraphError, match="no run to compare"):
        side_by_side([], tmp_path / "both.html")


# ---- the command ----------------------------------------------------------------------------------------------------------------


def test_the_command(tmp_path, capsys):
    run = make_run(tmp_path / "run", tests=regression_tests())
    assert main(["report", str(run)]) == 0
    assert capsys.readouterr().out == f"{run / 'report.html'}\n"
    out, folder = tmp_path / "page.html", tmp_path / "figures"
    assert main(["report", str(run), "--out", str(out), "--svg", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["report", str(run), str(run), "--out", str(out)]) == 0
    assert main(["report", str(run), str(run)]) == 2
    assert "name it by --out" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "holds no run" in capsys.readouterr().err
