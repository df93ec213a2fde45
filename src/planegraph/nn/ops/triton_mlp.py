"""The MLP with batch norms on CUDA, as one operation with its gradient; the kernels are in triton_mlp_kernels.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .incidence import Incidence, Rows
from .linear import Pair
from .norm_relu import EPS, FLAT, Running
from .triton_linear import products
from .triton_mlp_kernels import apply_kernel, back_kernel, first_kernel, last_kernel, statistics_kernel, sums_kernel
from .triton_sums import sum_rows
from .triton_tools import MOST_ELEMENTS, on_device, power_of_two, products_in, runs, storage_dtype, takes_dtype

if TYPE_CHECKING:
    from ..linear import Linear
    from ..norm import BatchNorm
    from .mlp import At

_WIDEST = 128
_MOST_DENSE, _MOST_TABLES = 3, 2
_PROGRAMS = {64: 264, 128: 132}  # about so many share the rows, by their width: two, and one, for each multiprocessor of an H200
_MANY_CHUNKS = 32  # from which on statistics are not made of them by every program that needs them


# ---- launches ---------------------------------------------------------------------------------------------------------------------


def _tile(width: int, weights: int = 1) -> dict[str, int]:
    """Rows and columns of a program, and its warps; as measured on an H200. Shared memory holds the weights and the rows to come next."""
    columns, exact = power_of_two(width), torch.get_float32_matmul_precision() == "highest"
    if columns <= 64:
        return {"ROWS": 64, "COLUMNS": columns, "num_warps": 4, "num_stages": 2 if weights == 1 else 1}
    return {"ROWS": 32 if exact else 64, "COLUMNS": columns, "num_warps": 8, "num_stages": 1 if exact or weights > 1 else 2}


def _tile_of_sums(width: int) -> dict[str, int]:
    """The same of a kernel that does not multiply."""
    return {"ROWS": 64, "COLUMNS": power_of_two(width), "num_warps": 4}


def _chunks(rows: int, replicas: int, tile: dict[str, int]) -> tuple[int, int]:
    """Rows of a chunk, and how many chunks each replica has, so that about as many programs as fit share all rows."""
    size, programs = tile["ROWS"], _PROGRAMS[max(tile["COLUMNS"], 64)]
    chunk = triton.cdiv(max(triton.cdiv(rows * replicas, programs), size), size) * size
    return chunk, max(triton.cdiv(rows, chunk), 1)


def _weights_fit(number: int, width: int) -> bool:
    """Whether so many weights stay in shared memory while a program goes through its rows."""
    return number == 1 or power_of_two(width) <= 64 or products_in()["DOT"] == tl.bfloat16


class _Norm(NamedTuple):
    """A batch norm as the kernels read it: (replicas, width) each."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor
    momentum: float


def _first(
    dense: Sequence[tuple[Tensor, Tensor]], tables: Sequence[tuple[Tensor, Tensor]], mask: Tensor | None, rows: int, width: int
) -> tuple[Tensor, Tensor]:
    """z of the first map, and the moments of its chunks (replicas, chunks, 3, width).

    Args:
        dense: inputs (replicas, rows, k) with weights (replicas, width, k); tables: (replicas, n, width) with ids (replicas, rows).
    """
    like = dense[0][0] if dense else tables[0][0]
    replicas, tile = len(like), _tile(width, len(dense))
    chunk, chunks = _chunks(rows, replicas, tile)
    z = torch.empty(replicas, rows, width, dtype=storage_dtype(), device=like.device)
    moments = torch.empty(replicas, chunks, 3, width, dtype=torch.float32, device=like.device)
    xs = [x for x, _ in dense] + [like] * (_MOST_DENSE - len(dense))
    ws = [w for _, w in dense] + [like] * (_MOST_DENSE - len(dense))
    ts = [t for t, _ in tables] + [like] * (_MOST_TABLES - len(tables))
    ids = [i for _, i in tables] + [like] * (_MOST_TABLES - len(tables))
    with on_device(like):
        first_kernel[chunks, replicas](
            *xs, *ws, *ts, *ids, like if mask is None else mask, z, moments, rows, width, *(x.shape[-1] for x in xs),
            *(t.shape[-2] for t in ts), *(i.stride(0) for i in ids), chunk, DENSE=len(dense), TABLES=len(tables),
            RELOAD=not _weights_fit(len(dense), width), HAS_MASK=mask is not None, **products_in(),
            INNER=power_of_two(max((x.shape[-1] for x, _ in dense), default=16)), **tile,
        )  # fmt: skip
    return z, moments


def _last(
    x: Tensor, moments: Tensor, norm: _Norm, weight: Tensor, bias: Tensor | None, mask: Tensor | None, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor | None]:
    """z of the last map of relu(norm(x)), the statistics of that norm (replicas, 5, k) and, without a bias, the moments of z. With a bias
    z is what the MLP gives, in ``dtype``.

    Statistics are mean, 1 / deviation, scale, offset and the number of rows.
    """
    (replicas, rows, k), width = x.shape, weight.shape[1]
    tile = _tile(width)
    chunk, chunks = _chunks(rows, replicas, tile)
    z = torch.empty(replicas, rows, width, dtype=storage_dtype() if bias is None else dtype, device=x.device)
    known = moments.shape[1] > _MANY_CHUNKS
    statistics = _statistics(moments, norm) if known else weight.new_empty(replicas, 5, k)
    partial = weight.new_empty(replicas, chunks, 3, width) if bias is None else None
    with on_device(x):
        last_kernel[chunks, replicas](
            x, moments, *norm[:4], statistics, weight, x if bias is None else bias, x if mask is None else mask, z,
            x if partial is None else partial, rows, k, width, moments.shape[1], norm.momentum, chunk, HAS_BIAS=bias is not None,
            MOMENTS=bias is None, KNOWN=known, HAS_MASK=mask is not None, EPSILON=EPS, FLAT=FLAT,
            CHUNKS=triton.next_power_of_2(moments.shape[1]), **products_in(), INNER=power_of_two(k), **tile,
        )  # fmt: skip
    return z, statistics, partial


def _statistics(moments: Tensor, norm: _Norm) -> Tensor:
    """(replicas, 5, width), from the moments of all chunks."""
    replicas, chunks, _, width = moments.shape
    out = moments.new_empty(replicas, 5, width)
    with on_device(moments):
        statistics_kernel[replicas, triton.cdiv(width, 16)](
            moments,
            *norm[:4],
            out,
            chunks,
            width,
            norm.momentum,
            EPSILON=EPS,
            FLAT=FLAT,
            CHUNKS=triton.next_power_of_2(chunks),
            COLUMNS=16,
        )
    return out


def _apply(z: Tensor, statistics: Tensor, dtype: torch.dtype) -> Tensor:
    """relu(norm(z))."""
    out, tile = torch.empty_like(z, dtype=dtype), _tile(z.shape[-1])
    with on_device(z):
        apply_kernel[triton.cdiv(z.shape[1], tile["ROWS"]), len(z)](z, statistics, out, z.shape[1], z.shape[2], **tile)
    return out


class _Gradient(NamedTuple):
    """Where the gradient of z comes from.

    Attributes:
        value: (replicas, n, width), with ``index`` (replicas, rows) if a row's is that of a segment.
        z, statistics: of the norm between; None: ``value`` is dz itself.
        sums: (replicas, chunks, 2, width), of g and of g c; past_relu: whether ``value`` is past the ReLU.
    """

    value: Tensor
    index: Tensor | None = None
    z: Tensor | None = None
    statistics: Tensor | None = None
    sums: Tensor | None = None
    past_relu: bool = False


def _before_norm(gradient: Tensor, index: Tensor | None, z: Tensor, statistics: Tensor, mask: Tensor | None) -> _Gradient:
    """The gradient before the norm and ReLU at the end of an MLP."""
    replicas, rows, width = z.shape
    tile = _tile_of_sums(width)
    chunk, chunks = _chunks(rows, replicas, tile)
    sums = statistics.new_empty(replicas, chunks, 2, width)
    with on_device(z):
        sums_kernel[chunks, replicas](
            gradient, gradient if index is None else index, z, z if mask is None else mask, statistics, sums, rows,
            gradient.shape[1], width, 0 if index is None else index.stride(0), chunk, HAS_INDEX=index is not None,
            HAS_MASK=mask is not None, **tile,
        )  # fmt: skip
    return _Gradient(gradient, index, z, statistics, sums)


class _Back(NamedTuple):
    """What :func:`_back` gives; None where there is none."""

    of_norm: tuple[Tensor | None, Tensor | None]  # gradients of the norm's weight and bias
    dz: Tensor
    dxs: Sequence[Tensor]
    sums: Tensor | None


def _back(
    g: _Gradient,
    rows: int,
    mask: Tensor | None,
    weights: Sequence[Tensor],
    dtypes: Sequence[torch.dtype],
    activated: tuple[Tensor, Tensor] | None = None,
) -> _Back:
    """Gradients of a sum of linear maps: of its value and of their inputs, in ``dtypes``.

    With ``activated``, x and the statistics of a norm, there is one input, relu(norm(x)); its gradient is that past the ReLU, and there are
    sums for the norm.
    """
    (replicas, gradient_rows, width), like = g.value.shape, g.value
    tile, inputs = _tile(width, len(weights)), [w.shape[-1] for w in weights]
    chunk, chunks = _chunks(rows, replicas, tile)
    whole = {"dtype": torch.float32, "device": like.device}
    dz = torch.empty(replicas, rows, width, dtype=storage_dtype(), device=like.device)
    dxs = [torch.empty(replicas, rows, k, dtype=dtype, device=like.device) for k, dtype in zip(inputs, dtypes, strict=True)]
    sums = None if activated is None else torch.empty(replicas, chunks, 2, inputs[0], **whole)
    of_norm = (None, None) if g.sums is None else torch.empty(2, replicas, width, **whole)
    before = 1 if g.sums is None else g.sums.shape[1]
    unused = _MOST_DENSE - len(weights)

    def there(t: Tensor | None) -> Tensor:
        return like if t is None else t

    with on_device(like):
        back_kernel[chunks, replicas](
            g.value, there(g.index), there(g.z), there(mask), there(g.statistics), there(g.sums),
            like if g.sums is None else of_norm, *weights, *[like] * unused, *((like, like) if activated is None else activated), dz, *dxs,
            *[like] * unused, there(sums), rows, gradient_rows, width, *inputs, *[16] * unused,
            0 if g.index is None else g.index.stride(0), replicas, before, chunk, HAS_INDEX=g.index is not None,
            NORM=g.sums is not None, PAST_RELU=g.past_relu, HAS_MASK=mask is not None, DENSE=len(weights),
            ACTIVATE=activated is not None, RELOAD=not _weights_fit(len(weights), width),
            CHUNKS=triton.next_power_of_2(before), **products_in(), INNER=power_of_two(max(inputs, default=16)), **tile,
        )  # fmt: skip
    return _Back(tuple(of_norm), dz, dxs, sums)


# ---- the whole MLP ----------------------------------------------------------------------------------------------------------------


def _to_table(dz: Tensor, rows: Rows, dtype: torch.dtype) -> Tensor:
    """The gradient of a table from that of the rows that read it."""
    return sum_rows(dz, rows, torch.empty(len(dz), rows.count, dz.shape[-1], dtype=dtype, device=dz.device))


@dataclass(frozen=True)
class _Call:
    """What the MLP is given besides tensors that have gradients: how many parts are dense, the incidences and dtypes of the tables, the
    incidence of the segments, norms, mask and rows, and the dtype of the result."""

    dense: int
    incidences: tuple[Incidence, ...]
    dtypes: tuple[torch.dtype, ...]
    into: Incidence | None
    first: Running
    last: Running | None
    mask: Tensor | None
    rows: int
    dtype: torch.dtype


class _MLP(torch.autograd.Function):
    """Inputs: the dense parts, their weights, the tables; weight and bias of the first norm; the last weight; then weight and bias of the
    last norm, or None and the bias of the last map; then what the sums are added to, or None."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *given: Tensor | None) -> Tensor:
        n, t = call.dense, len(call.incidences)
        xs, ws, tables = given[:n], given[n : 2 * n], given[2 * n : 2 * n + t]
        norm_weight, norm_bias, weight, last_weight, last_bias, plus = given[2 * n + t :]
        ids = [(table, incidence.rows.index) for table, incidence in zip(tables, call.incidences, strict=True)]
        ends, norm = call.last is not None, _Norm(norm_weight, norm_bias, *call.first)
        z1, moments = _first(list(zip(xs, ws, strict=True)), ids, call.mask, call.rows, norm_weight.shape[-1])
        z2, s1, moments = _last(z1, moments, norm, weight, None if ends else last_bias, call.mask, call.dtype)
        s2 = _statistics(moments, _Norm(last_weight, last_bias, *call.last)) if ends else None
        ctx.call = call
        ctx.save_for_backward(*xs, *ws, weight, z1, s1, *((z2, s2) if ends else ()))
        if not ends:
            return z2
        if call.into is None:
            return _apply(z2, s2, call.dtype)
        out = torch.empty(len(z2), call.into.rows.count, z2.shape[-1], dtype=call.dtype, device=z2.device)
        return sum_rows(z2, call.into.rows, out, plus, (s2[:, 2], s2[:, 3]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        call, n = ctx.call, ctx.call.dense
        xs, ws = ctx.saved_tensors[:n], ctx.saved_tensors[n : 2 * n]
        weight, z1, s1, *ends = ctx.saved_tensors[2 * n :]
        gradient = gradient.contiguous()
        last = _Gradient(gradient)
        if ends:
            last = _before_norm(gradient, None if call.into is None else call.into.columns.index, *ends, call.mask)
        back = _back(last, call.rows, call.mask, [weight], [storage_dtype()], (z1, s1))
        first = _Gradient(back.dxs[0], None, z1, s1, back.sums, past_relu=True)
        wanted = ctx.needs_input_grad[1:]
        read = [k for k in range(n) if wanted[k]]
        found = _back(first, call.rows, call.mask, [ws[k] for k in read], [xs[k].dtype for k in read])
        of_parts = dict(zip(read, found.dxs, strict=True))
        dxs = [of_parts.get(k) for k in range(n)]
        dts = [_to_table(found.dz, i.columns, dtype) for i, dtype in zip(call.incidences, call.dtypes, strict=True)]
        (dw, db), *rest = products([Pair(back.dz, z1, not ends, s1), *(Pair(found.dz, x) for x in xs)])
        of_last = back.of_norm if ends else (None, db)
        return None, *dxs, *(of_w for of_w, _ in rest), *dts, *found.of_norm, dw, *of_last, gradient if wanted[-1] else None


def can_fuse(
    dense: Sequence[tuple[Tensor, Tensor]],
    tables: Sequence[tuple[At, Tensor]],
    norms: Sequence[BatchNorm],
    last: Linear,
) -> bool:
    """Whether the kernels take these parts with their weights: batch norms in training, dtypes that they know, rows not too wide."""
    if not all(norm.training for norm in norms):
        return False
    if len(dense) > _MOST_DENSE or len(tables) > _MOST_TABLES:
        return False
    values = [*(x for x, _ in dense), *(t.x for t, _ in tables)]
    rows = [*(x.shape[-2] for x in values), *(t.incidence.rows.count for t, _ in tables)]
    fits = all(runs(x) and takes_dtype(x) and x.shape[-1] <= _WIDEST for x in values)
    fits = fits and max(rows) * _WIDEST < MOST_ELEMENTS
    return fits and min(rows) > 0 and last.weight.dtype == torch.float32 and max(last.weight.shape[-2:]) <= _WIDEST


def kept_dtype(x: Tensor) -> torch.dtype:
    """How the kernels would keep these values."""
    return storage_dtype() if runs(x) and x.dtype == torch.float32 and x.shape[-1] <= _WIDEST else x.dtype


def mlp(
    dense: Sequence[tuple[Tensor, Tensor]],
    tables: Sequence[At],
    first: BatchNorm,
    last: Linear,
    last_norm: BatchNorm | None,
    mask: Tensor | None,
    into: Incidence | None,
    plus: Tensor | None,
) -> Tensor:
    """As ``mlp.mlp``, given the dense parts with their weights and the tables that were mapped already."""
    stacked = (dense[0][0] if dense else tables[0].x).dim() == 3

    def lead(x: Tensor | None) -> Tensor | None:
        return x if x is None or stacked else x.unsqueeze(0)

    def rows_of(incidence: Incidence) -> Incidence:
        return incidence if stacked else Incidence(*(type(r)(*map(lead, r)) for r in incidence))

    def running(norm: BatchNorm) -> Running:
        return Running(lead(norm.running_mean), lead(norm.running_var), norm.momentum)

    rows = dense[0][0].shape[-2] if dense else tables[0].incidence.rows.count
    real = None if mask is None else lead(mask).contiguous().view(torch.uint8)
    ends = (last_norm.weight, last_norm.bias) if last_norm is not None else (None, last.bias)
    call = _Call(
        len(dense),
        tuple(rows_of(t.incidence) for t in tables),
        tuple(t.x.dtype for t in tables),
        None if into is None else rows_of(into),
        running(first),
        None if last_norm is None else running(last_norm),
        real,
        rows,
        storage_dtype()
        if any(x.dtype == storage_dtype() for x in (*(x for x, _ in dense), *(t.x for t in tables)))
        else torch.float32,
    )
    xs = [lead(x).contiguous() for x, _ in dense]
    given = [*xs, *(lead(w).contiguous() for _, w in dense), *(lead(t.x).contiguous() for t in tables)]
    out = _MLP.apply(call, *given, *map(lead, (first.weight, first.bias, last.weight.contiguous(), *ends, plus)))
    return out if stacked else out.squeeze(0)
