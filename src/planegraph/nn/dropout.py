"""Dropout that draws from a hash instead of a generator: what is dropped depends on the module's seed, how often it has been called, which
share of the graphs it sees (one of several processes sees a share) and the place of a value, and on nothing else.

So the replicas of a stack drop what they would drop alone, padded or not (real rows come first), a captured step draws anew at each replay,
and a resumed run draws the same values: seed and count are buffers, saved with the weights. The share is not saved, as all
processes read one file.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

try:
    from .ops import triton_dropout
except ImportError:
    triton_dropout = None

_WORD = 0xFFFFFFFF
_COUNT, _SHARE, _PLACE = 0x9E3779B1, 0xC2B2AE35, 0x9E3779B1  # odd, so that no two counts, shares or places give one word


def make_dropout(p: float, replicas: int | None) -> Dropout | None:
    """The module, or None where nothing is dropped."""
    return Dropout(p, replicas) if p else None


def set_share(module: nn.Module, share: int) -> None:
    """Lets all dropout in a module draw for this share; 0, as at first, for a process that is alone or the first."""
    for part in module.modules():
        if isinstance(part, Dropout):
            part.share = share


class Dropout(nn.Module):
    """In training each value becomes 0 with probability ``p``, and is divided by 1 - p otherwise.

    >>> torch.manual_seed(0); drop = Dropout(0.5)
    <torch._C.Generator object at ...>
    >>> sorted(set(drop(torch.ones(9, 9)).unique().tolist()))
    [0.0, 2.0]
    """

    seed: Tensor
    count: Tensor

    def __init__(self, p: float, replicas: int | None = None) -> None:
        super().__init__()
        self.p, self.share, lead = p, 0, () if replicas is None else (replicas,)
        self.register_buffer("seed", torch.empty(lead, dtype=torch.int64))
        self.register_buffer("count", torch.empty(lead, dtype=torch.int64))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """A new seed; the count starts at 0."""
        self.seed.copy_(torch.randint(0, _WORD, self.seed.shape))
        self.count.zero_()

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        if torch._C._current_graph_task_id() != -1:
            raise RuntimeError(
                f"{self} is computed again inside backward(), as torch.utils.checkpoint does: it would drop other values than before, and "
                "gradients would be wrong. Set dropout to 0 in what is checkpointed"
            )
        threshold, factor = int(self.p * 2**32), 1 / (1 - self.p)
        if triton_dropout is not None and triton_dropout.can_drop(x):
            key = triton_dropout.next_key(self.seed, self.count, _COUNT, _SHARE * self.share)
            return triton_dropout.dropped(x, key, threshold, factor)
        with torch.no_grad():
            self.count += 1
            key = mix(torch.add(self.seed, self.count, alpha=_COUNT) + _SHARE * self.share)
            places = torch.arange(x.shape[-2] * x.shape[-1], device=x.device).view(x.shape[-2:])
            drawn = mix(places * _PLACE + key[..., None, None])
            factors = torch.where(drawn >= threshold, factor, 0.0).to(x.dtype)
        return x * factors

    def extra_repr(self) -> str:
        return f"p={self.p}"


def mix(x: Tensor) -> Tensor:
    """A 32-bit word for each integer, any bit of which depends on all 32 low bits of it (the finaliser of MurmurHash3)."""
    x = x & _WORD
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & _WORD
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & _WORD
    return x ^ (x >> 16)
