r"""Update: the new representation of a node from its neighbours, its graph, its components, its blocks and what hangs below it.

.. math::
    h_u^{(l)} = f\Big( g_1\big( h_u + \sum_{v \in N_u} h_v \big) \,\|\, g_2\big( \sum_{v \in V} h_v \big) \,\|\,
    g_3\big( h_u + \sum_{C \in \sigma_u} \hat h_C \big) \,\|\, g_4\big( h_u + \sum_{B \in \pi_u} \tilde h_B \big) \,\|\,
    \bar h_{\delta_u} \Big)

all on the right at layer l - 1 but the encodings. With edge features the neighbour sum is over g_5( h_v || e_{v, u} ).
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from .config import PlanEConfig
from .dropout import make_dropout
from .incidence import add_sums
from .linear import linear, matvec
from .mapped import Mapped, plus
from .mlp import MLP, SumOfMLP
from .relu_sum import can_fuse, relu_sum
from .structure import Structure

_LOCAL = ("neighbours", "triconnected", "biconnected")  # terms of the form g(h_u + a sum)
_G = {"neighbours": "g1", "readout": "g2", "triconnected": "g3", "biconnected": "g4"}


class Begun(NamedTuple):
    """An Update of which the part that reads no encoding is done: the first map of f so far (None: 0), and what the other terms need."""

    x: Tensor | None
    weights: dict[str, Tensor]  # the first map of f by term
    maps: dict[str, Tensor]  # terms with a linear g: that map composed with the one of f
    inner: dict[str, Tensor]  # terms with a deep g: its first map so far

    @property
    def tensors(self) -> list[Tensor]:
        """What :meth:`Update.finish` reads."""
        begun = [] if self.x is None else [self.x]
        return [*begun, *self.weights.values(), *self.maps.values(), *self.inner.values()]


class Update(nn.Module):
    r"""h_u = f( g1(h_u + sum of h_v) || g2(sum over V) || g3(h_u + sum of hat h_C) || g4(h_u + sum of tilde h_B) || bar h_u ).

    Terms that the config switches off are left out, with their maps.

    Shapes:
        h (N, hidden), edges (F, hidden) or None, hat (C, hidden), tilde (B, hidden), bar (K, hidden) -> (N, hidden), all as
        :class:`Mapped`; an encoding may be None if its term is off.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, self.terms = config.hidden, config.terms
        self.graph_scale = config.graph_scale
        bias = config.norm != "batch" or config.mlp_depth == 1  # otherwise the norm in f takes it away
        for term in self.terms:
            if term in _G:
                norm = config.graph_norm if term == "readout" else config.norm
                g = MLP(d, d, config.width, depth=config.g_depth, norm=norm, replicas=replicas, bias=bias)
                self.add_module(_G[term], g)
        self.g5 = None
        if config.neighbours and config.edge_features is not None:
            inner = {"depth": config.mlp_depth, "norm": config.inner_norm, "replicas": replicas}
            self.g5 = SumOfMLP((d, d), d, config.width, **inner)
        self.f = MLP(len(self.terms) * d, d, config.width, depth=config.mlp_depth, norm=config.norm, replicas=replicas)
        self.dropout = make_dropout(config.dropout, replicas)

    def forward(
        self, h: Mapped, edges: Mapped | None, hat: Mapped | None, tilde: Mapped | None, bar: Mapped | None, s: Structure
    ) -> Mapped:
        return self.finish(self.begin(h, edges, s), hat, tilde, bar, s)

    def begin(self, h: Mapped, edges: Mapped | None, s: Structure) -> Begun:
        """What reads only h: the first map of f is a sum of maps of its parts, each of which is mapped where it is and then gathered."""
        first = self.f.first
        weights = dict(zip(self.terms, first.weight.split(first.weight.shape[-1] // len(self.terms), dim=-1), strict=True))
        bias, maps, inner = first.bias, {}, {}
        for term in self.terms:
            if term not in _LOCAL:
                continue
            g: MLP = getattr(self, _G[term])
            if len(g.linears) == 1:  # two maps in a row are one
                maps[term] = weights[term] @ g.first.weight
                bias = plus(bias, None if g.first.bias is None else matvec(weights[term], g.first.bias))
            else:
                inner[term] = h.map(g.first.weight, g.first.bias)
        x = None
        if maps:
            x = h.map(sum(maps.values()), bias)
        elif bias is not None:
            x = bias.unsqueeze(-2).expand(*bias.shape[:-1], s.layout.num_nodes, bias.shape[-1]).clone()
        if "neighbours" in maps:
            x = self._add_neighbours(x, maps["neighbours"], h, edges, s)
        elif "neighbours" in inner:
            value = self._add_neighbours(inner.pop("neighbours"), self.g1.first.weight, h, edges, s)
            x = plus(x, self.g1.after_first(value, s.batch.node_mask).map(weights["neighbours"]))
        if "readout" in weights:
            sums = h.sums(s.node_graph.transposed, s.graph_size)
            of_graph = self.g2(sums if self.graph_scale is None else sums / self.graph_scale, s.batch.graph_mask)
            x = add_sums(x, s.node_graph, linear(of_graph, weights["readout"]))
        return Begun(x, weights, maps, inner)

    def finish(self, begun: Begun, hat: Mapped | None, tilde: Mapped | None, bar: Mapped | None, s: Structure) -> Mapped:
        """The terms of the encodings, and f."""
        x = begun.x
        for term, incidence, value in (("triconnected", s.node_spqr, hat), ("biconnected", s.node_block, tilde)):
            if term in begun.maps:
                x = add_sums(x, incidence, value.map(begun.maps[term]))
            elif term in begun.inner:
                g: MLP = getattr(self, _G[term])
                inner = add_sums(begun.inner[term], incidence, value.map(g.first.weight))
                x = plus(x, g.after_first(inner, s.batch.node_mask).map(begun.weights[term]))
        if "cut" in begun.weights:
            x = add_sums(x, s.node_cut, bar.map(begun.weights["cut"]))
        out = self.f.after_first(x, s.batch.node_mask)
        return out if self.dropout is None or not self.training else Mapped(self.dropout(out.value()))

    def _add_neighbours(self, x: Tensor, weight: Tensor, h: Mapped, edges: Mapped | None, s: Structure) -> Tensor:
        """x + weight times the sum over the neighbours."""
        if self.g5 is None:
            return add_sums(x, s.neighbours, h.map(weight))
        w_node, w_edge = self.g5.parts_of_first()
        of_nodes, of_edges = h.map(w_node, self.g5.first.bias), edges.map(w_edge)
        if self.g5.is_simple and can_fuse(of_nodes):
            sums = relu_sum([of_nodes, of_edges], [s.batch.dart_source, s.batch.dart_row], s.node_darts.rows)
        else:
            sums = self.g5.sums(s.dart_source @ of_nodes + s.dart_row @ of_edges, s.node_darts, s.batch.dart_mask)
        total = self.g5.finish(sums)
        x = x + linear(total.x, total.compose(weight))
        return x if total.bias is None else x + s.degree * total.shift(weight).unsqueeze(-2)
