"""Kill, resume, and have the same run: weights, log and result, bit for bit."""

from __future__ import annotations

import json
import re
import signal
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from forked import Forked

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.data.sizes import Categorical
from planegraph.data.tables import PackedTables
from planegraph.io.checksums import read_json
from planegraph.nn import PlanEConfig
from planegraph.runs.checkpoint import CHECKPOINT, load_checkpoint, save_checkpoint
from planegraph.runs.errors import DivergedError, SettingsError, Stopped
from planegraph.runs.folder import read_run
from planegraph.runs.log import read_log
from planegraph.runs.provenance import read_sessions
from planegraph.runs.trials import trials_of
from planegraph.train import load_settings, loop, train
from planegraph.train import stack as stack_module
from planegraph.train.environment import StopSignal, World
from planegraph.train.loop import end_epoch, train_epoch
from planegraph.train.stack import Stack

from .tasks import regression, small, stopped_at
from .worker import settings


def start(folder: Path, how: str) -> Forked:
    return Forked("train.worker", folder, how)


def wait_for_epoch(process: Forked, folder: Path, epoch: int) -> None:
    until = time.monotonic() + 60
    while not any(r["epoch"] >= epoch for r in read_log(folder / "log.jsonl")):
        assert process.poll() is None, "the run ended before it was interrupted"
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(0.1)  # into the next epoch


def outcome(folder: Path):
    tensors, facts = load_checkpoint(folder / CHECKPOINT)
    facts.pop("seconds")
    log = [{k: v for k, v in r.items() if k != "seconds"} for r in read_log(folder / "log.jsonl")]
    return tensors, facts, log, json.loads((folder / "result.json").read_text())["trials"]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_same(a: Path, b: Path) -> None:
    (tensors, *rest), (others, *other_rest) = outcome(a), outcome(b)
    assert rest == other_rest
    assert tensors.keys() == others.keys()
    for name, value in tensors.items():
        assert torch.equal(value, others[name]), name


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    process = start(folder, "plain")
    assert process.wait(120) == 0
    return folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_interrupted_and_resumed(tmp_path, whole, number):
    process = start(tmp_path, "slow")
    wait_for_epoch(process, tmp_path, 3)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 75
        assert "--resume continues it" in output
    assert not (tmp_path / "result.json").exists()
    assert start(tmp_path, "resume").wait(120) == 0
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_an_ignored_signal_stays_ignored(number):
    """As in a run that a script starts in the background."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with StopSignal() as stop:
            signal.raise_signal(number)
        assert not stop.asked
        assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_a_signal_in_mid_epoch(tmp_path):
    task = regression()
    train(task, settings(), tmp_path / "whole", device="cpu")
    with pytest.raises(Stopped, match="stopped in epoch 3, step 3") as stopped:
        stopped_at(15, lambda: train(task, settings(), tmp_path / "parts", device="cpu"))
    assert stopped.value.signal == signal.SIGTERM
    assert load_checkpoint(tmp_path / "parts" / CHECKPOINT)[1]["step"] == 3
    train(task, settings(), tmp_path / "parts", resume=True, device="cpu")
    assert_same(tmp_path / "whole", tmp_path / "parts")


def test_training_draws_from_no_generator():
    """So a checkpoint needs no state of one: an epoch with dropout, and its validation, leave it as it was."""
    task, cpu = regression(), torch.device("cpu")
    stack = Stack(task, settings(), trials_of(task, settings().train), cpu, World())
    before = torch.get_rng_state()
    with StopSignal() as stop:
        assert train_epoch(stack, stop)
    end_epoch(stack)
    stack.batches.close()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_finished_run_can_be_lengthened(tmp_path):
    task = regression()
    train(task, settings(), tmp_path / "a", device="cpu")
    train(task, settings().with_overrides(["train.epochs=5"]), tmp_path / "b", device="cpu")
    train(task, settings(), tmp_path / "b", resume=True, device="cpu")
    assert_same(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ({"schedule": "cosine"}, {"epochs": 8}, "the rates follow the number of epochs"),
        ({"schedule": "cosine"}, {"epochs": 3}, "may become longer, not shorter"),
        ({}, {"epochs": 3}, "may become longer, not shorter"),
        ({"eval_every": 3}, {"epochs": 8}, "validated out of turn"),
    ],
)
def test_another_number_of_epochs_may_be_another_run(tmp_path, before, now, why):
    task = regression()
    train(task, small(**before), tmp_path, device="cpu")
    held = contents(tmp_path)
    with pytest.raises(SettingsError, match=rf"train\.epochs=4, not \d.*{why}"):
        train(task, small(**before, **now), tmp_path, resume=True, device="cpu")
    assert contents(tmp_path) == held


def test_an_interrupted_run_does_not_become_shorter(tmp_path):
    task, longer = regression(), small(epochs=6, eval_every=4)
    with pytest.raises(Stopped):
        stopped_at(2 * 3, lambda: train(task, longer, tmp_path, device="cpu"))
    with pytest.raises(SettingsError, match=r"train\.epochs=6, not 2; a run may become longer"):
        train(task, small(epochs=2, eval_every=4), tmp_path, resume=True, device="cpu")
    train(task, longer, tmp_path, resume=True, device="cpu")


def test_a_lengthened_run_has_no_result_until_it_is_done(tmp_path):
    """And no predictions: those of the shorter run are not its own."""
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    assert read_run(tmp_path).tests.keys() == {"seed0"}
    with pytest.raises(Stopped):
        stopped_at(13, lambda: train(task, small(epochs=6), tmp_path, resume=True, device="cpu"))
    assert not (tmp_path / "result.json").exists()
    assert read_run(tmp_path).tests == {}
    assert len(read_sessions(tmp_path)) == 2
    train(task, small(epochs=6), tmp_path, resume=True, device="cpu")
    assert read_run(tmp_path).tests.keys() == {"seed0"}
    assert len(read_sessions(tmp_path)) == 3
    train(task, small(epochs=6), tmp_path, resume=True, device="cpu")  # nothing is left to do
    assert len(read_sessions(tmp_path)) == 3


def test_a_finished_run_is_left_as_it_is(tmp_path):
    """Opening it once more changes no file: neither its seconds nor where it was made."""
    task, options = regression(), small(seeds=2, together=False)
    result = train(task, options, tmp_path, device="cpu")
    held = contents(tmp_path)
    assert train(task, options, tmp_path, resume=True, device="cpu") == result == read_json(tmp_path / "result.json")
    assert contents(tmp_path) == held
    (tmp_path / "result.json").write_text("{")
    with pytest.raises(pg.FormatError, match=r"result\.json is damaged: .* Remove it, and resuming the run writes it again"):
        train(task, options, tmp_path, resume=True, device="cpu")


def test_a_result_that_was_not_written_is_that_of_the_run(tmp_path, monkeypatch):
    """The process died before it: another one, elsewhere, tests and says who trained, and for how long."""
    task, options = regression(), small(seeds=2)
    result = train(task, options, tmp_path, device="cpu")
    trained = load_checkpoint(tmp_path / CHECKPOINT)[1]["seconds"]
    sessions = read_sessions(tmp_path)
    sessions[-1]["machine"] |= {"device": "another GPU", "torch": "1.2.3"}
    (tmp_path / "machine.json").write_text(json.dumps({"sessions": sessions}))
    (tmp_path / "result.json").unlink()
    make = stack_module.make_models

    def slow_set_up(*args):
        time.sleep(1.0)
        return make(*args)

    monkeypatch.setattr(stack_module, "make_models", slow_set_up)
    again = train(task, options, tmp_path, resume=True, device="cpu")
    assert again["trials"] == result["trials"]
    assert (again["device"], again["torch"]) == ("another GPU", "1.2.3")
    assert trained <= again["seconds"] < trained + 1.0
    assert read_sessions(tmp_path) == sessions


def test_predictions_of_a_finished_stack_stay(tmp_path):
    """Stopped in the second stack of two, and resumed: the first stack's predictions are there in the end, as those of the second."""
    task, alone = regression(), small(seeds=2, together=False)
    with pytest.raises(Stopped):
        stopped_at(5, lambda: train(task, alone, tmp_path, device="cpu"), stack=1)
    assert read_run(tmp_path).tests.keys() == {"seed0"}
    train(task, alone, tmp_path, resume=True, device="cpu")
    assert read_run(tmp_path).tests.keys() == {"seed0", "seed1"}
    with pytest.raises(Stopped):
        stopped_at(13, lambda: train(task, small(seeds=2, together=False, epochs=6), tmp_path, resume=True, device="cpu"))
    assert read_run(tmp_path).tests == {}


def test_settings_are_those_of_the_result(tmp_path):
    task, short = regression(), small()
    result = train(task, short, tmp_path, device="cpu")
    checkpoint = (tmp_path / CHECKPOINT).read_bytes()
    train(task, small(epochs=6), tmp_path, resume=True, device="cpu")
    (tmp_path / CHECKPOINT).write_bytes(checkpoint)  # as if the longer run had died before it saved
    (tmp_path / "result.json").unlink()
    again = train(task, short, tmp_path, resume=True, device="cpu")
    assert again["trials"] == result["trials"]
    assert load_settings(tmp_path / "settings.yaml") == short
    assert {r["epoch"] for r in read_log(tmp_path / "log.jsonl")} == {1, 2, 3, 4}


@pytest.mark.parametrize("spoil", ["data of a later stack", "log of a later stack", "machine"])
def test_nothing_is_changed_before_everything_was_checked(tmp_path, spoil):
    task, alone = regression(folds=2), {"together": False}
    train(task, small(**alone), tmp_path, device="cpu")
    if spoil == "data of a later stack":
        other = {**task.folds[1], "val": task.folds[1]["val"][:-1]}
        task = replace(task, folds=[task.folds[0], other])
    else:
        name = "group1/log.jsonl" if spoil.startswith("log") else "machine.json"
        (tmp_path / name).write_text("[5]\n{}\n")
    held = contents(tmp_path)
    with pytest.raises(pg.PlanegraphError, match=r"other data|is damaged"):
        train(task, small(epochs=6, **alone), tmp_path, resume=True, device="cpu")
    assert contents(tmp_path) == held


def test_a_log_that_is_not_whole_is_told(tmp_path):
    train(regression(), small(), tmp_path, device="cpu")
    lines = (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "log.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20])
    with pytest.warns(RuntimeWarning, match=r"lacks 1 lines of epochs that are done, first that of seed0, epoch 4"):
        train(regression(), small(epochs=5), tmp_path, resume=True, device="cpu")


def test_a_default_that_changed_is_another_setting(tmp_path, monkeypatch):
    train(regression(), small(), tmp_path, device="cpu")
    defaults = list(PlanEConfig.__init__.__defaults__)
    names = [f.name for f in fields(PlanEConfig)]
    defaults[names.index("residual")] = False
    monkeypatch.setattr(PlanEConfig.__init__, "__defaults__", tuple(defaults))
    with pytest.raises(SettingsError, match=r"model\.residual=True, not False"):
        train(regression(), small(epochs=5), tmp_path, resume=True, device="cpu")


def test_several_stacks_are_one_session(tmp_path):
    settings = small(seeds=3, together=False)
    train(regression(), settings, tmp_path, device="cpu")
    assert (tmp_path / "group2").exists()
    assert len(read_sessions(tmp_path)) == 1


def other_walks(ds: PackedDataset) -> PackedDataset:
    """The same graphs with other tables of their decomposition: positions in the walks."""
    tables = PackedTables({**ds.tables, "walk_kappa": np.ones_like(ds.tables.walk_kappa)})
    return PackedDataset(tables, ds.features, node_labels=ds.node_labels, edge_labels=ds.edge_labels)


@pytest.mark.filterwarnings("ignore::planegraph.PlanegraphWarning")  # one of the others tests on what validates
def test_other_data_are_refused(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    longer, y = small(epochs=5), task.dataset.y.copy()
    y[0] += 1
    swapped = {**task.splits, "val": task.splits["test"][:6]}
    both = np.concatenate([task.splits["train"], task.splits["val"]])
    moved = {**task.splits, "train": both[:21], "val": both[21:]}
    for other in (
        replace(task, dataset=task.dataset.with_y(y)),
        replace(task, splits=swapped),
        replace(task, splits=moved),
        replace(task, loss="mse"),
        replace(task, name="other"),
        replace(task, node_features=Categorical((7,))),
        replace(task, dataset=other_walks(task.dataset)),
    ):
        with pytest.raises(SettingsError, match="made of other data"):
            train(other, longer, tmp_path, resume=True, device="cpu")
    assert json.loads((tmp_path / "result.json").read_text())["trials"]
    same = replace(task, scale=None, node_features=Categorical([3]))
    train(same, longer, tmp_path, resume=True, device="cpu")


def test_tensors_of_another_shape_are_named(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    tensors, facts = load_checkpoint(tmp_path / CHECKPOINT)
    best = next(name for name in tensors if name.startswith("best."))
    without = {name: value for name, value in tensors.items() if name != best}
    for changed, facts_then, words in (
        (tensors | {"state.weights": torch.zeros(7)}, facts, r"has state\.weights of shape \(7,\); this model needs"),
        (without, facts, rf"has no {re.escape(best)}"),
        (tensors, {k: v for k, v in facts.items() if k != "data"}, "lacks data: an earlier version"),
        (tensors, facts | {"settings": {"task": "counting", "foo": 1}}, r"checkpoint\.safetensors: there is no setting foo"),
    ):
        save_checkpoint(tmp_path / CHECKPOINT, changed, facts_then)
        with pytest.raises(pg.PlanegraphError, match=words):
            train(task, small(epochs=5), tmp_path, resume=True, device="cpu")


def test_a_default_may_be_spelled_out(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    spelled = small().with_overrides(["model.cut=true", "model.dropout=0", "train.epochs=5", "options.edge_features=false"])
    assert train(task, spelled, tmp_path, resume=True, device="cpu")["trials"]


@pytest.mark.parametrize("line", ["", "5", '{"a": 1}', '{"epoch": 1}', '{"epoch": 2, "se', "\xff\xfe"])
def test_a_damaged_line_of_the_log_is_not_lost_silently(tmp_path, line):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    path = tmp_path / "log.jsonl"
    lines = path.read_text().splitlines()
    spoilt = "\n".join([lines[0], line, *lines[2:]]) + "\n"
    path.write_text(spoilt, encoding="latin-1")
    with pytest.raises(pg.FormatError, match=r"log\.jsonl, line 2, is damaged"):
        train(task, small(epochs=5), tmp_path, resume=True, device="cpu")
    assert path.read_text(encoding="latin-1") == spoilt


def test_other_settings_are_refused(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    with pytest.raises(SettingsError, match=r"train\.lr=0\.01, not 0\.5"):
        train(task, small(lr=0.5), tmp_path, resume=True, device="cpu")
    assert load_settings(tmp_path / "settings.yaml") == small()
    with pytest.raises(pg.PlanegraphError, match="already holds a run"):
        train(task, small(), tmp_path, device="cpu")


def test_a_damaged_checkpoint_is_refused(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    data = (tmp_path / CHECKPOINT).read_bytes()
    (tmp_path / CHECKPOINT).write_bytes(data[: len(data) // 2])
    with pytest.raises(pg.FormatError, match=r"is damaged: it has .* bytes; its header tells of"):
        train(task, small(epochs=5), tmp_path, resume=True, device="cpu")


@pytest.mark.parametrize("seed", range(5))
def test_one_bit_of_a_checkpoint(tmp_path, seed):
    """Whichever of the tensors' bits has changed, also in a later stack: nothing is resumed, and nothing is changed."""
    task, alone = regression(), {"seeds": 2, "together": False}
    train(task, small(epochs=1, **alone), tmp_path, device="cpu")
    path = tmp_path / "group1" / CHECKPOINT
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    at = int(np.random.default_rng(seed).integers(8 * start, 8 * len(data)))
    data[at // 8] ^= 1 << at % 8
    path.write_bytes(data)
    held = contents(tmp_path)
    words = r"group1/checkpoint\.safetensors is damaged: its checksum is [0-9a-f]{8}, not [0-9a-f]{8}\. Put a copy"
    with pytest.raises(pg.FormatError, match=words):
        train(task, small(epochs=2, **alone), tmp_path, resume=True, device="cpu")
    assert contents(tmp_path) == held


def test_nan_says_where(tmp_path):
    task = regression()
    task.dataset.y[task.splits["train"][3]] = float("nan")
    words = r"seed0: the training loss in step \d of 3 of epoch 1 is not a finite number.* may help$"
    with pytest.raises(DivergedError, match=words):
        train(task, small(seeds=2), tmp_path / "a", device="cpu")
    assert not (tmp_path / "a" / CHECKPOINT).exists()
    task = regression()
    task.dataset.y[task.splits["val"][0]] = float("inf")
    with pytest.raises(DivergedError, match="the validation loss after epoch 1"):
        train(task, small(), tmp_path / "b", device="cpu")


def test_nan_after_a_checkpoint(tmp_path, monkeypatch):
    """It is told that there is one, whether this process wrote it or an earlier one."""
    task, validate = regression(), loop.validate

    def diverges(stack):
        return validate(stack) if stack.epoch < 2 else stack.diverged(stack.trials[0], "the test's loss")

    monkeypatch.setattr(loop, "validate", diverges)
    for resume in (False, True):
        with pytest.raises(DivergedError, match=r"may help; the last checkpoint is from before$"):
            train(task, small(), tmp_path, resume=resume, device="cpu")
    assert load_checkpoint(tmp_path / CHECKPOINT)[1]["epoch"] == 2
