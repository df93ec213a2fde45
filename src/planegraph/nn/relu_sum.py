"""sum over the entries i of a segment of relu( T_1[i_1] + ... + T_k[i_k] ), fused on the CPU: the entries are never stored.

For segments of walks and of darts, which have several times more entries than there are nodes. Linear in entries * width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _core
from .incidence import Rows

MOST_TERMS = 4


def can_fuse(x: Tensor) -> bool:
    """Whether the core has the sum for this device and dtype."""
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def relu_sum(tables: Sequence[Tensor], indices: Sequence[Tensor], segments: Rows) -> Tensor:
    """``indices`` hold an id into the table of the same place for every entry (-1: nothing); ``segments`` are runs of entries."""
    if any(t.dtype != tables[0].dtype or t.device != tables[0].device for t in tables):
        raise TypeError(f"the tables must share dtype and device; found {[(t.dtype, str(t.device)) for t in tables]}")
    return _ReluSum.apply(segments, tuple(indices), *tables)


class _ReluSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, segments: Rows, indices: tuple[Tensor, ...], *tables: Tensor) -> Tensor:
        tables = tuple(t if t.stride(-1) == 1 else t.contiguous() for t in tables)
        y = tables[0].new_empty(*tables[0].shape[:-2], segments.count, tables[0].shape[-1])
        _run(segments, indices, tables, [None] * len(tables), y, backward=False)
        ctx.segments, ctx.indices = segments, indices
        ctx.save_for_backward(*tables)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        tables = ctx.saved_tensors
        wanted = [torch.zeros_like(t) if need else None for t, need in zip(tables, ctx.needs_input_grad[2:], strict=True)]
        _run(ctx.segments, ctx.indices, tables, wanted, gradient.contiguous(), backward=True)
        return None, None, *wanted


def _run(
    segments: Rows,
    indices: Sequence[Tensor],
    tables: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    y: Tensor,
    backward: bool,
) -> None:
    if y.dim() > 2:
        for k in range(y.shape[0]):
            of_replica = [[None if t is None else t[k] for t in group] for group in (indices, tables, gradients)]
            _run(Rows(None, segments.begin[k], segments.end[k]), *of_replica, y[k], backward)
        return
    terms = [
        (t.data_ptr(), t.stride(0), i.data_ptr(), *((0, 0) if g is None else (g.data_ptr(), g.stride(0))))
        for t, i, g in zip(tables, indices, gradients, strict=True)
    ]
    begin, end = segments.begin.data_ptr(), segments.end.data_ptr()
    _core.relu_sum(terms, begin, end, segments.count, y.shape[1], y.data_ptr(), y.stride(0), y.dtype == torch.float64, backward)
