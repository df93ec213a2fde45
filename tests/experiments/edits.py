"""Changes to the files of a record."""

from __future__ import annotations

import json
from pathlib import Path

import yaml


def edit_json(path: Path, change) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def edit_lines(path: Path, change) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def of_earlier_model(record: Path, **model) -> None:
    """Makes it a record of the first model, with these settings of the model."""
    edit_json(record / "record.json", lambda facts: facts.pop("model_format"))
    path = record / "settings.yaml"
    if path.exists():
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"model": model}, sort_keys=False))
