"""The option ``--set KEY=VALUE ...``, which several commands have."""

from __future__ import annotations

import argparse


def add_overrides(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds it; the values are ``args.overrides``, in their order, however often the option is given."""
    parser.add_argument("--set", metavar="KEY=VALUE", help=text, action="extend", nargs="+", default=[], dest="overrides")
