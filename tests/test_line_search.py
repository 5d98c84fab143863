"""The line search: few trials find where a rising slope passes zero, smooth or with kinks, and none is outside the bracket."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from dualgap.linalg.line_search import MAX_GROWTH, bracket, next_trial

Slope = Callable[[float], tuple[float, float]]


def trials(slope: Slope, is_smooth: bool, tolerance: float = 1e-3, first: float = 1.0) -> list[float]:
    """The step sizes tried until the slope is at most `tolerance` times the slope at 0."""
    start = slope(0.0)[0]
    known, tried = bracket(start), [first]
    while len(tried) < 60:
        here, derivative = slope(tried[-1])
        if abs(here) <= tolerance * abs(start):
            return tried
        known, step_size = next_trial(known, tried[-1], here, derivative, is_smooth)
        assert not np.isnan(step_size)
        tried.append(step_size)
    return tried


def logistic(along: np.ndarray) -> Slope:
    """The slope of Σ log(1 + e^(−t·a)) + 0.005 t² and its derivative."""

    def slope(t: float) -> tuple[float, float]:
        p = 1.0 / (1.0 + np.exp(t * along))
        return float(-along @ p + 0.01 * t), float((along * along) @ (p * (1.0 - p)) + 0.01)

    return slope


def hinges(kinks: np.ndarray, steep: np.ndarray, gamma: float) -> Slope:
    """The slope of hinges along a line, each passing its kink within γ; −1 at the start."""

    def slope(t: float) -> tuple[float, float]:
        passed = np.clip((t - kinks) / gamma, 0.0, 1.0)
        return float(-1.0 + steep @ passed), float(steep @ ((passed > 0.0) & (passed < 1.0)) / gamma + 1e-6)

    return slope


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_a_smooth_slope_takes_few_trials(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    tried = trials(logistic(scale * (rng.normal(size=40) + 0.5)), is_smooth=True)
    assert len(tried) <= 9
    assert all(later <= MAX_GROWTH * earlier for earlier, later in pairwise(tried))


@pytest.mark.parametrize("seed", range(20))
def test_kinks_near_the_start_are_found_without_halving_all_the_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinks = np.concatenate([rng.uniform(3e-4, 4e-4, size=3), rng.uniform(0.0, 1.0, size=50)])
    slope = hinges(kinks, np.concatenate([[0.5, 0.5, 0.5], np.full(50, 2.0)]), gamma=1e-4)
    tried = trials(slope, is_smooth=False, tolerance=0.2)
    assert abs(slope(tried[-1])[0]) <= 0.2
    assert len(tried) <= 16


@pytest.mark.parametrize("here", [float("nan"), float("inf")])
def test_a_trial_without_a_finite_slope_is_halved(here: float) -> None:
    known, t = bracket(-1.0), 1.0
    for _ in range(5):
        known, step_size = next_trial(known, t, here, here, is_smooth=True)
        assert step_size == pytest.approx(t / 2)
        t = step_size


def test_without_a_second_derivative_a_step_doubles() -> None:
    assert next_trial(bracket(-1.0), 1.0, -0.9, 0.0, is_smooth=False)[1] == 2.0


def test_a_linear_slope_is_solved_by_the_second_trial() -> None:
    for is_smooth in (False, True):
        assert next_trial(bracket(-1.0), 1.0, -0.6, 0.4, is_smooth)[1] == pytest.approx(2.5)
