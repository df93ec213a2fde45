"""The folders of the core are layers, in the order in which data flows: a file includes only what lies in its folder or an earlier one."""

import re
from pathlib import Path

import pytest

CPP = Path(__file__).parents[1] / "cpp"
LAYERS = ("graph", "spqr", "planarity", "drawing", "canon", "symmetry", "tables", "collate", "kernels")

pytestmark = pytest.mark.skipif(not CPP.is_dir(), reason="the sources of the core are not here")


def includes(path: Path) -> list[str]:
    return re.findall(r'#include "(.*)"', path.read_text())


def test_every_file_of_the_core_lies_in_a_layer():
    assert {p.relative_to(CPP / "planegraph").parts[0] for p in (CPP / "planegraph").rglob("*.?pp")} == set(LAYERS)


@pytest.mark.parametrize("folder", LAYERS)
def test_a_folder_includes_only_itself_and_earlier_ones(folder):
    known = LAYERS[: LAYERS.index(folder) + 1]
    wrong = {
        f"{path.relative_to(CPP)} includes {name}"
        for path in (CPP / "planegraph" / folder).glob("*.?pp")
        for name in includes(path)
        if not name.startswith(tuple(f"planegraph/{layer}/" for layer in known))
    }
    assert not wrong


def test_the_kernels_know_nothing_of_decompositions():
    found = {name for path in (CPP / "planegraph" / "kernels").glob("*.?pp") for name in includes(path)}
    assert all(name.startswith(("planegraph/kernels/", "planegraph/graph/types.hpp")) for name in found)


def test_includes_are_written_from_the_folder_cpp():
    wrong = [f"{path}: {name}" for path in CPP.rglob("*.?pp") for name in includes(path) if not (CPP / name).is_file()]
    assert not wrong
