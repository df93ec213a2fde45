"""Changes to the files of a record, each with the checksum of what it then holds."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from planegraph.io.checksums import json_text, read_json, sealed, sealed_text
from planegraph.runs.checkpoint import load_checkpoint, save_checkpoint


def edit_json(path: Path, change) -> None:
    values = read_json(path)
    change(values)
    path.write_text(json_text(values))


def edit_log(record: Path, change) -> None:
    """Changes the rows of a log."""
    path = record / "log.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    plain = change([{name: value for name, value in row.items() if name != "crc32"} for row in rows])
    path.write_text("".join(json.dumps(sealed(row)) + "\n" for row in plain))


def edit_predictions(record: Path, change, trial: str = "seed0") -> None:
    """Changes the tensors id, predicted and true of a trial."""
    path = record / "models" / trial / "test.safetensors"
    tensors, _ = load_checkpoint(path)
    save_checkpoint(path, tensors | change(tensors), {})


def of_earlier_model(record: Path, **model) -> None:
    """Makes it a record of the first model, with these settings of the model."""
    edit_json(record / "record.json", lambda facts: facts.update(model_format=1))
    path = record / "settings.yaml"
    if path.exists():
        path.write_bytes(sealed_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"model": model}, sort_keys=False)))
