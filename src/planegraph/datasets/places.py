"""Where raw files are looked for, and where packed datasets are kept.

Raw files lie under the data root: the ``root`` argument, else the folder that the environment variable ``PLANEGRAPH_DATA`` names, else
``data`` in planegraph's cache folder. Packed files lie under the ``cache`` argument, else ``PLANEGRAPH_CACHE``, else ``packed`` in that
folder: the root may be read-only, or shared by several versions of the format. The cache folder is ``planegraph`` in ``XDG_CACHE_HOME``,
or in ``.cache`` of the user's home.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT_VARIABLE = "PLANEGRAPH_DATA"
CACHE_VARIABLE = "PLANEGRAPH_CACHE"


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder of raw files.

    >>> data_root("somewhere").name
    'somewhere'
    """
    return _chosen(root, ROOT_VARIABLE, "data")


def packed_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """The folder of packed datasets."""
    return _chosen(cache, CACHE_VARIABLE, "packed")


def _chosen(given: str | os.PathLike[str] | None, variable: str, name: str) -> Path:
    named = given if given is not None else os.environ.get(variable)
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "planegraph" / name
