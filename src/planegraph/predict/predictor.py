"""The models of a run as one ensemble over SMILES.

A molecule's prediction is the mean over the models, its spread their standard deviation. Molecules that cannot be read have NaN and a
reason; atoms and bonds that training never saw have embeddings of 0 (runs/models.py), and are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from ..data.batch import Collator
from ..data.packed import PackedDataset
from ..graphs.formats.vocabulary import ATOMS, BONDS
from ..nn import GraphModel
from ..runs.finished import read_finished
from ..tasks.molecules.features import Featurized
from ..tasks.molecules.task import MoleculeSchema
from ..train.environment import cpu_threads, resolve_device
from ..train.metrics import probabilities

_BATCH = 256


@dataclass(frozen=True)
class Predictions:
    """``mean`` and ``spread`` (n, outputs) of values or probabilities; by position the reason for none, and what is new to the models."""

    mean: np.ndarray
    spread: np.ndarray
    problems: dict[int, str]
    unseen: dict[int, str]


class Predictor:
    """The models of a finished run.

    Args:
        folder: of the run.
        device: a GPU if there is one, by default.
    """

    def __init__(
        self, schema: MoleculeSchema, models: Sequence[GraphModel], half_widths: Sequence[float | None], device: torch.device
    ) -> None:
        self.schema, self.models, self.half_widths, self.device = schema, list(models), list(half_widths), device

    @classmethod
    def load(cls, folder: str | PathLike[str], device: torch.device | str | None = None) -> Self:
        """Reads a run's models; FormatError, which names the file, if one is missing or damaged."""
        root, device = Path(fspath(folder)), resolve_device(device)
        run = read_finished(root)
        return cls(run.schema, [model.to(device) for model in run.models], run.half_widths, device)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs: the targets, or of a multiclass task the classes."""
        return self.schema.classes or self.schema.targets

    def __call__(self, smiles: Sequence[str]) -> Predictions:
        """Predicts a list of SMILES, in memory at once."""
        return self.predictions(self.schema.featurizer(list(smiles)))

    def predictions(self, found: Featurized) -> Predictions:
        """Predicts molecules that the run's featurizer has packed."""
        each = each_prediction(self.schema.kind, self.models, found.dataset, self.device)
        mean, spread = (np.full((_count(found), len(self.outputs)), np.nan) for _ in range(2))
        mean[found.positions] = each.mean(0).numpy()
        spread[found.positions] = each.std(0, correction=min(1, len(each) - 1)).numpy()
        return Predictions(mean, spread, found.problems, self.unseen(found))

    def embed(self, smiles: Sequence[str]) -> tuple[np.ndarray, dict[int, str]]:
        """(n, width) float32: what the output MLPs of all models see, side by side; NaN and a reason where a molecule cannot be read."""
        found = self.schema.featurizer(list(smiles))
        return self.embeddings(found), found.problems

    def embeddings(self, found: Featurized) -> np.ndarray:
        """The rows of :meth:`embed` for molecules that the run's featurizer has packed."""
        parts = [model_outputs(model, found.dataset, self.device, embed=True).float().numpy() for model in self.models]
        rows = np.full((_count(found), sum(part.shape[1] for part in parts)), np.nan, np.float32)
        rows[found.positions] = np.concatenate(parts, axis=1)
        return rows

    @property
    def embedding_width(self) -> int:
        """The length of an embedding."""
        return sum(_embedding_width(model) for model in self.models)

    def unseen(self, found: Featurized) -> dict[int, str]:
        """The features of each molecule that no training molecule had, in words, by its position."""
        names: dict[int, set[str]] = {}
        ds = found.dataset
        for values, ptr, columns, seen in (
            (ds.x, ds.tables.node_ptr, ATOMS, self.schema.seen["x"]),
            (ds.features.edges, ds.tables.edge_ptr, BONDS, self.schema.seen["edge_attr"]),
        ):
            if values is None:
                continue
            for k, (column, listed) in enumerate(columns.items()):
                new = np.nonzero(~np.isin(values[..., k], seen[k] if seen else []))
                graphs = np.searchsorted(ptr, new[0], side="right") - 1
                for graph, category in zip(graphs.tolist(), values[..., k][new].tolist(), strict=True):
                    what = "other" if category == 0 else str(listed[category - 1])
                    names.setdefault(int(found.positions[graph]), set()).add(f"{column} {what}")
        return {position: ", ".join(sorted(found)) for position, found in sorted(names.items())}


def each_prediction(kind: str, models: Sequence[GraphModel], dataset: PackedDataset, device: torch.device) -> Tensor:
    """(models, graphs, outputs) float64: the values, or probabilities, that each model predicts."""
    return probabilities(kind, torch.stack([model_outputs(model, dataset, device) for model in models]).double())


def model_outputs(model: GraphModel, dataset: PackedDataset, device: torch.device, embed: bool = False) -> Tensor:
    """A model's outputs for all graphs of a dataset, or what its output MLP sees of them; on the host."""
    collate = Collator(dataset)
    found = [torch.empty(0, _embedding_width(model) if embed else model.config.outputs)]
    with torch.no_grad(), cpu_threads(device):
        for start in range(0, len(dataset), _BATCH):
            batch = collate(np.arange(start, min(start + _BATCH, len(dataset)))).to(device)
            found.append((model.embed(batch) if embed else model(batch)).cpu())
    return torch.cat(found)


def _embedding_width(model: GraphModel) -> int:
    return model.config.hidden * model.config.layers


def _count(found: Featurized) -> int:
    """The number of molecules that were given, unreadable ones included."""
    return len(found.positions) + len(found.problems)
