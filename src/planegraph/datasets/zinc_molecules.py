"""SMILES as graphs in the vocabulary of ZINC-12k: 28 atom types and Kekule bond types, by RDKit.

A molecule is read and Kekulised with its aromatic flags cleared; an atom's type is then its element, its *explicit* hydrogens and its
charge, so that ``C H1`` is a stereocentre written with its hydrogen. Molecules of ZINC-12k made this way equal the arrays of
zinc12k_graphs.npz up to the numbering of atoms (tests compare canonical codes, of all 12,000 in the slow one). Types 21 to 27 do not
occur there; their numbers are those of benchmarking-gnns. Costs some 0.3 ms a molecule, spread over processes; as a command this file is
such a process: SMILES on stdin, ``.npz`` on stdout.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..errors import FormatError, MissingDependencyError
from ..io.progress import Progress

ATOM_TYPES = (
    *("C", "O", "N", "F", "C H1", "S", "Cl", "O -", "N H1 +", "Br", "N H3 +", "N H2 +", "N +", "N -"),
    *("S -", "I", "P", "O H1 +", "N H1 -", "O +", "S +", "P H1", "P H2", "C H2 -", "P +", "S H1 +", "C H1 -", "P H1 +"),
)
"""Element, explicit hydrogens, charge; the position is the type."""

_TYPE = {name: i for i, name in enumerate(ATOM_TYPES)}
_CHUNK = 16_384
ARRAYS = ("nodes", "bonds", "x", "edges", "edge_attr")


def read_molecules(smiles: Sequence[str], processes: int | None = None) -> dict[str, np.ndarray]:
    """``nodes`` and ``bonds`` of each molecule, ``x`` (atom types), ``edges`` (bonds once, local ids), ``edge_attr`` (1, 2, 3).

    >>> m = read_molecules(["CC=O"], processes=1)
    >>> m["x"].tolist(), m["edges"].tolist(), m["edge_attr"].tolist()
    ([0, 0, 1], [[0, 1], [1, 2]], [1, 2])
    """
    if find_spec("rdkit") is None:
        raise MissingDependencyError("packing molecules from SMILES needs RDKit: pip install planegraph[chem]")
    processes = processes or os.cpu_count() or 1
    if processes == 1 or len(smiles) <= _CHUNK // 16:
        return _read_chunk(smiles, 0)
    chunks = [(smiles[i : i + _CHUNK], i) for i in range(0, len(smiles), _CHUNK)]
    with Progress("reading SMILES", len(smiles), "molecules") as bar, ThreadPoolExecutor(processes) as pool:
        parts = []
        for (chunk, _), part in zip(chunks, pool.map(lambda c: _in_process(*c), chunks), strict=True):
            parts.append(part)
            bar.add(len(chunk))
    return {name: np.concatenate([p[name] for p in parts]) for name in ARRAYS}


def _in_process(smiles: Sequence[str], start: int) -> dict[str, np.ndarray]:
    """Another interpreter does it: RDKit holds the lock of this one."""
    command = [sys.executable, "-m", __spec__.name, str(start)]
    done = subprocess.run(command, input="\n".join(smiles).encode(), capture_output=True)
    if done.returncode:
        raise FormatError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in ARRAYS}


def _read_chunk(smiles: Iterable[str], start: int) -> dict[str, np.ndarray]:
    from rdkit import Chem, rdBase

    nodes, bonds, x, rows = [], [], [], []
    with rdBase.BlockLogs():
        for i, text in enumerate(smiles):
            mol = Chem.MolFromSmiles(text)
            if mol is None:
                raise FormatError(f"molecule {start + i}: RDKit refuses the SMILES {text!r}")
            Chem.Kekulize(mol, clearAromaticFlags=True)
            try:
                x += [_TYPE[_type_of(atom)] for atom in mol.GetAtoms()]
            except KeyError as error:
                raise FormatError(f"molecule {start + i}, {text!r}: {error} is none of the 28 atom types of ZINC") from None
            rows += [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in mol.GetBonds()]
            nodes.append(mol.GetNumAtoms())
            bonds.append(mol.GetNumBonds())
    table = np.array(rows, np.int64).reshape(-1, 3)
    values = (
        np.array(nodes, np.int64),
        np.array(bonds, np.int64),
        np.array(x, np.int32),
        table[:, :2],
        table[:, 2].astype(np.int32),
    )
    return dict(zip(ARRAYS, values, strict=True))


def _type_of(atom: Any) -> str:
    hydrogens, charge = atom.GetNumExplicitHs(), atom.GetFormalCharge()
    sign = "+" if charge > 0 else "-"
    return " ".join([atom.GetSymbol(), *([f"H{hydrogens}"] if hydrogens else []), *([sign * abs(charge)] if charge else [])])


def _main() -> int:
    try:
        arrays: dict[str, Any] = _read_chunk(sys.stdin.buffer.read().decode().split("\n"), int(sys.argv[1]))
    except FormatError as error:
        print(error, file=sys.stderr)
        return 1
    np.savez(sys.stdout.buffer, **arrays)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
