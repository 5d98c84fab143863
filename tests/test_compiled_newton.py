"""Newton steps in one compiled call: they follow NumPy's steps, of which they are a twin, and refuse what they cannot do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.intake import as_rows
from dualgap.kernels import curves, factor, packing
from dualgap.kernels.compile import kernel
from dualgap.kernels.steps import kernel_loss
from dualgap.solvers.compiled_newton import MOST_COLUMNS, _packed, _worth_packing
from dualgap.spec import build
from examples import FORMS, small_problem

pytestmark = pytest.mark.kernels

# At w = 0 the hinge smoothed by 1 has every row on a kink, where rounding decides about its bend.
SMOOTH = [name for name, loss in dg.LOSSES.items() if not loss().has_kink and name != "smoothed_hinge"]
SMOOTH.append("smoothed_hinge(gamma=0.7)")
CASES = list(product(SMOOTH, FORMS, (False, True), (False, True)))
STEPS = 6


def after(solver: dg.Solver, problem: dg.Problem, steps: int) -> list[tuple[np.ndarray, float, float]]:
    """Weights, b and P after each of some steps."""
    solver.prepare(problem)
    state, seen = solver.aim(solver.start(problem, None), 0.0), []
    for epoch in range(steps):
        plan = solver.plan(problem, state, epoch, np.random.default_rng)
        state = solver.advance(problem, state, plan)
        found = solver.answer(problem, state)
        seen.append((found.weights.copy(), found.intercept, dg.certify(problem, *found).certificate.primal))
    return seen


@pytest.mark.parametrize(("loss", "form", "weights", "intercept"), CASES)
def test_it_takes_the_steps_of_newton(loss: str, form: str, weights: bool, intercept: bool) -> None:
    problem = small_problem(loss, form, weights, intercept)
    ours, theirs = after(dg.CompiledNewton(), problem, STEPS), after(dg.Newton(), problem, STEPS)
    for (own, own_b, own_primal), (other, other_b, other_primal) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-7)
        assert own_b == pytest.approx(other_b, rel=1e-6, abs=1e-7)
        assert own_primal == pytest.approx(other_primal, rel=1e-9)


@pytest.mark.parametrize(("loss", "form", "weights", "intercept"), CASES)
def test_what_it_believes_is_about_what_the_judge_finds(loss: str, form: str, weights: bool, intercept: bool) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.CompiledNewton()
    solver.prepare(problem)
    # With a tol this large P is looked at after every step.
    state = solver.aim(solver.start(problem, None), np.inf)
    for _ in range(STEPS):
        state = solver.advance(problem, state, range(problem.rows.count))
        found = solver.answer(problem, state)
        primal = problem.primal(problem.scores(found.weights, found.intercept), found.weights)
        assert state.primal == pytest.approx(primal, rel=1e-12)
        # The judge may scale the duals and choose a better b; a belief is no more than twice too small.
        assert dg.certify(problem, *found).certificate.gap <= 2.0 * state.gap + 1e-12


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_precisions_are_certified(form: str, dtype: type) -> None:
    result = dg.solve(small_problem("logistic", form, dtype=dtype), "compiled_newton", tol=1e-10)
    assert result.status is dg.Status.CERTIFIED
    assert result.trace[-1].epoch < 10


def test_a_warm_start_at_the_solution_takes_one_step() -> None:
    problem = small_problem("logistic", intercept=True)
    first = dg.solve(problem, "compiled_newton", tol=1e-12)
    again = dg.solve(problem, "compiled_newton", tol=1e-9, start=first)
    assert again.status is dg.Status.CERTIFIED
    assert again.trace[-1].epoch <= 1.0


@pytest.mark.parametrize("intercept", [False, True])
def test_an_average_is_that_of_its_steps(intercept: bool) -> None:
    problem = small_problem("logistic", intercept=intercept)
    result = dg.solve(problem, "compiled_newton(output=average, average_from=0.5)", tol=0.0, max_epochs=4)
    steps = after(dg.CompiledNewton(), problem, 4)[2:]
    np.testing.assert_allclose(result.weights, np.mean([weights for weights, *_ in steps], axis=0), rtol=1e-9)


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="needs a smooth loss, got one with a kink; use newton"):
        dg.solve(small_problem("hinge"), "compiled_newton")
    wide = dg.Problem(np.ones((2, MOST_COLUMNS + 1)), [0, 1], "logistic", 1.0)
    with pytest.raises(ValueError, match=f"at most {MOST_COLUMNS} columns, got {MOST_COLUMNS + 1}; use newton"):
        dg.solve(wide, "compiled_newton")


# ---- zeros


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_their_zeros_are_the_same_rows(dtype: type) -> None:
    random = np.random.default_rng(0)
    X = (random.normal(size=(30, 120)) * (random.random((30, 120)) < 0.1)).astype(dtype)
    X[0], X[-1], X[5] = 0.0, 0.0, 1.0
    stored = _worth_packing(as_rows(X))
    assert stored == np.count_nonzero(X)
    rows = _packed(as_rows(X), stored)
    exact = sp.csr_matrix(X)
    for own, other in zip(rows.arrays, (exact.data, exact.indices, exact.indptr), strict=True):
        np.testing.assert_array_equal(own, other)
    assert rows.arrays.data.dtype == dtype


@pytest.mark.parametrize(("width", "part", "packs"), [(60, 0.2, True), (60, 0.9, False), (20, 0.2, False)])
def test_rows_are_packed_where_zeros_are_many_and_memory_allows(width: int, part: float, packs: bool) -> None:
    random = np.random.default_rng(0)
    rows = as_rows(random.normal(size=(50, width)) * (random.random((50, width)) < part))
    assert packing.count_values(rows.arrays.values) == np.count_nonzero(rows.arrays.values)
    assert (_worth_packing(rows) is not None) is packs


def test_zeros_change_no_bit() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(90, 60)) * (random.random((90, 60)) < 0.2)
    y = np.where(X.sum(axis=1) + random.normal(size=90) > 0.0, 1, -1)
    dense, sparse = (dg.Problem(matrix, y, "logistic", 1e-2) for matrix in (X, sp.csr_matrix(X)))
    assert _worth_packing(dense.rows) is not None
    ours, theirs = after(dg.CompiledNewton(), dense, STEPS), after(dg.CompiledNewton(), sparse, STEPS)
    for (own, _, _), (other, _, _) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own, other)


# ---- its parts


@kernel
def exponentials(x, out):
    for i in range(x.size):
        out[i] = curves.exponential(x[i])


def test_the_exponential_is_right_to_the_last_digits() -> None:
    x = np.concatenate([np.linspace(-700.0, 700.0, 4001), np.linspace(-1.0, 1.0, 2001), [0.0, -1e-300, 5e-324]])
    out = np.empty(x.size)
    exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=5e-16)
    beyond = np.array([-1e9, -np.inf, 1e9, np.inf])
    exponentials(beyond, out)
    np.testing.assert_allclose(out[:4], np.exp([-700.0, -700.0, 700.0, 700.0]), rtol=5e-16)


@kernel
def curves_of(loss, scores, labels, out):
    for i in range(scores.size):
        dual, bend = curves.curve(loss, scores[i], labels[i])
        out[0, i], out[1, i] = dual, bend
        out[2, i] = curves.loss_value(loss, scores[i], labels[i], dual)
        out[3, i] = curves.third(loss, dual, bend, labels[i])


@pytest.mark.parametrize("name", SMOOTH)
def test_value_slope_bend_and_third_derivative_are_those_of_the_loss(name: str) -> None:
    loss, random = build(name, dg.LOSSES, "loss"), np.random.default_rng(2)
    labels = np.resize([1.0, -1.0], 400) if loss.task == "classification" else random.normal(size=400)
    scores = np.concatenate([3.0 * random.normal(size=300), np.linspace(-40.0, 40.0, 100)])
    out = np.empty((4, 400))
    curves_of(kernel_loss(loss), scores, labels, out)
    duals, bends = loss.slopes(scores, labels)
    np.testing.assert_allclose(out[0], duals, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(out[1], bends, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(out[2], loss.value(scores, labels), rtol=1e-13, atol=1e-14)
    jerk = loss.jerk(duals, bends, labels)
    np.testing.assert_allclose(out[3], 0.0 if jerk is None else jerk, rtol=1e-12, atol=1e-17)


@kernel
def solved(matrix, scales, lower, right, out):
    factor.scale(matrix, scales)
    factor.factorize(matrix, lower)
    factor.solve(lower, scales, right, out)


@pytest.mark.parametrize("spread", [0.0, 6.0])
def test_a_matrix_of_any_scale_is_solved(spread: float) -> None:
    random = np.random.default_rng(3)
    units = 10.0 ** random.uniform(-spread, spread, size=9)
    A = random.normal(size=(20, 9)) * units
    matrix, right, out = A.T @ A, random.normal(size=9), np.empty(9)
    solved(np.tril(matrix), np.empty(9), np.zeros((9, 9)), right, out)
    np.testing.assert_allclose((matrix @ out) / units, -right / units, rtol=1e-6, atol=1e-6)


def test_what_cannot_be_factored_still_leads_downhill() -> None:
    right, out = np.array([1.0, 2.0, 4.0]), np.empty(3)
    solved(np.ones((3, 3)), np.empty(3), np.zeros((3, 3)), right, out)
    assert right @ out < 0.0
    lower = np.zeros((3, 3))
    factor.factorize(np.full((3, 3), np.nan), lower)
    np.testing.assert_array_equal(lower, np.eye(3))
