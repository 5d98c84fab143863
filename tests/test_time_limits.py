"""Time limits and Ctrl-C reach a run in its long work too: a solver's start, and a step on all rows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from dualgap.interrupts import Interrupt
from dualgap.linalg.parallel import RunOver, checked, checkpoint, parallel_map, use_threads
from dualgap.linalg.partition import partition
from dualgap.solvers.projected_ascent import POWER_ITERATIONS


class Clock:
    """Seconds that pass by a tenth at every reading of the clock, so that a test needs no seconds of its own."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("dualgap.trace.time.perf_counter", clock)
    return clock


def tall(loss: str = "hinge") -> dg.Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140_000, 10))
    return dg.Problem(X, np.where(X[:, 0] + rng.normal(size=140_000) > 0.0, 1.0, -1.0), loss, 1e-6)


@pytest.mark.parametrize("solver", ["projected_ascent", "newton"])
def test_time_limit_ends_a_start_or_a_step(solver: str, ticking: Clock) -> None:
    result = dg.solve(tall(), solver, tol=0.0, max_seconds=1.0, record_every=np.inf)
    assert result.status is dg.Status.TIME_EXHAUSTED
    assert np.isfinite(result.certificate.gap)
    # A power iteration alone looks at the clock several times.
    assert ticking.now < 0.1 * 2 * POWER_ITERATIONS


def test_unfinished_start_answers_with_what_was_given(ticking: Clock) -> None:
    problem = tall()
    start = (np.linspace(0.1, 1.0, 10), 0.0, None)
    result = dg.solve(problem, "projected_ascent", tol=0.0, max_seconds=0.3, start=start)
    assert result.trace[-1].epoch == 0
    assert np.array_equal(result.weights, start[0])
    assert result.status is dg.Status.TIME_EXHAUSTED


def test_interrupt_ends_the_gram_matrix_of_box_ascent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while X Xᵀ is made: the answer is judged at once, with zero weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 500))
    assert len(partition(1200, 1200)) > 1
    problem = dg.Problem(X, np.where(X[:, 0] > 0.0, 1.0, -1.0), "hinge", 1e-4)
    asked: list[Any] = []

    class Asked(Interrupt):
        @property
        def asked(self) -> bool:
            asked.append(None)
            return True

        @asked.setter
        def asked(self, value: bool) -> None:
            pass

    monkeypatch.setattr("dualgap.run.Interrupt", Asked)
    result = dg.solve(problem, "box_ascent")
    assert result.status is dg.Status.INTERRUPTED
    assert result.trace[-1].epoch == 0
    assert not result.weights.any()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failed_check_ends_parallel_map(n_jobs: int) -> None:
    done: list[int] = []

    def check() -> None:
        if len(done) >= 5:
            raise RunOver

    def work(item: int) -> None:
        time.sleep(0.001)
        done.append(item)

    with use_threads(n_jobs), checked(check), pytest.raises(RunOver):
        list(parallel_map(work, range(1000)))
    assert len(done) < 20
    checkpoint()  # nothing is checked outside


def test_products_of_rows_are_the_same_in_blocks_and_for_any_n_jobs() -> None:
    X = np.random.default_rng(0).normal(size=(1200, 500))
    assert len(partition(1200, 1200)) > 1
    rows = dg.Problem(X, np.where(X[:, 0] > 0.0, 1.0, -1.0)).rows
    with use_threads(1):
        alone = rows.gram()
    np.testing.assert_allclose(alone, X @ X.T, rtol=1e-10, atol=1e-10)
    assert np.array_equal(alone, alone.T)
    with use_threads(2):
        assert np.array_equal(rows.gram(), alone)


def test_box_ascent_is_cut_by_what_a_row_costs() -> None:
    problem = dg.Problem(np.ones((400, 1)), np.where(np.arange(400) % 2, 1.0, -1.0))
    assert dg.BoxAscent().values_a_row(problem) == 400
    assert dg.SDCA().values_a_row(problem) == 1
