"""A training step of E-BasePlanE on a GPU, captured as a CUDA graph and replayed on batch after batch of static shapes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import torch
from torch import nn

from planegraph.data import PackedDataset, PackedLoader, PlanarBatch
from planegraph.nn import BasePlanE, Categorical, PlanEConfig


def cuda_step(dataset: PackedDataset, batch_size: int, hidden: int, layers: int, steps: int = 200) -> dict[str, float]:
    """Seconds of a step: run eagerly, replayed on a batch that is there, and replayed on the loader's batches, loading included.

    Raises RuntimeError if forward, backward or Adam waits for the GPU.
    """
    torch.manual_seed(0)
    device = torch.device("cuda")
    model = BasePlanE(config_for(dataset, hidden, layers)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), capturable=True, fused=True)
    loader = PackedLoader(dataset, batch_size, shuffle=True, device=device, pad=True, drop_last=True)
    batches = _endless(loader)
    static = next(batches)

    def step() -> None:
        train(model, optimizer, static)

    step()  # sets up Adam, compiles kernels
    _check_that_nothing_waits(step)
    eager = _wall(step, 20)
    captured = {static.layout: (static, capture(step, optimizer))}

    def next_step() -> None:
        nonlocal static
        batch = next(batches)
        if batch.layout not in captured:  # the capacity grew
            static = batch
            captured[batch.layout] = (static, capture(step, optimizer))
        target, graph = captured[batch.layout]
        target.copy_(batch)
        graph.replay()

    replayed = _wall(captured[static.layout][1].replay, steps)
    return {"eager": eager, "replayed": replayed, "captured": _wall(next_step, steps)}


def config_for(dataset: PackedDataset, hidden: int, layers: int) -> PlanEConfig:
    """A model that reads the categorical features of the dataset."""
    nodes, edges = (Categorical(tuple(int(size) + 1 for size in values.max(0))) for values in (dataset.x, dataset.edge_attr))
    return PlanEConfig(node_features=nodes, edge_features=edges, hidden=hidden, layers=layers)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, batch: PlanarBatch) -> None:
    """One step on a padded batch: the mean absolute error over its real graphs, nothing read back."""
    optimizer.zero_grad(set_to_none=True)
    errors = (model(batch).squeeze(-1) - batch.y).abs()
    loss = torch.where(batch.graph_mask, errors, 0).sum() / batch.counts[0]
    loss.backward()
    optimizer.step()


def capture(step: Callable[[], None], optimizer: torch.optim.Optimizer) -> torch.cuda.CUDAGraph:
    """The step as a graph; warmed up on a separate stream, as capturing asks for."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    optimizer.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # the loader pins memory in its thread meanwhile
        step()
    return graph


def _check_that_nothing_waits(step: Callable[[], None]) -> None:
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def _wall(call: Callable[[], None], calls: int, rounds: int = 5) -> float:
    """Seconds per call: the median over rounds of many calls each, the GPU waited for at the end of a round only."""
    found = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        found.append((time.perf_counter() - start) / calls)
    return statistics.median(found)


def _endless(loader: PackedLoader) -> Iterator[PlanarBatch]:
    while True:
        yield from loader
