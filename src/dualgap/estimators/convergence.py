"""How an estimator reports runs that did not reach tol: one ConvergenceWarning that says why, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from dualgap.estimators.diagnosis import diagnose
from dualgap.estimators.notes import caller_level
from dualgap.problem import BaseProblem
from dualgap.result import Status

ADVICE = {
    Status.EPOCHS_EXHAUSTED: "raise max_iter, or tol",
    Status.TIME_EXHAUSTED: "raise max_seconds, or tol",
    Status.STALLED: "float64 cannot prove a smaller gap, so raise tol",
    Status.BROKEN: Status.BROKEN.value,
}

FLOAT32_ADVICE = "float32 weights cannot hold a smaller gap, so pass X as float64, or raise tol"


def report_convergence(
    estimator_name: str,
    results: Sequence[Any],
    tol: float,
    problems: Sequence[BaseProblem] = (),
    is_float32: bool = False,
) -> None:
    """Warn if a run missed tol, with the largest gap and the likeliest reason; raise KeyboardInterrupt if Ctrl-C ended a run.

    `problems` are those of the results, in the same order; without them no reason is given. `is_float32` says that coef_ is.
    """
    if any(result.status is Status.INTERRUPTED for result in results):
        raise KeyboardInterrupt(f"{estimator_name} was interrupted; coef_ and certificate_ hold the last iterate")
    missed = [k for k, result in enumerate(results) if result.status in ADVICE]
    if not missed:
        return
    k = max(missed, key=lambda k: results[k].certificate.relative_gap)
    worst = results[k]
    reason = diagnose(problems[k], worst.solver.name) if problems and worst.status is not Status.BROKEN else None
    remedy = FLOAT32_ADVICE if is_float32 and worst.status is Status.STALLED else ADVICE[worst.status]
    advice = f"{reason}, or {remedy}" if reason else remedy
    epochs = worst.trace[-1].epoch
    several = f" in {len(missed)} of {len(results)} problems" if len(results) > 1 else ""
    warnings.warn(
        f"{estimator_name} is not certified{several}: relative gap {worst.certificate.relative_gap:.3g} where tol is "
        f"{tol:g}, after {epochs:g} epoch{'' if epochs == 1.0 else 's'}; {advice}",
        ConvergenceWarning,
        stacklevel=caller_level(),
    )
