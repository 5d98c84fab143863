"""dualgap as a solver of benchopt's benchmark_logreg_l2: Σ log(1 + e^(−y z)) + lmbd/2 ‖w‖², with or without an intercept."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import dualgap as dg
from benchopt import BaseSolver

# benchopt asks for a tolerance of its own scale, 1 first; certificates below this are beyond float64.
SMALLEST_TOL = 1e-13


class Solver(BaseSolver):
    """Each point is a whole call: a problem made of X and y, and solved until the judge certifies the tolerance."""

    name = "dualgap"
    install_cmd = "conda"
    requirements: ClassVar = ["pip::dualgap"]
    sampling_strategy = "tolerance"
    parameters: ClassVar = {"solver": ["auto", "newton", "sdca(shrinking=true)"]}

    def set_objective(self, X: Any, y: Any, lmbd: float, fit_intercept: bool) -> None:
        """Divided by n, benchopt's objective is P with λ = lmbd/n."""
        self.X, self.y, self.fit_intercept = X, y, fit_intercept
        self.strength = lmbd / X.shape[0]

    def warm_up(self) -> None:
        """Compile kernels, or load them."""
        self.run_once(1.0)

    def run(self, tolerance: float) -> None:
        """The timed call."""
        problem = dg.Problem(self.X, self.y, "logistic", self.strength, intercept=self.fit_intercept)
        tol = max(min(tolerance, 1.0), SMALLEST_TOL)
        self.result = dg.solve(problem, self.solver, tol=tol, record_every=np.inf)

    def get_result(self) -> dict[str, Any]:
        """The weights, and behind them the intercept where there is one."""
        weights = self.result.weights
        return {"beta": np.append(weights, self.result.intercept) if self.fit_intercept else weights}
