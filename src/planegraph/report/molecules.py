"""The part of a run's page that is about a table of molecules: figures beside those of baselines, plots by target, the worst predictions.

Reads ``molecules.json``, ``predictions.csv`` and the run's result. All figures are those of the ensemble, the mean of the run's models.
Column names and SMILES come from users' files: templates escape them, and RDKit's drawings are rebuilt element by element.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup

from ..errors import FormatError
from ..graphs.formats.molecules import rdkit
from ..io.checksums import read_json
from ..io.text import counted
from ..runs.errors import damage_named
from ..runs.finished import PREDICTIONS, SCHEMA
from ..runs.folder import Predictions, Run
from ..tasks.metrics import Metric, metrics_of
from . import predictions
from .formatting import number
from .page import Table
from .plot import Figure, tag

WORST = 12
MOST_TARGETS = 12
"""Plots are shown for the first so many targets."""
MOST_ATOMS = 150
"""Larger molecules are not drawn: nobody could read them."""

_DRAWING = (260, 190)
_BOND = 28  # pixels at most: small molecules are not blown up
_LONGEST = 200  # characters of a SMILES on the page
_DRAWN = {"path", "rect", "ellipse", "circle", "line", "polygon", "polyline", "text"}
_KEPT = {"d", "style", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "cx", "cy", "r", "rx", "ry", "points", "opacity"}


@dataclass(frozen=True)
class Tests:
    """The ensemble on the test molecules: ``true`` (n, targets), where NaN is missing, and ``predicted`` (n, outputs)."""

    row: list[str]
    smiles: list[str]
    true: np.ndarray
    predicted: np.ndarray


@dataclass(frozen=True)
class MoleculeRun:
    """The data of the page beside the run: ``figures`` is the result's ``ensemble``; ``tests`` is None without ``predictions.csv``."""

    kind: str
    metric: str
    targets: list[str]
    classes: list[str]
    figures: Mapping[str, Any]
    baselines: Mapping[str, Any]
    tests: Tests | None

    @property
    def who(self) -> str:
        return "ensemble" if self.figures["models"] > 1 else "model"


def read(run: Run) -> MoleculeRun | None:
    """Reads the folder of a run; None if it is not on a table of molecules, or unfinished."""
    path = run.folder / SCHEMA
    if run.result is None or "ensemble" not in run.result or not path.is_file():
        return None
    with damage_named(path):
        schema = read_json(path)
        kind, targets, classes = schema["kind"], [*map(str, schema["targets"])], [*map(str, schema["classes"])]
    tests = _read_tests(run.folder / PREDICTIONS, targets, classes)
    return MoleculeRun(
        kind, run.result["metric"], targets, classes, run.result["ensemble"], run.result.get("baselines") or {}, tests
    )


def _read_tests(path: Path, targets: Sequence[str], classes: Sequence[str]) -> Tests | None:
    if not path.is_file():
        return None
    with damage_named(path), path.open(encoding="utf-8", newline="") as file:
        try:
            rows = [row for row in csv.DictReader(file) if row["part"] == "test"]
        except csv.Error as error:
            raise FormatError(f"{path} is damaged: {error}") from None
        outputs = [f"probability_{name}" for name in classes] or [f"predicted_{name}" for name in targets]
        return Tests(
            [row["row"] for row in rows],
            [row["smiles"] for row in rows],
            _numbers(rows, [f"true_{name}" for name in targets], classes.index if classes else float),
            _numbers(rows, outputs, float),
        )


def _numbers(rows: Sequence[Mapping[str, str]], columns: Sequence[str], number: Callable[[str], float]) -> np.ndarray:
    cells = [[number(row[name]) if row[name] else np.nan for name in columns] for row in rows]
    return np.array(cells, np.float64).reshape(len(rows), len(columns))


def part(found: MoleculeRun) -> dict[str, Any]:
    """The values of the template, without the plots."""
    many = len(found.targets)
    baselines = {} if "skipped" in found.baselines else found.baselines
    return {
        "verdict": _verdict(found, baselines),
        "metrics": _metric_table(found, baselines),
        "folded": f"All metrics of {many:,} targets" if many > MOST_TARGETS else None,
        "about": _about_baselines(found),
        "unplotted": f"The first {MOST_TARGETS} of {many:,} targets are plotted." if many > MOST_TARGETS else None,
        **_worst(found),
    }


# ---- figures beside the baselines' -----------------------------------------------------------------------------------------------------


def _metric_table(found: MoleculeRun, baselines: Mapping[str, Any]) -> Table:
    """All metrics by target, of the ensemble and the baselines, the best test figure of each in bold."""
    rows = []
    for target in found.targets:
        for name, metric in metrics_of(found.kind).items():
            tested = [of[target][name] for of in (found.figures["test"], *baselines.values())]
            cells: list[str] = list(map(_figure, tested))
            best = _best(metric, tested)
            if best is not None and len(tested) > 1:
                cells[best] = Markup("<strong>{}</strong>").format(cells[best])
            rows.append((target, metric.title, _figure(found.figures["val"][target][name]), *cells))
    head = ("target", "metric", f"{found.who}, validation", f"{found.who}, test", *(f"{name}, test" for name in baselines))
    return Table(head, rows, words=2)


def _verdict(found: MoleculeRun, baselines: Mapping[str, Any]) -> list[str]:
    """Compares the model with the baselines in the run's metric: target by target, or, if there are many, by the number won."""
    if not baselines:
        return []
    metric = metrics_of(found.kind)[found.metric]
    names = [f"the {found.who}", *("the random forest" if name == "random forest" else name for name in baselines)]
    lines, won, compared = [], 0, 0
    for target in found.targets:
        tested = [of[target][found.metric] for of in (found.figures["test"], *baselines.values())]
        best = _best(metric, tested)
        if tested[0] is None or best is None:
            continue
        compared, won = compared + 1, won + (best == 0)
        second = _best(metric, [v if k != best else None for k, v in enumerate(tested)]) if best == 0 else 0
        rest = "" if second is None else f"; {names[second]} has {_figure(tested[second])}"
        lines.append(f"{target}: {names[best]} has the best test {metric.title}, {_figure(tested[best])}{rest}.")
    if len(lines) > 4:
        return [f"The {found.who} has the best test {metric.title} on {won} of {counted(compared, 'target')}."]
    return lines


def _about_baselines(found: MoleculeRun) -> str:
    if "skipped" in found.baselines:
        return f"There are no baselines: {found.baselines['skipped']}."
    if not found.baselines:
        return "There are no baselines: they were not requested."
    words = (
        "Baselines: a random forest on Morgan fingerprints, and scikit-learn's gradient boosting on RDKit's descriptors. Both are "
        "trained on the same training molecules, and not tuned."
    )
    if found.tests is not None:
        tested = counted(len(found.tests.row), "test molecule")
        words += f" The figures are of {tested}; where these are few, small differences may be chance."
    return words


def _best(metric: Metric, values: Sequence[float | None]) -> int | None:
    """The position of the best value; ties keep the first."""
    known = [k for k, value in enumerate(values) if value is not None]
    sign = 1 if metric.lower_is_better else -1
    return min(known, key=lambda k: sign * values[k]) if known else None


def _figure(value: float | None) -> str:
    return "-" if value is None else number(value)


# ---- plots ----------------------------------------------------------------------------------------------------------------------------


def plots(found: MoleculeRun, colour: str) -> list[Figure]:
    """Two plots of each target with test values: predicted and residuals, or ROC and calibration. Of a multiclass target the confusion."""
    if found.kind == "multiclass":
        return predictions.confusion(_counts(found.tests), 1, colour, "molecule", found.classes)
    plotted = min(len(found.targets), MOST_TARGETS)
    made: list[Figure] = []
    for k, target in enumerate(found.targets[:plotted]):
        true, predicted = found.tests.true[:, k], found.tests.predicted[:, k]
        kept = np.isfinite(true) & np.isfinite(predicted)
        true, predicted = true[kept], predicted[kept]
        if len(true) == 0:
            continue
        if found.kind == "binary":
            made.append(predictions.roc([(predicted, true)], colour, f"roc-{k}", target))
            made.append(predictions.calibration(k, target, true, predicted, colour))
        else:
            most, interval = predictions.POINTS // plotted, found.figures.get("intervals", {}).get(target, {})
            made.append(predictions.scatter(k, target, counted(len(true), "test molecule"), true, predicted, most, colour))
            made.append(predictions.residuals(k, target, true, predicted, most, colour, interval))
    return made


def class_table(found: MoleculeRun) -> Table | None:
    """Recall and precision of each class of a multiclass target."""
    if found.kind != "multiclass" or found.tests is None:
        return None
    return predictions.class_table(_counts(found.tests), found.classes, "molecules")


def _counts(tests: Tests) -> np.ndarray:
    return predictions.counts([Predictions(np.arange(len(tests.row)), tests.predicted, tests.true)], multiclass=True)


# ---- the molecules furthest off -------------------------------------------------------------------------------------------------------


def _worst(found: MoleculeRun) -> dict[str, Any]:
    """The test molecules whose predictions are furthest off, drawn if RDKit is installed."""
    if found.tests is None:
        return {"worst": []}
    off = _off(found)
    which = off.max(axis=1, initial=-np.inf)
    order = [i for i in np.argsort(-which, kind="stable")[:WORST].tolist() if np.isfinite(which[i])]
    smiles, drawn = [found.tests.smiles[i] for i in order], True
    try:
        drawings = list(map(_drawing, smiles))
    except ImportError:
        drawings, drawn = [Markup("")] * len(order), False
    worst = [
        {
            "drawing": drawing,
            "text": _text(found, i, int(off[i].argmax())),
            "row": found.tests.row[i],
            "smiles": text if len(text) <= _LONGEST else text[:_LONGEST] + "…",
        }
        for i, text, drawing in zip(order, smiles, drawings, strict=True)
    ]
    return {"worst": worst, "drawn": drawn, "measure": _measure(found)}


def _off(found: MoleculeRun) -> np.ndarray:
    """The error of each prediction (molecules, targets), comparable between targets; -inf where a value is missing."""
    true, predicted = found.tests.true, found.tests.predicted
    if found.kind == "multiclass":
        return 1 - predicted[np.arange(len(true)), true[:, 0].astype(np.int64)][:, None]
    off = np.abs(predicted - true)
    if found.kind == "regression":
        known = np.isfinite(off)
        spread = [float(column[rows].std()) if rows.any() else 0.0 for column, rows in zip(true.T, known.T, strict=True)]
        off = off / np.array([s or 1.0 for s in spread])
    return np.where(np.isfinite(off), off, -np.inf)


def _measure(found: MoleculeRun) -> str:
    """The measure by which predictions are the worst."""
    if found.kind == "multiclass":
        return "By the probability of the true class."
    if len(found.targets) == 1:
        return "By |predicted - true|."
    if found.kind == "binary":
        return "By |predicted - true| of the target that is furthest off."
    return "By |predicted - true| of the target that is furthest off, in standard deviations of that target."


def _text(found: MoleculeRun, i: int, target: int) -> str:
    tests = found.tests
    if found.kind == "multiclass":
        true, predicted = int(tests.true[i, 0]), int(tests.predicted[i].argmax())
        share = number(float(tests.predicted[i, true]))
        said = f"true {found.classes[true]}, predicted {found.classes[predicted]}; probability of the true class {share}"
    else:
        true, predicted = float(tests.true[i, target]), float(tests.predicted[i, target])
        said = f"true {f'{true:g}' if found.kind == 'binary' else number(true)}, predicted {number(predicted)}"
    return f"{found.targets[target]}: {said}"


def _drawing(smiles: str) -> Markup:
    """An SVG element, or a line with the reason that there is none."""
    chem = rdkit()
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    with rdBase.BlockLogs():
        mol = chem.MolFromSmiles(smiles)
        if mol is None or mol.GetNumAtoms() > MOST_ATOMS:
            why = "RDKit refuses the SMILES" if mol is None else f"{mol.GetNumAtoms()} atoms are too many to draw"
            return tag("p", f"Not drawn: {why}.", class_="soft")
        drawer = rdMolDraw2D.MolDraw2DSVG(*_DRAWING)
        options: Any = drawer.drawOptions()
        options.fixedBondLength = _BOND
        try:
            rdMolDraw2D.PrepareAndDrawMolecule(drawer, mol)
            drawer.FinishDrawing()
        except (RuntimeError, ValueError) as error:
            return tag("p", f"Not drawn: {error}.", class_="soft")
    return _rebuilt(drawer.GetDrawingText(), smiles)


def _rebuilt(svg: str, title: str) -> Markup:
    """The shapes of RDKit's SVG in an element of ours: without its declaration, namespaces and comments, and with every text escaped."""
    root = ElementTree.fromstring(svg.encode("iso-8859-1") if "iso-8859-1" in svg[:80] else svg)
    shapes = []
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        if name in _DRAWN:
            given = {key: value for key, value in element.attrib.items() if key in _KEPT}
            shapes.append(tag(name, *([element.text] if element.text and name == "text" else []), **given))
    width, height = _DRAWING
    size = {"viewBox": f"0 0 {width} {height}", "xmlns": "http://www.w3.org/2000/svg", "role": "img"}
    return tag("svg", tag("title", title), *shapes, **size)
