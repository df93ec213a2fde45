"""Graphs as tensors: packed datasets, batches, loaders. Needs PyTorch; PyG only where its objects are used.

Names are imported when they are first used, so that a dataset can be packed without what only a loader needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingDependencyError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError("planegraph.data needs PyTorch; install it with: pip install 'planegraph[learn]'") from error

if TYPE_CHECKING:
    from .batch import PlanarBatch
    from .layout import Capacity, DoesNotFitError, Layout
    from .loader import PackedLoader
    from .packed import PackedDataset
    from .pyg import PlanarData
    from .sizes import Categorical, Continuous, Mixed

_MODULE_OF = {
    "Capacity": "layout",
    "Categorical": "sizes",
    "Continuous": "sizes",
    "DoesNotFitError": "layout",
    "Layout": "layout",
    "Mixed": "sizes",
    "PackedDataset": "packed",
    "PackedLoader": "loader",
    "PlanarBatch": "batch",
    "PlanarData": "pyg",
}

__all__ = [
    "Capacity",
    "Categorical",
    "Continuous",
    "DoesNotFitError",
    "Layout",
    "Mixed",
    "PackedDataset",
    "PackedLoader",
    "PlanarBatch",
    "PlanarData",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
