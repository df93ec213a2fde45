"""The tables of a batch as the model's equations read them: incidences, positions, masks, counts and trees.

Made anew for every forward pass: it only holds views of the batch, so that a captured step reads whatever the batch's buffer then holds.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from .ops.incidence import Incidence, Rows, sum_rows
from .ops.tree import Level, Tree, in_parts
from .positions import position_table, positions

_ptr = Rows.of_ptr
_MANY_GRAPHS = 16


class Structure:
    """What the layers need of a batch; see the properties."""

    def __init__(self, batch: PlanarBatch, pos_dim: int, dtype: torch.dtype) -> None:
        self.batch, self.layout, self.pos_dim, self.dtype = batch, batch.layout, pos_dim, dtype
        self.node_mask, self.dart_mask = batch.node_mask, batch.dart_mask
        self.walk_mask, self.spqr_mask = batch.walk_mask, batch.spqr_mask

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

    @cached_property
    def node_orbit(self) -> Incidence:
        """Nodes by orbits: the orbit of each node. There are N rows of orbits, most of them empty as a rule."""
        count = self.layout.num_nodes
        of = self.batch.attrs["node_orbit"].clamp(-1, count - 1)  # a user may have put it there: no sum reads beyond its table
        ordered, nodes = of.sort(dim=-1, stable=True)
        orbit = torch.arange(count, dtype=of.dtype, device=of.device).expand(of.shape).contiguous()
        ends = (torch.searchsorted(ordered, orbit, right=right, out_int32=True) for right in (False, True))
        return Incidence(Rows(of), Rows(nodes.to(torch.int32), *ends))

    # ---- positions -----------------------------------------------------------------------------------------------------------

    @cached_property
    def _position_table(self) -> Tensor:
        return position_table(self.layout.max_position, self.pos_dim, self.dtype, self.batch.device)

    def _positions(self, *values: Tensor, more: int = 0) -> Tensor:
        """p of each of the values, beside each other; then so many columns that are still to be filled."""
        shape, d = values[0].shape, self.pos_dim
        out = self._position_table.new_empty(shape.numel(), len(values) * d + more)
        for k, at in enumerate(values):
            sum_rows(self._position_table, Rows(at.reshape(-1)), out=out[:, k * d : (k + 1) * d])
        return out.view(*shape, out.shape[-1])

    @cached_property
    def walk_positions(self) -> Tensor:
        """(W, 2 pos_dim): p_kappa[i] || p_i."""
        return self._positions(self.batch.walk_kappa, self.batch.walk_pos)

    @cached_property
    def walk_positions_and_virtual(self) -> Tensor:
        """(W, 2 pos_dim + 1): the same, then 1 at virtual edges and 0 at real ones."""
        out = self._positions(self.batch.walk_kappa, self.batch.walk_pos, more=1)
        out[..., -1] = self.batch.walk_row < 0
        return out

    @cached_property
    def orbit_positions(self) -> Tensor:
        """(N, pos_dim): p of the number of each node's orbit in its graph."""
        b = self.batch
        start = b.node_ptr.gather(-1, b.node_graph.clamp(min=0).long())
        return positions((b.attrs["node_orbit"] - start).double(), self.pos_dim, self.dtype)

    @cached_property
    def child_positions(self) -> Tensor:
        """(C without roots, pos_dim): p_theta(C, C') of each child C'."""
        return self._positions(self.batch.spqr_theta[..., : self.roots[0]])

    # ---- counts -------------------------------------------------------------------------------------------------------------------

    @cached_property
    def degree(self) -> Tensor:
        """(N, 1): neighbours of each node."""
        return self.batch.dart_ptr.diff(dim=-1).unsqueeze(-1).to(self.dtype)

    @cached_property
    def graph_size(self) -> Tensor:
        """(G, 1): nodes of each graph."""
        return self.batch.node_ptr.diff(dim=-1).unsqueeze(-1).to(self.dtype)

    @cached_property
    def orbit_size(self) -> Tensor:
        """(N, 1): nodes of each orbit."""
        nodes = self.node_orbit.columns
        return (nodes.end - nodes.begin).unsqueeze(-1).to(self.dtype)

    # ---- trees ---------------------------------------------------------------------------------------------------------------------

    @property
    def roots(self) -> tuple[int, int]:
        """The rows of the roots of all SPQR trees, in the order of the blocks."""
        return self.layout.spqr_slices[-1]

    @cached_property
    def spqr_tree(self) -> Tree:
        """SPQR nodes (a), and the messages of all but the roots to their parents (b)."""
        b, slices = self.batch, self.layout.spqr_slices
        levels = [Level(below, rows) for below, rows in zip(((0, 0), *slices), slices, strict=False)]
        return self._in_parts(Tree(levels, Rows(None, b.spqr_begin, b.spqr_end), None, None, b.spqr_parent[..., : self.roots[0]]))

    @property
    def num_child_blocks(self) -> int:
        """How many rows of blocks come before the roots of the block-cut trees."""
        return self.layout.block_slices[-1][0]

    @cached_property
    def block_cut_tree(self) -> Tree:
        """Cut nodes (a) and blocks (b) without the roots, which have no parent to tell anything."""
        b, layout, n = self.batch, self.layout, self.num_child_blocks
        levels = [Level(*rows) for rows in zip(layout.block_slices, layout.cut_slices, strict=False)]
        of_blocks = Rows(None, b.block_begin[..., :n], b.block_end[..., :n])
        return self._in_parts(Tree(levels, Rows(None, b.cut_begin, b.cut_end), of_blocks, b.cut_parent, b.block_parent[..., :n]))

    def _in_parts(self, tree: Tree) -> Tree:
        """Trees of many graphs fall into parts of about one size; those of a few may not."""
        return in_parts(tree) if self.layout.num_graphs >= _MANY_GRAPHS else tree
