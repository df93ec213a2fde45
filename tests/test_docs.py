"""Every code block of the README and docs/*.md: Python runs as it stands, page by page; commands, settings and TOML are parsed.

The commands of docs/molecules.md run too, in test_tutorial.py, with the Python that needs their results.
"""

from __future__ import annotations

import contextlib
import io
import pkgutil
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from pages import PAGES, ROOT, Block, blocks, run_all

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

RUN = {
    "README.md",
    "docs/datasets.md",
    "docs/draw.md",
    "docs/learning.md",
    "docs/pyg.md",
    "docs/toolkit.md",
    "docs/training.md",
}  # by the tests below
EXCERPT = 'dataset = ZINC("data"'  # README: two lines of a program, which stands in full further down
OUTPUT = "text"  # the language of blocks that show what a command prints


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Iterator[None]:
    """Its own folder, and one thread: batches are small, and threads would only wait for each other."""
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_no_python_is_left_out():
    assert {page for page in PAGES if blocks(page, "python")} == RUN | {"docs/molecules.md"}


def test_readme(capsys):
    """The model learns to count triangles, and the packed route ends with the same model as its file."""
    *programs, packed = [block for block in blocks("README.md", "python") if not block.code.startswith(EXCERPT)]
    names = run_all(programs)
    error = float(re.search(r"off by (\S+) triangles", capsys.readouterr().out)[1])
    y = names["dataset"].y
    assert error < float((y - y.median()).abs().mean()) / 2
    trained = names["model"]
    packed.run(names)
    batch = names["packed"][:10]
    assert torch.equal(names["model"](batch), trained.eval()(batch))
    assert len([line for line in programs[-1].code.splitlines() if line.strip()]) <= 30


@pytest.mark.filterwarnings("ignore")  # of Lightning
def test_pyg(tmp_path, capsys):
    pytest.importorskip("rdkit")
    pytest.importorskip("pytorch_lightning")
    shutil.copy(ROOT / "examples/molecules.csv", tmp_path)
    names = run_all(blocks("docs/pyg.md", "python"))
    out = capsys.readouterr().out
    maes = [float(found) for found in re.findall(r"(?:test|same) MAE (\S+)", out)]
    assert maes[0] == maes[1] == maes[3]  # with PyG's loader, packed, and read from its file
    y = names["dataset"].y
    constant = float((y[300:400] - y[:300].median()).abs().mean())
    assert maes[0] < constant / 2
    assert maes[2] < constant  # the module of PlanEConv layers, after fewer epochs
    assert "graph 0 given to Planar is not planar" in out
    assert "{'planar': 0, 'set': 1, 'subgraph': 0, 'skipped': 0}" in out
    assert "torch.float32" in out
    assert "epochs: 1" in out


def test_learning():
    run_all(blocks("docs/learning.md", "python"))


def test_toolkit():
    run_all(blocks("docs/toolkit.md", "python"))


def test_draw(tmp_path):
    run_all(blocks("docs/draw.md", "python"))
    assert (tmp_path / "wheel.html").is_file()


def test_datasets(data_root, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANEGRAPH_DATA", str(data_root))
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(tmp_path))
    names = run_all(blocks("docs/datasets.md", "python"))
    assert len(names["task"].dataset) == 12_000


def test_every_dataset_has_a_row():
    from planegraph import datasets

    rows = re.findall(r"^\| `(\w+)` ", (ROOT / "docs/datasets.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == list(datasets.DATASETS)


def test_training(monkeypatch, capsys):
    """With rings and stars in place of TUDataset, which downloads, and small models."""
    import torch_geometric.datasets
    from torch_geometric.data import Data
    from torch_geometric.utils import to_undirected

    import planegraph as pg
    import planegraph.train

    def mutag(root: str, name: str) -> list[Data]:
        graphs = [make(n) for n in range(4, 44) for make in (pg.families.cycle, pg.families.star)]
        return [
            Data(edge_index=to_undirected(torch.tensor(g.edges.T)), num_nodes=g.num_nodes, y=k % 2) for k, g in enumerate(graphs)
        ]

    usual = planegraph.train.settings_for

    def small(task: Any, overrides: list[str]) -> Any:
        return usual(task, [*overrides, "train.epochs=1", "train.seeds=2", "model.hidden=4", "model.layers=1"])

    monkeypatch.setattr(torch_geometric.datasets, "TUDataset", mutag)
    monkeypatch.setattr(planegraph.train, "settings_for", small)
    names = run_all(blocks("docs/training.md", "python"))
    assert len(names["runs"]) == 4
    assert names["task"].kind == "binary"


def by_name(language: str) -> Any:
    found = [block for page in PAGES for block in blocks(page, language)]
    return pytest.mark.parametrize("block", found, ids=str)


def test_every_block_has_a_known_language():
    known = {"python", "sh", "yaml", "toml", OUTPUT}
    assert not [str(block) for page in PAGES for block in blocks(page) if block.language not in known]


@by_name("yaml")
def test_settings(block, tmp_path):
    from planegraph.train import load_settings

    file = tmp_path / "settings.yaml"
    file.write_text(block.code)
    load_settings(file)


@by_name("toml")
def test_toml(block):
    assert tomllib.loads(block.code)


@by_name("sh")
def test_commands(block):
    for line in block.code.splitlines():
        check_command(line, block)


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text(page):
    """`planegraph train FILE` and `make test` in running text, but not where dots stand for the rest."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for command in re.findall(r"(?<!`)`((?:planegraph|make) [^`]+)`", text.replace("\n", " ")):
        if "..." not in command:
            bare = re.fullmatch(r"planegraph \w+", command)
            check_command(f"{command} --help" if bare else command, page)


@pytest.mark.parametrize("page", PAGES)
def test_what_the_text_names_is_there(page):
    """Files of the project, as in tests/test_big.py or `nn/model.py`, and names of the package, as in `planegraph.data.checks`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    files = re.findall(r"(?<![\w./])(?:tests|src|benchmarks|examples|configs)/[\w/-]+\.\w+", text)
    assert not [file for file in files if "NAME" not in file and not (ROOT / file).exists()]
    for file in re.findall(r"`([a-z][a-z0-9_/]*\.(?:py|cpp|hpp))`", text):
        assert any(path.endswith(f"/{file}") for path in sources()), file
    for name in re.findall(r"`(planegraph(?:\.\w+)+)`", text):
        pkgutil.resolve_name(name)


@cache
def sources() -> list[str]:
    """The paths of all sources, from the root."""
    folders = ("src", "cpp", "tests", "benchmarks", "examples")
    return [f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*.*")]


def check_command(line: str, where: Block | str) -> None:
    """The command exists, and so do its options."""
    line = re.sub(r"^(\w+=(\$\([^)]*\)|\S*) )+", "", line)  # the environment
    words = shlex.split(re.split(r" <|\s+\.\.\.", line)[0], comments=True)  # not what is read from a file or left out
    if words[:1] == ["torchrun"]:
        words = words[words.index("-m") + 1 :]
    match words:
        case ["planegraph", *arguments]:
            check_arguments(arguments, f"{where}: {line}")
        case ["make", *targets]:
            known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert {word for word in targets if "=" not in word} <= set(known), f"{where}: {line}"
        case ["pip", "install", wanted]:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            extras = re.findall(r"\w+", wanted.partition("[")[2])
            assert set(extras) <= set(project["optional-dependencies"]), f"{where}: {line}"
        case _:
            raise AssertionError(f"{where}: no way to check the command {line!r}")


def check_arguments(arguments: list[str], what: str) -> None:
    from planegraph.cli import _parser

    said, code = io.StringIO(), 0
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            _parser().parse_args(arguments)
    except SystemExit as stop:
        code = stop.code
    assert code == 0, f"{what}: {said.getvalue()}"
