"""Optional packages that a command needs and does not find."""

from __future__ import annotations

from ..errors import MissingDependencyError

_EXTRA_OF = {  # as in pyproject.toml
    "torch": "learn",
    "torch_geometric": "learn",
    "safetensors": "learn",
    "yaml": "learn",
    "rich": "learn",
    "jinja2": "learn",
    "rdkit": "chem",
    "sklearn": "sklearn",
}
_NAME_OF = {
    "torch": "PyTorch",
    "torch_geometric": "PyTorch Geometric",
    "yaml": "PyYAML",
    "rdkit": "RDKit",
    "sklearn": "scikit-learn",
}


def missing_package(error: ImportError) -> str:
    """Which package is missing and which extra brings it; an error that is about something else is raised again.

    >>> missing_package(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))
    "this command needs PyTorch; install it with: pip install 'planegraph[learn]'"
    """
    if isinstance(error, MissingDependencyError):  # says it already
        return str(error)
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package not in _EXTRA_OF:
        raise error
    return f"this command needs {_NAME_OF.get(package, package)}; install it with: pip install 'planegraph[{_EXTRA_OF[package]}]'"
