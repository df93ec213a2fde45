"""Settings as frozen dataclasses whose fields say what they may be: a type, and limits in their metadata.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Settings:
...     rate: float | None = limited(0.1, above=0)
>>> check_fields(Settings(rate=-1), "train.")
Traceback (most recent call last):
...
ValueError: train.rate must be a number above 0; found -1
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import field, fields
from numbers import Integral
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints


def limited(default: Any, **limits: float) -> Any:
    """A field with limits: ``least``, ``most``, ``above``, ``below``."""
    return field(default=default, metadata=limits)


def check_fields(settings: Any, prefix: str = "", error: type[Exception] = ValueError) -> None:
    """Raises ``error`` for the first bool, number or literal whose value is not of its type, or not within its limits.

    Integers of numpy become Python's.
    """
    hints = get_type_hints(type(settings))
    for f in fields(settings):
        value, kind = getattr(settings, f.name), hints[f.name]
        kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        if value is None and NoneType in kinds:
            continue
        if get_origin(kind) is Literal:
            good, wanted = value in get_args(kind), f"one of {', '.join(get_args(kind))}"
        elif bool in kinds:
            good, wanted = isinstance(value, bool), "true or false"
        elif int in kinds or float in kinds:
            number: Any = Integral if int in kinds else int | float
            good = isinstance(value, number) and not isinstance(value, bool) and _within(value, **f.metadata)
            wanted = ("an integer" if int in kinds else "a number") + _words(**f.metadata)
        else:
            continue
        if not good:
            raise error(f"{prefix}{f.name} must be {wanted}; found {value!r}")
        if int in kinds and bool not in kinds:
            object.__setattr__(settings, f.name, int(value))


def check_keys(
    given: Iterable[str], cls: type, prefix: str = "", hidden: Collection[str] = (), error: type[Exception] = ValueError
) -> None:
    """Raises ``error`` unless each of the names is a field of the class; ``hidden``: fields that the message leaves out."""
    names = [f.name for f in fields(cls)]
    unknown = sorted(f"{prefix}{name}" for name in given if name not in names)
    if unknown:
        known = ", ".join(prefix + name for name in names if name not in hidden)
        raise error(f"there is no setting {', '.join(unknown)}. Known: {known or 'none'}")


def _within(
    value: float, least: float = -math.inf, most: float = math.inf, above: float = -math.inf, below: float = math.inf
) -> bool:
    """Neither infinite nor NaN; and an integer of 64 bits, with which PyTorch can compute."""
    small = isinstance(value, float) or -(2**63) <= value < 2**63
    return small and least <= value <= most and above < value < below


def _words(**limits: float) -> str:
    if limits.keys() == {"least", "most"}:
        return ", from {least} to {most}".format(**limits)
    words = {"least": ", at least", "most": ", at most", "above": " above", "below": " below"}
    return " and".join(f"{words[name]} {limit}" for name, limit in limits.items()).replace("and,", "and")


def is_count(value: Any) -> bool:
    """Whether it is an integer, Python's or numpy's, and at least 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
