"""Tables of molecules: the same table in every format, any text in a cell, and what is wrong with a damaged file."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rdkit")

from rdkit import Chem

from planegraph.errors import FormatError, MissingDependencyError
from planegraph.tasks.molecules import files as molecule_files
from planegraph.tasks.molecules.files import MoleculeTable, find_smiles_column, open_table, read_targets
from planegraph.tasks.sources import guess_kind

TABLE = {
    "smiles": ["CCO", "c1ccccc1", "C[C@H](N)C(=O)O", "CC(=O)Oc1ccccc1C(=O)O", "[Cl-].[Na+]"],
    "name": ["ethanol", "benzene", "L-alanine", "aspirin", "salt, common"],
    "logS": ["1.1", "-1.64", "", "-1.72", "0.1234567890123456"],
}


def text_of(columns: dict[str, list[str]], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def read(table: MoleculeTable, size: int = 4096) -> dict[str, list[str]]:
    parts = list(table.chunks(size))
    return {name: [text for rows in parts for text in rows.values[name]] for name in table.columns}


def sdf_record(smiles: str, /, **properties: str) -> str:
    block = Chem.MolToMolBlock(Chem.MolFromSmiles(smiles))
    return block + "".join(f">  <{name}>\n{value}\n\n" for name, value in properties.items()) + "$$$$\n"


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(data) if name.lower().endswith(".gz") and isinstance(content, str) else data)
        return path

    return write


# ---- formats ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5, 4096])
@pytest.mark.parametrize(
    ("name", "delimiter"),
    [("t.csv", ","), ("t.csv", ";"), ("t.tsv", "\t"), ("t.csv.gz", ","), ("T.CSV.GZ", ";"), ("t.tsv.gz", "\t")],
)
def test_csv(write, name, delimiter, size):
    table = open_table(write(name, text_of(TABLE, delimiter)))
    assert table.columns == tuple(TABLE)
    assert read(table, size) == TABLE
    assert read(table, size) == TABLE  # a second time
    assert [n for rows in table.chunks(size) for n in rows.numbers] == [1, 2, 3, 4, 5]
    assert all(len(rows) <= size and not rows.problems for rows in table.chunks(size))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_and_marks(write, end, mark):
    text = mark + end.join(["", "smiles, y ", "CCO,1", "", 'C,"a', 'b"', "CÄ,3"])
    assert read(open_table(write("t.csv", text))) == {"smiles": ["CCO", "C", "CÄ"], "y": ["1", f"a{end}b", "3"]}
    assert read(open_table(write("t.smi", mark + end.join(["CCO a b", "", "C"])))) == {"smiles": ["CCO", "C"], "name": ["a b", ""]}


@pytest.mark.parametrize("name", ["t.smi", "t.smiles", "t.smi.gz"])
@pytest.mark.parametrize("header", ["", "SMILES name\n"])
def test_smiles_file(write, name, header):
    lines = [f"{smiles}\t{title}" for smiles, title in zip(TABLE["smiles"], TABLE["name"], strict=True)]
    table = open_table(write(name, header + "\n".join(lines) + "\n\n"))
    assert read(table, 2) == {column: TABLE[column] for column in ("smiles", "name")}
    assert find_smiles_column(table) == "smiles"


@pytest.mark.parametrize("name", ["t.sdf", "t.sdf.gz", "t.sd"])
def test_sdf(write, name):
    records = [sdf_record(s, name=n, logS=y) for s, n, y in zip(*TABLE.values(), strict=True)]
    table = open_table(write(name, "".join(records) + "\n \n"))
    assert table.columns == tuple(TABLE)
    assert read(table, 2) == TABLE
    assert find_smiles_column(table) == "smiles"


def test_columns_of_sdf_are_those_of_the_first_records(write, monkeypatch):
    monkeypatch.setattr(molecule_files, "_SDF_LOOK", 2)
    records = [sdf_record("C", a="1"), sdf_record("CC", b="2", smiles="wrong"), sdf_record("CCC", a="two\nlines", c="3")]
    table = open_table(write("t.sdf", "".join(records)))
    assert read(table) == {"smiles": ["C", "CC", "CCC"], "a": ["1", "", "two\nlines"], "b": ["", "2", ""]}


def test_unreadable_records_of_sdf(write):
    good = sdf_record("CCO", y="1")
    valence = good.replace(" C  ", " F  ")  # a fluorine with two bonds
    records = [good, valence, good.replace("M  END", "M  EN"), sdf_record("", y="4"), good.removesuffix("$$$$\n")]
    table = open_table(write("t.sdf", "".join(records)))
    rows = next(table.chunks(10))
    assert rows.values["smiles"] == ["CCO", "", "", "", "CCO"]
    assert [rows.values["y"][i] for i in (0, 1, 3, 4)] == ["1", "1", "4", "1"]
    assert sorted(rows.problems) == [1, 2, 3]
    assert "RDKit refuses it: Explicit valence" in rows.problems[1]
    assert rows.problems[2] == "RDKit cannot read its mol block"
    assert rows.problems[3] == "the molecule has no atoms"


def parquet_of(path: Path, columns: dict[str, object], **options: object) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path, **options)
    return path


def test_parquet(tmp_path):
    numbers = [float(y) if y else None for y in TABLE["logS"]]
    table = open_table(parquet_of(tmp_path / "t.parquet", {**TABLE, "logS": numbers}, row_group_size=2))
    for size in (1, 3, 4096):
        assert read(table, size) == TABLE
        assert [n for rows in table.chunks(size) for n in rows.numbers] == [1, 2, 3, 4, 5]
        assert all(len(rows) <= size for rows in table.chunks(size))


def test_types_of_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    third = np.float32(1) / np.float32(3)
    columns = {
        "integer": arrow.array([1, None, 2**60 + 1]),
        "single": arrow.array([third, None, np.float32("nan")], arrow.float32()),
        "boolean": arrow.array([True, False, None]),
        "bytes": arrow.array([b"C", "CÄ".encode(), None]),
        "words": arrow.array(["a", "b", None]).dictionary_encode(),
    }
    found = read(open_table(parquet_of(tmp_path / "t.parquet", columns)))
    assert found["integer"] == ["1", "", "1152921504606846977"]
    assert found["single"] == [repr(float(third)), "", "nan"]
    assert found["boolean"] == ["1", "0", ""]
    assert found["bytes"] == ["C", "CÄ", ""]
    assert found["words"] == ["a", "b", ""]


TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8) | st.text(
    '",;\t\r\n a', max_size=6
)


@given(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(TEXTS, min_size=width, max_size=width), min_size=1, max_size=5)),
    st.sampled_from([(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".csv.gz", ",")]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_text_survives(rows, kind, quoting):
    ending, delimiter = kind
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    names = [f"c{i}" for i in range(len(rows[0]))]
    if delimiter == ";" and len(names) == 1:
        names, rows = [*names, "more"], [[*row, "x"] for row in rows]  # a header of one name does not show the semicolon
    writer.writerows([names, *rows])
    data = out.getvalue().encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t{ending}")
        path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
        found = read(open_table(path), 2)
    assert [list(row) for row in zip(*found.values(), strict=True)] == rows


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_million_characters(write, quote):
    limit, long = csv.field_size_limit(), "C" * 10**6
    table = open_table(write("t.csv", f"smiles,y\n{quote}{long}{quote},1\n"))
    assert read(table) == {"smiles": [long], "y": ["1"]}
    assert csv.field_size_limit() == limit


def test_header_only(write, tmp_path):
    assert open_table(write("t.csv", "smiles,y")).columns == ("smiles", "y")
    assert list(open_table(write("t.csv", "smiles,y\n")).chunks()) == []
    assert list(open_table(write("t.smi", "smiles\n")).chunks()) == []
    pytest.importorskip("pyarrow")
    table = open_table(parquet_of(tmp_path / "t.parquet", {"smiles": []}))
    assert (table.columns, list(table.chunks())) == (("smiles",), [])


def test_only_the_chunk_is_read(write):
    """The error is in row 3: chunks before it come first."""
    table = open_table(write("t.csv", "a,b\n1,2\n3,4\n5\n"))
    chunks = table.chunks(2)
    assert next(chunks).values == {"a": ["1", "3"], "b": ["2", "4"]}
    with pytest.raises(FormatError, match=r"row 3 \(line 4\)"):
        next(chunks)


# ---- what is wrong ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "t.xlsx",
            "x",
            r"t.xlsx: unknown format; the name must end in .csv, .tsv, .smi, .smiles, .sdf, .sd, .parquet, .pq; all but",
        ),
        ("t.parquet.gz", "x", "unknown format"),
        ("t.csv", "", "t.csv is empty: expected a header"),
        ("t.csv", "\ufeff\n\n", "t.csv is empty"),
        ("t.csv.gz", "", "t.csv.gz is empty"),
        ("t.csv.gz", b"", "t.csv.gz is empty"),
        ("t.smi", "\n \n", "t.smi is empty: expected a SMILES"),
        ("t.sdf", "\n", r"t.sdf is empty: expected molecules, each closed by a line \$\$\$\$"),
        ("t.csv", "a,b,a, b,c\n", r"t.csv: column names must be distinct; found 'a' \(2 times\), 'b' \(2 times\)"),
        (
            "t.csv",
            "a,b\n1,2\n1,2,3\n",
            r"t.csv, row 2 \(line 3\): found 3 cells, expected 2 as in the header. Put .* ',' in double",
        ),
        ("t.csv", 'a,b\n"1\n1",2\n\n1\n', r"t.csv, row 2 \(line 5\): found 1 cells, expected 2.*column 'b'"),
        ("t.csv", b"a,b\n1,2\n3,\xe4\n", r"t.csv, row 2 \(line 3\): not UTF-8: byte 0xe4 at character 3. Save the table as UTF-8"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), r"t.csv, header \(line 1\): (a NUL byte|not UTF-8)"),
        ("t.csv", b"a,b\n1,\0\n", r"t.csv, row 1 \(line 2\): a NUL byte"),
        ("t.csv", gzip.compress(b"a,b\n", mtime=0), r"t.csv, header \(line 1\): .*(UTF-8)"),
        (
            "t.csv",
            'a,b\n1,2\n3,"4\n5,6\n',
            r"t.csv, row 2 \(line 3\): a quote opens here and is not closed in the rest of the file",
        ),
        ("t.csv", 'a,b\n"1"2,3\n', r"t.csv, row 1 \(line 2\): '2' follows the closing quote of cell 1. Write quotes within a cell"),
        ("t.csv.gz", b"a,b\n1,2\n", r"t.csv.gz, header \(line 1\): the file is damaged or not gzip \(Not a gzipped file"),
        (
            "t.csv.gz",
            gzip.compress(text_of(TABLE).encode())[:-12],
            r"t.csv.gz, .*: the file is damaged or not gzip \(.*Copy it again",
        ),
        ("t.smi", b"C\nCC\xff\n", r"t.smi, row 2 \(line 2\): not UTF-8: byte 0xff"),
        ("t.sdf", b"\xff\n", r"t.sdf, row 1 \(line 1\): not UTF-8"),
    ],
)
def test_damaged_files(write, name, content, message):
    with pytest.raises(FormatError, match=message):
        read(open_table(write(name, content)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", 'a,b\n1,"' + 60 * "2\n", r"row 1 \(line 2\): a quote opens here and is not closed within 50 characters or"),
        ("t.csv", 'a,b\n1,"' + 60 * '""', r"row 1 \(line 2\): the line has more than 50 characters"),
        ("t.smi", "C\n" + 60 * "C", r"row 2 \(line 2\): the line has more than 50 characters"),
        ("t.sdf", 60 * "C\n", r"row 1 \(line 26\): the record has more than 50 characters or"),
    ],
)
def test_memory_is_bounded(write, monkeypatch, name, content, message):
    monkeypatch.setattr(molecule_files, "_LONGEST", 50)
    with pytest.raises(FormatError, match=message):
        read(open_table(write(name, content)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", 'a,b\n1,"' + 60 * "2\n", r"row 1 \(line 2\): a quote opens here and is not closed within .* or 50 lines"),
        ("t.sdf", 60 * "C\n", r"row 1 \(line 51\): the record has more than .* characters or 50 lines"),
    ],
)
def test_a_row_of_millions_of_lines_is_refused(write, monkeypatch, name, content, message):
    """It would take minutes until its characters are too many."""
    monkeypatch.setattr(molecule_files, "_LINES", 50)
    with pytest.raises(FormatError, match=message):
        read(open_table(write(name, content)))


def test_long_rows_make_small_chunks(write, monkeypatch):
    monkeypatch.setattr(molecule_files, "_LONGEST", 50)
    table = open_table(write("t.csv.gz", "a,b\n" + 5 * f"{20 * 'C'},{10 * '1'}\n"))
    assert [(rows.numbers, len(rows.values["a"])) for rows in table.chunks()] == [
        (range(1, 3), 2), (range(3, 5), 2), (range(5, 6), 1),
    ]  # fmt: skip


def test_pipes_and_devices_are_no_tables(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.csv"):
        with pytest.raises(FormatError, match=rf"{name} is not a regular file"):
            open_table(tmp_path / name)


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none.csv"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_table(tmp_path)


def test_chunks_of_no_rows(write):
    with pytest.raises(ValueError, match="found size=0"):
        open_table(write("t.csv", "a\n1\n")).chunks(0)


def test_damaged_parquet(write, tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(FormatError, match=r"t.parquet is empty"):
        open_table(write("t.parquet", b""))
    with pytest.raises(FormatError, match=r"t.parquet, header: the file is damaged or no Parquet"):
        open_table(write("t.parquet", b"PAR1 and no more"))
    path = parquet_of(tmp_path / "t.parquet", {"a": ["x" * 50 + str(i) for i in range(1000)]}, compression="snappy")
    data = bytearray(path.read_bytes())
    data[4:400] = bytes(396)
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"t.parquet, row 1 or after: the file is damaged or no Parquet"):
        read(open_table(path))


def test_parquet_of_bytes_that_are_no_text(tmp_path):
    path = parquet_of(tmp_path / "t.parquet", {"a": [b"\xff"]})
    with pytest.raises(FormatError, match=r"t.parquet, row 1 or after: .*utf-8"):
        read(open_table(path))


@pytest.mark.parametrize(
    ("missing", "name", "message"),
    [
        ("pyarrow.parquet", "t.parquet", "t.parquet needs pyarrow: pip install pyarrow"),
        ("rdkit.Chem", "t.sdf", r"pip install planegraph\[chem\]"),
    ],
)
def test_missing_packages(write, monkeypatch, missing, name, message):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingDependencyError, match=message):
        open_table(write(name, "C\n$$$$\n"))


# ---- the column of SMILES ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": ["1", "2"], "compound": ["CCO", "CCCC"]}, "compound"),
        ({"Mol": ["C", "N"], "label": ["C", "N"]}, "Mol"),
        ({"structure": ["CCOCC"], "canonical_smiles": ["CCO"], "SMILES": ["C"]}, "SMILES"),
        ({"smiles": ["see below"], "x": ["CCCCO"]}, "x"),
        ({"site": ["CNS", "CO"], "drug": ["CCO", "CCCC"], "salt": ["CCO.[Na+].[Cl-]", "CCCC.Cl"]}, "salt"),
        ({"x": ["CCCC", "CCCN", "CCCO", "", "", "CCCS", "not"]}, "x"),
        ({"note": ["CCCCCCCCC is long", "CCCCCCCCCC too"], "x": ["CCCC |$a;;;$|", "CCCO"]}, "x"),
    ],
)
def test_find_smiles_column(write, columns, expected):
    assert find_smiles_column(open_table(write("t.csv", text_of(columns)))) == expected


def test_no_smiles_column(write):
    table = open_table(write("t.csv", text_of({"id": ["1", "2"], "group": ["C", "N"], "none": ["", ""]})))
    with pytest.raises(
        FormatError, match=r"t.csv: no column holds SMILES.*: 'group' 2 of 2, '(id|none)' 0 of \d, .* Name the column"
    ):
        find_smiles_column(table)
    table = open_table(write("t.csv", text_of({f"c{i}": ["1"] for i in range(30)})))
    with pytest.raises(FormatError, match="and 10 more columns"):
        find_smiles_column(table)


def test_named_column(write):
    table = open_table(write("t.csv", "Smiles,id\nnone,1\n"))
    assert find_smiles_column(table, "id") == "id"
    with pytest.raises(FormatError, match=r"t.csv has no column 'smile'. Did you mean 'Smiles'\? Its columns: 'Smiles', 'id'"):
        find_smiles_column(table, "smile")
    with pytest.raises(FormatError, match=r"has no column 'activity'. Its columns"):
        find_smiles_column(table, "activity")


def test_looks_at_some_values_only(write, monkeypatch):
    read_by_rdkit = []
    monkeypatch.setattr(molecule_files, "_is_molecule", lambda text: read_by_rdkit.append(text) or True)
    find_smiles_column(open_table(write("t.csv", "x\n" + "\n".join(f"C{i:05}" for i in range(5000)))))
    assert len(read_by_rdkit) == 200
    read_by_rdkit.clear()
    find_smiles_column(open_table(write("t.csv", "x\n" + "\n".join(["C" * 300_000] * 3))))
    assert len(read_by_rdkit) == 1


def test_small_data(data_root):
    paths = sorted((data_root / "small").glob("*.csv"))
    if not paths:
        pytest.skip(f"needs the tables of {data_root / 'small'}")
    kinds = {}
    for path in paths:
        table = open_table(path)
        assert find_smiles_column(table) == "smiles"
        kinds[path.stem] = guess_kind(read_targets(read(table)["target"]))
        with open(path, newline="") as file:
            assert [dict(zip(table.columns, row, strict=True)) for row in zip(*read(table, 1000).values(), strict=True)] == list(
                csv.DictReader(file)
            )
    expected = {"bace": "binary", "bbbp": "binary", "esol": "regression", "freesolv": "regression", "lipo": "regression"}
    assert kinds == {name: expected[name] for name in kinds}


# ---- targets ----------------------------------------------------------------------------------------------------------------


def test_missing_targets():
    assert np.isnan(read_targets(["", "nan", "NaN", "NA", "N/A", "null", "None", "-", " ", "NULL"])).all()
    assert read_targets([]).shape == (0,)


@given(st.lists(st.floats(-1e18, 1e18)))
def test_targets_are_exact(values):
    found = read_targets([f" {value!r}" for value in values])
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.array(values, np.float64))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("high", "row 2: a target must be a number, or empty where it is missing; found 'high'"),
        (">50", "found '>50'"),
        ("1_000", "must be a number.*found '1_000'"),
        ("1,5", "found '1,5'. Decimals need a point"),
        ("inf", "row 2: a target must be finite; found 'inf'"),
        ("-Infinity", "must be finite"),
        ("1e999", "must be finite; found '1e999'"),
        ("x" * 1000, r"found 'x{37}\.\.\.'"),
    ],
)
def test_bad_targets(text, message):
    with pytest.raises(FormatError, match=message):
        read_targets(["1", text])


def test_bad_targets_are_named():
    with pytest.raises(FormatError, match="column 'logS', row 4097: a target must be a number"):
        read_targets(["x"], "logS", range(4097, 4098))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 1, np.nan], "binary"),
        ([1, 1], "binary"),
        ([0], "binary"),
        ([0, 1, 2] * 5, "multiclass"),
        ([0, 1, 2] * 4, "regression"),
        ([*([0] * 13), 1, 2], "multiclass"),
        (list(range(20)) * 5, "multiclass"),
        (list(range(21)) * 5, "regression"),
        ([0, 1, 3] * 9, "regression"),
        ([1, 2, 3] * 9, "regression"),
        ([-1, 1] * 9, "regression"),
        ([0, 0.5, 1] * 9, "regression"),
    ],
)
def test_guess_kind(values, kind):
    assert guess_kind(np.array(values, float)) == kind


def test_nothing_to_guess_from():
    with pytest.raises(FormatError, match="all targets are missing"):
        guess_kind(np.array([np.nan, np.nan]))
