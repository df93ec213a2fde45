"""One PlanE layer for modules of one's own."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..data.batch import PlanarBatch
from .config import Continuous, PlanEConfig
from .guards import check_device, eager_in_full_precision
from .layer import PlanELayer
from .linear import Linear
from .norm import set_momentum
from .structure import Structure


class PlanEConv(nn.Module):
    """TODO"""
