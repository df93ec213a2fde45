"""TensorBoard's event files beside the log: every epoch of every lane once, also after a resumed run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from train.tasks import regression, small

from planegraph.errors import MissingDependencyError
from planegraph.train import train
from planegraph.train.errors import Stopped
from planegraph.train.log import Silent, TensorBoard, read_log, summary_writer
from planegraph.train.signals import StopWish


def scalars(folder: Path, tag: str) -> list[tuple[int, float]]:
    """All events as they lie in the files, without TensorBoard's own repairs."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    found = []
    for path in sorted(folder.glob("events.*")):
        for event in EventFileLoader(str(path)).Load():
            found += [(event.step, v.tensor.float_val[0]) for v in event.summary.value if v.tag == tag]
    return found


def needs_tensorboard() -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed: pip install 'planegraph[tensorboard]'")


@pytest.mark.parametrize("together", [True, False])
def test_every_epoch_once(tmp_path, together, monkeypatch):
    """Interrupted after the second epoch, and resumed: all steps are there once, with the values of the log."""
    needs_tensorboard()
    settings = small(seeds=2, eval_every=2, together=together)
    asked = iter([False] * 4 + [True] * 100)
    monkeypatch.setattr(StopWish, "asked", property(lambda self: next(asked), lambda self, value: None), raising=False)
    with pytest.raises(Stopped):
        train(regression(), settings, tmp_path, tensorboard=True, device="cpu")
    monkeypatch.undo()
    before = len(scalars(tmp_path / "tensorboard" / "seed0", "loss"))
    assert 0 < before < 4
    train(regression(), settings, tmp_path, tensorboard=True, resume=True, device="cpu")
    records = [r for path in (tmp_path / "log.jsonl", tmp_path / "group1" / "log.jsonl") for r in read_log(path)]
    assert len(records) == 8
    for seed in (0, 1):
        for tag in ("loss", "val", "val_loss", "rate"):
            wanted = [(r["epoch"], r[tag]) for r in records if r["seed"] == seed and r[tag] is not None]
            found = scalars(tmp_path / "tensorboard" / f"seed{seed}", tag)
            assert (
                [step for step, _ in found] == [epoch for epoch, _ in wanted] == ([2, 4] if tag.startswith("val") else [1, 2, 3, 4])
            )
            assert [value for _, value in found] == pytest.approx([value for _, value in wanted], rel=1e-6)


def test_of_a_run_that_is_finished(tmp_path):
    needs_tensorboard()
    train(regression(), small(seeds=2, together=False), tmp_path, device="cpu")
    assert not (tmp_path / "tensorboard").exists()
    train(regression(), small(seeds=2, together=False), tmp_path, tensorboard=True, resume=True, device="cpu")
    for seed in (0, 1):
        assert [step for step, _ in scalars(tmp_path / "tensorboard" / f"seed{seed}", "loss")] == [1, 2, 3, 4]


def test_what_is_left_of_an_earlier_run_goes(tmp_path):
    needs_tensorboard()
    values = {"seed": 0, "fold": 3, "target": None, "loss": 0.5, "rate": 0.1, "val": None, "val_loss": None}
    for last in (5, 2):
        board = TensorBoard(Silent(), tmp_path, [{"epoch": 1} | values])
        for epoch in range(2, last + 1):
            board.show([{"epoch": epoch} | values], 5, 0.0)
        board.close()
        assert [step for step, _ in scalars(tmp_path / "seed0-fold3", "loss")] == list(range(1, last + 1))


def test_without_tensorboard(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'planegraph\[tensorboard\]'"):
        summary_writer()
    with pytest.raises(MissingDependencyError):
        train(regression(), small(), tmp_path / "run", tensorboard=True, device="cpu")
    assert not (tmp_path / "run").exists()
