"""The arrays of a decomposition, as the core declares them (cpp/planegraph/tables/schema.hpp), and their container.

A table is a set of columns of one length, with offsets ``<table>_ptr`` that say which rows belong to which graph. Ids are local to their
graph; docs/arrays.md says what each column means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import starmap
from typing import ClassVar, NamedTuple

import numpy as np

from .. import _core
from ..errors import FormatError
from ..io.text import counted

TYPES = "SPQR"
"""The letter of each ``spqr_type``."""


class Column(NamedTuple):
    """An array of the schema.

    Attributes:
        name: of the array.
        table: whose rows it has; offsets have one entry per graph and one more instead.
        dtype: "int64" for offsets, "int32" for columns, "uint8" for codes.
        width: entries per row.
        ids_of: the table whose rows the entries are ids of; None for other numbers.
        none: whether -1, for no id, may occur.
        core, file, batch: whether the core computes it, packed datasets keep it, and batches are made of it.
    """

    name: str
    table: str
    dtype: str
    width: int
    ids_of: str | None
    none: bool
    core: bool
    file: bool
    batch: bool

    @property
    def is_offsets(self) -> bool:
        """Whether these are the offsets of the table."""
        return self.dtype == "int64"


COLUMNS = {column.name: column for column in starmap(Column, _core.COLUMNS)}
"""The schema, in the order in which arrays are given out."""


def by_table(columns: Iterable[Column]) -> dict[str, tuple[str, ...]]:
    """The names of the int32 columns of each table; its offsets are ``<table>_ptr``.

    >>> by_table(COLUMNS.values())["cut"]
    ('cut_node', 'cut_level', 'cut_parent_block', 'cut_depth')
    """
    found: dict[str, tuple[str, ...]] = {}
    for column in columns:
        if column.dtype != "uint8":
            found[column.table] = (*found.get(column.table, ()), *([] if column.is_offsets else [column.name]))
    return found


TABLES = {table: names for table, names in by_table(c for c in COLUMNS.values() if c.core).items() if names}
"""The columns of each table of a decomposition."""


class Tables:
    """Arrays of the schema, each an attribute; subclasses say which (:attr:`NAMES`) and what they are called (:attr:`WHAT`)."""

    NAMES: ClassVar[tuple[str, ...]]
    WHAT: ClassVar[str]

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        missing = [name for name in self.NAMES if name not in arrays]
        if missing:
            raise FormatError(f"{self.WHAT} lack {', '.join(missing)}")
        self.__dict__.update({name: arrays[name] for name in self.NAMES})

    def __getattr__(self, name: str) -> np.ndarray:  # the arrays are found before; this tells type checkers what they are
        raise AttributeError(f"{type(self).__name__} has no array {name}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only; {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only; {name} cannot be deleted")

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        return {name: self.__dict__[name] for name in self.NAMES}

    def size(self, table: str) -> int:
        """How many rows a table has: ``size("walk")``."""
        return int(getattr(self, f"{table}_ptr")[-1])

    def sizes(self, **names: str) -> str:
        """For messages: ``sizes(block="block")`` is "7 blocks"."""
        return ", ".join(counted(self.size(table), name) for table, name in names.items())
