"""Bad input through the commands: each is told what is wrong, where and what to do; the exit code says its kind, and nothing is lost."""

from __future__ import annotations

import contextlib
import csv
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from forked import Forked

pytest.importorskip("torch")
pytest.importorskip("rdkit")

from planegraph.cli import main
from planegraph.graphs.formats.molecules import MOST_CHARACTERS
from planegraph.io.checksums import json_text, read_json

PARTS = ("C", "CC", "O", "N", "c1ccccc1", "C(=O)O", "Cl", "C1CC1", "C#N", "S")
MOLECULES = [f"CC({PARTS[k % 10]})C({PARTS[k // 7]})" for k in range(40)]
SPLIT = ["train"] * 24 + ["val"] * 8 + ["test"] * 8
SETTINGS = ["train.epochs=1", "model.hidden=4", "model.layers=1"]
OPTIONS = ["-q", "--device", "cpu", "--no-descriptors", "--no-baselines", "--set", "train.seeds=2", *SETTINGS]


def write(name: str, *columns: object, header: str = "smiles,y", end: str = "\n") -> str:
    """A CSV file with these columns; a column of one value has it in each row."""
    rows = [MOLECULES, *([c] * len(MOLECULES) if isinstance(c, str | int) else c for c in columns)]
    Path(name).write_text(end.join([header, *(",".join(map(str, row)) for row in zip(*rows, strict=True))]) + end)
    return name


def train(table: str, *more: str, out: str = "run") -> int:
    return main(["train", table, "--out", out, *more, *OPTIONS])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test has a folder for itself; temporary files never stay."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """An ensemble of two, on a table that is there, too."""
    root = tmp_path_factory.mktemp("trained")
    with contextlib.chdir(root):
        assert train(write("table.csv", range(40)), "--targets", "y", "--ensemble", "2") == 0
    return root


@pytest.fixture
def run(trained):
    """A copy to damage."""
    shutil.copytree(trained / "run", "run")
    shutil.copy(trained / "table.csv", "table.csv")
    return Path("run")


# ---- tables that cannot be learned from -------------------------------------------------------------------------------------


VALUES = [k / 3 for k in range(40)]
CLASSES = [k % 2 for k in range(40)]
TABLES = {
    "target": (
        lambda: write("t.csv", VALUES, header="smiles,logS"),
        ["--targets", "logs"],
        "no column 'logs'. Did you mean 'logS'?",
    ),
    "split": (lambda: write("t.csv", VALUES, SPLIT, header="smiles,y,part"), ["--split", "column:prt"], "Did you mean 'part'?"),
    "nameless": (lambda: write("t.csv", VALUES), ["--targets", ""], "t.csv has no column ''. Its columns: 'smiles', 'y'"),
    "twice": (lambda: write("t.csv", VALUES), ["--targets", "y,y"], "each target is named once; found 'y' 2 times"),
    "columns": (
        lambda: write("t.csv", VALUES, VALUES, header="smiles,y,y_std"),
        ["--targets", "y,y_std"],
        "columns 'y' and 'y_std' would be predicted into one column",
    ),
    "header": (lambda: Path("t.csv").write_text("smiles,y\n") and "t.csv", [], "t.csv has a header and no rows"),
    "folder": (lambda: os.mkdir("t.csv") or "t.csv", [], "t.csv is a folder; name a file with a table of molecules"),
    "comma": (lambda: write("t.csv", ['"1,5"'] * 40), [], "column 'y', row 1: a target must be a number, or empty where"),
    "huge": (
        lambda: write("t.csv", [*VALUES[:9], "1e308", *VALUES[10:]]),
        [],
        "column 'y', row 10: a target must be 1e+18 at most",
    ),
    "tiny": (lambda: write("t.csv", [f"{k}e-310" for k in range(40)]), [], "t.csv, column 'y': the values differ too little"),
    "offset": (lambda: write("t.csv", range(10**15, 10**15 + 40)), [], "mean 1e+15 and deviation 11.5"),
    "one class": (lambda: write("t.csv", 1), [], "t.csv, column 'y': all values are 1; there is nothing to learn"),
    "unread": (
        lambda: Path("t.csv").write_text("smiles,y\n" + "C1CC,1\n" * 9) and "t.csv",
        ["--smiles", "smiles"],
        "no row has both a molecule that can be read and a target; row 1: RDKit refuses",
    ),
    "one class in train": (
        lambda: write("t.csv", [1] * 24 + [0, 1] * 8, SPLIT, header="smiles,y,part"),
        ["--split", "column:part"],
        "t.csv: y has no two different values in the training part. Choose another split",
    ),
    "one class in test": (
        lambda: write("t.csv", [0, 1] * 16 + [1] * 8, SPLIT, header="smiles,y,part"),
        ["--split", "column:part"],
        "the metric rocauc is undefined in part 'test', whose 8 values of y are 1. Choose another split, or another metric",
    ),
    "word": (
        lambda: write("t.csv", ["", *VALUES[1:]], [*SPLIT[:30], "tets", *SPLIT[31:]], header="smiles,y,part"),
        ["--split", "column:part", "--targets", "y"],
        "t.csv, column 'part': a split column holds train, val (or valid, validation) and test; found 'tets' in row 31",
    ),
    "no test": (
        lambda: write("t.csv", VALUES, SPLIT[:32] + ["val"] * 8, header="smiles,y,part"),
        ["--split", "column:part"],
        "t.csv, column 'part': the split column names no molecule for test; found 'train' (24), 'val' (16)",
    ),
    "two rows": (lambda: Path("t.csv").write_text("smiles,y\nCCO,1\nCCC,2\n") and "t.csv", [], "t.csv: 2 molecules are too few"),
}


@pytest.mark.parametrize("case", TABLES)
def test_what_cannot_be_learned_from(case, capsys):
    make, options, message = TABLES[case]
    assert train(make(), *options) == 2
    assert message in capsys.readouterr().err
    assert not Path("run").exists()


def test_gaps_by_part_and_classes_that_are_never_taught(capsys):
    """A target without values in the test part has no figure; one without in train, or a class that train lacks, is said."""
    gaps = {"test": range(32, 40), "train": range(24)}
    for part, rows in gaps.items():
        table = write("t.csv", ["" if k in rows else k / 3 for k in range(40)], VALUES, SPLIT, header="smiles,y,z,part")
        assert train(table, "--split", "column:part", "--targets", "y,z", "--task", "regression", out=part) == 0
        out, err = capsys.readouterr()
        assert ("y, RMSE: test undefined" in out) == (part == "test")
        assert ("y has no two different values in the training part" in err) == (part == "train")
    table = write("t.csv", CLASSES[:-4] + [2] * 4, SPLIT, header="smiles,y,part")
    assert train(table, "--split", "column:part", "--task", "multiclass", out="classes") == 0
    assert "class 2 has no molecule in the training part" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["options.split=scaffold"], "--set options.split=scaffold: a table is described by options such as --split"),
        (["task=b.csv"], "--set task=b.csv"),
    ],
)
def test_settings_of_the_table_are_options(options, message, capsys):
    assert train(write("t.csv", VALUES), *["--targets", "y"]) == 0
    assert main(["train", "t.csv", "--targets", "y", "--out", "other", *OPTIONS, *options]) == 2
    assert message in capsys.readouterr().err


def test_options_that_would_be_ignored(run, capsys):
    assert main(["train", "--resume", "--out", "run", "--targets", "z"]) == 2
    assert "--targets cannot be used: run is resumed as it was begun" in capsys.readouterr().err
    assert main(["train", "--resume", "--out", "run", "--no-descriptors"]) == 2
    assert "--descriptors cannot be used: run is resumed as it was begun" in capsys.readouterr().err
    assert main(["train", "p3r", "--from", "run", "--out", "p3r"]) == 2
    assert "--from cannot be used: it is for tables of molecules" in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["r2", "spearman"])
def test_a_metric_that_is_undefined(metric, capsys):
    values = [*range(24), *[5] * 8, *range(8)]
    assert train(write("t.csv", values, SPLIT, header="smiles,y,part"), "--split", "column:part", "--metric", metric) == 2
    assert f"the metric {metric} is undefined in part 'val', whose 8 values of y are 5" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["GIN", "GCN"])
def test_models_that_read_no_bonds(model):
    assert main(["train", write("t.csv", VALUES), "--out", "run", *OPTIONS, f"model_class={model}"]) == 0


def test_classes_keep_their_digits():
    values = [1_000_000 + k % 3 for k in range(40)]
    assert train(write("t.csv", values), "--task", "multiclass") == 0
    assert main(["predict", "run", "t.csv", "-o", "p.csv", "-q"]) == 0
    with open("p.csv") as file:
        assert {"probability_1000000", "probability_1000002"} <= set(next(csv.reader(file)))
    assert main(["evaluate", "run", "t.csv", "-q"]) == 0


def test_names_with_commas_and_tabs():
    Path("t.csv").write_text("smiles\tlog P, exp\n" + "".join(f"{s}\t{k}\n" for k, s in enumerate(MOLECULES)))
    assert train("t.csv", "--targets", '"log P, exp"') == 2  # a comma in the header: separated by commas
    Path("t.csv").write_text("smiles\tlogp\n" + "".join(f"{s}\t{k}\n" for k, s in enumerate(MOLECULES)))
    assert train("t.csv", "--targets", "logp") == 0


def test_a_second_model_beside_the_first(run):
    """Columns of another model stay; of several targets, those that the table has are evaluated."""
    assert train("table.csv", "--targets", "y,z", out="other") == 2  # there is no z
    Path("two.csv").write_text("smiles,y,z\n" + "".join(f"{s},{k},{k % 5}\n" for k, s in enumerate(MOLECULES)))
    assert train("two.csv", "--targets", "z", out="other") == 0
    assert main(["predict", "run", "table.csv", "-o", "one.csv", "-q"]) == 0
    assert main(["predict", "other", "one.csv", "-o", "both.csv", "-q"]) == 0
    with open("both.csv") as file:
        head = next(csv.reader(file))
    assert len(set(head)) == len(head)
    assert {"predicted_y", "predicted_z", "problem", "problem_2"} <= set(head)
    assert train("two.csv", "--targets", "y,z", "--task", "regression", out="three") == 0
    assert main(["evaluate", "three", "table.csv", "-q"]) == 0


@pytest.mark.parametrize(("name", "code"), [("p.tsv.csv", 0), ("p.xlsx", 2), ("p.parquet.gz", 2), ("/dev/stdout", 2)])
def test_endings_of_outputs(run, name, code):
    assert main(["predict", "run", "table.csv", "-o", name, "-q"]) == code
    assert code or Path(name).read_text().startswith("smiles,y,predicted_y,")


def test_a_link_stays_a_link(run):
    Path("target.csv").write_text("old")
    os.symlink("target.csv", "link.csv")
    assert main(["predict", "run", "table.csv", "-o", "link.csv", "-q"]) == 0
    assert Path("link.csv").is_symlink()
    assert Path("target.csv").read_text().startswith("smiles,")


def test_molecules_of_one_atom():
    """No molecule has a bond, so no dataset has bond features."""
    Path("t.csv").write_text("smiles,y\n" + "".join(f"[{n}C],{n}\n" for n in range(10, 40)))
    assert train("t.csv") == 0
    assert main(["predict", "run", "t.csv", "-o", "p.csv", "-q"]) == 0


# ---- text -------------------------------------------------------------------------------------------------------------------


def test_a_table_is_the_same_in_every_dialect(run):
    """CRLF, a byte order mark, semicolons and quotes give the predictions of the plain file."""
    plain = Path("table.csv").read_text()
    quoted = "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in plain.splitlines())
    texts = {"crlf": plain.replace("\n", "\r\n"), "mark": "\ufeff" + plain, "semicolons": plain.replace(",", ";"), "quotes": quoted}
    assert main(["predict", "run", "table.csv", "-o", "plain.csv", "-q"]) == 0
    for name, text in texts.items():
        Path(f"{name}.csv").write_bytes(text.encode())
        assert main(["predict", "run", f"{name}.csv", "-o", f"{name}.out.csv", "-q"]) == 0
        assert Path(f"{name}.out.csv").read_text() == Path("plain.csv").read_text()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.csv", b"smiles,y\nCCO,1\nC\0C,2\n", "t.csv, row 2 (line 3): a NUL byte"),
        ("t.csv", "smiles,y\nCCO,Müller\n".encode("latin-1"), "t.csv, row 1 (line 2): not UTF-8: byte 0xfc at character 6"),
        ("t.csv.gz", gzip.compress(b"smiles,y\n" + b"CCO,1\n" * 9999)[:-9], "the file is damaged or not gzip"),
        ("t.parquet", b"PAR1", "t.parquet, header: the file is damaged or no Parquet"),
        ("t.sdf", b"\n\n", "t.sdf is empty: expected molecules"),
        ("t.csv", None, "there is no file t.csv"),
    ],
)
def test_files_that_cannot_be_read(run, capsys, name, data, message):
    """Found in the middle of a file, after rows were predicted: the output is as it was before."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if data is not None:
        Path(name).write_bytes(data)
    for out in ("p.csv", "p.npy"):
        Path(out).write_text("before")
    for command in (
        ["predict", "run", name, "-o", "p.csv", "-q"],
        ["evaluate", "run", name],
        ["embed", "run", name, "-o", "p.npy"],
    ):
        assert main(command) == 2
        assert message in capsys.readouterr().err
    assert {Path(out).read_text() for out in ("p.csv", "p.npy")} == {"before"}


def test_parquet_with_nested_columns(run):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"smiles": ["CCO", "CC"], "tags": [[1, 2], []], "of": [{"a": 1}, None]}), "t.parquet")
    assert main(["predict", "run", "t.parquet", "-o", "p.csv", "-q"]) == 0
    assert Path("p.csv").read_text().splitlines()[1].startswith("CCO,\"[1, 2]\",{'a': 1},")


def test_names_cannot_steer_the_terminal_or_the_report(capsys):
    """Escapes in names are printed as text; markup in names and SMILES is text in the report."""
    name = "y\x1b[31m<script>alert(1)</script>"
    assert train(write("t.csv", VALUES, header=f"smiles,{name}"), "--targets", "\x1b[2Jz") == 2
    assert train(write("t.csv", VALUES, header=f"smiles,{name}")) == 0
    Path("new.csv").write_text(f"smiles,{name}\nCCO,1\n<b>,2\n")
    assert main(["evaluate", "run", "new.csv"]) == 1
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\\x1b[31m" in out
    assert "<script" not in Path("run/report.html").read_text()


def test_cells_with_a_carriage_return_come_back(run):
    """Names and cells: in the table of predictions, which the report reads, and beside new predictions."""
    Path("odd.csv").write_bytes(
        b'smiles,"a\rb",note\n' + b"".join(b'%s,%d,"c\rd"\n' % (s.encode(), k) for k, s in enumerate(MOLECULES))
    )
    assert train("odd.csv", "--targets", "a\rb", out="odd") == 2
    assert train("odd.csv", "--targets", '"a\rb"', out="odd") == 0
    assert Path("odd", "report.html").exists()
    assert main(["predict", "odd", "odd.csv", "-o", "out.csv", "-q", "--device", "cpu"]) == 0
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["note"], row["a\rb"]) for row in rows] == [("c\rd", str(k)) for k in range(40)]


# ---- molecules --------------------------------------------------------------------------------------------------------------


LONG = ["C" * 10**6, "C(C)" * 250_000, "C1CCC1" * 160_000, "(" * 10**6, "c1ccccc1" * 125_000]


def test_very_long_smiles_are_refused_at_once(run, capsys):
    """RDKit's time grows with the square of the length; a million characters would take it hours, and Ctrl-C would not help."""
    Path("t.csv").write_text("smiles\n" + "\n".join([*LONG, "C" * MOST_CHARACTERS, "CCO"]) + "\n")
    begin = time.perf_counter()
    assert main(["predict", "run", "t.csv", "-o", "p.csv", "-q"]) == 1
    assert time.perf_counter() - begin < 60
    assert "5 rows could not be read" in capsys.readouterr().err
    lines = Path("p.csv").read_text().splitlines()
    assert all(line.endswith('from_rdkit takes a molecule of any size"') for line in lines[1:6])
    assert all(line.endswith(",") for line in lines[6:])  # no problem
    assert main(["train", "t.csv", *OPTIONS]) == 2
    assert main(["explain", "run", LONG[1]]) == 2


@pytest.mark.parametrize("smiles", ["[Na+].[Cl-]", "C", "[H][H]", "[SeH2]", "*", "C~C", "[CH3:7]C", "[2H]O[2H]", "C->[Fe]"])
def test_odd_molecules_are_predicted(run, smiles):
    Path("t.csv").write_text(f"smiles\n{smiles}\n")
    assert main(["predict", "run", "t.csv", "-o", "p.csv", "-q"]) == 0
    assert float(Path("p.csv").read_text().splitlines()[1].split(",")[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": [None]}, "kind must be one of regression"),
        ({"targets": []}, "columns and classes must be texts"),
        ({"smiles": 3}, "columns and classes must be texts"),
        ({"targets": ["\ud800"]}, "columns and classes must be texts"),
        ({"seen": {"x": [["a"]], "edge_attr": []}}, "the categories in seen must be integers"),
    ],
    ids=str,
)
def test_a_schema_of_other_values(run, capsys, changes, message):
    """Its checksum vouches for them, so somebody else wrote it."""
    path = Path("run/molecules.json")
    path.write_text(json_text(read_json(path) | changes))
    assert main(["evaluate", "run", "table.csv"]) == 2
    assert f"molecules.json: {message}" in capsys.readouterr().err


# ---- runs -------------------------------------------------------------------------------------------------------------------


def damaged(path: Path, how: str) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.unlink()
    if how == "truncated":
        path.write_bytes(data[:middle])
    elif how == "flipped":
        of_number = re.compile(
            rb"(?<= )\d" if path.suffix == ".json" else b"", re.DOTALL
        )  # its first: others may be beyond precision
        digit = of_number.search(data, middle).start()
        path.write_bytes(data[:digit] + bytes([data[digit] ^ 1]) + data[digit + 1 :])
    elif how == "foreign":
        path.write_text("[1]" if path.suffix == ".json" else "text")


@pytest.mark.parametrize("how", ["missing", "truncated", "flipped", "foreign"])
@pytest.mark.parametrize(
    "name", ["molecules.json", "result.json", "models/seed0/model.safetensors", "models/seed1/model.safetensors"]
)
def test_damaged_runs(run, capsys, name, how):
    """Each file that predictions need: none is predicted from if one is not as it was."""
    damaged(run / name, how)
    assert main(["predict", "run", "table.csv", "-o", "p.csv", "-q"]) == 2
    assert name in capsys.readouterr().err
    assert not Path("p.csv").exists()


@pytest.mark.parametrize(
    "name", ["config.json", "../../log.jsonl", "../../machine.json", "../../settings.yaml", "test.safetensors"]
)
def test_predictions_need_no_other_file(run, trained, name):
    (run / "models" / "seed0" / name).unlink()
    assert main(["predict", "run", "table.csv", "-o", "p.csv", "-q"]) == 0


def test_what_a_finished_run_lost_is_said_or_written_again(run, capsys):
    again = ["--targets", "y", "--ensemble", "2"]
    before = (run / "molecules.json").read_bytes()
    (run / "molecules.json").unlink()
    assert train("table.csv", *again) == 0
    assert (run / "molecules.json").read_bytes() == before
    (run / "models/seed0/val.safetensors").unlink()
    assert train("table.csv", *again) == 2
    assert "val.safetensors is missing; remove run/result.json, and the same command" in capsys.readouterr().err
    (run / "result.json").unlink()
    assert train("table.csv", *again) == 0
    (run / "result.json").write_text("{}")
    assert train("table.csv", *again) == 2
    assert "result.json is damaged: it has no trials" in capsys.readouterr().err
    (run / "checkpoint.safetensors").unlink()
    assert train("table.csv", *again) == 2
    assert "holds a finished run without its checkpoint.safetensors" in capsys.readouterr().err


# ---- output -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["predict", "embed"])
def test_places_that_cannot_be_written(run, capsys, command):
    os.mkdir("there")
    os.symlink("table.csv", "link.csv")
    before = Path("table.csv").read_bytes()
    for out, message in {
        "nowhere/p.csv": "nowhere/p.csv cannot be written: there is no folder nowhere",
        "there": "there is a folder; name a file to write",
        os.devnull: "not a regular file",  # a rename would replace the device
        "table.csv": "table.csv is the table that is read; write to another file",
        "link.csv": "link.csv is the table that is read",
    }.items():
        assert main([command, "run", "table.csv", "-o", out, "-q"]) == 2
        assert message in capsys.readouterr().err
    assert Path("table.csv").read_bytes() == before
    assert not Path(os.devnull).is_file()


def long_table() -> str:
    Path("long.csv").write_text("smiles\n" + "\n".join(MOLECULES * 500) + "\n")
    return "long.csv"


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits on files")
def test_full_disk(run):
    Path("p.csv").write_text("before")
    process = Forked("planegraph", "predict", "run", long_table(), "-o", "p.csv", "-q", limit=50_000)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, Path("p.csv").read_text()) == (3, "before")
    assert "File too large: 'p.csv'" in err
    command = ["train", "table.csv", "--targets", "y", "--out", "new", *OPTIONS]
    process = Forked("planegraph", *command, limit=4_000)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 3
    assert "File too large: 'new/checkpoint.safetensors'" in err
    assert main(command) == 0  # with room, the same command trains


def interrupted(process: Forked, sign: Path) -> tuple[int, str]:
    """Ctrl-C as soon as there is a sign of work."""
    until = time.monotonic() + 300
    while not list(sign.parent.glob(sign.name)) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    return process.returncode, err


def test_interrupted(run, capsys):
    """Exit code 130; predictions leave nothing, training is continued by the same command, and both give what they give alone."""
    assert interrupted(Forked("planegraph", "predict", "run", long_table(), "-o", "p.csv", "-q"), Path(".p.csv.*")) == (
        130,
        "planegraph: interrupted\n",
    )
    assert not Path("p.csv").exists()
    command = ["train", "table.csv", "--targets", "y", *OPTIONS, "train.epochs=120", "train.save_seconds=0.1"]
    code, err = interrupted(Forked("planegraph", *command, "--out", "new"), Path("new/checkpoint.safetensors"))
    assert code == 130
    assert "--resume continues it" in err
    assert main(["predict", "new", "table.csv", "-o", "p.csv"]) == 2
    assert "the run is not finished: planegraph train --resume --out new" in capsys.readouterr().err
    for out in ("new", "whole"):
        assert main([*command, "--out", out]) == 0
        assert main(["predict", out, "table.csv", "-o", f"{out}.csv", "-q"]) == 0
    assert Path("new.csv").read_text() == Path("whole.csv").read_text()


def test_broken_pipe(run):
    command = [sys.executable, "-m", "planegraph", "evaluate", "run", "table.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    process.stderr.read()
    assert process.wait(timeout=300) == 141
