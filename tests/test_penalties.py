"""Laws over the table of penalties, and the judge's certificates with an L1 part against exact arithmetic and cvxpy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap.penalties import L1, penalty_of
from examples import FORMS, small_problem
from independent import solved

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))
from exact import Facts, truth_of

RATIOS = (0.0, 0.3, 0.5, 0.95, 1.0)
PENALTIES = [penalty_of(ratio) for ratio in RATIOS]


def twin_value(ratio: float, weights: np.ndarray) -> float:
    """r(w), term by term."""
    return sum(ratio * abs(w) + (1 - ratio) / 2 * w * w for w in weights.tolist())


def combination_of(penalty: dg.Penalty, random: np.random.Generator) -> np.ndarray:
    """Numbers in the domain of r*, some of them at its ends and at zero."""
    x = random.normal(size=40) * (1.0 if penalty.has_dual_weights else 0.3)
    x[:4] = (0.0, penalty.l1_ratio, -penalty.l1_ratio, 0.5 * penalty.l1_ratio)
    return x if penalty.has_dual_weights else np.clip(x, -1.0, 1.0)


def test_the_table_has_the_penalty_of_every_ratio() -> None:
    assert {type(penalty) for penalty in PENALTIES} == set(dg.PENALTIES.values())
    assert [penalty.l1_ratio for penalty in PENALTIES] == list(RATIOS)


@pytest.mark.parametrize("ratio", [-0.1, 1.5, np.nan, "l1", None, True])
def test_a_ratio_outside_its_range_is_refused(ratio: object) -> None:
    with pytest.raises(ValueError, match="l1_ratio needs a number from 0"):
        penalty_of(ratio)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_value_agrees_with_its_twin(penalty: dg.Penalty) -> None:
    weights = np.random.default_rng(1).normal(size=30)
    assert penalty.value(weights) == pytest.approx(twin_value(penalty.l1_ratio, weights), rel=1e-13)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_fenchel_young_holds_and_is_tight_at_the_dual_weights(penalty: dg.Penalty) -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        x, w = combination_of(penalty, random), random.normal(size=40) * (random.random(40) < 0.6)
        difference = penalty.value(w) + penalty.conjugate(x) - w @ x
        parts = penalty.gap(w, x)
        total = parts.linear + 0.5 * penalty.l2_ratio * (parts.difference @ parts.difference)
        assert parts.linear >= 0.0
        assert total == pytest.approx(difference, abs=1e-12)
        if penalty.has_dual_weights:
            best = penalty.dual_weights(x)
            assert penalty.value(best) + penalty.conjugate(x) == pytest.approx(best @ x, abs=1e-12)
        else:
            tight = np.where(np.abs(x) == 1.0, x * np.abs(w), 0.0)
            assert penalty.value(tight) + penalty.conjugate(x) == pytest.approx(tight @ x, abs=1e-12)


@pytest.mark.parametrize("penalty", [p for p in PENALTIES if p.has_dual_weights], ids=str)
def test_dual_weights_are_the_gradient_of_the_conjugate(penalty: dg.Penalty) -> None:
    random, h = np.random.default_rng(3), 1e-6
    x = random.normal(size=12)
    for j, gradient in enumerate(penalty.dual_weights(x)):
        e = np.eye(12)[j] * h
        assert gradient == pytest.approx((penalty.conjugate(x + e) - penalty.conjugate(x - e)) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_moreau_and_the_minimum_that_defines_prox(penalty: dg.Penalty) -> None:
    random, step = np.random.default_rng(4), 0.7
    w = random.normal(size=30)
    u = penalty.prox(w, step)
    # w = prox(w) + step·x with x a subgradient of r at prox(w), so that Fenchel–Young is an equality there.
    x = (w - u) / step
    assert penalty.value(u) + penalty.conjugate(x * (1 - 1e-15)) == pytest.approx(u @ x, abs=1e-12)
    least = step * penalty.value(u) + 0.5 * (u - w) @ (u - w)
    for _ in range(50):
        other = u + 0.1 * random.normal(size=30)
        assert step * penalty.value(other) + 0.5 * (other - w) @ (other - w) > least


def test_conjugate_of_l1_is_infinite_outside_its_domain() -> None:
    assert L1().conjugate(np.array([0.0, 1.0 + 1e-12])) == np.inf
    with pytest.raises(ValueError, match="take the weights of a solver"):
        L1().dual_weights(np.zeros(2))


def exact_gap(problem: dg.Problem, X: object, judged: object) -> tuple[float, object]:
    facts = Facts(
        X,
        problem.labels,
        problem.loss,
        problem.strength,
        problem.sample_weight,
        problem.intercept,
        l1_ratio=problem.l1_ratio,
    )
    truth = truth_of(facts, judged.weights, judged.intercept, judged.duals)  # type: ignore[attr-defined]
    assert truth.outside == 0
    return float(truth.gap - truth.slack), truth


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", dg.LOSSES)
def test_no_certificate_is_below_the_exact_gap(loss: str, intercept: bool, ratio: float) -> None:
    random = np.random.default_rng(5)
    for form, weights in zip(FORMS, (False, True), strict=True):
        problem = small_problem(loss, form, weights, intercept, l1_ratio=ratio)
        X = np.vstack([b.toarray() if hasattr(b, "toarray") else b for _, b in problem.rows.blocks()])
        for size in (0.0, 0.1, 1.0):
            w = size * random.normal(size=5) * (random.random(5) < 0.7)
            duals = None if size == 0.1 else 2.0 * random.normal(size=24)
            judged = dg.certify(problem, w, 0.1, duals)
            found, truth = exact_gap(problem, X, judged)
            certificate = judged.certificate
            assert found <= certificate.gap
            assert certificate.gap - certificate.rounding <= found + 1e-9 * (1.0 + certificate.primal)
            assert abs(float(truth.primal) - certificate.primal) <= certificate.primal_error + 1e-300


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "squared_hinge", "poisson"])
def test_the_judge_proves_an_independent_optimum(loss: str, intercept: bool, ratio: float) -> None:
    problem = small_problem(loss, "dense", True, intercept, strength=0.05, l1_ratio=ratio)
    best, weights, b = solved(problem)
    certificate = dg.certify(problem, weights, b, tol=1e-5).certificate
    assert certificate.primal == pytest.approx(best, rel=1e-6)
    # Duals that are scaled into the domain lose to first order in the error of the weights.
    assert certificate.relative_gap < 1e-4


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", dg.LOSSES)
def test_strength_max_is_where_zero_weights_are_optimal(loss: str, intercept: bool, ratio: float) -> None:
    problem = small_problem(loss, "csr", True, intercept, l1_ratio=ratio)
    largest = problem.strength_max
    _, weights, _ = solved(small_problem(loss, "csr", True, intercept, 1.001 * largest, l1_ratio=ratio))
    assert np.abs(weights).max() < 1e-5
    if not problem.loss.has_kink:
        _, weights, _ = solved(small_problem(loss, "csr", True, intercept, 0.97 * largest, l1_ratio=ratio))
        assert np.abs(weights).max() > 1e-4


def test_row_blocks_refuse_an_l1_part() -> None:
    blocks = dg.Blocks(np.eye(3), [1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="row blocks need the L2 penalty"):
        dg.Problem(blocks, loss="hinge", strength=0.1, l1_ratio=0.5)


def test_no_strength_makes_the_weights_of_an_l2_penalty_zero() -> None:
    assert small_problem("logistic").strength_max == np.inf
