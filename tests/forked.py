"""Python processes for the tests that kill, interrupt or confine what they start, at a fraction of the usual cost.

A new Python needs seconds of CPU time to import PyTorch. These processes are forked from one that has imported it and has done nothing else
(multiprocessing's fork server, one for each process of pytest), so that they are as good as new ones.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

# Windows has no fork server: there each process imports for itself
_SERVER = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn")
if _SERVER.get_start_method() == "forkserver":
    _SERVER.set_forkserver_preload(
        [
            "torch",
            "torch_geometric.data",
            "rdkit.Chem",
            "safetensors.torch",
            "planegraph.cli.train",
            "planegraph.train",
            "planegraph.report",
        ]
    )


class Forked:
    """``python -m module arguments``, with the names of subprocess.Popen for what tests do with it.

    Args:
        env: what differs from this process's environment.
        stderr: a file for what it says there.
        limit: the process can write files of so many bytes at most, as on a full disk.
    """

    def __init__(
        self, module: str, *arguments: object, env: Mapping[str, str] | None = None, stderr: str = "", limit: int | None = None
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="forked-")
        self._streams = [Path(self._folder.name, "stdout"), Path(stderr or Path(self._folder.name, "stderr"))]
        environment = os.environ | dict(env or {})
        self._process = _SERVER.Process(
            target=_work, args=(module, [str(a) for a in arguments], environment, list(map(str, self._streams)), limit)
        )
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or minus the number of a signal; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float = 120) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            self.kill()
            raise TimeoutError(f"process {self.pid} still runs after {timeout} s")
        return self.returncode

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What it has said on stdout and stderr when it has ended."""
        self.wait(timeout)
        return self.said(), self._streams[1].read_text()

    def said(self) -> str:
        """Its stdout so far."""
        return self._streams[0].read_text() if self._streams[0].exists() else ""

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def _work(module: str, arguments: list[str], environment: dict[str, str], streams: list[str], limit: int | None) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.stdout, sys.stderr = open(1, "w", buffering=1, closefd=False), open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = [module, *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if limit is not None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    runpy.run_module(module, run_name="__main__", alter_sys=True)
