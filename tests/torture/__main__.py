"""``python -m torture``: runs the parts, each in its own process. Exit code 1 if anything was found, 130 after Ctrl-C."""

from __future__ import annotations

import argparse
import secrets
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from planegraph.runs.provenance import session

from . import PARTS
from .runner import Outcome, row, run_apart, table


def main() -> int:
    parts = "\n".join(f"  {name:10} {what}" for name, what in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="torture", description=__doc__, epilog=f"parts:\n{parts}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, help="this part alone (default: all)")
    parser.add_argument("--seed", type=int, help="of the first trial of each part (default: a new one)")
    parser.add_argument("--seconds", type=float, default=3600, help="in all; each part does at least one trial (default: 3600)")
    parser.add_argument("--jobs", type=int, choices=range(1, len(PARTS) + 1), default=1, metavar="N", help="parts at a time (1)")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    seed = secrets.randbelow(10**9) if args.seed is None else args.seed
    print(f"{_under_test()}\nseed {seed}, {args.seconds:.0f} s, {args.jobs} at a time\n\n{table([])}", flush=True)
    outcomes: list[Outcome] = []
    interrupted = False
    with closing(run_apart([args.part] if args.part else list(PARTS), seed, args.seconds, args.jobs)) as running:
        try:
            for outcome in running:
                _tell(outcome)
                outcomes.append(outcome)
        except KeyboardInterrupt:
            interrupted = True
    print(f"\n{'interrupted; ' if interrupted else ''}in all:\n{table(outcomes)}", flush=True)
    return 130 if interrupted else 1 if any(outcome.findings for outcome in outcomes) else 0


def _tell(outcome: Outcome) -> None:
    print(row(outcome), flush=True)
    for at, found in outcome.findings:
        print(f"FOUND by --part {outcome.part} --seed {at} --seconds 0\n{found}", flush=True)


def _under_test() -> str:
    """The commit, as git describes it, the date and the machine."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    described = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    this = session("cpu")
    machine = ", ".join(f"{name} {value}" for name, value in this["machine"].items())
    return f"commit {described or this['commit'] or 'unknown'}, {this['date']}\n{machine}"


if __name__ == "__main__":
    sys.exit(main())
