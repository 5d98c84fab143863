"""The constructor calls that public code makes: at least 90 of 100 fit, and the others are refused in one sentence.

Calls with an L1 penalty are counted apart: dualgap's penalty is L2.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
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
# Calls whose model has an L1 penalty in scikit-learn: refused, or fitted with an L2 penalty as documented.
L1_REFUSED = {
    "LinearSVC(C=0.01, penalty='l1', dual=False)": (
        "LinearSVC needs penalty to be 'l2', or None for no penalty, got 'l1'; for sparse weights use scikit-learn's "
        "LinearSVC"
    ),
    "LogisticRegression(penalty='l1', solver='liblinear', random_state=42)": (
        "LogisticRegression needs penalty to be 'l2', or None for no penalty, got 'l1'; for sparse weights use "
        "scikit-learn's LogisticRegression"
    ),
    "LogisticRegression(penalty='elasticnet', solver='saga', l1_ratio=0.5, random_state=0)": (
        "LogisticRegression needs penalty to be 'l2', or None for no penalty, got 'elasticnet'; for sparse weights use "
        "scikit-learn's LogisticRegression"
    ),
    "LogisticRegressionCV(penalty='l1', solver='saga', cv=5, random_state=42, max_iter=10000)": (
        "LogisticRegressionCV needs penalty to be 'l2', or None for no penalty, got 'l1'; for sparse weights use "
        "scikit-learn's LogisticRegressionCV"
    ),
}
L1_FITTED = (
    "QuantileRegressor(solver='highs')",
    "QuantileRegressor(quantile=0.5)",
    "QuantileRegressor(quantile=0.1, alpha=0.1, solver='highs')",
)
FITTED = [call for call in CALLS if call not in REFUSED and call not in L1_REFUSED and call not in L1_FITTED]


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
    assert set(REFUSED) | set(L1_REFUSED) | set(L1_FITTED) <= set(CALLS)
    assert len(L1_REFUSED) + len(L1_FITTED) == 7
    assert len(FITTED) >= 90


@pytest.mark.parametrize("call", [*FITTED, *L1_FITTED])
def test_call_fits_and_is_certified(call: str) -> None:
    model = clone(made(call))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.ParameterNote)
        model.fit(*data_for(call))
    statuses = model.status_ if isinstance(model.status_, list) else [model.status_]
    assert {status.name for status in statuses} == {"CERTIFIED"}
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(("call", "sentence"), list({**REFUSED, **L1_REFUSED}.items()))
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
        refused("LinearSVC needs penalty to be 'l2', or None for no penalty, got 1.0; write C=1.0", "LinearSVC(1.0)"),
        refused(r"got 'hinge'; write loss='hinge' if it is the loss", "LinearSVC('hinge')"),
        refused("LinearSVC needs dual to be True, False or 'auto', got 'yes'", "LinearSVC(dual='yes')"),
        refused("needs intercept_scaling to be a number > 0, got 0", "LinearSVC(intercept_scaling=0)"),
        refused("needs l1_ratio to be 0, got 0.5; for sparse weights use", "LogisticRegression(l1_ratio=0.5)"),
        refused(r"needs multi_class='ovr' for 2 classes, got 'softmax'", "LogisticRegression(multi_class='softmax')"),
        refused(r"needs l1_ratios to be None or zeros, got .0.5,", "LogisticRegressionCV(l1_ratios=[0.5, 1.0])"),
        refused("needs refit to be True, got False; the answer", "LogisticRegressionCV(refit=False)"),
        refused("needs use_legacy_attributes to be True or False", "LogisticRegressionCV(use_legacy_attributes='no')"),
        refused("needs gcv_mode to be 'auto', 'svd' or 'eigen', got 'qr'", "RidgeCV(gcv_mode='qr')"),
        refused("needs penalty to be 'l2', got None; use LogisticRegression", "LogisticRegressionCV(penalty=None)"),
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
