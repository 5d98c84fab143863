"""Driving a solver by hand, as the loop does, and holding what it shows against a slow twin."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import dualgap as dg
import reference
from dualgap.solvers import Answer

# Kernel and twin sum in different orders: a kernel carries w and a scale along, the twin recomputes w from the duals.
# Their difference grows with the number of updates (some hundred) times the unit roundoff (1e-16) times the largest
# values met, which early steps of 1/λ make large. 1e-14 is seen; this leaves room for other processors.
AGREEMENT = 1e-12
EPOCHS = 3


def random_of(seed: int) -> Callable[[int], np.random.Generator]:
    """The random numbers of an epoch, as the loop addresses them."""
    return lambda epoch: np.random.default_rng((seed, epoch, 0))


class Seen(NamedTuple):
    """What was read off a solver: per epoch its order and its answers by the updates done, then the end and the mean."""

    orders: list[np.ndarray]
    answers: list[dict[int, Answer]]
    end: Answer
    mean: Answer | None


def copied(answer: Answer) -> Answer:
    return Answer(answer.weights.copy(), answer.intercept, answer.duals.copy())


def drive(
    solver: dg.Solver,
    problem: dg.Problem,
    epochs: int = EPOCHS,
    average_from: int | None = None,
    slices: int = 3,
    orders: list[np.ndarray] | None = None,
) -> Seen:
    """Advance a solver as the loop does, each epoch cut into slices, averaging from one epoch on."""
    batch = solver.batch(problem)
    state = solver.start(problem, None)
    seen_orders, answers = [], []
    for epoch in range(epochs):
        if epoch == average_from:
            state = solver.begin_average(problem, state)
        steps = solver.plan(problem, state, epoch, random_of(7)) if orders is None else orders[epoch]
        updates = -(-len(steps) // batch)
        cuts = sorted({round(updates * part / slices) for part in range(slices + 1)})
        found = {}
        for begin, stop in pairwise(cuts):
            state = solver.advance(problem, state, steps[begin * batch : stop * batch])
            found[stop] = copied(solver.answer(problem, state))
        state = solver.end_epoch(problem, state)
        seen_orders.append(np.array(steps))
        answers.append(found)
    mean = None if average_from is None else copied(solver.average(problem, state))
    return Seen(seen_orders, answers, copied(solver.answer(problem, state)), mean)


def close(shown: Any, expected: Any, size: float = 1.0, tolerance: float = AGREEMENT) -> None:
    """Equal to rounding, where values of `size` (or 1) were summed."""
    np.testing.assert_allclose(shown, expected, rtol=tolerance, atol=tolerance * max(size, 1.0))


def assert_twins(
    seen: Seen, twin: reference.Run, average_from: int | None = None, tolerance: float = AGREEMENT
) -> None:
    """Kernel and twin agree in weights, intercept and duals, at each slice, at the end, and in the mean."""
    largest = max(float(np.abs(it.weights).max()) for it in twin.iterates)
    heaviest = max(float(np.abs(it.duals).max()) for it in twin.iterates)
    assert largest > 0.0
    pairs = [(answer, twin.epochs[e][k - 1]) for e, found in enumerate(seen.answers) for k, answer in found.items()]
    for answer, iterate in [*pairs, (seen.end, twin.end)]:
        close(answer.weights, iterate.weights, largest, tolerance)
        close(answer.duals, iterate.duals, heaviest, tolerance)
        close(answer.intercept, iterate.intercept, largest, tolerance)
    if average_from is not None:
        weights, duals = reference.mean_of(it for epoch in twin.epochs[average_from:] for it in epoch)
        close(seen.mean.weights, weights, largest, tolerance)
        close(seen.mean.duals, duals, heaviest, tolerance)


def same_bits(one: Seen, other: Seen) -> None:
    for left, right in ((one.end, other.end), (one.mean, other.mean)):
        assert (left is None) == (right is None)
        if left is not None:
            assert np.array_equal(left.weights, right.weights)
            assert np.array_equal(left.duals, right.duals)
            assert left.intercept == right.intercept
