r"""The recursion that BiEnc and CutEnc share: two MLPs by turns, bottom-up through all trees of a batch.

Rows of two kinds, a and b; the children of an a row are b rows, and the other way round. With the maps W_1, b_1, W_2, b_2 of its kind
a row is

.. math::
    y_r = \mathrm{relu}\Big( W_2 \, \mathrm{relu}\big( W_1 ( h_r + \textstyle\sum_{c \in \chi(r)} m_c ) + b_1 + p_r \big) + b_2 \Big),
    \qquad m_c = y_c \text{ of an a row}, \quad m_c = \log(1 + y_c) \text{ of a b row}.

b rows have either h or p: p is what the first map gives for a part of a concatenation that does not come from below.

A message passes the same maps at every level of a tree. Were they to stretch it, it would grow exponentially with the depth, and a model of
shallow trees would fail on the first deep one. The logarithm, once a round, keeps values from growing so, however far the maps stretch. It
is the identity on small messages, and its argument can be read off its value, so nothing is lost. (y is not negative.) Gradients do not
grow with the depth while weights are about as large as at the start; where they are many times larger, they may.

Slices of rows are computed one after the other and written in place; the gradient is taken by hand, so that the gradient of a weight is
one product over all levels instead of one per level. O(rows * width^2). On CUDA the trees of a batch are one kernel (triton_tree.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .incidence import Rows, sum_rows
from .linear import Pair, products

try:
    from . import triton_tree
    from .triton_tools import storage_dtype
except ImportError:  # no Triton: torch operations do
    triton_tree = None

Bounds = tuple[int, int]


class Level(NamedTuple):
    """The rows of both kinds that are computed next: first those of kind b, then those of kind a, which may be their parents."""

    b: Bounds
    a: Bounds


class Parts(NamedTuple):
    """Independent parts of all trees: (..., levels, parts + 1), the row of either kind at which each begins in each level.

    In a level part follows part; what comes behind the last is padding, and is 0.
    """

    a: Tensor
    b: Tensor


class Tree(NamedTuple):
    """All trees of a batch: their levels, and the children and the parent of each row of either kind.

    ``children_of_a`` are runs of b rows, ``children_of_b`` runs of a rows, or None: b row r has the child a row r. ``parent_of_a`` and
    ``parent_of_b`` hold a row of the other kind, or a number that is none; ``parent_of_a`` is None where b row r is the parent of a row r.
    Every row is in some level.
    """

    levels: Sequence[Level]
    children_of_a: Rows
    children_of_b: Rows | None
    parent_of_a: Tensor | None
    parent_of_b: Tensor
    parts: Parts | None = None


def in_parts(tree: Tree) -> Tree:
    """The same tree with its parts, if there are kernels for them.

    A parent must be one level above its child (b rows of a level are below its a rows), the rows of a level that have a parent must come
    first and in the order of their parents, and all others but those of the top level must be padding. So it is in a batch.
    """
    if triton_tree is None or not triton_tree.runs(tree.parent_of_b):
        return tree
    return tree._replace(parts=triton_tree.parts_of(tree))


class Maps(NamedTuple):
    """Both linear maps of one kind: weights (..., width, width) and biases (..., width)."""

    first: Tensor
    first_bias: Tensor
    last: Tensor
    last_bias: Tensor


def bottom_up(
    tree: Tree, h_a: Tensor, h_b: Tensor | None, a: Maps, b: Maps, p_b: Tensor | None = None, rows: Bounds | None = None
) -> Tensor:
    """y of a rows (..., rows, width), of all or of those from ``rows``; of h_b and p_b one is given.

    Rows of h_b behind those of the trees are not read.
    """
    if (h_b is None) == (p_b is None):
        raise ValueError("either h_b or p_b is given, not both")
    x_b, rows_a, rows_b = p_b if h_b is None else h_b, tree.children_of_a.count, tree.parent_of_b.shape[-1]
    for x, number, fits in ((h_a, rows_a, h_a.shape[-2] == rows_a), (x_b, rows_b, x_b.shape[-2] >= rows_b)):
        if not fits:
            raise ValueError(f"the trees have {number} rows; found a tensor of shape {tuple(x.shape)}")
    return _BottomUp.apply(tree, h_b is not None, (0, rows_a) if rows is None else rows, h_a, x_b, *a, *b)


class _BottomUp(torch.autograd.Function):
    """``inside``: x_b is h_b, otherwise p_b."""

    @staticmethod
    def forward(ctx: Any, tree: Tree, inside: bool, rows: Bounds, h_a: Tensor, x_b: Tensor, *maps: Tensor) -> Tensor:
        a, b = Maps(*maps[:4]), Maps(*maps[4:])
        fused = triton_tree is not None and triton_tree.can_fuse(h_a)
        # of both kinds: h plus what comes from the children, what the first ReLU gives, what is told to the parent
        total_a, total_b, hidden_a, hidden_b = _of_both(tree, h_a, 2, storage_dtype() if fused else h_a.dtype)
        y_a, m_b = _of_both(tree, h_a, 1, h_a.dtype)
        if fused:
            triton_tree.forward(tree, inside, h_a, x_b, a, b, total_a, total_b, hidden_a, hidden_b, y_a, m_b)
        else:
            for level in tree.levels:
                _up(level.b, x_b, inside, y_a, tree.children_of_b, b, total_b, hidden_b, m_b)
                _part(m_b, level.b).log1p_()
                _up(level.a, h_a, True, m_b, tree.children_of_a, a, total_a, hidden_a, y_a)
        ctx.tree, ctx.inside, ctx.rows, ctx.of_b, ctx.fused = tree, inside, rows, (x_b.shape[-2], x_b.dtype), fused
        ctx.save_for_backward(total_a, total_b, hidden_a, hidden_b, y_a, m_b, a.first, a.last, b.first, b.last)
        return _part(y_a, rows)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        total_a, total_b, hidden_a, hidden_b, y_a, m_b, *weights = ctx.saved_tensors
        tree, known = ctx.tree, m_b.shape[-2]
        # of both kinds: the gradients before the last ReLU, before the first, and of what is inside the first map
        g_a, g_b, d_a, d_b = _of_both(tree, y_a, 2, total_a.dtype)
        read, dtype = ctx.of_b
        u_a, u_b = torch.empty_like(y_a), y_a.new_empty(*y_a.shape[:-2], read, y_a.shape[-1], dtype=dtype)
        u_b[..., known:, :] = 0
        if ctx.fused:
            triton_tree.backward(tree, gradient, ctx.rows, weights, hidden_a, hidden_b, y_a, m_b, g_a, g_b, d_a, d_b, u_a, u_b)
        else:
            first_a, last_a, first_b, last_b = weights
            own = gradient
            if gradient.shape != y_a.shape:
                own = torch.zeros_like(y_a)
                _part(own, ctx.rows).copy_(gradient)
            for level in reversed(tree.levels):
                _down(level.a, own, tree.parent_of_a, u_b[..., :known, :], g_a)
                _through(level.a, y_a, hidden_a, first_a, last_a, g_a, d_a, u_a)
                _down(level.b, None, tree.parent_of_b, u_a, g_b)
                rows = _part(g_b, level.b)
                rows *= torch.exp(-_part(m_b, level.b))
                _through(level.b, m_b, hidden_b, first_b, last_b, g_b, d_b, u_b)
        of_maps = products([Pair(x, y, sums=True) for x, y in ((d_a, total_a), (g_a, hidden_a), (d_b, total_b), (g_b, hidden_b))])
        return None, None, None, u_a, u_b if ctx.inside else d_b, *(t for pair in of_maps for t in pair)


def _of_both(tree: Tree, like: Tensor, number: int, dtype: torch.dtype) -> list[Tensor]:
    """So many tensors of all rows of either kind: a, b, a, b, ..."""
    rows = (tree.children_of_a.count, tree.parent_of_b.shape[-1])
    return [torch.empty(*like.shape[:-2], n, like.shape[-1], dtype=dtype, device=like.device) for _ in range(number) for n in rows]


def _part(x: Tensor, bounds: Bounds) -> Tensor:
    return x[..., bounds[0] : bounds[1], :]


def _rows(rows: Rows, bounds: Bounds) -> Rows:
    return Rows(*(None if t is None else t[..., bounds[0] : bounds[1]] for t in rows))


def _up(
    bounds: Bounds,
    x: Tensor,
    inside: bool,
    below: Tensor,
    children: Rows | None,
    maps: Maps,
    total: Tensor,
    hidden: Tensor,
    y: Tensor,
) -> None:
    """Fills ``total``, ``hidden`` and ``y`` of some rows, given the messages of all rows below."""
    if bounds[0] == bounds[1]:
        return
    sums, own = _part(total, bounds), _part(x, bounds)
    if children is not None:
        sum_rows(below, _rows(children, bounds), out=sums, base=own if inside else None)
    elif inside:
        torch.add(_part(below, bounds), own, out=sums)
    else:
        sums.copy_(_part(below, bounds))
    inner = _affine(sums, maps.first, maps.first_bias, _part(hidden, bounds))
    if not inside:
        inner += own
    _affine(inner.relu_(), maps.last, maps.last_bias, _part(y, bounds)).relu_()


def _affine(x: Tensor, weight: Tensor, bias: Tensor, out: Tensor) -> Tensor:
    """x W^T + b."""
    return (torch.addmm if x.dim() == 2 else torch.baddbmm)(bias.unsqueeze(-2), x, weight.mT, out=out)


def _down(bounds: Bounds, own: Tensor | None, parent: Tensor | None, above: Tensor, g: Tensor) -> None:
    """Fills ``g`` of some rows: the gradient from outside (``own``) and from their parents (``above``)."""
    if bounds[0] == bounds[1]:
        return
    rows, known = _part(g, bounds), above.shape[-2]
    mine = None if own is None else _part(own, bounds)
    if parent is None:  # b row r is the parent of a row r; roots have none
        torch.add(mine, _part(above, bounds), out=rows) if bounds[1] <= known else rows.copy_(mine)
        return
    of_rows = parent[..., bounds[0] : bounds[1]]
    sum_rows(above, Rows(torch.where(of_rows < known, of_rows, -1)), out=rows, base=mine)


def _through(bounds: Bounds, y: Tensor, hidden: Tensor, first: Tensor, last: Tensor, g: Tensor, d: Tensor, u: Tensor) -> None:
    """Takes ``g`` of some rows past the last ReLU, in place, and fills ``d`` and ``u``."""
    if bounds[0] == bounds[1]:
        return
    rows, before = _part(g, bounds), _part(d, bounds)
    rows *= _part(y, bounds) > 0
    torch.matmul(rows, last, out=before)
    before *= _part(hidden, bounds) > 0
    torch.matmul(before, first, out=_part(u, bounds))
