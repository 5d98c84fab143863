"""Threads of a run: results come in order, warnings stay as told, errors reach the caller, and helpers outlive a run."""

from __future__ import annotations

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dualgap as dg
from dualgap.linalg.parallel import _libraries, core_count, parallel_map, thread_count, use_threads


def helpers() -> set[int | None]:
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith("dualgap")}


def test_results_come_in_order_and_helpers_stay_for_the_next_run() -> None:
    def slow(item: int) -> tuple[int, int | None]:
        time.sleep(0.002)
        return item, threading.get_ident()

    seen = []
    for _ in range(2):
        with use_threads(3):
            found = list(parallel_map(slow, list(range(30))))
        assert [item for item, _ in found] == list(range(30))
        assert len({thread for _, thread in found}) > 1
        seen.append(helpers())
    assert seen[0] == seen[1] != set()


def test_an_error_in_a_task_reaches_the_caller() -> None:
    def fails(item: int) -> int:
        if item == 7:
            raise ValueError("item 7")
        return item

    with use_threads(2):
        with pytest.raises(ValueError, match="item 7"):
            list(parallel_map(fails, list(range(20))))
        assert list(parallel_map(abs, [-1, -2, -3])) == [1, 2, 3]


def test_numpy_error_settings_hold_in_helper_threads() -> None:
    def overflows(item: int) -> float:
        time.sleep(0.002)
        return float(np.exp(np.array([1000.0 + item]))[0])

    with use_threads(2), warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error")
        assert list(parallel_map(overflows, list(range(8)))) == [np.inf] * 8


def test_runs_that_share_helpers_do_not_wait_for_each_other() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 60))
    y = np.where(X[:, 0] + rng.normal(size=30_000) > 0.0, 1.0, -1.0)
    problem = dg.Problem(X, y, "logistic", 1e-4)
    alone = dg.solve(problem, "newton", n_jobs=2)
    with ThreadPoolExecutor(4) as users:
        together = list(users.map(lambda _: dg.solve(problem, "newton", n_jobs=2), range(8)))
    assert all(np.array_equal(one.weights, alone.weights) for one in together)


def test_blas_has_one_thread_until_the_last_run_is_over_whichever_thread_it_is_in() -> None:
    def counts() -> list[int]:
        return [library.get_num_threads() for library in _libraries()]

    before, entered, left = counts(), threading.Event(), threading.Event()

    def other() -> list[int]:
        with use_threads(2):
            entered.set()
            assert left.wait(20.0)
            return counts()

    with ThreadPoolExecutor(1) as users:
        with use_threads(1):
            later = users.submit(other)
            assert entered.wait(20.0)
        assert counts() == [1] * len(before)
        left.set()
        assert later.result() == [1] * len(before)
    assert counts() == before


def test_ctrl_c_while_the_limit_is_set_leaves_no_limit_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [library.get_num_threads() for library in _libraries()]

    def stopped() -> list[object]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dualgap.linalg.parallel._libraries", stopped)
        with pytest.raises(KeyboardInterrupt), use_threads(1):
            pass
    with use_threads(1):
        assert [library.get_num_threads() for library in _libraries()] == [1] * len(before)
    assert [library.get_num_threads() for library in _libraries()] == before


def test_helpers_are_at_most_one_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are never ended, so runs with another n_jobs must not leave more of them behind."""
    monkeypatch.setattr("dualgap.linalg.parallel.core_count", lambda: 3)
    for n_jobs in (2, 5, 3, 10_000, -1):
        with use_threads(n_jobs):
            assert list(parallel_map(abs, list(range(50)))) == list(range(50))
    assert len(helpers()) <= max(2, core_count() - 1)


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, 1), (1, 1), (3, 3), (10_000, 4), (-1, 4), (-2, 3), (-9, 1)])
def test_n_jobs_is_counted_in_cores(n_jobs: int | None, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dualgap.linalg.parallel.core_count", lambda: 4)
    assert thread_count(n_jobs) == threads
