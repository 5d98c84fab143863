"""skglm: data fits and penalties compiled by itself, minimized here by its L-BFGS, because the penalty is smooth."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival, Vector


class Skglm(Rival):
    """It minimizes (1/n) Σ φ + alpha·‖w‖²/2: alpha = λ.

    Its quadratic fit is r²/2, half of our r²: half of P has half the penalty, so there alpha = λ/2.
    """

    name = "skglm"
    package = "skglm"
    module = "skglm"
    losses = ("logistic", "squared")  # its Huber fit has no gradient for this method
    threaded = True

    def table(self, X: Any, y: Vector) -> tuple[Any, Any]:
        # By columns, as its solvers read them.
        return (np.asfortranarray(X) if isinstance(X, np.ndarray) else X.tocsc()), y

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
        datafits = import_module("skglm.datafits")
        datafit, alpha = datafits.Logistic(), strength
        if loss.name == "squared":
            datafit, alpha = datafits.Quadratic(), 0.5 * strength
        penalty = import_module("skglm.penalties").L2(alpha)
        solver = import_module("skglm.solvers").LBFGS(max_iter=iterations, tol=tolerance)
        weights, values, _ = solver.solve(X, y, datafit, penalty, np.zeros(X.shape[1]), np.zeros(rows))
        return Fit(np.array(weights, dtype=np.float64), len(values))


RIVAL = Skglm()
