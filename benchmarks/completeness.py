"""Does an untrained model distinguish all connected planar graphs on n nodes?"""

from __future__ import annotations

import math
import time

import torch
from closest import closest_pair
from connected_planar import connected_planar_graphs

from planegraph.data import PackedDataset, PackedLoader
from planegraph.nn import BasePlanE, PlanEConfig


def distinguished(n: int) -> tuple[int, float, float]:
    """The number of graphs, seconds to decompose and embed them all, and the smallest relative gap of two embeddings."""
    batch = connected_planar_graphs(n)
    torch.manual_seed(0)
    model = BasePlanE(PlanEConfig(hidden=32, layers=math.ceil(math.log2(n)) + 1)).double().eval()
    start = time.process_time()
    loader = PackedLoader(PackedDataset.from_graphs(batch, threads=1), 4096, prefetch=0)
    with torch.no_grad():
        embeddings = torch.cat([model.embed(b) for b in loader]).numpy()
    return len(batch), time.process_time() - start, closest_pair(embeddings).gap
