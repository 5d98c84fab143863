"""Threads for one run: a function mapped over items of work, with results in the order of the items.

The caller chooses the items from the size of the data alone, so the numbers are the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Out = TypeVar("Out")


class Task:
    """Work that a helper may begin; it can be taken back until then."""

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
    """Threads that wait for tasks. An executor's futures would take as long as a small step to come and go.

    One pool serves the whole process, because threads that wait between runs are never ended. `start` makes it anew in a
    forked process, which has none of the parent's threads and may have inherited the lock as held.
    """

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.count, self.lock = 0, Lock()
        self.tasks: SimpleQueue[Task] = SimpleQueue()

    def grow_to(self, count: int) -> None:
        """Have at least `count` threads."""
        if self.count >= count:
            return
        with self.lock:
            for number in range(self.count, count):
                Thread(target=self._serve, args=(self.tasks,), name=f"dualgap_{number}", daemon=True).start()
                self.count = number + 1

    @staticmethod
    def _serve(tasks: SimpleQueue[Task]) -> None:
        while True:
            tasks.get().run()


_helpers = Helpers()
# How many helpers `parallel_map` may ask beside the thread it is called in.
_helper_count: ContextVar[int] = ContextVar("dualgap_helper_count", default=0)


# What long work calls now and then in this thread; it raises where the run is over.
_check: ContextVar[Callable[[], None] | None] = ContextVar("dualgap_check", default=None)


class RunOver(Exception):
    """Raised by a check in the middle of long work: the run is out of time or was interrupted."""


@contextmanager
def checked(check: Callable[[], None] | None) -> Iterator[None]:
    """Within, `checkpoint` calls a function that may raise, in helpers too."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def checkpoint() -> None:
    """Called between items of long work, so that a run that is over need not wait for the rest."""
    check = _check.get()
    if check is not None:
        check()


@cache
def _libraries() -> list[Any]:
    """The BLAS libraries of this process; looking for them takes milliseconds, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def core_count() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(n_jobs: int | None) -> int:
    """How many threads n_jobs stands for: None is 1, −1 all cores, −2 all but one; never more than there are cores."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ValueError(f"n_jobs needs to be a whole number other than 0, got {n_jobs!r}; −1 takes all cores")
    cores = core_count()
    return min(n_jobs, cores) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


class SingleBlas:
    """While any run is within, BLAS uses one thread: its setting is the process's, so only the last to leave gives it back."""

    def __init__(self) -> None:
        self.before: list[tuple[Any, int]] = []
        self.start()

    def start(self) -> None:
        self.lock, self.runs = Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if self.runs == 0:
                self.before = [(library, library.get_num_threads()) for library in _libraries()]
                try:
                    for library, _ in self.before:
                        _set_threads(library, 1)
                except BaseException:  # Ctrl-C too: a run that did not enter will not leave
                    self._give_back()
                    raise
            self.runs += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            # A process forked within a run counts from zero and leaves that run too.
            self.runs = max(self.runs - 1, 0)
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
    os.register_at_fork(after_in_child=_single_blas.start)
    os.register_at_fork(after_in_child=_helpers.start)


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Within, `parallel_map` spreads its items over the threads of n_jobs, at most one a core, and BLAS uses one in each."""
    # The thread that asks works too. A run of one thread within one of several may use those.
    helper_count = thread_count(n_jobs) - 1
    token = _helper_count.set(helper_count or _helper_count.get())
    try:
        with _single_blas:
            yield
    finally:
        _helper_count.reset(token)


def threads_in_use() -> int:
    """How many threads `parallel_map` uses here."""
    return 1 + _helper_count.get()


def parallel_map(function: Callable[[Item], Out], items: Sequence[Item]) -> Iterator[Out]:
    """function(item) for every item, in order; within an item nothing is mapped over threads again."""
    helper_count = min(_helper_count.get(), len(items) - 1)
    if helper_count <= 0:
        return map(_checking(function), items)
    _helpers.grow_to(helper_count)
    results: list[Any] = [None] * len(items)
    # One task for each thread, which takes the next item when it is done with one: a task for each item costs too much.
    waiting = iter(range(len(items)))
    said, check = np.geterr(), _check.get()

    def work() -> None:
        # What NumPy is told to keep quiet about holds for the thread that was told, and so does the check.
        token = _check.set(check)
        try:
            with np.errstate(**said):
                for number in waiting:
                    checkpoint()
                    results[number] = function(items[number])
        except BaseException:
            for _ in waiting:  # no result of the remaining items will be used
                pass
            raise
        finally:
            _check.reset(token)

    tasks = [Task(work) for _ in range(helper_count)]
    for task in tasks:
        _helpers.tasks.put(task)
    token = _helper_count.set(0)
    try:
        work()
    finally:
        _helper_count.reset(token)
        for task in tasks:
            task.close()
    return iter(results)


def _checking(function: Callable[[Item], Out]) -> Callable[[Item], Out]:
    """The function, after a checkpoint; itself where nothing is checked."""
    if _check.get() is None:
        return function

    def checks(item: Item) -> Out:
        checkpoint()
        return function(item)

    return checks
