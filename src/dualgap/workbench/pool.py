"""A pool of worker processes that carry out runs side by side; they report, and only their parent writes."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from dualgap.trace import Clock, Record
from dualgap.workbench.contest import Contest
from dualgap.workbench.plan import Run
from dualgap.workbench.store import FinishedRun
from dualgap.workbench.watcher import Watcher

# A worker sends at most one record in this time: a live view shows no more.
TELL_SECONDS = 0.05
POLL_SECONDS = 0.2  # between two waits for the workers, in which Ctrl-C is noticed


class Pool:
    """`jobs` processes, started when entered and ended when left, whatever they are doing then."""

    def __init__(self, jobs: int, threads: int, keep_iterates: bool = False) -> None:
        self.jobs, self.threads, self.keep_iterates = jobs, threads, keep_iterates
        self.workers: dict[Connection, Any] = {}

    def __enter__(self) -> Pool:
        # A forked child would inherit locks of threads that do not exist in it (BLAS, OpenMP, the live view).
        context = multiprocessing.get_context("spawn")
        with _ignoring_interrupts():
            self._start(context)
        return self

    def _start(self, context: Any) -> None:
        for number in range(self.jobs):
            ours, theirs = context.Pipe()
            worker = context.Process(
                target=_work,
                args=(theirs, self.threads, self.keep_iterates),
                name=f"dualgap-race-{number}",
                daemon=True,
            )
            worker.start()
            # With the parent's copy closed, each side hears at once when the other is gone.
            theirs.close()
            self.workers[ours] = worker

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for line, worker in self.workers.items():
            line.close()
            worker.terminate()
        for worker in self.workers.values():
            worker.join()
        self.workers.clear()

    def carry_out(self, runs: list[Run], watcher: Watcher) -> Iterator[tuple[Run, FinishedRun | str]]:
        """Give the runs out in their order, one to each worker at a time, and yield them as they end."""
        waiting = list(reversed(runs))
        at_work: dict[Connection, Run] = {}
        refused: set[str] = set()
        idle = list(self.workers)
        while waiting or at_work:
            while waiting and idle:
                run = waiting.pop()
                if run.solver in refused:
                    continue
                line = idle.pop()
                at_work[line] = run
                self._send(line, run)
                watcher.started(run)
            ready = wait(list(at_work), timeout=POLL_SECONDS)
            for line in [line for line in at_work if line in ready]:
                run = at_work[line]
                said = self._receive(line, run)
                if isinstance(said, Record):
                    watcher.recorded(run, said)
                    continue
                del at_work[line]
                idle.append(line)
                if isinstance(said, str):
                    refused.add(run.solver)
                yield run, said

    def _receive(self, line: Connection, run: Run) -> Record | FinishedRun | str:
        try:
            said: Record | FinishedRun | str = line.recv()
        except (EOFError, ConnectionError):
            raise self._error_of_lost_worker(line, run) from None
        return said

    def _send(self, line: Connection, run: Run) -> None:
        try:
            line.send(run)
        except ConnectionError:
            raise self._error_of_lost_worker(line, run) from None

    def _error_of_lost_worker(self, line: Connection, run: Run) -> OSError:
        """The error that says how a worker process ended."""
        worker = self.workers[line]
        worker.join()
        return OSError(
            f"a worker process ended during {run.solver} with code {worker.exitcode}, perhaps for want of memory; "
            "pass --resume to go on, with fewer --jobs"
        )


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ctrl-C in a terminal reaches every process of the group; children started inside ignore it, the parent does not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _work(line: Connection, threads: int, keep_iterates: bool) -> None:
    """Carry out the runs that the connection brings until it is closed."""
    # Children of some systems, or of another thread, do not inherit that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent has loaded the same data, and has said what there is to say about it.
    logging.getLogger("dualgap").setLevel(logging.CRITICAL)
    contest: Contest | None = None
    heat: tuple[Any, ...] = ()
    ready: set[str] = set()
    try:
        while True:
            run: Run = line.recv()
            try:
                if contest is None or heat != _heat_of(run):
                    contest, heat, ready = Contest(run, threads, keep_iterates), _heat_of(run), set()
                if run.solver not in ready:
                    contest.prepare(run)
                    ready.add(run.solver)
                with contest.limited_threads():
                    line.send(contest.finish(run, _RecordSender(line)))
            except ValueError as refusal:
                line.send(str(refusal))
    except (EOFError, OSError):
        return  # the parent is gone, or has closed the pipe


class _RecordSender:
    """Sends at most one record in TELL_SECONDS."""

    def __init__(self, line: Connection) -> None:
        self.line = line
        self.clock = Clock()
        self.sent = -TELL_SECONDS

    def __call__(self, record: Record) -> None:
        now = self.clock.elapsed()
        if now - self.sent >= TELL_SECONDS:
            self.sent = now
            self.line.send(replace(record, iterate=None))


def _heat_of(run: Run) -> tuple[Any, ...]:
    """What two runs of one heat share."""
    shared = (
        "data",
        "loss",
        "strength",
        "test_size",
        "split_seed",
        "intercept",
        "standardize",
        "features",
        "target",
        "positive",
    )
    return tuple(getattr(run, name) for name in shared)
