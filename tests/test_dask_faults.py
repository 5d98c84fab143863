"""Fits on real Dask clusters that change: workers that are killed, slow, join or leave, a lost scheduler, Ctrl-C, time limits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.blocks.homes import HomeLost

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

# Dask warns of what it does itself, as of a connection that ended; a process is stopped and killed by POSIX signals.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(os.name != "posix", reason="sends signals to workers"),
]
BLOCKS = 6


def made_rows(number: int, form: str = "dense") -> tuple[Any, Any]:
    """A block that is the same wherever it is made."""
    rng = np.random.default_rng(number)
    values = rng.normal(size=(2000, 5))
    y = np.where(values @ np.array([1.0, -2.0, 0.5, 0.0, 0.3]) + rng.normal(size=2000) > 0.0, 1, -1)
    return (sp.csr_matrix(np.where(np.abs(values) < 0.5, 0.0, values)) if form == "csr" else values), y


def other_rows(number: int, path: str) -> tuple[Any, Any]:
    """A block that is another one each time it is made."""
    calls = Path(path) / f"{number}-{time.time_ns()}"
    seed = len(list(Path(path).glob(f"{number}-*")))
    calls.touch()
    X, y = made_rows(number)
    return X * (1 - 2 * seed), y


def on_workers(form: str = "dense") -> dg.Blocks:
    make = dask.delayed(made_rows)
    return dg.Blocks([make(number, form) for number in range(BLOCKS)])


def on_disk(form: str = "dense") -> dg.Blocks:
    return dg.Blocks(lambda: (made_rows(number, form) for number in range(BLOCKS)))


def problem_of(blocks: dg.Blocks) -> Any:
    return dg.Problem(blocks, loss="hinge", strength=1e-4, intercept=True)


class Processes:
    """A scheduler and workers without nannies, so that what is killed stays away."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._started("scheduler", "--host", "127.0.0.1", "--port", port)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.add()

    def add(self) -> None:
        self.workers.append(self._started("worker", self.address, "--nthreads", "1", "--no-nanny"))

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait(10)

    @staticmethod
    def _started(what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, "--no-dashboard"]
        paths = [str(Path(__file__).parent), *(path for path in sys.path if path)]
        return subprocess.Popen(
            command, stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        )

    def kill_workers(self) -> None:
        for worker in self.workers:
            with suppress(ProcessLookupError):
                worker.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    running = Processes()
    try:
        yield running
    finally:
        running.end()


@contextmanager
def client_of(running: Processes, workers: int) -> Iterator[Any]:
    with distributed.Client(running.address, timeout=30) as client:
        client.wait_for_workers(workers, timeout=30)
        yield client


def at_round(number: int, work: Any) -> Any:
    """A callback that does something once, after a round."""
    done: list[Any] = []

    def callback(record: Any) -> bool:
        if len(done) == 0 and record.epoch >= number:
            done.append(None)
            work()
        return False

    return callback


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


def test_one_two_and_three_workers_and_disk_give_the_same_bits(cluster: Any) -> None:
    known = {form: dg.solve(problem_of(on_disk(form)), tol=1e-4) for form in ("dense", "csr")}
    with distributed.Client(cluster) as client:
        for workers in (1, 2, 3):
            cluster.scale(workers)
            client.wait_for_workers(workers, timeout=60)
            for form, expected in known.items():
                found = dg.solve(problem_of(on_workers(form)), tol=1e-4)
                assert found.weights.tobytes() == expected.weights.tobytes()
                assert found.certificate == expected.certificate


def test_slow_leaving_and_joining_workers_change_no_bit(cluster: Any) -> None:
    known = dg.solve(problem_of(on_disk()), tol=1e-4)
    with distributed.Client(cluster) as client:
        cluster.scale(2)
        client.wait_for_workers(2, timeout=60)
        problem = problem_of(on_workers())
        pid = next(iter(client.run(os.getpid).values()))

        def pause() -> None:
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(0.7, os.kill, (pid, signal.SIGCONT)).start()

        def join() -> None:
            cluster.scale(3)
            client.wait_for_workers(3, timeout=60)

        def leave() -> None:
            client.retire_workers([min(client.nthreads())])

        for change in (pause, join, leave):
            found = dg.solve(problem, tol=1e-4, callback=at_round(2, change))
            assert found.status is dg.Status.CERTIFIED
            assert found.weights.tobytes() == known.weights.tobytes()


def test_ctrl_c_and_limits_end_a_fit_whose_workers_do_not_answer(cluster: Any) -> None:
    with distributed.Client(cluster) as client:
        problem = problem_of(on_workers())
        pids = list(client.run(os.getpid).values())

        def stop() -> None:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)

        def stop_and_interrupt() -> None:
            stop()
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

        for change, seconds, status in (
            (stop_and_interrupt, None, dg.Status.INTERRUPTED),
            (stop, 1.0, dg.Status.TIME_EXHAUSTED),
        ):
            begun = time.perf_counter()
            try:
                found = dg.solve(problem, tol=1e-12, max_seconds=seconds, callback=at_round(2, change))
            finally:
                for pid in pids:
                    os.kill(pid, signal.SIGCONT)
            assert found.status is status
            assert found.certificate.gap == min(record.gap for record in found.trace)
            assert time.perf_counter() - begun < 5.0
        # What was left behind is in nobody's way.
        assert dg.solve(problem, tol=1e-4).status is dg.Status.CERTIFIED


def test_blocks_that_are_made_differently_again_are_refused(processes: Processes, tmp_path: Path) -> None:
    with client_of(processes, 1) as client:
        make = dask.delayed(other_rows, pure=False)
        problem = problem_of(dg.Blocks([make(number, str(tmp_path)) for number in range(BLOCKS)]))
        processes.add()
        client.wait_for_workers(2, timeout=30)

        def kill_worker() -> None:
            processes.workers[0].send_signal(signal.SIGKILL)

        with pytest.raises(ValueError, match=r"block \d: every pass needs the blocks of the first one, got other rows"):
            dg.solve(problem, tol=1e-12, callback=at_round(1, kill_worker))


def test_no_worker_left_and_a_lost_scheduler_keep_the_certified_weights(processes: Processes) -> None:
    with client_of(processes, 1):
        problem = problem_of(on_workers())

        found = dg.solve(problem, tol=1e-12, max_seconds=2.0, callback=at_round(2, processes.kill_workers))
        assert found.status is dg.Status.TIME_EXHAUSTED
        assert found.certificate.gap == min(record.gap for record in found.trace)

        # A new worker makes the blocks again.
        threading.Timer(0.3, processes.add).start()
        known = dg.solve(problem_of(on_disk()), tol=1e-4)
        again = dg.solve(problem, tol=1e-4)
        assert again.weights.tobytes() == known.weights.tobytes()

        def kill_scheduler() -> None:
            processes.scheduler.send_signal(signal.SIGKILL)

        begun = time.perf_counter()
        found = dg.solve(problem, tol=1e-12, callback=at_round(2, kill_scheduler))
        assert time.perf_counter() - begun < 20.0
        assert found.status is dg.Status.INTERRUPTED
        assert "Dask's scheduler does not answer" in found.sentence
        assert found.certificate.gap == min(record.gap for record in found.trace)
        with pytest.raises(HomeLost, match="Dask's scheduler does not answer"):
            dg.solve(problem)


def test_errors_of_the_users_own_function_are_not_the_schedulers(cluster: Any) -> None:
    def missing() -> Any:
        raise FileNotFoundError("rows-7.npz")

    with distributed.Client(cluster), pytest.raises(FileNotFoundError, match="rows-7"):
        dg.Blocks([dask.delayed(missing)()])
