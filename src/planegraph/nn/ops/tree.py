r"""The recursion that BiEnc and CutEnc share: two MLPs by turns, bottom-up through all trees of a batch.

Rows of two kinds, a and b; the children of an a row are b rows, and the other way round. With W_1, W_2 and b_2 of its own kind, a row is

.. math::
    y_r = \mathrm{relu}\big( W_2 \, \mathrm{relu}( x_r + W_1 \textstyle\sum_{c \in \chi(r)} m_c ) + b_2 \big), \qquad
    m_c = y_c \text{ of an a row}, \quad m_c = \log(1 + y_c) \text{ of a b row},

that is, MLP(input + sum over the children), x being the first map of the input alone.

A message passes the same maps at every level of a tree. Were they to stretch it, it would grow exponentially with the depth, and a model of
shallow trees would fail on the first deep one. The logarithm, once a round, keeps values from growing so, however far the maps stretch. It
is the identity on small messages, and its argument can be read off its value, so nothing is lost. (y is not negative.) Gradients do not
grow with the depth while weights are about as large as at the start; where they are many times larger, they may.

Slices of rows are computed one after the other and written in place; the gradient is taken by hand, so that the gradient of a weight is
one product over all levels instead of one per level. O(rows * width^2). On CUDA a slice is one kernel, and many narrow slices are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .incidence import Rows, sum_rows
from .linear import products

try:
    from . import triton_tree
except ImportError:  # no Triton: torch operations do
    triton_tree = None

Bounds = tuple[int, int]


class Level(NamedTuple):
    """The rows of both kinds that are computed next: first those of kind b, then those of kind a, which may be their parents."""

    b: Bounds
    a: Bounds


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


class Maps(NamedTuple):
    """W_1 and W_2 (..., width, width) and b_2 (..., width) of one kind."""

    into: Tensor
    last: Tensor
    bias: Tensor


def bottom_up(tree: Tree, x_a: Tensor, x_b: Tensor, a: Maps, b: Maps) -> Tensor:
    """y of all a rows (..., rows, width)."""
    for x, rows in ((x_a, tree.children_of_a.count), (x_b, tree.parent_of_b.shape[-1])):
        if x.shape[-2] != rows:
            raise ValueError(f"the trees have {rows} rows; found a tensor of shape {tuple(x.shape)}")
    return _BottomUp.apply(tree, x_a, x_b, *a, *b)


class _BottomUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tree: Tree, x_a: Tensor, x_b: Tensor, *maps: Tensor) -> Tensor:
        a, b = Maps(*maps[:3]), Maps(*maps[3:])
        hidden_a, hidden_b, y_a, m_b = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (x_a, x_b, x_a, x_b))
        if triton_tree is not None and triton_tree.can_fuse(x_a):
            triton_tree.forward(tree, x_a, x_b, a, b, hidden_a, hidden_b, y_a, m_b)
        else:
            for level in tree.levels:
                _up(level.b, x_b, y_a, tree.children_of_b, b, hidden_b, m_b)
                _part(m_b, level.b).log1p_()
                _up(level.a, x_a, m_b, tree.children_of_a, a, hidden_a, y_a)
        ctx.tree = tree
        ctx.save_for_backward(hidden_a, hidden_b, y_a, m_b, *maps)
        return y_a

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        hidden_a, hidden_b, y_a, m_b, *maps = ctx.saved_tensors
        tree, a, b = ctx.tree, Maps(*maps[:3]), Maps(*maps[3:])
        # of both kinds: the gradients before the last ReLU and before the first, and at each row the latter of its parent
        g_a, g_b, d_a, d_b, up_a, up_b = (torch.empty_like(t) for t in (y_a, m_b, y_a, m_b, y_a, m_b))
        if triton_tree is not None and triton_tree.can_fuse(y_a):
            triton_tree.backward(tree, gradient.contiguous(), a, b, hidden_a, hidden_b, y_a, m_b, g_a, g_b, d_a, d_b, up_a, up_b)
        else:
            for level in reversed(tree.levels):
                _down(level.a, gradient, tree.parent_of_a, d_b, b.into, up_a, g_a)
                _through(level.a, g_a, y_a, hidden_a, a.last, d_a)
                _down(level.b, None, tree.parent_of_b, d_a, a.into, up_b, g_b)
                rows = _part(g_b, level.b)
                rows *= torch.exp(-_part(m_b, level.b))
                _through(level.b, g_b, m_b, hidden_b, b.last, d_b)
        (into_a, _), last_a, (into_b, _), last_b = products(
            [(up_b, m_b, False), (g_a, hidden_a, True), (up_a, y_a, False), (g_b, hidden_b, True)]
        )
        return None, d_a, d_b, into_a, *last_a, into_b, *last_b


def _part(x: Tensor, bounds: Bounds) -> Tensor:
    return x[..., bounds[0] : bounds[1], :]


def _rows(rows: Rows, bounds: Bounds) -> Rows:
    return Rows(*(None if t is None else t[..., bounds[0] : bounds[1]] for t in rows))


def _times(x: Tensor, weight: Tensor, plus: Tensor, out: Tensor) -> Tensor:
    """plus + x weight."""
    return (torch.addmm if x.dim() == 2 else torch.baddbmm)(plus, x, weight, out=out)


def _up(bounds: Bounds, x: Tensor, below: Tensor, children: Rows | None, maps: Maps, hidden: Tensor, y: Tensor) -> None:
    """Fills ``hidden`` and ``y`` of some rows, given the messages of all rows below."""
    if bounds[0] == bounds[1]:
        return
    total = _part(below, bounds) if children is None else sum_rows(below, _rows(children, bounds))
    inner = _times(total, maps.into.mT, _part(x, bounds), _part(hidden, bounds)).relu_()
    _times(inner, maps.last.mT, maps.bias.unsqueeze(-2), _part(y, bounds)).relu_()


def _down(bounds: Bounds, own: Tensor | None, parent: Tensor | None, d: Tensor, into: Tensor, up: Tensor, g: Tensor) -> None:
    """Fills ``g`` of some rows: the gradient from outside (``own``) and what comes from the parents, by W_1 of their kind."""
    if bounds[0] == bounds[1]:
        return
    above, known = _part(up, bounds), d.shape[-2]
    if parent is None:
        above.copy_(_part(d, bounds)) if bounds[1] <= known else above.zero_()  # roots have no parent
    else:
        of_rows = parent[..., bounds[0] : bounds[1]]
        sum_rows(d, Rows(torch.where(of_rows < known, of_rows, -1)), out=above)
    torch.matmul(above, into, out=_part(g, bounds)) if own is None else _times(above, into, _part(own, bounds), _part(g, bounds))


def _through(bounds: Bounds, g: Tensor, y: Tensor, hidden: Tensor, last: Tensor, d: Tensor) -> None:
    """Takes ``g`` of some rows past the last ReLU, in place, and fills ``d``, the gradient before the first."""
    if bounds[0] == bounds[1]:
        return
    rows = _part(g, bounds)
    rows *= _part(y, bounds) > 0
    torch.matmul(rows, last, out=_part(d, bounds))
    _part(d, bounds).mul_(_part(hidden, bounds) > 0)
