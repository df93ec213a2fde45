"""The Triton kernels in Triton's interpreter, which needs no GPU, in separate processes.

TRITON_INTERPRET must be set before Triton is imported, and would slow down everything else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton, which is there for Linux only")
@pytest.mark.parametrize(
    "tests",
    [["nn/interpreted.py"], ["train/test_triton_adam.py", "data/test_resident.py::test_the_kernel_interpreted"]],
    ids=["nn", "train and data"],
)
def test_kernels_are_the_plain_operations(tests):
    hidden = {"PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"}
    env = {name: value for name, value in os.environ.items() if name not in hidden} | {
        "TRITON_INTERPRET": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=TESTS, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout, done.stdout
    assert "TRITON_INTERPRET" not in done.stdout, done.stdout  # as the reason of a skipped test
