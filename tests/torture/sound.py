"""A sound table of molecules and a run on it, for the parts that spoil them; and a command's words, as a terminal would get them."""

from __future__ import annotations

import atexit
import csv
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch

from planegraph.cli import main

SMILES = ["C" * (1 + k % 9) + "OCNS"[k % 4] + "c1ccccc1" * (k % 2) for k in range(60)]
_QUICK = ("train.epochs=2", "model.hidden=4", "model.layers=1", "train.seeds=2", "train.batch_size=16")
QUICK = ("-q", "--device", "cpu", "--no-descriptors", "--no-baselines", *(w for s in _QUICK for w in ("--set", s)))
"""Options with which a table is trained in a moment."""


def kept_folder() -> Path:
    """A folder for sound files, for as long as this process lives, which computes with one thread."""
    torch.set_num_threads(1)
    root, pid = Path(tempfile.mkdtemp()), os.getpid()
    atexit.register(lambda: pid == os.getpid() and shutil.rmtree(root, True))  # not at the end of a child
    return root


def write_table(path: Path) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "length"), *((text, len(text)) for text in SMILES)])


def train_command(table: Path, out: Path) -> list[str]:
    return ["train", str(table), "--out", str(out), *QUICK]


def said(*command: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it writes to stdout and stderr, also from C++."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        kept = [os.dup(number) for number in (1, 2)]
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            code = main(list(command))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, before in zip((1, 2), kept, strict=True):
                os.dup2(before, number)
                os.close(before)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return code, *texts
