"""The errors of the package. All are ``PlanegraphError``; those about input are ``ValueError`` too."""

from __future__ import annotations

import numpy as np

from .kuratowski import KuratowskiWitness


class PlanegraphError(Exception):
    """The family of all errors that planegraph raises on purpose."""


class PlanegraphWarning(RuntimeWarning):
    """A non-fatal problem; each of several processes finds it by itself."""


class InvalidGraphError(PlanegraphError, ValueError):
    """The input is not a simple undirected graph with well-formed labels.

    The message says what is wrong, where, and what was found. ``graph_index`` is the position in the batch, if one is meant.
    """

    def __init__(self, message: str, graph_index: int | None = None) -> None:
        super().__init__(message)
        self.graph_index = graph_index


class NotPlanarError(PlanegraphError, ValueError):
    """The graph is not planar.

    ``witness`` holds the edges, as rows (u, v), of a subgraph that is a subdivision of K5 or K3,3, with its structure
    (:class:`planegraph.KuratowskiWitness`); ``graph_index`` is the position in the batch.

    >>> import planegraph as pg
    >>> try:
    ...     pg.decompose(pg.families.complete(5))
    ... except pg.NotPlanarError as error:
    ...     print(error.witness.kind, len(error.witness), "edges")
    K5 10 edges
    """

    def __init__(self, message: str, witness: np.ndarray | None = None, graph_index: int | None = None) -> None:
        super().__init__(message)
        self.witness = KuratowskiWitness.of(np.empty((0, 2), np.int64) if witness is None else witness)
        self.graph_index = graph_index


class InvalidEmbeddingError(PlanegraphError, ValueError):
    """Cyclic orders or positions that are not those of a drawing in the plane.

    The message says what is wrong and where. ``edges`` holds the edges, as rows (u, v), that cross or that meet a node, if that is it.
    """

    def __init__(self, message: str, edges: np.ndarray | None = None) -> None:
        super().__init__(message)
        self.edges = np.empty((0, 2), np.int64) if edges is None else edges


class FormatError(PlanegraphError, ValueError):
    """Something is not in the format it should be: a text or byte string (graph6, SMILES, canonical code, edge list), a packed
    dataset or its file, a saved model."""


class MissingDependencyError(PlanegraphError, ImportError):
    """An optional package is needed and not installed; the message says how to install it."""


class WorkerError(PlanegraphError, RuntimeError):
    """A worker process ended before its work was done, for example because the system ran out of memory and killed it."""


def require(condition: object, message: str) -> None:
    """Raises :class:`FormatError` unless the condition holds."""
    if not condition:
        raise FormatError(message)
