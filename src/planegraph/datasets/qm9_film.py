"""GNN-FiLM's own files of QM9: gzipped JSON, a molecule a line.

``graph`` lists bonds once as [source, type 1..4, target], ``node_features`` has 15 numbers per atom, ``targets`` 13 lists of one
normalised value. Reading costs some 0.1 ms a molecule.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..graphs.batch import GraphBatch, offsets
from .files import UNREADABLE
from .raw import RawGraphs, as_integers, reading


def read_film(path: Path) -> RawGraphs:
    """The molecules of one file, without a split."""
    nodes, bonds, x, rows, y = [], [], [], [], []
    try:
        with gzip.open(path, "rt") as file:
            for text in file:
                molecule = json.loads(text)
                nodes.append(len(molecule["node_features"]))
                bonds.append(len(molecule["graph"]))
                x.append(np.array(molecule["node_features"], np.float32).reshape(-1, 15))
                rows.append(as_integers("graph", np.array(molecule["graph"])).reshape(-1, 3))
                y.append(np.array(molecule["targets"], np.float32).reshape(13))
    except (*UNREADABLE, KeyError, TypeError) as error:
        raise FormatError(f"{path}, line {len(y) + 1}: no molecule in the format of GNN-FiLM: {error!r}") from None
    if not nodes:
        raise FormatError(f"{path} is empty")
    table = np.concatenate(rows)
    with reading(path):
        batch = GraphBatch(offsets(nodes), offsets(bonds), table[:, [0, 2]])
        return RawGraphs(batch, np.concatenate(x), table[:, 1].astype(np.int32), np.stack(y))
