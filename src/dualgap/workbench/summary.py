"""Summaries of finished runs: the winner, how sure that is, curves over repeats, and time to a gap."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.workbench.results_schema import is_number
from dualgap.workbench.store import FinishedRun

GAPS = (1e-2, 1e-3, 1e-6)
# Fields that fall by factors: between records they are interpolated geometrically.
GEOMETRIC = ("relative_gap", "suboptimality")
LOW, HIGH = 0.05, 0.95
AUTO = "auto"  # its reason begins with what it chose: "newton: the loss is smooth, …"
# Digits of the bounds of an optimum: as many as tell them apart, between these.
FEWEST_DIGITS, MOST_DIGITS = 9, 17
# Endings in the words of a narrow column; the sentence of each stands in the results file.
ENDINGS = {
    "CERTIFIED": "certified",
    "EPOCHS_EXHAUSTED": "out of epochs",
    "TIME_EXHAUSTED": "out of time",
    "STALLED": "stalled",
    "STOPPED": "stopped",
    "INTERRUPTED": "interrupted",
    "BROKEN": "broken",
    "REFUSED": "refused",
}

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """A solver's repeats together: medians of what they ended with."""

    solver: str
    runs: tuple[FinishedRun, ...]

    def median(self, name: str) -> float | None:
        """The median over repeats of a field's final value."""
        values = [value for value in (final(finished, name) for finished in self.runs) if value is not None]
        return statistics.median(values) if values else None

    @property
    def algorithm(self) -> str:
        """What ran: the solver that `auto` chose, where that is the same in all repeats, and else the contender itself."""
        chosen = {finished.reason.partition(":")[0] for finished in self.runs if ":" in finished.reason}
        return chosen.pop() if self.solver == AUTO and len(chosen) == 1 else self.solver

    @property
    def certified(self) -> bool:
        """Whether every repeat reached the tolerance."""
        return all(finished.status == "CERTIFIED" for finished in self.runs)

    @property
    def ending(self) -> str:
        """How its repeats ended, in words; where only some were certified, how many."""
        others = [finished.status for finished in self.runs if finished.status != "CERTIFIED"]
        if not others:
            return ENDINGS["CERTIFIED"]
        if len(others) < len(self.runs):
            return f"certified {len(self.runs) - len(others)}/{len(self.runs)}"
        return ENDINGS.get(others[-1], str(others[-1]).lower())

    @property
    def measure(self) -> str:
        """What it is ranked by."""
        return "call_seconds" if self.certified else "relative_gap"

    @property
    def rank(self) -> tuple[bool, float]:
        """Certified solvers by their time, then the others by their gap."""
        value = self.median(self.measure)
        return not self.certified, math.inf if value is None else value


@dataclass(frozen=True)
class Curve:
    """A solver's repeats as one line: the median and the 5–95 % band over repeats, on a common grid."""

    solver: str
    x: list[float]
    median: list[float]
    low: list[float]
    high: list[float]
    runs: int


@dataclass(frozen=True)
class Profile:
    """The fraction of problems a solver has done within each ratio of the best solver's effort; steps up at each ratio."""

    solver: str
    ratio: list[float]
    fraction: list[float]


def solver_of(finished: FinishedRun) -> str:
    """The name under which a run competes."""
    return str(finished.settings.get("solver", "unnamed"))


def is_rival(finished: FinishedRun) -> bool:
    """Whether it was seen from outside, another package or the user's own: then each record is a fit, one per tolerance."""
    return finished.settings.get("kind") in ("rival", "own")


def column(finished: FinishedRun, name: str) -> Numbers:
    """A field of the records as numbers, nan where there is none."""
    values = finished.records.get(name)
    if not isinstance(values, list):
        return np.empty(0)
    try:
        numbers = np.array(values, dtype=float)  # None becomes nan
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty((0, 0))
    return numbers if numbers.ndim == 1 else np.array([_number(value) for value in values], dtype=float)


def final(finished: FinishedRun, name: str) -> float | None:
    """What a run ended with. A rival's is the quickest fit that reached the tolerance, or else the one with the least gap."""
    if name == "seconds" and is_number(finished.update_seconds):
        return finished.update_seconds  # of the same call as its `call_seconds`
    values = column(finished, name)
    if not values.size:
        return None
    at = values.size - 1
    gaps, seconds = column(finished, "relative_gap"), column(finished, "call_seconds")
    if is_rival(finished) and gaps.size == values.size == seconds.size and not np.isnan(gaps).all():
        is_reached = gaps <= _number(finished.settings.get("tol", 0.0))
        absolute = column(finished, "gap")
        if finished.settings.get("gap_tol") and absolute.size == gaps.size:
            is_reached |= absolute <= _number(finished.settings["gap_tol"])
        reached = np.flatnonzero(is_reached)
        at = int(reached[np.argmin(seconds[reached])] if reached.size else np.nanargmin(gaps))
    return float(values[at]) if math.isfinite(values[at]) else None


def groups(runs: Iterable[FinishedRun]) -> dict[tuple[str, str, float], list[FinishedRun]]:
    """The runs that compete with each other, by data set and its features, loss and strength, in the order they first appear."""
    found: dict[tuple[str, str, float], list[FinishedRun]] = {}
    for finished in runs:
        data = str(finished.settings.get("data") or finished.data.get("name", "data"))
        if (features := finished.settings.get("features")) is not None:
            data = f"{data}, {features}"
        key = data, str(finished.settings.get("loss", "loss")), float(finished.strength)
        found.setdefault(key, []).append(finished)
    return found


def strength_words(finished: FinishedRun) -> str:
    """λ as it was typed, with its value where that depends on the rows: `0.01`, `1/n = 0.002198`."""
    typed, value = finished.settings.get("strength"), f"{finished.strength:.4g}"
    return f"{typed} = {value}" if isinstance(typed, str) and typed.endswith("/n") else value


def by_solver(runs: Iterable[FinishedRun]) -> dict[str, list[FinishedRun]]:
    """The repeats of each solver, in the order they first appear."""
    found: dict[str, list[FinishedRun]] = {}
    for finished in runs:
        found.setdefault(solver_of(finished), []).append(finished)
    return found


def standings(runs: Sequence[FinishedRun]) -> list[Standing]:
    """The solvers of a heat, best first."""
    table = [Standing(solver, tuple(repeats)) for solver, repeats in by_solver(runs).items()]
    return sorted(table, key=lambda standing: standing.rank)


def best_bounds(runs: Iterable[FinishedRun]) -> tuple[float, float] | None:
    """The best certified dual and primal of all runs, between which the optimum lies."""
    runs = list(runs)
    primals = [value for value in (_number(run.certificate.get("primal")) for run in runs) if math.isfinite(value)]
    duals = [value for value in (_number(run.certificate.get("dual")) for run in runs) if math.isfinite(value)]
    return (max(duals), min(primals)) if primals and duals else None


def bounds(runs: Sequence[FinishedRun]) -> str:
    """Where the optimum lies, by the best primal and the best dual of all runs."""
    found = best_bounds(runs)
    return "" if found is None else "Proven: the optimum lies between {} and {}.".format(*bounds_words(*found))


def bounds_words(dual: float, primal: float) -> tuple[str, str]:
    """Both bounds with as many digits as tell them apart, the lower rounded down and the upper one up, so that they hold as they are read."""
    digits = FEWEST_DIGITS
    while digits < MOST_DIGITS and f"{dual:.{digits}g}" == f"{primal:.{digits}g}":
        digits += 1

    def rounded(value: float, rounding: str) -> str:
        return f"{Context(prec=digits, rounding=rounding).create_decimal_from_float(value):g}"

    return rounded(dual, ROUND_FLOOR), rounded(primal, ROUND_CEILING)


def tol_of(runs: Iterable[FinishedRun]) -> float:
    """The relative gap that the runs of a heat were asked for; the smallest of the table where none was."""
    tolerances = [run.settings["tol"] for run in runs if isinstance(run.settings.get("tol"), float)]
    return max(tolerances, default=0.0) or GAPS[-1]


def with_suboptimality(runs: Iterable[FinishedRun], found: tuple[float, float] | None) -> list[FinishedRun]:
    """The runs with P − D* in their records, D* the best certified dual: a bound on P − P* that rests on one proof for all."""
    if found is None:
        return list(runs)
    return [
        replace(run, records=run.records | {"suboptimality": (column(run, "primal") - found[0]).tolist()})
        for run in runs
    ]


def goal_words(tol: float, gap_tol: float | None) -> str:
    """What ends the runs of a race."""
    return f"a relative gap of {tol:g}" + (f" or a gap of {gap_tol:g}" if gap_tol else "")


def duration(seconds: float) -> str:
    """Three digits and a unit: 4.21 ms, 1.20 s."""
    if seconds < 1000.0:
        seconds = float(f"{seconds:.3g}")  # 9.996 ms is 10.0 ms and not 10.00 ms, which would be a digit wider
    factor, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")
    value = seconds * factor
    return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def to_reach(runs: Iterable[FinishedRun], gap: float, measure: str = "call_seconds") -> float | None:
    """The median over the repeats of one solver until the judge certified a relative gap; None where it did so in less than half."""
    values = [_first(finished, gap, measure) for finished in runs]
    middle = statistics.median(values) if values else math.inf
    return middle if math.isfinite(middle) else None


def seconds_to(runs: Iterable[FinishedRun], gap: float) -> float | None:
    """Median seconds of a call until a relative gap was certified; None where half of the repeats never got there."""
    return to_reach(runs, gap, "call_seconds")


def epochs_to(runs: Iterable[FinishedRun], gap: float) -> float | None:
    """Median epochs until a relative gap was certified; None where half of the repeats never got there, or have no epochs."""
    return to_reach(runs, gap, "epoch")


def _first(finished: FinishedRun, gap: float, measure: str) -> float:
    x, gaps = _pair(finished, measure, "relative_gap")
    reached = x[gaps <= gap]
    return float(reached.min()) if reached.size else math.inf


def performance_profile(runs: Iterable[FinishedRun], gap: float, measure: str = "call_seconds") -> list[Profile]:
    """Dolan & Moré's profiles over the problems (data set, loss, strength) that some solver brought to the gap."""
    efforts: dict[str, list[float]] = {}
    problems = 0
    for heat in groups(runs).values():
        needed = {solver: to_reach(repeats, gap, measure) for solver, repeats in by_solver(heat).items()}
        best = min((value for value in needed.values() if value is not None), default=None)
        problems += best is not None
        for solver, value in needed.items():
            kept = efforts.setdefault(solver, [])
            if value is not None and best is not None:
                kept.append(value / best if best > 0 else 1.0 if value == best else math.inf)
    profiles = []
    for solver, ratios in efforts.items() if problems else ():
        ordered = sorted({ratio for ratio in ratios if math.isfinite(ratio)})
        profiles.append(Profile(solver, ordered, [sum(r <= ratio for r in ratios) / problems for ratio in ordered]))
    return profiles


def curves(
    runs: Iterable[FinishedRun],
    y: str = "relative_gap",
    x: str = "epoch",
    points: int = 200,
    at_rest: Collection[str] = ("CERTIFIED",),
) -> list[Curve]:
    """One curve per solver of a heat. Records without x or y are skipped, and solvers without any have no curve.

    Between records a repeat is interpolated, a gap geometrically. A repeat that ended early holds its last value if its
    status is one of `at_rest`, and is left out from there on otherwise; the curve ends where fewer than half of the
    repeats are left. A rival's points are its fits, medians per rung, in the order of x.
    """
    found = []
    for solver, repeats in by_solver(runs).items():
        drawn = _rungs(repeats, x, y) if is_rival(repeats[0]) else _lines(repeats, x, y, points, at_rest)
        if drawn is not None and drawn[0].size:
            grid, values = drawn
            low, middle, high = (_quantile(values, level).tolist() for level in (LOW, 0.5, HIGH))
            found.append(Curve(solver, grid.tolist(), middle, low, high, len(repeats)))
    return found


def _lines(
    repeats: Sequence[FinishedRun], x: str, y: str, points: int, at_rest: Collection[str]
) -> tuple[Numbers, Numbers] | None:
    """The common grid, and a row of values per repeat, nan where a repeat has none."""
    lines = [(finished, *_pair(finished, x, y)) for finished in repeats]
    lines = [line for line in lines if line[1].size]
    if not lines:
        return None
    grid = _thinned(np.unique(np.concatenate([line[1] for line in lines])), points)
    values = np.empty((len(lines), grid.size))
    for row, (finished, places, heights) in enumerate(lines):
        geometric = y in GEOMETRIC and bool((heights > 0).all())
        between = np.interp(grid, places, np.log(heights) if geometric else heights)
        values[row] = np.exp(between) if geometric else between
        values[row, grid < places[0]] = np.nan
        if finished.status not in at_rest:
            values[row, grid > places[-1]] = np.nan
    kept = 2 * np.isfinite(values).sum(axis=0) >= len(lines)
    return grid[kept], values[:, kept]


def _rungs(repeats: Sequence[FinishedRun], x: str, y: str) -> tuple[Numbers, Numbers] | None:
    """The same for separate fits: the median place of each rung, and its values over repeats."""
    pairs = [_pair(finished, x, y, ordered=False) for finished in repeats]
    count = min(places.size for places, _ in pairs)
    if not count:
        return None
    grid = np.median([places[:count] for places, _ in pairs], axis=0)
    order = np.argsort(grid, kind="stable")
    return grid[order], np.array([heights[:count] for _, heights in pairs])[:, order]


def _pair(finished: FinishedRun, x: str, y: str, ordered: bool = True) -> tuple[Numbers, Numbers]:
    """Two fields where both are numbers, in the order of the first."""
    places, heights = column(finished, x), column(finished, y)
    shorter = min(places.size, heights.size)
    places, heights = places[:shorter], heights[:shorter]
    known = np.isfinite(places) & np.isfinite(heights)
    places, heights = places[known], heights[known]
    if ordered and bool((np.diff(places) < 0).any()):
        order = np.argsort(places, kind="stable")
        places, heights = places[order], heights[order]
    return places, heights


def _thinned(grid: Numbers, points: int) -> Numbers:
    """At most `points` of the grid: half of them even, half dense at the start, where curves fall most."""
    if grid.size <= points:
        return grid
    even = np.linspace(0, grid.size - 1, points - points // 2)
    early = np.geomspace(1, grid.size, points // 2) - 1
    thinned: Numbers = grid[np.unique(np.round(np.concatenate([even, early])).astype(int))]
    return thinned


def _quantile(values: Numbers, level: float) -> Numbers:
    """A quantile of each column over the numbers in it; every column has one at least."""
    ordered = np.sort(values, axis=0)  # nan goes last
    place = level * (np.isfinite(values).sum(axis=0) - 1)
    below = np.floor(place).astype(int)
    above, columns = np.ceil(place).astype(int), np.arange(values.shape[1])
    lower = ordered[below, columns]
    quantile: Numbers = lower + (place - below) * (ordered[above, columns] - lower)
    return quantile


def _number(value: Any) -> float:
    return float(value) if is_number(value) else math.nan


def or_infinite(value: float | None) -> float:
    return math.inf if value is None else value
