"""What a pass over the rows makes of one: its next dual, about the best, and its part of the duality gap before the step.

Passes need neither to the last digit: a step that ends within a tenth of its length from the best gains all but a hundredth of
what that would. Under the logistic loss that spares most of its exponentials and logarithms.
"""

from __future__ import annotations

from math import log

from dualgap.kernels.compile import by_class, specialized
from dualgap.kernels.steps import (
    LogisticClosedForm,
    LogisticStep,
    MarginStep,
    ResidualStep,
    dual_step,
    fenchel_young,
    sigmoid,
)

# A step may leave this part of its length, if its logit is as near as this to the best; one that still leaves more after so
# many of Newton's is made exactly.
LEFT, NEAR, NEWTON_STEPS = 0.1, 0.5, 4
# Logits closer than this leave a gap that three terms of its series tell to five digits.
CLOSE = 0.1


def _exact_visit(loss, score, label, dual, curvature):
    return dual_step(loss, score, label, dual, curvature), fenchel_young(loss, score, label, dual)


def _logistic_visit(loss, score, label, dual, curvature):
    """Newton for u, the logit of the new a, as in `dual_step`; at the old a its residual is logit(a) + m."""
    margin, a = label * score, label * dual
    if a > 1e-300 and a < 1.0:
        u, sigma = log(a / (1.0 - a)), a
        residual = u + margin
    else:
        u, sigma = -margin, sigmoid(-margin)
        residual = curvature * (sigma - a)
    bend, twist = sigma * (1.0 - sigma), 1.0 - 2.0 * sigma
    if abs(residual) < CLOSE and sigma == a:
        series = 0.5 - residual * (twist / 6.0 - residual * (1.0 - 6.0 * bend) / 24.0)
        gap = bend * residual * residual * series
    else:
        gap = fenchel_young(loss, score, label, dual)
    low, high = -margin - curvature * (1.0 - a), -margin + curvature * a
    for _ in range(NEWTON_STEPS):
        u = min(max(u - residual / (1.0 + curvature * bend), low), high)
        sigma = sigmoid(u)
        residual, bend = u + margin + curvature * (sigma - a), sigma * (1.0 - sigma)
        # Another step would move u by |residual|/steep, and a by bend times that.
        steep = 1.0 + curvature * bend
        if abs(residual) <= NEAR * steep and bend * abs(residual) <= LEFT * abs(sigma - a) * steep:
            return label * sigma, gap
    return dual_step(loss, score, label, dual, curvature), gap


VISIT = {
    MarginStep: _exact_visit,
    ResidualStep: _exact_visit,
    LogisticStep: _logistic_visit,
    LogisticClosedForm: _exact_visit,
}


def visit(loss, score, label, dual, curvature):
    """A row's next dual, and about φ(z) + φ*(−α) + αz before it."""
    return VISIT[type(loss)](loss, score, label, dual, curvature)


@specialized(visit)
def _visit(loss, score, label, dual, curvature):
    return by_class(VISIT, loss)
