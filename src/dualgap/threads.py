"""Threads for one run: a function mapped over pieces of work, with results in the order of the pieces.

Whoever maps chooses the pieces from the size of the data alone, so the numbers are the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")
Out = TypeVar("Out")


class Task:
    """Work that a helper may begin, and whoever gave it may take back while none has."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work: Callable[[], None] | None = work
        self.error: BaseException | None = None
        self.taken, self.busy = Lock(), Lock()
        self.busy.acquire()

    def run(self) -> None:
        if not self.taken.acquire(blocking=False) or self.work is None:
            return
        try:
            self.work()
        except BaseException as error:
            self.error = error  # it is raised where the task is closed
        finally:
            self.work = None
            self.busy.release()

    def close(self) -> None:
        """Wait for a helper that has begun; one that is busy elsewhere is not waited for."""
        if self.taken.acquire(blocking=False):
            self.work = None
            return
        self.busy.acquire()
        if self.error is not None:
            raise self.error


class Helpers:
    """Threads that wait for tasks. An executor's futures would take as long as a small step to come and go."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.tasks: SimpleQueue[Task] = SimpleQueue()
        for number in range(count):
            Thread(target=self._serve, name=f"dualgap_{number}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.tasks.get().run()


_pool: ContextVar[Helpers | None] = ContextVar("dualgap_threads", default=None)


@cache
def _libraries() -> list[Any]:
    """The BLAS libraries of this process; looking for them takes milliseconds, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def count_of(n_jobs: int | None) -> int:
    """How many threads n_jobs asks for: None is 1, −1 all cores, −2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ValueError(f"n_jobs needs to be a whole number other than 0, got {n_jobs!r}; −1 takes all cores")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


@cache
def _helpers(count: int, process: int) -> Helpers:
    """Threads that wait for work between runs, because starting them takes as long as a small step; each process has its own."""
    return Helpers(count)


class SingleBlas:
    """While any run is within, BLAS uses one thread: its setting is the process's, so only the last to leave gives it back."""

    def __init__(self) -> None:
        self.lock, self.runs = Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self.lock:
            if self.runs == 0:
                self.before = [(library, library.get_num_threads()) for library in _libraries()]
                try:
                    for library, _ in self.before:
                        _set_threads(library, 1)
                except BaseException:  # Ctrl-C too: who never came in will not leave
                    self._give_back()
                    raise
            self.runs += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.runs -= 1
            if self.runs == 0:
                self._give_back()

    def _give_back(self) -> None:
        for library, threads in self.before:
            _set_threads(library, threads)


def _set_threads(library: Any, count: int) -> None:
    """Set how many threads a BLAS library uses, whichever thread asks.

    threadpoolctl from 3.8 on listens to the first thread that ever asked, as long as that lives; others would work on with as
    many threads as before.
    """
    free = getattr(library, "clear_controlling_thread", None)
    if free is not None:
        free(force=True)
    library.set_num_threads(count)
    if free is not None:
        free(force=True)


_single_blas = SingleBlas()
if hasattr(os, "register_at_fork"):
    # No run of the parent's goes on in a child, and a lock that another thread holds would never be given back there.
    os.register_at_fork(after_in_child=_single_blas.__init__)  # type: ignore[misc]


@contextmanager
def working(n_jobs: int | None) -> Iterator[None]:
    """Within, `mapped` spreads its pieces over so many threads, and BLAS uses one in each."""
    count = count_of(n_jobs)
    # The thread that asks works too.
    token = None if count == 1 else _pool.set(_helpers(count - 1, os.getpid()))
    try:
        with _single_blas:
            yield
    finally:
        if token is not None:
            _pool.reset(token)


def working_now() -> int:
    """How many threads `mapped` uses here."""
    pool = _pool.get()
    return 1 if pool is None else 1 + pool.count


def runs(count: int, pieces: int) -> list[slice]:
    """So many runs of about the same length, one after the other, over `count` things."""
    ends = [count * k // pieces for k in range(pieces + 1)]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def mapped(function: Callable[[Piece], Out], pieces: Sequence[Piece]) -> Iterator[Out]:
    """function(piece) for every piece, in order; within a piece nothing is mapped over threads again."""
    pool = _pool.get()
    if pool is None or len(pieces) == 1:
        return map(function, pieces)
    results: list[Any] = [None] * len(pieces)
    # One task for each thread, which takes the next piece when it is done with one: a task for each piece costs too much.
    waiting = iter(range(len(pieces)))
    said = np.geterr()

    def work() -> None:
        # What NumPy is told to keep quiet about holds for the thread that was told.
        with np.errstate(**said):
            for number in waiting:
                results[number] = function(pieces[number])

    tasks = [Task(work) for _ in range(min(pool.count, len(pieces) - 1))]
    for task in tasks:
        pool.tasks.put(task)
    token = _pool.set(None)
    try:
        work()
    finally:
        _pool.reset(token)
        for task in tasks:
            task.close()
    return iter(results)
