"""One PlanE layer: TriEnc, BiEnc, CutEnc, then Update; for use in one's own modules."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..data.batch import PlanarBatch
from .bi_enc import BiEnc
from .config import PlanEConfig
from .cut_enc import CutEnc
from .guards import check_device, eager_in_full_precision
from .mapped import Mapped
from .norm import set_momentum
from .streams import Beside
from .structure import Structure
from .tri_enc import TriEnc
from .update import Update


class PlanEConv(nn.Module):
    """h^(l) from h^(l-1): what Update gives or, with ``config.residual``, h^(l-1) plus that.

    Args:
        config: a :class:`PlanEConfig`, or the width of the representations. With ``edge_features`` set (to anything), the layer takes
            representations of the edges too.

    Shapes:
        h (N, hidden), edges (F, hidden) or None -> (N, hidden). Nodes are in the order of the batch, edges in that of its ``edge_attr``.

    The batch is a :class:`PlanarBatch`, or a batch of ``PlanarData`` from PyG's own ``DataLoader``. Rows follow a relabelling of the
    graph up to its automorphisms: see :meth:`GraphModel.node_embeddings`.

    >>> import planegraph as pg, torch
    >>> from planegraph.data import PackedDataset
    >>> batch = PackedDataset.from_graphs([pg.families.wheel(5)])[[0]]
    >>> PlanEConv(8)(torch.ones(6, 8), batch).shape
    torch.Size([6, 8])
    """

    def __init__(self, config: PlanEConfig | int, replicas: int | None = None) -> None:
        super().__init__()
        config = PlanEConfig(hidden=config) if isinstance(config, int) else config
        self.config = config
        self.tri_enc = TriEnc(config, replicas) if {"triconnected", "biconnected", "cut"} & set(config.terms) else None
        self.bi_enc = BiEnc(config, replicas) if {"biconnected", "cut"} & set(config.terms) else None
        self.cut_enc = CutEnc(config, replicas) if config.cut else None
        self.update = Update(config, replicas)
        set_momentum(self, config.norm_momentum)

    @eager_in_full_precision
    def forward(self, h: Tensor, batch: PlanarBatch | Any, edges: Tensor | None = None) -> Tensor:
        s = self._structure(h, batch)
        if (edges is None) != (self.config.edge_features is None):
            raise ValueError("give edge representations exactly if the config has edge_features")
        if edges is not None and edges.shape[-2:] != (s.layout.num_rows, self.config.hidden):
            wanted = f"({s.layout.num_rows}, {self.config.hidden})"
            raise ValueError(f"edges must have shape {wanted}, a row per row of the batch's edge_attr; found {tuple(edges.shape)}")
        return self.run(Mapped(h), None if edges is None else Mapped(edges), s).value()

    def run(self, h: Mapped, edges: Mapped | None, s: Structure) -> Mapped:
        """The same on representations that are not multiplied out."""
        beside = Beside(h.x.device)
        s.prepare_shared()
        with beside.start():
            begun = self.update.begin(h, edges, s)
        hat = None if self.tri_enc is None else self.tri_enc(h, edges, s)
        tilde = None if self.bi_enc is None else self.bi_enc(hat, s)
        bar = None if self.cut_enc is None else self.cut_enc(h, tilde, s)
        beside.join(*begun.tensors)
        new = self.update.finish(begun, hat, tilde, bar, s)
        return Mapped(h.value() + new.value()) if self.config.residual else new

    def _structure(self, h: Tensor, batch: Any) -> Structure:
        if not isinstance(batch, PlanarBatch):
            from ..data.pyg import planar_batch

            batch = planar_batch(batch)
        wanted = (*batch.index.shape[:-1], batch.layout.num_nodes, self.config.hidden)
        if tuple(h.shape) != wanted:
            raise ValueError(f"h must have shape {wanted}, a row per node; found {tuple(h.shape)}")
        check_device(batch, h.device)
        return Structure(batch, self.config.pos_dim, h.dtype)
