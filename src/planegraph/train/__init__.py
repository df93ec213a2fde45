"""Training: typed settings, a plain loop, seeds and folds trained together, checkpoints that resume. Knows no dataset by name.

From :func:`train` to the optimizer: run.py (folder, stacks, result), loop.py (epochs and steps), step.py (one training step; on a GPU
capture.py replays it), adam.py. stack.py has the trials that share each step, batches.py their data, resume.py what a folder holds already,
environment.py the process, its device and its fellows under torchrun. Callbacks and the display are in callbacks.py, loggers in loggers.py;
tasks.py finds a task by its name; molecules.py and transfer.py train on tables, sweep.py trains combinations of settings.
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
