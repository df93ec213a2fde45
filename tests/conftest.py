"""Settings shared by all tests: hypothesis profiles, the data folder, and modules beside the tests on the path."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

# before anything imports PyTorch, and for the processes that tests start: threads of small products only wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

if os.environ.get("TRITON_INTERPRET") == "1":
    from triton.runtime import interpreter

    patched = cache(interpreter._patch_lang)

    def patch_once(function: Callable) -> SimpleNamespace:
        """The interpreter patches the whole language at each call of each function, which takes longer than what kernels compute."""
        patched(function)
        return SimpleNamespace(restore=lambda: None)

    interpreter._patch_lang = patch_once

settings.register_profile(
    "default",
    deadline=None,
    max_examples=150,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=1000)  # of `make slow-test`
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def find_data() -> Path | None:
    """The benchmark data: ``PLANEGRAPH_DATA``, or ``shared/data`` beside the project."""
    named = os.environ.get("PLANEGRAPH_DATA")
    path = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return path if path.is_dir() else None


@pytest.fixture(scope="session", autouse=True)
def children_can_be_interrupted() -> Iterator[None]:
    """A shell makes what it starts in the background ignore SIGINT, and children would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_root() -> Path:
    root = find_data()
    if root is None:
        pytest.skip("no benchmark data: set PLANEGRAPH_DATA to the folder that holds zinc/, qm9/, molhiv/ and plane/")
    return root
