"""What the theorems promise: how many updates are sufficient, and where the optimum lies."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, nan

import numpy as np
import pytest

import dualgap as dg
from dualgap.solvers.primal import StepFacts
from examples import small_problem


@pytest.mark.parametrize(("n", "strength", "updates"), [(452, 0.05, 401_549), (48_842, 0.1, 629_840)])
def test_the_reports_stopping_times(n: int, strength: float, updates: int) -> None:
    assert dg.sufficient_updates(n, strength, 1e-3) == updates


@pytest.mark.parametrize(
    ("n", "strength", "gap", "lipschitz", "updates"),
    [
        # λn ≤ 2L²: no epochs come before, T = n + 20L²/(λε).
        (100, 0.01, 0.1, 1.0, 100 + 20_000),
        (100, 0.02, 0.1, 1.0, 100 + 10_000),
        (100, 0.01, 0.1, 2.0, 100 + 80_000),
        # 1000·ln(5) = 1609.4…
        (1000, 0.01, 0.5, 1.0, 1610 + 1000 + 4000),
    ],
)
def test_sufficient_updates_for_lipschitz_losses_are_those_of_the_theorem(
    n: int, strength: float, gap: float, lipschitz: float, updates: int
) -> None:
    assert dg.sufficient_updates(n, strength, gap, lipschitz=lipschitz) == updates


@pytest.mark.parametrize("strength", ["0.05", "0.1", "0.03", "0.007", "1e-5", "0.7"])
@pytest.mark.parametrize("gap", ["1e-3", "0.1", "0.3", "1e-6", "0.007"])
def test_no_update_more_or_less_by_rounding(strength: str, gap: str) -> None:
    exact = ceil(20 / (Fraction(strength) * Fraction(gap)))
    assert dg.sufficient_updates(1, float(strength), float(gap)) == 1 + exact


def test_sufficient_updates_for_smooth_losses_are_those_of_the_theorem() -> None:
    # (n + β/λ)·ln((n + β/λ)/ε) = 1100·ln(1.1e6) = 15301.9…
    assert dg.sufficient_updates(1000, 0.01, 1e-3, smoothness=1.0) == 15_302
    # Halving the gap adds (n + β/λ)·ln 2 = 762.46… updates.
    more = dg.sufficient_updates(1000, 0.01, 5e-4, smoothness=1.0) - 15_302
    assert more in (762, 763)
    assert dg.sufficient_updates(1000, 0.01, 1e-3, smoothness=0.25) < 15_302


@pytest.mark.parametrize("smoothness", [None, 1.0])
def test_more_is_needed_for_a_smaller_gap_or_strength(smoothness: float | None) -> None:
    base = dg.sufficient_updates(500, 0.01, 1e-2, smoothness=smoothness)
    assert isinstance(base, int)
    assert dg.sufficient_updates(500, 0.01, 1e-3, smoothness=smoothness) > base
    assert dg.sufficient_updates(500, 0.001, 1e-2, smoothness=smoothness) > base


@pytest.mark.parametrize("option", ["n", "strength", "gap", "lipschitz", "smoothness"])
@pytest.mark.parametrize("value", [0, -1.0, nan, inf, "many"])
def test_bad_numbers_are_refused(option: str, value: object) -> None:
    arguments = {"n": 100, "strength": 0.1, "gap": 1e-3, option: value}
    with pytest.raises(ValueError, match=f"{option} > 0"):
        dg.sufficient_updates(**arguments)  # type: ignore[arg-type]


@pytest.mark.kernels
@pytest.mark.parametrize("loss", dg.LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_ball_that_pegasos_projects_onto_holds_the_optimum(loss: str, intercept: bool) -> None:
    # λ‖w*‖² = (1/S) Σ s_i(−φ_i*(−α_i*) − φ_i(z_i*)) ≤ (1/S) Σ s_i φ_i(0) = P(0), because −φ*(−α) ≤ φ(0) for every α.
    problem = small_problem(loss, weights=True, intercept=intercept)
    result = dg.solve(problem, dg.SDCA(), tol=1e-3, max_epochs=400)
    radius = dg.Pegasos(projection=True).radius(StepFacts.of(problem))
    # P is λ-strongly convex: the answer is at most √(2·gap/λ) away from w*.
    nearest = float(np.linalg.norm(result.weights)) - np.sqrt(2.0 * result.certificate.gap / problem.strength)
    assert nearest <= radius
    assert radius**2 * problem.strength == pytest.approx(problem.primal_at_zero)
