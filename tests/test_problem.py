"""A problem checks what it is given, and computes P, D and w(α) by their formulas."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from examples import small_problem

X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0], [0.0, 0.0]])
Y = np.array([1, -1, 1, -1])


@pytest.mark.parametrize(
    "labels", [[1, -1, 1, -1], [1, 0, 1, 0], ["b", "a", "b", "a"], [True, False, True, False], [7.5, -3, 7.5, -3]]
)
def test_labels_of_any_two_values(labels: list) -> None:
    problem = dg.Problem(X, labels)
    np.testing.assert_array_equal(problem.labels, Y)
    assert problem.classes.tolist() == sorted(set(labels))
    result = dg.solve(problem, max_epochs=50)
    assert set(result.predict(X).tolist()) <= set(labels)


def test_a_column_of_labels_is_one_label_a_row() -> None:
    np.testing.assert_array_equal(dg.Problem(X, Y.reshape(-1, 1)).labels, Y)


def test_primal_dual_and_weights_by_their_formulas() -> None:
    s = np.array([1.0, 2.0, 0.5, 0.0])
    problem = dg.Problem(X, Y, dg.SmoothedHinge(0.5), 0.3, sample_weight=s, intercept=True)
    w, b, a = np.array([0.2, -0.1]), 0.05, np.array([0.3, 0.0, 1.0, 0.7])
    alpha = Y * a
    slack = 1 - Y * (X @ w + b)
    loss = np.where(slack <= 0, 0, np.where(slack >= 0.5, slack - 0.25, slack**2))
    assert problem.primal(problem.scores(w, b), w) == pytest.approx(s @ loss / 3.5 + 0.15 * w @ w)
    expected = X.T @ (s * alpha) / (0.3 * 3.5)
    np.testing.assert_allclose(problem.weights_of(alpha), expected)
    assert problem.dual(alpha, expected) == pytest.approx(s @ (a - 0.25 * a**2) / 3.5 - 0.15 * expected @ expected)
    assert problem.primal_at_zero == pytest.approx(0.75)


def test_another_loss_on_the_same_rows() -> None:
    problem = dg.Problem(X, Y)
    other = problem.with_loss(dg.SquaredHinge())
    assert other.rows is problem.rows
    assert (problem.loss, other.loss) == (dg.Hinge(), dg.SquaredHinge())
    with pytest.raises(ValueError, match="same labels"):
        problem.with_loss(dg.Squared())


REFUSED = {
    "strength zero": (dict(strength=0.0), "strength"),
    "strength negative": (dict(strength=-1.0), "strength"),
    "strength nan": (dict(strength=float("nan")), "strength"),
    "strength infinite": (dict(strength=float("inf")), "strength"),
    "strength text": (dict(strength="much"), "strength"),
    "strength too small": (dict(strength=1e-300), "strength"),
    "one class": (dict(y=[1, 1, 1, 1]), "two labels"),
    "three classes": (dict(y=[1, 2, 3, 1]), "two labels, got 3"),
    "many classes": (dict(X=np.ones((9, 1)), y=list(range(9))), "two labels, got 9"),
    "labels nan": (dict(y=[1.0, np.nan, 1.0, -1.0]), "NaN"),
    "labels complex": (dict(y=[1j, 2j, 1j, 2j]), "complex"),
    "labels mixed": (dict(y=np.array(["a", 1, "a", 1], dtype=object)), "one type"),
    "labels short": (dict(y=[1, -1]), "one value a row"),
    "labels square": (dict(y=np.ones((4, 2))), "one dimension"),
    "one class by weight": (dict(sample_weight=[1, 0, 1, 0]), "positive weight"),
    "weights negative": (dict(sample_weight=[1, -1, 1, 1]), "sample_weight"),
    "weights zero": (dict(sample_weight=[0, 0, 0, 0]), "sample_weight"),
    "weights nan": (dict(sample_weight=[1, np.nan, 1, 1]), "sample_weight"),
    "weights infinite": (dict(sample_weight=[1, np.inf, 1, 1]), "sample_weight"),
    "weights short": (dict(sample_weight=[1, 1]), "sample_weight"),
    "weights square": (dict(sample_weight=np.ones((4, 2))), "sample_weight"),
    "targets text": (dict(y=["a", "b", "c", "d"], loss="squared"), "numbers for a regression"),
    "targets nan": (dict(y=[1.0, np.nan, 1.0, -1.0], loss="squared"), "NaN"),
    "targets complex": (dict(y=[1j, 2j, 1j, 2j], loss="squared"), "complex"),
    "targets too large": (dict(y=[1e200, 0, 0, 0], loss="squared"), "too large"),
    "loss unknown": (dict(loss="hinges"), "did you mean 'hinge'"),
    "loss option unknown": (dict(loss="hinge(gamma=1)"), "no option 'gamma'"),
    "gamma zero": (dict(loss="smoothed_hinge(gamma=0)"), "gamma > 0"),
    "tau one": (dict(loss="quantile(tau=1)", y=[0.0, 1, 2, 3]), "0 < tau < 1"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused_in_one_sentence(case: str) -> None:
    changes, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as refusal:
        dg.Problem(**{"X": X, "y": Y, **changes})
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 250


def test_a_loss_that_is_no_loss() -> None:
    with pytest.raises(TypeError, match="a loss is a name"):
        dg.Problem(X, Y, loss=3)


def test_weights_as_one_number_are_equal_weights() -> None:
    problem = dg.Problem(X, Y, sample_weight=3.0)
    assert problem.given_weight is not None
    assert problem.given_weight.tolist() == [3.0] * 4


@pytest.mark.parametrize("unit", [1e-310, 2.0**-30, 0.75, 1.0, 3.0, 1e200])
def test_a_common_unit_of_the_weights_changes_nothing(unit: float) -> None:
    weights = np.array([1.0, 2.0, 0.0, 0.5])
    problem = dg.Problem(X, Y, sample_weight=unit * weights)
    assert problem.sample_weight is not None
    assert 1.0 <= problem.sample_weight.max() < 2.0
    np.testing.assert_array_equal(problem.given_weight, unit * weights)
    plain = dg.Problem(X, Y, sample_weight=weights)
    assert problem.primal(np.ones(4), np.ones(2)) == pytest.approx(plain.primal(np.ones(4), np.ones(2)), rel=1e-12)


def test_scores_of_regression_and_classification() -> None:
    regression = dg.Problem(X, [1.0, 2.0, 3.0, 4.0], "squared", 1.0)
    assert regression.score(np.array([1.0, 2.0, 3.0, 4.0])) == 1.0
    assert regression.score(np.full(4, 2.5)) == pytest.approx(0.0)
    constant = dg.Problem(X, [2.0, 2.0, 2.0, 2.0], "squared", 1.0)
    assert (constant.score(np.full(4, 2.0)), constant.score(np.zeros(4))) == (1.0, 0.0)
    assert dg.Problem(X, Y).score(np.array([1.0, 1.0, 1.0, -1.0])) == 0.75


def test_test_labels_must_be_those_of_training() -> None:
    problem = dg.Problem(X, ["n", "y", "n", "y"])
    np.testing.assert_array_equal(problem.labels_of(["y", "n"]), [1.0, -1.0])
    with pytest.raises(ValueError, match="as in training"):
        problem.labels_of(["y", "x"])
    np.testing.assert_array_equal(dg.Problem(X, [0.0, 1, 2, 3], "squared").labels_of([5, 6]), [5.0, 6.0])


def test_it_says_what_it_is() -> None:
    assert repr(dg.Problem(X, Y, intercept=True)) == "Problem(4 × 2 dense, Hinge(), strength=0.0001, free intercept)"


def test_another_strength_keeps_what_is_known_of_the_rows() -> None:
    problem = small_problem("huber", "csr", True, True, l1_ratio=0.5)
    sizes = problem.column_sizes
    other = problem.with_strength(0.3)
    made = small_problem("huber", "csr", True, True, strength=0.3, l1_ratio=0.5)
    assert other.column_sizes is sizes
    assert (problem.strength, other.strength, other.lambda_n) == (1e-2, 0.3, made.lambda_n)
    weights = np.ones(5)
    assert other.primal(other.scores(weights, 0.1), weights) == made.primal(made.scores(weights, 0.1), weights)
    with pytest.raises(ValueError, match="strength"):
        problem.with_strength(0.0)
