"""The tables of a batch as the model's equations read them: incidences, positions, counts and tree steps.

Made anew for every forward pass: it only holds views of the batch, so that a captured step reads whatever the batch's buffer then holds.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from ..data.batch import PlanarBatch
from .incidence import Incidence, Rows
from .positions import position_table
from .recursion import Step

_ptr = Rows.of_ptr


class Structure:
    """What the layers need of a batch; see the properties."""

    def __init__(self, batch: PlanarBatch, pos_dim: int, dtype: torch.dtype) -> None:
        self.batch, self.layout, self.pos_dim, self.dtype = batch, batch.layout, pos_dim, dtype

    def prepare_shared(self) -> None:
        """Computes now what two streams read later."""
        _ = self.degree, self.graph_size

    # ---- names for errors -------------------------------------------------------------------------------------------------------

    def name_node(self, row: int) -> str:
        """Which graph and node a row of node features belongs to; waits for the device."""
        b = self.batch
        graph = int(b.node_graph.reshape(-1)[row])
        return f"graph {graph} of the batch, node {row % self.layout.num_nodes - int(b.node_ptr.reshape(-1)[graph])}"

    def name_edge(self, row: int) -> str:
        """The same for a row of edge features: the nodes that it joins."""
        b = self.batch
        dart = int((b.dart_row.reshape(-1) == row % self.layout.num_rows).int().argmax())
        ends = [self.name_node(int(b.dart_source.reshape(-1)[dart])), self.name_node(int(b.dart_target.reshape(-1)[dart]))]
        return " and ".join([ends[0], ends[1].rpartition(", ")[2]])

    # ---- incidences ------------------------------------------------------------------------------------------------------------

    @cached_property
    def neighbours(self) -> Incidence:
        """Nodes by nodes: v in N_u."""
        rows = _ptr(self.batch.dart_ptr, self.batch.dart_source)
        return Incidence(rows, rows)

    @cached_property
    def dart_source(self) -> Incidence:
        """Darts v -> u by nodes v."""
        b = self.batch
        return Incidence(Rows(b.dart_source), _ptr(b.dart_ptr, b.dart_reverse))

    @cached_property
    def node_darts(self) -> Incidence:
        """Nodes u by darts v -> u."""
        return Incidence(_ptr(self.batch.dart_ptr), Rows(self.batch.dart_target))

    @cached_property
    def dart_row(self) -> Incidence:
        """Darts by rows of edge features."""
        b = self.batch
        return Incidence(Rows(b.dart_row), _ptr(b.row_dart_ptr, b.row_dart))

    @cached_property
    def walk_node(self) -> Incidence:
        """Walk entries by nodes: omega[i]."""
        b = self.batch
        return Incidence(Rows(b.walk_node), _ptr(b.node_walk_ptr, b.node_walk))

    @cached_property
    def walk_row(self) -> Incidence:
        """Walk entries by rows of edge features: the dart from omega[i] to omega[i + 1]; nothing at a virtual edge."""
        b = self.batch
        return Incidence(Rows(b.walk_row), _ptr(b.row_walk_ptr, b.row_walk))

    @cached_property
    def spqr_walk(self) -> Incidence:
        """SPQR nodes C by the entries of their walks."""
        return Incidence(_ptr(self.batch.walk_ptr), Rows(self.batch.walk_spqr))

    @cached_property
    def node_spqr(self) -> Incidence:
        """Nodes by SPQR nodes: C in sigma_u."""
        b = self.batch
        return Incidence(_ptr(b.node_spqr_ptr, b.node_spqr), _ptr(b.spqr_node_ptr, b.spqr_node))

    @cached_property
    def node_block(self) -> Incidence:
        """Nodes by blocks: B in pi_u."""
        b = self.batch
        return Incidence(_ptr(b.node_block_ptr, b.node_block), _ptr(b.block_node_ptr, b.block_node))

    @cached_property
    def node_cut(self) -> Incidence:
        """Nodes by cut nodes: delta_u, nothing if u is not a cut node."""
        return Incidence(Rows(self.batch.node_cut), Rows(self.batch.cut_node))

    @cached_property
    def node_graph(self) -> Incidence:
        """Nodes by graphs: the graph of each node."""
        return Incidence(Rows(self.batch.node_graph), _ptr(self.batch.node_ptr))

    # ---- positions -----------------------------------------------------------------------------------------------------------

    @cached_property
    def positions(self) -> Tensor:
        """(largest position + 1, pos_dim): the embedding of each position, for each replica."""
        table = position_table(self.layout.max_position, self.pos_dim, self.dtype, self.batch.device)
        return table.expand(*self.batch.index.shape[:-1], *table.shape)

    @cached_property
    def walk_row_or_virtual(self) -> Tensor:
        """Walk entries: the row of edge features, or at virtual edges the number of such rows."""
        rows = self.batch.walk_row
        return torch.where(rows < 0, self.layout.num_rows, rows).to(torch.int32)

    def _at(self, values: Tensor) -> Tensor:
        table = self.positions if self.positions.dim() == 2 else self.positions[0]
        return table.index_select(0, values.reshape(-1)).view(*values.shape, self.pos_dim)

    @cached_property
    def walk_positions(self) -> Tensor:
        """(W, 2 pos_dim): p_kappa[i] || p_i."""
        return torch.cat([self._at(self.batch.walk_kappa), self._at(self.batch.walk_pos)], dim=-1)

    @cached_property
    def walk_positions_and_virtual(self) -> Tensor:
        """(W, 2 pos_dim + 8): the same, then 1 at virtual edges and 0 at real ones, then zeros: products of round widths are faster."""
        virtual = (self.batch.walk_row < 0).unsqueeze(-1).to(self.dtype)
        return torch.cat([self.walk_positions, F.pad(virtual, (0, 7))], dim=-1)

    @cached_property
    def child_positions(self) -> Tensor:
        """(C without roots, pos_dim): p_theta(C, C') of each child C'."""
        return self._at(self.batch.spqr_theta[..., : self.roots[0]])

    # ---- counts -------------------------------------------------------------------------------------------------------------------

    def _count(self, begin: Tensor, end: Tensor) -> Tensor:
        return (end - begin).unsqueeze(-1).to(self.dtype)

    @cached_property
    def degree(self) -> Tensor:
        """(N, 1): neighbours of each node."""
        return self._count(self.batch.dart_ptr[..., :-1], self.batch.dart_ptr[..., 1:])

    @cached_property
    def walk_length(self) -> Tensor:
        """(C, 1): entries of each walk."""
        return self._count(self.batch.walk_ptr[..., :-1], self.batch.walk_ptr[..., 1:])

    @cached_property
    def spqr_children(self) -> Tensor:
        """(C, 1): children of each SPQR node."""
        return self._count(self.batch.spqr_begin, self.batch.spqr_end)

    @cached_property
    def block_children(self) -> Tensor:
        """(B, 1): child cut nodes of each block."""
        return self._count(self.batch.block_begin, self.batch.block_end)

    @cached_property
    def cut_children(self) -> Tensor:
        """(K, 1): child blocks of each cut node."""
        return self._count(self.batch.cut_begin, self.batch.cut_end)

    @cached_property
    def graph_size(self) -> Tensor:
        """(G, 1): nodes of each graph."""
        return self._count(self.batch.node_ptr[..., :-1], self.batch.node_ptr[..., 1:])

    # ---- trees ---------------------------------------------------------------------------------------------------------------------

    @property
    def roots(self) -> tuple[int, int]:
        """The rows of the roots of all SPQR trees, in the order of the blocks."""
        return self.layout.spqr_slices[-1]

    @cached_property
    def spqr_steps(self) -> list[Step]:
        """Bottom-up through the SPQR trees: into subtrees (a), from them into the messages to their parents (b)."""
        b, slices = self.batch, self.layout.spqr_slices
        steps, below = [], (0, 0)
        for rows in slices:
            steps.append(Step.between(True, rows, below, b.spqr_begin, b.spqr_end, b.spqr_parent))
            if rows != slices[-1]:
                steps.append(Step(False, rows, rows))
            below = rows
        return steps

    @cached_property
    def block_cut_steps(self) -> list[Step]:
        """Bottom-up through the block-cut trees: into cut nodes (a) and blocks (b) by turns; root blocks are left out."""
        b, layout = self.batch, self.layout
        steps, cuts = [], (0, 0)
        for blocks, above in zip(layout.block_slices, layout.cut_slices, strict=False):
            steps.append(Step.between(False, blocks, cuts, b.block_begin, b.block_end, b.cut_parent))
            steps.append(Step.between(True, above, blocks, b.cut_begin, b.cut_end, b.block_parent))
            cuts = above
        return steps
