"""SDCA with shrinking and extrapolation against its slow twin, step by step, and the laws of both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import dualgap as dg
import reference
from driving import close, random_of
from dualgap.kernels.families import kernel_loss
from dualgap.solvers.base import INTERCEPT_FRACTION, first_intercept
from dualgap.solvers.shrinking import StepCount
from examples import FORMS, small_problem, targets_for
from reference_losses import table_of

pytestmark = pytest.mark.kernels

# Extrapolation divides differences of duals by each other, which costs digits as they shrink.
DIGITS = 1e-7
SETTLED = 1e-4


def no_ties(loss: str, form: str = "dense", weights: bool = False, intercept: bool = False) -> dg.Problem:
    """40 rows × 12 columns, one row empty and one weightless, none repeated: of two equal rows rounding decides which is shrunk."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.7)
    X[5] = 0.0
    signal = X @ rng.normal(size=12) + 2.0 * rng.normal(size=40)
    sample_weight = rng.uniform(0.5, 2.0, 40)
    sample_weight[8] = 0.0
    return dg.Problem(
        sparse.csr_matrix(X) if form == "csr" else X,
        targets_for(dg.LOSSES[loss](), signal if dg.LOSSES[loss].smallest_label < 0.0 else 0.3 * signal),
        loss,
        2e-2,
        sample_weight=sample_weight if weights else None,
        intercept=intercept,
    )


def assert_twin_passes(problem: dg.Problem, solver: dg.SDCA, most: int = 40) -> reference.ShrinkingPasses:
    """Passes of kernel and twin agree in rows, duals, weights, intercept and gap, until rounding decides which rows are shrunk."""
    data = reference.plain(problem)
    fraction = INTERCEPT_FRACTION if problem.intercept else 0.0
    twin = reference.ShrinkingPasses(data, table_of(problem.loss), fraction, first_intercept(problem))
    state = solver.start(problem, None)
    solver.plan(problem, state, 0, random_of(7))
    progress, whole = state.passes.progress, 0.0
    for number in range(most):
        while not twin.active:
            twin.number += 1
        state = solver.advance(problem, state, StepCount(1))
        order = np.array(state.passes.queue.active[: progress.active])
        if progress.position == 0:
            break  # a pass of one row is over before its order can be read
        assert set(order.tolist()) == twin.active, f"other rows are active in pass {number}"
        state = solver.advance(problem, state, StepCount(order.size - 1))
        terms = twin.make_pass(order)
        close(state.duals, twin.alpha, float(np.abs(twin.alpha).max()), DIGITS)
        close(state.weights, data.weights_of(twin.alpha), 1.0, DIGITS)
        close(state.scalars.intercept, twin.intercept, 1.0, DIGITS)
        close(progress.pass_sum, terms, 40.0, DIGITS)
        dual_sum = abs(float(data.sample_weight @ twin.alpha)) if problem.intercept else 0.0
        expected, before = terms + dual_sum, whole
        whole = expected if order.size == problem.rows.count else 0.0
        if 0.0 < whole < before:
            expected *= reference.part_at_the_end(whole / before)
        assert progress.estimated_sum == pytest.approx(expected, rel=1e-3, abs=40.0 * DIGITS)
        if terms < SETTLED:
            break
    return twin


SWITCHES = [(form, weights) for form in FORMS for weights in (False, True)]


@pytest.mark.parametrize(("form", "weights"), SWITCHES)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_passes_equal_their_twin(form: str, weights: bool, loss: str, intercept: bool) -> None:
    problem = no_ties(loss, form, weights, intercept)
    twin = assert_twin_passes(problem, dg.SDCA(shrinking=True))
    assert twin.number > 6, "some passes were extrapolated"
    assert loss == "logistic" or max(twin.shrunk_passes) >= 3, "some rows were shrunk"


@pytest.mark.parametrize("loss", dg.LOSSES)
@pytest.mark.parametrize("sampling", ["permutation", "cyclic"])
def test_passes_equal_their_twin_on_every_loss(loss: str, sampling: str) -> None:
    assert_twin_passes(no_ties(loss, weights=True), dg.SDCA(shrinking=True, sampling=sampling))


@pytest.mark.parametrize("loss", dg.LOSSES)
def test_a_rows_part_of_the_gap(loss: str) -> None:
    problem = small_problem(loss)
    table, packed = table_of(problem.loss), kernel_loss(problem.loss)
    rng = np.random.default_rng(3)
    for label in problem.labels[:4]:
        low, high = table.domain(label)
        ends = [end for end in (low, high) if np.isfinite(end)]
        inner = np.clip(2.0 * rng.normal(size=20), low, high)
        for dual in [*ends, 0.0, *inner]:
            for score in 3.0 * rng.normal(size=20):
                gap = table.value(score, label) - table.dual_value(dual, label) + dual * score
                assert packed.fenchel_gap(score, label, dual) == pytest.approx(gap, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("cut", [1, 7, 100])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_steps_cut_into_slices_give_the_same_bits(loss: str, cut: int) -> None:
    problem = small_problem(loss, strength=0.3)
    solver = dg.SDCA(shrinking=True)
    ends = []
    for size in (600, cut):
        state = solver.start(problem, None)
        solver.plan(problem, state, 0, random_of(7))
        for begin in range(0, 600, size):
            state = solver.advance(problem, state, StepCount(min(size, 600 - begin)))
        ends.append(state)
    assert np.array_equal(ends[0].duals, ends[1].duals)
    assert np.array_equal(ends[0].weights, ends[1].weights)
    assert ends[0].passes.progress == ends[1].passes.progress


def test_the_dual_never_falls_and_weights_stay_those_of_the_duals() -> None:
    for loss in ("hinge", "squared_hinge", "logistic", "absolute"):
        problem = small_problem(loss, "csr", True, strength=1e-3)
        solver = dg.SDCA(shrinking=True)
        state = solver.start(problem, None)
        solver.plan(problem, state, 0, random_of(7))
        value = 0.0
        for _ in range(60):
            state = solver.advance(problem, state, StepCount(20))
            weights = problem.weights_of(state.duals)
            close(state.weights, weights, float(np.abs(weights).max()), 1e-10)
            after = problem.dual(state.duals, weights)
            assert after >= value - 1e-13
            value = after


def test_meeting_the_target_reactivates_all_rows_and_ends_the_plan() -> None:
    problem = small_problem("hinge", strength=0.3)
    solver = dg.SDCA(shrinking=True)
    state = solver.start(problem, None, 1e-3)
    steps = solver.plan(problem, state, 0, random_of(7))
    planned = len(steps)
    state = solver.end_epoch(problem, solver.advance(problem, state, steps))
    assert len(steps) < planned, "the plan ended early, and says so"
    progress = state.passes.progress
    assert progress.active == 24
    estimate = solver.estimated_gap(problem, state)
    assert estimate is not None
    assert estimate <= 1e-3
    primal = problem.primal(problem.scores(state.weights), state.weights)
    assert progress.least_primal == pytest.approx(primal, rel=1e-2)


def test_only_a_rejection_lowers_the_target() -> None:
    problem = small_problem("hinge", strength=0.3)
    solver = dg.SDCA(shrinking=True)
    state = solver.start(problem, None, 1e-3)
    state = solver.advance(problem, state, solver.plan(problem, state, 0, random_of(7)))
    before = float(state.passes.progress.target_sum)
    steps = solver.plan(problem, state, 1, random_of(7))
    assert state.passes.progress.target_sum == before, "being asked for a plan says nothing about the certificate"
    state = solver.advance(problem, state, steps)
    assert len(steps) == 24, "the target is still met after one more pass"
    estimate = solver.estimated_gap(problem, state)
    state = solver.on_rejected(problem, state, 0.5 * estimate)
    assert state.passes.progress.tol == 0.5 * estimate
    assert state.passes.progress.target_sum == pytest.approx(0.5 * state.passes.progress.estimated_sum)
