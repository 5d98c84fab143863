"""Estimators saved to model files: the same bits predicted after loading, claims that `dualgap certify` finds true or refutes."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from small_models import ROWS, SIGNS, TARGETS, WORDS
from test_cli import called

WEIGHTS = np.random.default_rng(7).uniform(0.2, 3.0, ROWS.shape[0])
UNEVEN = {"blue": 0.5, "green": 3.0, "red": 1.0}
YES = np.where(SIGNS > 0, "yes", "no")

ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "LinearSVC squared_hinge": (dg.LinearSVC(), SIGNS),
    "LinearSVC hinge": (dg.LinearSVC(loss="hinge", C=3.0), SIGNS),
    "LinearSVC smoothed_hinge": (dg.LinearSVC(loss="smoothed_hinge"), YES),
    "LinearSVC squared_hinge, balanced": (dg.LinearSVC(class_weight="balanced"), YES),
    "LinearSVC hinge, balanced": (dg.LinearSVC(loss="hinge", class_weight="balanced"), SIGNS),
    "LinearSVC smoothed_hinge, balanced": (dg.LinearSVC(loss="smoothed_hinge", class_weight="balanced"), SIGNS),
    "LinearSVC without intercept": (dg.LinearSVC(loss="hinge", fit_intercept=False), SIGNS),
    "LinearSVC, one against the rest": (dg.LinearSVC(loss="hinge"), WORDS),
    "LinearSVC, one against the rest, balanced": (dg.LinearSVC(class_weight="balanced"), WORDS),
    "LogisticRegression": (dg.LogisticRegression(), SIGNS),
    "LogisticRegression, balanced": (dg.LogisticRegression(class_weight="balanced"), YES),
    "LogisticRegression, factors": (dg.LogisticRegression(class_weight={-1: 2.0, 1: 0.5}), SIGNS),
    "softmax": (dg.LogisticRegression(), WORDS),
    "softmax, balanced": (dg.LogisticRegression(class_weight="balanced"), WORDS),
    "softmax, factors": (dg.LogisticRegression(class_weight=UNEVEN, fit_intercept=False), WORDS),
    "LinearSVR": (dg.LinearSVR(epsilon=0.1), TARGETS),
    "LinearSVR squared": (dg.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.2), TARGETS),
    "Ridge": (dg.Ridge(), TARGETS),
    "RidgeClassifier": (dg.RidgeClassifier(), YES),
    "RidgeClassifier, balanced": (dg.RidgeClassifier(class_weight="balanced"), SIGNS),
    "RidgeClassifier, one against the rest": (dg.RidgeClassifier(0.1), WORDS),
    "RidgeClassifier, one against the rest, factors": (dg.RidgeClassifier(class_weight=UNEVEN), WORDS),
    "Ridge without intercept": (dg.Ridge(2.0, fit_intercept=False), TARGETS),
    "QuantileRegressor": (dg.QuantileRegressor(quantile=0.8, alpha=0.01), TARGETS),
    "HuberRegressor": (dg.HuberRegressor(), TARGETS + 9.0 * (SIGNS > 0)),
    "LinearSVRCV": (dg.LinearSVRCV(Cs=[0.1, 1.0], cv=3), TARGETS),
    "PoissonRegressor": (dg.PoissonRegressor(alpha=0.01), np.abs(TARGETS)),
}


def write(y: Any) -> None:
    """rows.csv with every digit of the rows, and the target at the end."""
    with open("rows.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [[*map(repr, row), value] for row, value in zip(ROWS.tolist(), y.tolist(), strict=True)]
        )


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fitted(name: str, sample_weight: Any = None) -> tuple[Any, Any]:
    estimator, y = ESTIMATORS[name]
    return estimator.fit(ROWS, y, sample_weight=sample_weight), y


def assert_the_same_predictions(model: dg.Model, estimator: Any) -> None:
    """Labels, scores and probabilities of a model that was loaded, to the last bit."""
    assert np.array_equal(model.predict(ROWS), estimator.predict(ROWS))
    if hasattr(estimator, "decision_function"):
        assert model.scores(ROWS).tobytes() == estimator.decision_function(ROWS).tobytes()
    if hasattr(estimator, "predict_proba"):
        assert model.probabilities(model.scores(ROWS)).tobytes() == estimator.predict_proba(ROWS).tobytes()


def tampered(model: dg.Model) -> dg.Model:
    """One weight a thousandth larger, or as much as that of the largest where it is zero."""
    weights = model.weights.copy()
    weights[1] += 1e-3 * np.abs(weights).max()
    return replace(model, weights=weights)


@pytest.mark.parametrize("duals", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_saved_estimator_predicts_the_same_bits_and_is_certified(
    name: str, duals: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    estimator, y = fitted(name)
    estimator.save("m.dg", duals=duals)
    model = dg.load("m.dg")
    assert model.estimator == type(estimator).__name__
    assert model.parameters["tol"] == 1e-4
    assert (model.duals is not None) == duals
    assert_the_same_predictions(model, estimator)
    write(y)
    code, out, error = called(capsys, "certify", "m.dg", "rows.csv")
    assert code == 0, out + error
    assert "The claim is true" in out
    tampered(model).save("m.dg")
    code, out, _ = called(capsys, "certify", "m.dg", "rows.csv")
    assert code == 1
    assert "primal: the file says" in out
    assert "The claim does not hold for this data." in out


@pytest.mark.parametrize("duals", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_claim_with_sample_weights_is_checked_in_python(
    name: str, duals: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    estimator, y = fitted(name, WEIGHTS)
    estimator.save("m.dg", duals=duals)
    model = dg.load("m.dg")
    assert_the_same_predictions(model, estimator)
    verdict = model.certify(ROWS, y, WEIGHTS)
    assert verdict.holds, verdict
    assert any("primal: the file says" in text for text in tampered(model).certify(ROWS, y, WEIGHTS).differences)
    assert model.certify(ROWS, y).differences[0] == "the sample weights are not those of the fit"
    write(y)
    code, _, error = called(capsys, "certify", "m.dg", "rows.csv")
    assert code == 2
    assert "certify it in Python with dualgap.load(path).certify(X, y, sample_weight)" in error


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "balanced" in name or "factors" in name])
def test_class_weights_are_verified_too(name: str) -> None:
    estimator, y = fitted(name)
    estimator.save("m.dg")
    model = dg.load("m.dg")
    assert model.class_factors is not None
    without = replace(model, class_factors=tuple((1.0,) * len(group) for group in model.class_factors))
    assert model.certify(ROWS, y).holds
    assert not without.certify(ROWS, y).holds


TARGET_SHAPES: dict[str, Callable[[], Any]] = {
    "two columns": lambda: np.column_stack([TARGETS, -TARGETS]),
    "one column": lambda: TARGETS[:, None],
}


@pytest.mark.parametrize("shape", TARGET_SHAPES)
def test_targets_in_columns_keep_their_shape(shape: str) -> None:
    y = TARGET_SHAPES[shape]()
    estimator = dg.Ridge().fit(ROWS, y)
    estimator.save("m.dg", duals=True)
    model = dg.load("m.dg")
    # As in scikit-learn, targets in a single column have flat predictions.
    assert model.predict(ROWS).shape == y.squeeze().shape == estimator.predict(ROWS).shape
    assert np.array_equal(model.predict(ROWS), estimator.predict(ROWS))
    assert model.certify(ROWS, y).holds


def test_names_of_columns_and_labels_from_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list("abcd"))
    labels = pandas.Series(WORDS, dtype=object)
    estimator = dg.LinearSVC().fit(frame, labels)
    estimator.save("m.dg")
    model = dg.load("m.dg")
    assert model.feature_names == tuple("abcd")
    assert model.classes is not None
    assert model.classes.dtype.kind == "U"
    assert np.array_equal(model.predict(frame[list("dcba")]), estimator.predict(frame))
    assert model.certify(frame, labels).holds


def test_parameters_that_json_does_not_know_are_told_in_words() -> None:
    estimator = dg.LogisticRegression(C=np.float64(2.0), class_weight={-1: 1.0, 1: 2.0}).fit(ROWS, SIGNS)
    estimator.set_params(C=9.0, tol=0.5).save("m.dg")
    parameters = dg.load("m.dg").parameters
    assert parameters["C"] == 2.0, "of the fit, not of what was set afterwards"
    assert parameters["class_weight"] == "{-1: 1.0, 1: 2.0}"


def test_an_estimator_without_a_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="needs to be fitted by fit"):
        dg.LinearSVC().save("m.dg")
    stream = dg.LinearSVC(loss="hinge", solver="pegasos").partial_fit(ROWS, SIGNS, classes=[-1, 1])
    with pytest.raises(ValueError, match="partial_fit leaves no certificate of all it saw"):
        stream.save("m.dg")
    assert not list(Path().iterdir())
