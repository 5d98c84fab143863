"""What a pass makes of a row: a step that gains all but a little of what the best would, and the row's part of the gap."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from dualgap.kernels.compile import kernel
from dualgap.kernels.conjugates import conjugate_bend, conjugate_rest, conjugate_slope
from dualgap.kernels.steps import dual_step, fenchel_young, kernel_loss
from dualgap.kernels.visits import visit
from examples import loss_variants

pytestmark = pytest.mark.kernels


@kernel
def all_visits(loss, scores, labels, duals, curvatures, new, gaps, best, exact):
    """What visits say of each row, and what exact steps and gaps do."""
    for i in range(new.size):
        new[i], gaps[i] = visit(loss, scores[i], labels[i], duals[i], curvatures[i])
        best[i] = dual_step(loss, scores[i], labels[i], duals[i], curvatures[i])
        exact[i] = fenchel_young(loss, scores[i], labels[i], duals[i])


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


def test_a_logistic_visit_gains_all_but_a_fiftieth() -> None:
    scores, labels, duals, curvatures = columns = random_rows(5000)
    new, gaps, best, exact = (np.empty(scores.size) for _ in range(4))
    all_visits(kernel_loss(dg.Logistic()), *columns, new, gaps, best, exact)
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
def test_other_losses_step_exactly(loss: dg.Loss) -> None:
    scores, labels, duals, curvatures = random_rows(200)
    columns = (scores, labels, loss.clip(duals, labels), curvatures)
    new, gaps, best, exact = (np.empty(scores.size) for _ in range(4))
    all_visits(kernel_loss(loss), *columns, new, gaps, best, exact)
    assert np.array_equal(new, best)
    assert np.array_equal(gaps, exact)


def test_what_slope_and_bend_leave_of_the_entropy() -> None:
    loss, step = dg.Logistic(), kernel_loss(dg.Logistic())
    for label in (-1.0, 1.0):
        for a in (1e-6, 0.03, 0.5, 0.999):
            for part in (-0.8, -0.2, -0.049, -1e-3, 1e-3, 0.049, 0.2, 0.8):
                dual, move = label * a, label * part * min(a, 1.0 - a)
                ends = loss.negative_conjugate(np.array([dual, dual + move]), np.full(2, label))
                near = conjugate_slope(step, label, dual) * move - 0.5 * conjugate_bend(step, label, dual) * move**2
                rest = conjugate_rest(step, label, dual, move)
                assert rest == pytest.approx(ends[1] - ends[0] - near, rel=2e-3, abs=1e-15)
