"""Exact arithmetic against numbers that floats hold exactly, the laws of duality, and a judge that can say no."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dyadic import Dyadic, ExactRows
from exact import EXACT_LOSSES, Facts, Shrink, Truth, truth_of
from exact_softmax import softmax_truth
from scipy import sparse
from verdict import Claim, beaten, exact_truth, violations

import dualgap as dg
from reference_losses import table_of

AWKWARD = np.array([0.0, -0.0, 5e-324, -2.2e-308, 0.1, -1.0 / 3.0, 1e16, -1e200, 1.0])
# Numbers of losses that floats and their squares hold exactly.
EVEN_NUMBERS = {"gamma": 0.5, "epsilon": 0.25, "tau": 0.25, "delta": 1.5}
every_loss = pytest.mark.parametrize("name", dg.LOSSES)


def even_loss(name: str) -> Any:
    kind = dg.LOSSES[name]
    return kind(
        **{key: value for key, value in EVEN_NUMBERS.items() if key in getattr(kind, "__dataclass_fields__", {})}
    )


def even_facts(name: str, intercept: bool = False, is_weighted: bool = True) -> Facts:
    """Eight rows of quarters, so that float64 has no rounding anywhere."""
    random = np.random.default_rng(5)
    X = random.integers(-8, 9, (8, 3)) / 4.0
    loss = even_loss(name)
    y = random.integers(-8, 9, 8) / 4.0
    y = np.where(np.arange(8) % 2 == 0, 1.0, -1.0) if loss.task == "classification" else y
    y = y if loss.smallest_label < 0.0 else np.abs(y)
    weights = np.array([1.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]) if is_weighted else None
    return Facts(X, y, loss, 0.5, weights, intercept)


def even_duals(facts: Facts) -> np.ndarray:
    """Duals of halves and quarters inside the domain."""
    random = np.random.default_rng(6)
    return facts.loss.clip(random.integers(-4, 5, 8) / 8.0, facts.labels)


@every_loss
def test_every_loss_has_an_exact_formula(name: str) -> None:
    assert name in EXACT_LOSSES, f"write {name} into SHAPES of tests/fuzz/exact.py"


def test_sums_and_products_have_no_rounding() -> None:
    exact, fractions = Dyadic.of(AWKWARD), [Fraction(value) for value in AWKWARD.tolist()]
    squares, sums = exact * exact, exact + Dyadic.of(AWKWARD[::-1])
    assert [squares[i].fraction() for i in range(9)] == [value * value for value in fractions]
    assert [sums[i].fraction() for i in range(9)] == [a + b for a, b in zip(fractions, fractions[::-1], strict=True)]
    assert (exact - exact).sum().fraction() == 0
    assert Dyadic.of(0.1).fraction() == Fraction(0.1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_products_with_rows_are_exact(form: Any) -> None:
    X = np.array([[0.1, 0.0], [0.0, 0.0], [1e-300, 1e16]])
    rows = ExactRows(form(X))
    scores, combination = rows.scores(Dyadic.of([0.3, 1.0])), rows.combination(Dyadic.of([1.0, 1.0, 3.0]))
    assert scores[0].fraction() == Fraction(0.1) * Fraction(0.3)
    assert scores[2].fraction() == Fraction(1e-300) * Fraction(0.3) + Fraction(1e16)
    assert scores[1].fraction() == 0
    assert combination[0].fraction() == Fraction(0.1) + 3 * Fraction(1e-300)


@every_loss
def test_p_and_d_are_those_of_the_table(name: str) -> None:
    facts = even_facts(name)
    table, duals, weights = table_of(facts.loss), even_duals(facts), np.array([0.25, -0.5, 1.0])
    truth = truth_of(facts, weights, 0.0, duals)
    s = facts.sample_weight
    scores, total = facts.X @ weights, s.sum()
    losses = [table.value(z, y) for z, y in zip(scores, facts.labels, strict=True)]
    conjugates = [table.dual_value(a, y) for a, y in zip(duals, facts.labels, strict=True)]
    v = (s * duals) @ facts.X / total
    assert float(truth.primal) == pytest.approx(s @ losses / total + 0.25 * weights @ weights, rel=1e-15)
    assert float(truth.dual) == pytest.approx(s @ conjugates / total - v @ v / (2 * 0.5), rel=1e-14, abs=1e-16)
    assert truth.outside == 0


@every_loss
@pytest.mark.parametrize("intercept", [False, True])
def test_no_feasible_dual_is_above_a_primal(name: str, intercept: bool) -> None:
    facts = even_facts(name, intercept)
    random = np.random.default_rng(7)
    for size in (1e-3, 1.0, 1e3):
        weights, duals = size * random.normal(size=3), facts.loss.clip(size * random.normal(size=8), facts.labels)
        assert truth_of(facts, weights, random.normal() if intercept else 0.0, duals).gap >= 0


@every_loss
def test_a_dual_outside_its_domain_is_counted(name: str) -> None:
    facts = even_facts(name)
    ends = facts.loss.clip(np.array([-1e300, 1e300]), np.ones(2))
    if np.array_equal(ends, [-1e300, 1e300]):
        pytest.skip("the domain is the whole line")
    duals = even_duals(facts)
    if facts.loss.smallest_label == 0.0:
        duals[0] = np.nextafter(facts.labels[0], np.inf)
    else:
        duals[0] = np.nextafter(facts.loss.clip(np.array([-1e300]), facts.labels[:1])[0], -np.inf)
    assert truth_of(facts, np.zeros(3), 0.0, duals).outside == 1


def test_shrinking_satisfies_the_constraint_exactly() -> None:
    s, duals = np.array([0.1, 0.7, 1.3]), np.array([0.3, -0.9, 0.2])
    shrink = Shrink.of(Dyadic.of(s), Dyadic.of(duals))
    moved = [Fraction(a) * (shrink.positive if a > 0 else shrink.negative) for a in duals.tolist()]
    assert sum(Fraction(w) * a for w, a in zip(s.tolist(), moved, strict=True)) == 0
    assert Shrink.of(Dyadic.of(s), Dyadic.of(np.zeros(3))) == (1, 1)
    assert Shrink.of(Dyadic.of(s), Dyadic.of(-abs(duals))) == (1, 0)


def softmax_of(facts: Facts, weights: np.ndarray, b: float, duals: np.ndarray) -> Truth:
    """The softmax model of two classes that is the given logistic problem: W = ±w/2 and twice the strength."""
    labels = (facts.labels > 0).astype(np.intp)
    both = replace(facts, labels=labels, loss=None, strength=2.0 * facts.strength)
    half = np.column_stack([-weights, weights]) / 2.0
    return softmax_truth(both, half, np.array([-b, b]) / 2.0, np.column_stack([-duals, duals]))


@pytest.mark.parametrize("intercept", [False, True])
def test_two_classes_are_the_logistic_problem(intercept: bool) -> None:
    facts = even_facts("logistic", intercept, is_weighted=False)
    a = np.array([0.5, 0.25, 1e-30, 1e-30, 0.125, 0.375, 1.0, 1.0])  # both signs have the same sum
    duals, weights = facts.labels * a, np.array([30.0, -20.0, 0.1])
    one, other = truth_of(facts, weights, 0.25, duals), softmax_of(facts, weights, 0.25, duals)
    for exact, same in ((one.primal, other.primal), (one.dual, other.dual)):
        assert abs(exact - same) <= 1e-40 * abs(exact)


@pytest.mark.parametrize("intercept", [False, True])
def test_softmax_duality_holds_for_any_probabilities(intercept: bool) -> None:
    random = np.random.default_rng(8)
    X, labels = random.normal(size=(12, 4)) + 1e5, np.arange(12) % 3
    facts = Facts(X, labels, None, 1e-3, random.uniform(0.5, 2.0, 12), intercept, 3)
    for sharpness in (0.1, 10.0):
        p = random.dirichlet(np.full(3, sharpness), 12) * 0.999
        duals = -p
        duals[np.arange(12), labels] = 0.5  # the own entry does not count: it follows from the others
        truth = softmax_truth(facts, random.normal(size=(4, 3)), random.normal(size=3), duals)
        assert truth.outside == 0
        assert truth.gap >= 0
    duals[3, (labels[3] + 1) % 3] = -1.5
    assert softmax_truth(facts, np.zeros((4, 3)), np.zeros(3), duals).outside == 1


def proven_claim(tol: float = 1e-6) -> tuple[Claim, Truth]:
    """A solved problem whose certificate has the new fields, with numbers that are true."""
    facts = even_facts("squared")
    problem = dg.Problem(facts.X, facts.labels, facts.loss, facts.strength, facts.sample_weight)
    found = dg.solve(problem, tol=tol)
    claim = Claim(facts, 1.001 * found.weights, 0.0, found.duals, None, "CERTIFIED", tol)
    truth = exact_truth(claim)
    gap = float(truth.gap) * (1.0 + 1e-12)
    primal, dual = float(truth.primal), float(truth.dual)
    certificate = SimpleNamespace(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / (primal * (1.0 - 1e-12)),
        rounding=1e-15,
        primal_error=1e-15,
        dual_error=1e-15,
        reference=1e-12 * primal,
    )
    return replace(claim, certificate=certificate, tol=10.0 * gap / primal), truth


def kinds_of(
    claim: Claim, truth: Truth, tol: float | None = None, status: str | None = None, **changed: float
) -> set[str]:
    certificate = SimpleNamespace(**{**vars(claim.certificate), **changed})
    other = replace(claim, certificate=certificate, tol=tol or claim.tol, status=status or claim.status)
    return {violation.kind for violation in violations(other, truth)}


def test_a_true_certificate_has_no_violation() -> None:
    claim, truth = proven_claim()
    assert kinds_of(claim, truth) == set()
    assert kinds_of(claim, truth, tol=1e-12, status="STALLED") == set()


def test_a_false_certificate_is_called_false() -> None:
    claim, truth = proven_claim()
    c = claim.certificate
    lower = {"gap": 0.9 * c.gap, "relative_gap": 0.9 * c.relative_gap}
    assert kinds_of(claim, truth, **lower) == {"low_gap", "low_relative_gap"}
    assert kinds_of(claim, truth, relative_gap=0.9 * c.relative_gap) == {"low_relative_gap"}
    assert kinds_of(claim, truth, tol=0.5 * c.relative_gap, gap=0.0, relative_gap=0.0) >= {"false_old", "low_gap"}
    assert kinds_of(claim, truth, gap=c.gap * (1.0 - 1e-9)) == {"low_gap"}


def test_what_contradicts_itself_is_found() -> None:
    claim, truth = proven_claim()
    c = claim.certificate
    assert kinds_of(claim, truth, tol=0.5 * c.relative_gap) >= {"status", "false_old"}
    assert kinds_of(claim, truth, status="STALLED") == {"not_called_certified"}
    assert kinds_of(claim, truth, gap=float("nan"), relative_gap=0.0) >= {"not_finite"}
    assert kinds_of(claim, truth, primal=c.primal + 1e-12) == {"primal_outside"}
    assert kinds_of(claim, truth, dual=c.dual - 1e-12) == {"dual_outside"}
    assert kinds_of(claim, truth, reference=10.0 * c.primal) >= {"reference"}


def test_a_dual_outside_or_a_better_point_is_found() -> None:
    claim, truth = proven_claim()
    assert kinds_of(claim, truth._replace(outside=1)) == {"outside_domain"}
    better = truth._replace(primal=truth.primal - 2 * truth.gap)
    assert [violation.kind for violation in beaten(claim, truth, better)] == ["beaten"]
    assert beaten(claim, truth, truth) == []
