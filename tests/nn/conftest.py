"""The tests of the learning library need PyTorch and PyG; where these are not installed, they are left out."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") and find_spec("torch_geometric") else ["*.py"]
