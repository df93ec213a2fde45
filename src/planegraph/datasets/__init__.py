"""Datasets: where the raw files are, how they are packed, and the tasks they pose. Knows data/, not nn/.

>>> from planegraph import datasets
>>> datasets.get("p3r").title
'P3R: 9 cubic planar graphs on 10 nodes, 50 numberings each'

Names are imported when they are first used, so that a process that only reads SMILES need not load PyTorch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import PlanegraphError

if TYPE_CHECKING:
    from .base import Dataset
    from .brec import Brec
    from .exp import Cexp, Exp
    from .files import MissingDataError
    from .molhiv import MolHIV
    from .p3r import P3R
    from .qm9 import QM9
    from .qm9_cc import QM9CC
    from .tiger import TigerAlaska
    from .zinc import Zinc12k, ZincFull

DATASETS = {
    "exp": "Exp",
    "cexp": "Cexp",
    "p3r": "P3R",
    "qm9_cc": "QM9CC",
    "qm9": "QM9",
    "zinc12k": "Zinc12k",
    "zincfull": "ZincFull",
    "molhiv": "MolHIV",
    "tiger": "TigerAlaska",
    "brec": "Brec",
}
"""The class of every dataset by its name."""

_MODULE_OF = {
    "Brec": "brec",
    "Cexp": "exp",
    "Dataset": "base",
    "Exp": "exp",
    "MissingDataError": "files",
    "MolHIV": "molhiv",
    "P3R": "p3r",
    "QM9": "qm9",
    "QM9CC": "qm9_cc",
    "TigerAlaska": "tiger",
    "Zinc12k": "zinc",
    "ZincFull": "zinc",
}

__all__ = [
    "DATASETS",
    "P3R",
    "QM9",
    "QM9CC",
    "Brec",
    "Cexp",
    "Dataset",
    "Exp",
    "MissingDataError",
    "MolHIV",
    "TigerAlaska",
    "UnknownDatasetError",
    "Zinc12k",
    "ZincFull",
    "get",
]


class UnknownDatasetError(PlanegraphError, KeyError):
    """There is no dataset of this name; the message lists those that there are."""

    __str__ = Exception.__str__  # KeyError quotes its message, as if it were a key


def get(name: str, root: Any = None, **options: Any) -> Dataset:
    """The dataset of this name; options as in :class:`Dataset`."""
    if name not in DATASETS:
        raise UnknownDatasetError(f"there is no dataset {name!r}; there are {', '.join(DATASETS)}")
    return __getattr__(DATASETS[name])(root, **options)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
