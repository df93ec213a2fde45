"""One model, many ways to a batch: packed, by a loader, padded, through PyG's ``DataLoader``. All give the same numbers.

To 1e-6 in float32 and 1e-12 in float64, relative to the largest output; also where something is missing (nodes, edges, cut nodes,
levels of the trees) and in the gradients and statistics of a training step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import graphs
import numpy as np
import pytest
import torch
from plain import Plain, disjoint_union
from torch import Tensor
from torch_geometric.data import InMemoryDataset
from torch_geometric.loader import DataLoader

from planegraph.data import PackedDataset, PackedLoader, PlanarBatch
from planegraph.data.needs import Needs
from planegraph.data.pyg import planar_batch
from planegraph.transforms import Planar

from .examples import KINDS, NO_FEATURES, Example, Kind, corner_cases, planar_zoo
from .models import make_model, pack, small_config

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
SIZE = 5  # graphs in a batch
CONTINUOUS = Kind("continuous", "continuous", darts=True)

GROUPS: dict[str, list[Plain]] = {
    "families": list(planar_zoo()[:300:18]),
    "corner cases": corner_cases(),
    "single nodes": [graphs.path(1)] * 3,
    "no edges": [Plain.of(n, []) for n in (3, 1, 5)],
    "no nodes at all": [Plain.of(0, [])] * 2,
    "one graph without nodes": [graphs.cycle(4), Plain.of(0, []), graphs.path(3)],
    "isolated nodes": [
        disjoint_union(graphs.path(1), graphs.complete(4), graphs.path(1)),
        disjoint_union(graphs.path(2), graphs.path(1)),
    ],
    "no cut nodes": [graphs.cycle(5), graphs.complete(4), graphs.path(2), graphs.nested_k4(3)],
    "edges only": [graphs.path(2)] * 4,
    "deep beside flat": [graphs.path(30), graphs.path(1), graphs.nested_k4(12), graphs.star(3), graphs.nested_bonds(6)],
}


def packed(examples: list[Example]) -> Iterator[PlanarBatch]:
    yield pack(examples)[:]


def one_by_one(examples: list[Example]) -> Iterator[PlanarBatch]:
    dataset = pack(examples)
    yield from (dataset[i] for i in range(len(dataset)))


def loaded(examples: list[Example]) -> Iterator[PlanarBatch]:
    yield from PackedLoader(pack(examples), batch_size=SIZE)


def padded(examples: list[Example]) -> Iterator[PlanarBatch]:
    for batch in PackedLoader(pack(examples), batch_size=SIZE, pad=True):
        assert batch.layout.padded
        yield batch


def padded_to_more(examples: list[Example]) -> Iterator[PlanarBatch]:
    """A capacity with levels that no graph has."""
    dataset = pack(examples)
    deep = pack([Example.of(g) for g in (graphs.path(20), graphs.nested_k4(9), graphs.grid(3, 20))])
    capacity = Needs(deep.tables, 0).likely(len(deep)).grow(dataset[:].layout)
    yield from PackedLoader(dataset, batch_size=len(dataset), pad=capacity)


def by_pyg(examples: list[Example]) -> Iterator[PlanarBatch]:
    rng, transform = np.random.default_rng(0), Planar()
    for batch in DataLoader([transform(e.to_pyg(rng)) for e in examples], batch_size=SIZE):
        yield planar_batch(batch)


def by_pyg_one_by_one(examples: list[Example]) -> Iterator[PlanarBatch]:
    yield from (planar_batch(Planar()(e.to_pyg())) for e in examples)


PATHS = (one_by_one, loaded, padded, padded_to_more, by_pyg, by_pyg_one_by_one)


def outputs(model: torch.nn.Module, batches: Iterable[PlanarBatch]) -> Tensor:
    with torch.no_grad():
        return torch.cat([model(batch)[: batch.num_graphs] for batch in batches])


def assert_close(found: Tensor, expected: Tensor) -> None:
    assert found.shape == expected.shape
    assert torch.isfinite(expected).all()
    scale = float(expected.abs().max()) if expected.numel() else 0.0
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE[expected.dtype] * max(scale, 1e-30))


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [*((kind, torch.float64) for kind in KINDS), (NO_FEATURES, torch.float32), (CONTINUOUS, torch.float32)],
    ids=str,
)
def test_same_outputs(group, kind, dtype):
    examples = [Example.of(g, kind, i) for i, g in enumerate(GROUPS[group])]
    model = make_model(small_config(kind), dtype=dtype)
    expected = outputs(model, packed(examples))
    assert len(expected) == len(examples)
    for path in PATHS:
        assert_close(outputs(model, path(examples)), expected)


def step(model: torch.nn.Module, batch: PlanarBatch) -> dict[str, Tensor]:
    """Outputs, gradients and statistics of a step in training mode."""
    model.train()
    model.zero_grad()
    out = model(batch)[: batch.num_graphs]
    (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
    found = {f"gradient of {name}": p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return {"outputs": out.detach()} | found | {name: value.clone().to(out) for name, value in model.named_buffers()}


def whole(path: Callable, examples: list[Example]) -> PlanarBatch:
    if path is by_pyg:
        return planar_batch(next(iter(DataLoader([Planar()(e.to_pyg()) for e in examples], batch_size=len(examples)))))
    return next(iter(PackedLoader(pack(examples), batch_size=len(examples) + 3, pad=path is padded)))


@pytest.mark.parametrize("path", [loaded, padded, by_pyg])
@pytest.mark.parametrize("norm", ["none", "batch"])
@pytest.mark.parametrize("group", ["families", "corner cases", "no cut nodes", "deep beside flat"])
@pytest.mark.parametrize("kind", [NO_FEATURES, CONTINUOUS], ids=str)
def test_same_training_step(path, norm, group, kind):
    """Batch norms must not see padding, and gradients must not come from it."""
    examples = [Example.of(g, kind, i) for i, g in enumerate(GROUPS[group])]
    config = small_config(kind, norm=norm)
    expected = step(make_model(config), pack(examples)[:])
    found = step(make_model(config), whole(path, examples))
    assert found.keys() == expected.keys()
    largest = max(float(value.abs().max()) for name, value in expected.items() if name.startswith("gradient"))
    for name, value in expected.items():
        scale = max(float(value.abs().max()), 1e-3 * largest if name.startswith("gradient") else 0.0, 1e-30)
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-9 * scale, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("norm", ["none", "batch"])
def test_what_stands_in_pad_rows_is_never_read(norm):
    examples = [Example.of(g, CONTINUOUS, i) for i, g in enumerate(GROUPS["families"])]
    config = small_config(CONTINUOUS, norm=norm)
    expected = step(make_model(config), whole(padded, examples))
    batch = whole(padded, examples)
    batch.x[~batch.node_mask] = 1e3
    batch.edge_attr[int(batch.counts[3]) :] = -1e3
    found = step(make_model(config), batch)
    for name, value in expected.items():
        torch.testing.assert_close(
            found[name], value, rtol=1e-9, atol=1e-9 * float(value.abs().max()), msg=lambda _, name=name: name
        )


class Stored(InMemoryDataset):
    """An ordinary PyG dataset that decomposes its graphs once."""

    def __init__(self, root, examples) -> None:
        self.examples = examples
        super().__init__(root, pre_transform=Planar())
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self) -> str:
        return "graphs.pt"

    def process(self) -> None:
        self.save([self.pre_transform(e.to_pyg()) for e in self.examples], self.processed_paths[0])


@pytest.mark.parametrize("kind", [NO_FEATURES, CONTINUOUS], ids=str)
def test_pyg_dataset_on_disk(kind, tmp_path):
    examples = [Example.of(g, kind, i) for i, g in enumerate(GROUPS["families"]) if g.n]
    model = make_model(small_config(kind))
    loader = DataLoader(Stored(str(tmp_path), examples), batch_size=SIZE)
    assert_close(outputs(model, map(planar_batch, loader)), outputs(model, packed(examples)))


@pytest.mark.parametrize("group", ["single nodes", "no edges", "no nodes at all"])
@pytest.mark.parametrize("kind", [Kind("categorical", "categorical"), CONTINUOUS], ids=str)
def test_features_on_nothing(group, kind):
    """A ``Graph`` without edges has no edge labels, and no label to break a tie by: a model that reads edge features still reads it."""
    examples = [Example.of(g, kind, i) for i, g in enumerate(GROUPS[group])]
    model = make_model(small_config(kind))
    batch = PackedDataset.from_graphs([e.build() for e in examples])[:]
    assert_close(outputs(model, [batch]), outputs(model, packed(examples)))
