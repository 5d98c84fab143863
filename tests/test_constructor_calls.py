"""The constructor calls that public code makes: 97 of 100 fit, those with an L1 penalty too, and the others are refused in one sentence.

Where scikit-learn has the same model, a fit has its coefficients.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from constructor_calls import CALLS
from dualgap.estimators import notes

# The sentence that each of these calls is refused with.
REFUSED = {
    "LinearSVC(multi_class='crammer_singer', random_state=42, max_iter=5000)": (
        "LinearSVC needs multi_class='ovr' for 3 classes, got 'crammer_singer'; use LogisticRegression, which fits all "
        "classes in one problem"
    ),
    "Ridge(alpha=1.0, positive=True, fit_intercept=False)": (
        "Ridge needs positive to be False, got True; for weights ≥ 0 use scikit-learn's Ridge or scipy.optimize.nnls"
    ),
    "Ridge(alpha=0.1, normalize=True)": (
        "Ridge needs normalize to be False, got True; put a StandardScaler before it, as make_pipeline(StandardScaler(), "
        "Ridge())"
    ),
}
FITTED = [call for call in CALLS if call not in REFUSED]
# Calls of a new user's first trial.
TRIED = (
    "LogisticRegression(penalty='l2', C=1.0, solver='lbfgs', max_iter=1000)",
    "LogisticRegression(penalty=None)",
    "LinearSVC(dual='auto')",
    "Ridge(1.0, solver='cholesky')",
    "QuantileRegressor(solver='highs')",
    "LinearSVC('l2')",
)


def data_for(call: str) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, three where the call asks for a multinomial model, or real targets; the columns are scaled."""
    if "multinomial" in call or "crammer_singer" in call:
        X, y = load_iris(return_X_y=True)
    elif call.startswith(("LinearSVC", "LogisticRegression", "RidgeClassifier")):
        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def made(call: str) -> Any:
    """The estimator of a call, skipped where dualgap does not have it."""
    name = call.split("(")[0]
    if not hasattr(dg, name):
        pytest.skip(f"dualgap has no {name}")
    return eval(call, {name: getattr(dg, name), "np": np})


def test_table_has_a_hundred_calls_of_which_ninety_are_to_fit() -> None:
    assert len(CALLS) == len(set(CALLS)) == 100
    assert set(REFUSED) | set(TRIED) <= set(CALLS)
    assert not set(REFUSED) & set(TRIED)
    assert len(FITTED) >= 90


@pytest.mark.parametrize("call", FITTED)
def test_call_fits_and_is_certified(call: str) -> None:
    model = clone(made(call))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.ParameterNote)
        model.fit(*data_for(call))
    statuses = model.status_ if isinstance(model.status_, list) else [model.status_]
    assert {status.name for status in statuses} == {"CERTIFIED"}
    assert np.isfinite(model.coef_).all()


# Parts of calls for which there is nothing to compare here: LIBLINEAR penalizes the intercept, and without a penalty weights need not be
# unique or finite. test_cv.py and test_estimators_sparse.py compare choices of C and logistic regression with an L1 part.
NOT_COMPARED = (
    "LinearSV",
    "liblinear",
    "penalty=None",
    "'none'",
    "np.inf",
    "alpha=0)",
    "alpha=0.0",
    "CV(",
    "'l1'",
    "elasticnet",
)
COMPARED = [call for call in FITTED if not any(part in call for part in NOT_COMPARED)]


def test_most_calls_of_the_same_model_are_compared() -> None:
    assert len(COMPARED) >= 40


@pytest.mark.parametrize("call", COMPARED)
def test_coefficients_are_those_of_scikit_learn(call: str) -> None:
    name = call.split("(")[0]
    try:
        theirs = eval(call, {name: getattr(linear_model, name), "np": np})
    except TypeError:
        pytest.skip("the installed scikit-learn does not take this call")
    X, y = data_for(call)
    tight = {"tol": 1e-10, "max_iter": 10_000, "verbose": 0, "warm_start": False}
    if name == "LogisticRegression":
        tight["solver"] = "newton-cholesky"
    if name != "QuantileRegressor":  # HiGHS ends at a vertex, and has no tol
        theirs.set_params(**{key: value for key, value in tight.items() if key in theirs.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = made(call).set_params(tol=1e-9, verbose=0).fit(X, y)
        theirs.fit(X, y)
    expected = theirs.coef_.reshape(ours.coef_.shape)
    np.testing.assert_allclose(ours.coef_, expected, rtol=0.0, atol=2e-3 * np.abs(expected).max() + 1e-8)


@pytest.mark.parametrize(("call", "sentence"), list(REFUSED.items()))
def test_call_for_another_model_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    model = made(call)  # scikit-learn's rule: __init__ refuses nothing
    with pytest.raises(ValueError) as refusal:
        model.fit(*data_for(call))
    assert str(refusal.value) == sentence


def refused(sentence: str, call: str) -> Any:
    return pytest.param(call, sentence, id=call)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        refused("LinearSVC needs penalty to be 'l1', 'l2', or None for no penalty, got 1.0; write C", "LinearSVC(1.0)"),
        refused(r"got 'hinge'; write loss='hinge' if it is the loss", "LinearSVC('hinge')"),
        refused("LinearSVC needs dual to be True, False or 'auto', got 'yes'", "LinearSVC(dual='yes')"),
        refused("needs intercept_scaling to be a number > 0, got 0", "LinearSVC(intercept_scaling=0)"),
        refused("l1_ratio needs a number from 0 .* to 1 .*, got 1.5", "LogisticRegression(l1_ratio=1.5)"),
        refused(r"needs multi_class='ovr' for 2 classes, got 'softmax'", "LogisticRegression(multi_class='softmax')"),
        refused(r"l1_ratio needs a number from 0 .* to 1 .*, got 1.5", "LogisticRegressionCV(l1_ratios=[0.5, 1.5])"),
        refused("needs refit to be True, got False; the answer", "LogisticRegressionCV(refit=False)"),
        refused("needs use_legacy_attributes to be True or False", "LogisticRegressionCV(use_legacy_attributes='no')"),
        refused("needs gcv_mode to be 'auto', 'svd' or 'eigen', got 'qr'", "RidgeCV(gcv_mode='qr')"),
        refused(
            "needs penalty to be 'l2' or 'l1', got None; use LogisticRegression", "LogisticRegressionCV(penalty=None)"
        ),
        refused("needs copy_X to be True or False, got 'no'", "Ridge(copy_X='no')"),
        refused("write options into the solver", "QuantileRegressor(solver_options={'time_limit': 1.0})"),
    ],
)
def test_value_that_is_not_what_happens_is_refused(call: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        made(call).fit(*data_for(call))


def test_multi_class_is_accepted_where_it_is_what_happens() -> None:
    two, three = data_for("LinearSVC()"), data_for("multinomial")
    with pytest.raises(
        ValueError, match=r"multi_class='multinomial' for 3 classes, got 'ovr'; use .*OneVsRestClassifier"
    ):
        dg.LogisticRegression(multi_class="ovr").fit(*three)
    with pytest.raises(ValueError, match=r"multi_class='ovr' for 2 classes, got 'multinomial'; .* double C"):
        dg.LogisticRegression(multi_class="multinomial").fit(*two)
    for multi_class, data in (("auto", two), ("auto", three), ("ovr", two), ("multinomial", three)):
        fits = [dg.LogisticRegression(multi_class=value).fit(*data).coef_ for value in (multi_class, "auto")]
        assert np.array_equal(*fits)


def test_synonyms_do_not_change_the_bits() -> None:
    X, y = data_for("LogisticRegression()")
    plain = dg.LogisticRegression().fit(X, y)
    spelled = dg.LogisticRegression("l2", dual=True, l1_ratio=None, intercept_scaling=7, multi_class="ovr").fit(X, y)
    assert np.array_equal(plain.coef_, spelled.coef_)


def test_scikit_learns_solver_is_noted_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "_said", set())
    X, y = data_for("multinomial")
    with pytest.warns(dg.ParameterNote) as caught:
        model = dg.LogisticRegression(solver="lbfgs").fit(X, y)
    assert [str(found.message) for found in caught] == ["solver='lbfgs' is scikit-learn's; dualgap used 'newton'"]
    assert caught[0].filename == __file__
    assert np.array_equal(model.coef_, dg.LogisticRegression().fit(X, y).coef_)
    dg.LogisticRegression(solver="saga").fit(X, y)
    dg.Ridge(solver="svd").fit(X, y)
    dg.LogisticRegressionCV(Cs=2, solver="newton-cg").fit(X, y)
    assert model.get_params()["solver"] == "lbfgs"
