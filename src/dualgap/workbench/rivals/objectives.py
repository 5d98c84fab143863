"""Which estimators of scikit-learn and dualgap minimize the objective of a race, under which losses, and by which parameters.

The objective is P = (1/n) Σ φ + (λ/2)‖w‖² without an intercept; each entry says how its class writes the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from dualgap.losses import LOSSES, Loss

PACKAGES = ("sklearn", "dualgap")
Ways = dict[str, Callable[[Any, float, int], dict[str, Any]]]

# What gives rows, signs or parts of the penalty another weight, and is therefore as the class has it by default.
NEUTRAL = ("penalty", "l1_ratio", "class_weight", "positive", "multi_class", "strength")
# What the ladder sets, whatever the class.
LADDER = ("tol", "max_iter", "random_state", "fit_intercept")


def _c(strength: float, rows: int) -> dict[str, float]:
    """C Σ φ + ½‖w‖² is P divided by λ, with C = 1/(λn)."""
    return {"C": 1.0 / (strength * rows)}


_LINEAR_SVC: Ways = {
    "hinge": lambda loss, strength, rows: _c(strength, rows) | {"loss": "hinge"},
    "squared_hinge": lambda loss, strength, rows: _c(strength, rows) | {"loss": "squared_hinge"},
}
_LINEAR_SVR: Ways = {
    "absolute": lambda loss, strength, rows: _c(strength, rows) | {"loss": "epsilon_insensitive", "epsilon": 0.0},
    **{
        name: lambda loss, strength, rows: _c(strength, rows) | {"loss": loss.name, "epsilon": loss.epsilon}
        for name in ("epsilon_insensitive", "squared_epsilon_insensitive")
    },
}
_LOGISTIC: Ways = {"logistic": lambda loss, strength, rows: _c(strength, rows)}
# Σ r² + alpha‖w‖² is n·P with alpha = λn/2.
_RIDGE: Ways = {"squared": lambda loss, strength, rows: {"alpha": 0.5 * strength * rows}}
# (1/(2n)) Σ r² + (alpha/2)‖w‖² is P/2 with alpha = λ/2.
_ELASTIC_NET: Ways = {"squared": lambda loss, strength, rows: {"alpha": 0.5 * strength, "l1_ratio": 0.0}}
_POISSON: Ways = {"poisson": lambda loss, strength, rows: {"alpha": strength}}

OBJECTIVES: dict[str, Ways] = {
    "sklearn.LinearSVC": _LINEAR_SVC,
    "sklearn.LinearSVR": _LINEAR_SVR,
    "sklearn.LogisticRegression": _LOGISTIC,
    "sklearn.Ridge": _RIDGE,
    "sklearn.ElasticNet": _ELASTIC_NET,
    "sklearn.PoissonRegressor": _POISSON,
    # The mean of φ + (alpha/2)‖w‖²; the squared loss is halved there.
    "sklearn.SGDClassifier": {
        "hinge": lambda loss, strength, rows: {"alpha": strength, "loss": "hinge"},
        "squared_hinge": lambda loss, strength, rows: {"alpha": strength, "loss": "squared_hinge"},
        "logistic": lambda loss, strength, rows: {"alpha": strength, "loss": "log_loss"},
    },
    "sklearn.SGDRegressor": {
        "squared": lambda loss, strength, rows: {"alpha": 0.5 * strength, "loss": "squared_error"},
        "huber": lambda loss, strength, rows: {"alpha": strength, "loss": "huber", "epsilon": loss.delta},
        "absolute": lambda loss, strength, rows: {"alpha": strength, "loss": "epsilon_insensitive", "epsilon": 0.0},
        **{
            name: lambda loss, strength, rows: {"alpha": strength, "loss": loss.name, "epsilon": loss.epsilon}
            for name in ("epsilon_insensitive", "squared_epsilon_insensitive")
        },
    },
    "dualgap.LinearSVC": _LINEAR_SVC
    | {"smoothed_hinge": lambda loss, strength, rows: _c(strength, rows) | {"loss": loss}},
    "dualgap.LinearSVR": _LINEAR_SVR,
    "dualgap.LogisticRegression": _LOGISTIC,
    "dualgap.Ridge": _RIDGE,
    "dualgap.ElasticNet": _ELASTIC_NET,
    "dualgap.PoissonRegressor": _POISSON,
    # |r| is twice the pinball loss of τ = 1/2.
    "dualgap.QuantileRegressor": {
        "quantile": lambda loss, strength, rows: {"alpha": strength, "l1_ratio": 0.0, "quantile": loss.tau},
        "absolute": lambda loss, strength, rows: {"alpha": 0.5 * strength, "l1_ratio": 0.0, "quantile": 0.5},
    },
}
# Where the objective of a class is P divided by a number, its duals are those of P divided by it.
DUAL_FACTORS = {("dualgap.QuantileRegressor", "absolute"): 2.0}


def name_of_class(kind: type) -> str | None:
    """A class of the two packages as `sklearn.Ridge`; None for any other, which is trusted."""
    package = kind.__module__.partition(".")[0]
    return f"{package}.{kind.__name__}" if package in PACKAGES else None


def losses_of(name: str | None) -> tuple[str, ...]:
    """The losses under which a class minimizes the objective of a race; of an unknown one, all."""
    return tuple(LOSSES) if name is None else tuple(OBJECTIVES.get(name, ()))


def parameters_of(name: str, loss: Loss, strength: float, rows: int) -> dict[str, Any]:
    """What makes a known class's objective that of the race."""
    return OBJECTIVES[name][loss.name](loss, strength, rows)


def set_by_race(name: str | None) -> set[str]:
    """The parameters of a class that a race sets, under any loss."""
    if name is None:
        return {"C", "loss", *LADDER}
    named = (parameters_of(name, LOSSES[loss](), 1.0, 1) for loss in losses_of(name))
    return {*LADDER, *NEUTRAL, *(parameter for parameters in named for parameter in parameters)}


def defaults_of(kind: type) -> dict[str, Any]:
    """The parameters of a class that have a default."""
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}
