"""A function of the user's as a contender: it gets rows and labels, and returns weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap import spec
from dualgap.losses import LOSSES, Loss
from dualgap.workbench.rivals.base import Fit, Rival

# A function without `tol` has one rung.
ONE_RUNG = [1.0]


class FunctionRival(Rival):
    """`function(X, y, …)` → w, for P with rows X and labels or targets y.

    It is given those of `loss` (a spec with its options, such as "quantile(tau=0.9)"), `strength`, `tol`, `max_iter`, `seed` and `n_jobs` that its signature names. With `tol` it is called
    at one tolerance after the other, as other packages are.
    """

    package = "yours"
    module = "builtins"
    losses = tuple(LOSSES)
    fits_intercepts = True  # the judge finds the best b for any w

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function, self.name = function, name  # type: ignore[misc]
        parameters = inspect.signature(function).parameters
        self.takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        self.taken = set(parameters)

    def tolerances(self) -> list[float]:
        return super().tolerances() if self.takes_all or "tol" in self.taken else ONE_RUNG

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
        known = {
            "loss": spec.text_of(loss),
            "strength": strength,
            "tol": tolerance,
            "max_iter": iterations,
            "seed": seed,
            "n_jobs": threads,
        }
        chosen = {name: value for name, value in known.items() if self.takes_all or name in self.taken}
        return Fit(np.asarray(self.function(X, y, **chosen), dtype=np.float64).ravel())
