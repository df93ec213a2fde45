"""Splits into train, val and test: at random, by scaffold, by a column, in folds, or as given.

A split maps each part to sorted ids (int64, from 0). Those that are made here have every graph in exactly one part, and the same arguments
give the same split. A part with a positive share is never empty: :class:`PlanegraphError` says why it would be. All cost O(graphs), plus
RDKit's time for scaffolds (about that of reading the SMILES).

The scaffold of a molecule is its ring systems and the chains between them (Bemis and Murcko, 1996), with its elements and bonds, without
stereochemistry. Molecules without rings share the scaffold ``''``, so they stay together, as in DeepChem and chemprop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import FormatError, PlanegraphError
from ..graphs.formats.molecules import mol_from_smiles, rdkit
from ..graphs.labels import to_numpy
from . import PARTS

SHARES = (0.8, 0.1, 0.1)
PART_OF_WORD = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
"""The words of a split column, in lower case."""

_ADVICE = "give larger shares, or name the parts in a column"
_VAL_OF_TRAIN = 0.1  # where a split column knows only train and test


def random_split(count: int, seed: int, shares: Sequence[float] = SHARES, *, what: str = "molecules") -> dict[str, np.ndarray]:
    """Parts of the given shares, each rounded to whole molecules, drawn at random. ``what`` is split, for messages.

    >>> {part: len(ids) for part, ids in random_split(20, seed=0).items()}
    {'train': 16, 'val': 2, 'test': 2}
    """
    sizes = _sizes(count, shares, what)
    order = np.random.default_rng(seed).permutation(count)
    return _as_split(np.split(order, np.cumsum(sizes)[:-1]))


def scaffold_split(smiles: Sequence[str], seed: int, shares: Sequence[float] = SHARES) -> dict[str, np.ndarray]:
    """Molecules with the same scaffold are in the same part, so that test molecules have scaffolds that were never trained on.

    Scaffolds of more molecules than half of val, or half of test, are placed first, then the others; both in an order drawn by the
    seed, each in the first part with room for it: the balanced split of chemprop. A scaffold that fits nowhere goes where most room is
    left, so sizes are near the shares if no scaffold is too frequent.

    >>> split = scaffold_split(["c1ccccc1", "Cc1ccccc1", "CC1CCCC1", "C1CCCC1", "CCO", "CCC", "OCC", "NCC"], 0, (0.5, 0.25, 0.25))
    >>> split["train"].tolist(), sorted([split["val"].tolist(), split["test"].tolist()])
    ([4, 5, 6, 7], [[0, 1], [2, 3]])
    """
    return _fill(_members(scaffolds(smiles)), _sizes(len(smiles), shares), np.random.default_rng(seed))


def scaffolds(smiles: Sequence[str]) -> list[str]:
    """The scaffold of each molecule as SMILES; ``''`` if it has no rings.

    >>> scaffolds(["Cc1ccccc1CCO", "CCO", "C[C@H]1CCNC1=O"])
    ['c1ccccc1', '', 'O=C1CCCN1']
    """
    rdkit()
    murcko, found = import_module("rdkit.Chem.Scaffolds.MurckoScaffold"), []
    for i, text in enumerate(smiles):
        try:
            mol = mol_from_smiles(text)
        except FormatError as error:
            raise FormatError(f"molecule {i} has no scaffold: {error}. Remove or correct it") from None
        with import_module("rdkit.rdBase").BlockLogs():
            found.append(murcko.MurckoScaffoldSmiles(mol=mol, includeChirality=False) or "")
    return found


def column_split(values: Sequence[str], seed: int = 0, numbers: Sequence[int] | None = None) -> dict[str, np.ndarray]:
    """The split that a column names: train, val (or valid, validation) and test, in upper or lower case.

    If there is no val, 10 % of train, drawn by the seed, become val; nothing else is random. ``numbers`` of the rows are for the message;
    from 1 if not given.

    >>> {part: ids.tolist() for part, ids in column_split(["train", "Test", "valid", "train"]).items()}
    {'train': [0, 3], 'val': [2], 'test': [1]}
    """
    words = [value.strip().lower() for value in values]
    if not set(words) <= PART_OF_WORD.keys():
        unknown = next(i for i, word in enumerate(words) if word not in PART_OF_WORD)
        raise FormatError(
            f"a split column holds train, val (or valid, validation) and test; found {values[unknown]!r} in row "
            f"{unknown + 1 if numbers is None else numbers[unknown]}. "
            f"All values: {_tally(values)}"
        )
    split = by_number(np.array([PARTS.index(PART_OF_WORD[word]) for word in words], np.int64))
    absent = [part for part in ("train", "test") if not len(split[part])]
    if absent:
        raise FormatError(f"the split column names no molecule for {' and '.join(absent)}; found {_tally(values)}")
    return split if len(split["val"]) else _with_val(split, seed)


def folds(groups: int | Sequence[Any], k: int, seed: int, *, what: str = "molecules") -> list[dict[str, np.ndarray]]:
    """Splits for cross-validation: the molecules are dealt into k folds. In split i, fold i is test, the next is val, the rest is train.

    Args:
        groups: the number of molecules; or the group of each, such as its scaffold. Groups stay whole: they are dealt from large to
            small, equal ones in an order drawn by the seed, each into the smallest fold so far.
        k: 3 or more.
        seed: of the order. what: is split, for messages.

    >>> splits = folds(["a", "b", "a", "c", "d", "a"], 3, seed=0)
    >>> splits[0]["test"].tolist(), [len(split["test"]) for split in splits]
    ([0, 2, 5], [3, 2, 1])
    """
    if k < len(PARTS):
        raise PlanegraphError(f"cross-validation needs 3 folds or more, for train, val and test; found k={k}")
    members = None if isinstance(groups, int | np.integer) else _members(groups)
    found: Any = groups if members is None else len(members)
    if found < k:
        what = what if members is None else "groups"
        raise PlanegraphError(f"{k} folds need {k} {what} or more; found {found}. Use fewer folds, or another split")
    rng = np.random.default_rng(seed)
    dealt = np.array_split(rng.permutation(found), k) if members is None else _deal(members, k, rng)
    return [_fold(dealt, i) for i in range(k)]


def shared_molecules(split: Mapping[str, np.ndarray], codes: Sequence[bytes]) -> list[tuple[str, str, int]]:
    """How many molecules of a part are in an earlier part, too, as (part, earlier part, molecules); nothing where none are.

    Args:
        split: ids by part.
        codes: of all molecules, equal where these are the same: canonical codes, for example.

    >>> shared_molecules({"train": [0, 1], "val": [2], "test": [3, 4]}, [b"a", b"b", b"c", b"b", b"b"])
    [('test', 'train', 2)]
    """
    own = {part: [codes[i] for i in split.get(part, ())] for part in PARTS}
    found = []
    for k, part in enumerate(PARTS):
        for earlier in PARTS[:k]:
            known = set(own[earlier])
            found.append((part, earlier, sum(code in known for code in own[part])))
    return [entry for entry in found if entry[2]]


def by_number(split: np.ndarray) -> dict[str, np.ndarray]:
    """Ids of the graphs of each part, from 0 (train), 1 (val) and 2 (test).

    >>> {part: ids.tolist() for part, ids in by_number(np.array([0, 2, 0, 1])).items()}
    {'train': [0, 2], 'val': [3], 'test': [1]}
    """
    return {part: np.flatnonzero(split == i) for i, part in enumerate(PARTS)}


def contiguous_folds(count: int, folds: int = 10) -> list[dict[str, np.ndarray]]:
    """The graphs in file order cut into contiguous blocks: test is block i, validation is block i of the rest cut again.

    >>> fold = contiguous_folds(100)[1]
    >>> fold["test"].tolist(), fold["val"].tolist(), len(fold["train"])
    ([10, 11, 12, 13, 14, 15, 16, 17, 18, 19], [9, 20, 21, 22, 23, 24, 25, 26, 27], 81)
    """
    result = []
    for i, test in enumerate(np.array_split(np.arange(count), folds)):
        rest = np.setdiff1d(np.arange(count), test)
        val = np.array_split(rest, folds)[i]
        result.append({"train": np.setdiff1d(rest, val), "val": val, "test": test})
    return result


# ---- as given -------------------------------------------------------------------------------------------------------------------------


def part_title(part: str, fold: int | None = None) -> str:
    """For messages: ``part 'val'``, or ``part 'val' of fold 3``."""
    return f"part {part!r}" + ("" if fold is None else f" of fold {fold}")


def checked_split(task: str, split: Any, count: int, fold: int | None = None, what: str = "graph") -> dict[str, np.ndarray]:
    """The ids of each part of a split of ``count`` graphs or nodes; PlanegraphError, which names the task and the part, if they are none.

    >>> checked_split("rings", {"train": [True, False, True], "val": [1]}, 3)["train"].tolist()
    [0, 2]
    """
    if not isinstance(split, Mapping):
        of = "splits" if fold is None else f"fold {fold}"
        raise PlanegraphError(f"task {task}: {of} must give ids by {', '.join(PARTS)}; found {type(split).__name__}")
    parts = {part: _ids(f"task {task}: {part_title(part, fold)}", found, count, what) for part, found in split.items()}
    for part in ("val", "test"):  # in others it is oversampling
        twice = np.flatnonzero(np.bincount(parts.get(part, ()), minlength=count) > 1)
        if len(twice):
            raise PlanegraphError(f"task {task}: {part_title(part, fold)} names {what} {twice[0]} more than once")
    return parts


def shared_graphs(split: Mapping[str, np.ndarray], fold: int | None = None, what: str = "graph") -> str:
    """What figures of this split do not show: what is validated or tested on, and in an earlier part, too; empty if nothing is.

    >>> shared_graphs({"train": np.array([0, 1]), "val": np.array([2]), "test": np.array([1, 2, 3])})
    "1 of the 3 graphs of part 'test' are in part 'train', too; 1 of the 3 graphs of part 'test' are in part 'val', too"
    """
    found = []
    for k, part in enumerate(PARTS):
        for earlier in PARTS[:k]:
            common = np.intersect1d(split.get(part, ()), split.get(earlier, ()))
            if len(common):
                title, other = part_title(part, fold), part_title(earlier, fold)
                found.append(f"{len(common)} of the {len(split[part])} {what}s of {title} are in {other}, too")
    return "; ".join(found)


def _ids(where: str, found: Any, count: int, what: str) -> np.ndarray:
    """Ids as int64, from ids or a mask. Nothing is rounded, and integers are never a mask."""
    ids = to_numpy(found, where)
    if ids.dtype == bool and ids.shape == (count,):
        return np.flatnonzero(ids)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise PlanegraphError(
            f"{where} must be integers, the ids of {what}s, or a boolean mask of length {count}; found {ids.dtype}, shape {ids.shape}"
        )
    outside = ids[(ids < 0) | (ids >= count)]
    if len(outside):
        raise PlanegraphError(f"{where} names {what} {outside[0]}; there are {count}, from 0")
    if len(ids) == count > 2 and ids.max() < 2:
        raise PlanegraphError(
            f"{where} holds nothing but 0 and 1, as a mask does; give the ids of its {what}s, or the mask as booleans"
        )
    return ids.astype(np.int64)


# ---- helpers ----------------------------------------------------------------------------------------------------------------


def _sizes(count: int, shares: Sequence[float], what: str = "molecules") -> np.ndarray:
    """Molecules of each part: val and test are rounded, train is the rest, so each is off by one at most."""
    wanted = np.asarray(shares, np.float64)
    if wanted.shape != (3,) or not (wanted >= 0).all() or not wanted[0] or abs(wanted.sum() - 1) > 1e-6:
        raise PlanegraphError(f"shares must be three numbers for train, val and test, train positive, sum 1; found {tuple(shares)}")
    val, test = np.rint(wanted[1:] * count).astype(np.int64)
    sizes = np.array([count - val - test, val, test])
    if (empty := (sizes <= 0) & (wanted > 0)).any():
        part = PARTS[int(np.argmax(empty))]
        raise PlanegraphError(
            f"{count} {what} are too few for shares of {_percent(wanted)}: {part} would be empty. Add {what}, {_ADVICE}"
        )
    return sizes


def _members(groups: Sequence[Any]) -> list[np.ndarray]:
    """The ids of each group, groups in the order in which they first occur."""
    ids: dict[Any, list[int]] = {}
    for i, group in enumerate(groups):
        ids.setdefault(group, []).append(i)
    return [np.array(own) for own in ids.values()]


def _fill(members: list[np.ndarray], sizes: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Whole groups into parts of these sizes, large groups first."""
    large = min(size for size in sizes if size) / 2
    order = sorted(rng.permutation(len(members)), key=lambda g: len(members[g]) <= large)  # stable: shuffled within both kinds
    room = sizes.copy()
    parts: list[list[np.ndarray]] = [[] for _ in PARTS]
    for g in order:
        fits = np.flatnonzero(room >= len(members[g]))
        part = int(fits[0]) if len(fits) else int(np.argmax(room))
        parts[part].append(members[g])
        room[part] -= len(members[g])
    for part, own, size in zip(PARTS, parts, sizes, strict=True):
        if size and not own:
            largest = max(map(len, members))
            raise PlanegraphError(
                f"{part} would be empty: {len(members)} scaffolds, the largest of {largest} molecules, cannot fill parts of "
                f"{', '.join(map(str, sizes))} molecules. Try another seed or other shares, or split at random"
            )
    return _as_split([np.concatenate(own) if own else np.empty(0, np.int64) for own in parts])


def _deal(members: list[np.ndarray], k: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The ids of k folds; none is empty if there are k groups."""
    dealt: list[list[np.ndarray]] = [[] for _ in range(k)]
    sizes = np.zeros(k, np.int64)
    for g in sorted(rng.permutation(len(members)), key=lambda g: -len(members[g])):
        fold = int(np.argmin(sizes))
        dealt[fold].append(members[g])
        sizes[fold] += len(members[g])
    return [np.concatenate(own) for own in dealt]


def _fold(dealt: Sequence[np.ndarray], i: int) -> dict[str, np.ndarray]:
    val = (i + 1) % len(dealt)
    train = np.concatenate([ids for j, ids in enumerate(dealt) if j not in (i, val)])
    return _as_split([train, dealt[val], dealt[i]])


def _with_val(split: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """The same with a tenth of train as val."""
    train = np.random.default_rng(seed).permutation(split["train"])
    size = int(np.rint(_VAL_OF_TRAIN * len(train)))
    if not size:
        raise PlanegraphError(
            f"the split column names no val, and 10 % of {len(train)} train molecules are none: val would be empty. Name val, too"
        )
    return _as_split([train[size:], train[:size], split["test"]])


def _as_split(parts: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return {part: np.sort(ids).astype(np.int64) for part, ids in zip(PARTS, parts, strict=True)}


def _percent(shares: np.ndarray) -> str:
    return " / ".join(f"{100 * share:g} %" for share in shares)


def _tally(values: Sequence[str]) -> str:
    """``'train' (8), 'test' (2)``: the most frequent values."""
    counts = Counter(values).most_common()
    more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
    return ", ".join(f"{value!r} ({count})" for value, count in counts[:10]) + more
