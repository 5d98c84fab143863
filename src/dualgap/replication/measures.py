"""Measures: what rules read off trials, such as the fraction of the way that is left, and how rough a curve is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dualgap.replication.frames import Frame, Numbers, Trial

LOW, HIGH = 5.0, 95.0
# A run that ended so was cut short from outside: its last value is not its end.
CUT_SHORT = ("TIME_EXHAUSTED", "INTERRUPTED", "STOPPED")


def way_left(frame: Frame, trial: Trial) -> Numbers:
    """(P − P*)/(P(0) − P*) at each record: 1 at zero weights, 0 at the certified optimum."""
    primal = trial.column("primal")
    if not primal.size:
        return primal
    best = frame.optimum(trial)
    start = float(primal[0])
    left: Numbers = (primal - best) / max(start - best, 1e-300)
    return left


def end_left(frame: Frame, trial: Trial) -> float:
    """The fraction of the way that is left at the end; nan where the run was cut short."""
    return math.nan if trial.status in CUT_SHORT else float(way_left(frame, trial)[-1])


def left_at(frame: Frame, trial: Trial, x: str, place: float) -> float:
    """The fraction of the way that is left at the last record not after a place; nan before the first of them."""
    known = np.flatnonzero(trial.column(x) <= place + 1e-6)
    return float(way_left(frame, trial)[known[-1]]) if known.size > 1 else math.nan


def roughness(frame: Frame, trial: Trial) -> float:
    """How much a curve jumps once it is half way through: the mean |ΔP| between records, by P(0) − P*."""
    left, epochs = way_left(frame, trial), trial.column("epoch")
    later = left[epochs >= 0.5 * epochs[-1]]
    if later.size < 3 or trial.status in CUT_SHORT:
        return math.nan
    return float(np.abs(np.diff(later)).mean())


def middle(values: Iterable[float]) -> float:
    """The median; nan of nothing, and of infinities infinite."""
    kept = [value for value in values if not math.isnan(value)]
    return float(statistics.median(kept)) if kept else math.nan


def end(trial: Trial, name: str) -> float:
    """What a field ended with; nan where the run was cut short."""
    return math.nan if trial.status in CUT_SHORT else trial.last(name)


def finals(trials: Sequence[Trial], name: str) -> Numbers:
    """What a field ended with, a number per trial."""
    return np.array([end(trial, name) for trial in trials], dtype=float)


def band(values: Numbers) -> tuple[float, float]:
    """From 5 to 95 % of the values."""
    low, high = np.nanpercentile(values, [LOW, HIGH])
    return float(low), float(high)


def at_epoch(trials: Sequence[Trial], name: str, epoch: float) -> Numbers:
    """A field at the last record that is not after an epoch, a number per trial.

    It is nan where the run ended before the epoch, or where nothing but its start was recorded by then.
    """

    def one(trial: Trial) -> float:
        known = np.flatnonzero(trial.column("epoch") <= epoch + 1e-6)
        is_over = trial.status in CUT_SHORT and known.size == trial.column("epoch").size
        is_unseen = known.size == 0 or (known.size == 1 and epoch > 0)
        return math.nan if is_over or is_unseen else float(trial.column(name)[known[-1]])

    return np.array([one(trial) for trial in trials], dtype=float)


def pairs(first: Sequence[Trial], second: Sequence[Trial]) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """The trials of both that have a partner of equal data, split and seed, in the same order."""
    mine, others = ({(one.data, one.split, one.seed): one for one in some} for some in (first, second))
    common = sorted(mine.keys() & others.keys())
    return tuple(mine[key] for key in common), tuple(others[key] for key in common)


def differences(first: Sequence[Trial], second: Sequence[Trial], measure: Callable[[Trial], float]) -> Numbers:
    """A measure of the first minus that of the second, over pairs of equal data, split and seed."""
    mine, others = pairs(first, second)
    return over(mine, measure) - over(others, measure)


def angle(trial: Trial) -> float:
    """The distance between the weights and the true ones, both scaled to length 1."""
    if trial.weights is None or trial.beta is None or trial.status in CUT_SHORT:
        return math.nan
    return distance(trial.weights, trial.beta)


def distance(first: Sequence[float], second: Sequence[float]) -> float:
    """The distance between two vectors, both scaled to length 1."""
    one, other = np.asarray(first, float), np.asarray(second, float)
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(np.sqrt(max(0.0, 2.0 - 2.0 * (one @ other) / lengths))) if lengths else math.sqrt(2.0)


def over(trials: Sequence[Trial], measure: Callable[[Trial], float]) -> Numbers:
    """A measure of each trial."""
    return np.array([measure(trial) for trial in trials], dtype=float)
