"""The objective of benchmark_logreg_l2: the sum of the logistic loss, and lmbd/2 ‖w‖²."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchopt import BaseObjective


class Objective(BaseObjective):
    """Its value at `beta`, whose last entry is the intercept where there is one."""

    name = "L2 logistic regression"
    parameters: ClassVar = {"lmbd": [1.0], "fit_intercept": [False, True]}

    def set_data(self, X: Any, y: Any) -> None:
        """Rows, and labels −1 and +1."""
        self.X, self.y = X, y

    def get_one_result(self) -> dict[str, Any]:
        """An answer of the right shape."""
        return {"beta": np.zeros(self.X.shape[1] + self.fit_intercept)}

    def evaluate_result(self, beta: Any) -> dict[str, float]:
        """The value that curves show."""
        weights, intercept = (beta[:-1], beta[-1]) if self.fit_intercept else (beta, 0.0)
        margins = self.y * (self.X @ weights + intercept)
        return {"value": float(np.logaddexp(0.0, -margins).sum() + 0.5 * self.lmbd * weights @ weights)}

    def get_objective(self) -> dict[str, Any]:
        """What a solver is given."""
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd, "fit_intercept": self.fit_intercept}
