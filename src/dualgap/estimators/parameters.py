"""Constructor parameters of an estimator turned into a solver, a loss, a strength, a seed, or refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dualgap.data.labels import check_total_weight
from dualgap.estimators.notes import note_once
from dualgap.estimators.synonyms import has_no_penalty
from dualgap.linalg.elementary import is_number
from dualgap.losses import LOSSES, Loss
from dualgap.solvers import SOLVERS, AnySolver, Auto
from dualgap.spec import build, canonical, parse

SCIKIT_LEARN_SOLVERS = frozenset(
    [
        "lbfgs",
        "liblinear",
        "newton_cg",
        "newton_cholesky",
        "sag",
        "saga",
        "svd",
        "cholesky",
        "lsqr",
        "sparse_cg",
        "highs",
        "highs_ds",
        "highs_ipm",
        "interior_point",
        "revised_simplex",
    ]
)
"""Solvers of scikit-learn, spelled as `spec.canonical` spells them."""


def is_scikit_learns(solver: object) -> bool:
    """Whether a solver is a name that only scikit-learn has."""
    return isinstance(solver, str) and canonical(solver) in SCIKIT_LEARN_SOLVERS


def solver_of(solver: object) -> AnySolver | Auto:
    """The solver of a name, a spec or an object; a name of scikit-learn's stands for auto."""
    return Auto() if is_scikit_learns(solver) else build(solver, SOLVERS, "solver")


def solver_name(solver: object) -> str:
    """The name of a solver given by name, spec or object; empty for anything else."""
    if is_scikit_learns(solver):
        return Auto.name
    if not isinstance(solver, str):
        return str(getattr(solver, "name", ""))
    try:
        return parse(solver)[0]
    except ValueError:
        return ""


def note_solver(solver: object, used: str) -> None:
    """Say once in a process that a solver's name is scikit-learn's, and which solver ran."""
    if is_scikit_learns(solver):
        note_once("solver", f"solver={solver!r} is scikit-learn's; dualgap used {used!r}")


def loss_of(
    estimator_name: str, loss: object, allowed: tuple[str, ...], options: dict[str, float] | None = None
) -> Loss:
    """The loss of a name, a spec or an object; `options` are the estimator's own, for a name without options."""
    if isinstance(loss, str) and options and canonical(loss) in allowed:
        return LOSSES[canonical(loss)](**options)
    built = build(loss, LOSSES, "loss")
    if built.name not in allowed:
        raise ValueError(f"{estimator_name} needs loss to be one of {', '.join(allowed)}, got {built.name!r}")
    return built


def positive(estimator_name: str, name: str, value: Any, advice: str = "pass a positive number") -> float:
    """The value as a float; refused unless it is a positive finite number."""
    if isinstance(value, bool) or not (is_number(value) and value > 0.0):
        raise ValueError(f"{estimator_name} needs a finite {name} > 0, got {value!r}; {advice}")
    return float(value)


def strength_of(estimator_name: str, C: Any, strength: Any, total_weight: float, penalty: Any = "l2") -> float:
    """λ: 1/(C·S), or `strength` where it is given; 0 for no penalty, which is C=inf or penalty=None."""
    if strength is None:
        if has_no_penalty(penalty) or (isinstance(C, float | np.floating) and np.inf == C):
            return 0.0
        advice = "a smaller C is a stronger penalty, and C=inf is none"
        return over_weight(estimator_name, 1.0, positive(estimator_name, "C", C, advice) * total_weight)
    if has_no_penalty(penalty):
        raise ValueError(
            f"{estimator_name} needs strength=None where penalty is {penalty!r}, got {strength!r}; leave one out"
        )
    if C != 1.0:
        raise ValueError(
            f"{estimator_name} needs C or strength, got both C={C!r} and strength={strength!r}; leave one out"
        )
    return positive(estimator_name, "strength", strength, "C=inf is no penalty")


def over_weight(estimator_name: str, numerator: float, weight: float) -> float:
    """λ = numerator/weight, for the sum S of the sample weights, or C·S; refused where that leaves float64's range."""
    strength = numerator / weight if weight > 0.0 else np.inf
    if not strength < np.inf:
        raise ValueError(
            f"{estimator_name} needs sample weights for which the strength λ is a finite number, "
            f"got λ = {numerator:.3g}/{weight:.3g}; multiply the weights by a constant, and divide C, or multiply alpha, by it"
        )
    return strength


def alpha_of(estimator_name: str, alpha: Any) -> float:
    """The weight of a penalty; 0 for none."""
    if isinstance(alpha, bool) or not (is_number(alpha) and alpha >= 0.0):
        raise ValueError(f"{estimator_name} needs a finite alpha ≥ 0, got {alpha!r}; alpha=0 is no penalty")
    return float(alpha)


def check_limits(estimator_name: str, tol: Any, max_iter: Any, max_seconds: Any) -> None:
    """Refuse a limit that is not a positive number; None is no limit, and tol=0 asks for the smallest gap float64 can prove."""
    if isinstance(tol, bool) or not (is_number(tol) and tol >= 0.0):
        raise ValueError(f"{estimator_name} needs a finite tol ≥ 0, got {tol!r}; the default is 1e-4")
    for name, value in (("max_iter", max_iter), ("max_seconds", max_seconds)):
        if value is not None:
            positive(estimator_name, name, value)


def seed_of(random_state: Any) -> int:
    """`random_state` where it is a seed, else a seed drawn from the generator; None is NumPy's global generator."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(
                f"random_state needs a whole number ≥ 0, got {random_state}; pass 0, or None for a random seed"
            )
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_sample_weight(sample_weight: Any, count: int) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Sample weights as float64, one for each row; None where none are given."""
    if sample_weight is None:
        return None
    values = np.array(sample_weight, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(count, float(values))
    if values.shape != (count,):
        raise ValueError(
            f"sample_weight needs shape ({count},), one number for each row, got {values.shape}; pass a flat list"
        )
    if not np.isfinite(values).all() or (values < 0.0).any():
        raise ValueError(
            "sample_weight needs finite numbers ≥ 0, got a negative or infinite number; give a row weight 0 to leave it out"
        )
    with np.errstate(over="ignore"):
        check_total_weight(float(values.sum()))
    return values
