"""HuberRegressor: scikit-learn's model, and a certificate that holds for weights, intercept and scale together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_diabetes

import dualgap as dg
from dualgap.certificate.scale import certify_with_scale
from dualgap.data.validation import as_rows
from dualgap.estimators.scale_search import ScaleSearch, best_scale


def with_outliers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X @ [1.0, -2.0, 3.0, 0.5] + 0.3 * rng.normal(size=120) + 7.0
    y[:10] += 40.0
    return X, y


def objective(model: Any, X: Any, y: Any, epsilon: float = 1.35, alpha: float = 1e-4, weights: Any = None) -> float:
    """scikit-learn's objective over the sum of the weights, as its documentation has it."""
    s = np.ones(len(y)) if weights is None else weights
    t = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
    losses = np.where(t < epsilon, t**2, 2.0 * epsilon * t - epsilon**2)
    return float((s @ (model.scale_ * (1.0 + losses)) + alpha * model.coef_ @ model.coef_) / s.sum())


CASES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "a strong penalty": {"alpha": 10.0},
    "without intercept": {"fit_intercept": False},
    "a small epsilon": {"epsilon": 1.01},
    "a large epsilon": {"epsilon": 3.0},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_fit_is_scikit_learns_and_its_gap_is_proven(case: str, weighted: bool) -> None:
    X, y = with_outliers()
    options, weights = CASES[case], np.resize([1.0, 0.3, 2.0], 120) if weighted else None
    theirs = linear_model.HuberRegressor(tol=1e-9, max_iter=5000, **options).fit(X, y, sample_weight=weights)
    ours = dg.HuberRegressor(tol=1e-8, **options).fit(X, y, sample_weight=weights)
    parts = {name: options[name] for name in ("epsilon", "alpha") if name in options}
    values = [objective(model, X, y, weights=weights, **parts) for model in (ours, theirs)]
    assert ours.status_ is dg.Status.CERTIFIED
    assert ours.certificate_.primal == pytest.approx(values[0], rel=1e-12)
    assert ours.certificate_.relative_gap <= 1e-8
    assert ours.certificate_.dual <= values[1] * (1.0 + 1e-12)
    assert values[0] <= values[1] * (1.0 + 1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=2e-2, atol=1e-3)
    rough = dg.HuberRegressor(tol=1e-2, **options).fit(X, y, sample_weight=weights)
    # What the rough fit claims holds: no weights and no scale are better than its lower bound.
    assert rough.certificate_.dual <= values[0]
    assert rough.certificate_.gap >= objective(rough, X, y, weights=weights, **parts) - values[0]


def test_attributes_are_scikit_learns() -> None:
    X, y = with_outliers()
    theirs = linear_model.HuberRegressor(tol=1e-9, max_iter=1000).fit(X, y)
    ours = dg.HuberRegressor(tol=1e-8).fit(X, y)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=1e-4)
    assert np.array_equal(ours.outliers_, theirs.outliers_)
    assert ours.outliers_[:10].all()
    # The duals are those of Q: w = (1/(λS)) Σ α x.
    np.testing.assert_allclose(ours.dual_coef_ @ X / (ours.strength_ * 120), ours.coef_, rtol=1e-2, atol=1e-2)
    assert len(ours.trace_) > 1
    assert ours.trace_[-1].gap == ours.certificate_.gap


def test_certificate_holds_at_any_weights_scale_and_duals() -> None:
    X, y = with_outliers()
    best = dg.HuberRegressor(alpha=0.5, tol=1e-10).fit(X, y)
    search = ScaleSearch(as_rows(X), y, None, 1.35, 2.0 * 0.5 / 120, True, 1e-4)
    rng = np.random.default_rng(3)
    baseline = search.constant()[0]
    for k in range(60):
        weights = best.coef_ + rng.normal(size=4) * 10.0 ** rng.integers(-8, 1)
        scale = best.scale_ * np.exp(rng.normal() * 10.0 ** rng.integers(-4, 1))
        problem = search.problem(scale)
        duals = rng.normal(size=120) * scale if k % 2 else problem.suggested_duals(y - 0.0 * y)
        found = certify_with_scale(problem, scale, weights, 0.0, duals, baseline, 1e-4)
        assert found.certificate.dual <= best.certificate_.primal
        assert found.certificate.gap >= found.certificate.primal - best.certificate_.primal
        assert not found.certificate.contradicts_weak_duality


@pytest.mark.parametrize("epsilon", [1.0, 1.35, 4.0])
def test_best_scale_minimizes_the_objective(epsilon: float) -> None:
    rng = np.random.default_rng(1)
    residuals, weights = rng.normal(size=50) ** 3, rng.uniform(0.1, 2.0, size=50)
    residuals[:5] = 0.0

    def value(scale: float) -> float:
        t = np.abs(residuals) / scale
        losses = np.where(t < epsilon, t**2, 2.0 * epsilon * t - epsilon**2)
        return float(np.average(scale * (1.0 + losses), weights=weights))

    best = best_scale(residuals, weights, epsilon)
    # Where ε² times the weight of errors that are not zero is at most 1, smaller scales are always better.
    assert (best == 0.0) == (epsilon**2 * weights[5:].sum() <= weights.sum())
    for scale in (0.5, 0.99, 1.01, 2.0):
        assert best == 0.0 or value(best) <= value(best * scale)
    assert best > 0.0 or value(1e-9) < value(1e-3)


def test_warm_start_continues_from_the_scale() -> None:
    X, y = with_outliers()
    model = dg.HuberRegressor(warm_start=True, tol=1e-6).fit(X, y)
    cold, scale = model.n_iter_, model.scale_
    assert model.fit(X, y).n_iter_ < cold
    assert model.scale_ == pytest.approx(scale, rel=1e-3)


def test_constant_targets_and_limits_end_well() -> None:
    X, y = with_outliers()
    constant = dg.HuberRegressor().fit(X, np.full(120, 3.0))
    assert constant.status_ is dg.Status.CERTIFIED
    np.testing.assert_allclose(constant.predict(X), 3.0)
    with pytest.warns(UserWarning, match="HuberRegressor is not certified: .*raise max_iter"):
        ended = dg.HuberRegressor(tol=1e-10, max_iter=2).fit(X, y)
    assert ended.status_ is dg.Status.EPOCHS_EXHAUSTED
    assert ended.n_iter_ <= 3
    assert (
        ended.certificate_.gap >= ended.certificate_.primal - dg.HuberRegressor(tol=1e-9).fit(X, y).certificate_.primal
    )


def test_no_penalty_is_a_tiny_one_in_a_note() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(dg.ParameterNote, match="HuberRegressor without a penalty .* a tiny one, λ = "):
        model = dg.HuberRegressor(alpha=0.0).fit(X, y)
    assert model.status_ is dg.Status.CERTIFIED


@pytest.mark.parametrize("epsilon", [0.9, np.inf, True, "large"])
def test_epsilon_below_one_is_refused(epsilon: Any) -> None:
    X, y = with_outliers()
    with pytest.raises(ValueError, match="HuberRegressor needs a finite epsilon ≥ 1, got"):
        dg.HuberRegressor(epsilon=epsilon).fit(X, y)
    assert not hasattr(dg.HuberRegressor(solver="sgd"), "partial_fit")


def test_constant_targets_cost_nothing_whatever_the_weights() -> None:
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, size=15)
    model = dg.HuberRegressor().fit(rng.normal(size=(15, 2)), np.full(15, 1e7 + 0.1), sample_weight=weights)
    assert model.certificate_.reference == 0.0
    assert model.certificate_.gap < 1e-12
