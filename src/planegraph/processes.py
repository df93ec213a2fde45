"""Several processes under torchrun: how many there are, and which of them speaks and writes. Knows no torch."""

from __future__ import annotations

import os


def process_count() -> int:
    """How many processes share the work. torchrun says it by WORLD_SIZE and RANK; without both of them this process is alone."""
    size, rank = os.environ.get("WORLD_SIZE", ""), os.environ.get("RANK", "")
    return max(int(size), 1) if size.isdecimal() and rank.isdecimal() else 1


def process_rank() -> int:
    """Which of them this is, counted from 0."""
    return int(os.environ["RANK"]) if process_count() > 1 else 0


def first_process() -> bool:
    """Whether this is the only process, or the first of several."""
    return process_rank() == 0
