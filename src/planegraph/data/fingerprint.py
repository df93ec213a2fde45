"""What a batch was made with: the format version and the labels that broke ties, as one short string.

A model compares it with what it reads: if it reads ``x``, then ``x`` must have been among the labels, or its walks are not canonical.
A string, because PyG batches, safetensors metadata and JSON all carry strings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import FormatError

VERSION = 1
"""Version of the tables and of the file format; a reader refuses every other."""

_PATTERN = re.compile(r"planegraph-packed/(\d+);nodes=([^;]*);edges=([^;]*)")


class Fingerprint(NamedTuple):
    """The parts of a fingerprint."""

    version: int
    node_labels: tuple[str, ...]
    edge_labels: tuple[str, ...]


def fingerprint(node_labels: Sequence[str], edge_labels: Sequence[str]) -> str:
    """The fingerprint of this version with these labels.

    >>> fingerprint(["x"], ["edge_attr"])
    'planegraph-packed/1;nodes=x;edges=edge_attr'
    """
    for name in (*node_labels, *edge_labels):
        if set(name) & set(",;"):
            raise ValueError(f"the name of a label must not contain a comma or a semicolon; found {name!r}")
    return f"planegraph-packed/{VERSION};nodes={','.join(node_labels)};edges={','.join(edge_labels)}"


def parse_fingerprint(text: str) -> Fingerprint:
    """The parts of a fingerprint, or FormatError.

    >>> parse_fingerprint('planegraph-packed/1;nodes=x;edges=')
    Fingerprint(version=1, node_labels=('x',), edge_labels=())
    """
    match = _PATTERN.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise FormatError(f"{text!r} is not the fingerprint of a packed dataset")
    version, nodes, edges = match.groups()
    return Fingerprint(int(version), _names(nodes), _names(edges))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()
