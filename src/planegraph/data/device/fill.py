"""The entries of all sections of a batch from the runs of its graphs, in torch operations; triton_collate.py does the same in one kernel.

For each entry: in which run of its space its position lies (a search in the begins of all runs), so which graph and which of its rows; the
local entry there; and, for an id, what to add to it: the begin of the run of the target space that it points into. Nothing depends on
values on the host, and no entry is written but its own.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..layout import Kind
from ..runs import Field
from .plan import Descriptors


class Data(NamedTuple):
    """The dataset on the device; see prepare.Prepared. ``offsets`` is its ``ptr``, ``runs`` its ``counts`` and ``firsts`` side by side."""

    data: Tensor
    offsets: Tensor
    runs: Tensor


class Runs(NamedTuple):
    """The runs of a batch, each tensor but the first (trials, columns, graphs) and int32.

    ``graphs``: (trials, graphs) int32, always valid ids. ``begin`` and ``count``: of each run in its space. ``shift``: what turns a
    local position into one of the batch.
    """

    graphs: Tensor
    begin: Tensor
    count: Tensor  # type: ignore[assignment]  # hides tuple.count
    shift: Tensor


def find_runs(ids: Tensor, data: Data, start: Tensor, group: Tensor) -> Runs:
    """The runs of the graphs ``ids`` (trials, graphs). ``start``: where the slice of each column begins; ``group``: its first column."""
    graphs = ids.clamp(0, len(data.runs) - 1)
    real = (ids == graphs).to(torch.int32).unsqueeze(-1)
    found = data.runs.index_select(0, graphs.reshape(-1)).view(*ids.shape, -1) * real
    count, local = (half.contiguous() for half in found.transpose(1, 2).chunk(2, 1))
    upto = count.cumsum(-1, dtype=torch.int32)
    total = upto[..., -1]
    left = total.cumsum(-1, dtype=torch.int32) - total  # in the columns to the left
    begin = (start + left - left.index_select(-1, group)).unsqueeze(-1) + upto - count
    return Runs(graphs.to(torch.int32), begin, count, begin - local)


def fill(data: Data, runs: Runs, descriptors: Descriptors) -> Tensor:
    """(trials, descriptors.length) int32; what no descriptor covers is not written."""
    out = runs.begin.new_empty(len(runs.begin), descriptors.length)
    places: dict[tuple[int, int], _Places] = {}
    for line in descriptors.lines.tolist():
        at = line[Field.FIRST], line[Field.LENGTH]
        if at not in places:
            places[at] = _Places(runs, at[0], line[Field.COLUMNS], at[1])
        out[:, line[Field.OFFSET] : line[Field.OFFSET] + at[1]] = places[at].entries(data, line)
    return out


class _Places:
    """Where each position of a space lies: in which run, and which row of which graph it is."""

    def __init__(self, runs: Runs, first: int, columns: int, length: int) -> None:
        self.runs, self.first = runs, first
        trials, _, self.width = runs.begin.shape
        begin = runs.begin[:, first : first + columns].reshape(trials, -1).contiguous()
        position = torch.arange(length, device=begin.device, dtype=torch.int32).expand(trials, length).contiguous()
        run = torch.searchsorted(begin, position, right=True) - 1
        self.found = run >= 0
        run = run.clamp(min=0)
        self.column, self.trial = run // self.width, run % self.width  # the column within the space, the graph within the batch
        if columns == 0:
            self.real = self.found
            self.row = self.graph = torch.zeros_like(run)
            return
        self.real = self.found & (position < self._of(runs.begin, first) + self._of(runs.count, first))
        self.row = torch.where(self.real, position - self._of(runs.shift, first), 0).long()
        self.graph = runs.graphs.gather(1, self.trial).long()

    def _of(self, table: Tensor, first: int, column: Tensor | None = None) -> Tensor:
        """An entry of (trials, columns, graphs) for each position, for the same column of the space that begins at ``first``."""
        index = (first + (self.column if column is None else column)) * self.width + self.trial
        flat = table.reshape(len(table), -1)
        return flat.gather(1, index.clamp(max=flat.shape[1] - 1))  # nothing points into a space without columns

    def entries(self, data: Data, line: list[int]) -> Tensor:
        """The section of a descriptor."""
        kind, target, source = line[Field.KIND], line[Field.TARGET], line[Field.SOURCE]
        if line[Field.COLUMNS] == 0:
            return torch.full_like(self.trial, line[Field.PAD], dtype=torch.int32)
        row = data.offsets[line[Field.SPACE]][self.graph] + self.row
        if kind == Kind.SOURCE:
            return torch.where(self.real, row, line[Field.PAD]).to(torch.int32)
        value = torch.zeros_like(self.row) if source < 0 else data.data[torch.where(self.real, source + row, 0)].long()
        if kind == Kind.PTR:
            end = self._of(self.runs.begin, target) + self._of(self.runs.count, target)
            pad = torch.where(self.found, end, 0)
            return torch.where(self.real, value + self._of(self.runs.shift, target), pad).to(torch.int32)
        known = self.real & (value >= 0)
        if kind == Kind.ID:
            segment = torch.zeros_like(value)
            if line[Field.SEGMENT] >= 0:
                at = line[Field.SEGMENT] + data.offsets[line[Field.TARGET_SPACE]][self.graph] + value
                segment = data.data[torch.where(known, at, 0)].long()
            value = value + self._of(self.runs.shift, target, segment) + line[Field.PLUS]
        return torch.where(known, value, line[Field.PAD]).to(torch.int32)
