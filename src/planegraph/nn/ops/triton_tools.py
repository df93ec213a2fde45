"""What the launches of all kernels need."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # kernels run on the CPU, slowly: so the tests see them without a GPU


def runs(x: Tensor) -> bool:
    """Whether kernels can run where ``x`` is."""
    return x.is_cuda or _INTERPRETED


def on_device(x: Tensor) -> AbstractContextManager:
    """Launches go to the device of ``x``; on the CPU, where Triton interprets kernels, nothing is to be done."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()


def replica_stride(x: Tensor, dims: int = 2) -> int:
    """Elements between two replicas; 0 for a tensor of ``dims`` dimensions, which has none."""
    return x.stride(0) if x.dim() > dims else 0


def precision() -> str:
    """Of products: three products of tf32 numbers are as exact as one of float32, and faster."""
    return "tf32x3" if torch.get_float32_matmul_precision() == "highest" else "tf32"


def power_of_two(width: int) -> int:
    """The columns of a program: the next power of two, and at least the 16 that products of tiles need."""
    return max(1 << (width - 1).bit_length(), 16)
