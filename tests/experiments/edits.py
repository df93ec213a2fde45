"""Changes to the files of a record."""

from __future__ import annotations

import json
from pathlib import Path


def edit_json(path: Path, change) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def edit_lines(path: Path, change) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))
