"""adam.py on CUDA in two kernels: the norms of the trials' gradients, and the update.

A program handles a piece, up to 1,024 elements of one parameter in one trial, so the rate and the factor are two numbers per program and no
element needs to know its trial. All trials have the same pieces, listed once. The sums of squares of the pieces go into memory of their
own and are added up in a fixed order: no atomics, so that the same gradient always gives the same bits. An update reads five numbers of an
element and writes four (three each without an average), which is all that it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..runs.settings import TrainSettings
from .adam import BETA1, BETA2, EPS, Pace, Vectors

_BLOCK = 1024  # elements of one program


@triton.jit
def _piece(pieces, BLOCK: tl.constexpr):
    """Where the elements of a program lie, and which of them there are."""
    own = pieces + tl.program_id(0) * 3
    place = tl.arange(0, BLOCK)
    return tl.load(own) + tl.program_id(1) * tl.load(own + 1) + place, place < tl.load(own + 2)


@triton.jit
def _squares_kernel(gradient, pieces, out, BLOCK: tl.constexpr):
    """The sum of squares of each piece, in float64: large gradients do not overflow."""
    at, inside = _piece(pieces, BLOCK)
    value = tl.load(gradient + at, mask=inside, other=0.0).to(tl.float64)
    tl.store(out + tl.program_id(1) * tl.num_programs(0) + tl.program_id(0), tl.sum(value * value, 0))


@triton.jit
def _update_kernel(
    weights, first, second, average, gradient, factor, rate, bias, forget, pieces,
    BETA1: tl.constexpr, BETA2: tl.constexpr, EPS: tl.constexpr, DECAY: tl.constexpr, DECOUPLED: tl.constexpr,
    HAS_AVERAGE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The formula of adam.py for one piece."""
    at, inside = _piece(pieces, BLOCK)
    r = tl.load(rate + tl.program_id(1))
    w = tl.load(weights + at, mask=inside, other=0.0)
    g = tl.load(gradient + at, mask=inside, other=0.0) * tl.load(factor + tl.program_id(1))
    if DECAY != 0:
        if DECOUPLED:
            w *= 1 - r * DECAY
        else:
            g += w * DECAY
    m = tl.load(first + at, mask=inside, other=0.0)
    m += (g - m) * (1 - BETA1)
    v = tl.load(second + at, mask=inside, other=0.0) * BETA2 + g * g * (1 - BETA2)
    below = tl.div_rn(tl.sqrt_rn(v), tl.sqrt_rn(tl.load(bias + 1))) + EPS
    w -= tl.div_rn(m, below) * tl.div_rn(r, tl.load(bias))
    tl.store(first + at, m, mask=inside)
    tl.store(second + at, v, mask=inside)
    tl.store(weights + at, w, mask=inside)
    if HAS_AVERAGE:
        a = tl.load(average + at, mask=inside, other=0.0)
        tl.store(average + at, a + (w - a) * tl.load(forget), mask=inside)


def can_fuse(weights: Tensor) -> bool:
    """Whether the kernels take these weights."""
    return weights.is_cuda and weights.dtype == torch.float32


class FusedAdam:
    """The rule of adam.py in two kernels, for float32; the arguments are those of ``PlainAdam``."""

    def __init__(self, weights: Tensor, sizes: Sequence[int], trials: int, settings: TrainSettings) -> None:
        self.settings = settings
        pieces = _pieces(sizes, trials)
        self.grid = len(pieces), trials
        self.pieces = torch.tensor(pieces, dtype=torch.int64, device=weights.device)  # begin, size of the parameter, length
        self.squares = torch.zeros(trials, len(pieces), dtype=torch.float64, device=weights.device)

    def norms(self, gradient: Tensor) -> Tensor:
        """See :class:`adam.Adam`."""
        with _on(gradient):
            _squares_kernel[self.grid](gradient, self.pieces, self.squares, BLOCK=_BLOCK)
        return self.squares.sum(1).sqrt_()

    def update(self, vectors: Vectors, gradient: Tensor, pace: Pace) -> None:
        """See :class:`adam.Adam`."""
        weights, first, second, average = vectors
        with _on(weights):
            _update_kernel[self.grid](
                weights, first, second, weights if average is None else average, gradient,
                pace.factor, pace.rate, pace.bias, pace.rate if pace.forget is None else pace.forget, self.pieces,
                BETA1=BETA1, BETA2=BETA2, EPS=EPS, DECAY=self.settings.weight_decay,
                DECOUPLED=self.settings.optimizer == "adamw", HAS_AVERAGE=average is not None, BLOCK=_BLOCK,
            )  # fmt: skip


def _pieces(sizes: Sequence[int], trials: int) -> list[tuple[int, int, int]]:
    """Of each piece in the first trial: where it begins, the size of its parameter, the distance to the next trial, its length."""
    begins = accumulate((trials * size for size in sizes), initial=0)
    return [
        (begin + k, size, min(_BLOCK, size - k)) for begin, size in zip(begins, sizes, strict=False) for k in range(0, size, _BLOCK)
    ]


def _on(tensor: Tensor) -> AbstractContextManager:
    return torch.cuda.device(tensor.device) if tensor.is_cuda else nullcontext()
