"""Splits of molecules: each molecule in exactly one part, sizes near the shares, scaffolds whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rdkit")

from rdkit import Chem
from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol

from planegraph.errors import FormatError, PlanegraphError
from planegraph.tasks import PARTS
from planegraph.tasks import splits as molecule_splits
from planegraph.tasks.molecules.files import open_table
from planegraph.tasks.splits import column_split, folds, random_split, scaffold_split, scaffolds, shared_molecules

SEEDS = st.integers(0, 2**32 - 1)


def check_partition(split: dict[str, np.ndarray], count: int) -> None:
    assert tuple(split) == PARTS
    for ids in split.values():
        assert ids.dtype == np.int64
        assert (np.diff(ids) > 0).all()
    assert sorted(np.concatenate(list(split.values()))) == list(range(count))


def check_whole(split: dict[str, np.ndarray], groups: list[str]) -> None:
    parts = [{groups[i] for i in ids} for ids in split.values()]
    assert sum(map(len, parts)) == len(set().union(*parts))


def equal(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(a[part], b[part]) for part in PARTS)


@pytest.fixture(scope="module", params=["bace", "bbbp", "esol", "freesolv"])
def small(request, data_root) -> list[str]:
    path = data_root / "small" / f"{request.param}.csv"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    return [text for rows in open_table(path).chunks() for text in rows.values["smiles"]][:700]


def test_parts_are_those_of_datasets():
    assert molecule_splits.PARTS == PARTS


# ---- at random --------------------------------------------------------------------------------------------------------------


@given(st.integers(10, 3000), SEEDS)
def test_random_split(count, seed):
    split = random_split(count, seed)
    check_partition(split, count)
    for part, share in zip(PARTS, (0.8, 0.1, 0.1), strict=True):
        assert abs(len(split[part]) - share * count) <= 1
    assert equal(split, random_split(count, seed))


def test_seeds_differ():
    assert not equal(random_split(100, 0), random_split(100, 1))


def test_a_share_of_zero_leaves_a_part_empty():
    assert [len(ids) for ids in random_split(3, 0, (2 / 3, 0, 1 / 3)).values()] == [2, 0, 1]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_too_few_molecules(count):
    with pytest.raises(
        PlanegraphError, match=rf"^{count} molecules are too few for shares of 80 % / 10 % / 10 %: \w+ would be empty"
    ):
        random_split(count, 0)


@pytest.mark.parametrize("count", [6, 7, 8, 9])
def test_tiny_data(count):
    split = random_split(count, 0)
    check_partition(split, count)
    assert all(len(ids) for ids in split.values())


@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.8, 0.3, -0.1), (0.5, 0.1, 0.1), (0, 0.5, 0.5), (np.nan, 0.5, 0.5), (80, 10, 10)])
def test_bad_shares(shares):
    with pytest.raises(PlanegraphError, match=r"shares must be three numbers for train, val and test.*found \("):
        random_split(100, 0, shares)


# ---- by scaffold ------------------------------------------------------------------------------------------------------------


def test_scaffold_split_of_small_data(small):
    own = [Chem.MolToSmiles(GetScaffoldForMol(Chem.MolFromSmiles(text)), False) for text in small]
    assert scaffolds(small) == own
    drawn = []
    for seed in range(3):
        split = molecule_splits._fill(
            molecule_splits._members(own), molecule_splits._sizes(len(small), (0.8, 0.1, 0.1)), np.random.default_rng(seed)
        )
        check_partition(split, len(small))
        check_whole(split, own)
        for part, share in zip(PARTS, (0.8, 0.1, 0.1), strict=True):
            assert abs(len(split[part]) / len(small) - share) < 0.02
        drawn.append(split)
    assert not equal(drawn[0], drawn[1])
    assert equal(drawn[0], scaffold_split(small, 0))


def test_large_scaffolds_are_trained_on():
    smiles = ["C1CC1" + "C" * i for i in range(60)] + ["c1ccccc1" + "C" * i for i in range(20)]
    smiles += ["C1" + "C" * i + "1" for i in range(3, 23)]
    for seed in range(5):
        split = scaffold_split(smiles, seed)
        assert set(range(80)) <= set(split["train"].tolist())
        check_partition(split, 100)


@given(st.lists(st.integers(0, 30), min_size=10, max_size=200), SEEDS)
def test_groups_stay_whole(groups, seed):
    sizes = molecule_splits._sizes(len(groups), (0.8, 0.1, 0.1))
    try:
        split = molecule_splits._fill(molecule_splits._members(groups), sizes, np.random.default_rng(seed))
    except PlanegraphError as error:
        assert "would be empty" in str(error)  # noqa: PT017 (some draws have too few groups)
        return
    check_partition(split, len(groups))
    check_whole(split, groups)
    assert all(len(ids) for ids in split.values())


def test_too_few_scaffolds():
    with pytest.raises(PlanegraphError, match=r"val would be empty: 1 scaffolds, the largest of 20 molecules.*parts of 16, 2, 2"):
        scaffold_split(["CCO"] * 20, 0)


@pytest.mark.parametrize("bad", ["C1CC", ""])
def test_a_molecule_without_scaffold_is_named(bad):
    with pytest.raises(FormatError, match=r"molecule 1 has no scaffold: (RDKit refuses the SMILES|the SMILES is empty)"):
        scaffold_split(["CC", bad], 0)


def test_scaffolds_know_no_stereochemistry():
    left, right = scaffolds(["C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1"])
    assert left == right == "C1CCCCC1"


# ---- by a column ------------------------------------------------------------------------------------------------------------


def test_column_split():
    split = column_split(["train", "TEST", " Valid ", "val", "validation", "Train"])
    assert {part: ids.tolist() for part, ids in split.items()} == {"train": [0, 5], "val": [2, 3, 4], "test": [1]}


def test_val_is_drawn_from_train():
    values = ["test"] * 7 + ["train"] * 50
    split = column_split(values, seed=3)
    check_partition(split, 57)
    assert len(split["val"]) == 5
    assert split["test"].tolist() == list(range(7))
    assert equal(split, column_split(values, seed=3))
    assert not equal(split, column_split(values, seed=4))


def test_split_columns_of_small_data(data_root):
    path = data_root / "small" / "esol.csv"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    values = [text for rows in open_table(path).chunks() for text in rows.values["scaffold0"]]
    split = column_split(values)
    check_partition(split, len(values))
    assert all(values[i] == part for part, ids in split.items() for i in ids)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["train", "holdout", "test", "train"],
            r"found 'holdout' in row 2. All values: 'train' \(2\), 'holdout' \(1\), 'test' \(1\)",
        ),
        (["train", "", "test"], r"found '' in row 2"),
        ([str(i) for i in range(30)], r"found '0' in row 1.* and 20 more"),
        (["train", "val"], r"names no molecule for test; found 'train' \(1\), 'val' \(1\)"),
        ([], "names no molecule for train and test"),
        (["train", "train", "test"], "10 % of 2 train molecules are none: val would be empty"),
    ],
)
def test_bad_columns(values, message):
    with pytest.raises(PlanegraphError, match=message):
        column_split(values)


# ---- folds ------------------------------------------------------------------------------------------------------------------


def check_folds(found: list[dict[str, np.ndarray]], count: int) -> None:
    for split in found:
        check_partition(split, count)
        assert all(len(ids) for ids in split.values())
    assert sorted(np.concatenate([split["test"] for split in found])) == list(range(count))
    for split, after in zip(found, found[1:] + found[:1], strict=True):
        np.testing.assert_array_equal(split["val"], after["test"])


@given(st.integers(3, 12), st.integers(0, 200), SEEDS)
def test_folds(k, more, seed):
    found = folds(k + more, k, seed)
    check_folds(found, k + more)
    sizes = [len(split["test"]) for split in found]
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(0, 20), min_size=3, max_size=100), st.integers(3, 5), SEEDS)
def test_folds_of_groups(groups, k, seed):
    if len(set(groups)) < k:
        with pytest.raises(PlanegraphError, match=f"{k} folds need {k} groups or more; found {len(set(groups))}"):
            folds(groups, k, seed)
        return
    found = folds(groups, k, seed)
    check_folds(found, len(groups))
    for split in found:
        check_whole(split, groups)
    sizes = [len(split["test"]) for split in found]
    assert max(sizes) - min(sizes) <= max(map(groups.count, groups))


@pytest.mark.parametrize(
    ("count", "k", "message"), [(100, 2, "3 folds or more.*found k=2"), (4, 5, "5 molecules or more; found 4")]
)
def test_bad_folds(count, k, message):
    with pytest.raises(PlanegraphError, match=message):
        folds(count, k, 0)


# ---- leakage ----------------------------------------------------------------------------------------------------------------


def test_shared_molecules():
    split = {"train": np.array([0, 1]), "val": np.array([2, 3]), "test": np.array([4, 5, 6])}
    assert shared_molecules(split, [b"a", b"b", b"b", b"c", b"b", b"c", b"d"]) == [
        ("val", "train", 1),
        ("test", "train", 1),
        ("test", "val", 2),
    ]
    assert shared_molecules(split, [bytes([i]) for i in range(7)]) == []
