"""Batches of a packed dataset, epoch after epoch: shuffled, sharded, padded, collated ahead of time.

The order of an epoch depends on (seed, epoch) alone: not on prefetching, padding, device or machine. One background thread collates up
to ``prefetch`` batches ahead, in the core and so without the GIL, into pinned memory if they go to a GPU; the copy to the device is
queued by the caller's thread, on its current stream. The thread ends with the epoch, with an error (which the caller gets), or when
the caller stops early.
"""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from .batch import Collator, PlanarBatch
from .layout import Capacity, DoesNotFitError
from .needs import make_needs


class PackedLoader:
    """Iterates over the batches of a :class:`PackedDataset`.

    Args:
        ds: the dataset.
        batch_size: graphs in a batch; the last batch of an epoch has what is left, unless ``drop_last``.
        shuffle: draw a new order every epoch from ``seed``; otherwise graphs come in the order of the dataset.
        device: where the batches go; None: they stay on the host.
        pad: None for exact sizes; True for static shapes of a capacity chosen from the dataset; or a :class:`Capacity`. If a
            batch does not fit, the capacity grows: that batch and all later ones have the new shapes, and ``capacity`` says so once the
            batch is handed out. A captured step should be kept by ``batch.layout``. Iterations that run at the same time grow each by
            itself; ``capacity``, with which the next one begins, is the maximum of all.
        prefetch: how many batches are collated ahead in a background thread; 0: in the caller's thread, when asked for.
        num_replicas, rank: take one of ``num_replicas`` shares of every epoch. All ranks must use one seed and epoch. Shares are
            equally large: with ``drop_last`` the graphs left over are dropped, otherwise some graphs, the first of the epoch's order,
            are taken twice. They are disjoint apart from that, and cover the dataset.

    Every ``iter(loader)`` is the next epoch; ``set_epoch(e)`` says which.

    >>> import planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> ds = PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 10)])
    >>> [batch.graph_ids.tolist() for batch in PackedLoader(ds, batch_size=3)]
    [[0, 1, 2], [3, 4, 5], [6]]
    >>> len({batch.layout for batch in PackedLoader(ds, batch_size=3, shuffle=True, pad=True)})
    1
    """

    def __init__(
        self,
        ds: Any,
        batch_size: int = 256,
        shuffle: bool = False,
        seed: int = 0,
        device: torch.device | str | None = None,
        pad: bool | Capacity | None = None,
        prefetch: int = 2,
        drop_last: bool = False,
        num_replicas: int = 1,
        rank: int = 0,
    ) -> None:
        _at_least(batch_size, 1, "batch_size")
        _at_least(prefetch, 0, "prefetch")
        _at_least(num_replicas, 1, "num_replicas")
        _at_least(rank, 0, "rank")
        _at_least(seed, 0, "seed")
        if rank >= num_replicas:
            raise ValueError(f"rank must be below num_replicas, {num_replicas}; found {rank}")
        if len(ds) == 0:
            raise ValueError("the dataset has no graphs to load")
        self.ds, self.batch_size, self.shuffle, self.seed = ds, int(batch_size), bool(shuffle), int(seed)
        self.prefetch, self.drop_last = int(prefetch), bool(drop_last)
        self.num_replicas, self.rank = int(num_replicas), int(rank)
        self.device = None if device is None else torch.device(device)
        self.epoch = 0
        self._collator = Collator(ds)
        self.capacity = _capacity(pad, self._collator, self.batch_size)
        if len(self) == 0:
            raise ValueError(
                f"drop_last would leave no batch: {len(ds)} graphs for {self.num_replicas} replicas in batches of {self.batch_size}"
            )

    def __len__(self) -> int:
        """The number of batches of an epoch, the same on every rank."""
        return self._share() // self.batch_size if self.drop_last else -(-self._share() // self.batch_size)

    def _share(self) -> int:
        """How many graphs of an epoch this rank takes."""
        return len(self.ds) // self.num_replicas if self.drop_last else -(-len(self.ds) // self.num_replicas)

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch."""
        _at_least(epoch, 0, "epoch")
        self.epoch = int(epoch)

    def order(self, epoch: int) -> np.ndarray:
        """The ids of the graphs that this rank takes in an epoch, in order."""
        size = len(self.ds)
        ids = np.random.default_rng([self.seed, epoch]).permutation(size) if self.shuffle else np.arange(size)
        share = self._share()
        taken = np.resize(ids, share * self.num_replicas)  # repeats from the front, or cuts off the end
        mine = taken[self.rank :: self.num_replicas]
        return mine[: len(self) * self.batch_size].astype(np.int64)

    def __iter__(self) -> Iterator[PlanarBatch]:
        """The batches of the next epoch."""
        ids = self.order(self.epoch)
        self.epoch += 1
        parts = [ids[k : k + self.batch_size] for k in range(0, len(ids), self.batch_size)]
        made = _collated(self._collator, parts, self.capacity, self.device)
        return self._handed_out(made if self.prefetch == 0 else Ahead(made, self.prefetch))

    def _handed_out(self, made: Iterator[tuple[PlanarBatch, Capacity | None]]) -> Iterator[PlanarBatch]:
        """The batches on their device; the loader is told of a grown capacity."""
        for batch, capacity in made:
            if capacity is not None:  # the known one may be larger, from another iteration
                self.capacity = capacity if self.capacity is None else self.capacity.maximum(capacity)
            yield batch if self.device is None else batch.to(self.device, non_blocking=_is_cuda(self.device))

    def __repr__(self) -> str:
        share = f", rank {self.rank} of {self.num_replicas}" if self.num_replicas > 1 else ""
        return f"PackedLoader({len(self.ds)} graphs, {len(self)} batches of {self.batch_size}{share})"


def _collated(
    collator: Collator, parts: list[np.ndarray], capacity: Capacity | None, device: torch.device | None
) -> Iterator[tuple[PlanarBatch, Capacity | None]]:
    """The batches of an epoch, each with the capacity then. It knows nothing of the loader: a thread that runs it keeps no loader alive."""
    pin = _is_cuda(device)
    for ids in parts:
        with torch.cuda.device(device) if pin else nullcontext():  # or pinned memory would wake up device 0
            try:
                batch = collator(ids, capacity, pin)
            except DoesNotFitError as error:
                capacity = capacity.grow(error.layout)
                batch = collator(ids, capacity, pin)
        yield batch, capacity


class Ahead:
    """Runs an iterable in a thread that stays at most ``ahead`` items before the caller.

    The thread does not refer to this object: when the caller drops it, :meth:`close` stops the thread.
    """

    def __init__(self, items: Any, ahead: int) -> None:
        self.ready: queue.SimpleQueue = queue.SimpleQueue()
        self.room = threading.Semaphore(ahead)
        stop = threading.Event()
        self.thread = threading.Thread(
            target=_produce, args=(items, self.ready, self.room, stop), name="planegraph-loader", daemon=True
        )
        self.close = weakref.finalize(self, _stop, self.thread, self.room, stop)
        self.thread.start()

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        if not self.close.alive:
            raise StopIteration
        kind, value = self.ready.get()
        if kind == "item":
            self.room.release()
            return value
        self.close()
        raise value


def _produce(items: Any, ready: queue.SimpleQueue, room: threading.Semaphore, stop: threading.Event) -> None:
    """Puts each item, then the end or the error; waits for room before each item, so that nothing is made in vain."""
    try:
        source = iter(items)
        while True:
            room.acquire()
            if stop.is_set():
                return
            ready.put(("item", next(source)))
    except BaseException as error:  # StopIteration at the end; anything else is the caller's to handle
        ready.put(("end", error))


def _stop(thread: threading.Thread, room: threading.Semaphore, stop: threading.Event) -> None:
    stop.set()
    room.release()
    if thread is not threading.current_thread():
        thread.join()


def _is_cuda(device: torch.device | None) -> bool:
    return device is not None and device.type == "cuda"


def _capacity(pad: bool | Capacity | None, collator: Collator, batch_size: int) -> Capacity | None:
    if pad is None or pad is False:
        return None
    if pad is True:
        needs = make_needs(collator.ds.tables, collator.rows_per_edge)  # None where trees are too deep for a matrix of their sizes
        if needs is None:
            return collator(np.arange(min(batch_size, collator.num_graphs))).layout.sizes.padded()
        return needs.likely(batch_size)
    if isinstance(pad, Capacity):
        return pad
    raise TypeError(f"pad must be None, True or a Capacity; found {type(pad).__name__}")


def _at_least(value: Any, low: int, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be an integer, at least {low}; found {value!r}")
