"""The rules of R0's claims about outputs: accuracies of table 2, coefficients of figure 7, random stopping."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dualgap.replication.frames import Frame, Missing, Numbers, Trial
from dualgap.replication.intervals import (
    Interval,
    finding,
    fraction_interval,
    inside,
    is_above_zero,
    is_inside,
    mean_interval,
    median_interval,
    prediction_interval,
    ratio_interval,
    told,
)
from dualgap.replication.margins import MUCH_NEARER, ONE_ROW, SAME_DIRECTION, TELLING_ACCURACY, UNIMPORTANT
from dualgap.replication.measures import CUT_SHORT, angle, differences, distance, end, finals, over, pairs, way_left
from dualgap.replication.rules_r0 import (
    ASDCA,
    CYCLIC,
    MINI,
    MINI_PROJECTED,
    PEGASOS,
    PERMUTATION,
    PROJECTED,
    SDCA,
)
from dualgap.replication.verdicts import Finding, Verdict, all_of, number, part, percent, verdict

AVERAGED = ", averaged"
TABLE = "R0.table 2"
STOP = "R0.random stop"
# Table 2 of R0: accuracy of the last iterate and of the average.
TABLE_2 = {
    SDCA: (0.863, 0.872),
    PERMUTATION: (0.881, 0.875),
    CYCLIC: (0.872, 0.875),
    PEGASOS: (0.866, 0.863),
    PROJECTED: (0.860, 0.869),
    ASDCA: (0.869, 0.875),
    MINI: (0.881, 0.866),
    MINI_PROJECTED: (0.872, 0.878),
}
BETA = 0.878
TEST_ROWS = 330
# At a random iteration a run has come down when at most this fraction of the way is left.
DOWN = 0.1


def _agrees(values: Numbers, printed: float, name: str) -> Finding:
    """Whether a printed accuracy lies where 95 % of the draws do; a range too wide to tell decides nothing."""
    found = prediction_interval(values)
    holds: bool | None = None
    if found.is_known and found.high - found.low <= 2.0 * TELLING_ACCURACY.value:
        holds = found.low - 1e-9 <= printed <= found.high + 1e-9
    said = f"{name} {printed:.3f} {'in' if holds else 'against'} {found.low:.3f} to {found.high:.3f}"
    return finding(holds, found, said)


def table_2(frame: Frame) -> Verdict:
    """R0.4: each accuracy of table 2 in the range of 95 % of the draws; averages within two points of last iterates."""

    def printed(place: int, suffix: str) -> Finding:
        return all_of(
            [
                _agrees(finals(frame.of(TABLE, name + suffix), "test_score"), both[place], name)
                for name, both in TABLE_2.items()
            ]
        )

    def of_beta() -> Finding:
        return _agrees(np.array(frame.fact("R0.table 2/accuracy of beta"), dtype=float), BETA, "β")

    def averaging() -> Finding:
        margin = UNIMPORTANT.value
        return all_of(
            [
                is_inside(_change(frame, name + AVERAGED, name), -margin, margin, "{:+.4f}".format, f"{name} ")
                for name in TABLE_2
            ]
        )

    parts = [
        part("the accuracies of the last iterates fit those of new draws", printed, 0, ""),
        part("the accuracies of the averages fit those of new draws", printed, 1, AVERAGED),
        part("so does the accuracy 0.878 of β itself", of_beta),
        part("averaging changes the accuracy by at most two points", averaging),
    ]
    return verdict(parts, "The range holds 95 % of the draws of the data; a printed accuracy is one draw.")


def _change(frame: Frame, after: str, before: str) -> Interval:
    """The mean change of the test accuracy from one solver to another, over draws of the data."""
    first, second = frame.of(TABLE, after), frame.of(TABLE, before)
    return mean_interval(differences(first, second, lambda trial: end(trial, "test_score")))


def projection_accuracy(frame: Frame) -> Verdict:
    """R0.5b: the change of accuracy by projection, over pairs of equal data."""

    def changed(plain: str, projected: str, suffix: str, sign: float) -> Finding:
        found = _change(frame, projected + suffix, plain + suffix)
        if sign < 0:
            found = Interval(-found.estimate, -found.high, -found.low, found.repeats)
        words = "raised" if sign > 0 else "lowered"
        return is_above_zero(found, ONE_ROW.value, "{:+.4f}".format, f"{words} by ")

    parts = [
        part(
            f"projection {words} accuracy of {plain}",
            *(changed, plain, projected, suffix, sign),
        )
        for plain, projected in ((PEGASOS, PROJECTED), (MINI, MINI_PROJECTED))
        for suffix, sign, words in ((AVERAGED, 1.0, "raises the averaged"), ("", -1.0, "lowers the un-averaged"))
    ]
    one = math.sqrt(BETA * (1.0 - BETA) / TEST_ROWS)
    return verdict(parts, f"The accuracy of one run on {TEST_ROWS} rows has a standard error of {percent(one)}.")


def coefficients(frame: Frame) -> Verdict:
    """R0.10: averaging does not cut the distance to β, both of length 1, by a tenth or more."""

    def ratio(name: str) -> Finding:
        averaged, last = pairs(frame.of(TABLE, name + AVERAGED), frame.of(TABLE, name))
        found = ratio_interval(over(averaged, angle), over(last, angle))
        return is_inside(found, MUCH_NEARER.value, math.inf, number, "distance averaged by distance last: ")

    parts = [part(f"averaging does not bring {name} nearer to β", ratio, name) for name in (SDCA, PEGASOS, ASDCA, MINI)]
    return verdict(parts)


def projected_vectors(frame: Frame) -> Verdict:
    """R0.12: the weights with and without projection point the same way, on pairs of equal data."""

    def apart(plain: str, projected: str) -> Finding:
        first, second = pairs(frame.of(TABLE, plain), frame.of(TABLE, projected))
        found = median_interval(np.array([_apart(*both) for both in zip(first, second, strict=True)]))
        return is_inside(found, 0.0, SAME_DIRECTION.value, "{:.4f}".format, "distance of the unit vectors: ")

    parts = [
        part(
            f"the weights of {plain}{suffix} are very similar with and without projection",
            *(apart, plain + suffix, projected + suffix),
        )
        for plain, projected in ((PEGASOS, PROJECTED), (MINI, MINI_PROJECTED))
        for suffix in ("", AVERAGED)
    ]
    return verdict(parts)


def _apart(first: Trial, second: Trial) -> float:
    if first.weights is None or second.weights is None:
        raise Missing("the weights of table 2 were not kept")
    cut = first.status in CUT_SHORT or second.status in CUT_SHORT
    return math.nan if cut else distance(first.weights, second.weights)


def random_stop(frame: Frame) -> Verdict:
    """R0.11: at a random iteration P is near the optimum in at least half of the runs.

    The theorem's bound is a part of its own only where it is below P(0) − P*, which zero weights meet already.
    """
    trials = frame.of(STOP, PEGASOS)
    first = trials[0]
    bound, start = _bound(frame, first), float(first.column("primal")[0]) - frame.optimum(first)

    def fraction(kept: Sequence[bool]) -> Finding:
        found = fraction_interval(np.array(kept))
        holds = None if any(one.status in CUT_SHORT for one in trials) else inside(found, 0.5, math.inf)
        return finding(holds, found, told(found, percent))

    parts = [
        part(
            "at least half of the runs have at most a tenth of the way left",
            *(fraction, [bool(way_left(frame, one)[-1] <= DOWN) for one in trials]),
        )
    ]
    if bound < start:
        within = [one.last("primal") - frame.optimum(one) <= bound for one in trials]
        parts.append(part("at least half of the runs are within the theorem's bound", fraction, within))
        return verdict(parts, f"The theorem's bound on P − P* is {number(bound)}.")
    return verdict(
        parts,
        f"The theorem's bound says nothing here: it allows P − P* to be {number(bound)}, where zero weights have "
        f"{number(start)} already. It is therefore no part of the verdict.",
    )


def _bound(frame: Frame, trial: Trial) -> float:
    """42c·ln(T/δ)/(λT) with c = 4R², which is without projection, and δ = ½."""
    radius, updates = float(frame.fact("R0.random stop/longest row")), trial.last("updates")
    return 42.0 * 4.0 * radius**2 * math.log(2.0 * updates) / (trial.strength * updates)
