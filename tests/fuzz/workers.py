"""Worker processes that run one case at a time, with a time limit for each: a worker that exceeds it is replaced."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

Target = Callable[[Connection], None]

TESTS = Path(__file__).resolve().parent.parent
# The parent looks for workers beyond their limit this often.
LOOK_SECONDS = 0.5
# A worker gets this long before its first case: it imports the package.
IMPORT_SECONDS = 120.0


def prepare() -> None:
    """Paths and variables that have to be there before the package is imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    sys.path[:0] = [str(TESTS / "fuzz"), str(TESTS)]
    # The tests' own folder of compiled kernels.
    import conftest  # noqa: F401


def serve(connection: Connection) -> None:
    """The worker: receives seeds, sends outcomes, ends at None. Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare()
    from running import run_seed

    connection.send(None)
    while (seed := connection.recv()) is not None:
        connection.send(run_seed(seed).as_dict())


class Worker:
    """One process and the case it is at."""

    def __init__(self, target: Target) -> None:
        context = mp.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=target, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.seed: int | None = None
        self.deadline = time.monotonic() + IMPORT_SECONDS

    def give(self, seed: int, limit: float) -> None:
        """Start the case of a seed."""
        self.seed, self.deadline = seed, time.monotonic() + limit
        self.connection.send(seed)

    def end(self) -> None:
        """End the process, wherever it is."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(
    seeds: Iterator[int], jobs: int, limit: float, target: Target = serve
) -> Generator[dict[str, Any], None, None]:
    """The outcomes of all seeds, in the order in which they come; a hang and a crash are outcomes too."""
    workers = [Worker(target) for _ in range(jobs)]
    try:
        while workers:
            ready = wait([worker.connection for worker in workers], LOOK_SECONDS)
            for worker in list(workers):
                found, is_alive = None, True
                if worker.connection in ready:
                    found, is_alive = _received(worker)
                elif time.monotonic() > worker.deadline:
                    found, is_alive = _lost(worker, "hang", f"no answer within {limit:g} s"), False
                else:
                    continue
                if found is not None:
                    yield found
                workers = _next(workers, worker, is_alive, seeds, limit, target)
    finally:
        for worker in workers:
            worker.end()


def _received(worker: Worker) -> tuple[dict[str, Any] | None, bool]:
    """What a worker sent, and whether it lives."""
    try:
        return worker.connection.recv(), True
    except (EOFError, OSError):
        worker.process.join(1.0)
        return _lost(worker, "crash", f"the process ended with code {worker.process.exitcode}"), False


def _lost(worker: Worker, status: str, message: str) -> dict[str, Any]:
    return {"seed": worker.seed, "family": "?", "loss": "?", "status": status, "message": message}


def _next(
    workers: list[Worker], worker: Worker, is_alive: bool, seeds: Iterator[int], limit: float, target: Target
) -> list[Worker]:
    """Give a worker its next seed; replace a lost one; without seeds it ends."""
    if not is_alive:
        worker.end()
        workers = [Worker(target) if other is worker else other for other in workers]
        return workers
    seed = next(seeds, None)
    if seed is None:
        worker.end()
        return [other for other in workers if other is not worker]
    worker.give(seed, limit)
    return workers
