"""The tables of a decomposition as data frames of pandas, and as files of Parquet."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidGraphError, MissingDependencyError
from ..io.atomic import replace_files
from .trees import LETTERS

if TYPE_CHECKING:
    from .objects import Decomposition

FRAMES = ("node", "edge", "block", "cut", "spqr", "node_block", "node_spqr", "walk")


def tables(d: Decomposition) -> dict[str, dict[str, np.ndarray]]:
    """Each table as a dict of columns. Columns ``name``, ``u`` and ``v`` hold names, all others numbers of rows and plain numbers."""
    a, n = d.arrays, d.graph.num_nodes
    is_cut = np.zeros(n, bool)
    is_cut[a["cut_node"]] = True
    is_bridge = np.zeros(d.graph.num_edges, bool)
    is_bridge[d.bridges] = True
    u, v = d.ends(slice(None)).T
    columns = {
        table: {name: a[f"{table}_{name}"] for name in names}
        for table, names in {
            "block": ("root", "level", "parent_cut"),
            "cut": ("node", "level", "parent_block"),
            "spqr": ("type", "set", "parent", "theta", "level", "block"),
            "node_block": ("node", "block"),
            "node_spqr": ("node", "spqr"),
            "walk": ("spqr", "pos", "node", "kappa", "edge", "other"),
        }.items()
    }
    columns["spqr"]["type"] = LETTERS[a["spqr_type"]]
    columns["spqr"]["set"] = a["spqr_set"].astype(bool)
    columns["cut"] = {"node": a["cut_node"], "name": d.named(a["cut_node"]), **columns["cut"]}
    columns["node"] = {
        "name": d.named(np.arange(n)),
        "component": a["node_component"],
        "canonical": a["labelling"],
        "is_cut": is_cut,
    }
    columns["edge"] = {"u": u, "v": v, "block": d.edge_block, "spqr": d.edge_spqr, "is_bridge": is_bridge}
    return {table: columns[table] for table in FRAMES}


def to_pandas(d: Decomposition) -> dict[str, Any]:
    """All tables as data frames: ``frames["edge"]`` has a row for each edge, with its ends by name, its block, and whether it is a bridge.

    Tables: ``node``, ``edge``, ``block``, ``cut``, ``spqr``, ``node_block``, ``node_spqr``, ``walk``. Row i is node, edge, ... i, and
    columns that are called like a table hold such numbers, -1 for none. The other columns are those of docs/arrays.md.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependencyError("to_pandas needs pandas: pip install pandas") from None
    return {table: pd.DataFrame(columns) for table, columns in tables(d).items()}


def to_parquet(d: Decomposition, folder: str | os.PathLike) -> None:
    """Writes the tables of :func:`to_pandas` into a folder, which is made if need be: ``node.parquet``, ``edge.parquet``, ...

    Needs pyarrow, not pandas. Names must be of one type: text or numbers. Integers beyond 64 bits make all names text.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependencyError("to_parquet needs pyarrow: pip install pyarrow") from None
    names = d.graph.names
    as_text = names is not None and names.dtype == object and all(type(name) is int for name in names)  # beyond 64 bits
    try:
        ready = {table: pa.table(_with_texts(columns) if as_text else columns) for table, columns in tables(d).items()}
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        raise InvalidGraphError(f"names in a Parquet file must be of one type, text or numbers: {error}") from None
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    replace_files({path / f"{name}.parquet": partial(parquet.write_table, table) for name, table in ready.items()})


def _with_texts(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same with names as text."""
    return {name: x.astype(str).astype(object) if name in ("name", "u", "v") else x for name, x in columns.items()}
