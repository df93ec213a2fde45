"""Sums along an incidence: y = A x for a sparse 0/1 matrix A whose rows and whose transpose's rows are both at hand.

Every message of the model is such a sum: neighbours of a node, darts of a walk, SPQR nodes of a node, children in a tree. A row is
a run of entries (``begin`` to ``end``), each the id of a row of x (``index``; None: the entry itself), or a single id per row. -1 is
nothing. The gradient is the same sum along the transpose, so neither direction scatters: results do not depend on the order of
threads, and nothing is read back from a device.

On the CPU the sums run in the core; on CUDA in a Triton kernel (or, without Triton, as torch operations). O(entries * width).
Leading dimensions are replicas with their own ids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ... import _core

try:
    from . import triton_sums
except ImportError:  # no Triton: torch operations do
    triton_sums = None


class Rows(NamedTuple):
    """One direction of an incidence, as int32 tensors: either (begin, end, index or None) or a single ``index`` per row."""

    index: Tensor | None  # type: ignore[assignment]  # hides tuple.index
    begin: Tensor | None = None
    end: Tensor | None = None

    @staticmethod
    def of_ptr(ptr: Tensor, index: Tensor | None = None) -> Rows:
        """Runs that follow each other."""
        return Rows(index, ptr[..., :-1], ptr[..., 1:])

    @property
    def count(self) -> int:  # type: ignore[override]  # hides tuple.count
        """The number of rows."""
        return (self.index if self.begin is None else self.begin).shape[-1]


class Incidence(NamedTuple):
    """``rows`` sums x into y; ``columns``, its transpose, sums the gradient of y into that of x."""

    rows: Rows
    columns: Rows

    @property
    def transposed(self) -> Incidence:
        """The same incidence from the other side."""
        return Incidence(self.columns, self.rows)

    def check(self, x: Tensor) -> None:
        """Raises ValueError unless x has a row per column: the sums read by address, so that fewer must never reach them."""
        if x is None or x.shape[-2] != self.columns.count:
            found = None if x is None else f"a tensor of shape {tuple(x.shape)}"
            raise ValueError(f"the sum is over {self.columns.count} rows; found {found}")

    def __matmul__(self, x: Tensor) -> Tensor:
        """The sum y_r of x_c over all entries (r, c)."""
        self.check(x)
        return _Sum.apply(x, self.rows, self.columns)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Rows, columns: Rows) -> Tensor:
        ctx.rows, ctx.columns = rows, columns
        return sum_rows(x, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return _Sum.apply(gradient, ctx.columns, ctx.rows), None, None


def add_sums(y: Tensor | None, incidence: Incidence, x: Tensor) -> Tensor:
    """y + A x; None is 0."""
    if y is None:
        return incidence @ x
    incidence.check(x)
    incidence.transposed.check(y)
    return _AddSum.apply(y, x, incidence.rows, incidence.columns)


class _AddSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Tensor, x: Tensor, rows: Rows, columns: Rows) -> Tensor:
        ctx.rows, ctx.columns = rows, columns
        return sum_rows(x, rows, base=y)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        return gradient, _Sum.apply(gradient, ctx.columns, ctx.rows), None, None


def sum_rows(x: Tensor, rows: Rows, out: Tensor | None = None, base: Tensor | None = None) -> Tensor:
    """The sums themselves, without a gradient: into ``out`` if given, and added to ``base``, which may be ``out`` itself."""
    if out is None:
        out = x.new_empty(*x.shape[:-2], rows.count, x.shape[-1])
    if out.numel() == 0:
        return out
    if triton_sums is not None and triton_sums.runs(x) and x.shape[-2] > 0:
        return triton_sums.sum_rows(x, rows, out, base)
    if base is not None and base is not out:
        out.copy_(base)
    if x.shape[-2] == 0:
        return out.zero_() if base is None else out
    if x.dim() > 2:
        for k in range(x.shape[0]):
            sum_rows(x[k], Rows(*(None if t is None else t[k] for t in rows)), out[k], None if base is None else out[k])
        return out
    add = _in_core if x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64) else _in_torch
    return add(x, rows, out, base is not None)


def _in_core(x: Tensor, rows: Rows, out: Tensor, add: bool) -> Tensor:
    if x.stride(-1) != 1:
        x = x.contiguous()
    index, begin, end = (0 if t is None else t.data_ptr() for t in rows)
    double = x.dtype == torch.float64
    _core.sum_rows(x.data_ptr(), x.stride(0), index, begin, end, rows.count, x.shape[1], out.data_ptr(), out.stride(0), double, add)
    return out


def _in_torch(x: Tensor, rows: Rows, out: Tensor, add: bool) -> Tensor:
    """For any device and dtype; slower."""
    if rows.begin is None:
        row, column = torch.arange(rows.count, device=x.device), rows.index.long()
    else:
        counts = (rows.end - rows.begin).long()
        row = torch.repeat_interleave(torch.arange(rows.count, device=x.device), counts)
        before = torch.cumsum(counts, 0) - counts
        entry = torch.arange(len(row), device=x.device) - before[row] + rows.begin[row]
        column = entry if rows.index is None else rows.index[entry].long()
    kept = column >= 0
    if not add:
        out.zero_()
    return out.index_add_(0, row[kept], x[column[kept]])
