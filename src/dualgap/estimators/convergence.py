"""How an estimator reports runs that did not reach tol: one ConvergenceWarning that says why, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

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


class Ending(NamedTuple):
    """How some runs ended, and what is to be said of the one with the largest gap among those that missed tol."""

    runs: int
    missed: int = 0
    gap: float = 0.0
    epochs: float = 0.0
    advice: str = ""
    is_interrupted: bool = False


def ending_of(results: Sequence[Any], problems: Sequence[BaseProblem] = (), is_float32: bool = False) -> Ending:
    """How runs ended. `problems` are those of the results, in the same order; without them no reason is given."""
    is_interrupted = any(result.status is Status.INTERRUPTED for result in results)
    missed = [k for k, result in enumerate(results) if result.status in ADVICE]
    if not missed:
        return Ending(len(results), is_interrupted=is_interrupted)
    k = max(missed, key=lambda k: results[k].certificate.relative_gap)
    worst = results[k]
    reason = diagnose(problems[k], worst.solver.name) if problems and worst.status is not Status.BROKEN else None
    remedy = FLOAT32_ADVICE if is_float32 and worst.status is Status.STALLED else ADVICE[worst.status]
    return Ending(
        len(results),
        len(missed),
        worst.certificate.relative_gap,
        worst.trace[-1].epoch,
        f"{reason}, or {remedy}" if reason else remedy,
        is_interrupted,
    )


def sum_of(endings: Sequence[Ending]) -> Ending:
    """How all of these runs ended."""
    worst = max(endings, key=lambda one: (one.missed > 0, one.gap))
    return worst._replace(
        runs=sum(one.runs for one in endings),
        missed=sum(one.missed for one in endings),
        is_interrupted=any(one.is_interrupted for one in endings),
    )


def report_convergence(
    estimator_name: str,
    results: Sequence[Any],
    tol: float,
    problems: Sequence[BaseProblem] = (),
    is_float32: bool = False,
) -> None:
    """Warn if a run missed tol, with the largest gap and the likeliest reason; raise KeyboardInterrupt if Ctrl-C ended a run.

    `is_float32` says that coef_ is.
    """
    report(estimator_name, ending_of(results, problems, is_float32), tol)


def report(estimator_name: str, ending: Ending, tol: float) -> None:
    """Say how runs ended, unless all proved tol."""
    if ending.is_interrupted:
        raise KeyboardInterrupt(f"{estimator_name} was interrupted; coef_ and certificate_ hold the last iterate")
    if not ending.missed:
        return
    several = f" in {ending.missed} of {ending.runs} problems" if ending.runs > 1 else ""
    warnings.warn(
        f"{estimator_name} is not certified{several}: relative gap {ending.gap:.3g} where tol is {tol:g}, after "
        f"{ending.epochs:g} epoch{'' if ending.epochs == 1.0 else 's'}; {ending.advice}",
        ConvergenceWarning,
        stacklevel=caller_level(),
    )
