"""Starting from the models of another run: what is copied, what must be the same, and what resuming needs."""

from __future__ import annotations

import csv
import shutil

import pytest

pytest.importorskip("rdkit")

import torch

from planegraph.cli import main
from planegraph.errors import FormatError
from planegraph.io.checksums import json_text
from planegraph.predict import Predictor
from planegraph.runs.checkpoint import load_checkpoint
from planegraph.runs.finished import read_run, read_schema
from planegraph.runs.models import copy_weights, make_models
from planegraph.runs.trials import trials_of
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task
from planegraph.train import load_settings
from planegraph.train.loop import CHECKPOINT
from planegraph.train.transfer import Start

from .tasks import regression, small, stopped_at

QUICK = ["train.epochs=3", "train.batch_size=8", "train.save_seconds=0"]
STILL = ["train.epochs=1", "train.lr=1e-30", "train.batch_size=8"]
ENDS = {"a": ("O", "N", "Cl", "C#N"), "b": ("O", "F", "S", "c1ccccc1")}


def write(folder, ends: str, targets=("u",)):
    smiles = [f"C{'C' * (k % 6)}({end})C" for k in range(9) for end in ENDS[ends]]
    path = folder / f"{ends}.csv"
    with open(path, "w", newline="") as file:
        rows = [(s, *(len(s) + j * s.count("C") + k % 3 for j in range(len(targets)))) for k, s in enumerate(smiles)]
        csv.writer(file).writerows([("smiles", *targets), *rows])
    return path


def command(path, out, *more: str, overrides=QUICK) -> list[str]:
    return ["train", str(path), "--out", str(out), "-q", "--device", "cpu", "--no-baselines", *more, "--set", *overrides]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Two models with descriptors that learned u."""
    folder = tmp_path_factory.mktemp("source")
    overrides = [*QUICK, "model.hidden=8", "model.layers=1", "model.dropout=0.1"]
    assert main(command(write(folder, "a"), folder / "run", "--ensemble", "2", overrides=overrides)) == 0
    return folder / "run"


def weights(model) -> dict[str, torch.Tensor]:
    return {name: p.detach() for name, p in model.named_parameters()}


# ---- what is copied ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [True, False])
def test_all_but_dropout_zeros_and_perhaps_the_last_map(last):
    task = regression(edges=True)
    settings = small().with_overrides(["model.norm=batch", "model.dropout=0.1"])
    source, model, before = (make_models(task, settings, [trial]) for trial in trials_of(task, small(seeds=3).train))
    before.load_state_dict(model.state_dict())
    with torch.no_grad():
        source.node_encoder.tables[0][1] = 0
    for buffer in source.buffers():
        buffer += 1
    copy_weights(source, model, last)
    theirs, mine, old = (m.state_dict() for m in (source, model, before))
    for name, value in mine.items():
        fresh = not value.is_floating_point() or (name.startswith("readout.last.") and not last)
        wanted = old[name] if fresh else theirs[name]
        if name == "node_encoder.tables.0":
            wanted = torch.stack([theirs[name][0], old[name][1], theirs[name][2]])
        assert torch.equal(value, wanted), name


def test_model_k_starts_from_model_k_of_the_other_run_in_turn(source, tmp_path, capsys):
    """At a rate that moves no weight, the models of the new run are those that they started from."""
    path = write(tmp_path, "b", ("v", "w"))
    more = ("--from", str(source), "--targets", "v,w", "--ensemble", "3")
    assert main(command(path, tmp_path / "run", *more, overrides=STILL)) == 0
    said = f"starts from {source} (2 models of u); copied: all weights but the last map of the readout"
    assert said in capsys.readouterr().err
    before, after = read_run(source), read_run(tmp_path / "run")
    for k, model in enumerate(after.models):
        mine, theirs = weights(model), weights(before.models[k % 2])
        assert mine.keys() == theirs.keys()
        for name in mine:
            if "tables" not in name and not name.startswith("readout.last."):
                assert torch.equal(mine[name], theirs[name]), name
        assert mine["readout.last.weight"].shape == (2, 8)
    assert load_settings(tmp_path / "run" / "settings.yaml").options["from"] == {
        "run": str(source),
        "models": 2,
        "learned": ["u"],
        "copied": "all weights but the last map of the readout",
    }


def test_molecules_are_read_as_in_the_other_run(source, tmp_path):
    """The same scaling of descriptors; what either run has seen is not new to the models, and all else stays 0."""
    path = write(tmp_path, "b")
    assert main(command(path, tmp_path / "run", "--from", str(source), overrides=STILL)) == 0
    before, after = read_run(source), read_run(tmp_path / "run")
    assert after.schema.featurizer == before.schema.featurizer
    now = read_molecule_task(path, MoleculeOptions(targets="u")).schema
    old_table, new_table = (run.models[0].node_encoder.tables[0].detach() for run in (before, after))
    old, new = (set(run.seen["x"][0]) for run in (before.schema, now))
    assert old - new
    assert new - old
    assert set(after.schema.seen["x"][0]) == old | new
    assert torch.equal(new_table[sorted(old)], old_table[sorted(old)])
    assert (new_table[sorted(new - old)] != 0).all()
    assert (new_table[sorted(set(range(len(new_table))) - old - new)] == 0).all()
    found = Predictor.load(tmp_path / "run", "cpu")(["CCCl", "CCF", "C[SeH]"])
    assert list(found.unseen) == [2]


def test_the_same_targets_keep_the_last_map(source, tmp_path, capsys):
    assert main(command(write(tmp_path, "b"), tmp_path / "run", "--from", str(source), overrides=STILL)) == 0
    assert "copied: all weights\n" in capsys.readouterr().err
    mine, theirs = (weights(read_run(folder).models[0]) for folder in (tmp_path / "run", source))
    assert torch.equal(mine["readout.last.weight"], theirs["readout.last.weight"])


# ---- what must be the same --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "overrides", "message"),
    [
        ((), ["model.hidden=16"], "has model.hidden=8; found model.hidden=16"),
        ((), ["model_class=GIN"], "has model_class='BasePlanE'; found model_class='GIN'"),
        (("--no-stereo",), [], "the run to start from reads stereochemistry, so --no-stereo cannot be used"),
        (("--no-descriptors",), [], "the run to start from reads descriptors, so --no-descriptors cannot be used"),
    ],
)
def test_contradictions(source, tmp_path, capsys, more, overrides, message):
    path = write(tmp_path, "b")
    assert main(command(path, tmp_path / "run", "--from", str(source), *more, overrides=[*QUICK, *overrides])) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_what_is_not_said_is_that_of_the_other_run(tmp_path):
    small_model = [*QUICK, "model.hidden=8", "model.layers=1"]
    more = ("--no-stereo", "--no-descriptors")
    assert main(command(write(tmp_path, "a"), tmp_path / "one", *more, overrides=small_model)) == 0
    assert (
        main(command(write(tmp_path, "b"), tmp_path / "two", "--from", str(tmp_path / "one"), overrides=[*QUICK, "model.hidden=8"]))
        == 0
    )
    one, two = (load_settings(tmp_path / name / "settings.yaml") for name in ("one", "two"))
    assert two.complete()["model"] == one.complete()["model"]
    assert (two.options["stereo"], two.options["descriptors"]) == (False, False)
    assert main(command(tmp_path / "b.csv", tmp_path / "three", "--from", str(tmp_path / "one"), "--descriptors")) == 2


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "molecules.json is missing; name the folder of a run on a table of molecules"),
        (lambda f: (f / "molecules.json").write_text("[]"), "molecules.json is damaged: it must hold an object; found list"),
        (lambda f: (f / "result.json").unlink(), "result.json is missing; the run is not finished"),
        (lambda f: (f / "result.json").write_text('{"model_class": "BasePlanE"}'), "result.json is damaged: KeyError"),
        (lambda f: (f / "models/seed1/model.safetensors").unlink(), "seed1/model.safetensors is missing"),
        (lambda f: shutil.rmtree(f / "models"), "seed0/model.safetensors is missing"),
        (lambda f: _change_vocabulary(f), "were read by vocabulary 99"),
    ],
)
def test_a_damaged_or_foreign_folder_is_named(source, tmp_path, damage, message):
    shutil.copytree(source, tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(FormatError, match=message):
        Start.load(tmp_path / "run")


def _change_vocabulary(folder) -> None:
    schema = read_schema(folder)
    object.__setattr__(schema.featurizer, "vocabulary", 99)
    (folder / "molecules.json").write_text(json_text(schema.to_dict()))


# ---- resuming ---------------------------------------------------------------------------------------------------------------


def test_resumed_without_the_other_run(source, tmp_path, capsys):
    """Bit for bit the run that was never interrupted."""
    path, other = write(tmp_path, "b"), tmp_path / "other"
    shutil.copytree(source, other)
    train = {name: command(path, tmp_path / name, "--from", f"{other}/") for name in ("whole", "parts")}
    assert main(train["whole"]) == 0
    stopped_at(3, lambda: main(train["parts"]))
    assert not (tmp_path / "parts" / "result.json").exists()
    shutil.rmtree(other)
    capsys.readouterr()
    assert main(train["parts"]) == 0
    assert f"starts from {other} (2 models of u)" in capsys.readouterr().err
    whole, parts = (load_checkpoint(tmp_path / name / CHECKPOINT)[0] for name in ("whole", "parts"))
    for name, value in whole.items():
        assert torch.equal(value, parts[name]), name
    assert read_run(tmp_path / "whole").schema == read_run(tmp_path / "parts").schema
    assert main(train["parts"]) == 0  # it is finished: nothing changes
    assert main(command(path, tmp_path / "new", "--from", str(other))) == 2


def test_models_that_have_not_started_need_the_other_run(source, tmp_path, capsys):
    """Seeds one after another, stopped in the first."""
    path, other = write(tmp_path, "b", ("v",)), tmp_path / "other"
    shutil.copytree(source, other)
    overrides = [*QUICK, "train.together=false"]
    train = {
        n: command(path, tmp_path / n, "--from", str(other), "--ensemble", "2", overrides=overrides) for n in ("whole", "parts")
    }
    assert main(train["whole"]) == 0
    stopped_at(3, lambda: main(train["parts"]))
    other.rename(tmp_path / "away")
    capsys.readouterr()
    assert main(train["parts"]) == 2
    assert f"{other / 'molecules.json'} is missing" in capsys.readouterr().err
    (tmp_path / "away").rename(other)
    assert main(train["parts"]) == 0
    for one, two in zip(*(read_run(tmp_path / name).models for name in train), strict=True):
        for name, value in weights(one).items():
            assert torch.equal(value, weights(two)[name]), name


def test_not_resumed_from_another_run(source, tmp_path, capsys):
    path = write(tmp_path, "b")
    assert main(command(path, tmp_path / "run", "--from", str(source))) == 0
    assert main(command(path, tmp_path / "run", "--from", "elsewhere")) == 2
    assert f"holds a run that started from {source}, not from elsewhere" in capsys.readouterr().err
    assert main(command(path, source, "--from", str(source))) == 2
    assert "holds a run that started without --from" in capsys.readouterr().err
