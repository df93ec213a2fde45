"""BasePlanE tells the nine cubic planar graphs apart; GIN, to which all of them look the same, guesses."""

from __future__ import annotations

import pytest

from planegraph.train import train

from .tasks import cubic, small


def test_base_plane_learns_all(tmp_path):
    """Batch norm is safe here as a batch is the whole, balanced training part, and the rate ends at 0: running averages settle."""
    settings = small("cubic", epochs=150, batch_size=54, lr=0.003, seeds=2, schedule="cosine", save_seconds=60)
    settings = settings.with_overrides(["model.hidden=32", "model.pos_dim=32", "model.norm=batch", "model.norm_momentum=0.5"])
    result = train(cubic(), settings, tmp_path, device="cpu")
    assert [trial["test"] for trial in result["trials"]] == [1.0, 1.0]


def test_gin_guesses(tmp_path):
    result = train(cubic(), small("cubic", "GIN", epochs=3, batch_size=18, seeds=2), tmp_path, device="cpu")
    assert [trial["test"] for trial in result["trials"]] == [pytest.approx(1 / 9)] * 2
