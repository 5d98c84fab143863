"""float32 rows: coef_ in float32, and a certificate of exactly these numbers; sparse coef_ and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning

import dualgap as dg
from dualgap.estimators.settling import with_certificate

X, LABELS = load_breast_cancer(return_X_y=True)
SINGLE = X.astype(np.float32)
ROWS, TARGETS = load_diabetes(return_X_y=True)
MODELS: dict[str, tuple[Any, Any, Any]] = {
    "LinearSVC": (dg.LinearSVC(), SINGLE, LABELS),
    "LinearSVC hinge": (dg.LinearSVC(loss="hinge"), SINGLE, LABELS),
    "LogisticRegression": (dg.LogisticRegression(), SINGLE, LABELS),
    "softmax": (dg.LogisticRegression(), load_iris().data.astype(np.float32), load_iris().target),
    "LinearSVR": (dg.LinearSVR(epsilon=1.0), ROWS.astype(np.float32), TARGETS),
    "Ridge": (dg.Ridge(), ROWS.astype(np.float32), TARGETS),
    "Ridge without penalty": (dg.Ridge(alpha=0), ROWS.astype(np.float32), TARGETS),
    "HuberRegressor": (dg.HuberRegressor(), ROWS.astype(np.float32), TARGETS),
}


@pytest.mark.parametrize("name", MODELS)
def test_certificate_is_that_of_the_rounded_weights(name: str, tmp_path: Any) -> None:
    model, rows, y = MODELS[name]
    model.fit(rows, y)
    assert model.coef_.dtype == np.float32
    assert model.status_ is dg.Status.CERTIFIED
    assert model.certificate_.relative_gap <= model.tol
    # P at what coef_ holds, computed anew from the model file's problem.
    model.save(tmp_path / "m.dg")
    loaded = dg.load(tmp_path / "m.dg")
    assert np.array_equal(np.ravel(loaded.weights.T), np.ravel(model.coef_.astype(np.float64)))
    assert loaded.certify(rows, y).holds
    assert np.array_equal(loaded.predict(rows), model.predict(rows))


def test_tolerance_beyond_float32_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match=r"float32 weights cannot hold.*pass X as float64"):
        model = dg.Ridge(tol=1e-15).fit(SINGLE, LABELS)
    assert model.status_ is dg.Status.STALLED
    assert model.certificate_.relative_gap > 1e-15


def test_ending_follows_from_the_certificate_of_the_rounded_weights() -> None:
    problem = dg.Problem(X, LABELS, "logistic", 1e-2)
    exact = dg.solve(problem, tol=1e-9)
    short = dg.solve(problem, "sdca", tol=1e-9, max_epochs=1)
    assert (exact.status, short.status) == (dg.Status.CERTIFIED, dg.Status.EPOCHS_EXHAUSTED)
    assert with_certificate(short, exact.certificate, 1e-9).status is dg.Status.CERTIFIED
    assert with_certificate(exact, short.certificate, 1e-9).status is dg.Status.STALLED
    assert with_certificate(short, short.certificate, 1e-9).status is dg.Status.EPOCHS_EXHAUSTED


def test_streams_give_float32_weights() -> None:
    scaled = (SINGLE - SINGLE.mean(axis=0)) / SINGLE.std(axis=0)
    model = dg.LinearSVC(solver="pegasos", strength=0.01).partial_fit(scaled, LABELS, classes=[0, 1])
    assert model.coef_.dtype == np.float32


def test_sparse_weights_predict_the_same() -> None:
    for model, y in (
        (dg.LogisticRegression(), LABELS),
        (dg.LinearSVC(warm_start=True), load_breast_cancer().target_names[LABELS]),
        (dg.RidgeClassifier(), LABELS + (X[:, 0] > 15)),
    ):
        scores = model.fit(X, y).decision_function(X)
        weights = model.coef_
        assert issparse(model.sparsify().coef_)
        np.testing.assert_allclose(model.decision_function(X), scores)
        if model.get_params().get("warm_start"):
            assert model.fit(X, y).n_iter_ == 0
            model.sparsify()
        assert np.array_equal(model.densify().coef_, weights)
        assert model.densify() is model
