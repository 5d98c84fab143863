"""Blocks that a fit standardizes as it loads them, and RidgeClassifier, which takes labels as numbers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from commands import ended

SCALES = np.array([1.0, 100.0, 1e-3, 5.0])


def data(form: str = "dense") -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 4)) * SCALES + 3.0 * SCALES
    if form == "sparse":
        X[rng.uniform(size=X.shape) < 0.6] = 0.0
    z = (X / SCALES) @ [1.0, -0.5, 1.0, 0.3] + rng.normal(size=1500)
    return (sp.csr_matrix(X) if form == "sparse" else X), z, rng.uniform(0.5, 2.0, size=1500)


def labels(z: Any) -> Any:
    return np.where(z > np.median(z), "yes", "no")


def cut(X: Any, *more: Any) -> list[tuple[Any, ...]]:
    return [(X[c], *(values[c] for values in more)) for c in (slice(0, 2), slice(2, 700), slice(700, 1500))]


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("model", [dg.LogisticRegression(C=10.0), dg.LinearSVC(), dg.LinearSVR(epsilon=0.1)])
def test_a_standardized_fit_keeps_coefficients_of_the_columns(model: Any, form: str) -> None:
    X, z, s = data(form)
    y = z if isinstance(model, dg.LinearSVR) else labels(z)
    scaled = StandardScaler(with_mean=form == "dense").fit_transform(X)
    model.set_params(tol=1e-7)
    known = model.fit(scaled, y, s).decision_function(scaled) if y is not z else model.fit(scaled, y, s).predict(scaled)
    primal = model.certificate_.primal
    parts = cut(X, y, s)
    for source in (parts, lambda: iter(parts)):
        blocks = dg.Blocks(source, standardize=True)
        model.fit(blocks)
        assert model.certificate_.primal == pytest.approx(primal, rel=1e-6)
        for rows in (X, blocks, dg.Blocks(parts)):
            found = model.decision_function(rows) if y is not z else model.predict(rows)
            assert found == pytest.approx(known, abs=2e-2)
    if isinstance(model, dg.LogisticRegression):
        model.set_params(warm_start=True).fit(blocks)
        assert model.n_iter_ <= 2
        model.set_params(warm_start=False)


def test_a_result_predicts_for_rows_as_they_are_and_knows_its_duals() -> None:
    X, z, s = data()
    y = labels(z)
    blocks = dg.Blocks(cut(X, y, s), standardize=True)
    result = dg.solve(dg.Problem(blocks, loss="logistic", strength=1e-3, intercept=True))
    scaled = StandardScaler().fit_transform(X)
    problem = dg.Problem(scaled, y, "logistic", 1e-3, s, True)
    assert result.scores(X) == pytest.approx(scaled @ result.weights + result.intercept)
    assert np.array_equal(result.predict(blocks), result.predict(X))
    assert problem.primal(result.scores(X), result.weights) == pytest.approx(result.certificate.primal, rel=1e-9)
    duals = problem.clipped_duals(result.duals.of(X, y))
    dual = problem.dual(duals, problem.weights_of(duals))
    assert dual == pytest.approx(result.certificate.dual, rel=1e-5)
    several = np.array(["p", "q", "r"])[np.digitize(z, np.quantile(z, [0.3, 0.7]))]
    softmax = dg.LogisticRegression(tol=1e-7).fit(dg.Blocks(cut(X, several), standardize=True))
    known = dg.LogisticRegression(tol=1e-7).fit(scaled, several)
    assert softmax.certificate_.primal == pytest.approx(known.certificate_.primal, rel=1e-6)
    assert softmax.decision_function(X) == pytest.approx(known.decision_function(scaled), abs=2e-2)


def test_centered_columns_need_an_intercept() -> None:
    X, z, _ = data()
    with pytest.raises(ValueError, match="needs an intercept, got fit_intercept=False"):
        dg.LogisticRegression(fit_intercept=False).fit(dg.Blocks(cut(X, labels(z)), standardize=True))


@pytest.mark.parametrize("weights", [None, "balanced", {"p": 1.0, "q": 3.0, "r": 0.5}])
@pytest.mark.parametrize("classes", [2, 3])
def test_ridge_classifier_fits_blocks_as_in_memory(classes: int, weights: Any) -> None:
    X, z, s = data()
    X = X / SCALES
    y = np.array(["p", "q", "r"])[np.digitize(z, np.quantile(z, [0.3, 0.7] if classes == 3 else [0.4]))]
    if isinstance(weights, dict):
        weights = {label: weights[label] for label in np.unique(y).tolist()}
    known = dg.RidgeClassifier(tol=1e-8, class_weight=weights).fit(X, y, s)
    model = dg.RidgeClassifier(tol=1e-8, class_weight=weights).fit(dg.Blocks(cut(X, y, s)))
    assert model.coef_ == pytest.approx(known.coef_, abs=1e-3)
    assert np.ravel(model.strength_) == pytest.approx(np.ravel(known.strength_))
    assert [c.primal for c in np.ravel(model.certificate_)] == pytest.approx(
        [c.primal for c in np.ravel(known.certificate_)], rel=1e-7
    )
    duals = model.dual_coef_[0] if classes == 3 else model.dual_coef_
    if isinstance(duals, list):
        duals = duals[0]
    assert duals.of(X, y) == pytest.approx(known.dual_coef_[0], abs=1e-2)
    assert model.score(dg.Blocks(cut(X, y, s))) == pytest.approx(known.score(X, y, s), abs=2e-3)


def test_model_files_of_standardized_blocks_predict_and_certify(tmp_path: Path, capsys: Any) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, z, _ = data()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["kind"] = np.where(np.arange(1500) % 3, "x", "y")
    frame["y"] = labels(z)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=400)
    path = str(tmp_path / "rows.parquet")
    words = ("fit", path, "--memory-limit", "64MiB", "--target", "y", "--loss", "logistic", "--standardize", "--quiet")
    assert ended(*words, "-o", str(tmp_path / "cli.dg")) == 0
    model = dg.LogisticRegression(C=1.0, tol=1e-6).fit(dg.Blocks(path, target="y", standardize=True))
    model.save(tmp_path / "model.dg")
    for name in ("cli.dg", "model.dg"):
        assert ended("certify", str(tmp_path / name), path, "--target", "y") == 0, capsys.readouterr()
        assert ended("predict", str(tmp_path / name), path, "-o", str(tmp_path / "out.csv"), "--overwrite") == 0
        found = pandas.read_csv(tmp_path / "out.csv")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert found["score"].to_numpy() == pytest.approx(model.decision_function(dg.Blocks(path)), abs=1e-1)
        loaded = dg.load(tmp_path / name)
        assert loaded.scores(frame) == pytest.approx(found["score"].to_numpy())
        assert loaded.scores(dg.Blocks(path)) == pytest.approx(found["score"].to_numpy())
        assert loaded.predict(dg.Blocks(path)).tolist() == found["prediction"].tolist()


@pytest.mark.parametrize(
    "model",
    [
        dg.HuberRegressor(),
        dg.RidgeCV(),
        dg.LogisticRegressionCV(),
        dg.LinearSVCCV(),
        dg.LinearSVRCV(),
        dg.Lasso(),
        dg.ElasticNet(),
    ],
)
def test_what_blocks_do_not_offer_is_said_with_what_works_instead(model: Any) -> None:
    X, z, _ = data()
    with pytest.raises(
        ValueError, match=rf"{type(model).__name__} needs rows in memory.*, got row blocks; (fit|choose|pass) "
    ):
        model.fit(dg.Blocks(cut(X, z)))
