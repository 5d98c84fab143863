"""Cyanure: variance-reduced and quasi-Newton methods, its own choice among them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival

# Ours on the left; its own, and how many of it make ours.
LOSS_NAMES = {"logistic": ("logistic", 1.0), "squared_hinge": ("sqhinge", 2.0), "squared": ("square", 2.0)}


class Cyanure(Rival):
    """It minimizes (1/n) Σ φ + lambda_1·‖w‖²/2: lambda_1 = λ. Its tolerance is a relative duality gap.

    Its squared losses are half of ours: half of P has half the penalty, so there lambda_1 = λ/2.
    """

    name = "cyanure"
    package = "cyanure"
    module = "cyanure"
    losses = tuple(LOSS_NAMES)
    max_iterations = 10**5  # it makes room for a report of each one beforehand, which takes time
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
        estimators = import_module("cyanure.estimators")
        its_loss, halves = LOSS_NAMES[loss.name]
        # Its regression knows the squared loss alone, and does not ask for it.
        named = {"loss": its_loss} if loss.task == "classification" else {}
        model = (estimators.Classifier if named else estimators.Regression)(
            **named,
            penalty="l2",
            lambda_1=strength / halves,
            tol=tolerance,
            max_iter=iterations,
            fit_intercept=False,
            n_threads=threads,
            random_state=seed,
            verbose=False,
        ).fit(X, y)
        return Fit(np.array(model.coef_, dtype=np.float64).ravel())


RIVAL = Cyanure()
