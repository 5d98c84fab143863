"""The rules of R2's claims: pure functions of a frame."""

from __future__ import annotations

import math

from dualgap.replication.frames import Frame, Missing, Trial
from dualgap.replication.heights import as_fast, faster, times_as_many, together
from dualgap.replication.intervals import (
    Interval,
    finding,
    inside,
    is_above_zero,
    is_inside,
    is_some,
    mean_interval,
    ratio_interval,
    told,
)
from dualgap.replication.margins import (
    COMPARABLE_SPEED,
    NEAR_SIXTY,
    ONE_HELD_OUT,
    SAME_ACCURACY,
    SAME_STABILITY,
    SIX_TIMES,
    SLIGHT_ACCURACY,
    SLIGHTLY_BETTER,
)
from dualgap.replication.measures import differences, end, finals, left_at, over, pairs, roughness
from dualgap.replication.verdicts import Finding, Part, Verdict, number, part, percent, verdict

SDCA, PERMUTATION, STORED = "SDCA", "SDCA permutation", "SDCA stored order"
PEGASOS, PEGASOS_PERMUTATION, PEGASOS_STORED = "Pegasos", "Pegasos permutation", "Pegasos stored order"
AVERAGE, RANDOM = "average output", "random output"
EARLY = ", early T₀"
BREAST, SIMULATED = "R2.breast cancer", "R2.simulated"
SIGNS, ZEROS = "R2.labels −1/+1", "R2.labels 0/1"
FIRST_UPDATES = 100
PRINTED_CODE = (
    "With rows in their stored order, which the printed loop over range(len(perm)) takes: its permutation is never used"
)
POINTS = "{:+.4f}".format


def permutations(frame: Frame) -> Verdict:
    """R2.1: SDCA in fewer updates by permutation on both data sets; Pegasos on breast cancer no clear difference."""

    def helps(experiment: str, name: str) -> Finding:
        return faster(frame, frame.of(experiment, name), frame.of(experiment, SDCA))

    def debatable(name: str) -> Finding:
        return as_fast(frame, frame.of(BREAST, name), frame.of(BREAST, PEGASOS))

    def make(sdca: str, pegasos: str) -> list[Part]:
        return [
            part("permutation helps SDCA on breast cancer data", helps, BREAST, sdca),
            part("permutation helps SDCA on simulated data", helps, SIMULATED, sdca),
            part("for Pegasos on breast cancer data it makes no clear difference", debatable, pegasos),
        ]

    why = "The verdict comes from a new permutation for each epoch, which is what the report means."
    return verdict(make(PERMUTATION, PEGASOS_PERMUTATION), why, beside={PRINTED_CODE: make(STORED, PEGASOS_STORED)})


def breast_cancer(frame: Frame) -> Verdict:
    """R2.2: accuracy near 60 % (55 to 67), Pegasos ahead after 100 updates, and settling at least 3 times as late.

    Accuracies are those of raw columns with λ = 1/n; curves those of rows of length at most 1, where they come down.
    """

    def near_sixty(name: str) -> Finding:
        return is_inside(mean_interval(finals(frame.of(SIGNS, name), "test_score")), *NEAR_SIXTY, percent)

    def ahead() -> Finding:
        def left(trial: Trial) -> float:
            return left_at(frame, trial, "updates", FIRST_UPDATES)

        found = mean_interval(differences(frame.of(BREAST, PERMUTATION), frame.of(BREAST, PEGASOS), left))
        return is_above_zero(found, 0.0, percent, "way left by SDCA minus way left by Pegasos: ")

    def later() -> Finding:
        return times_as_many(frame, frame.of(BREAST, PERMUTATION), frame.of(BREAST, PEGASOS), SIX_TIMES, math.inf)

    parts = [
        part("SDCA permutation scores near 60 %", near_sixty, PERMUTATION),
        part("Pegasos scores near 60 %", near_sixty, PEGASOS),
        part(f"Pegasos is lower after {FIRST_UPDATES} updates", ahead),
        part("Pegasos settles at least 3 times as late (3,000 against 500 updates)", later),
    ]
    return verdict(parts, _labels(frame))


def _labels(frame: Frame) -> str:
    """The hypothesis that the labels were left at 0/1, tested: both scores near 60 % so, and both above it otherwise."""
    names = (PERMUTATION, PEGASOS)
    try:
        zeros, signs = (
            [mean_interval(finals(frame.of(experiment, name), "test_score")) for name in names]
            for experiment in (ZEROS, SIGNS)
        )
    except Missing:
        return ""
    fits = all(inside(one, *NEAR_SIXTY) for one in zeros) and all(inside(one, NEAR_SIXTY[1], 1.0) for one in signs)
    said = "; ".join(f"{name} {told(one, percent)}" for name, one in zip(names, zeros, strict=True))
    return (
        f"Hypothesis: the report left the labels at 0/1. Tested with such labels: {said}. The numbers "
        f"{'agree with the hypothesis, which they do not prove' if fits else 'do not support the hypothesis'}."
    )


def outputs(frame: Frame) -> Verdict:
    """R2.3: average against random output, and both with T₀ ten times smaller."""

    def change(experiment: str, suffix: str = "", sign: float = 1.0) -> Interval:
        average, drawn = (frame.of(experiment, name + suffix) for name in (AVERAGE, RANDOM))
        return mean_interval(sign * differences(average, drawn, lambda trial: end(trial, "test_score")))

    def equal() -> Finding:
        margin = SAME_ACCURACY.value
        return is_inside(change(SIGNS), -margin, margin, POINTS, "average minus random: ")

    def slight() -> Finding:
        found, margin = change(SIMULATED), SLIGHT_ACCURACY.value
        states = (is_some(found, ONE_HELD_OUT.value), inside(found, -margin, margin))
        return finding(together(states), found, f"average minus random: {told(found, POINTS)}")

    def worse() -> Finding:
        return is_above_zero(change(SIMULATED, EARLY, -1.0), SAME_ACCURACY.value / 2, POINTS, "random minus average: ")

    parts = [
        part("equal on breast cancer data (within a point)", equal),
        part("a slight difference on simulated data (at most 2 points, not 0)", slight),
        part("with T₀ ten times smaller the average is worse than the random iterate", worse),
    ]
    return verdict(parts)


def simulated_data(frame: Frame) -> Verdict:
    """R2.4: speeds within a factor 1.5, jumps within a factor 2, SDCA ahead by at most 3 points."""

    def both() -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
        return pairs(frame.of(SIMULATED, PERMUTATION), frame.of(SIMULATED, PEGASOS))

    def stable() -> Finding:
        sdca, pegasos = (over(some, lambda one: roughness(frame, one)) for some in both())
        margin = SAME_STABILITY.value
        return is_inside(
            ratio_interval(pegasos, sdca), 1.0 / margin, margin, number, "jumps of Pegasos by jumps of SDCA: "
        )

    def accurate() -> Finding:
        found = mean_interval(differences(*both(), lambda trial: end(trial, "test_score")))
        return is_inside(found, 1e-12, SLIGHTLY_BETTER.value, POINTS, "SDCA minus Pegasos: ")

    parts = [
        part("equal speed (within a factor 1.5)", lambda: as_fast(frame, *both(), COMPARABLE_SPEED.value)),
        part("equal stability (within a factor 2)", stable),
        part("SDCA is slightly more accurate (by up to 3 points)", accurate),
    ]
    return verdict(parts)
