"""The optimum of a problem, and where it lies, from cvxpy, which shares nothing with dualgap: the reference for certificates."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.special import xlogy

from dualgap import Problem


def losses_of(name: str, options: dict[str, float], scores, labels):
    """Σ over rows is taken by the caller; here φ as cvxpy sees it, from the table of losses."""
    margin, residual = cp.multiply(labels, scores), scores - labels
    excess = cp.pos(cp.abs(residual) - options.get("epsilon", 0.1))
    gamma, tau, delta = options.get("gamma", 1.0), options.get("tau", 0.5), options.get("delta", 1.35)
    # min over u of u²/(2γ) + max(0, 1 − m − u) is the smoothed hinge: the hinge with a little room to slip.
    slip = cp.Variable(labels.size, nonneg=True)
    return {
        "hinge": lambda: cp.pos(1 - margin),
        "smoothed_hinge": lambda: cp.square(slip) / (2 * gamma) + cp.pos(1 - margin - slip),
        "squared_hinge": lambda: cp.square(cp.pos(1 - margin)),
        "logistic": lambda: cp.logistic(-margin),
        "squared": lambda: cp.square(residual),
        "absolute": lambda: cp.abs(residual),
        "epsilon_insensitive": lambda: excess,
        "squared_epsilon_insensitive": lambda: cp.square(excess),
        "quantile": lambda: tau * cp.pos(-residual) + (1 - tau) * cp.pos(residual),
        "huber": lambda: cp.huber(residual, delta) / 2,
        "poisson": lambda: cp.exp(scores) - cp.multiply(labels, scores) - labels + xlogy(labels, labels),
    }[name]()


def solved(problem: Problem) -> tuple[float, np.ndarray, float]:
    """P*, and the weights and the intercept that reach it, by Clarabel, an interior-point solver."""
    X = np.vstack([block.toarray() if hasattr(block, "toarray") else block for _, block in problem.rows.blocks()])
    weights, intercept = cp.Variable(X.shape[1]), cp.Variable()
    scores = X @ weights + (intercept if problem.intercept else 0)
    options = {key: getattr(problem.loss, key) for key in getattr(problem.loss, "__dataclass_fields__", {})}
    sample_weight = np.ones(X.shape[0]) if problem.sample_weight is None else problem.sample_weight
    loss = cp.sum(
        cp.multiply(sample_weight / sample_weight.sum(), losses_of(problem.loss.name, options, scores, problem.labels))
    )
    ratio = problem.l1_ratio
    penalty = (1 - ratio) / 2 * cp.sum_squares(weights)
    if ratio > 0:
        penalty += ratio * cp.norm1(weights)
    program = cp.Problem(cp.Minimize(loss + problem.strength * penalty))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert program.status in ("optimal", "optimal_inaccurate"), program.status
    return float(program.value), weights.value, float(intercept.value) if problem.intercept else 0.0


def optimum(problem: Problem) -> float:
    """P* alone."""
    return solved(problem)[0]
