"""All settings of a run: typed, frozen, one YAML file, any of them overridden by ``key.key=value``.

``to_dict`` and ``from_dict`` are inverse to each other, so that a saved file gives the same run. Wrong keys and values raise
:class:`SettingsError`, which names the setting and what was found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from ..errors import FormatError
from ..fields import check_fields, check_keys, limited
from ..io.atomic import replace_files
from ..io.checksums import check_text, sealed_text
from ..io.reading import read_file
from ..nn.config import PlanEConfig
from .errors import SettingsError
from .schedules import Cosine, Schedule, schedule_from_dict, schedule_to_dict

_SEEDS = _INTEGERS = 2**63  # of PyTorch's generators and tensors
_FILE = "settings.yaml"  # of a run
_MOST_SEEDS = 1000  # seeds of one run
_LONGEST = 4 * 10**5  # bytes of a YAML file
FROM_TASK = ("node_features", "edge_features", "outputs", "level", "descriptors", "units")


@dataclass(frozen=True)
class TrainSettings:
    """How a model is trained. The defaults suit a first run on some hundred to some ten thousand molecules.

    Args:
        epochs: passes over the training graphs.
        batch_size: graphs in a step of one process; the last batch of an epoch has what is left. None: by the number of training graphs,
            see :func:`batch_size_for`.
        optimizer, lr, weight_decay: of Adam (added to the gradient) or AdamW (taken from the weights).
        schedule: how the rate changes: constant, plateau, step or cosine (see schedules.py); by default up over five epochs, then down
            along a cosine.
        clip: the largest norm of the gradient of one seed; None: any.
        ema: decay of an average of the weights, which is then what is validated and tested; None: no average. After t steps the decay
            is (1 + t) / (10 + t) at most, so that a short run does not average its first weights.
        patience: stop when no seed, fold or target has improved on validation for so many epochs; None: train all epochs.
        seed, seeds: the first seed and how many; each has its own weights and data order.
        eval_every: epochs between validations; the last epoch is always validated.
        precision: float32; on a GPU with tf32 or bf16 products (bf16: what a layer keeps between its kernels is bf16, too, but for the
            residual stream and statistics); or float64.
        together: train seeds and folds as one stack; otherwise one after another.
        save_seconds: least time between two checkpoints; 0: one after every epoch.

    >>> TrainSettings(lr=1e-3, seeds=10).optimizer
    'adam'
    """

    epochs: int = limited(100, least=1)
    batch_size: int | None = limited(None, least=1)
    optimizer: Literal["adam", "adamw"] = "adam"
    lr: float = limited(2e-3, above=0)
    weight_decay: float = limited(0.0, least=0)
    schedule: Schedule = field(default_factory=lambda: Cosine(warmup=5.0))
    clip: float | None = limited(1.0, above=0)
    ema: float | None = limited(None, above=0, below=1)
    patience: int | None = limited(None, least=1)
    seed: int = limited(0, least=0)
    seeds: int = limited(1, least=1)
    eval_every: int = limited(1, least=1)
    precision: Literal["float32", "tf32", "bf16", "float64"] = "float32"
    together: bool = True
    save_seconds: float = limited(30.0, least=0)

    def __post_init__(self) -> None:
        check_fields(self, "train.", SettingsError)
        if self.seeds > _MOST_SEEDS:
            raise SettingsError(
                f"train.seeds must be at most {_MOST_SEEDS}; found {self.seeds}. Further seeds are another run, with another train.seed"
            )
        if self.seed + self.seeds > _SEEDS:
            raise SettingsError(f"train.seed + train.seeds must be at most 2^63; found {self.seed} + {self.seeds}")


def batch_size_for(graphs: int) -> int:
    """A good size of batches for so many training graphs: the power of two next to the square root, from 64 to 256.

    >>> [batch_size_for(n) for n in (500, 10_000, 40_000, 10**6)]
    [64, 128, 256, 256]
    """
    return min(max(2 ** round(math.log2(max(graphs, 1)) / 2), 64), 256)


@dataclass(frozen=True)
class RunSettings:
    """A task, a model and how it is trained.

    Args:
        task: the name of the task.
        options: what the dataset is asked for, such as ``edge_features: false``.
        model: fields of :class:`planegraph.nn.PlanEConfig`, except those that the task decides (features and outputs).
        model_class: BasePlanE, GIN, GINE or GCN.

    >>> RunSettings("zinc12k", model={"hidden": 128}).with_overrides(["train.lr=0.01", "model.layers=2"]).model
    {'hidden': 128, 'layers': 2}
    """

    task: str
    options: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    model_class: Literal["BasePlanE", "GIN", "GINE", "GCN"] = "BasePlanE"
    train: TrainSettings = field(default_factory=TrainSettings)

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or not self.task:
            raise SettingsError(f"task must be a name; found {self.task!r}")
        check_fields(self, error=SettingsError)
        for name in ("options", "model"):
            object.__setattr__(self, name, dict(_mapping(name, getattr(self, name))))
        for name in FROM_TASK:
            if name in self.model:
                raise SettingsError(f"model.{name} is decided by the task; leave it out")
        check_keys(self.model, PlanEConfig, "model.", FROM_TASK, SettingsError)
        try:
            PlanEConfig(**self.model)
        except (TypeError, ValueError) as error:
            raise SettingsError(f"model: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for YAML and JSON."""
        values = {name: getattr(self, name) for name in ("task", "options", "model_class", "model")}
        train = {f.name: getattr(self.train, f.name) for f in fields(self.train)}
        return values | {"train": train | {"schedule": schedule_to_dict(self.train.schedule)}}

    def complete(self) -> dict[str, Any]:
        """The same with the model's defaults written out, so that saying a default and leaving it out are the same."""
        model = PlanEConfig(**self.model).to_dict()
        return self.to_dict() | {"model": {name: value for name, value in model.items() if name not in FROM_TASK}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSettings:
        """From what :meth:`to_dict` gives, or a part of it."""
        given = dict(_mapping("settings", values))
        check_keys(given, cls, error=SettingsError)
        part = given.pop("train", None)
        train = dict(_mapping("train", {} if part is None else part))
        check_keys(train, TrainSettings, "train.", error=SettingsError)
        if "schedule" in train:
            train["schedule"] = schedule_from_dict(train["schedule"])
        if given.get("task") is None:
            raise SettingsError("task is missing: the settings must name it")
        given = {name: value for name, value in given.items() if value is not None}
        return cls(**given, train=TrainSettings(**train))

    def for_graphs(self, graphs: int, processes: int = 1) -> RunSettings:
        """With what depends on the number of training graphs filled in."""
        if self.train.batch_size is not None:
            return self
        return replace(self, train=replace(self.train, batch_size=-(-batch_size_for(graphs) // processes)))

    def with_overrides(self, overrides: Iterable[str]) -> RunSettings:
        """With settings replaced, each given as ``key.key=value``; the value is read as YAML."""
        values = self.to_dict()
        for override in overrides:
            _override(values, override)
        return type(self).from_dict(values)


def load_settings(path: str | PathLike[str]) -> RunSettings:
    """The settings in a YAML file."""
    return _settings_of(read_yaml(path), path)


def read_yaml(path: str | PathLike[str]) -> Any:
    """What a YAML file holds; SettingsError if it is none, or gives a key twice."""
    return parse_yaml(read_file(path, _LONGEST), str(path))


def save_settings(settings: RunSettings, path: str | PathLike[str]) -> None:
    """Writes a YAML file that :func:`load_settings` reads."""
    replace_files({Path(path): _yaml_text(settings)})


def save_run_settings(settings: RunSettings, folder: Path) -> None:
    """Writes the ``settings.yaml`` of a run, with a checksum (io/checksums.py), which resuming and reports compare."""
    replace_files({folder / _FILE: sealed_text(_yaml_text(settings))})


def load_run_settings(folder: str | PathLike[str]) -> RunSettings:
    """The settings of the run in a folder; SettingsError if they are damaged."""
    return _settings_of(read_run_settings(folder), Path(folder) / _FILE)


def _settings_of(values: Any, path: str | PathLike[str]) -> RunSettings:
    """What a file holds as settings; SettingsError, which names it, if they are wrong."""
    try:
        return RunSettings.from_dict(values)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def read_run_settings(folder: str | PathLike[str]) -> Any:
    """The same as YAML has them."""
    path = Path(folder) / _FILE
    data = read_file(path, _LONGEST)
    try:
        check_text(data)
    except FormatError as error:
        raise SettingsError(
            f"{path} is damaged: {error}. To change the settings of a run, use --set; if this change is meant, remove the first line"
        ) from None
    return parse_yaml(data, str(path))


def _yaml_text(settings: RunSettings) -> str:
    dumper = type("Dumper", (_yaml().SafeDumper,), {"ignore_aliases": lambda self, value: True})
    return _yaml().dump(settings.to_dict(), Dumper=dumper, sort_keys=False)


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their full names; an empty table has none. Lists as tuples, as JSON does not keep them apart."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = tuple(value) if isinstance(value, list | tuple) else value
    return found


# ---- checks -------------------------------------------------------------------------------------------------------------------


def _override(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    *folders, name = key.strip().split(".")
    if not equals or not all((*folders, name)):
        raise SettingsError(f"an override is written key.key=value, as in train.lr=0.001; found {override!r}")
    at = values
    for depth, folder in enumerate(folders):
        at = at.setdefault(folder, {})
        if not isinstance(at, dict):
            raise SettingsError(f"{override!r}: {'.'.join(folders[: depth + 1])} has no settings")
    value = parse_yaml(text, repr(override))
    if key.strip() == "train.schedule.kind" and at.get("kind") != value:
        at.clear()  # the settings of another kind
    at[name] = value


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise SettingsError(f"{name} must be a table of settings (key: value); found {value!r}")
    return value


# ---- YAML ---------------------------------------------------------------------------------------------------------------------


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        from ..errors import MissingDependencyError

        raise MissingDependencyError("settings are YAML files and need PyYAML: pip install 'planegraph[learn]'") from None
    return yaml


def parse_yaml(data: bytes | str, where: str) -> Any:
    """What YAML says, whose bytes are UTF-8; SettingsError, which says where, if it is none or gives a key twice."""
    try:
        return _yaml().load(data if isinstance(data, str) else data.decode("utf-8"), _loader())
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
    except (_yaml().YAMLError, ValueError, RecursionError) as error:  # not UTF-8; a date of month 13; a thousand brackets
        raise SettingsError(f"{where} is not YAML: {' '.join(str(error).split())}") from None


def _loader() -> Any:
    """A safe loader for which 1e-3 is a number: YAML 1.1, which PyYAML follows, wants 1.0e-3.

    It refuses a key that is there twice; aliases, a few hundred characters of which can stand for millions; and an integer of more than 64
    bits, with which neither PyTorch nor a float can compute.
    """
    import re

    yaml = _yaml()

    safe: Any = yaml.SafeLoader

    class Loader(safe):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node, seen = super().compose_mapping_node(anchor), set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if key.value in seen:
                    raise SettingsError(f"{key.value} is given twice, again in line {key.start_mark.line + 1}; keep one of them")
                seen.add(key.value)
            return node

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                line = self.peek_event().start_mark.line + 1
                raise SettingsError(f"line {line} has an alias (*name); write out what it stands for")
            return super().compose_node(parent, index)

        def construct_yaml_int(self, node: Any) -> int:
            value = super().construct_yaml_int(node)
            if not -_INTEGERS <= value < _INTEGERS:
                raise SettingsError(f"integers must be at most 2^63 - 1; found one of {value.bit_length()} bits")
            return value

    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
    number = re.compile(r"^[-+]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][-+]?\d+)$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    return Loader
