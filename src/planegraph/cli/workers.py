"""The option ``--workers``, which the commands that read molecules have."""

from __future__ import annotations

import argparse

from ..processes import process_count
from ..workers import core_count


def add_workers(parser: argparse._ActionsContainer) -> None:
    """Adds it; the value is ``args.workers``. The processes of torchrun share the cores."""
    parser.add_argument(
        "--workers",
        metavar="N",
        type=_count,
        default=max(1, core_count() // process_count()),
        help="processes that read molecules (default: one for each core)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on; found {text!r}")
    return int(text)
