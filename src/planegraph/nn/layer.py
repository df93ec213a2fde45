"""One layer: TriEnc, BiEnc, CutEnc, then Update."""

from __future__ import annotations

import torch
from torch import Tensor

from .bi_enc import BiEnc
from .config import PlanEConfig
from .cut_enc import CutEnc
from .ops.mlp import kept_dtype
from .ops.shared import shared
from .reset import Module
from .streams import beside, mark
from .structure import Structure
from .tri_enc import TriEnc
from .update import Update


class PlanELayer(Module):
    """h^(l) from h^(l-1): what Update gives or, with ``config.residual``, h^(l-1) plus that.

    Shapes:
        h (N, hidden), edges (F, hidden) or None -> (N, hidden).
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        self.hidden, self.residual, self.norm = config.hidden, config.residual, config.norm
        self.tri_enc = TriEnc(config, replicas) if config.triconnected or config.biconnected or config.cut else None
        self.bi_enc = BiEnc(config, replicas) if config.biconnected or config.cut else None
        self.cut_enc = CutEnc(config, replicas) if config.cut else None
        self.update = Update(config, replicas)

    def forward(self, h: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        h, h_walks, h_trees, h_nodes = shared(h, h.dtype, *[self.kept_dtype(h)] * 3)
        h_spqr = h_block = h_cut = None
        with beside(h_walks, h_trees, edges):  # beside the terms of Update that need none of these
            if self.tri_enc:
                h_spqr = mark(self.tri_enc(h_walks, edges, s))
            if self.bi_enc:
                h_block = mark(self.bi_enc(h_spqr, s))
            if self.cut_enc:
                h_cut = mark(self.cut_enc(h_trees, h_block, s))
        out = self.update(h_nodes, edges, h_spqr, h_block, h_cut, s)
        return h + out if self.residual else out.to(h.dtype)

    def kept_dtype(self, h: Tensor) -> torch.dtype:
        """How representations like h are kept inside the layer."""
        return kept_dtype(h) if self.training and self.norm == "batch" else h.dtype

    def __repr__(self) -> str:
        return f"PlanELayer({self.hidden}, {' || '.join(self.update.terms)}{', residual' if self.residual else ''})"
