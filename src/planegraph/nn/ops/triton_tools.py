"""What the launches of all kernels need."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # kernels run on the CPU, slowly: so the tests see them without a GPU


_STORED = {"medium": torch.bfloat16}
MOST_ELEMENTS = 2**31  # of a tensor, counted in 32 bits


@triton.jit
def relu(x):
    """max(x, 0); NaN stays NaN, so that a model that has diverged is not taken for a good one."""
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


if _INTERPRETED:

    @triton.jit
    def once(x):
        """x itself: the interpreter computes everything once."""
        return x

else:

    @triton.jit
    def once(x):
        """x, float32, computed once. Otherwise the compiler computes it anew, from what was loaded, in each layout it is needed in."""
        return tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=False, pack=1)


@triton.jit
def load_weight(w, replica, width, k, DOT: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr):
    """w of a replica, (COLUMNS, INNER)."""
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    at = w + replica * width * k + column[:, None] * k + inner[None, :]
    return tl.load(at, mask=(column < width)[:, None] & (inner < k)[None, :], other=0.0).to(DOT)


@triton.jit
def load_transposed(w, replica, width, k, DOT: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr):
    """w^T of a replica, (INNER, COLUMNS)."""
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    at = w + replica * width * k + column[None, :] * k + inner[:, None]
    return tl.load(at, mask=(inner < k)[:, None] & (column < width)[None, :], other=0.0).to(DOT)


def runs(x: Tensor) -> bool:
    """Whether kernels can run where ``x`` is, and count its elements in 32 bits."""
    return (x.is_cuda or _INTERPRETED) and x.numel() < MOST_ELEMENTS


def on_device(x: Tensor) -> AbstractContextManager:
    """Launches go to the device of ``x``; on the CPU, where Triton interprets kernels, nothing is to be done."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()


def replica_stride(x: Tensor, dims: int = 2) -> int:
    """Elements between two replicas; 0 for a tensor of ``dims`` dimensions, which has none."""
    return x.stride(0) if x.dim() > dims else 0


def dense_rows(x: Tensor) -> Tensor:
    """x itself if the rows of each replica lie densely, otherwise a copy."""
    return x if x.stride(-1) == 1 and x.stride(-2) == x.shape[-1] else x.contiguous()


def products_in() -> dict[str, Any]:
    """How kernels multiply, by PyTorch's own setting, ``torch.set_float32_matmul_precision``.

    highest: three products of tf32 numbers, which are as exact as one of float32, and faster; high: one; medium: bfloat16.
    """
    setting = torch.get_float32_matmul_precision()
    dot = tl.bfloat16 if setting == "medium" else tl.float32
    return {"DOT": dot, "PRECISION": "tf32x3" if setting == "highest" else "tf32"}


def storage_dtype() -> torch.dtype:
    """How values are kept between kernels."""
    return _STORED.get(torch.get_float32_matmul_precision(), torch.float32)


def takes_dtype(x: Tensor) -> bool:
    """Whether the kernels take values of this dtype."""
    return x.dtype in (torch.float32, storage_dtype())


def power_of_two(width: int) -> int:
    """The columns of a program: the next power of two, and at least the 16 that products of tiles need."""
    return max(1 << (width - 1).bit_length(), 16)
