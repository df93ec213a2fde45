"""The memory of a training step, measured in a separate process."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import workloads
from measure import peak_bytes


def growth_of_a_step(root: Path, graphs: int) -> int:
    """Bytes by which the peak of a process grows in a training step of so many QM9_CC graphs, width 64, 3 layers."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_grow, (root, graphs))


def _grow(root: Path, graphs: int) -> int:
    import torch
    from steps import Step, root_mean_square

    from planegraph.data import PackedDataset
    from planegraph.nn import BasePlanE, PlanEConfig

    torch.set_num_threads(1)
    batch, y = workloads.qm9_cc(root)
    dataset = PackedDataset.from_graphs(batch, y=y)
    sizes = iter((2, graphs))  # the first step makes the optimizer's state and whatever libraries set up once
    loader = (dataset[torch.randperm(len(dataset))[:size]] for size in sizes)
    step = Step(BasePlanE(PlanEConfig(hidden=64, layers=3)), loader, root_mean_square)
    step()
    before = peak_bytes()
    step()
    return peak_bytes() - before
