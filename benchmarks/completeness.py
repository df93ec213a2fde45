"""Does an untrained model tell all connected planar graphs on n nodes apart? With the tools of the tests."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
import torch

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader
from planegraph.nn import BasePlanE, PlanEConfig


def told_apart(n: int) -> tuple[int, float, float]:
    """How many graphs there are, seconds to decompose and embed them all, and the smallest relative gap of two embeddings."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    import exhaustive
    from nn.closest import closest_pair

    found = exhaustive.connected_planar_graphs(n)
    edges = [np.array(g.edges, np.int64).reshape(-1, 2) for g in found]
    batch = pg.GraphBatch(np.arange(len(found) + 1) * n, np.cumsum([0, *map(len, edges)]), np.concatenate(edges))
    torch.manual_seed(0)
    model = BasePlanE(PlanEConfig(hidden=32, layers=math.ceil(math.log2(n)) + 1)).double().eval()
    start = time.process_time()
    loader = PackedLoader(PackedDataset.from_graphs(batch, threads=1), 4096, prefetch=0)
    with torch.no_grad():
        embeddings = torch.cat([model.embed(b) for b in loader]).numpy()
    return len(found), time.process_time() - start, closest_pair(embeddings).gap
