"""The option ``--device``, which the commands that compute with PyTorch have."""

from __future__ import annotations

import argparse

from .formats import UsageError


def add_device(parser: argparse.ArgumentParser) -> None:
    """Adds it; the value is ``args.device``, None by default."""
    parser.add_argument("--device", help="cpu, cuda, cuda:1 (default: a GPU if there is one; each process its own)")


def check_device(device: str | None) -> None:
    """UsageError, which says what there is, unless this machine has the device; None is whatever it has, and cpu:0 is cpu."""
    import torch

    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else []), *(f"cuda:{k}" for k in range(torch.cuda.device_count()))]
    if device not in (None, "cpu:0", *there):
        raise UsageError(f"--device {device}: there is no such device here; there is {', '.join(there)}")
