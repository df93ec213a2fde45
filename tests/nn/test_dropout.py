"""Dropout by a hash: the right share, fair over places, calls and seeds; the same for a replica as alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

from planegraph.data import PackedDataset
from planegraph.graphs import families
from planegraph.nn import PlanEConv
from planegraph.nn.dropout import Dropout, mix, set_share


def module(p: float, seed: int, replicas: int | None = None) -> Dropout:
    torch.manual_seed(seed)
    return Dropout(p, replicas)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.66])
def test_share_and_mean(p):
    """Over 60 calls, and within each row, column and call: no share of zeros is off by more than chance allows."""
    drop, shape = module(p, 0), (60, 200, 100)
    kept = torch.stack([drop(torch.ones(shape[1:])) for _ in range(shape[0])]).numpy()
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / (1 - p))}
    zero = kept == 0
    for axes in [(0, 1, 2), (0, 1), (0, 2), (1, 2)]:
        share, count = zero.mean(axis=axes), np.prod([shape[a] for a in axes])
        assert np.abs(share - p).max() < 5 * np.sqrt(p * (1 - p) / count)


def test_places_calls_and_seeds_are_independent():
    """Correlations between neighbours, between calls and between seeds are those of chance."""
    p, size = 0.5, (400, 64)
    first, other = module(p, 1), module(p, 2)
    draws = [first(torch.ones(size)).numpy().ravel() - 1 for _ in range(3)] + [other(torch.ones(size)).numpy().ravel() - 1]
    limit = 5 / np.sqrt(draws[0].size)
    for i, a in enumerate(draws):
        for shift in (1, 2, 63, 64, 65):
            assert abs((a[shift:] * a[:-shift]).mean()) < limit
        for b in draws[:i]:
            assert abs((a * b).mean()) < limit


def test_shares_are_independent():
    """Processes that see different graphs drop different values, call by call and shifted by calls too; the first keeps its numbers."""
    size, draws = (200, 64), {}
    for share in (0, 1, 2, 7):
        drop = torch.nn.Sequential(module(0.5, 1))
        set_share(drop, share)
        draws[share] = [drop(torch.ones(size)).numpy().ravel() - 1 for _ in range(4)]
    alone = module(0.5, 1)
    for mine in draws[0]:
        assert np.array_equal(mine, alone(torch.ones(size)).numpy().ravel() - 1)
    limit = 5 / np.sqrt(size[0] * size[1])
    found = [values for share in draws.values() for values in share]
    for i, a in enumerate(found):
        for b in found[:i]:
            assert abs((a * b).mean()) < limit


def test_what_is_dropped_stays_what_it_was():
    """Resumed runs and published figures rest on these numbers."""
    drop = module(0.5, 0)
    drop.seed.fill_(12345)
    drawn = ["".join("x" if value else "." for value in drop(torch.ones(2, 8)).flatten()) for _ in range(4)]
    assert drawn == ["xxx.x.xx..x..xx.", "xx.x.x...xxx.xx.", "xxx....xxxx....x", "......x.x...xx.."]


def test_evaluation_keeps_all_and_draws_nothing():
    drop = module(0.5, 0).eval()
    x = torch.randn(3, 4)
    assert drop(x) is x
    assert drop.count.item() == 0


def test_a_replica_drops_what_it_drops_alone_padded_or_not():
    alone = [module(0.3, seed) for seed in range(3)]
    stack = Dropout(0.3, 3)
    stack.load_state_dict({name: torch.stack([m.state_dict()[name] for m in alone]) for name in ("seed", "count")})
    for _ in range(4):
        together = stack(torch.ones(3, 50, 8))
        for k, one in enumerate(alone):
            assert torch.equal(together[k, :37], one(torch.ones(37, 8)))
    assert stack.count.tolist() == [4, 4, 4]


def test_the_gradient_is_dropped_alike():
    drop, x = module(0.4, 0), torch.ones(30, 30, requires_grad=True)
    out = drop(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_is_refused(reentrant):
    """It computes the layer again for its gradient; the count has moved on, so other values would be dropped, silently."""
    batch = PackedDataset.from_graphs([families.wheel(5), families.path(4)])[:]
    x = torch.randn(batch.layout.num_nodes, 3, requires_grad=True)
    conv = PlanEConv(3, 4, dropout=0.5)
    with pytest.raises(RuntimeError, match=r"Dropout\(p=0.5\) is computed again inside backward\(\).*Set dropout to 0"):
        checkpoint(conv, x, batch, use_reentrant=reentrant).sum().backward()
    conv.eval()  # in training running averages would move twice, as those of PyTorch's norms
    conv(x, batch).square().sum().backward()
    expected, x.grad = x.grad, None
    checkpoint(conv, x, batch, use_reentrant=reentrant).square().sum().backward()
    torch.testing.assert_close(x.grad, expected)


def test_mix_is_a_permutation_of_words():
    words = torch.arange(1 << 16) * 65521
    assert len(mix(words).unique()) == len(words)
    assert mix(words).max() < 1 << 32
