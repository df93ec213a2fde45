"""Steps and predictions as CUDA graphs, one for each layout of batches; replaying one costs the host a few microseconds.

A graph reads one batch that stays where it is; new data is copied over it, on the same stream, so it waits for the step before. Where
the device keeps the dataset, what stays is the ids of the batch's graphs, and making the batch of them is a part of the graph.
Warming up runs the step for real, so all that a step changes is put back afterwards: a captured run takes the same steps as an eager one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..data.layout import Layout
from .batches import GraphIds, StepGraphs, join, overwrite
from .step import TrainingStep

_WARM_UP = 3
_IN_FLIGHT = 16  # steps that the host may be ahead of the device: their pinned batches are kept until they are copied


class CapturedStep(TrainingStep):
    """Trains and predicts by replaying; captures whenever a layout is new."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pool = torch.cuda.graph_pool_handle()
        self.steps: dict[Layout, tuple[Any, torch.cuda.CUDAGraph]] = {}
        self.predictions: dict[Layout, tuple[PlanarBatch, torch.cuda.CUDAGraph, Tensor]] = {}
        self.application: torch.cuda.CUDAGraph | None = None
        self.queued: deque[torch.cuda.Event] = deque()

    def train(self, graphs: StepGraphs) -> None:
        """One step."""
        layout = graphs.layout if isinstance(graphs, GraphIds) else graphs[0].layout
        if layout not in self.steps:
            static = graphs.to(self.device) if isinstance(graphs, GraphIds) else join(graphs, self.device)

            def run() -> None:
                self.differentiate(static.batch() if isinstance(static, GraphIds) else static)
                if self.world.size == 1:
                    self.apply()

            graph, _ = self._captured(run)
            self.steps[layout] = static, graph
        else:
            static, graph = self.steps[layout]
            static.copy_(graphs) if isinstance(graphs, GraphIds) else overwrite(static, graphs)
        graph.replay()
        if self.world.size > 1:
            self._reduce_and_apply()
        self._hold_back()

    def _reduce_and_apply(self) -> None:
        """Between processes the exchange stays outside: they meet new layouts, and warm up, at different steps."""
        self.world.all_reduce(self.sums)
        if self.application is None:
            self.application, _ = self._captured(self.apply)
        self.application.replay()

    def predict(self, batch: PlanarBatch) -> Tensor:
        """(trials, G, outputs), overwritten by the next prediction of the same layout."""
        if batch.layout not in self.predictions:
            static, predict = batch._map(torch.clone), super().predict
            graph, out = self._captured(lambda: predict(static))
            self.predictions[batch.layout] = static, graph, out
        else:
            static, graph, out = self.predictions[batch.layout]
            static.copy_(batch)
        graph.replay()
        return out

    def _hold_back(self) -> None:
        event = torch.cuda.Event()
        event.record()
        self.queued.append(event)
        if len(self.queued) > _IN_FLIGHT:
            self.queued.popleft().synchronize()

    def _captured(self, run: Callable[[], Any]) -> tuple[torch.cuda.CUDAGraph, Any]:
        kept = {name: value.clone() for name, value in self.tensors().items()}
        side = torch.cuda.Stream(self.device)
        side.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(side):
            for _ in range(_WARM_UP):
                run()
        torch.cuda.current_stream(self.device).wait_stream(side)
        for name, value in self.tensors().items():
            value.copy_(kept[name])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):  # the loader pins memory meanwhile
            out = run()
        return graph, out
