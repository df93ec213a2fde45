"""The command line: ``planegraph canon``, ``planegraph decompose``, ``planegraph iso``; one file per command.

A command is a module with ``add_parser(subparsers)``, which sets ``run``: arguments -> exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import canon, decompose, iso
from .formats import UsageError

EXIT_CODES = """\
exit codes:
  0    all went well; for iso: isomorphic
  1    some graphs were bad or not planar (see stderr), the others were handled; for iso: not isomorphic
  2    wrong usage, an unreadable file, or a bad graph under --strict; for iso: a bad graph
  130  interrupted (Ctrl-C)
  141  whoever read the output went away
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    try:
        args = _parser().parse_args(argv)
        code = args.run(args)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"planegraph: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("planegraph: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # keep Python from complaining once more when it flushes stdout at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _parser() -> argparse.ArgumentParser:
    from .. import __version__

    parser = argparse.ArgumentParser(
        prog="planegraph",
        description="Decompose and canonise planar graphs.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"planegraph {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (canon, decompose, iso):
        command.add_parser(commands, EXIT_CODES)
    return parser
