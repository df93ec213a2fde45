"""One PlanE layer as a PyG-style operator, for your own modules."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ..data.batch import PlanarBatch
from ..errors import InvalidGraphError
from .config import Continuous, Norm, PlanEConfig, at_least_one, is_count
from .guards import check_batch, eager_in_full_precision
from .layer import PlanELayer
from .linear import Linear
from .reset import Module
from .structure import Structure


class PlanEConv(Module):
    r"""The PlanE layer of `"PlanE: Representation Learning over Planar Graphs" <https://arxiv.org/abs/2307.01180>`_

    .. math::
        \mathbf{h}_u = \mathbf{W} \mathbf{x}_u + \mathbf{b}, \qquad \mathbf{x}'_u = \mathbf{h}_u + f\Big(
        g_1\big( \mathbf{h}_u + \sum_{v \in N_u} \mathbf{h}_v \big) \,\|\, g_2\big( \sum_{v \in V} \mathbf{h}_v \big) \,\|\,
        g_3\big( \mathbf{h}_u + \sum_{C \in \sigma_u} \hat{\mathbf{h}}_C \big) \,\|\,
        g_4\big( \mathbf{h}_u + \sum_{B \in \pi_u} \tilde{\mathbf{h}}_B \big) \,\|\, \bar{\mathbf{h}}_{\delta_u} \Big)

    where TriEnc, BiEnc and CutEnc compute the representations of triconnected components C, blocks B and the subtree below a cut node from
    :math:`\mathbf{h}`. Where ``in_channels`` equals ``out_channels`` there is no first map: :math:`\mathbf{h} = \mathbf{x}`. With
    ``edge_dim`` the neighbour sum is over :math:`g_5(\mathbf{h}_v \,\|\, \mathbf{e}_{vu})` and walks read the edges they follow, where
    :math:`\mathbf{e}_{vu}` is a linear map of ``edge_attr``.

    The output depends on the numbering of a graph unless ties between walks were broken by all that ``x`` and ``edge_attr`` are computed
    from: keep the default labels of :class:`planegraph.transforms.Planar` and :class:`planegraph.data.PackedDataset`.

    Args:
        in_channels: width of ``x``.
        out_channels: width of the output, and of all representations inside.
        edge_dim: width of ``edge_attr``; None if edges have none.
        pos_dim: width of the positional embeddings; even.
        norm: "batch" or "none".
        norm_momentum: how far running averages of batch norm move with each batch.
        dropout: after f.
        residual: whether :math:`\mathbf{h}_u`, the mapped input, is added to f(...).
        graph_scale: the sum over V is divided by it; about the number of nodes of a graph is good.
        neighbours, readout, triconnected, biconnected, cut: the five terms, each of which can be switched off.
        replicas: None, or the number of copies with their own weights, for ``PlanarBatch.stack``.

    Shapes:
        - **x** (N, in_channels), of any float dtype
        - **batch**: a PyG batch of :class:`planegraph.data.PlanarData` (or one of them), or a :class:`planegraph.data.PlanarBatch`
        - **edge_attr** (2E, edge_dim), a row per column of ``batch.edge_index``, whether ``batch`` has edge features or not; the
          directions of an edge may differ. For a PlanarBatch (F, edge_dim), a row per row of its ``edge_attr``
        - **output** (N, out_channels), in the dtype of the parameters (float32), under autocast too

    >>> import torch
    >>> from torch_geometric.data import Batch, Data
    >>> from planegraph.transforms import Planar
    >>> path = Planar()(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
    >>> batch = Batch.from_data_list([path, path])
    >>> conv = PlanEConv(16, 32, edge_dim=8)
    >>> conv
    PlanEConv(16, 32, edge_dim=8)
    >>> conv(torch.randn(6, 16), batch, torch.randn(8, 8)).shape
    torch.Size([6, 32])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        edge_dim: int | None = None,
        *,
        pos_dim: int = 16,
        norm: Norm = "batch",
        norm_momentum: float = 0.1,
        dropout: float = 0.0,
        residual: bool = True,
        graph_scale: float = 20.0,
        neighbours: bool = True,
        readout: bool = True,
        triconnected: bool = True,
        biconnected: bool = True,
        cut: bool = True,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("in_channels", in_channels), ("out_channels", out_channels), ("edge_dim", edge_dim)):
            if not (name == "edge_dim" and value is None):
                _check_width(name, value)
        if replicas is not None:
            at_least_one("replicas", replicas)
        config = PlanEConfig(
            edge_features=None if edge_dim is None else Continuous(edge_dim),
            hidden=out_channels,
            pos_dim=pos_dim,
            norm=norm,
            norm_momentum=norm_momentum,
            dropout=dropout,
            residual=residual,
            graph_scale=graph_scale,
            neighbours=neighbours,
            readout=readout,
            triconnected=triconnected,
            biconnected=biconnected,
            cut=cut,
        )
        self.in_channels, self.out_channels = int(in_channels), int(out_channels)  # numpy's integers, too
        self.edge_dim = None if edge_dim is None else int(edge_dim)
        self.pos_dim, self.replicas = pos_dim, replicas
        self.lin = None if self.in_channels == self.out_channels else Linear(self.in_channels, self.out_channels, replicas)
        self.lin_edge = None if self.edge_dim is None else Linear(self.edge_dim, self.out_channels, replicas)
        self.layer = PlanELayer(config, replicas)

    @eager_in_full_precision
    def forward(self, x: Tensor, batch: Any, edge_attr: Tensor | None = None) -> Tensor:
        batch, columns = (batch, None) if isinstance(batch, PlanarBatch) else _from_pyg(batch)
        like = next(self.parameters())
        check_batch(batch, self.replicas, like.device)
        h = self._checked("x", x, batch.layout.num_nodes, self.in_channels, "a row per node")
        h = h if self.lin is None else self.lin(h)
        return self.layer(h, self._edges(edge_attr, batch, columns), Structure(batch, self.pos_dim, like.dtype))

    def _edges(self, edge_attr: Tensor | None, batch: PlanarBatch, columns: Tensor | None) -> Tensor | None:
        """Edge representations in the order of the batch."""
        rows, darts = batch.layout.num_rows, batch.layout.num_darts
        if self.lin_edge is None:
            if edge_attr is not None:
                raise InvalidGraphError(
                    f"edge_attr is given, but {self} reads no edges; make it with edge_dim={_width(edge_attr)}, or leave edge_attr out"
                )
            return None
        if darts and not rows:
            raise InvalidGraphError(
                f"{self} reads edges, but the batch was packed without edge features and has no rows for them; pack the graphs with "
                "edge_attr, take a PyG batch of PlanarData, or leave edge_dim out"
            )
        per = "a row per row of the batch's edge_attr" if columns is None else "a row per column of edge_index"
        if edge_attr is None and not rows:
            edge_attr = self.lin_edge.weight.new_empty(self._shape(0, self.edge_dim))
        edges = self._checked("edge_attr", edge_attr, rows, self.edge_dim, per)
        return self.lin_edge(edges if columns is None else edges.index_select(0, columns))

    def _shape(self, rows: int, width: int) -> tuple[int, ...]:
        return (rows, width) if self.replicas is None else (self.replicas, rows, width)

    def _checked(self, name: str, values: Any, rows: int, width: int, per: str) -> Tensor:
        """The values in the dtype of the parameters, if they have the right shape and kind and are where these are."""
        like, shape = next(self.parameters()), self._shape(rows, width)
        if not isinstance(values, Tensor):
            raise InvalidGraphError(f"{self} needs {name}, a tensor of shape {shape}, {per}; found {type(values).__name__}")
        if values.shape != shape:
            raise InvalidGraphError(f"{name} must have shape {shape}, {per}; found {tuple(values.shape)}")
        if not values.is_floating_point():
            raise InvalidGraphError(
                f"{name} must hold floats; found {values.dtype}. Embed categories first, as torch.nn.Embedding does"
            )
        if values.device != like.device:
            raise InvalidGraphError(f"{name} is on {values.device}, {self} on {like.device}; move one with .to(...)")
        return values.to(like.dtype)

    def __repr__(self) -> str:
        edges = "" if self.edge_dim is None else f", edge_dim={self.edge_dim}"
        return f"PlanEConv({self.in_channels}, {self.out_channels}{edges})"


def _check_width(name: str, value: Any) -> None:
    if isinstance(value, tuple):
        raise ValueError(
            f"{name} must be an integer: graphs are undirected, so there is no pair of source and target; found {value!r}"
        )
    if not is_count(value):
        raise ValueError(f"{name} must be an integer, at least 1: widths are not inferred from the first batch; found {value!r}")


def _width(values: Any) -> Any:
    return values.shape[-1] if isinstance(values, Tensor) and values.dim() else "..."


def _from_pyg(batch: Any) -> tuple[PlanarBatch, Tensor]:
    from ..data.pyg import bare_batch

    if isinstance(batch, Tensor):
        raise InvalidGraphError(
            f"expected the batch itself, as in conv(x, batch); found a tensor of shape {tuple(batch.shape)}, which has no decomposition"
        )
    return bare_batch(batch)
