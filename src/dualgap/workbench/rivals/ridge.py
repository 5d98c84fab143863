"""scikit-learn's Ridge: one solve of the normal equations for dense rows, conjugate gradients for sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.objectives import losses_of, parameters_of


class Ridge(Rival):
    """It minimizes Σ r² + alpha·‖w‖². Divided by n that is (1/n) Σ r² + (alpha/n)‖w‖²: λ/2 = alpha/n, so alpha = λ·n/2."""

    name = "scikit-learn Ridge"
    package = "scikit-learn"
    module = "sklearn"
    losses = losses_of("sklearn.Ridge")
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
        from sklearn.linear_model import Ridge as Estimator

        model = Estimator(
            **parameters_of("sklearn.Ridge", loss, strength, rows),
            tol=tolerance,
            max_iter=iterations,
            fit_intercept=False,
            random_state=seed,
        ).fit(X, y)
        return Fit(
            np.asarray(model.coef_, dtype=np.float64).ravel(), None if model.n_iter_ is None else int(model.n_iter_)
        )


RIVAL = Ridge()
