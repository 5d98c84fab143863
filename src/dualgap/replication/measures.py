"""Measures: what rules read off trials, such as updates until a curve has come down, and how rough it is then."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dualgap.replication.frames import Frame, Numbers, Trial

# A curve has come down when no more than this fraction of the way from P(0) to the certified optimum is left, and it stays
# so. The reports judge curves by eye. ASDCA works on a loss smoothed by γ = 1, which leaves it some 6 % of the way above
# the optimum of the plain hinge for ever (simulated data): a smaller fraction, or a proven gap of 1e-2, would compare
# limits where the reports speak of speed.
DOWN = 0.1
NEAR = 0.05
LOW, HIGH = 5.0, 95.0


def way_left(frame: Frame, trial: Trial) -> Numbers:
    """(P − P*)/(P(0) − P*) at each record: 1 at zero weights, 0 at the certified optimum."""
    primal = trial.column("primal")
    if not primal.size:
        return primal
    best = frame.optimum(trial)
    start = float(primal[0])
    left: Numbers = (primal - best) / max(start - best, 1e-300)
    return left


def until_down(left: Numbers, places: Numbers, fraction: float = DOWN) -> float:
    """The place from which on no more than `fraction` of the way is left; infinite where there is none."""
    high = np.flatnonzero(~(left <= fraction))
    first = int(high[-1]) + 1 if high.size else 0
    return float(places[first]) if first < places.size else math.inf


def middle(values: Iterable[float]) -> float:
    """The median; nan of nothing, and of infinities infinite."""
    kept = [value for value in values if not math.isnan(value)]
    return float(statistics.median(kept)) if kept else math.nan


def median_down(frame: Frame, trials: Sequence[Trial], x: str = "updates", fraction: float = DOWN) -> float:
    """Where the median curve of the trials has come down; single runs go up and down too much to say.

    Trials of one solver are recorded at the same updates; CPU seconds are medians over them too.
    """
    length = min(trial.column("primal").size for trial in trials)
    left = np.median([way_left(frame, trial)[:length] for trial in trials], axis=0)
    places = np.median([trial.column(x)[:length] for trial in trials], axis=0)
    return until_down(left, places, fraction)


def median_near(frame: Frame, trials: Sequence[Trial], fraction: float = NEAR) -> float:
    """The updates from which on the median curve of the trials is within `fraction` of P(0) of the certified optimum."""
    length = min(trial.column("primal").size for trial in trials)
    curves = [trial.column("primal")[:length] for trial in trials]
    above = np.median(
        [(one - frame.optimum(trial)) / one[0] for one, trial in zip(curves, trials, strict=True)], axis=0
    )
    return until_down(above, np.median([trial.column("updates")[:length] for trial in trials], axis=0), fraction)


def quickest(frame: Frame, experiment: str, starting: str, x: str = "updates") -> tuple[str, float]:
    """Of the solvers whose names start so, the one that comes down first, or else comes lowest, and where it is down."""
    found = {}
    for name in frame.solvers(experiment, starting):
        trials = frame.of(experiment, name)
        found[name] = (median_down(frame, trials, x), middle(float(way_left(frame, one)[-1]) for one in trials))
    name = min(found, key=lambda one: found[one])
    return name, found[name][0]


def roughness(frame: Frame, trials: Sequence[Trial]) -> float:
    """How much the curves jump once they are half way through: the median over trials of the mean |ΔP|, by P(0) − P*."""

    def one(trial: Trial) -> float:
        left = way_left(frame, trial)
        later = left[left.size // 2 :]
        return float(np.abs(np.diff(later)).mean()) if later.size > 1 else math.nan

    return middle(map(one, trials))


def finals(trials: Sequence[Trial], name: str) -> Numbers:
    """What a field ended with, a number per trial."""
    return np.array([trial.last(name) for trial in trials], dtype=float)


def band(values: Numbers) -> tuple[float, float]:
    """From 5 to 95 % of the values."""
    low, high = np.nanpercentile(values, [LOW, HIGH])
    return float(low), float(high)


def at_epoch(trials: Sequence[Trial], name: str, epoch: float) -> Numbers:
    """A field at the last record that is not after an epoch, a number per trial; nan where there is none."""

    def one(trial: Trial) -> float:
        known = np.flatnonzero(trial.column("epoch") <= epoch + 1e-6)
        return float(trial.column(name)[known[-1]]) if known.size else math.nan

    return np.array([one(trial) for trial in trials], dtype=float)


def paired(first: Sequence[Trial], second: Sequence[Trial], name: str) -> Numbers:
    """First minus second of what a field ended with, over the pairs of equal data and seed."""
    others = {(trial.data, trial.seed): trial.last(name) for trial in second}
    pairs = [(trial.last(name), others.get((trial.data, trial.seed), math.nan)) for trial in first]
    return np.array([mine - other for mine, other in pairs if not math.isnan(mine - other)], dtype=float)


def is_above_zero(differences: Numbers) -> bool:
    """Whether the mean lies more than two standard errors above 0."""
    if differences.size < 2:
        return False
    return bool(differences.mean() > 2.0 * differences.std(ddof=1) / math.sqrt(differences.size))


def alike(first: float, second: float, *, factor: float) -> bool:
    """Whether neither of two numbers is more than `factor` times the other; two infinities are not known to be."""
    if not (math.isfinite(first) and math.isfinite(second)):
        return False
    low, high = sorted((first, second))
    return high <= factor * low or high == low


def angle(trial: Trial) -> float:
    """The distance between the weights and the true ones, both scaled to length 1."""
    if trial.weights is None or trial.beta is None:
        return math.nan
    weights, truth = np.asarray(trial.weights, float), np.asarray(trial.beta, float)
    lengths = np.linalg.norm(weights) * np.linalg.norm(truth)
    return float(np.sqrt(max(0.0, 2.0 - 2.0 * (weights @ truth) / lengths))) if lengths else math.sqrt(2.0)


def over(trials: Sequence[Trial], measure: Callable[[Trial], float]) -> Numbers:
    """A measure of each trial."""
    return np.array([measure(trial) for trial in trials], dtype=float)
