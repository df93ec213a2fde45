"""``planegraph explain``: what each atom, ring and block of a molecule adds to a prediction."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import PlanegraphError
from .device import add_device, check_device
from .formats import UsageError
from .messages import say

_DESCRIPTION = """\
Masks each atom, ring and block in turn, and prints how much the prediction falls without it: in the target's
units, or in probability. A masked atom is one of which the models know nothing; the bonds stay where they are.
Descriptors, if the models read them, stay those of the whole molecule.

Prints the target and the prediction, then tab-separated rows: atom, index, symbol, contribution of the ten
largest; block and ring, indices, SMILES, contribution. Atoms are numbered in the order of the SMILES, from 0.
"""


def add_explain_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "explain",
        help="what each atom, ring and block adds to a prediction",
        description=_DESCRIPTION,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="RUN", help="folder of a run on a table of molecules")
    parser.add_argument("smiles", metavar="SMILES", help="the molecule, in quotes")
    parser.add_argument("-o", "--out", metavar="FILE", help=".svg file to draw it to: red raises the prediction, blue lowers it")
    add_device(parser)
    parser.set_defaults(run=run_explain)


def run_explain(args: argparse.Namespace) -> int:
    """Prints the table, and writes the drawing if one is wanted."""
    if args.out is not None and Path(args.out).suffix.lower() != ".svg":
        raise UsageError(f"-o {args.out}: the drawing is an SVG file; let its name end in .svg")
    from ..io.atomic import replace_files
    from ..predict import Predictor
    from ..predict.explain import explain, explanation_lines, explanation_svg

    try:
        check_device(args.device)
        explanation = explain(Predictor.load(args.folder, args.device), args.smiles)
        drawing = None if args.out is None else explanation_svg(explanation)
    except PlanegraphError as error:
        raise UsageError(str(error)) from None
    say("".join(f"{line}\n" for line in explanation_lines(explanation)))
    if drawing is not None:
        replace_files({Path(args.out): drawing})
    return 0
