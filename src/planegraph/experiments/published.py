"""Published figures and the bars to reach here: ``configs/tables.yaml``, typed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..runs.settings import read_yaml
from .configs import TABLES_FILE

Direction = Literal["lower", "higher"]


@dataclass(frozen=True)
class Published:
    """One row of a table.

    Args:
        name: of the config and of the record.
        row: as the paper calls it.
        paper, std: the paper's figure and its standard deviation; None if it has none.
        bar: the figure to reach, in the table's direction; None for a row that is there for comparison.
        exactly: the bar must be met to one decimal, as GIN must fail where theory says so.
        repeats: the number of seeds or folds in the mean.
        parameters: the most that the bar allows.
        only: part of the device's name without which the bar says nothing.
        scale: the divisor of the record's error.
    """

    name: str
    row: str
    paper: float | None = None
    std: float | None = None
    bar: float | None = None
    exactly: bool = False
    repeats: int = 1
    parameters: int | None = None
    only: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Table:
    """A task: its rows, how they are judged, and the figures of other models.

    Args:
        name: as in ``planegraph reproduce NAME``.
        value: the figure of a record that is judged: the test figure, or the seconds of the run.
        factor: multiplies the record's figure before it is compared; 100 for percent.
        others: figures of other models as the paper or its successors report them.
        best: the row that must have the best figure of the table, which counts as one more bar.
        tested: test graphs of the task, or of each of its folds; 0: any number.
        notes: caveats for readers who compare.
    """

    name: str
    title: str
    figure: str
    better: Direction
    source: str
    rows: tuple[Published, ...] = ()
    value: Literal["test", "seconds"] = "test"
    factor: float = 1.0
    others: dict[str, str] = field(default_factory=dict)
    best: str = ""
    tested: int = 0
    notes: str = ""


@dataclass(frozen=True)
class Measured:
    """A table that ``python benchmarks/measured.py NAME`` measures. One record of this name holds its rows, as they are shown.

    Args:
        key, value: the columns with the name of a row and with the figure that is judged.
        bars: the figures to reach, by the name of the row.
    """

    name: str
    title: str
    key: str
    value: str
    better: Direction
    bars: dict[str, float]
    notes: str


_FOUND = read_yaml(TABLES_FILE)
TABLES = tuple(Table(**table | {"rows": tuple(Published(**row) for row in table["rows"])}) for table in _FOUND["trained"])
MEASURES = tuple(Measured(**table) for table in _FOUND["measured"])
ROW_NAMES = tuple(row.name for table in TABLES for row in table.rows)
MEASURE_NAMES = tuple(measure.name for measure in MEASURES)
TABLE_NAMES = tuple(table.name for table in TABLES)


def config_names_of(name: str) -> list[str]:
    """The configs of a table, in its order."""
    return [row.name for table in TABLES if table.name == name for row in table.rows]
