"""Work on chunks of data in several processes, with the results in the order of the chunks. Knows no torch.

RDKit holds Python's lock, so threads do not help; and a process in which PyTorch has started threads must not be forked, so the workers are
spawned. They start only after the calling process has worked for a second by itself: small inputs do not wait for them. What comes out does
not depend on the number of workers. Memory is bounded by the chunks under way, two for each worker and one.

A worker ends with its parent, however that ends. Workers ignore Ctrl-C: the parent lets them finish the chunks that they have, and says
what there is to say. A worker that is killed while it sends a result could block the pool, so none is killed here.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import TypeVar

from .errors import WorkerError

Kept = TypeVar("Kept")
Argument = TypeVar("Argument")
Result = TypeVar("Result")

_PATIENCE = 1.0  # seconds of work before workers are started; they need about half of it


def core_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered_map(
    work: Callable[[Argument], Result], pairs: Iterable[tuple[Kept, Argument]], workers: int = 1
) -> Generator[tuple[Kept, Result], None, None]:
    """``(kept, work(argument))`` for each pair ``(kept, argument)``, in order; one worker is the calling process itself.

    Close the iterator if you stop early (``contextlib.closing``): that ends the workers.

    Args:
        work: is sent to the workers, as are the arguments: all must be picklable.
        workers: scripts that ask for more than one need ``if __name__ == "__main__":``, as all that starts processes.

    >>> list(ordered_map(len, [("a", "one"), ("b", "three")]))
    [('a', 3), ('b', 5)]
    """
    if workers < 1:
        raise ValueError(f"there must be one worker at least; found {workers}")
    pairs, spent = iter(pairs), 0.0
    for kept, argument in pairs:
        begin = time.monotonic()
        result = work(argument)
        spent += time.monotonic() - begin
        yield kept, result
        if workers > 1 and spent >= _PATIENCE:
            yield from _in_processes(work, pairs, workers)
            return


def _in_processes(
    work: Callable[[Argument], Result], pairs: Iterator[tuple[Kept, Argument]], workers: int
) -> Iterator[tuple[Kept, Result]]:
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare_worker)
    waiting: deque[tuple[Kept, Future[Result]]] = deque()
    try:
        for kept, argument in pairs:
            waiting.append((kept, _submit(pool, work, argument)))
            if len(waiting) > 2 * workers:
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    except BrokenProcessPool:
        raise WorkerError(
            f"one of {workers} worker processes was killed, perhaps because memory ran out; use fewer workers, or one"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _first(waiting: deque[tuple[Kept, Future[Result]]]) -> tuple[Kept, Result]:
    kept, future = waiting.popleft()
    return kept, future.result()


def _submit(pool: ProcessPoolExecutor, work: Callable[[Argument], Result], argument: Argument) -> Future[Result]:
    """A worker that this starts inherits a blocked SIGINT, and so ignores Ctrl-C from its first moment."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return pool.submit(work, argument)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(work, argument)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for Windows; elsewhere it is blocked already
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A pool's workers would wait forever for the next task of a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
