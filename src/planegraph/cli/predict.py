"""``planegraph predict``, ``evaluate`` and ``embed``: new molecules through a run that ``planegraph train FILE`` made."""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PlanegraphError
from .device import add_device, check_device
from .formats import UsageError
from .messages import complain, printable

if TYPE_CHECKING:
    from ..predict import Predictor

_UNUSABLE = (PlanegraphError, FileNotFoundError, IsADirectoryError)  # wrong input; other OSErrors are trouble with the disk


def add_parsers(commands: argparse._SubParsersAction, epilog: str) -> None:
    """Adds the three commands."""
    for name, text, description, run in (
        ("predict", "predict a table of molecules", "All columns are kept, predictions are written beside them.", run_predict),
        ("evaluate", "compare predictions with a table's targets", "Prints all metrics of each target.", run_evaluate),
        ("embed", "fingerprints of molecules for other tools", "Writes what the output MLPs see: a row of floats each.", run_embed),
    ):
        parser = commands.add_parser(
            name, help=text, description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("folder", metavar="RUN", help="folder of a run on a table of molecules")
        parser.add_argument("file", metavar="FILE", help="CSV, TSV, Parquet, SDF or SMILES file, gzipped or not")
        if name == "predict":
            parser.add_argument("-o", "--out", required=True, metavar="FILE", help="CSV or TSV file to write, also with .gz")
        if name == "embed":
            parser.add_argument("-o", "--out", required=True, metavar="FILE", help=".npy file to write, a row for each row of FILE")
        parser.add_argument("--smiles", metavar="COLUMN", help="the column with the SMILES (default: as in training, or found)")
        add_device(parser)
        parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
        parser.set_defaults(run=run)


def run_predict(args: argparse.Namespace) -> int:
    from ..datasets.progress import Progress
    from ..predict.files import predict_file

    begin = time.perf_counter()
    try:
        predictor = _predictor(args)
        with Progress("predicting", None, "rows", show=False if args.quiet else None) as bar:
            counts = predict_file(predictor, args.file, args.out, args.smiles, bar.add)
    except _UNUSABLE as error:
        raise UsageError(str(error)) from None
    seconds = time.perf_counter() - begin
    sys.stdout.write(f"{counts.rows:,} rows in {seconds:.1f} s, written to {args.out}\n")
    return _of_problems(counts.problems, f"see the column problem of {args.out}")


def run_evaluate(args: argparse.Namespace) -> int:
    from ..datasets.metrics import metrics_of
    from ..predict.files import evaluate_file

    try:
        predictor = _predictor(args)
        found = evaluate_file(predictor, args.file, args.smiles)
    except _UNUSABLE as error:
        raise UsageError(str(error)) from None
    titles = metrics_of(predictor.schema.kind)
    for target, values in found.figures.items():
        for name, value in values.items():
            text = "undefined" if math.isnan(value) else f"{value:.4g}"
            sys.stdout.write(printable(f"{target}\t{titles[name].title}\t{text}\n"))
    return _of_problems(found.counts.problems, "planegraph predict says why")


def run_embed(args: argparse.Namespace) -> int:
    import numpy as np

    from ..data.format import replace_files
    from ..datasets.molecule_files import open_table
    from ..predict.files import check_output, smiles_column

    try:
        predictor = _predictor(args)
        table = open_table(args.file)
        check_output(args.out, args.file)
        column = smiles_column(table, predictor, args.smiles)
        parts, problems = [], 0
        for chunk in table.chunks(2048):
            rows, wrong = predictor.embed(chunk.values[column])
            parts.append(rows)
            problems += len({**wrong, **chunk.problems})
    except _UNUSABLE as error:
        raise UsageError(str(error)) from None
    found = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
    replace_files({Path(args.out): lambda file: np.save(file, found)})
    sys.stdout.write(f"{found.shape[0]:,} rows of {found.shape[1]} numbers, written to {args.out}\n")
    return _of_problems(problems, "their rows are NaN")


def _predictor(args: argparse.Namespace) -> Predictor:
    from ..predict import Predictor

    check_device(args.device)
    return Predictor.load(args.folder, args.device)


def _of_problems(count: int, where: str) -> int:
    if count:
        complain(f"{count:,} rows could not be read; {where}")
    return 1 if count else 0
