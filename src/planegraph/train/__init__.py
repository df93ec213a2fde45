"""Training: typed settings, a plain loop, seeds and folds trained together, checkpoints that resume. Knows no dataset by name.

The parts: settings.py (what is run), trials.py (the seeds and folds), batches.py (their data), state.py (weights and optimizer),
step.py (one step; captured on a GPU by capture.py), loop.py (the epochs), checkpoint.py, log.py, callbacks.py (display.py and loggers.py
are such), run.py (everything together), combinations.py and sweep.py (a run for each combination of some settings).
"""

from __future__ import annotations

from ..errors import MissingDependencyError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError("planegraph.train needs PyTorch; install it with: pip install 'planegraph[learn]'") from error

from ..runs.settings import RunSettings, TrainSettings, load_settings, save_settings
from ..runs.trials import Trial
from .callbacks import Callback, RunInfo
from .loggers import CSVLogger, MLflowLogger, TensorBoardLogger, WandbLogger
from .run import train
from .sweep import sweep
from .tasks import settings_for, task_of

__all__ = [
    "CSVLogger",
    "Callback",
    "MLflowLogger",
    "RunInfo",
    "RunSettings",
    "TensorBoardLogger",
    "TrainSettings",
    "Trial",
    "WandbLogger",
    "load_settings",
    "save_settings",
    "settings_for",
    "sweep",
    "task_of",
    "train",
]
