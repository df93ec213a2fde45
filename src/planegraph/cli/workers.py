"""The option ``--workers``, which the commands that read molecules have."""

from __future__ import annotations

import argparse

from ..workers import core_count


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Adds it; the value is ``args.workers``, the number of cores by default."""
    parser.add_argument(
        "--workers",
        metavar="N",
        type=_count,
        default=core_count(),
        help="processes that read molecules (default: one for each core)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1; found {text!r}")
    return int(text)
