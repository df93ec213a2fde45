"""What was published, what the field reaches, and what must be reached here: plain data, a table for each task.

The figures, their standard deviations and the setups are those of the PlanE paper (Dimitrov, Zhao, Abboud, Ceylan, NeurIPS 2023), of the
tables named in ``source``; the bars are this project's own. Accuracies and ROC-AUC are in percent. A row's name is that of its config
``configs/<name>.yaml`` and of its record ``records/<name>/``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..datasets.qm9 import TARGETS

Direction = Literal["lower", "higher"]


@dataclass(frozen=True)
class Published:
    """One row of a table.

    Args:
        name: of the config and of the record.
        row: as the paper calls it.
        paper, std: the paper's figure and its standard deviation; None if it has none.
        bar: what must be reached, in the table's direction; None: nothing, it is there for comparison.
        exactly: the bar is to have this figure, to one decimal, as GIN must fail where theory says so.
        repeats: seeds or folds that the figure is the mean of.
        only: part of the device's name without which the bar says nothing.
        scale: what the record's error must have been divided by.
    """

    name: str
    row: str
    paper: float | None = None
    std: float | None = None
    bar: float | None = None
    exactly: bool = False
    repeats: int = 1
    only: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Table:
    """A task: how it is judged, its rows, and the figures of others.

    Args:
        name: as in ``planegraph reproduce NAME``.
        value: which figure of a record it is about: the test figure, or the seconds of the run.
        factor: what the record's figure is multiplied by to be shown; 100 for percent.
        others: figures of other models as the paper or its successors report them.
        ordered: whether the rows' figures must come in the paper's order.
        tested: test graphs of the task, or of each of its folds; 0: any number.
        notes: what a reader should know before comparing.
    """

    name: str
    title: str
    figure: str
    better: Direction
    source: str
    rows: tuple[Published, ...] = ()
    value: Literal["test", "seconds"] = "test"
    factor: float = 1.0
    digits: int = 4
    others: dict[str, str] = field(default_factory=dict)
    ordered: bool = False
    tested: int = 0
    notes: str = ""


_QM9 = {  # paper and its deviation; R-SPN with k = 5 and k = 10
    "mu": (1.97, 0.03, "2.16", "2.21"),
    "alpha": (1.63, 0.01, "1.74", "1.66"),
    "HOMO": (1.15, 0.01, "1.19", "1.20"),
    "LUMO": (1.06, 0.02, "1.13", "1.20"),
    "gap": (1.73, 0.02, "1.76", "1.77"),
    "R2": (10.53, 0.55, "10.59", "10.63"),
    "ZPVE": (2.81, 0.16, "3.16", "2.58"),
    "U0": (0.95, 0.04, "1.10", "0.89"),
    "U": (0.94, 0.04, "1.09", "0.93"),
    "H": (0.92, 0.04, "1.10", "0.92"),
    "G": (0.88, 0.04, "1.04", "0.83"),
    "Cv": (1.20, 0.06, "1.34", "1.23"),
    "Omega": (0.45, 0.01, "0.53", "0.52"),
}

TABLES: tuple[Table, ...] = (
    Table(
        "p3r",
        "P3R: nine cubic planar graphs on 10 nodes",
        "accuracy, %",
        "higher",
        "tab:p3r",
        (
            Published("p3r-baseplane", "BasePlanE", 100.0, 0.0, bar=100.0, repeats=10),
            Published("p3r-gin", "GIN", 11.1, 0.0, bar=11.1, exactly=True, repeats=10),
        ),
        factor=100,
        digits=1,
        others={"PPGN": "100"},
        tested=45,
    ),
    Table(
        "exp",
        "EXP: 600 planar pairs that 1-WL cannot distinguish",
        "accuracy, %",
        "higher",
        "tab:exp",
        (
            Published("exp-baseplane", "BasePlanE", 100.0, 0.0, bar=100.0, repeats=10),
            Published("exp-gcn", "GCN", 50.0, 0.0, repeats=10),
            Published("exp-gin", "GIN", repeats=10),
        ),
        factor=100,
        digits=1,
        others={"3-GCN": "99.7", "GCN-RNI(N)": "98.0"},
        tested=120,
    ),
    Table(
        "qm9_cc",
        "QM9_CC: clustering coefficients",
        "MAE",
        "lower",
        "tab:cc_exp",
        (
            Published("qm9_cc-baseplane", "BasePlanE", 0.0023, 0.0004, bar=0.0019, repeats=5),
            Published("qm9_cc-gin", "GIN", 0.0612, 0.0018, repeats=5),
            Published("qm9_cc-gcn", "GCN", 0.1275, 0.0012, repeats=5),
        ),
        others={"ESAN": "0.0038", "best constant": "0.1627"},
        tested=3921,
    ),
    Table(
        "zinc12k",
        "ZINC-12k: constrained solubility",
        "MAE",
        "lower",
        "tab:zinc",
        (
            Published("zinc12k-baseplane", "BasePlanE, no edge features", 0.124, 0.004, bar=0.115, repeats=10),
            Published("zinc12k-gin", "GIN, no edge features", 0.387, 0.015, repeats=10),
            Published("zinc12k-edges-baseplane", "E-BasePlanE", 0.076, 0.003, bar=0.070, repeats=10),
            Published("zinc12k-edges-gine", "GINE", 0.252, 0.014, repeats=10),
        ),
        others={
            "no edge features": "CIN 0.115, GSN 0.140",
            "edge features": "CIN 0.079, GSN 0.101, HIMP 0.151; later: CoSp-PPGN 0.050, GRIT and N2-GNN 0.059, GNN+ 0.065, GPS 0.070, "
            "CIN++ 0.074 to 0.077",
        },
        tested=1000,
        notes="The paper's BasePlanE has three layers of width 64 or 128. Ours has six of width 48 or 64, and a layer adds what the "
        "paper's equations give to its input (residual). What three layers of width 128 without that reach with edge features stands "
        "below, beside the time of ten seeds.",
    ),
    Table(
        "ablation",
        "Ablation on ZINC-12k with edge features",
        "MAE",
        "lower",
        "tab:plane-ablation-zinc",
        (
            Published("ablation-full", "full", 0.076, 0.003, bar=0.076, repeats=10),
            Published("ablation-no-readout", "no readout", 0.079, 0.002, bar=0.079, repeats=10),
            Published("ablation-no-cutenc", "no CutEnc", 0.079, 0.003, bar=0.079, repeats=10),
            Published("ablation-no-neighbours", "no neighbours", 0.099, 0.004, bar=0.099, repeats=10),
            Published("ablation-only-bienc", "only BiEnc", 0.097, 0.002, bar=0.097, repeats=10),
            Published("ablation-only-trienc", "only TriEnc", 0.092, 0.003, bar=0.092, repeats=10),
        ),
        ordered=True,
        tested=1000,
        notes="Six residual layers, which the paper does not have. All rows by the recipe of ZINC-12k with edge features above, over 300 "
        "epochs instead of 1,300.",
    ),
    Table(
        "molhiv",
        "MolHIV: inhibition of HIV",
        "ROC-AUC, %",
        "higher",
        "tab:mol",
        (
            Published("molhiv-baseplane", "E-BasePlanE", 80.04, 0.50, bar=80.0, repeats=10),
            Published("molhiv-gine", "GINE (the paper: GIN)", 77.07, 1.40, repeats=10),
        ),
        factor=100,
        digits=2,
        others={"CIN": "80.94", "GSN": "80.39"},
        tested=4113,
        notes="The readout has means over a graph's nodes instead of the paper's sums (pooling), so graphs that differ in how often "
        "they repeat a part may look alike to it.",
    ),
    Table(
        "qm9",
        "QM9: 13 properties",
        "MAE over the target's factor",
        "lower",
        "tab:qm9_8l",
        tuple(
            Published(f"qm9-{target}", target, v[0], v[1], bar=v[0], repeats=5, scale=TARGETS[target]) for target, v in _QM9.items()
        ),
        digits=3,
        tested=10_000,
        notes="Three layers of width 128, as in the paper, but residual, as for ZINC-12k.",
        others={
            "R-SPN, k = 5": ", ".join(f"{t} {v[2]}" for t, v in _QM9.items()),
            "R-SPN, k = 10": ", ".join(f"{t} {v[3]}" for t, v in _QM9.items()),
        },
    ),
    Table(
        "zincfull",
        "ZINC-full: constrained solubility",
        "MAE",
        "lower",
        "tab:zinc",
        (Published("zincfull-baseplane", "E-BasePlanE", 0.028, 0.002, bar=0.025, repeats=10),),
        others={"CIN": "0.022", "HIMP": "0.036"},
        tested=5000,
        notes="Six residual layers, as for ZINC-12k; the paper has three of width 128.",
    ),
    Table(
        "time",
        "Training time: ZINC-12k with edge features, width 128, 500 epochs",
        "seconds",
        "lower",
        "tab:compute",
        (
            Published("time-one-seed", "one seed", 8 * 3600.0, bar=300.0, only="H200"),
            Published("time-ten-seeds", "ten seeds together", bar=900.0, repeats=10, only="H200"),
        ),
        value="seconds",
        digits=0,
        tested=1000,
        notes="The paper's 8 hours are for one run on 4 CPU cores. Both rows have the same model and epochs, but the ten seeds dropout 0.1 "
        "and the one seed none.",
    ),
)
"""The tables whose rows are trained."""


@dataclass(frozen=True)
class Measured:
    """A table that is measured, by a function of this package, and has one record of the same name."""

    name: str
    title: str
    notes: str


MEASURES: tuple[Measured, ...] = (
    Measured(
        "tiger",
        "TIGER-Alaska: running time",
        "One layer, width 32; preprocessing is from the list of edges to packed arrays (decomposition, walks, packing), on one core. The "
        "paper: 2k 9.8 s and 0.1 s an epoch, 10k 50 s and 0.33 s, 93k 3.7 h and 2.2 s; PPGN and ESAN are out of memory at 10k.",
    ),
    Measured(
        "expressiveness",
        "Expressiveness: untrained models in float64",
        "Two graphs are distinguished if |a - b| / max(|a|, |b|) of their embeddings exceeds 1e-8; rounding makes differences of 1e-15. "
        "Of these only EXP is in the paper.",
    ),
)

TIGER_BAR = 0.05
"""Seconds of preprocessing for the 25k graph."""

ALL_PLANAR = "all connected planar graphs of up to {} nodes"
"""The name of that set."""

EXPRESSIVENESS_BAR = {
    "EXP": 600,
    "CEXP, planar pairs": 467,
    "BREC, planar pairs": 31,
    ALL_PLANAR.format(9): 78634 * 78633 // 2,
}
"""Pairs of each set that must be distinguished."""

ROW_NAMES = tuple(row.name for table in TABLES for row in table.rows)
MEASURE_NAMES = tuple(measure.name for measure in MEASURES)
TABLE_NAMES = (*(table.name for table in TABLES), *MEASURE_NAMES)


def config_names_of(name: str) -> list[str]:
    """The configs of a table, in its order; none for what is measured."""
    return [row.name for table in TABLES if table.name == name for row in table.rows]
