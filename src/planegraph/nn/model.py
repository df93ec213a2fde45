"""What PlanE and the baselines have in common: encoders, pooling, readout, checks of the batch, saving and loading.

A model computes h^(1), ..., h^(L) for all nodes; z_G = MLP( || over layers of the sum of h_u^(l) over u in V ), or of the mean; where
graphs have descriptors, these are joined to the sums. With ``level="node"`` it is z_u = MLP( || over layers of the mean of h_v^(l) over
v in O_u ), where O_u is the orbit of u: all nodes that an automorphism of the labelled graph takes u to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..data.fingerprint import parse_fingerprint
from ..data.format import read_tensors
from ..errors import FormatError, InvalidGraphError, MissingDependencyError
from ..io.atomic import replace_files
from ..io.checksums import SEAL, UNSEALED, check_file, json_text, sealed_file
from ..io.text import shortened
from .config import Categorical, Mixed, PlanEConfig, at_least_one
from .features import make_encoder
from .for_data import sizes_of
from .guards import check_batch, eager_in_full_precision
from .linear import Linear
from .mlp import MLP
from .reset import Module
from .structure import Structure

FORMAT = 2
"""Of saved models; it grows when the function of the same settings changes."""

_SETTINGS = "planegraph"
_DEEP = 16  # layers: each takes milliseconds to build, so of a model of more one layer is counted before all are built


class GraphModel(Module):
    """The base of all models; a subclass computes the node representations of each layer (:meth:`run_layers`).

    Args:
        config: all settings.
        replicas: None, or how many copies with their own weights run side by side on stacked batches (``PlanarBatch.stack``).
    """

    reads_edges = True
    """Whether the layers read edges; if not, edge features of a batch are nobody's concern."""
    reads_walks = True
    """Whether the layers read canonical walks, which automorphisms leave open; if not, h is the same for all nodes of an orbit."""

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        if not isinstance(config, PlanEConfig):
            name = type(self).__name__
            raise TypeError(
                f"{name} needs its settings, as in {name}(PlanEConfig(hidden=64)), or a dataset, as in {name}.for_data(dataset); "
                f"found {config!r:.80}. A layer by its widths is PlanEConv(16, 32)"
            )
        if replicas is not None:
            at_least_one("replicas", replicas)
        self.config, self.replicas = config, replicas
        self.units = self._units("cpu")
        self.node_encoder = make_encoder(config.node_features, config.hidden, "node features x", replicas)
        self.orbit_encoder = Linear(config.pos_dim, config.hidden, replicas, bias=False) if config.orbit_numbers else None
        self.edge_encoder = None
        if config.edge_features is not None and self.reads_edges:
            self.edge_encoder = make_encoder(config.edge_features, config.hidden, "edge features edge_attr", replicas)

    def _add_readout(self) -> None:
        """Last, so that the parameters stand in the order of the computation."""
        c = self.config
        inputs = (c.hidden * c.layers, c.descriptors) if c.descriptors else c.hidden * c.layers
        self.readout = MLP(inputs, c.outputs, replicas=self.replicas, hidden=c.hidden, ends=False, dropout=c.dropout_readout)

    @classmethod
    def for_data(cls, dataset: Any, outputs: int | None = None, **settings: Any) -> Self:
        """A model for the features of a dataset: an embedding per integer column, a linear map of float columns.

        Args:
            dataset: a :class:`planegraph.data.PackedDataset`; a PyG dataset or a list of ``Data`` or ``PlanarData``; a ``GraphBatch`` or
                a list of :class:`planegraph.Graph`, whose labels are the features; or a task of ``planegraph.datasets``. Give all of
                it, not only the training part: categories are counted up to the largest one here.
            outputs: width of the output; by default that of the task, or 1.
            settings: any of :class:`PlanEConfig`, in place of what is found here. Without ``graph_scale`` it is the mean number of nodes,
                to two digits.

        >>> import planegraph as pg
        >>> from planegraph.nn import BasePlanE
        >>> graphs = [pg.Graph(3, [(0, 1), (1, 2)], node_labels=[6, 6, 8]), pg.Graph(2, [(0, 1)], node_labels=[6, 7])]
        >>> model = BasePlanE.for_data(graphs, outputs=2, hidden=16)
        >>> model.config.node_features, model.config.edge_features, model.config.graph_scale
        (Categorical(sizes=(9,)), None, 2.5)
        """
        found = sizes_of(dataset)
        config = {
            "node_features": found.node_features,
            "edge_features": found.edge_features,
            "graph_scale": float(f"{found.nodes:.2g}"),
            "outputs": found.outputs if outputs is None else outputs,
            "level": found.level,
            "descriptors": found.descriptors,
            "units": found.units if outputs in (None, found.outputs) else None,
        }
        return cls(PlanEConfig(**config | settings))

    def run_layers(self, h: Tensor, edges: Tensor | None, s: Structure) -> list[Tensor]:
        """h^(1), ..., h^(L), given h^(0) and the edge representations."""
        raise NotImplementedError

    # ---- what users call ----------------------------------------------------------------------------------------------------

    @eager_in_full_precision
    def forward(self, batch: Any) -> Tensor:
        """(G, outputs), or (N, outputs) with ``level="node"``: the outputs of a PlanarBatch or of a PyG batch of PlanarData."""
        batch = self.prepare(batch)
        out = self._read_nodes(batch) if self.config.level == "node" else self._read_graphs(batch)
        return out if self.units is None else self._in_units(out)

    @eager_in_full_precision
    def embed(self, batch: Any) -> Tensor:
        """(G, layers * hidden): what the output MLP sees of the graph, layer beside layer: sums of the node representations over
        ``graph_scale``, or means. Descriptors are not among it."""
        return self._pool(self.prepare(batch))

    @eager_in_full_precision
    def node_embeddings(self, batch: Any) -> Tensor:
        """(N, hidden): the node representations of the last layer, nodes in the order of the batch.

        Walks are canonical up to automorphisms, as in the paper. So where a graph has automorphisms, the rows of nodes that an
        automorphism exchanges may differ, and a relabelling may exchange them. Sums over nodes, and with them all graph outputs, are
        invariant. If the batch has orbits (:meth:`PackedDataset.with_orbits`), the rows are averaged over them: nodes of one orbit
        then have equal rows, which follow every relabelling.

        >>> import planegraph as pg
        >>> from planegraph.data import PackedDataset
        >>> from planegraph.nn import BasePlanE, PlanEConfig
        >>> batch = PackedDataset.from_graphs([pg.families.path(3)]).with_orbits()[:]
        >>> first, _, last = BasePlanE(PlanEConfig(hidden=8, layers=1)).eval().node_embeddings(batch)
        >>> bool((first == last).all())
        True
        """
        batch = self.prepare(batch)
        layers, s = self._layers(batch)
        return s.node_orbit @ self._orbit_means(layers[-1], s) if "node_orbit" in batch.attrs else layers[-1]

    def _in_units(self, out: Tensor) -> Tensor:
        """Values in the units of the target, at least in single precision: in half, an energy of -76,000.1 is infinite."""
        center, spread = self.units
        return (out.double() * spread + center).to(torch.promote_types(out.dtype, torch.float32))

    def _units(self, device: torch.device | str) -> Tensor | None:
        """(2, outputs): center and spread of each output. No buffer, as a model that is cast to half keeps them as they are."""
        return None if self.config.units is None else torch.tensor(self.config.units, dtype=torch.float64, device=device).T

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        super()._apply(fn, recurse)
        if self.units is not None:
            self.units = self._units(next(self.parameters()).device)
        return self

    def _layers(self, batch: PlanarBatch) -> tuple[list[Tensor], Structure]:
        dtype = next(self.parameters()).dtype
        s = Structure(batch, self.config.pos_dim, dtype)
        h = self.node_encoder(batch.x, batch.layout.num_nodes, s.name_node)
        if self.orbit_encoder is not None:
            self._check_orbits(batch)
            h = h + self.orbit_encoder(s.orbit_positions)
        edges = None
        if self.edge_encoder is not None:
            edges = self.edge_encoder(batch.edge_attr, batch.layout.num_rows, s.name_edge)
        return self.run_layers(h, edges, s), s

    def _read_graphs(self, batch: PlanarBatch) -> Tensor:
        inputs = [self._pool(batch)]
        if self.config.descriptors:
            inputs.append(self._descriptors(batch).to(inputs[0].dtype))
        return self.readout(*inputs)

    def _read_nodes(self, batch: PlanarBatch) -> Tensor:
        """The output of each node is that of its orbit, bit for bit."""
        layers, s = self._layers(batch)
        h = torch.cat(layers, dim=-1)
        if not self.reads_walks:
            return self.readout(h)
        self._check_orbits(batch)
        return s.node_orbit @ self.readout(self._orbit_means(h, s))

    def _orbit_means(self, h: Tensor, s: Structure) -> Tensor:
        return s.node_orbit.transposed @ h / s.orbit_size.clamp(min=1)

    def _pool(self, batch: PlanarBatch) -> Tensor:
        layers, s = self._layers(batch)
        sums = torch.cat([s.node_graph.transposed @ h for h in layers], dim=-1)
        return sums / (s.graph_size.clamp(min=1) if self.config.pooling == "mean" else self.config.graph_scale)

    # ---- what is wrong with a batch -----------------------------------------------------------------------------------------

    def prepare(self, batch: Any) -> PlanarBatch:
        """The batch as a PlanarBatch that this model can read, or an error that says why not."""
        if not isinstance(batch, PlanarBatch):
            batch = _from_pyg(batch)
        check_batch(batch, self.replicas, next(self.parameters()).device)
        if self.config.features == "strict":
            self._check_unread(batch)
        if batch.fingerprint is not None:
            self._check_labels(batch)
        return batch

    def _check_unread(self, batch: PlanarBatch) -> None:
        """Features that are there and would not be read are most often forgotten."""
        c, name = self.config, type(self).__name__
        for what, values, setting, unread in (
            ("x", batch.x, "node_features", c.node_features is None),
            ("edge_attr", batch.edge_attr, "edge_features", c.edge_features is None and self.reads_edges),
            ("descriptors", batch.attrs.get("descriptors"), "descriptors", not c.descriptors),
        ):
            unset = getattr(c, setting)
            if unread and values is not None and values.numel():
                raise InvalidGraphError(
                    f"the batch has {what} of shape {tuple(values.shape)}, {str(values.dtype).removeprefix('torch.')}, which the model "
                    f"would ignore: its {setting} is {unset}. {name}.for_data(dataset) makes a model that reads it; to leave it "
                    f'unread, say features="ignore", as in {name}.for_data(dataset, {setting}={unset}, features="ignore")'
                )

    def _descriptors(self, batch: PlanarBatch) -> Tensor:
        """A row for each graph, or an error that says what the batch has."""
        found = batch.attrs.get("descriptors")
        shape = (*batch.index.shape[:-1], batch.layout.num_graphs, self.config.descriptors)
        if found is None or tuple(found.shape) != shape or not found.is_floating_point():
            there = "none" if found is None else f"{tuple(found.shape)}, {str(found.dtype).removeprefix('torch.')}"
            raise InvalidGraphError(
                f'the model reads {shape[-1]} descriptors of each graph, floats of shape {shape} in attrs["descriptors"]; the '
                f"batch has {there}. Pack them with the graphs: PackedDataset.with_attrs(descriptors=...)"
            )
        return found

    def _check_orbits(self, batch: PlanarBatch) -> None:
        """A number for each node, or an error that says what the batch has."""
        found, shape = batch.attrs.get("node_orbit"), (*batch.index.shape[:-1], batch.layout.num_nodes)
        if found is None or tuple(found.shape) != shape or found.dtype != torch.int32:
            there = "none" if found is None else f"{tuple(found.shape)}, {str(found.dtype).removeprefix('torch.')}"
            raise InvalidGraphError(
                f'the model reads the orbits of the nodes, int32 of shape {shape} in attrs["node_orbit"]; the batch has '
                f"{there}. PackedDataset.with_orbits() finds them"
            )

    def _check_labels(self, batch: PlanarBatch) -> None:
        found = parse_fingerprint(batch.fingerprint)
        for what, values, read, labels in (
            ("x", batch.x, self.config.node_features is not None, found.node_labels),
            ("edge_attr", batch.edge_attr, self.edge_encoder is not None, found.edge_labels),
        ):
            if read and values is not None and values.shape[-2] and what not in labels:
                raise InvalidGraphError(
                    f"the model reads {what}, but the graphs were decomposed with the labels {', '.join(labels) or 'none'}: ties "
                    f"between walks were broken without {what}, so outputs would depend on the order of the input. Pack the data "
                    f"with {what} among the labels"
                )

    # ---- files ---------------------------------------------------------------------------------------------------------------

    def save_pretrained(self, folder: str | os.PathLike[str], **settings: Any) -> None:
        """Writes ``model.safetensors``, which holds the settings too, and ``config.json``, the settings for people and other tools.

        ``settings`` are kept in place of those of ``config``, such as ``units`` of a model that was trained without.

        Each is written to a temporary name first, and loading reads the former only: a model is there as a whole or not at all.
        """
        if self.replicas is not None:
            raise ValueError("a stack of models is not saved as one; save the models of unstack()")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        state = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
        settings = {"model": type(self).__name__, "format": FORMAT, "config": replace(self.config, **settings).to_dict()}
        weights = safetensors_for_torch().save(state, {_SETTINGS: json.dumps(settings), SEAL: UNSEALED})
        replace_files({folder / "model.safetensors": sealed_file(weights), folder / "config.json": json_text(settings)})

    @classmethod
    def from_pretrained(cls, folder: str | os.PathLike[str]) -> Self:
        """The model that :meth:`save_pretrained` wrote, in evaluation mode; equal bit for bit.

        FormatError if a bit of the file is another one, if a weight is not a finite number, or if the settings describe another model
        than the tensors, however large.
        """
        file, tool = Path(folder) / "model.safetensors", safetensors_for_torch()
        try:
            data, told = read_tensors(file)
            state = tool.load(data)
            settings = json.loads(told[_SETTINGS])
            name, version, config = shortened(settings["model"], 100), settings["format"], settings["config"]
        except FileNotFoundError:
            raise FormatError(f"{file} is missing: there is no saved model") from None
        except MemoryError:
            raise
        except Exception as error:  # the library raises its own errors for damaged files
            raise FormatError(f"{file} does not hold a saved model: {shortened(error)}") from error
        if version != FORMAT:
            raise FormatError(
                f"{file} has format {shortened(version, 100)}; this planegraph reads {FORMAT}. Train the model again, or use the "
                "version that wrote it"
            )
        try:
            check_file(data)
        except FormatError as error:
            raise FormatError(f"{file} is damaged: {error}. Put a copy in its place") from None
        if name != cls.__name__:
            raise FormatError(f"{file} is a {name}; use {name}.from_pretrained")
        try:
            config = PlanEConfig.from_dict(config)
            _check_finite(data, state)
            return cls._of_weights(config, state).eval()
        except (AttributeError, RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise FormatError(f"{file} does not hold the weights of the model that it describes: {shortened(error)}") from error

    @classmethod
    def _of_weights(cls, config: PlanEConfig, state: Mapping[str, Tensor]) -> Self:
        """The model with these weights, built without memory; ValueError if the settings describe more tensors than there are."""
        features = config.node_features, config.edge_features if cls.reads_edges else None
        columns = sum(len(f.sizes) for f in features if isinstance(f, Categorical | Mixed))
        _check_room(columns + config.layers, state)
        with torch.device("meta"):
            if config.layers > _DEEP:
                of_one = sum(name.startswith("layers.0.") for name in cls(replace(config, layers=1)).state_dict())
                _check_room(columns + config.layers * of_one, state)
            model = cls(config)
        model.load_state_dict(state, assign=True)
        return model._apply(lambda t: t)  # tensors that are not saved are made anew, beside the others

    # ---- replicas --------------------------------------------------------------------------------------------------------------

    @classmethod
    def stack(cls, models: Sequence[Self]) -> Self:
        """One model whose replicas have the weights of these models of equal config; for ``PlanarBatch.stack``."""
        models = list(models)
        if not models:
            raise ValueError("there is nothing to stack")
        if any(m.config != models[0].config or type(m) is not type(models[0]) for m in models):
            raise ValueError("only models of one class and config can be stacked")
        stacked = type(models[0])(models[0].config, replicas=len(models)).to(next(models[0].parameters()))
        states = [m.state_dict() for m in models]
        stacked.load_state_dict({name: torch.stack([state[name] for state in states]) for name in states[0]})
        return stacked.train(models[0].training)

    def unstack(self) -> list[Self]:
        """The replicas as separate models."""
        if self.replicas is None:
            raise ValueError("this model has no replicas")
        state, out = self.state_dict(), []
        for k in range(self.replicas):
            model = type(self)(self.config).to(next(self.parameters()))
            model.load_state_dict({name: value[k] for name, value in state.items()})
            out.append(model.train(self.training))
        return out

    def __repr__(self) -> str:
        count = sum(p.numel() for p in self.parameters())
        c = self.config
        kind = f"{c.layers} layers of width {c.hidden}"
        return (
            f"{type(self).__name__}({kind}, {count:,} parameters{'' if self.replicas is None else f', {self.replicas} replicas'})"
        )


def _from_pyg(batch: Any) -> PlanarBatch:
    from ..data.pyg import planar_batch

    return planar_batch(batch)


def _check_room(tensors: int, state: Mapping[str, Tensor]) -> None:
    if tensors > len(state):
        raise ValueError(f"its settings need {tensors} tensors or more; the file has {len(state)}")


def _check_finite(data: bytes, state: Mapping[str, Tensor]) -> None:
    """ValueError if a weight is not a finite number. If the sum of all is one, so are they: that costs least.

    A sum may overflow, so tensors are looked at one by one if it is not finite, or if some are of another type than single precision.
    """
    if all(value.dtype == torch.float32 for value in state.values()):
        with np.errstate(all="ignore"):
            if np.isfinite(np.frombuffer(data, np.float32, offset=8 + int.from_bytes(data[:8], "little")).sum()):
                return
    for name, value in state.items():
        if value.is_floating_point() and not (value.float() if value.itemsize == 1 else value).isfinite().all():
            raise ValueError(f"{name} has values that are not finite")


def safetensors_for_torch() -> Any:
    """The library that reads and writes weights, or an error that says how to get it."""
    try:
        import safetensors.torch
    except ImportError:
        raise MissingDependencyError("saving and loading models needs safetensors: pip install 'planegraph[learn]'") from None
    return safetensors.torch
