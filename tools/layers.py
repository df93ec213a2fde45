"""Which folder of the package imports which: a folder knows only those before it in ``LAYERS``.

    python tools/layers.py          # each folder with the folders that it imports, and what breaks the rule; exit code 1 if anything does
    python tools/layers.py --dot    # the same as a graph for Graphviz

Imports are read from the source, those inside functions and under TYPE_CHECKING too: what is written down is known.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "planegraph"

LAYERS = (
    "kuratowski",
    "errors",
    "fields",
    "_core",
    "io",
    "processes",
    "workers",
    "graphs",
    "planarity",
    "decomposition",
    "canonical",
    "drawing",
    "networkx_backend",
    "data",
    "transforms",
    "nn",
    "testing",
    "tasks",
    "datasets",
    "runs",
    "report",
    "train",
    "predict",
    "estimators",
    "experiments",
    "cli",
    "__main__",
)
"""Folders and modules of the package, in the order in which data flows. ``planegraph`` itself, which exports names of several, is none."""


def imports(package: Path = PACKAGE) -> Iterator[tuple[str, int, str, str]]:
    """Every import of one layer by another: file, line, the layer that imports and the one that is imported."""
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        if inside == ("__init__",):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in _targets(node, inside):
                if target and target[0] != inside[0]:
                    yield str(path.relative_to(package)), node.lineno, inside[0], target[0]


def _targets(node: ast.AST, inside: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What a statement imports, as a path below the package; nothing for other packages and for ``planegraph`` itself."""
    if isinstance(node, ast.Import):
        names = [alias.name.split(".") for alias in node.names]
        yield from (tuple(name[1:]) for name in names if name[0] == "planegraph")
    elif isinstance(node, ast.ImportFrom):
        module = tuple(node.module.split(".")) if node.module else ()
        if node.level:
            base = inside[: len(inside) - node.level] + module
        elif module[:1] == ("planegraph",):
            base = module[1:]
        else:
            return
        if base:
            yield base
        else:  # from .. import name: a layer, or a name that the package exports
            yield from ((alias.name,) for alias in node.names if alias.name in LAYERS)


def violations(package: Path = PACKAGE) -> list[str]:
    """Imports of a layer by one that is not after it, as ``file:line: layer imports layer``."""
    order = {name: k for k, name in enumerate(LAYERS)}
    unknown = [
        p.stem for p in package.iterdir() if (p.suffix == ".py" or p.is_dir()) and p.stem not in (*order, "__init__", "__pycache__")
    ]
    found = [f"{name} is in no layer; add it to LAYERS" for name in sorted(unknown)]
    for file, line, of, target in imports(package):
        if of in order and order.get(target, -1) >= order[of]:
            found.append(f"{file}:{line}: {of} imports {target}, which comes after it")
    return found


def main() -> int:
    known: dict[str, set[str]] = defaultdict(set)
    for _, _, of, target in imports():
        known[of].add(target)
    dot = "--dot" in sys.argv[1:]
    if dot:
        print("digraph planegraph {\n  rankdir = BT")
    for name in LAYERS:
        below = [layer for layer in LAYERS if layer in known[name]]
        if dot:
            print(*(f'  "{name}" -> "{layer}"' for layer in below), sep="\n")
        else:
            print(f"{name:14} {' '.join(below)}")
    if dot:
        print("}")
    found = violations()
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
