"""Learning rates over the epochs. A schedule is a frozen setting; what it remembers of a run is a small dict, one for each seed.

``rates(lr, memory, epoch, epochs, steps)`` gives the rate of every step of an epoch, and ``observe(memory, error)`` tells the
plateau how validation went (lower is better). Memories are plain JSON, so that a checkpoint holds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from ..fields import check_fields, check_keys, limited
from .errors import SettingsError

Memory = dict[str, float]


@dataclass(frozen=True)
class Constant:
    """One rate throughout."""

    kind: ClassVar[str] = "constant"
    follows_epochs: ClassVar[bool] = False
    """Whether the rate of an epoch depends on how many there will be."""

    def __post_init__(self) -> None:
        check_fields(self, "train.schedule.", SettingsError)

    def start(self) -> Memory:
        """What a new run remembers."""
        return {}

    def rates(self, lr: float, memory: Memory, epoch: int, epochs: int, steps: int) -> list[float]:
        """The rate of each step of an epoch, epochs counted from 0."""
        return [lr] * steps

    def observe(self, memory: Memory, error: float) -> None:
        """After a validation."""


@dataclass(frozen=True)
class Plateau(Constant):
    """Times ``factor`` after ``patience`` validations without progress, which is an error below ``1 - threshold`` of the best; not below
    ``min_lr``. PyTorch's ``ReduceLROnPlateau`` waits for one validation more: its patience 30 is 31 here.

    >>> plateau, memory = Plateau(patience=2), Plateau().start()
    >>> for error in (1.0, 1.0, 1.0, 0.5):
    ...     plateau.observe(memory, error)
    >>> plateau.rates(1e-3, memory, 4, 10, 1)
    [0.0005]
    """

    kind: ClassVar[str] = "plateau"
    factor: float = limited(0.5, least=0, most=1)
    patience: int = limited(25, least=1)
    min_lr: float = limited(1e-5, least=0)
    threshold: float = limited(1e-4, least=0)

    def start(self) -> Memory:
        return {"best": math.inf, "waited": 0, "cuts": 0}

    def rates(self, lr: float, memory: Memory, epoch: int, epochs: int, steps: int) -> list[float]:
        return [max(lr * self.factor ** memory["cuts"], min(self.min_lr, lr))] * steps

    def observe(self, memory: Memory, error: float) -> None:
        if error < memory["best"] * (1 - self.threshold) or not math.isfinite(memory["best"]):
            memory.update(best=error, waited=0)
            return
        memory["waited"] += 1
        if memory["waited"] >= self.patience:
            memory["cuts"] += 1
            memory["waited"] = 0


@dataclass(frozen=True)
class StepDecay(Constant):
    """Times ``gamma`` each ``every`` epochs.

    >>> StepDecay(gamma=0.5, every=10).rates(1.0, {}, 25, 100, 1)
    [0.25]
    """

    kind: ClassVar[str] = "step"
    gamma: float = limited(0.7, least=0, most=1)
    every: int = limited(25, least=1)

    def rates(self, lr: float, memory: Memory, epoch: int, epochs: int, steps: int) -> list[float]:
        return [lr * self.gamma ** (epoch // self.every)] * steps


@dataclass(frozen=True)
class Cosine(Constant):
    """Up in a straight line over ``warmup`` epochs, at most half of the run, then down to ``min_lr`` along half a cosine, step by step.

    >>> [round(rate, 2) for epoch in range(4) for rate in Cosine(warmup=1).rates(1.0, {}, epoch, 4, 2)]
    [0.5, 1.0, 1.0, 0.93, 0.75, 0.5, 0.25, 0.07]
    """

    kind: ClassVar[str] = "cosine"
    follows_epochs: ClassVar[bool] = True
    warmup: float = limited(0.0, least=0)
    min_lr: float = limited(0.0, least=0)

    def rates(self, lr: float, memory: Memory, epoch: int, epochs: int, steps: int) -> list[float]:
        warm, total, floor = min(self.warmup, epochs / 2) * steps, epochs * steps, min(self.min_lr, lr)

        def rate(step: int) -> float:
            if step < warm:
                return lr * min(1.0, (step + 1) / warm)
            done = (step - warm) / max(1.0, total - warm)
            return floor + (lr - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))

        return [rate(epoch * steps + k) for k in range(steps)]


Schedule = Constant | Plateau | StepDecay | Cosine
_KINDS: dict[str, type[Constant]] = {cls.kind: cls for cls in (Constant, Plateau, StepDecay, Cosine)}


def schedule_to_dict(schedule: Schedule) -> dict[str, Any]:
    """As plain values.

    >>> schedule_to_dict(StepDecay())
    {'kind': 'step', 'gamma': 0.7, 'every': 25}
    """
    return {"kind": schedule.kind} | asdict(schedule)


def schedule_from_dict(values: Any) -> Schedule:
    """From a kind, or a table with a kind and its settings."""
    if isinstance(values, Constant):
        return values
    given = {"kind": values} if isinstance(values, str) else values
    kind = given.get("kind") if isinstance(given, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise SettingsError(f"train.schedule must be one of {', '.join(_KINDS)}, or a table whose kind is; found {values!r}")
    options = {name: value for name, value in given.items() if name != "kind"}
    check_keys(options, _KINDS[kind], "train.schedule.", error=SettingsError)
    return _KINDS[kind](**options)
