"""liblinear-multicore: LIBLINEAR by its own Python interface, with threads where its method has them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival, Vector

# Its solvers by number: dual coordinate descent (1, 3, 12, 13) and, for the logistic loss, Newton on the primal (0).
# Those for regression run on one thread whatever they are told.
PARALLEL = (0, 1, 3)
METHODS = {
    "hinge": 3,
    "squared_hinge": 1,
    "logistic": 0,
    "absolute": 13,
    "epsilon_insensitive": 13,
    "squared_epsilon_insensitive": 12,
}


class Liblinear(Rival):
    """It minimizes ½‖w‖² + C Σ φ. Divided by C·n that is (1/n) Σ φ + ‖w‖²/(2Cn): λ = 1/(C·n), so C = 1/(λ·n).

    It takes no limit of iterations: it has one inside, and says nothing when it is reached.
    """

    name = "liblinear-multicore"
    package = "liblinear-multicore"
    module = "liblinear"
    losses = tuple(METHODS)
    loosest = 1e3  # on rows of large values, or many, 1 is a tight tolerance already
    threaded = True

    def table(self, X: Any, y: Vector) -> tuple[Any, Any]:
        from scipy.sparse import csr_matrix

        # It knows sparse rows only, and of SciPy's only the matrix kind, with 32-bit indices.
        return import_module("liblinear.liblinear").problem(y, csr_matrix(X)), X.shape[1]

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
        method = METHODS[loss.name]
        words = [f"-s {method} -c {1.0 / (strength * rows)!r} -e {tolerance!r} -B -1 -q"]
        words += [f"-p {getattr(loss, 'epsilon', 0.0)!r}"] if loss.task == "regression" else []
        words += [f"-m {threads}"] if threads > 1 and method in PARALLEL else []
        model = import_module("liblinear.liblinearutil").train(X, " ".join(words))
        weights = np.array(model.w[:y], dtype=np.float64)
        # Its weights speak for the label it met first.
        return Fit(-weights if loss.task == "classification" and model.label[0] < 0 else weights)


RIVAL = Liblinear()
