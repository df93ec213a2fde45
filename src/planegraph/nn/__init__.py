"""PlanE models: TriEnc, BiEnc, CutEnc and Update of the paper, one file each, and baselines behind the same interface."""

from __future__ import annotations

from ..errors import MissingDependencyError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError("planegraph.nn needs PyTorch; install it with: pip install 'planegraph[learn]'") from error

from .base_plane import BasePlanE
from .baselines import GCN, GIN, GINE
from .bi_enc import BiEnc
from .config import Categorical, Continuous, Mixed, PlanEConfig
from .conv import PlanEConv
from .cut_enc import CutEnc
from .model import GraphModel
from .structure import Structure
from .tri_enc import TriEnc
from .update import Update

__all__ = [
    "GCN",
    "GIN",
    "GINE",
    "BasePlanE",
    "BiEnc",
    "Categorical",
    "Continuous",
    "CutEnc",
    "GraphModel",
    "Mixed",
    "PlanEConfig",
    "PlanEConv",
    "Structure",
    "TriEnc",
    "Update",
]
