"""``python -m torture``: runs the parts one after another, each in a process of its own. Exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import secrets
import sys

from . import PARTS
from .runner import run_apart, table


def main() -> int:
    parts = "\n".join(f"  {name:10} {what}" for name, what in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="torture", description=__doc__, epilog=f"parts:\n{parts}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, help="this part alone (default: all)")
    parser.add_argument("--seed", type=int, help="of the first trial of each part (default: a new one)")
    parser.add_argument("--seconds", type=float, default=3600, help="in all; each part does at least one trial (default: 3600)")
    args = parser.parse_args()
    chosen = [args.part] if args.part else list(PARTS)
    seed = secrets.randbelow(10**9) if args.seed is None else args.seed
    outcomes = []
    for part in chosen:
        print(f"{part}: {PARTS[part]}, from seed {seed}", flush=True)
        outcome = run_apart(part, seed, args.seconds / len(chosen))
        for at, found in outcome.findings:
            print(f"FOUND by --part {part} --seed {at} --seconds 0\n{found}", flush=True)
        if outcome.skipped:
            print(f"skipped: {outcome.skipped}", flush=True)
        outcomes.append(outcome)
    print(f"\n{table(outcomes)}", end="", flush=True)
    return 1 if any(outcome.findings for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
