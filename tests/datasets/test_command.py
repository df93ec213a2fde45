"""``planegraph datasets``."""

from __future__ import annotations

import json
import re

import pytest

from planegraph import datasets
from planegraph.cli import main

from .examples import Rings, spoil, write_lengths


@pytest.fixture
def run(capsys):
    """Exit code, stdout and stderr of ``planegraph datasets`` with these arguments."""

    def command(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return main(["datasets", *args]), *capsys.readouterr()

    return command


def places(folder) -> list[str]:
    return ["--root", str(folder / "root"), "--cache", str(folder / "cache")]


def test_lists_all(run, tmp_path):
    status, out, err = run(*places(tmp_path))
    assert (status, err) == (0, "")
    for name in datasets.DATASETS:
        assert f"\n{name} " in out
    assert "can be generated" in out
    assert "raw files missing" in out
    assert not (tmp_path / "root").exists()


def test_packs_and_shows_statistics(run, tmp_path):
    assert run("p3r", "--pack", *places(tmp_path))[0] == 0
    status, out, _ = run("p3r", "--json", *places(tmp_path))
    found = json.loads(out)
    assert (status, found["status"], found["summary"]["graphs"], found["summary"]["R"]) == (0, "ready", 450, 650)
    assert "ready" in run("p3r", *places(tmp_path))[1]


def test_packs_anew_what_is_damaged(run, tmp_path):
    packed = tmp_path / "cache" / "p3r.safetensors"
    assert run("p3r", "--pack", *places(tmp_path))[0] == 0
    sound = packed.read_bytes()
    spoil(packed)
    status, out, err = run("p3r", "--pack", *places(tmp_path))
    assert (status, "ready" in out) == (0, True)
    assert f"planegraph: cannot open {str(packed)!r}: the checksum of array walk_kappa is " in err
    assert err.endswith("; it is damaged. Packing it again\n")
    assert packed.read_bytes() == sound
    assert run("p3r", "--pack", *places(tmp_path))[2] == ""


def test_a_run_does_not_begin_or_go_on_with_damage(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(tmp_path / "cache"))
    words = ["model.hidden=8", "model.layers=1", "train.batch_size=512", "train.schedule=constant"]
    small = [*(word for setting in words for word in ("--set", setting)), "--device", "cpu", "--quiet"]
    train = ["train", "p3r", "--data", str(tmp_path / "root"), *small]
    begun, fresh = ["--out", str(tmp_path / "begun")], ["--out", str(tmp_path / "fresh")]
    assert main([*train, "--set", "train.epochs=1", *begun]) == 0
    held = {path: path.read_bytes() for path in (tmp_path / "begun").rglob("*") if path.is_file()}
    spoil(tmp_path / "cache" / "p3r.safetensors")
    capsys.readouterr()
    for where in ([*begun, "--resume"], fresh):
        assert main([*train, "--set", "train.epochs=2", *where]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert re.search(
            r"p3r\.safetensors': the checksum of array walk_kappa .* planegraph datasets p3r --pack packs it again", said.err
        )
    assert {path: path.read_bytes() for path in held} == held
    assert not list((tmp_path / "fresh").rglob("*.safetensors"))
    assert main(["datasets", "p3r", "--pack", "--root", str(tmp_path / "root")]) == 0
    assert main([*train, "--set", "train.epochs=2", *begun, "--resume"]) == 0


def test_says_what_to_fetch(run, tmp_path):
    status, out, _ = run("zinc12k", *places(tmp_path))
    assert status == 0
    assert str(tmp_path / "root" / "zinc" / "zinc12k_graphs.npz") in out
    status, _, err = run("zinc12k", "--pack", "--no-download", *places(tmp_path))
    assert status == 1
    assert "zinc12k needs raw files" in err


def test_one_of_two_files_is_not_ready(tmp_path, monkeypatch, capsys):
    """Rings take the place of a dataset: without edge features they are ready, with them their raw files are missing."""
    write_lengths(tmp_path / "root", 3, 4, 5)
    Rings(tmp_path / "root", tmp_path / "cache", threads=1).load(edge_features=False)
    monkeypatch.setattr(datasets, "DATASETS", {"rings": "Rings"})
    monkeypatch.setattr(datasets, "get", lambda name, root, **options: Rings(root, **options))
    there, gone = (["--root", str(tmp_path / name), "--cache", str(tmp_path / "cache")] for name in ("root", "nowhere"))
    assert main(["datasets", "rings", *gone]) == 0
    said = capsys.readouterr().out
    assert "  ready without edge features\n" in said
    assert str(tmp_path / "nowhere" / "rings" / "lengths.txt") in said
    assert main(["datasets", "rings", "--json", *there]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ready without edge features"
    assert main(["datasets", "rings", "--pack", "--json", *there]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ready"


def test_unknown_names(run, tmp_path):
    status, _, err = run("zinc", *places(tmp_path))
    assert status == 2
    assert "there is no dataset 'zinc'" in err
