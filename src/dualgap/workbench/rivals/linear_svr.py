"""scikit-learn's LinearSVR: LIBLINEAR's dual coordinate descent for regression; ε = 0 makes its loss the absolute one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.objectives import losses_of, parameters_of


class LinearSVR(Rival):
    """It minimizes ½‖w‖² + C Σ φ. Divided by C·n that is (1/n) Σ φ + ‖w‖²/(2Cn): λ = 1/(C·n), so C = 1/(λ·n)."""

    name = "scikit-learn LinearSVR"
    package = "scikit-learn"
    module = "sklearn"
    losses = losses_of("sklearn.LinearSVR")
    loosest = 1e3  # on rows of large values, or many, 1 is a tight tolerance already

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
        from sklearn.svm import LinearSVR as Estimator

        model = Estimator(
            **parameters_of("sklearn.LinearSVR", loss, strength, rows),
            dual="auto"
            if loss.name == "squared_epsilon_insensitive"
            else True,  # the others have no primal method there
            tol=tolerance,
            max_iter=iterations,
            fit_intercept=False,
            random_state=seed,
        ).fit(X, y)
        return Fit(np.asarray(model.coef_, dtype=np.float64).ravel(), int(model.n_iter_))


RIVAL = LinearSVR()
