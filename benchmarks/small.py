"""Small molecule sets: the figures that settings reach on the splits in the files.

    python benchmarks/small.py                                          # the defaults, on all five sets
    python benchmarks/small.py esol --set train.lr=2e-3 --set model.layers=4

The sets are MoleculeNet's FreeSolv, ESOL, Lipophilicity, BACE and BBBP as CSV files with the columns ``smiles``, ``target`` and one for
each split (random0 to random2, scaffold0 to scaffold2: train, val or test), in the folder ``small`` of PLANEGRAPH_DATA. Targets that are
numbers are standardised by mean and deviation of the whole file, so that all splits share one; their error is the root mean square, in the
file's units. Of classes the error is 1 - ROC-AUC. Every figure is that of the epoch which was best on validation.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from planegraph.data import PackedDataset
from planegraph.nn.for_data import sizes_of
from planegraph.tasks.task import Task
from planegraph.train import RunSettings, train

SETS = ("freesolv", "esol", "lipo", "bace", "bbbp")
SPLITS = ("random0", "random1", "random2", "scaffold0", "scaffold1", "scaffold2")


class SmallSet:
    """One CSV file: packed molecules, targets, and the split columns."""

    def __init__(self, path: Path) -> None:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.name = path.stem
        self.columns = {name: np.array([row[name] for row in rows]) for name in SPLITS}
        self.target = np.array([float(row["target"]) for row in rows])
        self.dataset = PackedDataset.from_smiles([row["smiles"] for row in rows], y=self.target[:, None], on_nonplanar="skip")
        if len(self.dataset.skipped):
            kept = np.setdiff1d(np.arange(len(rows)), self.dataset.skipped)
            self.target = self.target[kept]
            self.columns = {name: values[kept] for name, values in self.columns.items()}
        self.classes = set(np.unique(self.target)) <= {0.0, 1.0}

    def task(self, splits: list[str]) -> Task:
        """The task whose folds are some of the splits."""
        parts = ("train", "val", "test")
        folds = [{part: np.flatnonzero(self.columns[split] == part) for part in parts} for split in splits]
        found = sizes_of(self.dataset)
        features: dict[str, Any] = {name: getattr(found, name) for name in ("node_features", "edge_features")}
        if self.classes:
            return Task(self.name, self.dataset, folds=folds, **features, kind="binary", loss="bce", metric="rocauc")
        scaled = (self.target - self.target.mean()) / self.target.std()
        return Task(self.name, self.dataset.with_y(scaled[:, None].astype(np.float32)), folds=folds, **features, loss="mse")

    def error(self, trial: dict[str, Any], part: str) -> float:
        """The error of one trial of a result on its part val or test."""
        return 1 - trial[part] if self.classes else float(self.target.std()) * math.sqrt(trial[f"{part}_loss"])


def measured(data: SmallSet, splits: list[str], overrides: list[str]) -> list[dict[str, Any]]:
    """A row for each split and seed; all of them are trained together."""
    settings = RunSettings(data.name).with_overrides(overrides)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        result = train(data.task(splits), settings, folder, device="cpu")
        seconds = (time.perf_counter() - begin) / len(result["trials"])
    return [
        {"set": data.name, "split": splits[trial["fold"]], "seed": trial["seed"], "epoch": trial["best_epoch"], "seconds": seconds}
        | {part: data.error(trial, part) for part in ("val", "test")}
        for trial in result["trials"]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; all by default")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides", help="as in planegraph train")
    parser.add_argument("--splits", default=",".join(SPLITS), help="the columns to be used, with commas")
    parser.add_argument("--seeds", type=int, default=1, help="weight seeds per split")
    parser.add_argument("--data", type=Path, default=os.environ.get("PLANEGRAPH_DATA"), help="the folder that holds small/")
    parser.add_argument("--json", type=Path, help="also write a line per run here")
    arguments = parser.parse_args()
    sets, splits = arguments.sets or list(SETS), arguments.splits.split(",")
    for wanted, known in ((sets, SETS), (splits, SPLITS)):
        if unknown := [name for name in wanted if name not in known]:
            parser.error(f"there is no {unknown[0]}; known: {', '.join(known)}")
    if arguments.data is None:
        parser.error("say where the data are: --data FOLDER, or the variable PLANEGRAPH_DATA")
    torch.set_num_threads(1)  # batches are small: threads would wait for each other
    for name in sets:
        data = SmallSet(Path(arguments.data) / "small" / f"{name}.csv")
        rows = measured(data, splits, [*arguments.overrides, f"train.seeds={arguments.seeds}"])
        if arguments.json:
            with arguments.json.open("a") as file:
                file.writelines(json.dumps(row | {"overrides": arguments.overrides}) + "\n" for row in rows)
        line = [f"{name}: {'1 - ROC-AUC' if data.classes else 'RMSE'}"]
        for kind in ("random", "scaffold"):
            of_kind = [row for row in rows if row["split"].startswith(kind)]
            if of_kind:
                val, test = (np.mean([row[part] for row in of_kind]) for part in ("val", "test"))
                line.append(f"{kind} {test:.4f} (validation {val:.4f}, {len(of_kind)} runs)")
        print(*line, f"{rows[0]['seconds']:.0f} s a run", sep=", ", flush=True)


if __name__ == "__main__":
    main()
