"""ρ, the L1 part of an estimator's penalty, in scikit-learn's two ways to name it: `l1_ratio`, and `penalty` as before 1.8."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.estimators.synonyms import has_no_penalty
from dualgap.linalg.elementary import is_number
from dualgap.penalties import penalty_of

Vector = np.ndarray[Any, np.dtype[np.float64]]

RATIOS = {"l1": 1.0, "l2": 0.0}
UNNAMED = "deprecated"
"""scikit-learn's default of `penalty` since 1.8: `l1_ratio` decides."""


def l1_ratio_of(estimator_name: str, penalty: Any) -> float:
    """ρ of an estimator that has `penalty` alone."""
    if has_no_penalty(penalty):
        return 0.0
    if not (isinstance(penalty, str) and penalty in RATIOS):
        raise ValueError(
            f"{estimator_name} needs penalty to be 'l1', 'l2', or None for no penalty, got {penalty!r}; {_advice(penalty)}"
        )
    return RATIOS[penalty]


def l1_ratios_of(estimator_name: str, penalty: Any, name: str, values: Any) -> Vector:
    """Each ρ of an estimator with `penalty` and a parameter `name`, one ρ or several; refused where the two disagree."""
    if has_no_penalty(penalty):
        return np.zeros(1)
    is_unset = values is None or (isinstance(values, str) and values == "warn")
    if isinstance(penalty, str) and penalty in RATIOS:
        ratio = RATIOS[penalty]
        # 0 is the default, which scikit-learn's users leave as it is beside penalty="l1".
        if not (is_unset or np.isin(ratios_of(name, values), (0.0, ratio)).all()):
            raise ValueError(
                f"{estimator_name} needs penalty and {name} that agree, got penalty={penalty!r} and {name}={values!r}; leave "
                "penalty out"
            )
        return np.array([ratio])
    if isinstance(penalty, str) and penalty in (UNNAMED, "elasticnet"):
        if is_unset and penalty == UNNAMED:
            return np.zeros(1)
        return ratios_of(name, values)
    raise ValueError(
        f"{estimator_name} needs penalty to be 'l1', 'l2', 'elasticnet', or None for no penalty, got {penalty!r}; "
        f"{_advice(penalty)}"
    )


def ratios_of(name: str, values: Any) -> Vector:
    """One ρ, or a list of them; `name` is the parameter's."""
    given = list(values) if isinstance(values, list | tuple | np.ndarray) else [values]
    if not given:
        raise ValueError(f"{name} needs at least one number from 0 to 1, got an empty list; [0] is the L2 penalty")
    return np.array([penalty_of(value).l1_ratio for value in given])


def _advice(penalty: Any) -> str:
    if is_number(penalty):
        return f"write C={penalty!r}"
    if isinstance(penalty, str) and penalty == "elasticnet":
        return "LogisticRegression has an elastic net"
    return f"write loss={penalty!r} if it is the loss"
