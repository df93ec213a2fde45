"""Transfer: the models of a run start from those of a finished run of molecules, which may have learned other targets.

All weights are copied, with the statistics of norms; the last map of the readout only if names, kind and classes of the targets are the
same. Model settings, stereochemistry and the scaling of descriptors are those of the finished run, so that the weights keep their meaning.
The last map gives standardised values before and after, so a new table may have another mean and spread. Embeddings of categories that the
finished run never saw are 0 there, and are not copied.

A run that started this way is resumed from its own folder alone, whose checkpoint has the weights. Only models that are trained one after
another (``train.together=false``) need the finished run as long as one of them has not started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from ..errors import FormatError
from ..nn import GraphModel
from ..runs.checkpoint import CHECKPOINT
from ..runs.errors import SettingsError
from ..runs.finished import read_finished, read_schema
from ..runs.models import copy_weights
from ..runs.settings import FROM_TASK, RunSettings, flat, load_run_settings
from ..tasks.molecules.task import MoleculeSchema

_ALL, _BUT_LAST = "all weights", "all weights but the last map of the readout"


@dataclass(frozen=True)
class Start:
    """What the models of a run start from.

    Args:
        run: the folder of the finished run.
        schema: how molecules are read, and what was learned.
        settings: of its models.
        models: of the finished run; if a run is resumed, they are read when one is needed.
        kept: of a resumed run what :meth:`record` gave when it started.

    Model k of a run starts from model k of the finished run; if that has fewer, they are taken in turn.

    >>> from planegraph.tasks.molecules.features import Featurizer
    >>> logd, logs = (MoleculeSchema("smiles", (name,), "regression", Featurizer(), {}) for name in ("logD", "logS"))
    >>> Start("runs/lipo", logd, RunSettings("lipo.csv")).record(logs)["copied"]
    'all weights but the last map of the readout'
    """

    run: str
    schema: MoleculeSchema
    settings: RunSettings
    models: tuple[GraphModel, ...] = ()
    kept: Mapping[str, Any] | None = None

    @classmethod
    def load(cls, run: str | PathLike[str], out: str | PathLike[str] | None = None) -> Self:
        """From the folder of a finished run, or, if the folder ``out`` has a run that started from it, from there.

        Raises FormatError, which names the file, if one is missing or damaged, and SettingsError if ``out`` has another run.
        """
        name = str(Path(fspath(run)))
        if out is not None and (Path(out) / CHECKPOINT).exists():
            return cls._resumed(name, Path(out))
        found = read_finished(Path(name))
        model = {key: value for key, value in found.models[0].config.to_dict().items() if key not in FROM_TASK}
        model_class: Any = type(found.models[0]).__name__
        settings = RunSettings("start", model=model, model_class=model_class)
        return cls(name, found.schema, settings, tuple(found.models))

    @classmethod
    def _resumed(cls, name: str, out: Path) -> Self:
        path = out / "settings.yaml"
        if not path.exists():
            raise FormatError(f"{path} is missing, so the run in {out} cannot be resumed; choose another folder")
        settings = load_run_settings(out)
        kept = settings.options.get("from")
        if kept is None or kept["run"] != name:
            there = "without --from" if kept is None else f"from {kept['run']}"
            raise SettingsError(f"{out} holds a run that started {there}, not from {name}; choose another folder")
        return cls(name, read_schema(out), settings, kept=kept)

    def record(self, schema: MoleculeSchema) -> Mapping[str, Any]:
        """For the options of a run with this schema: where its weights come from, and which."""
        if self.kept is not None:
            return self.kept
        copied = _ALL if self._same_outputs(schema) else _BUT_LAST
        return {"run": self.run, "models": len(self.models), "learned": list(self.schema.targets), "copied": copied}

    def note(self, schema: MoleculeSchema) -> str:
        """The same as a sentence."""
        found = self.record(schema)
        many = "1 model" if found["models"] == 1 else f"{found['models']} models"
        return f"starts from {found['run']} ({many} of {', '.join(found['learned'])}); copied: {found['copied']}"

    def check(self, settings: RunSettings) -> None:
        """SettingsError unless the model is that of the finished run."""
        theirs, mine = ({"model_class": s.model_class} | flat({"model": s.complete()["model"]}) for s in (self.settings, settings))
        for name, value in mine.items():
            if value != theirs[name]:
                raise SettingsError(
                    f"{self.run} has {name}={theirs[name]!r}; found {name}={value!r}. A run that starts from it has the same model"
                )

    def first_weights(self, schema: MoleculeSchema) -> Callable[[GraphModel, int], None]:
        """Gives model number k of a run with this schema its first weights."""
        last = self.record(schema)["copied"] == _ALL

        def fill(model: GraphModel, k: int) -> None:
            models = self.models or read_finished(Path(self.run)).models
            copy_weights(models[k % len(models)], model, last)

        return fill

    def _same_outputs(self, schema: MoleculeSchema) -> bool:
        return all(getattr(schema, name) == getattr(self.schema, name) for name in ("targets", "kind", "classes"))
