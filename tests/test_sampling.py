"""Which rows an epoch touches: with replacement, a permutation, a fixed order, or batches of distinct rows."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from driving import random_of
from dualgap.solvers.base import SAMPLINGS, draw_batches, draw_order
from examples import small_problem


@pytest.mark.parametrize("count", [1, 24, 1000])
def test_an_order_draws_rows_by_its_sampling(count: int) -> None:
    random = random_of(3)
    plans = {s: [draw_order(count, s, epoch, random) for epoch in range(3)] for s in SAMPLINGS}
    for sampling, orders in plans.items():
        for order in orders:
            assert order.size == count
            assert order.dtype == np.uint32
            if sampling != "random":
                assert np.array_equal(np.sort(order), np.arange(count))
    assert np.array_equal(plans["cyclic"][0], plans["cyclic"][2])
    assert all(np.array_equal(order, np.arange(count)) for order in plans["stored"])
    again = draw_order(count, "permutation", 1, random)
    assert np.array_equal(again, plans["permutation"][1])
    if count > 1:
        assert not np.array_equal(plans["permutation"][0], plans["permutation"][1])
        assert not np.array_equal(plans["random"][0], plans["random"][1])
        # With replacement some rows come twice and about n/e never.
        drawn = np.unique(plans["random"][0]).size
        assert 0.5 * count < drawn < 0.8 * count


@pytest.mark.parametrize(
    ("count", "size"), [(24, 5), (24, 24), (100, 30), (10_000, 60), (1000, 30), (24, 2)], ids=lambda value: str(value)
)
def test_batches_hold_distinct_rows(count: int, size: int) -> None:
    # Large batches are drawn one by one, small ones all at once and again where a row comes twice.
    order = draw_batches(count, size, "random", 0, random_of(11))
    batches = -(-count // size)
    assert order.size == batches * size
    assert order.dtype == np.uint32
    assert order.max() < count
    for batch in order.reshape(batches, size):
        assert np.unique(batch).size == size
    assert np.array_equal(order, draw_batches(count, size, "random", 0, random_of(11)))
    if batches > 1:
        assert np.unique(order).size < order.size, "batches are drawn independently of each other"


def test_independent_draws_of_a_batch_repeat_rows() -> None:
    # Batches of 30 out of 1,000 repeat a row in one of three draws, so mending is needed and was seen above.
    raw = random_of(11)(0).integers(0, 1000, (34, 30), dtype=np.uint32)
    assert any(np.unique(batch).size < 30 for batch in raw)


@pytest.mark.parametrize("sampling", ["permutation", "cyclic", "stored"])
def test_batches_without_replacement_are_a_partition(sampling: str) -> None:
    orders = [draw_batches(25, 4, sampling, epoch, random_of(2)) for epoch in (0, 1)]
    for order in orders:
        assert np.array_equal(np.sort(order), np.arange(25))
    assert np.array_equal(*orders) == (sampling != "permutation")


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kind", [dg.SDCA, dg.Pegasos, dg.SGD])
def test_solvers_plan_with_the_sampling_they_were_given(kind: type[dg.Solver], sampling: str) -> None:
    problem = small_problem("hinge")
    solver = kind(sampling=sampling)
    state = solver.start(problem, None)
    for epoch in range(2):
        plan = solver.plan(problem, state, epoch, random_of(7))
        assert np.array_equal(plan, draw_order(24, sampling, epoch, random_of(7)))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_shrinking_is_for_passes_that_shuffle(sampling: str) -> None:
    """A pass takes rows from a shuffled queue; rows drawn with replacement or in stored order are over plain epochs."""
    state = dg.SDCA(sampling=sampling, shrinking=True).start(small_problem("hinge"), None)
    assert (state.passes is not None) == (sampling in ("permutation", "cyclic"))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_first_epoch_of_sgd_sees_each_row_once(sampling: str) -> None:
    problem = small_problem("hinge")
    solver = dg.SDCA(sampling=sampling, first_epoch="sgd")
    order = solver.plan(problem, solver.start(problem, None), 0, random_of(7))
    assert np.array_equal(np.sort(order), np.arange(24))
    assert np.array_equal(order, np.arange(24)) == (sampling == "stored")
