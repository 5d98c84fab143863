"""Pegasos, SGD and full sub-gradient descent against their slow twin, at every slice of every epoch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import dualgap as dg
import reference
from driving import assert_twins, close, drive
from dualgap.kernels import primal as primal_kernel
from dualgap.solvers import Answer
from dualgap.solvers.base import INTERCEPT_FRACTION, first_intercept
from dualgap.solvers.primal import StepFacts
from examples import FORMS, small_problem
from reference_losses import table_of

pytestmark = pytest.mark.kernels

SWITCHES = list(product(FORMS, (False, True), (False, True)))  # form, weights, intercept


def intercept_scale(problem: dg.Problem) -> float:
    return INTERCEPT_FRACTION * reference.plain(problem).mean_squared_norm


def primal_twin(
    solver: Any, problem: dg.Problem, orders: list[np.ndarray], eta: Callable[[int], float], radius: float = np.inf
) -> reference.Run:
    """The step in b is the step in w times its intercept_scale, later by the delay the solver sets for schedules of 1/(λt)."""
    strength, rho = problem.strength, intercept_scale(problem)
    delay = solver.step_for(StepFacts.of(problem)).delay if isinstance(solver, dg.Pegasos) else 0.0
    later = lambda t: 1.0 / (1.0 / eta(t) + strength * delay) if delay else eta(t)
    return reference.sub_gradient(
        reference.plain(problem),
        table_of(problem.loss),
        orders,
        solver.batch(problem),
        eta,
        (lambda t: rho * later(t)) if problem.intercept else None,
        radius,
        first_intercept(problem),
    )


def pegasos_step(problem: dg.Problem) -> Callable[[int], float]:
    """1/(λt), and 1/(λ(t + t₀)) with t₀ = smoothness·max‖x‖²/λ where slopes are unbounded; t counts from 1.

    With weights and a free intercept ‖x‖² is the second derivative of the sampled objective by one row: (n s_i/S)(‖x_i‖² + ρ).
    """
    data = reference.plain(problem)
    late = 0.0
    if problem.loss.name in ("squared", "squared_hinge", "squared_epsilon_insensitive"):
        lengths = (data.X**2).sum(axis=1) + (intercept_scale(problem) if problem.intercept else 0.0)
        late = 2.0 * float((lengths * data.sample_weight).max()) * data.labels.size / data.total / data.strength
    return lambda t: 1.0 / (data.strength * (t + 1 + late))


def ball(problem: dg.Problem) -> float:
    """√(P(0)/λ)."""
    data, table = reference.plain(problem), table_of(problem.loss)
    at_zero = sum(s * table.value(0.0, y) for s, y in zip(data.sample_weight, data.labels, strict=True)) / data.total
    return float(np.sqrt(at_zero / data.strength))


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize(
    ("loss", "batch", "projection", "sampling"),
    [
        ("hinge", 1, True, "random"),
        ("hinge", 5, False, "permutation"),
        ("squared_epsilon_insensitive", 1, False, "cyclic"),
        ("absolute", 7, True, "permutation"),
        ("hinge", 3, False, "stored"),
    ],
)
def test_pegasos_equals_its_twin(
    form: str, weights: bool, intercept: bool, loss: str, batch: int, projection: bool, sampling: str
) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.Pegasos(batch_size=batch, projection=projection, sampling=sampling)
    seen = drive(solver, problem, average_from=1)
    radius = ball(problem) if projection else np.inf
    twin = primal_twin(solver, problem, seen.orders, pegasos_step(problem), radius)
    assert_twins(seen, twin, average_from=1)
    if projection:
        on_the_ball = [np.linalg.norm(it.weights) >= radius * (1.0 - 1e-12) for it in twin.iterates]
        assert any(on_the_ball)


@pytest.mark.parametrize("loss", [loss for loss in dg.LOSSES if loss != "poisson"])
def test_pegasos_equals_its_twin_on_every_loss(loss: str) -> None:
    problem = small_problem(loss, "dense", weights=True, intercept=True)
    solver = dg.Pegasos(batch_size=3)
    seen = drive(solver, problem)
    assert_twins(seen, primal_twin(solver, problem, seen.orders, pegasos_step(problem)))


def test_the_ball_of_the_hinge_is_one_over_root_lambda() -> None:
    problem = small_problem("hinge", weights=True, strength=0.04)
    assert dg.Pegasos(projection=True).radius(StepFacts.of(problem)) == pytest.approx(5.0, rel=1e-15)


SCHEDULES: dict[str, Callable[[float, float], Callable[[int], float]]] = {
    "constant": lambda step, strength: lambda t: step,
    "inverse": lambda step, strength: lambda t: step / (1.0 + strength * step * t),
    "sqrt": lambda step, strength: lambda t: step / np.sqrt(t + 1.0),
}


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_sgd_equals_its_twin(form: str, weights: bool, intercept: bool, schedule: str) -> None:
    problem = small_problem("hinge" if weights else "huber", form, weights, intercept)
    solver = dg.SGD(step=0.2, schedule=schedule, batch_size=2, sampling="permutation")
    seen = drive(solver, problem, average_from=0)
    twin = primal_twin(solver, problem, seen.orders, SCHEDULES[schedule](0.2, problem.strength))
    assert_twins(seen, twin, average_from=0)


@pytest.mark.parametrize("average_from", [None, 0, 1])
def test_sgd_whose_scale_is_folded_in_many_times(average_from: int | None) -> None:
    # λη = 1/2 halves the scale at every step, and a fold comes every few dozen updates at most.
    problem = small_problem("hinge", "csr")
    solver = dg.SGD(step=0.5 / problem.strength, schedule="constant")
    seen = drive(solver, problem, epochs=6, average_from=average_from)
    assert primal_kernel.SMALLEST_SCALE**2 > 0.5 ** (6 * 24)
    twin = primal_twin(solver, problem, seen.orders, lambda t: 0.5 / problem.strength)
    assert_twins(seen, twin, average_from=average_from)


def test_sgd_with_a_step_that_turns_the_scale_negative() -> None:
    problem = small_problem("hinge")
    solver = dg.SGD(step=1.5 / problem.strength, schedule="constant")
    seen = drive(solver, problem, average_from=1)
    assert_twins(seen, primal_twin(solver, problem, seen.orders, lambda t: 1.5 / problem.strength), average_from=1)


def test_the_norm_for_the_projection_is_computed_anew_now_and_then() -> None:
    problem = small_problem("hinge", strength=0.1)
    solver = dg.Pegasos(projection=True)
    updates = primal_kernel.NORM_PERIOD + 50
    order = np.random.default_rng(4).integers(0, 24, updates, dtype=np.uint32)
    state = solver.start(problem, None)
    for begin, stop in ((0, updates - 100), (updates - 100, updates)):
        state = solver.advance(problem, state, order[begin:stop])
        exact = float(state.weights @ state.weights)
        assert state.scalars.squared_norm == pytest.approx(exact, rel=1e-9)
    data = reference.plain(problem)
    eta = lambda t: 1.0 / (data.strength * (t + 1))
    twin = reference.sub_gradient(data, table_of(problem.loss), [order], 1, eta, radius=ball(problem))
    close(solver.answer(problem, state).weights, twin.end.weights, tolerance=1e-9)


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize(("loss", "schedule"), [("hinge", "inverse"), ("logistic", "constant"), ("absolute", "sqrt")])
def test_subgradient_equals_its_twin(form: str, weights: bool, intercept: bool, loss: str, schedule: str) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.Subgradient(step=0.3, schedule=schedule)
    seen = drive(solver, problem, epochs=5, average_from=2, slices=1)
    twin = primal_twin(solver, problem, [np.arange(24)] * 5, SCHEDULES[schedule](0.3, problem.strength))
    assert_twins(seen, twin, average_from=2)


@pytest.mark.parametrize("duals", [None, np.zeros(24)], ids=["no duals", "other duals"])
@pytest.mark.parametrize(
    "solver",
    [dg.Pegasos(), dg.SGD(step=0.05, schedule="constant"), dg.Subgradient(step=0.05)],
    ids=lambda solver: solver.name,
)
def test_the_mean_from_a_start_whose_weights_are_not_those_of_its_duals(solver: Any, duals: Any) -> None:
    problem = small_problem("hinge")
    given = Answer(np.array([3.0, -2.0, 1.0, 0.5, 0.0]), 0.0, duals)
    state = solver.begin_average(problem, solver.start(problem, given))
    batch, iterates = solver.batch(problem), []
    order = np.arange(24, dtype=np.uint32)
    for begin in range(0, 24, batch):
        state = solver.advance(problem, state, order[begin : begin + batch])
        iterates.append(solver.answer(problem, state).weights.copy())
    close(solver.average(problem, state).weights, np.mean(iterates, axis=0), size=5.0)
