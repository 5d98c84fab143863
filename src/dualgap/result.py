"""What a run returns: the answer, its certificate, and a named ending."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate
from dualgap.data.validation import as_rows
from dualgap.solvers import Solver
from dualgap.trace import Trace

Vector = NDArray[np.float64]


class Status(Enum):
    """How a run ended; the value is a sentence."""

    CERTIFIED = "the duality gap reached tol"
    EPOCHS_EXHAUSTED = "max_epochs was reached first; raise max_epochs or tol"
    TIME_EXHAUSTED = "max_seconds was reached first; raise max_seconds or tol"
    INTERRUPTED = "stopped by Ctrl-C; the certificate is for what there was"
    STOPPED = "the callback asked to stop"
    STALLED = "float64 cannot prove tol here; the gap shown is the smallest that could be proven"
    BROKEN = "the numbers left float64's range or contradict weak duality; lower the step, or rescale the data"


@dataclass(frozen=True)
class Result:
    """An answer, its certificate, and how it came about."""

    weights: Vector
    intercept: float
    duals: Vector
    certificate: Certificate
    status: Status
    reason: str
    trace: Trace
    solver: Solver
    classes: NDArray[Any] | None

    def scores(self, X: Any) -> Vector:
        """⟨x, w⟩ + b for each row of X."""
        rows = as_rows(X).of_width(self.weights.size)
        with np.errstate(over="ignore"):  # a score beyond float64's range is infinite, with the right sign
            return rows.scores(self.weights) + self.intercept

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier of the two labels, or the predicted target."""
        scores = self.scores(X)
        if self.classes is None:
            return scores
        return self.classes[(scores > 0.0).astype(np.intp)]

    def __repr__(self) -> str:
        return f"Result({self.status.name}: {self.certificate}, {self.solver.name}, epoch {self.trace[-1].epoch:g})"
