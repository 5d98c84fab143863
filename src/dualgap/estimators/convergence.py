"""How an estimator reports runs that did not reach tol: one ConvergenceWarning that says what to raise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from dualgap.result import Status

ADVICE = {
    Status.EPOCHS_EXHAUSTED: "raise max_iter, or tol",
    Status.TIME_EXHAUSTED: "raise max_seconds, or tol",
    Status.STALLED: "float64 cannot prove a smaller gap, so raise tol",
    Status.BROKEN: Status.BROKEN.value,
}


def report_convergence(estimator_name: str, results: Sequence[Any], tol: float) -> None:
    """Warn if a run missed tol, with the largest gap; raise KeyboardInterrupt if Ctrl-C ended a run."""
    if any(result.status is Status.INTERRUPTED for result in results):
        raise KeyboardInterrupt(f"{estimator_name} was interrupted; coef_ and certificate_ hold the last iterate")
    missed = [result for result in results if result.status in ADVICE]
    if not missed:
        return
    worst = max(missed, key=lambda result: result.certificate.relative_gap)
    several = f" in {len(missed)} of {len(results)} problems" if len(results) > 1 else ""
    warnings.warn(
        f"{estimator_name} is not certified{several}: relative gap {worst.certificate.relative_gap:.3g} where tol is "
        f"{tol:g}, after {worst.trace[-1].epoch:g} epochs; {ADVICE[worst.status]}",
        ConvergenceWarning,
        stacklevel=_caller_level(),
    )


def _caller_level() -> int:
    """The `stacklevel` of the first frame outside dualgap and scikit-learn: the line that called fit."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("dualgap.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    return level
