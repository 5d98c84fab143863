"""Estimators with an L1 part: scikit-learn's coefficients, exact zeros, feature selection, and model files."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import optimize
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from dualgap.penalties import penalty_of
from examples import small_problem

X, Y = load_diabetes(return_X_y=True)
X = (X / X.std(axis=0))[:150]
Y = (Y / Y.std())[:150]
WEIGHTS = np.random.default_rng(11).uniform(0.5, 2.0, len(Y))

CASES = {
    "Lasso": ({"alpha": 0.05}, {}),
    "ElasticNet": ({"alpha": 0.1, "l1_ratio": 0.7}, {}),
    "QuantileRegressor": ({"alpha": 0.03, "quantile": 0.6}, {"solver": "highs"}),
}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_coefficients_and_zeros_are_those_of_scikit_learn(name: str, weights: np.ndarray, fit_intercept: bool) -> None:
    options, theirs_only = CASES[name]
    ours = getattr(dg, name)(**options, tol=1e-10, fit_intercept=fit_intercept).fit(X, Y, sample_weight=weights)
    tight = {} if name == "QuantileRegressor" else {"tol": 1e-10, "max_iter": 100_000}
    theirs = getattr(linear_model, name)(**options, **theirs_only, **tight, fit_intercept=fit_intercept)
    theirs.fit(X, Y, sample_weight=weights)
    assert ours.status_ is dg.Status.CERTIFIED
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    assert np.array_equal(ours.coef_ == 0.0, np.abs(theirs.coef_) < 1e-12)
    assert 0 < np.count_nonzero(ours.coef_) < 10


def test_select_from_model_keeps_the_columns_with_a_weight() -> None:
    model = dg.Lasso(alpha=0.1)
    selected = SelectFromModel(model).fit(X, Y).get_support()
    assert np.array_equal(selected, model.fit(X, Y).coef_ != 0.0)
    assert model.sparse_coef_.shape == (1, 10)
    assert model.sparse_coef_.nnz == selected.sum()


def test_a_quantile_regressor_without_an_l1_part_is_the_l2_model() -> None:
    model = dg.QuantileRegressor(alpha=0.1, l1_ratio=0.0, tol=1e-8).fit(X, Y)
    expected = dg.solve(dg.Problem(X, Y, "quantile", 0.1, intercept=True), tol=1e-8)
    np.testing.assert_allclose(model.coef_, expected.weights, atol=1e-4)
    assert model.coef_.all()


def test_without_a_penalty_the_l1_part_does_not_count() -> None:
    model = dg.Lasso(alpha=0.0, tol=1e-9).fit(X, Y)
    assert model.strength_ == 0.0
    assert model.status_ is dg.Status.CERTIFIED
    np.testing.assert_allclose(model.coef_, linear_model.LinearRegression().fit(X, Y).coef_, atol=1e-5)


@pytest.mark.parametrize("model", [dg.Lasso(positive=True), dg.ElasticNet(l1_ratio=2.0), dg.Lasso(selection="best")])
def test_what_asks_for_another_model_is_refused(model: object) -> None:
    with pytest.raises(ValueError, match="needs"):
        model.fit(X, Y)  # type: ignore[attr-defined]


def test_a_stream_is_refused_under_an_l1_penalty() -> None:
    with pytest.raises(ValueError, match="partial_fit of Lasso needs the L2 penalty"):
        dg.Lasso(solver="pegasos").partial_fit(X, Y)


def test_a_model_file_keeps_the_l1_part_and_can_be_certified(tmp_path: Path) -> None:
    model = dg.ElasticNet(alpha=0.1, l1_ratio=0.7, tol=1e-7).fit(X, Y)
    model.save(tmp_path / "net.dg", duals=True)
    kept = dg.load(tmp_path / "net.dg")
    assert kept.l1_ratio == 0.7
    assert kept.certify(X, Y).holds
    assert dg.load(tmp_path / "net.dg").predict(X) == pytest.approx(model.predict(X))


def test_a_model_of_a_result_keeps_the_l1_part(tmp_path: Path) -> None:
    problem = small_problem("logistic", l1_ratio=1.0)
    result = dg.solve(problem, tol=1e-7)
    dg.Model.of(result, problem, tol=1e-7, duals=True).save(tmp_path / "l1.dg")
    rows = problem.rows.arrays.values
    assert dg.load(tmp_path / "l1.dg").certify(rows, np.where(problem.labels > 0, 1, -1)).holds
    assert penalty_of(dg.load(tmp_path / "l1.dg").l1_ratio).name == "l1"


def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{"l1_ratio": 1}, {"l1_ratio": 0.6}], ids=str)
def test_logistic_regression_has_scikit_learns_coefficients_and_zeros(
    options: dict[str, float], weighted: bool, fit_intercept: bool
) -> None:
    X, labels = cancer()
    weights = np.resize([1.0, 0.5, 2.0], labels.size) if weighted else None
    ours = dg.LogisticRegression(C=0.05, tol=1e-10, fit_intercept=fit_intercept, **options).fit(X, labels, weights)
    ratio = {"l1_ratio": options["l1_ratio"]}
    name = "penalty" in inspect.signature(linear_model.LogisticRegression).parameters
    old = {"penalty": "elasticnet"} if name else {}
    theirs = linear_model.LogisticRegression(
        C=0.05, solver="saga", tol=1e-10, max_iter=100_000, fit_intercept=fit_intercept, **old, **ratio
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs.fit(X, labels, weights)
    assert ours.status_ is dg.Status.CERTIFIED
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert np.array_equal(ours.coef_ == 0.0, theirs.coef_ == 0.0)
    assert 0 < np.count_nonzero(ours.coef_) < 30


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"penalty": "l1"}, {"l1_ratio": 1}),
        ({"penalty": "elasticnet", "l1_ratio": 0.3}, {"l1_ratio": 0.3}),
        ({"penalty": "l2"}, {}),
        ({"penalty": "l1", "l1_ratio": 1}, {"l1_ratio": 1}),
    ],
)
def test_both_ways_to_name_a_penalty_are_the_same_fit(one: dict[str, object], other: dict[str, object]) -> None:
    X, labels = cancer()
    first, second = (dg.LogisticRegression(C=0.1, **options).fit(X, labels) for options in (one, other))
    assert np.array_equal(first.coef_, second.coef_)
    many = [{"l1_ratios" if key == "l1_ratio" else key: value for key, value in o.items()} for o in (one, other)]
    many = [{k: [v] if k == "l1_ratios" else v for k, v in options.items()} for options in many]
    first, second = (dg.LogisticRegressionCV(Cs=[0.1], cv=2, **options).fit(X, labels) for options in many)
    assert np.array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smoothed_hinge"])
def test_svm_with_an_l1_penalty_is_the_problem_of_its_name(loss: str, form: object) -> None:
    X, labels = cancer()
    model = dg.LinearSVC("l1", loss, C=0.01, tol=1e-7).fit(form(X), labels)  # type: ignore[operator]
    problem = dg.Problem(X, labels, loss, 1.0 / (0.01 * labels.size), intercept=True, l1_ratio=1.0)
    expected = dg.solve(problem, tol=1e-9)
    assert model.status_ is dg.Status.CERTIFIED
    assert model.certificate_.primal == pytest.approx(expected.certificate.primal, rel=2e-7)
    assert 0 < np.count_nonzero(model.coef_) < 15
    sparse = model.decision_function(X)
    assert sp.issparse(model.sparsify().coef_)
    assert model.coef_.nnz < 15
    assert np.array_equal(model.decision_function(X), sparse)
    kept = SelectFromModel(dg.LinearSVC("l1", loss, C=0.01)).fit(X, labels).get_support()
    assert np.array_equal(kept, np.ravel(model.densify().coef_) != 0.0)


def test_squared_hinge_without_intercept_is_scikit_learns() -> None:
    X, labels = cancer()
    options = {"penalty": "l1", "C": 0.01, "fit_intercept": False}
    ours = dg.LinearSVC(tol=1e-10, **options).fit(X, labels)
    theirs = svm.LinearSVC(dual=False, tol=1e-10, max_iter=100_000, random_state=0, **options).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert np.array_equal(ours.coef_ == 0.0, theirs.coef_ == 0.0)


REGRESSORS = {
    "LinearSVR": (dg.LinearSVR(C=0.1, epsilon=0.05), "epsilon_insensitive(epsilon=0.05)", 1.0 / (0.1 * 150), Y),
    "PoissonRegressor": (dg.PoissonRegressor(alpha=0.2), "poisson", 0.2, np.round(4.0 * Y)),
}


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_with_an_l1_part_are_the_problem_of_their_name(name: str, l1_ratio: float) -> None:
    given, loss, strength, targets = REGRESSORS[name]
    model = clone(given).set_params(l1_ratio=l1_ratio, tol=1e-8).fit(X, targets)
    expected = dg.solve(dg.Problem(X, targets, loss, strength, intercept=True, l1_ratio=l1_ratio), tol=1e-9)
    assert model.status_ is dg.Status.CERTIFIED
    assert model.certificate_.primal == pytest.approx(expected.certificate.primal, rel=2e-8)
    assert 0 < np.count_nonzero(model.coef_) < 10
    np.testing.assert_allclose(model.coef_, expected.weights, atol=1e-3)


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_huber_regression_with_an_l1_part_is_certified_in_its_scale_too(l1_ratio: float) -> None:
    model = dg.HuberRegressor(alpha=10.0, l1_ratio=l1_ratio, tol=1e-7).fit(X, Y)

    def value(weights: np.ndarray, intercept: float, scale: float) -> float:
        t = np.abs(Y - X @ weights - intercept) / scale
        losses = np.where(t < 1.35, t**2, 2.7 * t - 1.35**2)
        penalty = 2.0 * l1_ratio * np.abs(weights).sum() + (1.0 - l1_ratio) * weights @ weights
        return float((np.sum(scale * (1.0 + losses)) + 10.0 * penalty) / Y.size)

    def flat(u: np.ndarray) -> float:
        return value(u[:10] - u[10:20], u[20], float(np.exp(u[21])))

    bounds = [(0.0, None)] * 20 + [(None, None)] * 2
    start = np.concatenate([np.full(20, 0.01), [Y.mean(), 0.0]])
    found = optimize.minimize(flat, start, bounds=bounds, options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14})
    own = value(model.coef_, model.intercept_, model.scale_)
    assert model.status_ is dg.Status.CERTIFIED
    assert model.certificate_.primal == pytest.approx(own, rel=1e-12)
    assert own <= found.fun * (1.0 + 1e-7)
    assert model.certificate_.dual <= found.fun
    assert 0 < np.count_nonzero(model.coef_) < 10


def test_several_classes_of_a_softmax_model_name_what_works() -> None:
    X, labels = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"needs l1_ratio=0 for 3 classes, got 1; .*OneVsRestClassifier"):
        dg.LogisticRegression(l1_ratio=1).fit(X, labels)
    with pytest.raises(ValueError, match=r"needs l1_ratio=0 for 3 classes, got 0.5; .*OneVsRestClassifier"):
        dg.LogisticRegressionCV(l1_ratios=[0, 0.5]).fit(X, labels)
    model = OneVsRestClassifier(dg.LogisticRegression(C=0.1, l1_ratio=1)).fit(X, labels)
    assert any((one.coef_ == 0.0).any() for one in model.estimators_)
    classes = dg.LinearSVC("l1", C=0.1).fit(X, labels)
    assert (classes.coef_ == 0.0).any(axis=1).all()
    assert {status.name for status in classes.status_} == {"CERTIFIED"}


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            dg.LogisticRegression(penalty="l2", l1_ratio=0.5),
            "needs penalty and l1_ratio that agree, got penalty='l2' and",
        ),
        (dg.LogisticRegression(penalty="elasticnet", l1_ratio=None), "l1_ratio needs a number from 0 .* got None"),
        (dg.LogisticRegression(l1_ratio=[0.5]), "l1_ratio needs a number from 0"),
        (
            dg.LogisticRegression(penalty="lasso"),
            "needs penalty to be 'l1', 'l2', 'elasticnet', or None for no penalty",
        ),
        (dg.LogisticRegressionCV(l1_ratios=[]), "l1_ratios needs at least one number from 0 to 1, got an empty list"),
        (dg.LogisticRegressionCV(penalty="l1", l1_ratios=[0.5]), "needs penalty and l1_ratios that agree"),
        (dg.LinearSVC("elasticnet"), "got 'elasticnet'; LogisticRegression has an elastic net"),
        (dg.LinearSVC("l1", solver="newton"), "newton fits the L2 penalty alone, got l1_ratio=1; use solver='auto'"),
        (dg.ElasticNetCV(l1_ratio=0), "needs l1_ratio > 0 for a grid of alphas, got 0"),
        (dg.LassoCV(alphas=0), "needs a number of alphas ≥ 1, got 0"),
        (dg.LassoCV(alphas=[]), "needs at least one alpha, got an empty list"),
        (dg.LassoCV(alphas=[1.0, 0.0]), "needs a finite alpha > 0, got 0.0"),
        (dg.LassoCV(eps=0), "needs a finite eps > 0, got 0"),
    ],
)
def test_penalties_that_are_not_there_are_refused(model: object, sentence: str) -> None:
    X, labels = cancer()
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, labels)  # type: ignore[attr-defined]


def test_row_blocks_say_how_a_quantile_regressor_reads_them() -> None:
    blocks = dg.Blocks([(X[:80], Y[:80]), (X[80:], Y[80:])])
    with pytest.raises(
        ValueError,
        match="QuantileRegressor needs rows in memory for an L1 penalty, got row blocks; pass l1_ratio=0, or",
    ):
        dg.QuantileRegressor().fit(blocks)
    for model in (
        dg.LassoCV(),
        dg.ElasticNetCV(),
        dg.Lasso(),
        dg.LinearSVR(l1_ratio=0.5),
        dg.PoissonRegressor(l1_ratio=1),
    ):
        with pytest.raises(ValueError, match="needs rows in memory"):
            model.fit(blocks)
    assert dg.QuantileRegressor(l1_ratio=0).fit(blocks).status_ is dg.Status.CERTIFIED


GRIDS = {
    "LassoCV": {"cv": 4},
    "ElasticNetCV": {"l1_ratio": [0.3, 1.0], "alphas": 20},
    "LassoCV with alphas": {"alphas": [0.01, 1.0, 0.1], "cv": 3, "fit_intercept": False},
    "ElasticNetCV with alphas": {"l1_ratio": [0.3, 1.0], "alphas": [0.01, 0.1], "cv": 3},
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", GRIDS)
def test_errors_and_choice_are_those_of_scikit_learn(case: str, weights: np.ndarray) -> None:
    name, options = case.split()[0], GRIDS[case]
    ours = getattr(dg, name)(tol=1e-9, **options).fit(X, Y, weights)
    if "alphas" in options and isinstance(options["alphas"], int):
        # scikit-learn before 1.7 has no number of alphas there.
        options = {**options, "alphas": None, "n_alphas": options["alphas"]} if not takes_number(name) else options
    theirs = getattr(linear_model, name)(tol=1e-9, max_iter=100_000, **options).fit(X, Y, weights)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    assert ours.mse_path_.shape == theirs.mse_path_.shape
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-10)
    assert getattr(ours, "l1_ratio_", 1.0) == getattr(theirs, "l1_ratio_", 1.0)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert (ours.gaps_ <= 1e-9).all()
    assert ours.status_ is dg.Status.CERTIFIED


def takes_number(name: str) -> bool:
    return inspect.signature(getattr(linear_model, name)).parameters["alphas"].default == 100


def test_sizes_of_grids_are_accepted_in_both_spellings() -> None:
    sizes = [dg.LassoCV(**given).fit(X, Y).alphas_.size for given in ({"alphas": 7}, {"n_alphas": 7, "alphas": None})]
    assert sizes == [7, 7]
    assert SelectFromModel(dg.LassoCV(alphas=5)).fit(X, Y).get_support().any()
    constant = dg.LassoCV(alphas=3).fit(X, np.ones(150))
    assert not constant.coef_.any()
