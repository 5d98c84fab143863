"""Newton's direction by conjugate residuals: products against slow twins, solves against dense algebra, laws of the method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import dualgap as dg
import reference
from dualgap.intake import as_rows
from dualgap.kernels import products
from dualgap.rows import Rows
from dualgap.solvers import conjugate, truncated
from dualgap.solvers.path import Terms, evaluated
from dualgap.solvers.pieces import whole
from dualgap.threads import working
from examples import FORMS, small_problem

pytestmark = pytest.mark.kernels


@pytest.fixture
def many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small rows are cut up as large ones are."""
    monkeypatch.setattr(conjugate, "PIECE_VALUES", 8)
    monkeypatch.setattr(conjugate, "PIECE_WIDTHS", 1)


def curved(problem: dg.Problem) -> np.ndarray:
    """q_i φ″_i at a point that is no special one."""
    scores = np.linspace(-2.0, 2.0, problem.rows.count)
    share = 1.0 if problem.sample_weight is None else problem.sample_weight
    return problem.loss.curvature(scores, problem.labels) * share / problem.total_weight


def dense_hessian(problem: dg.Problem, bends: np.ndarray) -> np.ndarray:
    X = reference.plain(problem).X
    if problem.intercept:
        X = np.column_stack([X, np.ones(X.shape[0])])
    penalty = np.full(X.shape[1], problem.strength)
    if problem.intercept:
        penalty[-1] = 0.0
    return np.diag(penalty) + X.T @ (bends[:, None] * X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_kernels_are_their_twins(form: str, dtype: type) -> None:
    problem = small_problem("logistic", form, dtype=dtype)
    X, random = reference.plain(problem).X, np.random.default_rng(3)
    rows, begin, end = problem.rows.arrays, np.uint64(4), np.uint64(19)
    vector, factors = random.normal(size=5), random.random(24)
    factors[7] = 0.0
    scores, moves = np.full(24, np.nan), np.full(24, np.nan)
    combined, out = np.ones(5), np.ones(5)
    products.score_rows(rows, begin, end, vector, scores)
    products.combine_rows(rows, begin, end, factors, combined)
    products.curve_rows(rows, begin, end, factors, vector, 0.25, moves, out)
    np.testing.assert_allclose(scores[4:19], X[4:19] @ vector, rtol=1e-13, atol=1e-14)
    assert np.isnan(np.delete(scores, np.arange(4, 19))).all()
    np.testing.assert_allclose(combined, 1.0 + X[4:19].T @ factors[4:19], rtol=1e-13)
    read = np.setdiff1d(np.arange(4, 19), [7])
    np.testing.assert_allclose(moves[read], X[read] @ vector + 0.25, rtol=1e-13, atol=1e-14)
    assert np.isnan(np.delete(moves, read)).all(), "a row without curvature is not read"
    np.testing.assert_allclose(out, 1.0 + X[read].T @ (factors[read] * (X[read] @ vector + 0.25)), rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_pieces_cover_the_rows_and_follow_from_the_size(form: str, many_pieces: None) -> None:
    rows = small_problem("logistic", form).rows
    cuts = conjugate.cuts(rows)
    assert len(cuts) == conjugate.MOST_PIECES
    assert [begin for begin, _ in cuts] == [0, *(end for _, end in cuts[:-1])]
    assert cuts[-1][1] == rows.count


@pytest.mark.parametrize("form", FORMS)
def test_no_bit_depends_on_the_threads(form: str, many_pieces: None) -> None:
    problem = small_problem("logistic", form, intercept=True)
    bends, gradient = curved(problem), np.linspace(-1.0, 1.0, 6)
    found = []
    for jobs in (1, 3):
        with working(jobs):
            pre = conjugate.sample_preconditioner(problem.rows, bends, problem.strength, 12, True)
            found.append(conjugate.direction(problem.rows, bends, problem.strength, gradient, 0.0, 3, True, pre))
    assert found[0].step.tobytes() == found[1].step.tobytes()
    assert found[0].moves.tobytes() == found[1].moves.tobytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("sampled", [False, True])
def test_the_direction_is_that_of_dense_algebra(
    form: str, weights: bool, intercept: bool, loss: str, sampled: bool, many_pieces: None
) -> None:
    problem = small_problem(loss, form, weights, intercept)
    bends = curved(problem)
    matrix = dense_hessian(problem, bends)
    gradient = np.linspace(-1.0, 0.5, matrix.shape[0])
    rows, strength = problem.rows, problem.strength
    pre = conjugate.sample_preconditioner(rows, bends, strength, 12, intercept) if sampled else None
    found = conjugate.direction(rows, bends, strength, gradient, 1e-11, 40, intercept, pre)
    np.testing.assert_allclose(found.step, np.linalg.solve(matrix, -gradient), rtol=1e-7, atol=1e-9)
    shift = found.step[-1] if intercept else 0.0
    moves = reference.plain(problem).X @ found.step[: rows.dimension] + shift
    np.testing.assert_allclose(found.moves, moves, rtol=1e-7, atol=1e-9)
    assert found.residual == pytest.approx(np.linalg.norm(matrix @ found.step + gradient), abs=1e-10)


def wide(count: int = 60, width: int = 40) -> tuple[Rows, np.ndarray]:
    random = np.random.default_rng(11)
    X = random.normal(size=(count, width)) * (random.random((count, width)) < 0.3) * np.logspace(0, 1, width)
    return as_rows(sparse.csr_matrix(X)), random.normal(size=width)


def test_residuals_only_fall_and_every_step_leads_downhill() -> None:
    rows, gradient = wide()
    bends = np.full(rows.count, 0.25 / rows.count)
    before, norm = float(np.linalg.norm(gradient)), float(np.linalg.norm(gradient))
    for limit in range(1, 30):
        found = conjugate.direction(rows, bends, 1e-3, gradient, 0.0, limit)
        assert found.products == limit
        assert found.residual < before
        assert found.step @ gradient < 0.0
        before = found.residual
    assert before < 0.1 * norm


def test_no_shorter_residual_is_in_the_span() -> None:
    rows, gradient = wide()
    bends = np.linspace(0.0, 0.25, rows.count) / rows.count
    dense = np.column_stack([conjugate.scores(rows, unit) for unit in np.eye(rows.dimension)])
    matrix = 1e-3 * np.eye(rows.dimension) + dense.T @ (bends[:, None] * dense)
    krylov = np.column_stack([np.linalg.matrix_power(matrix, k) @ gradient for k in range(4)])
    shortest = np.linalg.lstsq(matrix @ krylov, -gradient, rcond=None)[1]
    found = conjugate.direction(rows, bends, 1e-3, gradient, 0.0, 4)
    assert found.residual**2 == pytest.approx(float(shortest[0]), rel=1e-8)


def test_a_solve_ends_at_its_target() -> None:
    rows, gradient = wide()
    bends = np.full(rows.count, 0.25 / rows.count)
    target = 0.1 * float(np.linalg.norm(gradient))
    found = conjugate.direction(rows, bends, 1e-3, gradient, target, 100)
    assert found.residual <= target
    assert conjugate.direction(rows, bends, 1e-3, gradient, 0.0, found.products - 1).residual > target
    assert conjugate.direction(rows, bends, 1e-3, np.zeros(rows.dimension), 0.0, 9).products == 1


def test_forcing_is_loose_early_and_never_goes_past_what_is_wanted() -> None:
    assert conjugate.forcing(4.0, 4.0, 0.0) == 2.0
    assert conjugate.forcing(0.04, 4.0, 0.0) == pytest.approx(0.004)
    assert conjugate.forcing(0.04, 4.0, 0.01) == 0.01
    wanted = conjugate.wanted_norm(strength=0.1, primal=0.5, tol=1e-6)
    assert wanted**2 / (2.0 * 0.1) == pytest.approx(0.5e-6 * 0.5)


def test_a_sample_of_all_rows_solves_in_a_few_products() -> None:
    rows, gradient = wide(400, 20)
    bends = np.linspace(0.01, 0.25, rows.count) / rows.count
    target = 1e-6 * float(np.linalg.norm(gradient))
    plain = conjugate.direction(rows, bends, 1e-5, gradient, target, 500)
    pre = conjugate.sample_preconditioner(rows, bends, 1e-5, 200)
    helped = conjugate.direction(rows, bends, 1e-5, gradient, target, 500, precondition=pre)
    np.testing.assert_allclose(helped.step, plain.step, rtol=1e-3, atol=1e-4 * np.abs(plain.step).max())
    assert helped.products < 0.7 * plain.products


def test_representatives_stand_for_all() -> None:
    pressures = np.array([0.0, 3.0, 1.0, 0.0, 4.0, 8.0, 0.0])
    picked, counts = conjugate.representatives(pressures, 6)
    assert pressures[picked].all()
    assert counts @ pressures[picked] == pytest.approx(pressures.sum())
    for own in (np.full(50, 0.3), np.arange(50.0)):
        everything, once = conjugate.representatives(own, 50)
        assert np.array_equal(everything, np.arange(50))
        assert np.array_equal(once, np.ones(50))


def test_where_nothing_is_curved_the_penalty_alone_is_inverted() -> None:
    rows, gradient = wide()
    pre = conjugate.sample_preconditioner(rows, np.zeros(rows.count), 0.5, 10)
    np.testing.assert_array_equal(pre(gradient), gradient / 0.5)
    found = conjugate.direction(rows, np.zeros(rows.count), 0.5, gradient, 0.0, 1)
    np.testing.assert_allclose(found.step, -gradient / 0.5, rtol=1e-14)
    np.testing.assert_allclose(found.moves, conjugate.scores(rows, found.step), rtol=1e-14)


def test_a_matrix_that_steered_well_steers_the_next_solve_and_more_rows_make_the_next_where_it_did_not() -> None:
    rng = np.random.default_rng(17)
    X = rng.normal(size=(600, 8))
    problem = dg.Problem(X, np.sign(X @ rng.normal(size=8) + rng.normal(size=600)), "logistic", 1e-3)
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, False)
    start = evaluated(piece, terms, np.zeros(8), 0.0, np.zeros(600), 0.0)
    # All rows and a loose solve: one product does.
    _, after = truncated.stepped(piece, terms, start, truncated.Truncation(0.0, 600), 1e3)
    assert after.steer is not None
    assert after.rows == 600
    # Two rows say nothing of eight columns, and a solve to the end takes a product for each.
    known, before = after.steer, truncated.Truncation(0.0, 2)
    _, after = truncated.stepped(piece, terms, start, before._replace(first=1e12), 1e-9)
    assert after.steer is None
    assert after.rows == 2 * truncated.MORE_ROWS
    # What is known is used as it is: no matrix of two rows would solve so quickly.
    _, after = truncated.stepped(piece, terms, start, before._replace(first=1e12, steer=known), 1e-4)
    assert after.steer is known
