"""Predictions for new molecules by a run that was trained on a table of molecules: lists in Python, whole files in bounded memory."""

from __future__ import annotations

from ..errors import MissingDependencyError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError("planegraph.predict needs PyTorch; install it with: pip install 'planegraph[learn]'") from error

from .predictor import Predictions, Predictor

__all__ = ["Predictions", "Predictor"]
