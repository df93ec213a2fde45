"""The schema of the core: what is given out, stored and documented is what it declares."""

from pathlib import Path

import numpy as np
import pytest

import planegraph as pg
from planegraph.decomposition.tables import COLUMNS, TABLES, Tables

ARRAYS = Path(__file__).parents[1] / "docs" / "arrays.md"
BATCH = pg.GraphBatch.from_graphs([pg.families.path(4), pg.families.wheel(5), pg.families.k2n(3)])


def test_the_core_gives_out_what_it_declares_in_this_order():
    found = pg.decompose_batch(BATCH, codes=True).arrays()
    declared = {name: column for name, column in COLUMNS.items() if column.core}
    assert list(found) == list(declared)
    assert {name: array.dtype for name, array in found.items()} == {name: column.dtype for name, column in declared.items()}


def test_columns_have_the_length_of_their_table_and_ids_are_those_of_rows():
    packed = pg.decompose_batch(BATCH)
    for graph, d in zip(BATCH, packed, strict=True):
        rows = {table: len(d.arrays[names[0]]) for table, names in TABLES.items()} | {"edge": graph.num_edges}
        assert rows["node"] == graph.num_nodes
        for name, values in d.arrays.items():
            column = COLUMNS[name]
            assert len(values) == rows[column.table]
            if column.ids_of:
                assert np.isin(values, np.arange(-1 if column.none else 0, rows[column.ids_of])).all(), name


@pytest.mark.skipif(not ARRAYS.is_file(), reason="the documentation is not here")
def test_the_documentation_has_every_array_of_a_decomposition():
    text = ARRAYS.read_text(encoding="utf-8")
    assert not [name for name, column in COLUMNS.items() if column.core and not column.is_offsets and f"`{name}`" not in text]


def test_arrays_cannot_be_set_and_must_all_be_there():
    packed = pg.decompose_batch(BATCH)
    with pytest.raises(AttributeError, match="PackedDecomposition is read-only; walk_node cannot be set"):
        packed.walk_node = packed.walk_edge
    with pytest.raises(AttributeError, match="PackedDecomposition has no array walks"):
        packed.walks  # noqa: B018
    arrays = packed.arrays()
    del arrays["cut_node"]
    with pytest.raises(pg.FormatError, match="the arrays of a decomposition lack cut_node"):
        pg.PackedDecomposition(BATCH, **arrays)
    assert isinstance(packed, Tables)
