"""``planegraph predict``, ``evaluate`` and ``embed``: new molecules through a run that ``planegraph train FILE`` made."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import PlanegraphError, WorkerError
from ..io.text import counted
from .device import add_device, check_device
from .formats import StreamError, UsageError
from .messages import complain, say
from .workers import add_workers

if TYPE_CHECKING:
    from ..io.progress import Progress
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
            parser.add_argument(
                "-o", "--out", required=True, metavar="FILE", help="CSV, TSV (also with .gz) or Parquet file to write"
            )
        if name == "embed":
            parser.add_argument("-o", "--out", required=True, metavar="FILE", help=".npy file to write, a row for each row of FILE")
        parser.add_argument("--smiles", metavar="COLUMN", help="the column with the SMILES (default: as in training, or found)")
        add_workers(parser)
        add_device(parser)
        parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
        parser.set_defaults(run=run)


def run_predict(args: argparse.Namespace) -> int:
    from ..predict.files import predict_file

    begin = time.perf_counter()
    with _told(), _progress(args, "predicting") as bar:
        counts = predict_file(_predictor(args), args.file, args.out, args.smiles, bar.add, args.workers)
    seconds = time.perf_counter() - begin
    say(f"{counts.rows:,} rows in {seconds:.1f} s, written to {args.out}\n")
    return _of_problems(counts.problems, f"see the column problem of {args.out}")


def run_evaluate(args: argparse.Namespace) -> int:
    from ..predict.files import evaluate_file
    from ..tasks.metrics import metrics_of

    with _told(), _progress(args, "evaluating") as bar:
        predictor = _predictor(args)
        found = evaluate_file(predictor, args.file, args.smiles, bar.add, args.workers)
    titles = metrics_of(predictor.schema.kind)
    for target, values in found.figures.items():
        for name, value in values.items():
            text = "undefined" if math.isnan(value) else f"{value:.4g}"
            say(f"{target}\t{titles[name].title}\t{text}\n")
    return _of_problems(found.counts.problems, "planegraph predict says why")


def run_embed(args: argparse.Namespace) -> int:
    from ..predict.files import embed_file

    with _told(), _progress(args, "embedding") as bar:
        counts, width = embed_file(_predictor(args), args.file, args.out, args.smiles, bar.add, args.workers)
    say(f"{counts.rows:,} rows of {width} numbers, written to {args.out}\n")
    return _of_problems(counts.problems, "their rows are NaN")


def _predictor(args: argparse.Namespace) -> Predictor:
    from ..predict import Predictor

    check_device(args.device)
    return Predictor.load(args.folder, args.device)


def _progress(args: argparse.Namespace, what: str) -> Progress:
    from ..io.progress import Progress

    return Progress(what, None, "rows", show=False if args.quiet else None)


@contextmanager
def _told() -> Iterator[None]:
    """Errors of planegraph are wrong usage, but for a worker that was killed."""
    try:
        yield
    except WorkerError as error:
        raise StreamError(f"{error} (--workers)") from None
    except _UNUSABLE as error:
        raise UsageError(str(error)) from None


def _of_problems(count: int, where: str) -> int:
    if count:
        complain(f"{counted(count, 'row')} could not be read; {where}")
    return 1 if count else 0
