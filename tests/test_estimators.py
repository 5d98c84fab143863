"""Estimators have scikit-learn's optima and attributes, and certificates, free intercepts, warm starts and refusals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from examples import l2_model
from independent import solved

ESTIMATORS = (dg.LinearSVC, dg.LogisticRegression, dg.LinearSVR, dg.Ridge, dg.QuantileRegressor)
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)


def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def iris() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def data_for(kind: type) -> tuple[np.ndarray, np.ndarray]:
    return cancer() if kind in (dg.LinearSVC, dg.LogisticRegression) else diabetes()


def weights_for(y: np.ndarray) -> np.ndarray:
    return np.random.default_rng(7).uniform(0.1, 3.0, y.size)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}], ids=str)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("data", [cancer, iris])
def test_linear_svc_has_scikit_learns_optimum(data: Any, loss: str, class_weight: Any) -> None:
    """Without an intercept, which liblinear penalizes, both have the same optimum."""
    X, y = data()
    weights = None if class_weight == "balanced" else weights_for(y)
    common = {"loss": loss, "C": 0.1, "class_weight": class_weight, "fit_intercept": False}
    theirs = svm.LinearSVC(**common, tol=1e-10, max_iter=1_000_000, random_state=0).fit(X, y, sample_weight=weights)
    ours = dg.LinearSVC(**common, tol=1e-12).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}], ids=str)
@pytest.mark.parametrize("data", [cancer, iris])
def test_logistic_regression_has_scikit_learns_optimum(data: Any, class_weight: Any) -> None:
    X, y = data()
    common = {"C": 0.5, "class_weight": class_weight}
    theirs = linear_model.LogisticRegression(**common, solver="newton-cholesky", tol=1e-12).fit(X, y)
    # The distance to the optimal weights is at most √(2·gap/λ), so that 1e-6 in the weights needs a tiny gap. No float64
    # proof reaches 1e-15: the fit ends at the best point it can reach.
    with pytest.warns(ConvergenceWarning, match="float64 cannot prove a smaller gap"):
        ours = dg.LogisticRegression(**common, tol=1e-15).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("solver", ["newton", "sdca"])
def test_multinomial_model_has_one_certificate_and_warm_starts(solver: str) -> None:
    X, y = iris()
    weights = weights_for(y)
    model = dg.LogisticRegression(solver=solver, warm_start=True, random_state=0).fit(X, y, sample_weight=weights)
    assert model.status_ is dg.Status.CERTIFIED
    assert model.certificate_.relative_gap <= model.tol
    assert model.dual_coef_.shape == (3, y.size)
    total = weights.sum() * model.strength_
    np.testing.assert_allclose((weights * model.dual_coef_) @ X / total, model.coef_, atol=0.05)
    first = model.n_iter_
    assert model.fit(X, y, sample_weight=weights).n_iter_ == 0 < first
    with pytest.raises(ValueError, match="needs solver='auto', 'newton' or 'sdca' for 3 classes, got 'pegasos'"):
        model.set_params(solver="pegasos").fit(X, y)


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_has_scikit_learns_optimum_for_several_targets(targets: int, fit_intercept: bool) -> None:
    X, y = diabetes()
    if targets > 1:
        y = np.column_stack([y * (k + 1) + k for k in range(targets)])
    alpha = 2.0 if targets == 1 else np.array([0.5, 2.0, 7.0])
    weights = weights_for(X)[: X.shape[0]]
    theirs = linear_model.Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    ours = dg.Ridge(alpha, fit_intercept=fit_intercept, n_jobs=2).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
    assert ours.predict(X).shape == theirs.predict(X).shape
    if targets > 1:
        assert [status.name for status in ours.status_] == ["CERTIFIED"] * targets


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array], ids=lambda form: form.__name__)
@pytest.mark.parametrize("shape", [(300, 20), (40, 300)], ids=["tall", "wide"])
def test_ridge_has_scikit_learns_coefficients(
    shape: tuple[int, int], form: Callable[[Any], Any], is_weighted: bool, fit_intercept: bool
) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.3) * np.geomspace(0.1, 10.0, shape[1])
    y = X @ rng.normal(size=shape[1]) + rng.normal(size=shape[0]) + 4.0
    weights = weights_for(y) if is_weighted else None
    # scikit-learn's exact solvers take dense rows only, where the intercept is free.
    theirs = linear_model.Ridge(0.7, fit_intercept=fit_intercept, solver="cholesky").fit(X, y, sample_weight=weights)
    ours = dg.Ridge(0.7, fit_intercept=fit_intercept).fit(form(X), y, sample_weight=weights)
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= 1e-8 * np.linalg.norm(theirs.coef_)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-8)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_svr_has_scikit_learns_optimum(loss: str) -> None:
    X, y = diabetes()
    y = y / y.std()
    common = {"loss": loss, "C": 0.1, "epsilon": 0.2, "fit_intercept": False}
    theirs = svm.LinearSVR(**common, tol=1e-10, max_iter=1_000_000, random_state=0).fit(X, y)
    ours = dg.LinearSVR(**common, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.coef_.shape == theirs.coef_.shape
    assert dg.LinearSVR().fit(X, y).intercept_.shape == svm.LinearSVR(max_iter=10_000).fit(X, y).intercept_.shape


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
def test_quantile_regressor_reaches_the_l2_optimum(quantile: float, is_weighted: bool, fit_intercept: bool) -> None:
    X, y = diabetes()
    weights = weights_for(y) if is_weighted else None
    problem = dg.Problem(X, y, dg.Quantile(tau=quantile), 0.01, weights, fit_intercept)
    _, best, intercept = solved(problem)
    ours = dg.QuantileRegressor(quantile=quantile, alpha=0.01, l1_ratio=0, fit_intercept=fit_intercept, tol=1e-8)
    ours.fit(X, y, sample_weight=weights)
    reached = problem.primal(problem.scores(ours.coef_, float(ours.intercept_)), ours.coef_)
    assert reached == pytest.approx(problem.primal(problem.scores(best, intercept), best), rel=1e-6)
    if fit_intercept:
        assert abs(np.average(y <= ours.predict(X), weights=weights) - quantile) < 0.03


@every_estimator
def test_certificate_holds_for_returned_attributes(kind: type) -> None:
    """P and D of the attributes, recomputed from scratch."""
    X, y = data_for(kind)
    weights = weights_for(y)
    weights[::7] = 0.0
    X[2], y[2] = X[1], y[1]  # equal rows have equal duals
    model = kind(tol=1e-6).fit(X, y, sample_weight=weights)
    ratio = model._l1_ratio()
    problem = dg.Problem(X, y, model._loss(), model.strength_, weights, intercept=True, l1_ratio=ratio)
    coef, intercept = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    primal = problem.primal(problem.scores(coef, intercept), coef)
    duals = np.ravel(model.dual_coef_)
    assert abs(problem.mean(duals)) < 1e-9
    assert duals[1] == duals[2]
    assert primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    combination = problem.combination_of(duals)
    if ratio == 1.0:
        assert np.abs(combination).max() <= 1.0 + 1e-12
        combination = np.clip(combination, -1.0, 1.0)
    assert problem.dual(duals, combination) == pytest.approx(model.certificate_.dual, rel=1e-10)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.status_ is dg.Status.CERTIFIED
    assert model.trace_[-1].primal == model.certificate_.primal
    assert "newton" in model.reason_


def test_intercept_is_not_penalized() -> None:
    X, y = cancer()
    near, far = (dg.LinearSVC(loss="hinge", tol=1e-9).fit(X + shift, y) for shift in (0.0, 100.0))
    np.testing.assert_allclose(near.decision_function(X), far.decision_function(X + 100.0), atol=1e-3)
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=1e-8)


def test_linear_svc_has_one_certificate_for_each_class() -> None:
    X, y = iris()
    model = dg.LinearSVC().fit(X, y)
    assert len(model.certificate_) == len(model.status_) == len(model.trace_) == len(model.strength_) == 3
    assert model.dual_coef_.shape == (3, y.size)
    assert model.decision_function(X).shape == (y.size, 3)
    one = dg.LinearSVC().fit(X, y == 1)
    np.testing.assert_allclose(model.coef_[1], one.coef_[0], rtol=1e-9)
    assert model.certificate_[1].primal == pytest.approx(one.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_n_jobs_does_not_change_the_bits(solver: str) -> None:
    X, y = iris()
    model = dg.LinearSVC(solver=solver, random_state=3, max_iter=20, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (None, 1, 2, 5, -1)]
    for fit in fits[1:]:
        assert np.array_equal(fit.coef_, fits[0].coef_)
        assert np.array_equal(fit.dual_coef_, fits[0].dual_coef_)


@pytest.mark.parametrize("solver", ["auto", "newton", "sdca"])
@every_estimator
def test_weights_equal_repetitions_to_the_last_bit(kind: type, solver: str) -> None:
    X, y = (part[:80] for part in data_for(kind))
    random = np.random.default_rng(11)
    repeats = random.integers(0, 4, y.size)
    order = random.permutation(repeats.sum())
    model = l2_model(kind, solver=solver, tol=1e-3, random_state=0, max_iter=100_000)
    weighted = clone(model).fit(X, y, sample_weight=repeats)
    repeated = clone(model).fit(X.repeat(repeats, axis=0)[order], y.repeat(repeats)[order])
    assert np.array_equal(weighted.coef_, repeated.coef_)
    assert np.array_equal(weighted.intercept_, repeated.intercept_)
    expanded = np.atleast_2d(weighted.dual_coef_)[0].repeat(repeats)[order]
    assert np.array_equal(expanded, np.atleast_2d(repeated.dual_coef_)[0])


@every_estimator
def test_warm_start_at_the_solution_computes_one_certificate(kind: type) -> None:
    X, y = data_for(kind)
    model = kind(warm_start=True).fit(X, y, sample_weight=weights_for(y))
    first, coef = model.n_iter_, model.coef_.copy()
    model.fit(X, y, sample_weight=weights_for(y))
    assert np.all(first >= 1)
    assert np.all(model.n_iter_ == 0)
    assert len(model.trace_) == 1
    assert np.array_equal(model.coef_, coef)
    assert model.status_ is dg.Status.CERTIFIED


def test_warm_start_continues_from_weights_and_duals() -> None:
    X, y = cancer()
    cold = dg.LinearSVC(loss="hinge", C=1.1, solver="sdca", random_state=0).fit(X, y)
    model = dg.LinearSVC(loss="hinge", solver="sdca", warm_start=True, random_state=0).fit(X, y)
    assert model.set_params(C=1.1).fit(X, y).n_iter_ < 0.8 * cold.n_iter_
    # Duals of another number of rows, and coefficients of another shape, are not used.
    assert model.fit(X[:300], y[:300]).status_ is dg.Status.CERTIFIED
    assert model.fit(X[:, :5], y).coef_.shape == (1, 5)
    assert model.fit(*iris()).coef_.shape == (3, 4)


def test_missed_tol_warns_with_what_to_raise() -> None:
    X, y = cancer()
    with pytest.warns(
        ConvergenceWarning, match=r"LinearSVC is not certified: relative gap .* after 2 epochs; raise max_iter"
    ) as caught:
        model = dg.LinearSVC(solver="sdca", max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert model.status_ is dg.Status.EPOCHS_EXHAUSTED
    assert f"{model.certificate_.relative_gap:.3g}" in str(caught[0].message)
    with pytest.warns(ConvergenceWarning, match="raise max_seconds"):
        dg.LinearSVC(solver="sdca", max_iter=None, max_seconds=1e-3, tol=1e-15).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="in 3 of 3 problems"):
        dg.LinearSVC(solver="sdca", max_iter=1).fit(*iris())


def test_strength_is_lambda_itself() -> None:
    X, y = cancer()
    by_strength = dg.LinearSVC(strength=1.0 / (0.3 * y.size), tol=1e-9).fit(X, y)
    by_c = dg.LinearSVC(C=0.3, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(by_strength.coef_, by_c.coef_, rtol=1e-6)
    assert by_c.strength_ == pytest.approx(1.0 / (0.3 * y.size))
    weighted = dg.LinearSVC(C=0.3).fit(X, y, sample_weight=weights_for(y))
    assert weighted.strength_ == pytest.approx(1.0 / (0.3 * weights_for(y).sum()))


def test_random_state_determines_the_order_of_rows() -> None:
    X, y = cancer()
    model = dg.LinearSVC(solver="sdca", tol=1e-2, random_state=5)
    same = [clone(model).fit(X, y).coef_ for _ in range(2)]
    other = clone(model).set_params(random_state=6).fit(X, y).coef_
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], other)
    drawn = [clone(model).set_params(random_state=np.random.RandomState(1)).fit(X, y).coef_ for _ in range(2)]
    assert np.array_equal(*drawn)


def test_verbose_shows_a_progress_bar_with_the_gap(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich draws on terminals only
    dg.LinearSVC(verbose=1).fit(*iris())
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "relative gap" in shown.err
    dg.LinearSVC().fit(*iris())
    assert capfd.readouterr().err == ""


def refused(message: str, **options: Any) -> Any:
    return pytest.param(options, message, id=message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        refused("there is no solver 'sdcb'; did you mean 'sdca'", solver="sdcb"),
        refused(
            "LinearSVC needs loss to be one of hinge, smoothed_hinge, squared_hinge, got 'logistic'", loss="logistic"
        ),
        refused("there is no loss 'hinges'", loss="hinges"),
        refused("LinearSVC needs a finite C > 0, got 0", C=0),
        refused("LinearSVC needs a finite C > 0, got nan", C=np.nan),
        refused("LinearSVC needs C or strength, got both C=2.0 and strength=0.1", C=2.0, strength=0.1),
        refused("LinearSVC needs a finite strength > 0, got -1", strength=-1),
        refused("LinearSVC needs a finite tol ≥ 0, got -1", tol=-1),
        refused("LinearSVC needs a finite max_iter > 0, got 0", max_iter=0),
        refused("LinearSVC needs a finite max_seconds > 0, got 'soon'", max_seconds="soon"),
        refused("random_state needs a whole number ≥ 0, got -1", random_state=-1),
        refused("class_weight", class_weight="heavy"),
    ],
)
def test_invalid_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dg.LinearSVC(**options).fit(*cancer())


def test_invalid_data_is_refused() -> None:
    X, y = cancer()
    for weights, message in (
        (np.ones((y.size, 1)), "one number for each row"),
        (-np.ones(y.size), "finite numbers ≥ 0"),
        (np.zeros(y.size), "positive finite sum"),
        (y, "at least two classes in rows of positive weight"),
    ):
        with pytest.raises(ValueError, match=message):
            dg.LinearSVC().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="one for each of 2 targets"):
        dg.Ridge(alpha=[1.0, 2.0, 3.0]).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="0 < tau < 1"):
        dg.QuantileRegressor(quantile=1.5).fit(X, y)
    with pytest.raises(ValueError, match="a finite alpha ≥ 0, got -1; alpha=0 is no penalty"):
        dg.Ridge(alpha=-1).fit(X, y)


def test_loss_is_a_name_a_spec_or_an_object() -> None:
    X, y = cancer()
    fits = [dg.LinearSVC(loss=loss).fit(X, y) for loss in ("smoothed-hinge(gamma=0.5)", dg.SmoothedHinge(0.5))]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    X, y = diabetes()
    by_name = dg.LinearSVR(epsilon=3.0).fit(X, y)
    by_object = dg.LinearSVR(loss=dg.EpsilonInsensitive(3.0)).fit(X, y)
    assert np.array_equal(by_name.coef_, by_object.coef_)
    assert not np.array_equal(by_name.coef_, dg.LinearSVR(epsilon=0.0).fit(X, y).coef_)
