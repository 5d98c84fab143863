"""Paths of strengths: every point certified, in the order given, and cheaper than the same points one by one."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from examples import small_problem, small_rows

STRENGTHS = np.geomspace(1e-1, 1e-4, 7)


def data(count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(count, 6))
    return X, (X @ random.normal(size=(6, 3)) + random.normal(size=(count, 3))).argmax(axis=1)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute", "multinomial"])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_point_is_certified_and_the_same_as_alone(loss: str, intercept: bool) -> None:
    X, y = data()
    y = y if loss == "multinomial" else y > 0
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    mixed = STRENGTHS[[3, 0, 6]]
    path = dg.solve_path(X, y, loss, mixed, tol=1e-8, sample_weight=weights, intercept=intercept)
    assert path.certified
    np.testing.assert_array_equal(path.strengths, mixed)
    for strength, result in zip(mixed, path.results, strict=True):
        if loss == "multinomial":
            alone = dg.solve(dg.MultinomialProblem(X, y, strength, weights, intercept), tol=1e-8)
        else:
            alone = dg.solve(dg.Problem(X, y, loss, strength, weights, intercept), tol=1e-8)
        assert result.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-8)
        assert result.certificate.proves(1e-8)


@pytest.mark.parametrize("loss", ["smoothed_hinge", "multinomial"])
def test_warm_starts_in_the_duals_save_epochs(loss: str) -> None:
    X, y = data(400)
    y = y if loss == "multinomial" else y > 0
    options = dict(solver="sdca", tol=1e-7, max_epochs=50_000)
    seen: list[dg.Record] = []
    warm = dg.solve_path(X, y, loss, STRENGTHS, callback=seen.append, **options)
    cold = [dg.solve_path(X, y, loss, [strength], callback=seen.append, **options) for strength in STRENGTHS]
    assert warm.certified
    assert all(path.certified for path in cold)
    warm_epochs = sum(result.trace[-1].epoch for result in warm.results[1:])
    cold_epochs = sum(path.results[0].trace[-1].epoch for path in cold[1:])
    assert warm_epochs < 0.9 * cold_epochs


def test_duals_are_kept_and_weights_follow_from_them() -> None:
    """α of a stronger penalty is feasible for a weaker one, where w(α) is larger by the ratio of the strengths."""
    X, y = data()
    strong = dg.solve(dg.Problem(X, y > 0, "hinge", 1e-2), "sdca", tol=1e-6)
    weaker = dg.Problem(X, y > 0, "hinge", 5e-3)
    kept = weaker.dual(strong.duals, weaker.weights_of(strong.duals))
    weak = dg.solve(weaker, "sdca", tol=0.0, start=strong, max_epochs=1, record_every=1)
    assert weak.trace[0].dual >= kept - 1e-12
    assert kept > 0.5 * strong.certificate.dual


def test_a_start_and_a_callback_reach_the_runs() -> None:
    X, y = data()
    first = dg.solve_path(X, y, "multinomial", [1e-2], tol=1e-9)
    again = dg.solve_path(X, y, "multinomial", [1e-2, 5e-3], tol=1e-8, start=first.results[0])
    assert again.results[0].trace[-1].epoch == 0
    stopped = dg.solve_path(X, y > 0, "hinge", [1e-2], solver="sdca", tol=0.0, callback=lambda record: True)
    assert not stopped.certified


def test_a_frame_has_a_row_for_each_strength() -> None:
    path = dg.solve_path(small_rows(), np.resize([0, 1, 1], 24), "hinge", [1e-1, 1e-3, 1e-2])
    frame = path.to_frame()
    assert frame["strength"].tolist() == [1e-1, 1e-3, 1e-2]
    assert (frame["status"] == "CERTIFIED").all()
    assert (frame["gap"] >= 0).all()
    assert len(path) == 3
    assert repr(path) == "Path(3 strengths from 0.001 to 0.1, 3 certified)"


@pytest.mark.parametrize("bad", [[], [0.0], [1e-2, -1.0], [np.nan], [[1e-2]], [np.inf]])
def test_bad_strengths_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="strengths needs one or more finite numbers > 0"):
        dg.solve_path(small_rows(), np.resize([0, 1], 24), "hinge", bad)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_a_sparse_path_starts_where_all_weights_are_zero(loss: str) -> None:
    problem = small_problem(loss, intercept=True, l1_ratio=1.0)
    X, y = problem.rows.arrays.values, problem.labels
    path = dg.solve_path(X, y, loss, None, intercept=True, l1_ratio=1.0, tol=1e-6)
    assert path.certified
    assert len(path) == 100
    assert path.strengths[0] == pytest.approx(problem.strength_max)
    assert not path.results[0].weights.any()
    assert np.count_nonzero(path.results[-1].weights) >= 3


def test_a_grid_of_its_own_needs_an_l1_part() -> None:
    with pytest.raises(ValueError, match="strengths=None needs an L1 part"):
        dg.solve_path(np.eye(2), [1, -1], "hinge", None)
    with pytest.raises(ValueError, match="the softmax model needs the L2 penalty"):
        dg.solve_path(np.eye(3), [0, 1, 2], "multinomial", l1_ratio=0.5)


def test_plot_draws_the_weights_against_falling_strengths() -> None:
    pytest.importorskip("matplotlib")
    X, y = data()
    path = dg.solve_path(X, y > 0, "logistic", [1e-3, 1e-1, 1e-2], l1_ratio=1.0)
    axes = path.plot(names=list("abcdef"), labels=2)
    weights = np.array([path.results[place].weights for place in (1, 2, 0)])
    drawn = np.flatnonzero(weights.any(axis=0))
    assert len(axes.lines) == len(drawn)
    for line, column in zip(axes.lines, drawn, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [1e-1, 1e-2, 1e-3])
        np.testing.assert_array_equal(line.get_ydata(), weights[:, column])
    assert axes.get_xscale() == "log"
    assert axes.xaxis_inverted()
    largest = np.argsort(-np.abs(weights[-1]))[:2]
    assert [text.get_text() for text in axes.texts] == ["abcdef"[column] for column in largest]
    assert [text.get_text() for text in path.plot(labels=1).texts] == [f"column {largest[0]}"]
    assert path.plot(ax=axes) is axes
    assert axes.xaxis_inverted(), "drawn twice, the axis still falls"


def test_a_path_of_zeros_has_no_lines() -> None:
    pytest.importorskip("matplotlib")
    X, y = data()
    axes = dg.solve_path(X, y > 0, "logistic", [10.0], l1_ratio=1.0).plot()
    assert not axes.lines
    assert not axes.texts


def test_plot_refuses_what_it_cannot_draw() -> None:
    X, y = data()
    with pytest.raises(ValueError, match="one name for each of the 6 columns, got 2"):
        dg.solve_path(X, y > 0, "logistic", [1e-2]).plot(names=["a", "b"])
    with pytest.raises(ValueError, match="one weight for each column, got a softmax path"):
        dg.solve_path(X, y, "multinomial", [1e-2]).plot()
