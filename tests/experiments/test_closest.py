"""The closest pair of many vectors, and how many are close, against all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from planegraph.experiments.closest import closest_pair, count_close


@pytest.mark.parametrize("seed", range(40))
def test_against_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n, width = rng.integers(2, 200), rng.integers(1, 6)
    v = rng.standard_normal((n, width)) * 10.0 ** rng.integers(-3, 4, (n, 1))
    v = np.round(v, 1) if seed % 3 == 0 else v
    norms = np.linalg.norm(v, axis=1)
    scale = np.maximum(np.maximum(norms[:, None], norms), np.finfo(float).tiny)
    gaps = np.linalg.norm(v[:, None] - v, axis=2) / scale
    np.fill_diagonal(gaps, np.inf)
    found = closest_pair(v)
    assert found.gap == pytest.approx(gaps.min(), rel=1e-12)
    assert found.gap == pytest.approx(gaps[found.i, found.j], rel=1e-12)
    for gap in (0.0, 1e-3, 0.1, 0.4):
        assert count_close(v, gap) == (gaps[np.triu_indices(len(v), 1)] <= gap).sum()
