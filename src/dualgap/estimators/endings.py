"""What an estimator says about how its runs ended: nothing where they are certified, else one warning with what to raise."""

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


def conclude(owner: str, results: Sequence[Any], tol: float) -> None:
    """Warn of runs that missed tol; hand a Ctrl-C on, so that whoever called fit in a loop ends too."""
    if any(result.status is Status.INTERRUPTED for result in results):
        raise KeyboardInterrupt(f"{owner} was interrupted; coef_ and certificate_ hold what there was")
    missed = [result for result in results if result.status in ADVICE]
    if not missed:
        return
    worst = max(missed, key=lambda result: result.certificate.relative_gap)
    several = f" in {len(missed)} of {len(results)} problems" if len(results) > 1 else ""
    warnings.warn(
        f"{owner} is not certified{several}: relative gap {worst.certificate.relative_gap:.3g} where tol is {tol:g}, "
        f"after {worst.trace[-1].epoch:g} epochs; {ADVICE[worst.status]}",
        ConvergenceWarning,
        stacklevel=_calls_to_user(),
    )


def _calls_to_user() -> int:
    """How many calls up the line stands that called fit, past this package's and scikit-learn's wrappers of it."""
    frame, calls = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("dualgap.", "sklearn.")):
        frame, calls = frame.f_back, calls + 1
    return calls
