"""The softmax model against scikit-learn, cvxpy and itself: both solvers reach the optimum, and the certificate says so."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import dualgap as dg
from dualgap import certify
from dualgap.solvers.base import SAMPLINGS
from dualgap.solvers.newton import softmax_settings
from examples import EMPTY_ROW, FORMS, WEIGHTLESS_ROW, small_rows

FORM = {"dense": np.asarray, "csr": sp.csr_matrix}


def small(
    form: str = "dense", weights: bool = False, intercept: bool = False, strength: float = 1e-2, dtype: type = float
) -> dg.MultinomialProblem:
    """24 rows with the empty, repeated and constant ones of the other examples, in four classes of unequal size."""
    X = small_rows().astype(dtype)
    random = np.random.default_rng(3)
    y = (X @ random.normal(size=(5, 4)) + 0.8 * random.normal(size=(24, 4)) + [0.8, 0.0, 0.3, 0.0]).argmax(axis=1)
    sample_weight = random.uniform(0.5, 2.0, 24)
    sample_weight[WEIGHTLESS_ROW] = 0.0
    names = np.array(["ash", "birch", "elm", "oak"])
    return dg.MultinomialProblem(FORM[form](X), names[y], strength, sample_weight if weights else None, intercept)


def dense(problem: dg.MultinomialProblem) -> np.ndarray:
    return np.vstack([b.toarray() if hasattr(b, "toarray") else b for _, b in problem.rows.blocks()])


def optimum(problem: dg.MultinomialProblem) -> float:
    """P* by cvxpy, which shares nothing with dualgap."""
    X = dense(problem)
    W, b = cp.Variable((X.shape[1], problem.class_count)), cp.Variable((1, problem.class_count))
    Z = X @ W + (np.ones((X.shape[0], 1)) @ b if problem.intercept else 0)
    own = cp.sum(cp.multiply(Z, np.eye(problem.class_count)[problem.labels]), axis=1)
    s = np.ones(X.shape[0]) if problem.sample_weight is None else problem.sample_weight
    loss = cp.sum(cp.multiply(s / s.sum(), cp.log_sum_exp(Z, axis=1) - own))
    program = cp.Problem(cp.Minimize(loss + problem.strength / 2 * cp.sum_squares(W)))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(program.value)


def by_hand(problem: dg.MultinomialProblem, W: np.ndarray, b: np.ndarray, A: np.ndarray) -> tuple[float, float]:
    """P and D from their definitions, row by row."""
    X = dense(problem)
    s = np.ones(X.shape[0]) if problem.sample_weight is None else problem.sample_weight
    P = D = 0.0
    for x, c, weight, a in zip(X, problem.labels, s, A, strict=True):
        z = W.T @ x + b
        P += weight * (np.log(np.exp(z).sum()) - z[c])
        p = np.eye(problem.class_count)[c] - a
        assert p.min() >= -1e-15
        assert p.sum() == pytest.approx(1.0)
        D += weight * -sum(q * np.log(q) for q in p if q > 0)
    V = X.T @ (A * s[:, None]) / (problem.strength * s.sum())
    half = problem.strength / 2
    return P / s.sum() + half * (W**2).sum(), D / s.sum() - half * (V**2).sum()


@pytest.mark.parametrize("solver", ["newton", "sdca"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_both_solvers_reach_the_independent_optimum(solver: str, form: str, weights: bool, intercept: bool) -> None:
    problem = small(form, weights, intercept)
    result = dg.solve(problem, solver, tol=1e-9, max_epochs=20_000)
    assert result.status is dg.Status.CERTIFIED
    best = optimum(problem)
    assert abs(result.certificate.primal - best) <= 1e-8 * best
    P, D = by_hand(problem, result.weights, result.intercept, result.duals)
    assert result.certificate.primal == pytest.approx(P, rel=1e-13)
    assert result.certificate.dual == pytest.approx(D, rel=1e-12)
    if intercept:
        s = np.ones(24) if problem.sample_weight is None else problem.sample_weight
        np.testing.assert_allclose(s @ result.duals, 0.0, atol=1e-13)
    else:
        assert not result.intercept.any()


@pytest.mark.parametrize("intercept", [False, True])
def test_it_is_the_model_of_scikit_learn(intercept: bool) -> None:
    problem = small("dense", True, intercept)
    result = dg.solve(problem, tol=1e-12)
    X, y = dense(problem), problem.classes[problem.labels]
    theirs = LogisticRegression(
        C=1.0 / problem.lambda_n, solver="newton-cholesky", tol=1e-13, fit_intercept=intercept
    ).fit(X, y, problem.sample_weight)
    # P is λ-strongly convex in W: (λ/2)‖W − W*‖² is at most the gap.
    apart = np.sqrt(2.0 * 1e-12 * result.certificate.primal / problem.strength)
    np.testing.assert_allclose(result.weights.T, theirs.coef_, atol=apart)
    np.testing.assert_array_equal(result.predict(X), theirs.predict(X))
    centered = theirs.intercept_ - theirs.intercept_.mean()
    np.testing.assert_allclose(result.intercept, centered, atol=10.0 * apart)


@pytest.mark.parametrize("intercept", [False, True])
def test_two_classes_are_the_logistic_loss_in_two_halves(intercept: bool) -> None:
    """With W = (−w/2, w/2) the softmax of two classes is the logistic loss, at twice the strength."""
    X = small_rows()
    y = np.resize([0, 1, 1], 24)
    two = dg.solve(dg.MultinomialProblem(X, y, 2e-2, intercept=intercept), tol=1e-12)
    one = dg.solve(dg.Problem(X, y, "logistic", 1e-2, intercept=intercept), tol=1e-12)
    assert two.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-11)
    np.testing.assert_allclose(two.weights[:, 1] - two.weights[:, 0], one.weights, atol=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
def test_conjugate_gradients_take_the_same_way(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = small("csr", True, intercept)

    def use(**changed: int) -> None:
        monkeypatch.setattr(softmax_settings, "SETTINGS", replace(softmax_settings.SETTINGS, **changed))

    use(always_factored_side=0)
    assert dg.solve(problem, "newton", tol=1e-10, max_epochs=50).status is dg.Status.CERTIFIED
    use(products_before_factor=1)  # and now a factor takes over
    assert dg.solve(problem, "newton", tol=1e-10, max_epochs=50).status is dg.Status.CERTIFIED
    use(largest_factored_side=0)
    result = dg.solve(problem, "newton", tol=1e-10, max_epochs=50)
    assert result.status is dg.Status.CERTIFIED
    use(block_columns=0)
    assert dg.solve(problem, "newton", tol=1e-10, max_epochs=50).status is dg.Status.CERTIFIED


@pytest.mark.parametrize("solver", ["newton", "sdca"])
@pytest.mark.parametrize("intercept", [False, True])
def test_few_rows_of_many_columns_are_certified(solver: str, intercept: bool) -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(15, 80))
    X[3], X[5] = 0.0, X[6]
    problem = dg.MultinomialProblem(X, np.resize([0, 1, 2], 15), 1e-2, intercept=intercept)
    result = dg.solve(problem, solver, tol=1e-9, max_epochs=20_000)
    assert result.status is dg.Status.CERTIFIED
    assert result.weights.shape == (80, 3)


@pytest.mark.parametrize("strength", [1e-4, 1e-8])
@pytest.mark.parametrize("intercept", [False, True])
def test_separable_classes_with_almost_no_penalty_are_certified(strength: float, intercept: bool) -> None:
    random = np.random.default_rng(5)
    y = np.resize([0, 1, 2], 60)
    X = np.eye(3)[y] * 4.0 + 0.3 * random.normal(size=(60, 3))
    result = dg.solve(dg.MultinomialProblem(X, y, strength, intercept=intercept), tol=1e-9)
    assert result.status is dg.Status.CERTIFIED
    assert (result.predict(X) == y).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_badly_scaled_columns_are_certified(scale: float) -> None:
    random = np.random.default_rng(6)
    X = random.normal(size=(90, 4)) * [1.0, scale, 1.0, 1.0]
    y = (X / [1.0, scale, 1.0, 1.0] @ random.normal(size=(4, 3)) + random.normal(size=(90, 3))).argmax(axis=1)
    result = dg.solve(dg.MultinomialProblem(X, y, 1.0 / 90, intercept=True), "newton", tol=1e-8)
    assert result.status is dg.Status.CERTIFIED


def test_newton_needs_few_steps_and_no_kernel() -> None:
    result = dg.solve(small(intercept=True), "newton", tol=1e-12)
    assert result.trace[-1].epoch <= 10


@pytest.mark.parametrize("solver", ["newton", "sdca"])
def test_a_start_at_the_solution_takes_no_epoch(solver: str) -> None:
    problem = small("dense", True, True)
    good = dg.solve(problem, solver, tol=1e-9, max_epochs=20_000)
    again = dg.solve(problem, solver, tol=1e-8, start=good)
    assert again.trace[-1].epoch == 0
    given = dg.solve(problem, solver, tol=1e-8, start=(good.weights, good.intercept, None))
    assert given.trace[-1].epoch == 0


@pytest.mark.parametrize("solver", ["newton", "sdca"])
@pytest.mark.parametrize("intercept", [False, True])
def test_repeated_rows_are_weights(solver: str, intercept: bool) -> None:
    problem, times = small(intercept=intercept), np.resize([1, 2, 3], 24)
    X, y = dense(problem), problem.classes[problem.labels]
    weighted = dg.MultinomialProblem(X, y, 1e-2, times, intercept)
    repeated = dg.MultinomialProblem(np.repeat(X, times, axis=0), np.repeat(y, times), 1e-2, None, intercept)
    results = [dg.solve(p, solver, tol=1e-10, max_epochs=20_000) for p in (weighted, repeated)]
    assert results[0].certificate.primal == pytest.approx(results[1].certificate.primal, rel=1e-9)
    np.testing.assert_allclose(results[0].weights, results[1].weights, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("solver", ["newton", "sdca"])
def test_a_common_factor_of_all_weights_changes_nothing(solver: str, scale: float) -> None:
    problem = small("dense", True, True)
    X, y, s = dense(problem), problem.classes[problem.labels], problem.sample_weight
    plain, scaled = (
        dg.solve(dg.MultinomialProblem(X, y, 1e-2, s * f, True), solver, tol=1e-6, max_epochs=2000)
        for f in (1.0, scale)
    )
    assert scaled.status is plain.status is dg.Status.CERTIFIED
    assert scaled.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-6)


def test_float32_rows_are_judged_in_float64() -> None:
    result = dg.solve(small("dense", intercept=True, dtype=np.float32), tol=1e-10)
    assert result.status is dg.Status.CERTIFIED


def test_a_record_each_epoch_for_a_callback_that_can_stop() -> None:
    seen: list[dg.Record] = []
    result = dg.solve(small(), "sdca", tol=0.0, callback=lambda record: seen.append(record) or record.epoch >= 3)
    assert [record.epoch for record in seen] == [0, 1, 2, 3]
    assert result.status is dg.Status.STOPPED
    assert 0 < seen[-1].train_score <= 1


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_run_can_be_repeated_bit_by_bit(sampling: str) -> None:
    runs = [dg.solve(small(), f"sdca(sampling={sampling})", tol=1e-6, seed=7) for _ in range(2)]
    assert runs[0].status is dg.Status.CERTIFIED
    assert np.array_equal(runs[0].weights, runs[1].weights)


REFUSED = {
    "one class": (lambda: dg.MultinomialProblem([[1.0], [2.0]], [1, 1]), "two or more labels"),
    "a class without weight": (
        lambda: dg.MultinomialProblem([[1.0]] * 3, [1, 2, 3], sample_weight=[1, 1, 0], intercept=True),
        r"every label on a row of positive weight, got none for \[3\]",
    ),
    "NaN labels": (lambda: dg.MultinomialProblem([[1.0], [2.0]], [1.0, np.nan]), "NaN or infinity"),
    "mixed labels": (lambda: dg.MultinomialProblem([[1.0], [2.0]], np.array([1, "a"], dtype=object)), "one type"),
    "another length": (lambda: dg.MultinomialProblem([[1.0], [2.0]], [1, 2, 3]), "one value a row"),
    "too steep": (lambda: dg.MultinomialProblem([[1e150], [2.0]], [1, 2], 1e-10), "below 5\\.5\\d+e\\+275"),
    "another solver": (lambda: dg.solve(small(), "pegasos"), "pegasos fits two classes .* use solver='auto'"),
    "options": (lambda: dg.solve(small(), "sdca(shrinking=true)"), "got sdca\\(shrinking=True\\)"),
    "no solver": (lambda: dg.solve(small(), "lbfgs"), "no solver 'lbfgs'"),
    "a start of another shape": (
        lambda: dg.solve(small(), start=(np.zeros((2, 4)), np.zeros(4), None)),
        r"weights of shape \(5, 4\), got shape \(2, 4\)",
    ),
    "a start with NaN": (
        lambda: dg.solve(small(), start=(np.full((5, 4), np.nan), None, None)),
        r"finite weights of shape \(5, 4\), got NaN or infinity in 20 of them",
    ),
    "a start with a NaN intercept": (
        lambda: dg.solve(small(), start=(np.zeros((5, 4)), [0, 0, np.nan, 0], None)),
        "4 finite intercepts, got NaN or infinity in 1 of them",
    ),
    "half a start": (lambda: dg.solve(small(), start=(1, 2)), "got 2 parts"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_one_sentence(case: str) -> None:
    ask, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence):
        ask()


def test_start_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"start needs a Result or .* got int; duals may be None"):
        dg.solve(small(), start=5)


def test_callback_may_answer_with_numpys_true() -> None:
    result = dg.solve(small(), "sdca", tol=0.0, callback=lambda record: np.True_)
    assert result.status is dg.Status.STOPPED


@pytest.mark.parametrize("solver", ["newton", "sdca"])
def test_records_tests_and_callbacks_work_as_for_two_classes(solver: str, capsys: pytest.CaptureFixture[str]) -> None:
    problem = small(intercept=True)
    X, y = dense(problem), problem.classes[problem.labels]
    seen: list[dg.Record] = []
    result = dg.solve(
        problem,
        solver,
        tol=0.0,
        max_epochs=3,
        test=(X[:10], y[:10]),
        record_every=0.5,
        callback=seen.append,
        progress=True,
    )
    assert capsys.readouterr().out == ""
    steps = [0, 1, 2, 3] if solver == "newton" else [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert [record.epoch for record in seen] == steps
    assert seen[-1].test_score == np.mean(result.predict(X[:10]) == y[:10])
    assert seen[-1].train_score == np.mean(result.predict(X) == y)
    by_update = dg.solve(problem, "sdca", tol=0.0, max_epochs=1, record_updates=8)
    assert [record.updates for record in by_update.trace] == [0, 8, 16, 24]
    with pytest.raises(ValueError, match="labels need to be among the 4 of training"):
        dg.solve(problem, solver, test=(X, np.full(24, "yew")))


@pytest.mark.parametrize("jobs", [2, -1])
@pytest.mark.parametrize("intercept", [False, True])
def test_any_number_of_threads_gives_the_same_bits(jobs: int, intercept: bool) -> None:
    random = np.random.default_rng(10)
    X = random.normal(size=(40_000, 12))
    y = (X @ random.normal(size=(12, 5)) + random.normal(size=(40_000, 5))).argmax(axis=1)
    problem = dg.MultinomialProblem(X, y, 1e-4, intercept=intercept)
    one, many = (dg.solve(problem, tol=1e-6, n_jobs=n) for n in (1, jobs))
    assert np.array_equal(one.weights, many.weights)
    assert np.array_equal(one.duals, many.duals)
    assert one.certificate == many.certificate


def test_averages_and_draws_are_outputs_of_newton_too() -> None:
    problem = small(intercept=True)
    mean = dg.solve(problem, "newton(output=average, average_from=0)", tol=0.0, max_epochs=4)
    steps = [dg.solve(problem, "newton", tol=0.0, max_epochs=n).weights for n in (1, 2, 3, 4)]
    np.testing.assert_allclose(mean.weights, np.mean(steps, axis=0), rtol=1e-12)
    drawn = dg.solve(problem, "newton(output=random, average_from=0)", tol=0.0, max_epochs=4)
    assert any(np.array_equal(drawn.weights, step) for step in steps)
    with pytest.raises(ValueError, match="sdca with no option but sampling, got sdca\\(output=average"):
        dg.solve(problem, "sdca(output=average)", max_epochs=4)


def test_auto_says_why() -> None:
    result = dg.solve(small())
    assert result.reason.startswith("newton: second-order steps, with a Hessian of side 20")


def test_the_judge_repairs_any_duals() -> None:
    random = np.random.default_rng(8)
    problem = small("dense", True, True)
    best = optimum(problem)
    for scale in (1e-12, 1.0, 1e6):
        A = scale * random.normal(size=(24, 4))
        judged = certify(problem, np.zeros((5, 4)), 0.0, A, carried_target=np.inf)
        np.testing.assert_allclose(problem.sample_weight @ judged.duals, 0.0, atol=1e-13)
        _, D = by_hand(problem, judged.weights, judged.intercept, judged.duals)
        assert judged.certificate.dual == pytest.approx(D, abs=1e-13)
        assert 0.0 <= D <= best + 1e-9


def test_the_judge_takes_the_better_duals() -> None:
    problem = small("dense", True, True)
    good = dg.solve(problem, tol=1e-11)
    bad = np.zeros((24, 4))
    assert certify(problem, good.weights, good.intercept, bad).certificate.relative_gap <= 1e-10
    poor = certify(problem, good.weights, good.intercept, bad, carried_target=np.inf).certificate
    assert poor.dual == 0.0
    assert poor.relative_gap == pytest.approx(1.0, rel=1e-12)
    carried = certify(problem, np.zeros((5, 4)), 0.0, good.duals).certificate
    assert carried.dual == pytest.approx(good.certificate.dual, rel=1e-12)


def test_an_empty_row_sits_at_its_optimum() -> None:
    problem = small()
    judged = certify(problem, np.zeros((5, 4)), 0.0, np.zeros((24, 4)), carried_target=np.inf)
    np.testing.assert_allclose(np.abs(judged.duals[EMPTY_ROW]).sum(), 1.5)


def test_the_best_intercepts_leave_no_slope() -> None:
    random = np.random.default_rng(9)
    problem = small("dense", True, True)
    for scale in (0.0, 1.0, 30.0):
        Z = scale * random.normal(size=(24, 4))
        b = problem.best_intercept(Z, np.zeros(4))
        assert abs(b.mean()) < 1e-10
        np.testing.assert_allclose(problem.dual_sums(problem.suggested_duals(Z + b)), 0.0, atol=1e-13)
    np.testing.assert_allclose(problem.best_intercept(np.zeros((24, 4)), np.full(4, np.nan)), problem.constant)
