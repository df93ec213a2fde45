"""``planegraph reproduce`` from end to end on P3R, which is generated: killed, resumed, recorded, put into the tables."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from forked import Forked

from planegraph.cli import main
from planegraph.errors import PlanegraphError
from planegraph.experiments.records import checked_record, read_record
from planegraph.runs.log import read_log

from .edits import of_earlier_model

SMALL = ["--set", "model.hidden=4", "model.layers=1", "model.pos_dim=4", "train.batch_size=128", "train.save_seconds=0"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _here(tmp_path, cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(cache))


def arguments(only: str, epochs: int) -> list[str]:
    return ["reproduce", "p3r", "--only", only, *SMALL, f"train.epochs={epochs}", "--device", "cpu"]


def figures(folder: Path):
    found = read_record(folder)
    found.check()
    return found.result["trials"], [
        {k: v for k, v in row.items() if k != "seconds"} for row in read_log(found.folder / "log.jsonl")
    ]


def test_a_row(tmp_path, capsys):
    assert main([*arguments("p3r-baseplane", 3), "-q"]) == 0
    out = capsys.readouterr().out
    assert "BasePlanE" in out
    assert "settings differ from configs/p3r-baseplane.yaml" in out
    record = read_record("records/p3r-baseplane")
    record.check()
    assert len(record.result["trials"]) == 10
    assert "train.epochs=3" in record.overrides
    assert [session["machine"]["cores"] >= 1 for session in record.sessions] == [True]
    text = Path("docs/results.md").read_text()
    assert "train.epochs=3" in text
    assert main(["tables", "--check"]) == 0

    before = (tmp_path / "records/p3r-baseplane/record.json").read_bytes()  # there is one: nothing is run
    assert main(arguments("p3r-baseplane", 3)) == 0
    assert "--again runs it again" in capsys.readouterr().err
    assert (tmp_path / "records/p3r-baseplane/record.json").read_bytes() == before

    (tmp_path / "records/p3r-baseplane/result.json").write_text("{}")  # a broken one is named, and --again replaces it
    assert main(arguments("p3r-baseplane", 3)) == 2
    assert "--again" in capsys.readouterr().err
    assert main([*arguments("p3r-baseplane", 2), "-q", "--again"]) == 0
    assert read_record("records/p3r-baseplane").settings.train.epochs == 2
    assert (tmp_path / "runs/p3r-baseplane.1/result.json").exists()

    assert main(["reproduce", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line for line in listed if line.split()[-1] == "records/p3r-baseplane"]
    assert sum("records/" in line for line in listed) == 1


def test_what_an_earlier_model_did_is_run_again(tmp_path, capsys):
    assert main([*arguments("p3r-gin", 1), "-q"]) == 0
    shutil.rmtree(tmp_path / "runs")
    of_earlier_model(tmp_path / "records/p3r-gin", hidden=4, g_depth=2)
    assert main(["tables"]) == 0
    assert "by an earlier model" in Path("docs/results.md").read_text()
    capsys.readouterr()
    assert main(["reproduce", "--list"]) == 0
    assert "records/p3r-gin, of an earlier model" in capsys.readouterr().out
    assert main([*arguments("p3r-gin", 1), "-q"]) == 0
    assert read_record("records/p3r-gin").earlier is None


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_again_by_several_processes(tmp_path, monkeypatch, order):
    """Whichever comes first to the folder of the finished run: one gives it another name, and all begin anew."""
    from planegraph.experiments import reproduce

    begun = []
    monkeypatch.setattr(reproduce, "task_of", lambda settings, root: SimpleNamespace(name="p3r", targets=None))
    result = {"test": {"mean": 1.0, "std": 0.0}, "trials": [], "metric": "accuracy", "seconds": 1.0}
    monkeypatch.setattr(reproduce, "train", lambda *args, resume, **options: begun.append(resume) or result)
    monkeypatch.setattr(reproduce, "write_record", lambda *args: None)
    run = tmp_path / "runs" / "p3r-gin"
    run.mkdir(parents=True)
    (run / "result.json").write_text("{}")
    plan = reproduce.Plan(tmp_path / "records", tmp_path / "runs", device="cpu", again=True, say=lambda text: None)
    monkeypatch.setenv("WORLD_SIZE", "3")
    for rank in order:
        monkeypatch.setenv("RANK", str(rank))
        reproduce.reproduce("p3r-gin", ["p3r-gin"], plan)
    assert begun == [False] * 3
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["p3r-gin.1"]


def test_killed_and_resumed(tmp_path):
    epochs = 20
    process = Forked("planegraph", *arguments("p3r-baseplane", epochs), "-q")
    log, until = tmp_path / "runs/p3r-baseplane/log.jsonl", time.monotonic() + 60
    while not any(r["epoch"] >= 3 for r in read_log(log)):
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    assert not (tmp_path / "records").exists()
    assert main([*arguments("p3r-baseplane", epochs), "-q"]) == 0
    record = read_record("records/p3r-baseplane")
    assert len(record.sessions) == 2
    assert {row["epoch"] for row in read_log(record.folder / "log.jsonl")} == set(range(1, epochs + 1))
    assert main([*arguments("p3r-baseplane", epochs), "-q", "--runs", "other", "--records", "whole"]) == 0
    assert figures(Path("records/p3r-baseplane")) == figures(Path("whole/p3r-baseplane"))


def test_other_settings_are_not_resumed(capsys):
    assert main([*arguments("p3r-gin", 1), "-q", "--records", "a"]) == 0
    wrong = [word.replace("batch_size=128", "batch_size=64") for word in arguments("p3r-gin", 1)]
    assert main([*wrong, "-q"]) == 2
    assert "made with train.batch_size=128" in capsys.readouterr().err
    assert not Path("records").exists()


def test_a_run_from_elsewhere(runs, tmp_path, capsys):
    sessions = json.loads((runs["seeds"] / "machine.json").read_text())["sessions"]
    assert main(["reproduce", "--from-run", str(runs["seeds"]), "--name", "zinc12k-gin"]) == 0
    record = read_record("records/zinc12k-gin")
    record.check()
    assert record.sessions == sessions
    assert "train.epochs=4" in record.overrides
    assert "train.epochs=4" in Path("docs/results.md").read_text()
    (tmp_path / "empty").mkdir()
    for wrong, words in (
        (["--from-run", "empty", "--name", "x"], "no finished run"),
        (["--from-run", "empty"], "go together"),
        (["p3r", "--from-run", "empty", "--name", "x"], "leave TABLE out"),
        ([], "which table"),
        (["p4r"], "there is no table 'p4r'"),
    ):
        assert main(["reproduce", *wrong]) == 2
        assert words in capsys.readouterr().err


def test_stopping_says_so_even_if_quiet(monkeypatch, capsys):
    from planegraph.experiments import reproduce
    from planegraph.runs.errors import Stopped

    def stopped(*args, **options):
        raise Stopped("saved in runs/p3r-gin, and --resume continues it", 2)

    monkeypatch.setattr(reproduce, "train", stopped)
    assert main(["reproduce", "p3r", "--only", "p3r-gin", "-q", "--device", "cpu"]) == 130
    assert capsys.readouterr().err == "planegraph: saved in runs/p3r-gin, and the same command continues it\n"


def test_targets_of_a_config_go_together(tmp_path, monkeypatch):
    """One run, and each row gets the record it would have had alone."""
    from train.tasks import small
    from train.test_targets import NAMES, several

    from planegraph.experiments import reproduce as module

    def config(name: str):
        target = name.removeprefix("counting-")
        return replace(small(epochs=3, seeds=2), options={"target": list(NAMES) if target == "many" else target})

    def task_of(settings, root):
        task, wanted = several(), settings.options["target"]
        return task.of_target(wanted) if isinstance(wanted, str) else task

    monkeypatch.setattr(module, "load_config", config)
    monkeypatch.setattr(module, "task_of", task_of)
    plan = module.Plan(tmp_path / "records", tmp_path / "runs", device="cpu", show=False, say=lambda text: None)
    names = [f"counting-{target}" for target in NAMES]
    module.reproduce("counting-small", ["counting-small"], plan)
    kept, calls = module.write_record, []

    def interrupted(*values):
        calls.append(values)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return kept(*values)

    monkeypatch.setattr(module, "write_record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        module.reproduce("counting-many", names, plan)
    log = tmp_path / "runs" / "counting-many" / NAMES[0] / "log.jsonl"
    before = log.read_bytes()
    module.reproduce("counting-many", names, plan)  # what is trained is not trained again
    assert log.read_bytes() == before
    assert [Path(run).name for run, *_ in calls] == ["large", "odd", "odd"]
    together = {}
    for name in names:
        record = checked_record(tmp_path / "records" / name)
        assert record.settings == config(name)
        assert len(record.result["trials"]) == 2
        assert (tmp_path / "records" / name / "report.html").exists()
        together[name] = record.result.get("together", 1)
    assert together == {name: 1 if name == "counting-small" else 3 for name in names}
    module.reproduce("counting-many", names, replace(plan, runs=tmp_path / "nowhere"))  # all are recorded
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(PlanegraphError, match=r"--set options\.target would make it another row"):
        module.reproduce("counting-new", ["counting-new"], replace(plan, overrides=("options.target=odd",)))
