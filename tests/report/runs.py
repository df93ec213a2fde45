"""Folders of runs, made up file by file as planegraph.train writes them; and a reader of pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import torch
import yaml

from planegraph.runs.checkpoint import save_checkpoint

SVG = "{http://www.w3.org/2000/svg}"


def make_run(
    folder: Path,
    metric: str = "mae",
    seeds: int = 2,
    folds: int = 0,
    epochs: int = 6,
    tests: dict[str, np.ndarray] | None = None,
    finished: bool = True,
    model: str = "BasePlanE",
    **more: Any,
) -> Path:
    """A run whose losses fall by a half each epoch, with the best epoch two before the last."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "task": "made up",
        "options": {},
        "model_class": model,
        "model": {"hidden": 8},
        "train": {"epochs": epochs, "seeds": seeds},
    }
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    trials = [(seed, fold) for seed in range(seeds) for fold in (range(folds) if folds else [None])]
    records = []
    for epoch in range(1, epochs + 1):
        for seed, fold in trials:
            loss = 0.5**epoch * (1 + seed)
            val = 0.9 - 0.8 * abs(epoch - (epochs - 2)) / epochs
            best = max(1, min(epoch, epochs - 2))
            records.append({"epoch": epoch, "seed": seed, "fold": fold, "loss": loss, "rate": 1e-3, "val": val, "val_loss": loss})
            records[-1] |= {"best": 0.9, "best_epoch": best, "seconds": 0.5 * epoch}
    (folder / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    results = []
    for k, (seed, fold) in enumerate(trials):
        name = f"seed{seed}" + ("" if fold is None else f"-fold{fold}")
        results.append({"seed": seed, "fold": fold, "best_epoch": epochs - 2, "val": 0.9, "test": 0.8 + 0.01 * k})
        results[-1] |= {"val_loss": 0.1, "test_loss": 0.2}
        if tests is not None:
            (folder / "models" / name).mkdir(parents=True)
            tensors = {what: torch.from_numpy(values) for what, values in tests.items()}
            save_checkpoint(folder / "models" / name / "test.safetensors", tensors, {})
    figures = [r["test"] for r in results]
    mean = {"mean": float(np.mean(figures)), "std": float(np.std(figures, ddof=1)) if len(figures) > 1 else 0.0}
    result = {"task": "made up", "metric": metric, "model_class": model, "test": mean, "val": {"mean": 0.9, "std": 0.0}}
    result |= {"seconds": 3.0, "device": "cpu", "torch": "2.6.0", "notes": "", "trials": results} | more
    if finished:
        (folder / "result.json").write_text(json.dumps(result))
    return folder


def regression_tests(graphs: int = 50, targets: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    true = rng.normal(size=(graphs, targets)).astype(np.float32)
    predicted = (true + 0.1 * rng.normal(size=true.shape)).astype(np.float32)
    return {"id": np.arange(graphs), "predicted": predicted, "true": true}


def class_tests(classes: int = 4, graphs: int = 40, wrong: int = 3) -> dict[str, np.ndarray]:
    """The first ``wrong`` graphs are taken for the next class."""
    true = np.arange(graphs) % classes
    said = np.where(np.arange(graphs) < wrong, (true + 1) % classes, true)
    return {"id": np.arange(graphs), "predicted": np.eye(classes, dtype=np.float32)[said], "true": true}


def binary_tests(graphs: int = 30) -> dict[str, np.ndarray]:
    true = (np.arange(graphs) % 3 == 0).astype(np.float32)[:, None]
    noise = np.random.default_rng(0).normal(size=true.shape)
    return {"id": np.arange(graphs), "predicted": (true - 0.5 + 0.5 * noise).astype(np.float32), "true": true}


def parse(page: Path) -> ElementTree.Element:
    """The page as XML: it must be well-formed."""
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


def words(root: ElementTree.Element) -> str:
    """All text of a page, but its style."""
    return " ".join(text for element in root.iter() if element.tag != "style" for text in (element.text, element.tail) if text)


def figure(root: ElementTree.Element, title: str) -> ElementTree.Element:
    """The SVG whose title begins so."""
    return next(svg for svg in root.iter(f"{SVG}svg") if svg.find(f"{SVG}title").text.startswith(title))


def frame(svg: ElementTree.Element) -> tuple[float, float, float, float]:
    """left, top, right, bottom of the plot area."""
    at = {key: float(value) for key, value in svg.find(f"{SVG}rect").attrib.items() if key in ("x", "y", "width", "height")}
    return at["x"], at["y"], at["x"] + at["width"], at["y"] + at["height"]


def points(path: ElementTree.Element) -> np.ndarray:
    """The absolute coordinates in a path."""
    return np.array(re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d")), float).reshape(-1, 2)
