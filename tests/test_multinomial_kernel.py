"""The kernel of the softmax model against its slow twin, and its loss against the laws of Fenchel and Young."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import wrightomega

import dualgap as dg
from dualgap.kernels.multinomial import simplex_step
from dualgap.losses import multinomial as loss
from dualgap.solvers.base import INTERCEPT_FRACTION
from examples import FORMS, small_rows


def slow_simplex_step(levels: np.ndarray, dual_curvature: float) -> np.ndarray:
    """The p of the simplex with ln p + κp = levels − μ, by Wright's omega function and bracketing."""

    def p(mu: float) -> np.ndarray:
        if dual_curvature == 0.0:
            return np.exp(levels - mu)
        return wrightomega(levels - mu + np.log(dual_curvature)) / dual_curvature

    low = levels.max() - dual_curvature  # the root lies between here and where all would be exponentials
    mu = brentq(
        lambda m: p(m).sum() - 1.0, low - 1.0, low + dual_curvature + np.log(levels.size) + 1.0, xtol=1e-14, rtol=1e-15
    )
    return p(mu) / p(mu).sum()


def slow_epoch(X, labels, s, lambda_n, rate, order, A, W, b) -> None:
    """One row at a time, in plain Python."""
    k = W.shape[1]
    for i in order:
        dual_curvature = s[i] * (X[i] @ X[i] / lambda_n + rate)
        own = np.eye(k)[labels[i]]
        p = slow_simplex_step(X[i] @ W + b + dual_curvature * (own - A[i]), dual_curvature)
        change = own - p - A[i]
        A[i] = own - p
        W += s[i] * np.outer(X[i], change) / lambda_n
        b += s[i] * change * rate


@pytest.mark.kernels
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_kernel_and_twin_agree(form: str, weights: bool, intercept: bool) -> None:
    X = small_rows()
    random = np.random.default_rng(0)
    s = random.uniform(0.5, 2.0, 24) if weights else None
    given = sp.csr_matrix(X) if form == "csr" else X
    problem = dg.MultinomialProblem(given, random.integers(0, 4, 24), 1e-2, s, intercept)
    solver = dg.SDCA().specialized(problem)
    state = solver.start(problem, None)
    sample_weight = np.ones(24) if s is None else s
    lambda_n = 1e-2 * sample_weight.sum()
    rate = (
        INTERCEPT_FRACTION * (sample_weight @ (X**2).sum(axis=1)) / sample_weight.sum() / lambda_n if intercept else 0.0
    )
    A, W, b = np.zeros((24, 4)), np.zeros((5, 4)), problem.constant.copy()
    for epoch in range(4):
        order = solver.plan(problem, state, epoch, np.random.default_rng)
        state = solver.end_epoch(problem, solver.advance(problem, state, order))
        slow_epoch(X, problem.labels, sample_weight, lambda_n, rate, order, A, W, b)
        b += rate * (sample_weight @ A)
        np.testing.assert_allclose(state.duals, A, atol=1e-11)
        np.testing.assert_allclose(state.weights, W, atol=1e-10)
        np.testing.assert_allclose(state.intercept, b, atol=1e-10)
    np.testing.assert_allclose(state.weights, problem.weights_of(state.duals), atol=1e-11)


@pytest.mark.kernels
@pytest.mark.parametrize("dual_curvature", [0.0, 1e-9, 0.3, 1.0, 40.0, 1e5])
@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0])
def test_a_step_lies_in_the_simplex_and_satisfies_its_equations(dual_curvature: float, scale: float) -> None:
    random = np.random.default_rng(1)
    for k in (2, 3, 20):
        levels = scale * random.normal(size=k) + dual_curvature * random.dirichlet(np.ones(k))
        p = np.empty(k)
        simplex_step(levels, dual_curvature, p)
        assert p.min() >= 0.0
        assert p.sum() == pytest.approx(1.0, abs=1e-14)
        seen = p > 1e-200
        residuals = np.log(p[seen]) + dual_curvature * p[seen] - levels[seen]
        assert np.ptp(residuals) <= 1e-13 * (1.0 + np.abs(levels).max() + dual_curvature)
        np.testing.assert_allclose(p, slow_simplex_step(levels, dual_curvature), atol=1e-12)


def test_fenchel_young_inequality_holds() -> None:
    """φ(z) ≥ H(p) − ⟨α, z⟩ for every p of the simplex, with equality at the suggested duals."""
    random = np.random.default_rng(2)
    labels = random.integers(0, 5, 200)
    z = 10.0 ** random.uniform(-3, 2, (200, 1)) * random.normal(size=(200, 5))
    values, duals = loss.softmax(z, labels)
    entropy = loss.entropies(duals, labels).at(1.0)
    assert np.allclose(values, entropy - np.einsum("ij,ij->i", duals, z), rtol=1e-12, atol=1e-12)
    others = loss.clipped(np.eye(5)[labels] - random.dirichlet(np.ones(5), 200), labels)
    entropy = loss.entropies(others, labels).at(1.0)
    assert (values >= entropy - np.einsum("ij,ij->i", others, z) - 1e-12).all()
    np.testing.assert_allclose(duals.sum(axis=1), 0.0, atol=1e-15)


def test_a_loss_near_zero_keeps_its_digits() -> None:
    values, duals = loss.softmax(np.array([[50.0, 0.0, 0.0]]), np.array([0]))
    assert values[0] == pytest.approx(2.0 * np.exp(-50.0), rel=1e-14)
    assert duals[0, 0] == pytest.approx(2.0 * np.exp(-50.0), rel=1e-14)
    assert loss.entropies(duals, np.array([0])).at(1.0)[0] == pytest.approx(102.0 * np.exp(-50.0), rel=1e-12)
    far = loss.softmax(np.array([[-800.0, 0.0, 900.0]]), np.array([0]))
    assert far.values[0] == 1700.0


def test_curvature_and_slopes_are_derivatives() -> None:
    random = np.random.default_rng(3)
    labels, z, v = random.integers(0, 4, 30), random.normal(size=(30, 4)), random.normal(size=(30, 4))
    step = 1e-6
    up, down = loss.softmax(z + step * v, labels), loss.softmax(z - step * v, labels)
    here = loss.softmax(z, labels)
    np.testing.assert_allclose((up.values - down.values) / (2 * step), -np.einsum("ij,ij->i", here.duals, v), atol=1e-8)
    np.testing.assert_allclose(
        (down.duals - up.duals) / (2 * step), loss.hessian_product(loss.probabilities(here.duals, labels), v), atol=1e-8
    )
    parts = loss.entropies(here.duals, labels)
    for t in (0.2, 1.0):
        by_difference = (parts.at(t + step) - parts.at(t - step)) / (2 * step)
        np.testing.assert_allclose(parts.slope(t), by_difference, atol=1e-7)
        scaled = loss.entropies(t * here.duals, labels).at(1.0)
        np.testing.assert_allclose(parts.at(t), scaled, atol=1e-14)


def test_clipped_duals_are_feasible_and_feasible_ones_stay() -> None:
    random = np.random.default_rng(4)
    labels = random.integers(0, 4, 50)
    A = loss.clipped(10.0 * random.normal(size=(50, 4)), labels)
    p = loss.probabilities(A, labels)
    assert p.min() >= -1e-15
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(loss.clipped(A, labels), A, atol=1e-15)
