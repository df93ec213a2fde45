"""The wheel holds all that the tutorials need: it is built from the sdist, installed elsewhere, and runs their commands and code there.

Nothing is downloaded: the new environment sees the packages of this one, but not its planegraph.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

for _needed in ("scikit_build_core", "nanobind", "torch_geometric", "rdkit", "sklearn", "pytorch_lightning"):
    pytest.importorskip(_needed)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("conftest.py", "pages.py", "test_tutorial.py", "test_docs.py")


def call(*words: str | Path, cwd: Path) -> str:
    """What a command prints; its errors are shown if it fails. No path of the source tree is handed on."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    call(sys.executable, "-c", build, folder, cwd=ROOT)
    (sources,) = folder.glob("planegraph-*.tar.gz")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    call(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, sources, cwd=folder)
    (found,) = folder.glob("planegraph-*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """The Python of a new environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    (site,) = (folder / "lib").glob("python*/site-packages")
    call(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet", wheel, cwd=folder)
    shown = [path for path in sys.path if path.endswith("site-packages")] or [sysconfig.get_path("purelib")]
    # these come after the wheel, and .pth files in them, such as that of an editable planegraph, are not read
    (site / "packages.pth").write_text("".join(f"{path}\n" for path in shown))
    return python


@pytest.fixture
def place(tmp_path) -> Path:
    """The tutorials, their tests and their table; no source."""
    for name in ("tests", "docs", "examples"):
        (tmp_path / name).mkdir()
    for name in TESTS:
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    for name in ("README.md", "CONTRIBUTING.md", "docs/molecules.md", "docs/pyg.md", "examples/molecules.csv"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_it_is_the_wheel_that_is_imported(python, place):
    where = call(python, "-c", "import planegraph; print(planegraph.__file__)", cwd=place)
    assert Path(where.strip()).is_relative_to(python.parents[1])


def test_every_module_and_config_is_there(python, place):
    found = Path(call(python, "-c", "import planegraph; print(planegraph.__file__)", cwd=place).strip()).parent
    ours = {path.relative_to(ROOT / "src/planegraph") for path in (ROOT / "src/planegraph").rglob("*.py")}
    configs = {Path("configs") / path.name for path in (ROOT / "configs").iterdir() if path.is_file()}
    assert not {path for path in ours | configs if not (found / path).exists()}


def test_a_config_by_its_name(python, place):
    """P3R needs no data; the settings come from the wheel."""
    small = ["--set", "train.epochs=1", "model.hidden=8", "model.layers=1", "train.batch_size=450", "--device", "cpu", "-q"]
    out = call(python.parent / "planegraph", "train", "p3r", "--config", "p3r-baseplane", "--data", place, *small, cwd=place)
    assert "p3r, BasePlanE" in out


def test_the_tutorials(python, place):
    chosen = ["tests/test_tutorial.py", "tests/test_docs.py::test_readme", "tests/test_docs.py::test_pyg"]
    out = call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, cwd=place)
    assert " passed" in out
    assert "skipped" not in out
