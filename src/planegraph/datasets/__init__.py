"""Datasets: raw files, packing, and the tasks of each benchmark. Imports data/ but not nn/.

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
    "exp": "exp.Exp",
    "cexp": "exp.Cexp",
    "p3r": "p3r.P3R",
    "qm9_cc": "qm9_cc.QM9CC",
    "qm9": "qm9.QM9",
    "zinc12k": "zinc.Zinc12k",
    "zincfull": "zinc.ZincFull",
    "molhiv": "molhiv.MolHIV",
    "tiger": "tiger.TigerAlaska",
    "brec": "brec.Brec",
}
"""The module and class of every dataset by its name."""

_MODULE_OF = {"Dataset": "base", "MissingDataError": "files"}
_MODULE_OF |= {cls: module for module, cls in (place.split(".") for place in DATASETS.values())}

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
    """There is no dataset of this name; the message lists the known ones."""

    __str__ = Exception.__str__  # KeyError quotes its message, as if it were a key


def get(name: str, root: Any = None, **options: Any) -> Dataset:
    """The dataset of this name; options as in :class:`Dataset`."""
    if name not in DATASETS:
        raise UnknownDatasetError(f"there is no dataset {name!r}; there are {', '.join(DATASETS)}")
    module, cls = DATASETS[name].split(".")
    return getattr(import_module(f".{module}", __name__), cls)(root, **options)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
