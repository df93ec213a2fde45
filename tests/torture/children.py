"""Forked processes that do something beside this one, and what became of them."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable

from planegraph.errors import PlanegraphError

SECONDS = 120.0
"""After which a child that needs one or two is taken to hang."""
Action = Callable[[], object]


class Child:
    """A forked process that does something after a delay.

    ``code`` is what the action returns if that is an int, or 0; 2 after an error of the package, 70 after another; minus the number of a
    signal. ``killed`` says that :meth:`kill` ended it, ``hung`` that it had to be ended.
    """

    def __init__(self, action: Action, delay: float = 0.0) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the object)
        self.code: int | None = None
        self.killed = self.hung = False
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(self._said.fileno(), 1)
            os.dup2(self._said.fileno(), 2)
            os._exit(_exit_code(action, delay))

    def wait(self, seconds: float = SECONDS) -> int:
        """The exit code."""
        until = time.monotonic() + seconds
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                self.hung = True
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.005)
        return self.code

    def kill(self) -> None:
        """Nothing happens if it has ended by itself."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.killed = self.wait() == -signal.SIGKILL

    @property
    def said(self) -> str:
        """Of one that has ended, on both streams."""
        return os.pread(self._said.fileno(), 2**20, 0).decode(errors="replace")


def _exit_code(action: Action, delay: float) -> int:
    sys.stdout = sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115 (the process ends)
    try:
        time.sleep(delay)
        code = action()
        return code if isinstance(code, int) else 0
    except PlanegraphError as error:
        print(error)
        return 2
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stderr.flush()
