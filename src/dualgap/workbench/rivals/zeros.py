"""The zero weights, which every serious contender must beat: the sanity line of a chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.losses import LOSSES, Loss
from dualgap.workbench.rivals.base import Fit, Rival


class Zeros(Rival):
    """w = 0, at no cost."""

    name = "zeros"
    package = "numpy"
    module = "numpy"
    losses = tuple(LOSSES)
    tightest = 1.0
    fits_intercepts = True  # the judge finds the best b for any w

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
        return Fit(np.zeros(X.shape[1]), 0)


RIVAL = Zeros()
