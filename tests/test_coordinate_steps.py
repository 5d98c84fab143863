"""Coordinate steps of a pass: nearly the gain of the exact dual step, and the row's term of the gap."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from dualgap.kernels.compile import kernel
from dualgap.kernels.families import kernel_loss
from examples import loss_variants

pytestmark = pytest.mark.kernels


@kernel
def all_coordinate_steps(loss, scores, labels, duals, curvatures, new, gaps, best, exact):
    """Coordinate steps with their gaps, and the exact dual steps and gaps."""
    for i in range(new.size):
        new[i], gaps[i] = loss.coordinate_step(scores[i], labels[i], duals[i], curvatures[i])
        best[i] = loss.dual_step(scores[i], labels[i], duals[i], curvatures[i])
        exact[i] = loss.fenchel_gap(scores[i], labels[i], duals[i])


def random_rows(count: int) -> list[np.ndarray]:
    """Scores, labels, logistic duals and curvatures of all sizes: far from the best, near it, and at both ends."""
    rng = np.random.default_rng(3)
    labels = rng.choice([-1.0, 1.0], count)
    scores = rng.normal(size=count) * np.exp(2.0 * rng.normal(size=count))
    away = rng.normal(size=count) * np.exp(rng.uniform(-15.0, 2.0, count))
    with np.errstate(over="ignore"):
        inside = 1.0 / (1.0 + np.exp(labels * scores + away))
    inside[:50], inside[50:100] = 0.0, 1.0
    return [scores, labels, labels * inside, np.exp(4.0 * rng.normal(size=count))]


def test_logistic_coordinate_step_gains_98_percent() -> None:
    scores, labels, duals, curvatures = columns = random_rows(5000)
    new, gaps, best, exact = (np.empty(scores.size) for _ in range(4))
    all_coordinate_steps(kernel_loss(dg.Logistic()), *columns, new, gaps, best, exact)
    loss = dg.Logistic()
    assert ((labels * new >= 0.0) & (labels * new <= 1.0)).all()

    def gain(found: np.ndarray) -> np.ndarray:
        moves = found - duals
        rise = loss.negative_conjugate(found, labels) - loss.negative_conjugate(duals, labels)
        return np.asarray(rise - moves * scores - 0.5 * curvatures * moves**2)

    # Where less is to be gained than its sum's rounding, nothing can be seen.
    seen = gain(best) > 1e-10 * (1.0 + np.abs(scores) + curvatures * (best - duals) ** 2)
    assert seen.sum() > 2000
    assert (gain(new)[seen] >= 0.98 * gain(best)[seen]).all()
    np.testing.assert_allclose(gaps, exact, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("loss", [loss for loss in loss_variants() if loss.name != "logistic"], ids=repr)
def test_other_losses_take_the_exact_step(loss: dg.Loss) -> None:
    scores, labels, duals, curvatures = random_rows(200)
    columns = (scores, labels, loss.clip(duals, labels), curvatures)
    new, gaps, best, exact = (np.empty(scores.size) for _ in range(4))
    all_coordinate_steps(kernel_loss(loss), *columns, new, gaps, best, exact)
    assert np.array_equal(new, best)
    assert np.array_equal(gaps, exact)


def test_remainder_of_the_entropy_after_second_order() -> None:
    loss, step = dg.Logistic(), kernel_loss(dg.Logistic())
    for label in (-1.0, 1.0):
        for a in (1e-6, 0.03, 0.5, 0.999):
            for part in (-0.8, -0.2, -0.049, -1e-3, 1e-3, 0.049, 0.2, 0.8):
                dual, move = label * a, label * part * min(a, 1.0 - a)
                ends = loss.negative_conjugate(np.array([dual, dual + move]), np.full(2, label))
                near = (
                    step.conjugate_slope(label, dual) * move
                    - 0.5 * step.conjugate_second_derivative(label, dual) * move**2
                )
                remainder = step.conjugate_remainder(label, dual, move)
                assert remainder == pytest.approx(ends[1] - ends[0] - near, rel=2e-3, abs=1e-15)
