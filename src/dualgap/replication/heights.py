"""Heights: after how many updates, rows or seconds a solver's median curve is below a fraction of its way for good.

The way goes from P(0) to the certified optimum. A run that ended by itself keeps its last value. A height counts as
reached where 97.5 % of the resamples reach it before the last record. A curve that is below a height at its first record
already is censored there: how fast it came is unknown, and a comparison says so and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from dualgap.replication.frames import Frame, Numbers, Trial
from dualgap.replication.intervals import TAIL, Interval, above, from_draws, inside, resamples, told
from dualgap.replication.margins import SAME_SPEED
from dualgap.replication.measures import pairs, way_left
from dualgap.replication.verdicts import Finding

HEIGHTS = (0.3, 0.1, 0.03, 0.01, 0.001)
UNITS = {"updates": "updates", "rows": "rows touched", "cpu_seconds": "CPU seconds"}
# Resampled curves computed at a time, so that memory stays small.
CHUNK = 100
# A run that ended so has nothing left to do; its curve stays where it is.
AT_REST = ("CERTIFIED", "STALLED")


class Reach(Enum):
    """Whether a curve reaches a height."""

    REACHED = "reached"
    NOT_REACHED = "not reached"
    CENSORED = "below it at the first record"


@dataclass(frozen=True)
class Descent:
    """Where a solver's median curve falls below each height for good: in the sample, and in each resample (a row each)."""

    solver: str
    places: Numbers  # a number for each height, infinite where never
    draws: Numbers  # resamples × heights
    reach: tuple[Reach, ...]
    repeats: int


def descent(frame: Frame, trials: Sequence[Trial], x: str = "updates") -> Descent:
    """The descent of a solver's repeats, computed once for a frame."""
    return frame.kept((x, *map(id, trials)), lambda: _descent(frame, trials, x))


def _descent(frame: Frame, trials: Sequence[Trial], x: str) -> Descent:
    left, places = _curves(frame, trials, x)
    places_sample, first = _fallen(np.median(left, axis=0)[None], np.median(places, axis=0)[None])
    draws, firsts = [], []
    drawn = resamples(len(trials))
    for start in range(0, len(drawn), CHUNK):
        some = drawn[start : start + CHUNK]
        found = _fallen(np.median(left[some], axis=1), np.median(places[some], axis=1))
        draws.append(found[0])
        firsts.append(found[1])
    return Descent(
        trials[0].solver,
        places_sample[0],
        np.concatenate(draws),
        _reach(first[0], np.concatenate(firsts), left.shape[1], 0 if _is_each_update_recorded(trials) else 1),
        len(trials),
    )


def _curves(frame: Frame, trials: Sequence[Trial], x: str) -> tuple[Numbers, Numbers]:
    """The fraction of the way that is left, and the place, of each trial at the records of all of them.

    Between its records a trial keeps the last value; after its end too if it is at rest, and otherwise it never comes down.
    """
    records = [one.column("updates") for one in trials]
    grid = np.unique(np.concatenate(records))
    longest = trials[int(np.argmax([one[-1] for one in records]))]
    fractions, places = [], []
    for trial, known in zip(trials, records, strict=True):
        is_over = grid > known[-1]
        fraction = way_left(frame, trial)[np.searchsorted(known, grid, side="right") - 1]
        fractions.append(np.where(is_over & (trial.status not in AT_REST), np.inf, fraction))
        place = np.interp(grid, known, trial.column(x))
        places.append(np.where(is_over, np.interp(grid, longest.column("updates"), longest.column(x)), place))
    return np.array(fractions), np.array(places)


def _fallen(left: Numbers, places: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """The place and the record from which on each curve stays at or below each height."""
    length = left.shape[1]
    found, records = [], []
    for height in HEIGHTS:
        high = ~(left <= height)
        record = np.where(high.any(axis=1), length - np.argmax(high[:, ::-1], axis=1), 0)
        at = np.take_along_axis(places, np.minimum(record, length - 1)[:, None], axis=1)[:, 0]
        found.append(np.where(record < length, at, np.inf))
        records.append(record)
    return np.array(found).T, np.array(records).T


def _is_each_update_recorded(trials: Sequence[Trial]) -> bool:
    """Whether the first record comes after one update: nothing was hidden before it."""
    return bool(np.all([one.column("updates")[1:2] <= 1.0 for one in trials]))


def _reach(first: NDArray[np.int64], firsts: NDArray[np.int64], length: int, censored: int) -> tuple[Reach, ...]:
    """Of each height whether it is reached; a curve below it at record `censored` or before has no known place."""
    made = []
    for height in range(len(HEIGHTS)):
        if first[height] <= censored or np.mean(firsts[:, height] <= censored) > TAIL:
            made.append(Reach.CENSORED)
        elif first[height] >= length - 1 or np.mean(firsts[:, height] >= length - 1) > TAIL:
            made.append(Reach.NOT_REACHED)
        else:
            made.append(Reach.REACHED)
    return tuple(made)


def compared(
    frame: Frame,
    quick: Sequence[Trial],
    slow: Sequence[Trial],
    judge: Callable[[Interval], bool | None],
    x: str = "updates",
    names: tuple[str, str] | None = None,
) -> Finding:
    """A finding on how many times as many updates (or x) `slow` takes as `quick`, at each height that both reach.

    `names` are those of both where their solvers' names do not tell them apart.
    """
    both = pairs(quick, slow)
    first, second = (descent(frame, trials, x) for trials in both)
    apart = _differ_from(*both) if x == "updates" else 0.0
    if names is not None:
        first, second = (replace(one, solver=name) for one, name in zip((first, second), names, strict=True))
    states: list[bool | None] = []
    said: list[str] = []
    ratios: list[tuple[bool | None, Interval, str]] = []
    lacking: dict[str, list[str]] = {}
    for place, height in enumerate(HEIGHTS):
        words = f"{100 * height:g} %"
        censored = [one.solver for one in (first, second) if one.reach[place] is Reach.CENSORED]
        absent = [one.solver for one in (first, second) if one.reach[place] is Reach.NOT_REACHED]
        if absent:
            lacking.setdefault(f"not reached by {' and '.join(absent)}", []).append(words)
        elif censored:
            states.append(None)
            why = f"censored: {' and '.join(censored)} below at the first record"
            lacking.setdefault(why, []).append(words)
        elif max(first.places[place], second.places[place]) < apart:
            lacking.setdefault("reached while both are the same run", []).append(words)
        else:
            found = _ratio(first, second, place)
            states.append(judge(found))
            ratios.append((states[-1], found, words))
            said.append(f"{told(found)} at {words}{'' if states[-1] is not None else ' (undecided)'}")
    holds = together(states)
    without = [f"{', '.join(some)} {why}" for why, some in lacking.items()]
    both_names = f"{second.solver} against {first.solver}: "
    numbers = both_names + "; ".join(without)
    if said:
        taken = f"{second.solver} takes {', '.join(said)} times {first.solver}'s {UNITS[x]}"
        numbers = "; ".join([taken, *without])
    deciding = [(found, words) for state, found, words in ratios if state is holds]
    if deciding:
        brief = f"{second.solver} takes {_range([found for found, _ in deciding])} times {first.solver}'s {UNITS[x]}"
        brief += f" (at {_listed([words for _, words in deciding])})"
    else:
        brief = both_names + "; ".join(without)
    return Finding(holds, numbers if holds is not None else f"{numbers}; undecided at {first.repeats} repeats", brief)


def _differ_from(first: Sequence[Trial], second: Sequence[Trial]) -> float:
    """The updates of the first record at which P differs within a pair, the least over all pairs; 0 where none does.

    One order for all epochs and a new permutation for each are the same run in their first epoch: a height reached by
    then compares a run with itself.
    """
    found = []
    for one, other in zip(first, second, strict=True):
        updates = one.column("updates")
        if not np.array_equal(updates, other.column("updates")):
            return 0.0
        differ = np.flatnonzero(one.column("primal") != other.column("primal"))
        found.append(float(updates[differ[0]]) if differ.size else 0.0)
    return min(found, default=0.0)


def _range(ratios: Sequence[Interval]) -> str:
    """The smallest and the largest of some ratios with their intervals."""
    ordered = sorted(ratios, key=lambda one: one.estimate)
    least, most = told(ordered[0]), told(ordered[-1])
    return least if least == most else f"between {least} and {most}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _ratio(first: Descent, second: Descent, place: int) -> Interval:
    """How many times as much the second takes at a height, with its interval over resamples."""
    with np.errstate(invalid="ignore"):  # a resample that never reaches the height divides infinities
        draws = second.draws[:, place] / first.draws[:, place]
    return from_draws(float(second.places[place] / first.places[place]), draws, first.repeats)


def together(states: Sequence[bool | None]) -> bool | None:
    """Does not hold if it fails at one height, holds if it holds at all; nothing follows from no height."""
    if False in states:
        return False
    return True if states and None not in states else None


def faster(
    frame: Frame,
    quick: Sequence[Trial],
    slow: Sequence[Trial],
    x: str = "updates",
    names: tuple[str, str] | None = None,
) -> Finding:
    """Whether `quick` takes less than `slow` at every height that both reach."""
    return compared(frame, quick, slow, lambda found: above(found, 1.0), x, names)


def as_fast(
    frame: Frame, first: Sequence[Trial], second: Sequence[Trial], factor: float = SAME_SPEED.value, x: str = "updates"
) -> Finding:
    """Whether neither takes more than `factor` times as much as the other at any height that both reach."""
    return compared(frame, first, second, lambda found: inside(found, 1.0 / factor, factor), x)


def times_as_many(
    frame: Frame, quick: Sequence[Trial], slow: Sequence[Trial], low: float, high: float, x: str = "updates"
) -> Finding:
    """Whether `slow` takes between `low` and `high` times as much as `quick` at every height that both reach."""
    return compared(frame, quick, slow, lambda found: inside(found, low, high), x)
