"""The settings of a model: typed, frozen, and the whole of what ``config.json`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..data.sizes import Categorical, Continuous, Features, Mixed
from ..fields import check_fields, check_keys, is_count, limited

Norm = Literal["none", "batch"]
Unread = Literal["strict", "ignore"]
Pooling = Literal["sum", "mean"]
Level = Literal["graph", "node"]
_TERMS = ("neighbours", "readout", "triconnected", "biconnected", "cut")


@dataclass(frozen=True)
class PlanEConfig:
    """All settings of :class:`BasePlanE`.

    Args:
        node_features, edge_features: :class:`Categorical`, :class:`Continuous`, :class:`Mixed` or None. With edge features the model
            is E-BasePlanE.
        hidden: width d of all representations.
        layers: L; ceil(log2 n) + 1 suffice for completeness on n nodes.
        pos_dim: width of the positional embeddings p_x; even.
        outputs: width of the output. level: what has an output, each "graph" or each "node".
        orbit_numbers: with level="node", h^(0) also reads p_k, where k numbers the orbit of the node in its graph's canonical order: then
            nodes of different orbits always differ. What it learns of the numbers means little on other graphs.
        units: None, or (center, spread) of each output: what the output MLP gives is multiplied by the spread and added to the center.
        descriptors: how many numbers of each graph, the batch's ``attrs["descriptors"]``, the output MLP reads beside the sums over nodes.
        neighbours, readout, triconnected, biconnected, cut: the terms of Update, each of which can be switched off.
        norm: batch or none, after the maps of all MLPs but those of the tree recursions and those that see a row per graph.
        norm_momentum: how far running averages of batch norm move with each batch.
        residual: a layer adds to h what it computes, h + f(...), which lets deep models learn.
        graph_scale: sums over the nodes of a graph are divided by it; a good value is the mean number of nodes.
        pooling: the readout sees sums over the nodes, or means; with means the model is no longer complete.
        dropout: after Update; dropout_readout: inside the output MLP.
        features: "strict" refuses a batch with node or edge features that the model does not read, "ignore" runs on it.

    >>> PlanEConfig(node_features=Categorical([28]), hidden=128).edge_features is None
    True
    """

    node_features: Features = None
    edge_features: Features = None
    hidden: int = limited(64, least=1)
    layers: int = limited(3, least=1)
    pos_dim: int = limited(16, least=1)
    outputs: int = limited(1, least=1)
    level: Level = "graph"
    orbit_numbers: bool = False
    descriptors: int = limited(0, least=0)
    units: tuple[tuple[float, float], ...] | None = None
    neighbours: bool = True
    readout: bool = True
    triconnected: bool = True
    biconnected: bool = True
    cut: bool = True
    norm: Norm = "batch"
    norm_momentum: float = limited(0.1, above=0, most=1)
    residual: bool = True
    graph_scale: float = limited(20.0, above=0)
    pooling: Pooling = "sum"
    dropout: float = limited(0.0, least=0, below=1)
    dropout_readout: float = limited(0.0, least=0, below=1)
    features: Unread = "strict"

    def __post_init__(self) -> None:
        for name in ("node_features", "edge_features"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Categorical | Continuous | Mixed):
                raise TypeError(
                    f"{name} must be Categorical(sizes), Continuous(width), Mixed(sizes, width) or None; found {value!r}"
                )
        check_fields(self)
        if self.units is not None:
            object.__setattr__(self, "units", _units(self.units, self.outputs))
        if self.pos_dim % 2:
            raise ValueError(f"pos_dim must be even, half sines and half cosines; found {self.pos_dim}")
        if self.level == "node" and self.descriptors:
            raise ValueError(
                'descriptors are read beside the sums over nodes, which a model of level="node" does not make; leave them out'
            )
        if self.level == "graph" and self.orbit_numbers:
            raise ValueError('orbit_numbers are read by models of level="node" only; leave them out')
        if not self.terms:
            raise ValueError(
                "Update has no term left: switch on at least one of neighbours, readout, triconnected, biconnected, cut"
            )
        if self.edge_features is not None and self.terms == ("readout",):
            raise ValueError(
                "edge_features are set, but no term that is on reads edges: switch on neighbours, triconnected, biconnected or cut, or "
                "leave edge_features out"
            )

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of Update that are switched on, in the order of their concatenation."""
        return tuple(name for name in _TERMS if getattr(self, name))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        >>> PlanEConfig.from_dict(PlanEConfig(node_features=Continuous(15)).to_dict()).node_features
        Continuous(width=15)
        """
        values = asdict(self)
        for name in ("node_features", "edge_features"):
            value = getattr(self, name)
            if isinstance(value, Categorical):
                values[name] = {"categorical": list(value.sizes)}
            elif isinstance(value, Continuous):
                values[name] = {"continuous": value.width}
            elif isinstance(value, Mixed):
                values[name] = {"categorical": list(value.sizes), "continuous": value.width}
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PlanEConfig:
        """From what :meth:`to_dict` gives."""
        check_keys(values, cls)
        given = dict(values)
        for name in ("node_features", "edge_features"):
            given[name] = _features(name, given.get(name))
        return cls(**given)


def _features(name: str, value: Any) -> Features:
    if value is None or isinstance(value, Categorical | Continuous | Mixed):
        return value
    if isinstance(value, Mapping) and set(value) == {"categorical"}:
        return Categorical(tuple(value["categorical"]))
    if isinstance(value, Mapping) and set(value) == {"continuous"}:
        return Continuous(int(value["continuous"]))
    if isinstance(value, Mapping) and set(value) == {"categorical", "continuous"}:
        return Mixed(tuple(value["categorical"]), int(value["continuous"]))
    raise ValueError(f'{name} must be null, {{"categorical": [sizes]}}, {{"continuous": width}} or both; found {value!r}')


def _units(units: Any, outputs: int) -> tuple[tuple[float, float], ...]:
    try:
        pairs = tuple(tuple(pair) for pair in units)
    except TypeError:
        pairs = ()
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 1e308 for pair in pairs for v in pair)
    good = numbers and len(pairs) == outputs and all(len(pair) == 2 for pair in pairs)
    if not good or not all(spread > 0 for _, spread in pairs):
        raise ValueError(
            f"units must be a pair (center, spread) of numbers for each of {outputs} outputs, spreads above 0; found {units!r}"
        )
    return pairs


def at_least_one(name: str, value: Any) -> None:
    """Raises ValueError unless the value is a count."""
    if not is_count(value):
        raise ValueError(f"{name} must be an integer, at least 1; found {value!r}")
