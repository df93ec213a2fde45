"""The recursion that BiEnc and CutEnc share, with its gradient by hand.

Rows of two kinds, a and b, in slices that are computed one after the other:

    a = relu(a_pre + W_a sum of its children b),    b = relu(b_pre + W_b sum of its children a).

Both encoders have this form once the last linear map of one MLP is composed with the first of the next, so that a tree level costs one
sum and one product. By hand, because the gradient of the weights is then one product over all levels instead of one per level, and
because slices are written in place. O(rows * width^2); on CUDA one kernel per slice and direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .incidence import Rows, sum_rows

try:
    from . import triton_levels
except ImportError:  # no Triton: torch operations do
    triton_levels = None

Bounds = tuple[int, int]


class Step(NamedTuple):
    """One slice: ``rows`` of kind a (``into_a``) or b, from the slice ``sources`` of the other kind.

    ``children`` sums sources into rows, ``parents`` sums rows into sources; None: row and source are the same.
    """

    into_a: bool
    rows: Bounds
    sources: Bounds
    children: Rows | None = None
    parents: Rows | None = None

    @classmethod
    def between(cls, into_a: bool, rows: Bounds, sources: Bounds, begin: Tensor, end: Tensor, parent: Tensor) -> Step:
        """For rows whose children are runs of sources; ``begin``, ``end`` by row, ``parent`` by source."""
        children = Rows(None, begin[..., slice(*rows)], end[..., slice(*rows)])
        return cls(into_a, rows, sources, children, Rows(parent[..., slice(*sources)]))


def alternate(a_pre: Tensor, b_pre: Tensor, w_a: Tensor, w_b: Tensor, steps: Sequence[Step]) -> Tensor:
    """The values of all rows of kind a."""
    return _Alternate.apply(a_pre, b_pre, w_a, w_b, steps)


def _part(x: Tensor, bounds: Bounds) -> Tensor:
    return x[..., bounds[0] : bounds[1], :]


def _add_product(into: Tensor, base: Tensor, x: Tensor, weight: Tensor) -> None:
    """into = base + x weight."""
    (torch.addmm if x.dim() == 2 else torch.baddbmm)(base, x, weight, out=into)


def _pull(out: Tensor, base: Tensor, source: Tensor, step: Step, weight: Tensor) -> None:
    """out = relu(base + weight times the sum of children); the product is taken before or after the sum, where there are fewer rows."""
    if step.children is None:
        _add_product(out, base, _part(source, step.sources), weight.mT)
    elif step.sources[1] - step.sources[0] < step.rows[1] - step.rows[0]:
        products = torch.empty_like(source)
        torch.matmul(_part(source, step.sources), weight.mT, out=_part(products, step.sources))
        sum_rows(products, step.children, out=out.copy_(base), add=True)
    else:
        _add_product(out, base, sum_rows(source, step.children), weight.mT)
    out.relu_()


def _where_positive(gradient: Tensor, value: Tensor) -> Tensor:
    """The gradient before a ReLU, given the one after it and its value."""
    return torch.ops.aten.threshold_backward(gradient, value, 0)


class _Alternate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a_pre: Tensor, b_pre: Tensor, w_a: Tensor, w_b: Tensor, steps: Sequence[Step]) -> Tensor:
        fused = triton_levels is not None and triton_levels.can_fuse(a_pre)
        if fused:
            a_pre, b_pre, w_a, w_b = a_pre.contiguous(), b_pre.contiguous(), w_a.contiguous(), w_b.contiguous()
        a, b = torch.zeros_like(a_pre), torch.zeros_like(b_pre)
        for step in steps:
            pre, value, source, weight = (a_pre, a, b, w_a) if step.into_a else (b_pre, b, a, w_b)
            out, base = _part(value, step.rows), _part(pre, step.rows)
            if out.shape[-2] == 0:
                continue
            if step.sources[0] == step.sources[1]:
                torch.clamp(base, min=0, out=out)
                continue
            if fused:
                whole = source if step.children is not None else _part(source, step.sources)
                triton_levels.forward(base, whole, step.children, weight, out)
                continue
            _pull(out, base, source, step, weight)
        ctx.steps, ctx.fused = steps, fused
        ctx.save_for_backward(a, b, w_a, w_b)
        return a

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        a, b, w_a, w_b = ctx.saved_tensors
        # gradients before the ReLU: what comes from outside now, what comes from a parent when its step is done
        g_a, g_b = _where_positive(gradient, a), torch.zeros_like(b)
        # at each source: the gradient of its parent
        up_a, up_b = torch.zeros_like(a), torch.zeros_like(b)
        for step in reversed(ctx.steps):
            grad, source, source_grad, up, weight = (g_a, b, g_b, up_b, w_a) if step.into_a else (g_b, a, g_a, up_a, w_b)
            if step.rows[0] == step.rows[1] or step.sources[0] == step.sources[1]:
                continue
            above, below, value = (_part(x, step.sources) for x in (up, source_grad, source))
            parents = None if step.parents is None else step.parents.index
            if ctx.fused:
                whole = grad if parents is not None else _part(grad, step.rows)
                triton_levels.backward(whole, parents, weight, value, below, above)
                continue
            if parents is None:
                above.copy_(_part(grad, step.rows))
            else:
                sum_rows(grad, step.parents, out=above)
            below += _where_positive(above @ weight, value)
        return g_a, g_b, up_b.mT @ b, up_a.mT @ a, None
