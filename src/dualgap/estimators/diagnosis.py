"""Why a run did not reach tol: columns of different scale, hardly any penalty, or a solver that is slow at small gaps."""

from __future__ import annotations

import numpy as np

from dualgap.data.columns import mean_squares
from dualgap.problem import BaseProblem
from dualgap.solvers.newton.settings import Settings

# From this ratio of the largest to the smallest column on, scales are named: steps along the largest column alone are then a
# million times as steep as along the smallest.
SCALE_RATIO = 1e3
# The same for Newton with a dense Hessian, whose steps do not depend on scale: the Hessian's diagonal then spans 1e14, and float64
# has 16 digits.
NEWTON_SCALE_RATIO = 1e7
# Rows with ‖x‖²/(λS) above this need more epochs of single-row steps than the default of max_iter.
MANY_EPOCHS = 1e3
# Where λ divided by the mean ‖x‖² is below this, Newton's matrix has fewer digits than a certificate needs.
TINY_PENALTY = 1e-12

SLOW_SOLVERS = ("pegasos", "sgd", "subgradient")


def diagnose(problem: BaseProblem, solver: str) -> str | None:
    """The likeliest reason with its remedy, for a solver that ran; None where nothing about the problem explains it."""
    is_newton = solver in ("newton", "sparse_newton")
    ratio = scale_ratio(problem)
    if ratio >= (NEWTON_SCALE_RATIO if is_newton and _has_dense_steps(problem) else SCALE_RATIO):
        remedy = "use StandardScaler" if is_newton else "use solver='auto' or StandardScaler"
        return f"columns differ by {short(ratio)} in scale; {remedy}"
    epochs = problem.mean_squared_norm / problem.strength / problem.total_weight
    if not is_newton and epochs > MANY_EPOCHS:
        return (
            f"the penalty is nearly zero (λ = {short(problem.strength)}), and steps on single rows need about {short(epochs)} "
            "epochs; use solver='newton' or a stronger penalty"
        )
    if problem.strength < TINY_PENALTY * problem.mean_squared_norm:
        return f"the penalty is nearly zero (λ = {short(problem.strength)}); use a stronger one"
    if solver in SLOW_SOLVERS:
        return f"{solver} takes ten times the epochs, or more, for each further digit; use solver='auto'"
    return None


def _has_dense_steps(problem: BaseProblem) -> bool:
    return min(problem.rows.count, problem.rows.dimension) <= Settings().dense_side


def scale_ratio(problem: BaseProblem) -> float:
    """The root mean square of the largest column over that of the smallest; empty columns do not count."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = mean_squares(problem.rows, problem.sample_weight)
    squares = squares[squares > 0.0]
    return float(np.sqrt(squares.max()) / np.sqrt(squares.min())) if squares.size else 1.0


def short(value: float) -> str:
    """A number with one digit: 1e6, 3e-12, 20."""
    if 1.0 <= value < 1000.0:
        return f"{value:.0f}"
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit}e{int(exponent)}"
