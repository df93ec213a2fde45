"""The style of the views: as it is, with variables, for the page; written out for still pictures, as few programs but browsers know
variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..decomposition.tables import TYPES

STYLE = (Path(__file__).parent / "page" / "views.css").read_text(encoding="utf-8")

NIGHT = "@media screen and (prefers-color-scheme:dark)"

TINTS = 5
"""Of blocks; the same in all views."""


@cache
def still_style() -> str:
    """The style without variables: rules that depend on a part's tint or kind once for each."""
    light = _variables("svg.planegraph{")
    dark = light | _variables(f"{NIGHT}{{svg.planegraph{{")
    plain = re.sub(r"@media[^{]*\{[^{}]*\{[^{}]*\}\}", "", STYLE)
    rules = [rule for found in re.finditer(r"([^{}]+)\{([^{}]*)\}", plain) for rule in _spread(found[1].strip(), found[2])]
    at_night = [(of, body) for of, body in rules if _resolved(body, light) != _resolved(body, dark)]
    night = "".join(f"{of}{{{_resolved(body, dark)}}}\n" for of, body in at_night)
    day = "".join(f"{of}{{{_resolved(body, light)}}}\n" for of, body in rules)
    return f"{day}{NIGHT}{{\n{night}}}"


def _variables(start: str) -> dict[str, str]:
    body = STYLE[STYLE.index(start) + len(start) :].partition("}")[0]
    return dict(re.findall(r"--([\w-]+):([^;]+)", body))


def _spread(of: str, body: str) -> Iterator[tuple[str, str]]:
    """A rule about ``--tint`` for each tint, one about ``--kind`` for each type of SPQR node; other variables stay."""
    body = re.sub(r"--[\w-]+:[^;]+;?", "", body).strip()
    selectors = [one.strip() for one in of.split(",")]
    if "var(--tint)" in body:
        for k in range(TINTS):
            yield ",".join(f"{one}.t{k}" for one in selectors), body.replace("--tint", f"--t{k}")
    elif "var(--kind)" in body:
        for kind in TYPES:
            yield ",".join(f".{kind} {one}" for one in selectors), body.replace("--kind", f"--{kind}")
    elif body:
        yield of, body


def _resolved(body: str, values: dict[str, str]) -> str:
    return re.sub(r"var\(--([\w-]+)\)", lambda found: values[found[1]], body)
