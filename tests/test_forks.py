"""Forked processes: each has threads of its own, and none waits for a lock that a thread of the parent held."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dualgap as dg
from dualgap.linalg.parallel import parallel_map, use_threads

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork processes")

# A child that needs more seconds than this hangs; alone it needs a hundredth of a second.
CHILD_SECONDS = 30.0


def fork(work: Callable[[], bool]) -> int:
    """A child that ends with 0 where `work` returns true."""
    with warnings.catch_warnings():
        # Python warns that forks and threads do not go well together, which is the point here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        ending = 2
        try:
            ending = 0 if work() else 1
        finally:
            os._exit(ending)
    return child


def ending_of(child: int) -> int | None:
    """The exit code of a child; None, and the child is killed, where it hangs."""
    deadline = time.monotonic() + CHILD_SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 8))
    return X, np.where(X[:, 0] + rng.normal(size=2_000) > 0.0, 1.0, -1.0)


def fits(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Weights of fresh problems, so that every lazy value is computed."""
    binary = [("hinge", "sdca"), ("squared_hinge", "newton"), ("logistic", "newton")]
    found = [dg.solve(dg.Problem(X, y, loss, 1e-3), solver, tol=1e-3, n_jobs=2).weights for loss, solver in binary]
    classes = np.digitize(X[:, 1], [-0.5, 0.5])
    return [*found, dg.solve(dg.MultinomialProblem(X, classes, 1e-3), tol=1e-3).weights]


def test_child_has_helpers_of_its_own() -> None:
    with use_threads(2):
        assert list(parallel_map(abs, [-1, -2, -3])) == [1, 2, 3]

    def maps() -> bool:
        with use_threads(2):
            return list(parallel_map(abs, [-1, -2, -3])) == [1, 2, 3]

    assert ending_of(fork(maps)) == 0


def test_child_forked_within_a_run_can_map_and_fit() -> None:
    X, y = data()
    with use_threads(2):
        assert list(parallel_map(abs, [-1, -2, -3])) == [1, 2, 3]
        alone = fits(X, y)

        def works() -> bool:
            right = list(parallel_map(abs, [-1, -2, -3])) == [1, 2, 3]
            return right and all(np.array_equal(a, b) for a, b in zip(fits(X, y), alone, strict=True))

        assert ending_of(fork(works)) == 0


def none_hangs(children: int) -> None:
    X, y = data()
    alone = fits(X, y)  # kernels are compiled here: Numba's own locks are not ours
    done = threading.Event()

    def solves() -> None:
        while not done.is_set():
            fits(X, y)

    def same() -> bool:
        return all(np.array_equal(a, b) for a, b in zip(fits(X, y), alone, strict=True))

    threads = [threading.Thread(target=solves) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        endings = [ending_of(fork(same)) for _ in range(children)]
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert endings == [0] * children


def test_children_forked_while_threads_solve_do_not_hang() -> None:
    none_hangs(12)


@pytest.mark.slow
def test_200_children_forked_while_threads_solve_do_not_hang() -> None:
    none_hangs(200)


@pytest.mark.parametrize("count", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_fits_in_eight_threads_have_the_bits_of_one(count: int) -> None:
    X, y = data()
    alone = fits(X, y)
    with ThreadPoolExecutor(8) as users:
        # Each call makes four fits.
        together = list(users.map(lambda _: fits(X, y), range(8 * count // 4)))
    for found in together:
        assert all(np.array_equal(a, b) for a, b in zip(found, alone, strict=True))
