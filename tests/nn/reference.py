"""BasePlanE and E-BasePlanE, slowly: the paper's equations with Python loops over ``Decomposition`` objects of single graphs.

``Reference(model)`` reads the parameters of a fast model by name (the same tensors, so that their gradients can be compared) and its
config; nothing else is shared. Every vector is a separate tensor. The only thing that looks at several graphs at once is a batch
norm, which is why all maps take the rows of all graphs together. Dropout is left out.

Positions p_x = (sin x f, cos x f) with x counted from 0; a plain set of darts has no positions, which its tables say as 0, so x = -1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

import planegraph as pg

from .examples import Example

EPS, FLAT = 1e-5, 1e-10  # of the norms

Vectors = list[Tensor]


@dataclass
class Sample:
    """One graph: its decomposition, the embedding of each dart, and what the current layer has computed so far."""

    example: Example
    decomposition: pg.Decomposition
    h: Vectors
    dart: dict[tuple[int, int], Tensor]
    h_spqr: Vectors = field(default_factory=list)  # per SPQR node C
    h_block: Vectors = field(default_factory=list)  # per block B
    h_cut: dict[int, Tensor] = field(default_factory=dict)  # per cut node u

    @property
    def neighbours(self) -> list[list[int]]:
        near: list[list[int]] = [[] for _ in self.h]
        for u, v in self.example.edges.tolist():
            near[u].append(v)
            near[v].append(u)
        return near


class Reference:
    """The slow model with the parameters of the fast one."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.config = model.config
        self.parameters = dict(model.named_parameters())
        self.buffers = dict(model.named_buffers())
        self.training = model.training
        self.dtype = next(model.parameters()).dtype
        self.seen: dict[str, Tensor] = {}  # the rows that each batch norm got in training mode

    # ---- z_G = MLP( ||_l sum_u h_u^(l) / graph_scale ) -----------------------------------------------------------------

    def __call__(self, examples: Sequence[Example], on_nonplanar: str = "raise") -> Tensor:
        """Graph outputs, one row per example."""
        return torch.stack(self.mlp("readout", list(self.embed(examples, on_nonplanar))))

    def embed(self, examples: Sequence[Example], on_nonplanar: str = "raise") -> Tensor:
        """The sums over nodes (or means) of all layers side by side, one row per example."""
        layers = self.node_embeddings(examples, on_nonplanar)
        rows = []
        for i, example in enumerate(examples):
            by = max(example.n, 1) if self.config.pooling == "mean" else self.config.graph_scale
            rows.append(torch.cat([self.total(h[i]) for h in layers]) / by)
        return torch.stack(rows)

    def node_embeddings(self, examples: Sequence[Example], on_nonplanar: str = "raise") -> list[list[Vectors]]:
        """h_u^(l) as ``[layer][graph][node]``, layers counted from 1."""
        samples = [self.sample(example, on_nonplanar) for example in examples]
        out = []
        for layer in range(self.config.layers):
            name, config = f"layers.{layer}", self.config
            if config.triconnected or config.biconnected or config.cut:
                self.tri_enc(f"{name}.tri_enc", samples)
            if config.biconnected or config.cut:
                self.bi_enc(f"{name}.bi_enc", samples)
            if config.cut:
                self.cut_enc(f"{name}.cut_enc", samples)
            self.update(f"{name}.update", samples)
            out.append([sample.h for sample in samples])
        return out

    # ---- h^(0) and the dart embeddings ------------------------------------------------------------------------------------

    def sample(self, example: Example, on_nonplanar: str) -> Sample:
        h = self.encode("node_encoder", self.config.node_features, example.x, example.n)
        dart: dict[tuple[int, int], Tensor] = {}
        if self.config.edge_features is not None:
            darts = example.darts()
            for e, (u, v) in enumerate(example.edges.tolist()):
                there, back = self.encode("edge_encoder", self.config.edge_features, darts[e], 2)
                dart[u, v], dart[v, u] = there, back
        graph = example.build()
        if on_nonplanar == "subgraph":  # its other edges are among the neighbours of the example, and nowhere else
            return Sample(example, pg.decompose(pg.planar_subgraph(graph).graph), h, dart)
        return Sample(example, pg.decompose(graph, on_nonplanar), h, dart)

    def encode(self, name: str, features: object, values: object, rows: int) -> Vectors:
        if features is None:
            return [self.parameters[f"{name}.constant"]] * rows
        if hasattr(features, "sizes"):
            tables = [self.parameters[f"{name}.tables.{c}"] for c in range(len(features.sizes))]
            return [sum(table[int(k)] for table, k in zip(tables, row, strict=True)) for row in values]
        weight, bias = self.parameters[f"{name}.linear.weight"], self.parameters[f"{name}.linear.bias"]
        return [weight @ torch.as_tensor(row, dtype=self.dtype) + bias for row in values]

    # ---- TriEnc: h_spqr_C = MLP( sum_i MLP( h_w[i] || e_w[i],w[i+1] || p_kappa[i] || p_i ) ) ----------------------------------

    def tri_enc(self, name: str, samples: list[Sample]) -> None:
        entries = self.mlp_of_all(f"{name}.inner", [self.walk_entries(s) for s in samples])
        sums = []
        for sample, values in zip(samples, entries, strict=True):
            rest = iter(values)
            sums.append([self.total([next(rest) for _ in c.walk]) for c in sample.decomposition.spqr_nodes])
        for sample, h_spqr in zip(samples, self.mlp_of_all(f"{name}.outer", sums), strict=True):
            sample.h_spqr = h_spqr

    def walk_entries(self, sample: Sample) -> Vectors:
        """With edge features one more number at the end, 1 at a virtual edge, where e is 0."""
        entries = []
        for c in sample.decomposition.spqr_nodes:
            for v, edge, kappa, position in zip(c.walk, c.walk_edges, c.kappa, c.positions, strict=True):
                parts = [sample.h[v], self.position(kappa), self.position(position)]
                if self.config.edge_features is not None:
                    parts.insert(1, self.zero() if edge is None else sample.dart[v, self.other_end(sample, edge, v)])
                    parts.append(torch.tensor([float(edge is None)], dtype=self.dtype))
                entries.append(torch.cat(parts))
        return entries

    @staticmethod
    def other_end(sample: Sample, edge: int, v: int) -> int:
        a, b = sample.decomposition.graph.edges[edge].tolist()
        assert v in (a, b), "a walk leaves an end of its edge"
        return b if v == a else a

    # ---- BiEnc: h_block_C = MLP( h_spqr_C + sum_C' log( 1 + MLP( h_block_C' || p_theta(C, C') ) ) ) -----------------------------

    def bi_enc(self, name: str, samples: list[Sample]) -> None:
        for sample in samples:
            nodes = sample.decomposition.spqr_nodes
            subtree: dict[int, Tensor] = {}
            for c in sorted(nodes, key=lambda c: c.level):  # leaves first
                children = [d for d in nodes if d.parent == c.index]
                below = [torch.cat([subtree[d.index], self.position(d.theta)]) for d in children]
                messages = [torch.log(1 + y) for y in self.mlp(f"{name}.inner", below)]
                subtree[c.index] = self.mlp_of(f"{name}.outer", self.total([sample.h_spqr[c.index], *messages]))
            sample.h_block = [subtree[b.root] for b in sample.decomposition.blocks]

    # ---- CutEnc: h_cut_u = MLP( h_u + sum_B log( 1 + MLP( h_block_B + sum_v h_cut_v ) ) ) ---------------------------------------

    def cut_enc(self, name: str, samples: list[Sample]) -> None:
        for sample in samples:
            blocks, cuts = sample.decomposition.blocks, sample.decomposition.cut_nodes
            h_cut: dict[int, Tensor] = {}
            for cut in sorted(cuts, key=lambda cut: cut.level):  # leaves first
                messages = []
                for b in blocks:
                    if b.parent_cut == cut.index:
                        grandchildren = [h_cut[c.node] for c in cuts if c.parent_block == b.index]
                        inner = self.mlp_of(f"{name}.inner", self.total([sample.h_block[b.index], *grandchildren]))
                        messages.append(torch.log(1 + inner))
                h_cut[cut.node] = self.mlp_of(f"{name}.outer", self.total([sample.h[cut.node], *messages]))
            sample.h_cut = h_cut

    # ---- Update: h_u = f( g1 || g2 || g3 || g4 || h_cut_u ), and with residual h_u plus that ------------------------------------

    def update(self, name: str, samples: list[Sample]) -> None:
        config = self.config
        terms: list[list[Vectors]] = []
        if config.neighbours:
            messages = self.messages(name, samples)
            terms.append(self.g(f"{name}.g1", samples, lambda i, u: messages[i][u]))
        if config.readout:
            every = self.mlp(f"{name}.g2", [self.total(sample.h) / config.graph_scale for sample in samples])
            terms.append([[every[i]] * len(sample.h) for i, sample in enumerate(samples)])
        if config.triconnected:
            around = [
                [[s.h_spqr[c.index] for c in s.decomposition.spqr_nodes if u in c.nodes] for u in range(len(s.h))] for s in samples
            ]
            terms.append(self.g(f"{name}.g3", samples, lambda i, u: around[i][u]))
        if config.biconnected:
            blocks = [
                [[s.h_block[b.index] for b in s.decomposition.blocks if u in b.nodes] for u in range(len(s.h))] for s in samples
            ]
            terms.append(self.g(f"{name}.g4", samples, lambda i, u: blocks[i][u]))
        if config.cut:
            terms.append([[s.h_cut.get(u, self.zero()) for u in range(len(s.h))] for s in samples])
        joined = [[torch.cat(parts) for parts in zip(*mine, strict=True)] for mine in zip(*terms, strict=True)]
        for sample, h in zip(samples, self.mlp_of_all(f"{name}.f", joined), strict=True):
            sample.h = [old + new for old, new in zip(sample.h, h, strict=True)] if config.residual else h

    def g(self, name: str, samples: list[Sample], others: Callable[[int, int], Vectors]) -> list[Vectors]:
        """g(h_u + the sum of the others), for each node of each graph."""
        rows = [[self.total([h, *others(i, u)]) for u, h in enumerate(sample.h)] for i, sample in enumerate(samples)]
        return self.mlp_of_all(name, rows)

    def messages(self, name: str, samples: list[Sample]) -> list[list[Vectors]]:
        """What each node sums over its neighbours: h_v, or g5(h_v || e_v,u)."""
        near = [sample.neighbours for sample in samples]
        if self.config.edge_features is None:
            return [[[s.h[v] for v in mine] for mine in n] for s, n in zip(samples, near, strict=True)]
        rows = [
            [torch.cat([s.h[v], s.dart[v, u]]) for u, mine in enumerate(n) for v in mine]
            for s, n in zip(samples, near, strict=True)
        ]
        out = []
        for values, n in zip(self.mlp_of_all(f"{name}.g5", rows), near, strict=True):
            rest = iter(values)
            out.append([[next(rest) for _ in mine] for mine in n])
        return out

    # ---- parts --------------------------------------------------------------------------------------------------------------

    def position(self, value: int) -> Tensor:
        """p_x of a kappa, position or theta of the tables, which count from 1."""
        k = self.config.pos_dim // 2
        f = [64.0 ** (-j / (k - 1)) if k > 1 else 1.0 for j in range(k)]
        angle = torch.tensor([(value - 1) * y for y in f], dtype=torch.float64)
        return torch.cat([angle.sin(), angle.cos()]).to(self.dtype)

    def total(self, rows: Vectors) -> Tensor:
        return sum(rows, start=self.zero())

    def zero(self) -> Tensor:
        return torch.zeros(self.config.hidden, dtype=self.dtype)

    def mlp_of(self, name: str, row: Tensor) -> Tensor:
        return self.mlp(name, [row])[0]

    def mlp_of_all(self, name: str, groups: list[Vectors]) -> list[Vectors]:
        """The same map on the rows of all graphs."""
        rest = iter(self.mlp(name, [row for rows in groups for row in rows]))
        return [[next(rest) for _ in rows] for rows in groups]

    def mlp(self, name: str, rows: Vectors) -> Vectors:
        """Linear, norm, ReLU, Linear, norm, ReLU; f and the output MLP have no last norm and ReLU."""
        if not rows:
            return []
        x = torch.stack(rows)
        for i, which in enumerate(("first", "last")):
            weight, bias = self.linear(f"{name}.{which}")
            x = x @ weight.T
            if which == "last" and name.rpartition(".")[2] in ("f", "readout"):
                return list(x + bias)
            if self.has_norms(name):
                assert bias is None, "a norm would take it away"
                x = self.norm(f"{name}.norms.{i}", x)
            else:
                x = x + bias
            x = x.relu()
        return list(x)

    def linear(self, name: str) -> tuple[Tensor, Tensor | None]:
        """Weight and bias of a map; that of a concatenation has a weight for each part, and the bias is that of the first part."""
        if name.endswith(".last"):
            return self.parameters[f"{name}.weight"], self.parameters.get(f"{name}.bias")
        parts = [self.parameters[f"{name}.{k}.weight"] for k in range(5) if f"{name}.{k}.weight" in self.parameters]
        return torch.cat(parts, dim=1), self.parameters.get(f"{name}.0.bias")

    def has_norms(self, name: str) -> bool:
        """All MLPs but those of the tree recursions and those that see a row per graph."""
        left_out = ".bi_enc." in name or ".cut_enc." in name or name.endswith(".g2") or name == "readout"
        return self.config.norm == "batch" and not left_out

    def norm(self, name: str, x: Tensor) -> Tensor:
        if self.training:
            self.seen[name] = x.detach()
            mean, variance = x.mean(0), x.var(0, unbiased=False)
        else:
            mean, variance = self.buffers[f"{name}.running_mean"], self.buffers[f"{name}.running_var"]
        inverse = (1 / (variance + EPS).sqrt()).where(variance > FLAT * (1 + mean.square()), 0)  # 0 where all rows are alike
        return (x - mean) * inverse * self.parameters[f"{name}.weight"] + self.parameters[f"{name}.bias"]
