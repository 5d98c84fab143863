"""partial_fit: same bits for any division into calls, the solver's own steps, a certificate of the last batch."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dualgap as dg
from dualgap.data.validation import as_rows
from dualgap.estimators.partial_fit import Stream
from dualgap.solvers import Answer
from dualgap.solvers.base import integer_type
from dualgap.solvers.primal import State

ROWS = 203
# A stream of fewer rows for the many models that are fitted in one call a row; the lengths at which steps change, 16, 32 and 64 rows,
# are within a call, between calls, and at both ends of one.
SHORT, CUTS = 67, ([20], [1, 2, 3, 33], [7, 16, 32, 64, 65], list(range(1, 67)))
SOLVERS = ("pegasos", "pegasos(projection=true)", "sgd", "sgd(schedule=sqrt)")


def stream(task: str, count: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose lengths grow along the stream, an empty one among them."""
    random = np.random.default_rng(20110101)
    X = random.normal(size=(count, 6)) * np.linspace(0.2, 8.0, count)[:, None]
    X[0 if task == "regression" else 4] = 0.0
    signal = X @ [1.0, -1.0, 0.5, 0.0, 0.2, 0.3] + random.normal(size=count)
    return X, signal + 3.0 if task == "regression" else (signal > 0).astype(int) + (signal > 4).astype(int)


def fit_in_calls(model: Any, X: Any, y: np.ndarray, cuts: list[int], **weights: Any) -> Any:
    """The model after one call of partial_fit for each range of rows between the cuts."""
    classes = {"classes": [0, 1, 2]} if hasattr(model, "class_weight") else {}
    for begin, end in zip([0, *cuts], [*cuts, y.size], strict=True):
        batch_weights = {name: value[begin:end] for name, value in weights.items()}
        model.partial_fit(X[begin:end], y[begin:end], **classes, **batch_weights)
    return model


ESTIMATORS = [
    dg.LinearSVC(strength=0.05),
    dg.LinearSVC(loss="hinge", strength=0.05),
    dg.LinearSVC(loss="hinge", strength=0.05, fit_intercept=False, class_weight={0: 1.0, 1: 2.0, 2: 0.5}),
    dg.LinearSVR(strength=0.05, epsilon=0.1),
    dg.LinearSVR(strength=0.05, loss="squared_epsilon_insensitive"),
    dg.QuantileRegressor(quantile=0.3, alpha=0.05, l1_ratio=0.0),
]


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", ESTIMATORS, ids=str)
def test_division_into_calls_does_not_change_the_bits(model: Any, solver: str, weighted: bool) -> None:
    X, y = stream("classification" if isinstance(model, dg.LinearSVC) else "regression", SHORT)
    weights = {"sample_weight": np.random.default_rng(5).uniform(0.2, 3.0, y.size)} if weighted else {}
    model = clone(model).set_params(solver=solver)
    one_call = fit_in_calls(clone(model), X, y, [], **weights)
    assert np.isfinite(one_call.coef_).all()
    assert np.abs(one_call.coef_).max() > 0.0
    assert one_call.t_ == y.size
    for cuts in CUTS:
        calls = fit_in_calls(clone(model), X, y, cuts, **weights)
        assert np.array_equal(calls.coef_, one_call.coef_), cuts
        assert np.array_equal(calls.intercept_, one_call.intercept_), cuts
        assert calls.t_ == one_call.t_


@pytest.mark.parametrize("batch", [2, 5])
def test_division_between_batches_does_not_change_the_bits(batch: int) -> None:
    X, y = stream("regression")
    model = dg.LinearSVR(strength=0.05, solver=f"pegasos(batch_size={batch})")
    one_call = fit_in_calls(clone(model), X, y, [])
    calls = fit_in_calls(clone(model), X, y, [10, 20, 100, 150])
    assert np.array_equal(calls.coef_, one_call.coef_)
    assert np.array_equal(calls.intercept_, one_call.intercept_)
    assert one_call.t_ == -(-ROWS // batch)


def test_dense_and_sparse_streams_agree() -> None:
    X, y = stream("regression")
    model = dg.LinearSVR(strength=0.05, solver="pegasos")
    dense, from_sparse = (
        fit_in_calls(clone(model), X, y, [60]),
        fit_in_calls(clone(model), sparse.csr_array(X), y, [99]),
    )
    np.testing.assert_allclose(from_sparse.coef_, dense.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "solver"),
    [
        (dg.LinearSVC(loss="hinge", strength=0.02, solver="pegasos", fit_intercept=False), dg.Pegasos()),
        (dg.LogisticRegression(strength=0.02, solver="pegasos", fit_intercept=False), dg.Pegasos()),
        (
            dg.LinearSVC(strength=0.02, solver="sgd(step=0.001)", fit_intercept=False),
            dg.SGD(step=0.001),
        ),
    ],
    ids=["hinge", "logistic", "squared_hinge"],
)
def test_stream_takes_the_steps_of_the_solver(model: Any, solver: Any) -> None:
    """With a step size that does not depend on the data, a stream equals one pass of the solver in the given order."""
    X, y = stream("classification")
    y = (y > 0).astype(int)
    problem = dg.Problem(X, y, model._loss(), model.strength)
    state = solver.advance(problem, solver.start(problem, None), np.arange(y.size, dtype=integer_type(y.size)))
    answer: Answer = solver.answer(problem, state)
    for begin in range(0, y.size, 37):
        model.partial_fit(X[begin : begin + 37], y[begin : begin + 37], classes=[0, 1])
    assert np.array_equal(model.coef_[0], answer.weights)


def test_stream_reaches_a_good_model() -> None:
    X, y = stream("regression", 4000)
    X /= np.linspace(0.2, 8.0, 4000)[:, None]
    model = dg.LinearSVR(strength=1e-3, solver="pegasos")
    y = X @ [1.0, -1.0, 0.5, 0.0, 0.2, 0.3] + 100.0
    assert model.partial_fit(X[:20], y[:20]).score(X, y) < 0.9
    for _ in range(20):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.99
    assert abs(model.intercept_[0] - 100.0) < 0.5


def test_certificate_refers_to_the_last_batch() -> None:
    X, y = stream("classification")
    y = (y > 0).astype(int)
    model = dg.LogisticRegression(strength=0.1, solver="sgd").partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X[:40], y[:40])
    certificate = model.certificate_
    assert certificate.batch == 40
    assert "the last batch of 40 rows" in str(certificate)
    problem = dg.Problem(X[:40], y[:40], "logistic", 0.1, intercept=True)
    scores = problem.scores(model.coef_[0], float(model.intercept_[0]))
    assert certificate.primal == pytest.approx(problem.primal(scores, model.coef_[0]), rel=1e-12)
    optimum = dg.solve(problem, tol=1e-10).certificate.primal
    assert certificate.dual <= optimum * (1 + 1e-9) <= certificate.primal * (1 + 1e-9)
    assert not hasattr(model, "dual_coef_")


def test_batch_of_one_class_has_no_certificate() -> None:
    X, _ = stream("classification")
    model = dg.LogisticRegression(strength=0.1, solver="sgd").partial_fit(X[:5], np.zeros(5), classes=[0, 1])
    assert model.certificate_ is None
    assert model.predict(X[:5]).tolist() == [0] * 5


def test_with_C_the_first_batch_sets_the_strength() -> None:
    X, y = stream("regression")
    model = dg.LinearSVR(C=2.0, solver="pegasos").partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    assert model.strength_ == 1.0 / (2.0 * 50)


def test_partial_fit_continues_a_fit_and_fit_starts_anew() -> None:
    X, y = stream("regression")
    model = dg.LinearSVR(strength=0.1, solver="pegasos", max_iter=20, tol=0.9, random_state=0).fit(X, y)
    fitted, before = model.coef_.copy(), model.certificate_.primal
    model.partial_fit(X[:1], y[:1])
    # The first step of a new stream has size 1/λ; after a fit to n rows it is the step of update n + 1.
    assert 0.0 < np.linalg.norm(model.coef_ - fitted) < 0.1 * np.linalg.norm(fitted) + 0.1
    assert model.fit(X, y).certificate_.primal == before
    assert not hasattr(model, "_streams")


def test_pickled_stream_continues_with_the_same_bits() -> None:
    X, y = stream("regression")
    model = dg.QuantileRegressor(alpha=0.1, l1_ratio=0.0, solver="pegasos").partial_fit(X[:100], y[:100])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[100:], y[100:])
    assert np.array_equal(again.coef_, model.partial_fit(X[100:], y[100:]).coef_)


def test_each_of_several_targets_is_a_stream() -> None:
    X, y = stream("regression")
    both = dg.Ridge(alpha=[1.0, 3.0], solver="sgd").partial_fit(X, np.column_stack([y, -y]))
    one = dg.Ridge(alpha=3.0, solver="sgd").partial_fit(X, -y)
    assert np.array_equal(both.coef_[1], one.coef_)
    assert len(both.certificate_) == 2


@pytest.mark.parametrize("solver", ["auto", "newton", "sdca", dg.SDCA(), "no such solver", "("])
def test_other_solvers_have_no_partial_fit(solver: Any) -> None:
    assert not hasattr(dg.LinearSVC(solver=solver), "partial_fit")
    assert hasattr(dg.LinearSVC(solver=dg.SGD()), "partial_fit")


def test_invalid_calls_are_refused() -> None:
    X, y = stream("classification")
    model = dg.LinearSVC(solver="pegasos", strength=0.1)
    with pytest.raises(ValueError, match="needs classes in its first call"):
        model.partial_fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="labels that are among classes"):
        model.partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="the classes of its first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="6 features"):
        model.partial_fit(X[:, :5], y)
    with pytest.raises(ValueError, match="class_weight as a dict"):
        dg.LinearSVC(solver="pegasos", class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="output=last"):
        dg.LinearSVC(solver="pegasos(output=average)").partial_fit(X, y, classes=[0, 1, 2])


def test_step_facts_change_at_powers_of_two_of_rows() -> None:
    """After 203 rows the means are those of the first 128."""
    X, y = stream("regression")
    one_stream = Stream(0.1, State.at(np.zeros(6), 0.0, np.empty(0)))
    one_stream.advance(dg.Pegasos(), dg.Absolute(), as_rows(X), y, None, True)
    norms = as_rows(X).squared_norms
    assert one_stream.largest_squared_norm == norms.max()
    assert one_stream.count == ROWS
    np.testing.assert_allclose(one_stream.means[0], norms[:128].mean())


@pytest.mark.parametrize("kind", [dg.LinearSVC, dg.LogisticRegression, dg.LinearSVR, dg.Ridge, dg.QuantileRegressor])
def test_partial_fit_under_auto_names_pegasos(kind: type) -> None:
    model = kind()
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match=r"needs solver='pegasos' or 'sgd'.*, got 'auto'; use solver='pegasos'"):
        model.partial_fit([[0.0]], [0.0])
    assert hasattr(kind(solver="pegasos"), "partial_fit")
    assert not hasattr(dg.PoissonRegressor(solver="pegasos"), "partial_fit")
