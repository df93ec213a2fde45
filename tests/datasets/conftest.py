"""Datasets of the benchmark data, packed into a folder that lasts as long as the tests. All need PyTorch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from planegraph import datasets

collect_ignore_glob = [] if find_spec("torch") else ["*.py"]


@pytest.fixture(scope="session")
def packed_cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("packed")


@pytest.fixture
def dataset(data_root, packed_cache):
    """A function: the dataset of a name, or a skip that says what is missing."""

    def find(name: str) -> datasets.Dataset:
        found = datasets.get(name, data_root, cache=packed_cache, download=False, threads=1)
        if found.how_to_get:
            pytest.skip(found.how_to_get)
        return found

    return find
