"""planegraph beside the tools that chemists use today, on the small molecule sets and splits of benchmarks/small.py.

    python benchmarks/chem.py                                         # every tool on every set and split
    python benchmarks/chem.py --tools chemprop --sets esol --splits random0 scaffold0
    python benchmarks/chem.py --jobs 8                                # eight runs at a time, each on one thread
    python benchmarks/chem.py --table                                 # what is there so far, as in docs/molecules.md

A run is one tool, set, split and seed, and appends one line to results/chem.jsonl (or ``--out``), with the version of the tool and the
processor; runs that are there are skipped, so a benchmark can be interrupted and resumed.
Regression is scored by the test RMSE in the file's units, classification by the test ROC-AUC. The tools:

- ``planegraph``: ``planegraph train FILE`` without further settings, which trains five models on the smallest sets and one on the largest;
  ``planegraph-1`` and ``planegraph-5``: the same with ``--ensemble 1`` and ``--ensemble 5``. The models of seed s have the seeds 100 s,
  100 s + 1, ..., so that no two runs share one.
- ``chemprop``: a directed message passing network, by its own command line and with its defaults: 50 epochs, the weights of the epoch with
  the lowest validation loss. The seed goes to ``--pytorch-seed`` and ``--data-seed``.
- ``chemprop-matched``: the same with as many epochs as take the CPU time that planegraph took on the set, by runs of both in the file on
  one kind of processor.
- ``chemprop-rdkit``: chemprop with ``--molecule-featurizers rdkit_2d``. Chemprop standardises these and reads a missing one as 0.
- ``lightgbm``: RDKit's descriptors and 500 trees of LightGBM at rate 0.05, otherwise with its defaults. (Stopping by the validation part is
  worse on these sets: FreeSolv 1.61 instead of 1.38, ESOL .79 instead of .76.) It draws nothing at random: seeds agree.
- ``forest``: Morgan fingerprints (radius 2, 2,048 bits) and a random forest of 500 trees with scikit-learn's defaults.

LightGBM and the forest have no use for the validation part.

With ``--device cuda`` planegraph and chemprop train on a GPU, which takes a fraction of the time; the figures differ by roundings only, as
both compute in float32 there, too. Times are compared on the CPU: a run on a GPU says so in ``device`` and counts in no column of seconds.

A molecule that a tool cannot read is left out of its training and counted in ``left_out``. In the test part it is predicted as the training
mean, so that all tools are scored on the same molecules. Everything runs on one thread. The seconds include the computation of descriptors
and fingerprints, which is done once per set, and, for chemprop, the start of its process.

Needs ``pip install 'planegraph[bench]'``.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score

SETS = ("freesolv", "esol", "lipo", "bace", "bbbp")
CLASSES = ("bace", "bbbp")  # the others are regression
SPLITS = ("random0", "random1", "random2", "scaffold0", "scaffold1", "scaffold2")
KEY = ("tool", "set", "split", "seed")
CHEMPROP_EPOCHS = 50  # its default
RESULTS = Path(__file__).with_name("results") / "chem.jsonl"


class SmallSet:
    """One CSV file and the molecules that RDKit reads from it; ``None`` where it reads none."""

    def __init__(self, path: Path) -> None:
        with path.open(newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.name = path.stem
        self.target = np.array([float(row["target"]) for row in self.rows])
        self.classes = self.name in CLASSES
        self.molecules = [Chem.MolFromSmiles(row["smiles"]) for row in self.rows]
        self.parsed = np.array([molecule is not None for molecule in self.molecules])

    def part(self, split: str, name: str) -> np.ndarray:
        """The molecules of the part train, val or test, as a mask."""
        return np.array([row[split] == name for row in self.rows])

    def score(self, split: str, predicted: np.ndarray) -> float:
        """RMSE or ROC-AUC of the test part, of predictions for all molecules."""
        test = self.part(split, "test")
        truth, predicted = self.target[test], predicted[test]
        if not np.isfinite(predicted).all():
            raise ValueError(f"{np.sum(~np.isfinite(predicted))} of {len(predicted)} predictions are not finite")
        return float(roc_auc_score(truth, predicted) if self.classes else np.sqrt(np.mean((truth - predicted) ** 2)))


def clock() -> np.ndarray:
    """CPU seconds of this process and of its finished children, and wall seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return np.array([sum(u.ru_utime + u.ru_stime for u in used), time.perf_counter()])


@dataclass(frozen=True)
class Inputs:
    """The input of a tool: a row for each molecule, a mask of those it can read, and the cost of the rows."""

    matrix: np.ndarray
    readable: np.ndarray
    seconds: np.ndarray


def featurised(data: SmallSet, size: int, featurise: Callable[[Any], Any]) -> Inputs:
    """A row of features for each molecule; NaN for those that RDKit does not read."""
    begin = clock()
    matrix = np.full((len(data.rows), size), np.nan)
    for row, molecule in zip(matrix, data.molecules, strict=True):
        if molecule is not None:
            row[:] = featurise(molecule)
    return Inputs(matrix, data.parsed, clock() - begin)


@cache
def descriptors(data: SmallSet) -> Inputs:
    """All descriptors of RDKit; NaN for those that it cannot compute."""
    compute = partial(Descriptors.CalcMolDescriptors, missingVal=np.nan, silent=True)
    return featurised(data, len(Descriptors.descList), lambda molecule: list(compute(molecule).values()))


@cache
def fingerprints(data: SmallSet) -> Inputs:
    """Morgan fingerprints."""
    return featurised(data, 2048, GetMorganGenerator(radius=2, fpSize=2048).GetFingerprintAsNumPy)


@dataclass(frozen=True)
class Job:
    """Train on the readable molecules of one split, and predict those of its test part in the order of the file."""

    data: SmallSet
    inputs: Inputs
    split: str
    seed: int
    device: str
    rows: list[dict[str, Any]]
    """Results of earlier runs."""

    def part(self, name: str) -> np.ndarray:
        """The readable molecules of the part train, val or test, as a mask."""
        return self.data.part(self.split, name) & self.inputs.readable


def lightgbm(job: Job) -> np.ndarray:
    from lightgbm import LGBMClassifier, LGBMRegressor

    x, y = np.where(np.isfinite(job.inputs.matrix), job.inputs.matrix, np.nan), job.data.target
    train, test = job.part("train"), job.part("test")
    make = LGBMClassifier if job.data.classes else LGBMRegressor
    model = make(n_estimators=500, learning_rate=0.05, n_jobs=1, random_state=job.seed, verbosity=-1).fit(x[train], y[train])
    return model.predict_proba(x[test])[:, 1] if job.data.classes else model.predict(x[test])


def forest(job: Job) -> np.ndarray:
    x = csr_matrix(np.nan_to_num(job.inputs.matrix))  # as a dense array it would take twice the time
    train, test = job.part("train"), job.part("test")
    make = RandomForestClassifier if job.data.classes else RandomForestRegressor
    model = make(n_estimators=500, n_jobs=1, random_state=job.seed).fit(x[train], job.data.target[train])
    return model.predict_proba(x[test])[:, 1] if job.data.classes else model.predict(x[test])


def only_smiles(data: SmallSet) -> Inputs:
    """No features: chemprop computes its own, descriptors included."""
    return Inputs(np.empty((len(data.rows), 0)), data.parsed, np.zeros(2))


def chemprop(job: Job, *options: str) -> np.ndarray:
    data, readable = job.data, job.inputs.readable
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / f"{data.name}.csv"
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, data.rows[0].keys())
            writer.writeheader()
            writer.writerows(itertools.compress(data.rows, readable))
        command = [
            sys.executable,
            "-c",
            "from chemprop.cli.main import main; main()",
            "train",
            "--data-path",
            table,
            "--output-dir",
            folder,
        ]
        command += ["--smiles-columns", "smiles", "--target-columns", "target", "--splits-column", job.split]
        command += ["--task-type", "classification", "--metrics", "roc"] if data.classes else ["--metrics", "rmse"]
        command += ["--pytorch-seed", str(job.seed), "--data-seed", str(job.seed)]
        command += ["--accelerator", "gpu" if job.device == "cuda" else "cpu", "--num-workers", "0", *options]
        threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        subprocess.run(command, cwd=folder, env=os.environ | threads, check=True, text=True, capture_output=True)
        with (Path(folder) / "model_0" / "test_predictions.csv").open(newline="") as file:
            written = list(csv.DictReader(file))
    if [row["smiles"] for row in written] != [row["smiles"] for row in itertools.compress(data.rows, job.part("test"))]:
        raise ValueError("the predictions of chemprop do not follow the order of the test molecules")
    return np.array([float(row["target"] or "nan") for row in written])


def matched_chemprop(job: Job) -> np.ndarray:
    """Chemprop with as many epochs as take the CPU time of planegraph; both times from one processor, this one if they are known of it."""
    of_set = [row for row in job.rows if row["set"] == job.data.name]
    for where in sorted({row["processor"] for row in of_set}, key=lambda name: (name != processor(), name)):
        ours, theirs = (
            on_cpu(row for row in of_set if (row["tool"], row["processor"]) == (tool, where)) for tool in ("planegraph", "chemprop")
        )
        if ours and theirs:
            return chemprop(job, "--epochs", str(max(1, round(CHEMPROP_EPOCHS * np.mean(ours) / np.mean(theirs)))))
    raise ValueError(
        f"chemprop-matched needs runs of planegraph and of chemprop on {job.data.name}, both on the CPU of one machine"
    )


def on_cpu(rows: Iterable[dict[str, Any]]) -> list[float]:
    """The CPU seconds of those runs that took place on a CPU."""
    return [row["cpu_seconds"] for row in rows if row["device"] == "cpu"]


def planegraph(job: Job, *options: str) -> np.ndarray:
    test = itertools.compress(range(len(job.data.rows)), job.part("test"))
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / f"{job.data.name}.csv", Path(folder) / "out.csv"
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, job.data.rows[0].keys())
            writer.writeheader()
            writer.writerows(job.data.rows)
        run = [sys.executable, "-m", "planegraph"]
        train = [
            *run,
            "train",
            table,
            "--targets",
            "target",
            "--split",
            f"column:{job.split}",
            "--no-baselines",
            "--workers",
            "1",
            "-q",
            "--out",
            "run",
        ]
        train += ["--device", job.device, "--set", f"train.seed={100 * job.seed}", *options]
        for command in (train, [*run, "predict", "run", table, "-o", out, "-q", "--device", job.device, "--workers", "1"]):
            done = subprocess.run(command, cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}, text=True, capture_output=True)
            if done.returncode not in (0, 1):  # 1: some rows could not be read
                raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        with out.open(newline="") as file:
            predicted = [float(row["predicted_target"] or "nan") for row in csv.DictReader(file)]
    return np.array([predicted[k] for k in test])


TOOLS: dict[str, tuple[Callable[[SmallSet], Inputs], Callable[[Job], np.ndarray]]] = {
    "planegraph": (only_smiles, planegraph),
    "planegraph-1": (only_smiles, lambda job: planegraph(job, "--ensemble", "1")),
    "planegraph-5": (only_smiles, lambda job: planegraph(job, "--ensemble", "5")),
    "lightgbm": (descriptors, lightgbm),
    "forest": (fingerprints, forest),
    "chemprop": (only_smiles, chemprop),
    "chemprop-matched": (only_smiles, matched_chemprop),
    "chemprop-rdkit": (only_smiles, lambda job: chemprop(job, "--molecule-featurizers", "rdkit_2d")),
}


def tool_version(tool: str) -> str:
    """The package behind a tool and its version; of planegraph the commit, too."""
    package = "scikit-learn" if tool == "forest" else tool.split("-")[0]
    if package != "planegraph":
        return f"{package} {version(package)}"
    root = Path(__file__).parents[1]
    git = partial(subprocess.run, cwd=root, text=True, capture_output=True)
    commit = git(["git", "describe", "--always"]).stdout.strip()
    changed = git(["git", "status", "--porcelain", "--", "src", "cpp"]).stdout  # not the file of results, which grows
    commit = f"{commit}-dirty" if changed else commit or os.environ.get("PLANEGRAPH_COMMIT", "")[:7]
    return f"planegraph {version(package)} {commit}".strip()


def processor() -> str:
    """Its name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def measured(tool: str, data: SmallSet, split: str, seed: int, device: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The result of one run."""
    prepare, predict = TOOLS[tool]
    job = Job(data, prepare(data), split, seed, device, rows)
    begin = clock()
    predicted = np.full(len(data.rows), data.target[job.part("train")].mean())
    predicted[job.part("test")] = predict(job)
    cpu, wall = (clock() - begin + job.inputs.seconds).round(2).tolist()
    left_out = int(np.sum(~job.inputs.readable))
    result = {"test": data.score(split, predicted), "cpu_seconds": cpu, "wall_seconds": wall, "left_out": left_out}
    return result | {"version": tool_version(tool), "processor": processor(), "device": device}


@cache
def small_set(path: Path) -> SmallSet:
    """Read once a process, with what is computed from it."""
    RDLogger.DisableLog("rdApp.*")
    return SmallSet(path)


def attempt(
    folder: Path, device: str, rows: list[dict[str, Any]], tool: str, name: str, split: str, seed: int
) -> dict[str, Any] | str:
    """The result of one run, or the reason of its failure."""
    try:
        return measured(tool, small_set(folder / f"{name}.csv"), split, seed, device, rows)
    except (subprocess.CalledProcessError, ValueError) as error:
        return f"{error} {(getattr(error, 'stderr', None) or '')[-2000:]}"


def run_missing(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> bool:
    """Run what is not done yet; returns whether all succeeded. A run that fails is reported and left to the next call."""
    done = {tuple(row[name] for name in KEY) for row in rows}
    wanted = itertools.product(arguments.tools, arguments.sets, arguments.splits, range(arguments.seeds))
    runs = sorted(
        (run for run in wanted if run not in done), key=lambda run: run[0] == "chemprop-matched"
    )  # which needs the times of others
    well, begun = True, {}
    # a process a run at a time, so that its CPU seconds and those of the programs that it starts are its own
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        while runs or begun:
            while runs and len(begun) < arguments.jobs and not (runs[0][0] == "chemprop-matched" and _others(begun)):
                run = runs.pop(0)
                begun[pool.submit(attempt, arguments.data / "small", arguments.device, rows, *run)] = run
            for future in wait(begun, return_when=FIRST_COMPLETED).done:
                run, result = begun.pop(future), future.result()
                if isinstance(result, str):
                    print("failed:", *run, result, file=sys.stderr, flush=True)
                    well = False
                    continue
                rows.append(dict(zip(KEY, run, strict=True)) | result)
                arguments.out.parent.mkdir(parents=True, exist_ok=True)
                with arguments.out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
                print(*run, "{test:.4f}, {cpu_seconds:.1f} s of CPU, {left_out} molecules left out".format(**result), flush=True)
    return well


def _others(begun: Mapping[Any, tuple[str, ...]]) -> bool:
    return any(run[0] != "chemprop-matched" for run in begun.values())


def table(rows: list[dict[str, Any]], tools: Sequence[str], sets: Sequence[str]) -> str:
    """Markdown, a line for each set and tool: means over splits (each the mean of its seeds), and the CPU time."""
    lines = ["| set | tool | all splits | random | scaffold | splits x seeds | CPU s a run |", "|---|---|--:|--:|--:|--:|--:|"]
    for name, tool in itertools.product(sets, tools):
        runs = [row for row in rows if (row["set"], row["tool"]) == (name, tool)]
        if not runs:
            continue
        of_split = {split: [row["test"] for row in runs if row["split"] == split] for split in SPLITS}
        means = [
            _mean([float(np.mean(found)) for split, found in of_split.items() if found and split.startswith(kind)])
            for kind in ("", "random", "scaffold")
        ]
        splits, seeds = (len({row[key] for row in runs}) for key in ("split", "seed"))
        count = f"{splits} x {seeds}" if len(runs) == splits * seeds else f"{splits}, {len(runs)} runs"
        metric = "ROC-AUC" if name in CLASSES else "RMSE"
        lines.append(f"| {name}, {metric} | {tool} | {' | '.join(means)} | {count} | {_mean(on_cpu(runs), 0)} |")
    return "\n".join(lines)


def _mean(values: list[float], digits: int = 3) -> str:
    """Beyond 10,000 with two digits: chemprop's predictions by descriptors may be anything."""
    if not values:
        return ""
    mean = np.mean(values)
    return f"{mean:.{digits}f}" if mean < 1e4 else f"{mean:.1e}"


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The runs in a file; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the results, a JSON object per line")
    for option, known in (("tools", tuple(TOOLS)), ("sets", SETS), ("splits", SPLITS)):
        parser.add_argument(f"--{option}", nargs="+", choices=known, default=known, help="all by default")
    parser.add_argument("--seeds", type=int, default=1, help="seeds per split")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where planegraph and chemprop train")
    parser.add_argument("--data", type=Path, default=os.environ.get("PLANEGRAPH_DATA"), help="the folder that holds small/")
    parser.add_argument("--table", action="store_true", help="run nothing; print the results as a markdown table")
    arguments = parser.parse_args()
    rows = read_rows(arguments.out)
    if arguments.table:
        print(table(rows, arguments.tools, arguments.sets))
        return 0
    if arguments.data is None:
        parser.error("say where the data are: --data FOLDER, or the variable PLANEGRAPH_DATA")
    return 0 if run_missing(arguments, rows) else 1


if __name__ == "__main__":
    sys.exit(main())
