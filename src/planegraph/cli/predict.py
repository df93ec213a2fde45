"""``planegraph predict``, ``evaluate``, ``embed`` and ``explain``: a run of ``planegraph train FILE`` on new molecules."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import WorkerError
from ..io.text import counted
from .messages import StreamError, UsageError, complain, say
from .options import add_command, add_device, add_quiet, add_workers, check_device

if TYPE_CHECKING:
    from ..io.progress import Progress
    from ..predict import Predictor

_EXPLAIN = """\
Mask each atom, ring and block in turn, and print how much the prediction falls without it: in the target's units, or in \
probability. The models see nothing of a masked atom but its bonds. Descriptors, if the models read them, are not masked.

Prints the target and the prediction, then tab-separated rows: atom, index, symbol, contribution of the ten largest; block and \
ring, indices, SMILES, contribution. Atoms are numbered in the order of the SMILES, from 0."""


def add_parsers(commands: Any) -> None:
    """Declares the four commands."""
    written = {
        "predict": "CSV, TSV (also with .gz) or Parquet file to write",
        "embed": ".npy file to write, a row for each row of FILE",
    }
    for name, run, help, description in (
        ("predict", run_predict, "predict a table of molecules", "Keep all columns, and write predictions beside them."),
        ("evaluate", run_evaluate, "compare predictions with a table's targets", "Print all metrics of each target."),
        (
            "embed",
            run_embed,
            "fingerprints of molecules for other tools",
            "Write embeddings, the inputs of the output MLPs, a row for each molecule.",
        ),
        ("explain", run_explain, "contributions of atoms, rings and blocks to a prediction", _EXPLAIN),
    ):
        parser = add_command(commands, name, run, help, description)
        parser.add_argument("folder", metavar="RUN", help="folder of a run on a table of molecules")
        if name == "explain":
            parser.add_argument("smiles", metavar="SMILES", help="the molecule, in quotes")
            parser.add_argument(
                "-o", "--out", metavar="FILE", help=".svg file to draw it to: red raises the prediction, blue lowers it"
            )
        else:
            parser.add_argument("file", metavar="FILE", help="CSV, TSV, Parquet, SDF or SMILES file, gzipped or not")
            if name in written:
                parser.add_argument("-o", "--out", required=True, metavar="FILE", help=written[name])
            parser.add_argument(
                "--smiles", metavar="COLUMN", help="the column with the SMILES (default: as in training, or detected)"
            )
            add_workers(parser)
            add_quiet(parser)
        add_device(parser)


def run_predict(args: argparse.Namespace) -> int:
    from ..predict.files import predict_file

    begin = time.perf_counter()
    with _file_errors(), _progress(args, "predicting") as bar:
        counts = predict_file(_predictor(args), args.file, args.out, args.smiles, bar.add, args.workers)
    seconds = time.perf_counter() - begin
    say(f"{counts.rows:,} rows in {seconds:.1f} s, written to {args.out}\n")
    return _of_problems(counts.problems, f"see the column problem of {args.out}")


def run_evaluate(args: argparse.Namespace) -> int:
    from ..predict.files import evaluate_file
    from ..tasks.metrics import metrics_of

    with _file_errors(), _progress(args, "evaluating") as bar:
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

    with _file_errors(), _progress(args, "embedding") as bar:
        counts, width = embed_file(_predictor(args), args.file, args.out, args.smiles, bar.add, args.workers)
    say(f"{counts.rows:,} rows of {width} numbers, written to {args.out}\n")
    return _of_problems(counts.problems, "their rows are NaN")


def run_explain(args: argparse.Namespace) -> int:
    if args.out is not None and Path(args.out).suffix.lower() != ".svg":
        raise UsageError(f"-o {args.out}: the drawing is an SVG file; let its name end in .svg")
    from ..io.atomic import replace_files
    from ..predict.explain import explain, explanation_lines, explanation_svg

    explanation = explain(_predictor(args), args.smiles)
    drawing = None if args.out is None else explanation_svg(explanation)
    say("".join(f"{line}\n" for line in explanation_lines(explanation)))
    if drawing is not None:
        replace_files({Path(args.out): drawing})
    return 0


def _predictor(args: argparse.Namespace) -> Predictor:
    from ..predict import Predictor

    check_device(args.device)
    return Predictor.load(args.folder, args.device)


def _progress(args: argparse.Namespace, what: str) -> Progress:
    from ..io.progress import Progress

    return Progress(what, None, "rows", show=False if args.quiet else None)


@contextmanager
def _file_errors() -> Iterator[None]:
    """Turns a missing file into wrong usage, and a killed worker into a failure of the system."""
    try:
        yield
    except WorkerError as error:
        raise StreamError(f"{error} (--workers)") from None
    except (FileNotFoundError, IsADirectoryError) as error:  # other OSErrors are problems of the disk
        raise UsageError(str(error)) from None


def _of_problems(count: int, where: str) -> int:
    if count:
        complain(f"{counted(count, 'row')} could not be read; {where}")
    return 1 if count else 0
