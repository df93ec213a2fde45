"""Several processes under torchrun: which of them speaks and writes. Knows no torch."""

from __future__ import annotations

import os


def first_process() -> bool:
    """Whether this is the only process, or the first of several."""
    return os.environ.get("RANK", "0") == "0"
