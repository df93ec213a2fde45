"""Commands without an optional package: exit code 2 and the extra that brings it, never an internal error."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# PathFinder that does not find it is what a missing package looks like, also to importlib.util.find_spec
PROGRAM = """
import contextlib, io, json, sys
from importlib.machinery import PathFinder

package, commands = sys.argv[1], json.loads(sys.argv[2])
usual = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] == package else usual(name, path, target)

PathFinder.find_spec = find_spec
from planegraph.cli import main

for command in commands:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = main(command)
    print(json.dumps([command, code, said.getvalue()]))
"""

MOLECULES = [["canon", "a.smi"], ["decompose", "a.smi"], ["iso", "-f", "smiles", "CO", "OC"], ["draw", "CCO", "-o", "a.svg"]]
LEARNING = [
    ["train", "a.csv"],
    ["train", "zinc12k"],
    ["train", "--resume", "--out", "run"],
    ["train", "a.csv", "--set", "train.lr=0.1,0.2"],
    ["predict", "run", "a.csv", "-o", "b.csv"],
    ["evaluate", "run", "a.csv"],
    ["embed", "run", "a.csv", "-o", "b.npy"],
    ["explain", "run", "CO"],
    ["report", "run"],
    ["reproduce", "p3r"],
    ["reproduce", "--list"],
    ["reproduce", "--from-run", "run", "--name", "x"],
    ["tables"],
    ["tables", "--check"],
    ["datasets"],
    ["datasets", "zinc12k", "--pack"],
]


@pytest.mark.parametrize(
    ("package", "name", "extra", "commands"),
    [
        ("torch", "PyTorch", "learn", LEARNING),
        ("rdkit", "RDKit", "chem", [*MOLECULES, ["train", "a.csv", "-q"]]),
        ("yaml", "PyYAML", "learn", [["train", "zinc12k", "-q"], ["train", "--config", "settings.yaml", "zinc12k", "-q"]]),
    ],
)
def test_a_missing_package_is_named_with_its_extra(package, name, extra, commands, tmp_path):
    if package != "torch":
        pytest.importorskip("torch")
    (tmp_path / "a.smi").write_text("CO\n")
    (tmp_path / "a.csv").write_text("smiles,y\n" + "".join(f"{'C' * k},{k}\n" for k in range(1, 40)))
    (tmp_path / "settings.yaml").write_text("task: zinc12k\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, package, json.dumps(commands)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [command for command, _, _ in answers] == commands
    for command, code, said in answers:
        assert (code, "internal error" in said) == (2, False), (command, said)
        assert name in said, (command, said)
        assert f"planegraph[{extra}]" in said, (command, said)
