"""The parts of a page for a run on a table of molecules: figures beside those of the baselines, plots by target, the worst molecules.

Reads ``molecules.json``, ``predictions.csv`` and the run's result. Everything shown is of the ensemble, the mean of the run's models.
Column names and SMILES come from a stranger's file: they reach the page through :func:`tag` only, which escapes them, and RDKit's
drawings are rebuilt element by element. The plots themselves are in molecule_plots.py.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..errors import FormatError, MissingDependencyError
from ..graphs.formats.molecules import rdkit
from ..io.checksums import read_json
from ..runs.finished import PREDICTIONS, SCHEMA
from ..runs.folder import Predictions, Run, damage_named
from ..tasks.metrics import Metric, metrics_of
from .confusion import by_class, confusion, counts
from .markup import Markup, join, tag
from .molecule_plots import calibration, residuals, roc_of_target, scatter
from .page import table
from .plot import COLOURS, Figure
from .texts import number, several
from .thin import thin_scatter

WORST = 12
MOST_TARGETS = 12
"""Plots are shown for so many targets, the first ones."""
MOST_ATOMS = 150
"""Larger molecules are not drawn: nobody could read them."""
POINTS = 3000
"""In all plots of a run together, but at least 300 in each."""

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
    """What the page needs beside the run: ``figures`` is the result's ``ensemble``; ``tests`` is None without ``predictions.csv``."""

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


def read_molecules(run: Run) -> MoleculeRun | None:
    """None if the run is not on a table of molecules, or not finished."""
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
            head, *rows = csv.reader(file)
        except csv.Error as error:
            raise FormatError(f"{path} is damaged: {error}") from None
        place = {name: k for k, name in enumerate(head)}
        rows = [row for row in rows if row[place["part"]] == "test"]
        true = [[row[place[f"true_{name}"]] for name in targets] for row in rows]
        true = [[classes.index(cell) for cell in cells] for cells in true] if classes else _numbers(true)
        outputs = [f"probability_{name}" for name in classes] or [f"predicted_{name}" for name in targets]
        predicted = _numbers([[row[place[name]] for name in outputs] for row in rows])
        return Tests(
            [row[place["row"]] for row in rows],
            [row[place["smiles"]] for row in rows],
            np.array(true, np.float64).reshape(len(rows), len(targets)),
            predicted.reshape(len(rows), len(outputs)),
        )


def _numbers(rows: Sequence[Sequence[str]]) -> np.ndarray:
    return np.array([[float(cell) if cell else np.nan for cell in cells] for cells in rows], np.float64)


# ---- figures beside the baselines -----------------------------------------------------------------------------------------------------


def figures_part(found: MoleculeRun) -> Markup:
    """All metrics by target, of the ensemble and the baselines, the best test figure of each in bold; and which method is best."""
    baselines = {} if "skipped" in found.baselines else found.baselines
    metrics = metrics_of(found.kind)
    rows = []
    for target in found.targets:
        for name, metric in metrics.items():
            tested = [of[target][name] for of in (found.figures["test"], *baselines.values())]
            best = _best(metric, tested)
            cells = [tag("strong", _figure(v)) if k == best and len(tested) > 1 else _figure(v) for k, v in enumerate(tested)]
            rows.append((target, metric.title, _figure(found.figures["val"][target][name]), *cells))
    head = ("target", "metric", f"{found.who}, validation", f"{found.who}, test", *(f"{name}, test" for name in baselines))
    made = table(head, rows, words=2)
    if len(found.targets) > MOST_TARGETS:
        made = tag("details", tag("summary", f"All metrics of {len(found.targets):,} targets"), made)
    return join(*(tag("p", line) for line in _verdict(found, baselines)), made, _about_baselines(found))


def _verdict(found: MoleculeRun, baselines: Mapping[str, Any]) -> list[str]:
    """Whether the model is better than the baselines in the run's metric: by target, or, of many targets, on how many."""
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
        return [f"The {found.who} has the best test {metric.title} on {won} of {several(compared, 'target')}."]
    return lines


def _about_baselines(found: MoleculeRun) -> Markup:
    if "skipped" in found.baselines:
        words = f"There are no baselines: {found.baselines['skipped']}."
    elif not found.baselines:
        words = "There are no baselines: they were not asked for."
    else:
        words = (
            "Baselines: a random forest on Morgan fingerprints, and scikit-learn's gradient boosting on RDKit's descriptors. Both are "
            "trained on the same training molecules, and not tuned."
        )
        if found.tests is not None:
            tested = several(len(found.tests.row), "test molecule")
            words += f" The figures are of {tested}; where these are few, small differences may be chance."
    return tag("p", words, class_="soft")


def _best(metric: Metric, values: Sequence[float | None]) -> int | None:
    """The position of the best value; the first of equals."""
    known = [k for k, value in enumerate(values) if value is not None]
    sign = 1 if metric.lower_is_better else -1
    return min(known, key=lambda k: sign * values[k]) if known else None


def _figure(value: float | None) -> str:
    return "-" if value is None else number(value)


# ---- plots ----------------------------------------------------------------------------------------------------------------------------


def molecule_figures(run: Run, found: MoleculeRun, colour: str = COLOURS[0]) -> list[Figure]:
    """Two plots of each target with test values: predicted and residuals, or ROC and calibration. Of a multiclass target the confusion."""
    if found.tests is None:
        return []
    if found.kind == "multiclass":
        return [_with_classes(figure, found.classes) for figure in confusion(_as_trial(run, found.tests), colour)]
    plotted = min(len(found.targets), MOST_TARGETS)
    made: list[Figure] = []
    for k, target in enumerate(found.targets[:plotted]):
        true, predicted = found.tests.true[:, k], found.tests.predicted[:, k]
        kept = np.isfinite(true) & np.isfinite(predicted)
        true, predicted = true[kept], predicted[kept]
        if len(true) == 0:
            continue
        if found.kind == "binary":
            made += [roc_of_target(run, k, target, true, predicted, colour), calibration(k, target, true, predicted, colour)]
        else:
            shown = thin_scatter(true, predicted, max(300, POINTS // plotted))
            made.append(scatter(k, target, true, predicted, shown, colour))
            interval = found.figures.get("intervals", {}).get(target, {})
            made.append(residuals(k, target, true, predicted, shown, colour, interval, interval.get("coverage")))
    return made


def plots_note(found: MoleculeRun) -> Markup | None:
    """Which targets are plotted, if not all are."""
    many = len(found.targets)
    return tag("p", f"The first {MOST_TARGETS} of {many:,} targets are plotted.", class_="soft") if many > MOST_TARGETS else None


def molecule_classes(run: Run, found: MoleculeRun) -> Markup | None:
    """Recall and precision of each class of a multiclass target, by the text of the classes."""
    if found.kind != "multiclass" or found.tests is None:
        return None
    rows = [(found.classes[k], *cells[1:]) for k, cells in enumerate(by_class(counts(_as_trial(run, found.tests))))]
    made = table(("class", "molecules", "found", "recall", "precision"), rows)
    return tag("details", tag("summary", "By class"), made, open="open")


def _as_trial(run: Run, tests: Tests) -> Run:
    """The run as if the ensemble were its only trial."""
    true = tests.true[:, 0].astype(np.int64)
    return replace(run, tests={"ensemble": Predictions(np.arange(len(true)), tests.predicted, true)})


def _with_classes(figure: Figure, classes: Sequence[str]) -> Figure:
    caption = figure.caption.replace("graph", "molecule")
    if list(classes) != [str(k) for k in range(len(classes))]:
        caption += " Classes: " + ", ".join(f"{k} is {name}" for k, name in enumerate(classes)) + "."
    return replace(figure, caption=caption)


# ---- the worst molecules --------------------------------------------------------------------------------------------------------------


def worst_part(found: MoleculeRun) -> Markup | None:
    """The test molecules whose predictions are furthest off, drawn."""
    if found.tests is None:
        return None
    off = _off(found)
    which = off.max(axis=1, initial=-np.inf)
    order = [i for i in np.argsort(-which, kind="stable")[:WORST].tolist() if np.isfinite(which[i])]
    if not order:
        return None
    try:
        drawings: list[Markup] = [_drawing(found.tests.smiles[i]) for i in order]
        note = None
    except (MissingDependencyError, ImportError):
        drawings, note = [Markup("")] * len(order), tag("p", "The molecules are not drawn: RDKit is not installed.", class_="note")
    shown = [
        tag("figure", drawing, tag("figcaption", *_words(found, i, int(off[i].argmax())), style="overflow-wrap:anywhere"))
        for drawing, i in zip(drawings, order, strict=True)
    ]
    columns = "grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr))"
    return join(tag("p", _measure(found), class_="soft"), note, tag("div", *shown, class_="figures", style=columns))


def _off(found: MoleculeRun) -> np.ndarray:
    """How far off each prediction is (molecules, targets), comparable between targets; -inf where a value is missing."""
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
    """By what they are the worst."""
    if found.kind == "multiclass":
        return "By the probability of the true class."
    if len(found.targets) == 1:
        return "By |predicted - true|."
    if found.kind == "binary":
        return "By |predicted - true| of the target that is furthest off."
    return "By |predicted - true| of the target that is furthest off, in standard deviations of that target."


def _words(found: MoleculeRun, i: int, target: int) -> list[object]:
    tests = found.tests
    if found.kind == "multiclass":
        true, predicted = int(tests.true[i, 0]), int(tests.predicted[i].argmax())
        share = number(float(tests.predicted[i, true]))
        values = f"true {found.classes[true]}, predicted {found.classes[predicted]}; probability of the true class {share}"
    else:
        true, predicted = float(tests.true[i, target]), float(tests.predicted[i, target])
        values = f"true {f'{true:g}' if found.kind == 'binary' else number(true)}, predicted {number(predicted)}"
    smiles = tests.smiles[i]
    short = smiles if len(smiles) <= _LONGEST else smiles[:_LONGEST] + "…"
    return [tag("strong", f"{found.targets[target]}: {values}"), tag("br"), f"row {tests.row[i]}", tag("br"), tag("code", short)]


def _drawing(smiles: str) -> Markup:
    """An SVG element, or a line that says why there is none."""
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
