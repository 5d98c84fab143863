"""The rules of R2's claims: pure functions of a frame. docs/replication.md lists what was changed after a result."""

from __future__ import annotations

import numpy as np

from dualgap.replication.frames import Frame
from dualgap.replication.measures import alike, finals, median_down, middle, roughness, way_left
from dualgap.replication.verdicts import Part, Verdict, number, percent, times, verdict

SDCA, PERMUTATION = "SDCA", "SDCA permutation"
PEGASOS, PEGASOS_PERMUTATION = "Pegasos", "Pegasos permutation"
AVERAGE, RANDOM = "average output", "random output"
EARLY = ", early T₀"
BREAST, SIMULATED = "R2.breast cancer", "R2.simulated"
SIGNS, ZEROS = "R2.labels −1/+1", "R2.labels 0/1"
NEAR_SIXTY = (0.55, 0.67)
FIRST_UPDATES = 100
POINT = 0.01


def permutations(frame: Frame) -> Verdict:
    """R2.1: SDCA in fewer updates by permutation on both data sets; Pegasos on breast cancer no clear difference."""
    parts = []
    for experiment in (BREAST, SIMULATED):
        first, second = (median_down(frame, frame.of(experiment, name)) for name in (PERMUTATION, SDCA))
        words = experiment.removeprefix("R2.")
        said = f"{number(first)} updates by permutation, {number(second)} at random"
        parts.append(Part(f"permutation helps SDCA on {words} data", first < second, said))
    first, second = (median_down(frame, frame.of(BREAST, name)) for name in (PEGASOS_PERMUTATION, PEGASOS))
    parts.append(
        Part(
            "for Pegasos on breast cancer data it makes no clear difference (within a quarter)",
            alike(first, second, factor=1.25) or first == second,
            f"{number(first)} updates by permutation, {number(second)} at random",
        )
    )
    rows = frame.of(BREAST, SDCA)[0].rows
    return verdict(
        parts, failing=f"On breast cancer data an epoch is {rows:,} updates, and an order is hardly one before its end."
    )


def breast_cancer(frame: Frame) -> Verdict:
    """R2.2: accuracy near 60 % (55 to 67), Pegasos ahead after 100 updates, and settling at least 3 times as late.

    Accuracies are those of raw columns with λ = 1/n; curves those of rows of length at most 1, where they come down.
    """
    scores = {name: middle(finals(frame.of(SIGNS, name), "test_score")) for name in (PERMUTATION, PEGASOS)}
    unsigned = {name: middle(finals(frame.of(ZEROS, name), "test_score")) for name in (PERMUTATION, PEGASOS)}
    parts = [
        Part(f"{name} scores near 60 %", NEAR_SIXTY[0] <= score <= NEAR_SIXTY[1], percent(score))
        for name, score in scores.items()
    ]
    left = {}
    for name in (PERMUTATION, PEGASOS):
        values = []
        for trial in frame.of(BREAST, name):
            known = np.flatnonzero(trial.column("updates") <= FIRST_UPDATES)
            values.append(float(way_left(frame, trial)[known[-1]]))
        left[name] = middle(values)
    speeds = {name: median_down(frame, frame.of(BREAST, name)) for name in (PERMUTATION, PEGASOS)}
    parts += [
        Part(
            f"Pegasos is lower after {FIRST_UPDATES} updates",
            left[PEGASOS] < left[PERMUTATION],
            f"{number(left[PEGASOS])} of the way left against {number(left[PERMUTATION])}",
        ),
        Part(
            "Pegasos settles at least 3 times as late (3,000 against 500 updates)",
            speeds[PEGASOS] >= 3.0 * speeds[PERMUTATION] and np.isfinite(speeds[PERMUTATION]),
            f"{number(speeds[PEGASOS])} against {number(speeds[PERMUTATION])} updates",
        ),
    ]
    said = " and ".join(percent(score) for score in unsigned.values())
    both = all(NEAR_SIXTY[0] <= score <= NEAR_SIXTY[1] for score in unsigned.values())
    better = min(scores.values()) > NEAR_SIXTY[1]
    why = f"With labels left at 0/1 the two score {said}"
    why += (
        ", near the printed 60 %, and with −1/+1 far more: the labels explain the number." if both and better else "."
    )
    return verdict(parts, why)


def outputs(frame: Frame) -> Verdict:
    """R2.3: average against random output, and both with T₀ ten times smaller."""

    def scores(experiment: str, suffix: str = "") -> tuple[float, float]:
        average, drawn = (
            middle(finals(frame.of(experiment, name + suffix), "test_score")) for name in (AVERAGE, RANDOM)
        )
        return average, drawn

    breast, simulated, early = scores(SIGNS), scores(SIMULATED), scores(SIMULATED, EARLY)
    parts = [
        Part(
            "equal on breast cancer data (within a point)",
            abs(breast[0] - breast[1]) <= POINT,
            f"average {percent(breast[0])}, random {percent(breast[1])}",
        ),
        Part(
            "a slight difference on simulated data (at most 2 points, not 0)",
            0.0 < abs(simulated[0] - simulated[1]) <= 2 * POINT,
            f"average {percent(simulated[0])}, random {percent(simulated[1])}",
        ),
        Part(
            "with T₀ ten times smaller the average is worse than the random iterate",
            early[0] < early[1],
            f"average {percent(early[0])}, random {percent(early[1])}",
        ),
    ]
    spread = float(np.std(finals(frame.of(SIMULATED, RANDOM + EARLY), "test_score")))
    return verdict(
        parts,
        failing=f"From run to run the accuracy on simulated data varies by {percent(spread)} (standard deviation).",
    )


def simulated_data(frame: Frame) -> Verdict:
    """R2.4: speeds within a factor 1.5, jumps within a factor 2, SDCA ahead by at most 3 points."""
    names = (PERMUTATION, PEGASOS)
    speeds = [median_down(frame, frame.of(SIMULATED, name)) for name in names]
    jumps = [roughness(frame, frame.of(SIMULATED, name)) for name in names]
    scores = [middle(finals(frame.of(SIMULATED, name), "test_score")) for name in names]
    parts = [
        Part(
            "equal speed (within a factor 1.5)",
            alike(*speeds, factor=1.5),
            f"{number(speeds[0])} against {number(speeds[1])} updates",
        ),
        Part(
            "equal stability (within a factor 2)",
            alike(*jumps, factor=2.0),
            f"Pegasos jumps {number(times(jumps[1], jumps[0]))} times as far between records",
        ),
        Part(
            "SDCA is slightly more accurate (by up to 3 points)",
            0.0 < scores[0] - scores[1] <= 3 * POINT,
            f"{percent(scores[0])} against {percent(scores[1])}",
        ),
    ]
    left = [middle(float(way_left(frame, one)[-1]) for one in frame.of(SIMULATED, name)) for name in names]
    failing = f"At the end SDCA has {percent(left[0])} of the way left and Pegasos {percent(left[1])}."
    return verdict(parts, failing=failing)
