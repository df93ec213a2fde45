"""Positional embeddings: p_x = [sin(x f), cos(x f)] with f from 1 down to 1/64 in a geometric series of pos_dim / 2 terms.

The paper cites the transformer's embedding, whose frequencies fall to 1/10000; walks are shorter than texts, and the authors' code
ends at 1/64.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SLOWEST = 1 / 64


def position_table(largest: int, pos_dim: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Row v is p_x for x = v - 1: positions count from 1 in the tables and from 0 here; 0, a plain set, is x = -1.

    >>> position_table(1, 2, torch.float64, torch.device("cpu"))[1].tolist()
    [0.0, 1.0]
    """
    return positions(torch.arange(-1, largest, dtype=torch.float64, device=device), pos_dim, dtype)


def positions(x: Tensor, pos_dim: int, dtype: torch.dtype) -> Tensor:
    """(..., pos_dim): p_x of float64 numbers x."""
    half = pos_dim // 2
    exponent = torch.arange(half, dtype=torch.float64, device=x.device) / max(half - 1, 1)
    frequency = _SLOWEST**exponent
    angle = x[..., None] * frequency
    return torch.cat([angle.sin(), angle.cos()], dim=-1).to(dtype)
