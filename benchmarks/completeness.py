"""Does an untrained model tell all connected planar graphs on n nodes apart? With the tools of ``planegraph reproduce expressiveness``."""

from __future__ import annotations

import math
import time

import torch

from planegraph.data import PackedDataset, PackedLoader
from planegraph.experiments.closest import closest_pair
from planegraph.experiments.exhaustive import connected_planar_graphs
from planegraph.nn import BasePlanE, PlanEConfig


def told_apart(n: int) -> tuple[int, float, float]:
    """How many graphs there are, seconds to decompose and embed them all, and the smallest relative gap of two embeddings."""
    batch = connected_planar_graphs(n)
    torch.manual_seed(0)
    model = BasePlanE(PlanEConfig(hidden=32, layers=math.ceil(math.log2(n)) + 1)).double().eval()
    start = time.process_time()
    loader = PackedLoader(PackedDataset.from_graphs(batch, threads=1), 4096, prefetch=0)
    with torch.no_grad():
        embeddings = torch.cat([model.embed(b) for b in loader]).numpy()
    return len(batch), time.process_time() - start, closest_pair(embeddings).gap
