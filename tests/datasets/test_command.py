"""``planegraph datasets``, run as a process."""

from __future__ import annotations

import json
import subprocess
import sys


def run(*args: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "planegraph", "datasets", *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def places(folder) -> list[str]:
    return ["--root", str(folder / "root"), "--cache", str(folder / "cache")]


def test_lists_all(tmp_path):
    status, out, err = run(*places(tmp_path))
    assert (status, err) == (0, "")
    for name in ("exp", "cexp", "p3r", "qm9_cc", "qm9", "zinc12k", "zincfull", "molhiv", "tiger", "brec"):
        assert f"\n{name} " in out
    assert "can be generated" in out
    assert "raw files missing" in out
    assert not (tmp_path / "root").exists()


def test_packs_and_shows_statistics(tmp_path):
    assert run("p3r", "--pack", *places(tmp_path))[0] == 0
    status, out, _ = run("p3r", "--json", *places(tmp_path))
    found = json.loads(out)
    assert (status, found["status"], found["summary"]["graphs"], found["summary"]["R"]) == (0, "ready", 450, 650)
    assert "ready" in run("p3r", *places(tmp_path))[1]


def test_says_what_to_fetch(tmp_path):
    status, out, _ = run("zinc12k", *places(tmp_path))
    assert status == 0
    assert str(tmp_path / "root" / "zinc" / "zinc12k_graphs.npz") in out
    status, _, err = run("zinc12k", "--pack", "--no-download", *places(tmp_path))
    assert status == 1
    assert "zinc12k needs raw files" in err


def test_unknown_names(tmp_path):
    status, _, err = run("zinc", *places(tmp_path))
    assert status == 2
    assert "there is no dataset 'zinc'" in err
