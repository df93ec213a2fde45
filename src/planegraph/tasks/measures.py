"""How answers are judged: what each kind of task may be trained on and report, and what scales its figure."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ..errors import PlanegraphError
from .metrics import METRICS

if TYPE_CHECKING:
    from .task import Task


class Measures(NamedTuple):
    """What goes with a kind, by the fields of a task."""

    loss: tuple[str, ...]
    metric: tuple[str, ...]
    output: tuple[str, ...]


KINDS = {
    "regression": Measures(("l1", "mse", "rmse"), tuple(METRICS["regression"]), ("identity", "sigmoid")),
    "binary": Measures(("bce",), tuple(METRICS["binary"]), ("identity", "sigmoid")),
    "multiclass": Measures(("ce",), tuple(METRICS["multiclass"]), ("identity",)),
}
"""The kinds of tasks. Cross entropies read the model's output itself: there the output only says what is kept as the prediction."""


def check_measure(task: Task) -> None:
    """PlanegraphError, which names the task, unless loss, metric and output are those of its kind, and there are outputs."""
    if task.kind not in KINDS:
        raise PlanegraphError(f"task {task.name}: kind is one of {', '.join(KINDS)}; found {task.kind!r}")
    for field, known in KINDS[task.kind]._asdict().items():
        found = getattr(task, field)
        if found not in known:
            raise PlanegraphError(f"task {task.name}: with kind={task.kind!r}, {field} is {_either(known)}; found {found!r}")
    if type(task.outputs) is not int or task.outputs < 1:
        raise PlanegraphError(f"task {task.name}: outputs must be a positive integer; found {task.outputs!r}")


def check_scale(task: Task) -> None:
    """PlanegraphError unless the scale is a positive factor, or one for each output or target, of an error."""
    scale = task.scale
    if scale is None:
        return
    if task.metric != "mae":
        raise PlanegraphError(f"task {task.name}: only an mae has a scale; found scale={scale!r} with metric={task.metric!r}")
    what, count = ("outputs", task.outputs) if task.targets is None else ("targets", len(task.targets))
    if isinstance(scale, tuple) and len(scale) != count:
        raise PlanegraphError(f"task {task.name}: {count} {what} need as many scales, or one number for all; found {scale!r}")
    if not all(
        isinstance(factor, int | float) and 0 < factor < inf for factor in (scale if isinstance(scale, tuple) else (scale,))
    ):
        raise PlanegraphError(
            f"task {task.name}: the metric is divided by its scale, a positive int or float or a tuple of them; found {scale!r}"
        )


def _either(names: tuple[str, ...]) -> str:
    """
    >>> _either(("l1", "mse", "rmse"))
    'l1, mse or rmse'
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
