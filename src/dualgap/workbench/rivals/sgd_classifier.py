"""scikit-learn's SGDClassifier: stochastic gradient descent with its own choice of steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.objectives import losses_of, parameters_of


class SGDClassifier(Rival):
    """It minimizes (1/n) Σ φ + alpha·‖w‖²/2: alpha = λ. Its tolerance is on the fall of the training loss per epoch."""

    name = "scikit-learn SGDClassifier"
    package = "scikit-learn"
    module = "sklearn"
    losses = losses_of("sklearn.SGDClassifier")
    tightest = 1e-7

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
        from sklearn.linear_model import SGDClassifier as Estimator

        model = Estimator(
            **parameters_of("sklearn.SGDClassifier", loss, strength, rows),
            tol=tolerance,
            max_iter=iterations,
            fit_intercept=False,
            random_state=seed,
        ).fit(X, y)
        return Fit(np.asarray(model.coef_, dtype=np.float64).ravel(), int(model.n_iter_))


RIVAL = SGDClassifier()
