"""What a run says about where it came from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from planegraph.runs import provenance as machine


def test_sessions_are_appended(tmp_path):
    assert machine.read_sessions(tmp_path) == []
    machine.add_session(tmp_path, machine.session("cpu"))
    machine.add_session(tmp_path, machine.session("cpu"))
    sessions = machine.read_sessions(tmp_path)
    assert len(sessions) == 2
    assert sessions[0]["machine"] == sessions[1]["machine"]
    assert set(sessions[0]) == {"commit", "dirty", "date", "command", "machine"}
    assert set(sessions[0]["machine"]) == {"device", "cpu", "cores", "threads", "memory_gb", "python", "torch", "planegraph"}
    assert json.loads((tmp_path / "machine.json").read_text())["sessions"] == sessions


def test_the_commit_comes_from_the_checkout_or_the_environment(tmp_path, monkeypatch):
    package = tmp_path / "project" / "src" / "planegraph"
    (package / "train").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text("")
    monkeypatch.setattr(machine, "__file__", str(package / "train" / "machine.py"))
    monkeypatch.delenv(machine.COMMIT, raising=False)
    assert machine.source_state() == (None, False)
    monkeypatch.setenv(machine.COMMIT, "abc123")
    assert machine.source_state() == ("abc123", False)
    monkeypatch.setenv(machine.COMMIT, "abc123-dirty")
    assert machine.source_state() == ("abc123", True)

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", "-C", tmp_path / "project", *identity, *arguments], check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    commit = git("rev-parse", "HEAD").strip()
    assert machine.source_state() == (commit, False)
    (tmp_path / "project" / "records").mkdir()
    (tmp_path / "project" / "records" / "new").write_text("a record changes no source")
    assert machine.source_state() == (commit, False)
    (package / "new.py").write_text("")
    assert machine.source_state() == (commit, True)


def test_a_checkout_around_the_package_is_not_ours(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    package = tmp_path / "venv" / "site-packages" / "planegraph" / "train"
    package.mkdir(parents=True)
    monkeypatch.setattr(machine, "__file__", str(package / "machine.py"))
    monkeypatch.delenv(machine.COMMIT, raising=False)
    assert machine.source_state() == (None, False)


def test_commands_hide_folders():
    words = [
        "/a/b/planegraph/__main__.py",
        "train",
        "exp",
        "--data",
        "/x/y/data",
        "--out=/tmp/run 1",
        "--set",
        "train.lr=1e-3",
        "runs/exp",
    ]
    assert machine.command_line(words) == "planegraph train exp --data .../data --out=.../run 1 --set train.lr=1e-3 runs/exp"
    assert machine.command_line([str(Path("tools") / "sweep.py"), "x"]) == "sweep.py x"
