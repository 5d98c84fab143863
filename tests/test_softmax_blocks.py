"""The softmax model on row blocks: the same answers as in memory, certificates recomputed apart, the same bits everywhere."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.rounds import softmax as rounds
from dualgap.rounds.settings import SETTINGS

TOL = 1e-6
EDGES = (0, 1, 300, 301, 900, 1500)
LABELS = np.array(["ash", "elm", "oak", "yew"])


def data(form: str = "dense") -> tuple[Any, Any, Any]:
    """Rows with an empty and a repeated one and a constant column; the first 300 have one class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * [1.0, 3.0, 0.2, 1.0, 1.0, 1.0]
    X[:, 5], X[7], X[9] = 1.0, 0.0, X[8]
    if form == "sparse":
        X[np.abs(X) < 0.5] = 0.0
    y = LABELS[np.argmax(X[:, :4] + rng.gumbel(size=(1500, 4)), axis=1)]
    y[:300] = "oak"
    return (sp.csr_matrix(X) if form == "sparse" else X), y, rng.uniform(0.0, 3.0, size=1500)


def cut(X: Any, y: Any, *weights: Any) -> list[tuple[Any, ...]]:
    return [tuple(values[a:b] for values in (X, y, *weights)) for a, b in pairwise(EDGES)]


@pytest.mark.parametrize("has_matrix", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_rounds_are_certified_as_in_memory(
    form: str, intercept: bool, has_matrix: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "SETTINGS", replace(SETTINGS, softmax_side=300 if has_matrix else 0))
    X, y, s = data(form)
    weights = (s,) if form == "dense" else ()
    problem = dg.MultinomialProblem(dg.Blocks(cut(X, y, *weights)), strength=1e-3, intercept=intercept)
    memory = dg.MultinomialProblem(X, y, 1e-3, *(weights or (None,)), intercept)
    known = dg.solve(memory, tol=TOL)
    far = np.random.default_rng(1).normal(size=(6, 4))
    for start in (None, (far, np.array([3.0, -1.0, 0.0, 0.0]) * intercept, None)):
        result = dg.solve(problem, tol=TOL, start=start)
        c = result.certificate
        assert result.status is dg.Status.CERTIFIED
        assert c.primal == pytest.approx(known.certificate.primal, rel=2 * TOL)
        # The same numbers from the problem in memory, with the duals that are computed for its rows.
        scores = memory.scores(result.weights, result.intercept)
        assert c.primal == pytest.approx(memory.primal(scores, result.weights), rel=1e-12)
        duals = result.duals.of(X, y)
        dual = memory.dual(duals, memory.weights_of(duals))
        assert dual == pytest.approx(c.dual, rel=1e-12)
        if intercept:
            # What a class holds too much or too little of its rows costs less than the gap that is shown.
            slack = np.abs(memory.dual_sums(duals)).max()
            assert slack * np.abs(scores).max() <= c.gap
        assert c.gap >= c.primal - dual
        assert (result.predict(X) == y).mean() == pytest.approx((known.predict(X) == y).mean(), abs=0.01)
    copied = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copied.duals.of(X, y), result.duals.of(X, y))


def test_bits_do_not_depend_on_threads_or_home() -> None:
    X, y, s = data()
    parts = cut(X, y, s)
    start = (np.zeros((6, 4)), np.zeros(4), None)
    found = []
    for source, jobs in ((parts, 1), (parts, 2), (lambda: iter(parts), 1)):
        problem = dg.MultinomialProblem(dg.Blocks(source), strength=1e-3, intercept=True)
        found.append(dg.solve(problem, tol=TOL, start=start, n_jobs=jobs))
    for other in found[1:]:
        assert other.weights.tobytes() == found[0].weights.tobytes()
        assert other.certificate == found[0].certificate


def test_moved_duals_prove_a_point_whose_intercepts_are_off() -> None:
    X, y, _ = data()
    problem = dg.MultinomialProblem(dg.Blocks(cut(X, y)), strength=1e-3, intercept=True)
    known = dg.solve(problem, tol=1e-9)
    off = known.intercept + np.array([2e-4, -1e-4, 0.0, -1e-4])
    result = dg.solve(problem, tol=1e-4, start=(known.weights, off, None))
    assert result.status is dg.Status.CERTIFIED
    assert result.trace[-1].epoch == 2  # the round itself, and one of the judge alone
    assert result.duals.recipe.moved is not None
    memory = dg.MultinomialProblem(X, y, 1e-3, intercept=True)
    assert np.abs(memory.dual_sums(result.duals.of(X, y))).max() <= 1e-12


def test_a_rare_class_that_the_sample_misses_is_fitted() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50_000, 3))
    y = np.argmax(X + rng.gumbel(size=X.shape), axis=1)
    y[12_345:12_347] = 7
    blocks = dg.Blocks([(X[:20_000], y[:20_000]), (X[20_000:], y[20_000:])])
    problem = dg.MultinomialProblem(blocks, strength=1e-5, intercept=True)
    assert problem.sample_problem.rows.count < 30_000
    result = dg.solve(problem, tol=TOL)
    assert result.status is dg.Status.CERTIFIED
    known = dg.solve(dg.MultinomialProblem(X, y, 1e-5, intercept=True), tol=TOL).certificate.primal
    assert result.certificate.primal == pytest.approx(known, rel=2 * TOL)


def test_the_estimator_reads_blocks() -> None:
    X, y, s = data()
    parts = cut(X, y, s)
    options: dict[str, Any] = {"tol": TOL, "class_weight": "balanced"}
    known = dg.LogisticRegression(**options).fit(X, y, s)
    model = dg.LogisticRegression(warm_start=True, **options).fit(dg.Blocks(parts))
    assert model.status_ is dg.Status.CERTIFIED
    assert model.certificate_.primal == pytest.approx(known.certificate_.primal, rel=2 * TOL)
    assert model.coef_.shape == (4, 6)
    np.testing.assert_allclose(model.predict_proba(dg.Blocks(parts)), known.predict_proba(X), atol=5e-3)
    assert model.fit(dg.Blocks(parts)).n_iter_.max() <= 2  # from the last answer


def test_refusals() -> None:
    X, y, s = data()
    with pytest.raises(ValueError, match="two or more labels"):
        dg.MultinomialProblem(dg.Blocks(X[:300], y[:300]))
    with pytest.raises(ValueError, match=r"needs every label on a row of positive weight, got none for \['elm'\]"):
        dg.MultinomialProblem(dg.Blocks(X, y, np.where(y == "elm", 0.0, s)), intercept=True)
    with pytest.raises(ValueError, match="row blocks need solver 'auto' or 'newton', got sdca"):
        dg.solve(dg.MultinomialProblem(dg.Blocks(X, y)), "sdca")
