"""A dataset that lives on a device and is collated there: a batch needs nothing from the host but the ids of its graphs.

The batches are bit for bit those of the core (cpp/planegraph/collate/collate.hpp), for one trial or a stack of trials. All shapes are
those of the capacity and nothing is read back, so that collation can be captured together with the step that reads the batch. Whether a
batch fits is asked on the host, before. runs.py says how a batch is made of its graphs; prepare.py makes the tables, once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..batch import Collator, PlanarBatch
from ..collate import Feature, as_ids
from ..layout import TABLE_OF, Capacity, DoesNotFitError, Layout
from ..needs import Needs
from ..tables import TABLES
from .fill import Data, fill, find_runs
from .plan import Plan
from .prepare import Prepared, TooManyColumnsError, prepare

try:
    from . import triton_collate
except ImportError:  # no Triton: torch operations do
    triton_collate = None


_SHARE = 0.25  # of the free memory of a device
_MOST_ROWS = 2**31 - 1


def make_resident(dataset: Any, device: torch.device) -> ResidentDataset | None:
    """The dataset on a device, or None if it would take more than a quarter of its free memory or its trees are too deep for that."""
    free = _free_memory(device)
    tables, collator = dataset.tables, Collator(dataset)
    features = [f.bytes.nbytes for f in (collator.x, collator.edge_attr, collator.y, *collator.attrs.values()) if f is not None]
    if max(2 * len(tables["edges"]), *(int(tables[f"{t}_ptr"][-1]) for t in TABLES)) > _MOST_ROWS:
        return None
    if _index_bytes(tables, collator.rows_per_edge) + sum(features) > _SHARE * free:
        return None
    try:
        prepared = prepare(collator)
    except TooManyColumnsError:
        return None
    if prepared.nbytes + sum(features) > _SHARE * free:
        return None
    return ResidentDataset(dataset, device, prepared)


def _free_memory(device: torch.device) -> float:
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else math.inf


def _index_bytes(tables: Mapping[str, np.ndarray], rows_per_edge: int) -> int:
    """Of all graphs' sections together."""
    rows = {table: int(tables[f"{table}_ptr"][-1]) for table in TABLES}
    plain: dict[str, Any] = {name: rows[table] for name, table in TABLE_OF.items()}
    trees: dict[str, Any] = {"spqr": (rows["spqr"] - rows["block"],), "blocks": (0, rows["block"]), "cuts": (rows["cut"],)}
    sizes = Capacity(len(tables["node_ptr"]) - 1, **plain, max_position=0, **trees)
    return 4 * Layout(sizes, rows_per_edge).length


class ResidentDataset:
    """The tables and features of a packed dataset on a device.

    Args:
        dataset: a packed dataset; of its graphs any may be chosen, as often as wanted.
        device: where to keep it.
        prepared: its tables, if they are made already.

    >>> import planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> ds = PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 10)])
    >>> resident = ResidentDataset(ds, "cpu")
    >>> capacity = resident.needs.likely(4)
    >>> resident.check(np.array([6, 0]), capacity)
    >>> resident.collate(torch.tensor([6, 0, -1, -1]), capacity).node_ptr.tolist()
    [0, 9, 12, 12, 12]
    """

    def __init__(self, dataset: Any, device: torch.device | str, prepared: Prepared | None = None) -> None:
        self.device = torch.device(device)
        collator = Collator(dataset)
        self.rows_per_edge, self.fingerprint, self.num_graphs = collator.rows_per_edge, collator.fingerprint, collator.num_graphs
        if self.num_graphs == 0:
            raise ValueError("the dataset has no graphs to keep")
        prepared = prepare(collator) if prepared is None else prepared
        self.needs = Needs(dataset.tables, self.rows_per_edge)
        self.x, self.edge_attr, self.y = map(self._kept, (collator.x, collator.edge_attr, collator.y))
        self.attrs = {name: self._kept(feature) for name, feature in collator.attrs.items()}
        parts = prepared.data, prepared.ptr, np.concatenate([prepared.counts, prepared.firsts], 1)
        self.data = Data(*(torch.from_numpy(part).to(self.device) for part in parts))
        none = np.empty(0, np.int32)
        self.prepared = replace(prepared, data=none, counts=none, firsts=none)  # the device has them
        self.fill = fill if triton_collate is None or self.device.type != "cuda" else triton_collate.fill
        self._plans: dict[Capacity, Plan] = {}

    def _kept(self, feature: Feature | None) -> Tensor | None:
        """The rows of a feature, then one of zeros."""
        if feature is None:
            return None
        rows = len(feature.bytes) * feature.rows_per_item
        values = torch.zeros((rows + 1, *feature.tail), dtype=feature.dtype)
        if feature.bytes.size:
            values[:rows].view(-1).numpy()[:] = feature.bytes.reshape(-1).view(values.numpy().dtype)
        return values.to(self.device)

    # ---- on the host ------------------------------------------------------------------------------------------------------------

    def sizes(self, ids: Any) -> Layout:
        """The exact sizes of a batch of these graphs; IndexError if there is no such graph."""
        return self.needs.sizes(as_ids(ids))

    def check(self, ids: Any, capacity: Capacity) -> None:
        """Raises DoesNotFitError, as collation would, if a batch of these graphs does not fit into the capacity."""
        self.needs.check(as_ids(ids), capacity)

    def fits(self, ids: Any, capacity: Capacity) -> bool:
        """Whether a batch of these graphs fits into the capacity."""
        try:
            self.check(ids, capacity)
        except DoesNotFitError:
            return False
        return True

    def layout(self, capacity: Capacity) -> Layout:
        """Of batches that are padded to a capacity; what collation needs for it is made here, if it is new."""
        return self._plan(capacity).layout

    # ---- on the device ----------------------------------------------------------------------------------------------------------

    def collate(self, ids: Tensor, capacity: Capacity, num_graphs: int | None = None) -> PlanarBatch:
        """The batch of the graphs ``ids``, padded to a capacity that it must be known to fit into.

        Args:
            ids: int64 on the device, (graphs,), or (trials, graphs) for a stack; at most ``capacity.graphs``. Less than 0, at the end of
                a trial: no graph.
            num_graphs: how many real graphs there are in all trials together; all by default. The device knows better (``counts``).
        """
        if (
            ids.dim() not in (1, 2)
            or ids.dtype != torch.int64
            or ids.device != self.data.data.device
            or ids.shape[-1] > capacity.graphs
        ):
            raise ValueError(
                f"ids must be int64 on {self.data.data.device}, of shape (graphs,) or (trials, graphs) with at most {capacity.graphs} "
                f"graphs; found {ids.dtype} on {ids.device}, shape {tuple(ids.shape)}"
            )
        if ids.shape[-1] == 0:
            ids = ids.new_full((*ids.shape[:-1], 1), -1)
        plan = self._plan(capacity)
        trials = ids if ids.dim() == 2 else ids.unsqueeze(0)
        runs = find_runs(trials, self.data, plan.start, plan.group)
        index, rows = self.fill(self.data, runs, plan.index), self.fill(self.data, runs, plan.rows)
        upto = F.pad(runs.count.sum(-1).cumsum(-1), (1, 0))
        index[:, : plan.units.shape[1]] = upto.index_select(-1, plan.units[1]) - upto.index_select(-1, plan.units[0])
        shape = ids.shape[:-1]

        def take(values: Tensor | None, space: str) -> Tensor | None:
            if values is None:
                return None
            start, stop = plan.bounds[space]
            return values.index_select(0, rows[:, start:stop].reshape(-1)).view(*shape, stop - start, *values.shape[1:])

        return PlanarBatch(
            index.view(*shape, -1),
            plan.layout,
            x=take(self.x, "node"),
            edge_attr=take(self.edge_attr, "row"),
            y=take(self.y, "graph"),
            attrs={name: take(values, "graph") for name, values in self.attrs.items()},
            num_graphs=ids.numel() if num_graphs is None else num_graphs,
            fingerprint=self.fingerprint,
        )._trusted()

    def _plan(self, capacity: Capacity) -> Plan:
        if capacity not in self._plans:
            layout = Layout(capacity, self.rows_per_edge, padded=True)
            self._plans[capacity] = Plan(self.prepared, layout, self._spaces(), self.device)
        return self._plans[capacity]

    def _spaces(self) -> tuple[str, ...]:
        """The spaces whose rows have features."""
        return ("graph", "node", *(("row",) if self.rows_per_edge else ()))
