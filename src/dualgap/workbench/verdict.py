"""The sentence that closes a heat: the winner, by how much, how sure that is, and what the best dual of all says of the others."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from dualgap.workbench.store import FinishedRun
from dualgap.workbench.summary import (
    Numbers,
    Standing,
    best_bounds,
    column,
    duration,
    final,
    goal_words,
    or_infinite,
    standings,
)

# A second place below 1.2 times the winner's seconds is called close.
CLOSE = 1.2
MANY_TIMES = 1e6


def verdict(runs: Sequence[FinishedRun], tol: float) -> str:
    """One sentence: the winner, by how much, and how sure that is. All that was seen of any contender is what the judge certified."""
    ranked = standings(runs)
    if not ranked:
        return "No run was finished, so there is no winner."
    best, *others = ranked
    goal = goal_words(tol, runs[0].settings.get("gap_tol"))
    measure = best.measure
    value = best.median(measure) or 0.0
    reached = f"reached {_reached(best, tol)}, by the judge's certificate, in a call of {duration(value)}"
    comma = "," if "," in best.algorithm else ""  # "sdca, then newton"
    chose = f"chose {best.algorithm}{comma} and " if best.algorithm != best.solver else ""
    if best.certified:
        said = f"{best.solver} {chose}{reached}" if not others else f"{best.solver} wins: it {chose}{reached}"
    else:
        said = f"None reached {goal} by the judge's certificate; {best.solver} came closest with {value:.1e}"
    # The solver that `auto` chose and `auto` itself are one algorithm twice, and no rivals.
    twins = [other for other in others if other.algorithm == best.algorithm]
    others = [other for other in others if other not in twins]
    rivals = [other for other in others if other.certified == best.certified]
    said += "".join(_twin_words(best, twin, measure, value) for twin in twins if twin.certified == best.certified)
    if not others:
        return f"{said}, without a rival."
    more = _by_best_dual(ranked, tol)
    if not rivals:
        return f"{said}, and no other contender got there.{more}"
    second = rivals[0]
    ratio = (second.median(measure) or 0.0) / value if value else math.inf
    said += f", {second.solver} next with {_times(ratio)} as much; {_sureness(best, rivals, measure, ratio)}."
    return said + more


def _twin_words(best: Standing, twin: Standing, measure: str, value: float) -> str:
    ratio = (twin.median(measure) or 0.0) / value if value else math.inf
    which = f"{twin.solver}, which chose it," if twin.algorithm != twin.solver else f"{twin.solver} by itself"
    return f" ({which} took {_times(ratio)} as much)" if best.certified else f" ({which} left {_times(ratio)} as much)"


def _reached(best: Standing, tol: float) -> str:
    """The goal that ended the winner's runs: the relative gap, the absolute one, or both where repeats differ."""
    gap_tol = best.runs[0].settings.get("gap_tol")
    within = {or_infinite(final(run, "relative_gap")) <= tol for run in best.runs}
    if gap_tol and within == {False}:
        return f"a gap of {gap_tol:g}"
    return goal_words(tol, gap_tol if False in within else None)


def _times(ratio: float) -> str:
    digits = 2 if ratio < 2 else 1 if ratio < 10 else 0
    return f"{ratio:,.{digits}f} times" if ratio < MANY_TIMES else "millions of times"


def _sureness(best: Standing, rivals: Sequence[Standing], measure: str, ratio: float) -> str:
    repeats = len(best.runs)
    if repeats == 1:
        return f"one run each{', and too close to be sure' if ratio < CLOSE else ''}, so let --repeats 5 confirm it"
    ahead = 0
    for finished in best.runs:
        seed, mine = finished.settings.get("seed"), or_infinite(final(finished, measure))
        same_seed = [run for rival in rivals for run in rival.runs if run.settings.get("seed") == seed]
        ahead += all(mine < or_infinite(final(run, measure)) for run in same_seed)
    if ahead == repeats and ratio >= CLOSE:
        return f"ahead in all {repeats} repeats"
    return f"ahead in {ahead} of {repeats} repeats, too close to be sure"


def _by_best_dual(ranked: Sequence[Standing], tol: float) -> str:
    """What the best dual of the race says of contenders that carry no good duals of their own; empty where nothing is to say.

    A contender that is seen from outside has only the duals that its weights suggest. They prove little under a loss with a kink,
    so that its own gap is no measure of its weights; P − D*, with D* the best certified dual of all, is.
    """
    found = best_bounds([run for standing in ranked for run in standing.runs])
    if found is None:
        return ""
    dual, best = found[0], ranked[0]
    if best.certified:
        calls = {one.solver: _call_within(one, dual, tol) for one in ranked if not one.certified}
        solver, call = min(calls.items(), key=lambda item: item[1], default=("", math.inf))
        if not call < or_infinite(best.median("call_seconds")):
            return ""
        return f" By its objective and the best dual of the race, {solver} came as close in a shorter call, of {duration(call)}."
    above = {one.solver: _least_above(one, dual) for one in ranked}
    solver = min(above, key=lambda name: above[name])
    if not above[solver] < above[best.solver]:
        return ""
    return (
        f" The lowest objective is that of {solver}: by the best dual of the race it is at most {above[solver]:.1e} above "
        f"the optimum, relative to itself, and that of {best.solver} {above[best.solver]:.1e}."
    )


def _least_above(standing: Standing, dual: float) -> float:
    """The median over repeats of the least (P − D*)/P that a contender reached."""
    return float(statistics.median(np.nanmin(_above(run, dual), initial=math.inf) for run in standing.runs))


def _call_within(standing: Standing, dual: float, tol: float) -> float:
    """The median over repeats of the seconds of a call until (P − D*)/P ≤ tol; infinite where half of them never got there."""
    calls = []
    for run in standing.runs:
        above, seconds = _above(run, dual), column(run, "call_seconds")
        within = seconds[above <= tol] if seconds.size == above.size else np.empty(0)
        calls.append(np.nanmin(within, initial=math.inf))
    return float(statistics.median(calls))


def _above(run: FinishedRun, dual: float) -> Numbers:
    """(P − D*)/P of each record, a bound on (P − P*)/P."""
    primal = column(run, "primal")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a results file can have any number
        above: Numbers = np.maximum(primal - dual, 0.0) / primal
    return above
