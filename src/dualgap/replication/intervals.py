"""Intervals: 95 % intervals over repeats by a seeded bootstrap, and what follows from one: holds, does not, undecided.

Repeats are resampled by the same row numbers for every solver, so that a resample holds the same seeds for all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dualgap.replication.frames import Numbers
from dualgap.replication.verdicts import Finding, number

RESAMPLES, SEED = 1000, 2017
TAIL = 0.025
NORMAL = 1.959963984540054  # the normal deviate that leaves TAIL above it
# Fewer repeats resample to so few different sets that their spread says nothing.
LEAST_REPEATS = 5
# A mean of equal values differs from that of a resample by less.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Interval:
    """An estimate over repeats with its 95 % interval."""

    estimate: float
    low: float
    high: float
    repeats: int

    @property
    def is_known(self) -> bool:
        """Whether it may decide anything: enough repeats, each of them measured, and the estimate among its resamples."""
        is_measured = self.repeats >= LEAST_REPEATS and not math.isnan(self.estimate + self.low + self.high)
        return is_measured and self._holds_its_estimate()

    def _holds_its_estimate(self) -> bool:
        """A median that jumps between two values can lie outside the interval of its resamples, which then says nothing of it."""
        ends = (math.isclose(self.estimate, end, rel_tol=ROUNDING, abs_tol=ROUNDING) for end in (self.low, self.high))
        return self.low <= self.estimate <= self.high or any(ends)


@functools.lru_cache(maxsize=16)
def resamples(count: int) -> NDArray[np.int64]:
    """RESAMPLES draws of `count` repeats out of `count`, with replacement; the same for every call."""
    return np.random.default_rng((SEED, count)).integers(0, count, (RESAMPLES, count))


def from_draws(estimate: float, draws: Numbers, repeats: int) -> Interval:
    """The interval of an estimate whose bootstrap draws are given; a draw that is nan may be anything."""
    unknown = np.isnan(draws)
    low = np.quantile(np.where(unknown, -np.inf, draws), TAIL, method="lower")
    high = np.quantile(np.where(unknown, np.inf, draws), 1.0 - TAIL, method="higher")
    return Interval(estimate, float(low), float(high), repeats)


def mean_interval(values: Numbers) -> Interval:
    """The mean of one value a repeat; unknown where one of them is nan."""
    if values.size == 0 or np.isnan(values).any():
        return Interval(math.nan, math.nan, math.nan, int(values.size))
    return from_draws(float(np.mean(values)), np.mean(values[resamples(values.size)], axis=1), int(values.size))


def median_interval(values: Numbers) -> Interval:
    """The median of one value a repeat; a value that is nan may be anything."""
    if _is_unknown(values):
        return Interval(math.nan, math.nan, math.nan, int(values.size))
    lows, highs = (_medians(values, unknown, resamples(values.size)) for unknown in (-math.inf, math.inf))
    return _between(float(np.nanmedian(values)), lows, highs, int(values.size))


def ratio_interval(first: Numbers, second: Numbers) -> Interval:
    """The median of `first` divided by the median of `second`, over pairs of repeats of quantities that are not negative.

    A value that is nan may be anything from 0 on.
    """
    if _is_unknown(first) or _is_unknown(second):
        return Interval(math.nan, math.nan, math.nan, int(first.size))
    drawn = resamples(first.size)
    lows, highs = ([_medians(values, unknown, drawn) for values in (first, second)] for unknown in (0.0, math.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(np.nanmedian(first) / np.nanmedian(second))
        return _between(estimate, lows[0] / highs[1], highs[0] / lows[1], int(first.size))


def _is_unknown(values: Numbers) -> bool:
    return values.size == 0 or bool(np.isnan(values).all())


def _medians(values: Numbers, unknown: float, drawn: NDArray[np.int64]) -> Numbers:
    """The median of each resample, with a number in place of each value that is nan."""
    medians: Numbers = np.median(np.where(np.isnan(values), unknown, values)[drawn], axis=1)
    return medians


def _between(estimate: float, lows: Numbers, highs: Numbers, repeats: int) -> Interval:
    """The interval whose ends follow from the lowest and from the highest draws."""
    return Interval(
        estimate, from_draws(estimate, lows, repeats).low, from_draws(estimate, highs, repeats).high, repeats
    )


def regret_interval(ahead: Numbers) -> Interval:
    """How far the best of some values is ahead of one of them, in the mean over repeats.

    `ahead` has a row for each value, that one among them, and a column for each repeat. Each resample has its own best: a
    value that is the best of the sample may be behind another by chance.
    """
    repeats = int(ahead.shape[1])
    if repeats == 0 or np.isnan(ahead).any():
        return Interval(math.nan, math.nan, math.nan, repeats)
    draws = ahead[:, resamples(repeats)].mean(axis=2).max(axis=0)
    return from_draws(float(ahead.mean(axis=1).max()), draws, repeats)


def fraction_interval(flags: NDArray[np.bool_]) -> Interval:
    """The fraction of repeats of which something is true, by Wilson's formula: resampled fractions of 0 and 1 have no width."""
    count = int(flags.size)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    fraction, square = float(np.mean(flags)), NORMAL**2 / count
    center = (fraction + square / 2.0) / (1.0 + square)
    spread = NORMAL * math.sqrt(fraction * (1.0 - fraction) / count + square / (4.0 * count)) / (1.0 + square)
    return Interval(fraction, center - spread, center + spread, count)


def prediction_interval(values: Numbers) -> Interval:
    """The median of one value a repeat, and the range that holds 95 % of the repeats."""
    if values.size == 0 or np.isnan(values).any():
        return Interval(math.nan, math.nan, math.nan, int(values.size))
    low, high = np.quantile(values, [TAIL, 1.0 - TAIL])
    return Interval(float(np.median(values)), float(low), float(high), int(values.size))


def inside(found: Interval, low: float, high: float) -> bool | None:
    """Whether the quantity lies in [low, high]: True or False where its whole interval does or does not."""
    if not found.is_known:
        return None
    if low <= found.low and found.high <= high:
        return True
    return False if found.high < low or found.low > high else None


def above(found: Interval, none: float) -> bool | None:
    """Whether the quantity is above `none`: True or False where its whole interval is above or below."""
    if not found.is_known:
        return None
    return True if found.low > none else False if found.high < none else None


def above_zero(found: Interval, least: float) -> bool | None:
    """Whether a difference is above 0; one that is shown to be at most `least`, whatever its sign, is none."""
    holds = above(found, 0.0)
    return False if holds is None and inside(found, -least, least) else holds


def is_some(found: Interval, least: float) -> bool | None:
    """Whether a difference is not 0; one that is shown to be at most `least`, whatever its sign, is none."""
    holds = above_zero(found, least)
    return True if holds is False and found.high < 0.0 else holds


def told(found: Interval, words: Callable[[float], str] = number) -> str:
    """An estimate with its interval."""
    if math.isnan(found.estimate):
        return "not known from these runs"
    return f"{words(found.estimate)} ({words(found.low)} to {words(found.high)})"


def finding(holds: bool | None, found: Interval, said: str) -> Finding:
    """What is said of an interval, and that it decides nothing where it does not."""
    return Finding(holds, said if holds is not None else f"{said}, undecided at {found.repeats} repeats")


def is_inside(
    found: Interval, low: float, high: float, words: Callable[[float], str] = number, before: str = ""
) -> Finding:
    """The finding on a quantity that should lie in [low, high]."""
    return finding(inside(found, low, high), found, before + told(found, words))


def is_above_zero(found: Interval, least: float, words: Callable[[float], str] = number, before: str = "") -> Finding:
    """The finding on a difference that should be above 0, where `least` is the smallest that counts as one."""
    return finding(above_zero(found, least), found, before + told(found, words))
