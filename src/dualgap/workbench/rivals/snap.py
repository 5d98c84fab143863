"""snapml: IBM's dual coordinate methods, on as many threads as it is told."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival


class Snap(Rival):
    """It minimizes Σ φ + regularizer·‖w‖²/2. Divided by n that is P with λ = regularizer/n, so regularizer = λ·n."""

    name = "snapml"
    package = "snapml"
    module = "snapml"
    losses = ("hinge", "squared_hinge", "logistic")
    threaded = True

    def fit(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        strength: float,
        tolerance: float,
        *,
        rows: int,
        seed: int,
        iterations: int,
        threads: int = 1,
    ) -> Fit:
        snapml = import_module("snapml")
        options = {
            "regularizer": strength * rows,
            "tol": tolerance,
            "max_iter": iterations,
            "fit_intercept": False,
            "normalize": False,
            "n_jobs": threads,
            "random_state": seed,
        }
        if loss.name == "logistic":
            model = snapml.LogisticRegression(dual=True, **options)
        else:
            model = snapml.SupportVectorMachine(loss=loss.name, **options)
        model.fit(X, y)
        return Fit(np.array(model.coef_, dtype=np.float64).ravel())


RIVAL = Snap()
