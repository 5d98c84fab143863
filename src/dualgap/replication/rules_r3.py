"""The rules of R3's claims: pure functions of a frame. docs/replication.md lists what was changed after a result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dualgap.replication.frames import Frame, Trial
from dualgap.replication.measures import finals, middle, over, way_left
from dualgap.replication.verdicts import Part, Verdict, number, percent, verdict

SUBGRADIENT, PROJECTED, BOX = "sub-gradient descent", "projected ascent", "box-constrained ascent"
ACCURACY = "R3.methods"
STEPS = "R3.steps"
SLACK = 0.005
# A point, and what float64 adds to the difference of two decimals.
POINT = 0.01 + 1e-9


def _epochs_to_best(trials: Sequence[Trial]) -> float:
    """The median first epoch at which a run has the training accuracy it ends with."""

    def first(trial: Trial) -> float:
        scores = trial.column("train_score")
        reached = np.flatnonzero(scores >= scores[-1] - 1e-12)
        return float(trial.column("epoch")[reached[0]]) if reached.size else math.inf

    return middle(over(trials, first))


def accuracies(frame: Frame) -> Verdict:
    """R3.1: training accuracy at the end (within a point of the printed ones), and the epochs it takes."""
    scores = {name: middle(finals(frame.of(ACCURACY, name), "train_score")) for name in (SUBGRADIENT, PROJECTED, BOX)}
    epochs = {name: _epochs_to_best(frame.of(ACCURACY, name)) for name in scores}
    said = ", ".join(f"{name} {number(value)}" for name, value in epochs.items()) + " epochs"
    parts = [
        Part(f"{name} reaches {printed} (within a point)", abs(scores[name] - printed) <= POINT, percent(scores[name]))
        for name, printed in ((SUBGRADIENT, 0.98), (PROJECTED, 0.995), (BOX, 0.995))
    ]
    parts += [
        Part("both dual methods take fewer than 10 epochs", max(epochs[PROJECTED], epochs[BOX]) < 10, said),
        Part(
            "sub-gradient descent takes at least 10 times as many",
            epochs[SUBGRADIENT] >= 10 * max(epochs[PROJECTED], epochs[BOX]),
            said,
        ),
    ]
    rows = frame.of(ACCURACY, BOX)[0].rows
    return verdict(
        parts,
        failing=f"A row of {rows} is {percent(1.0 / rows)}; an accuracy counts from the first epoch that has the last one's.",
    )


def best_method(frame: Frame) -> Verdict:
    """R3.2: box-constrained ascent is as accurate as the others, and a step size decides how projected ascent fares."""
    scores = {name: middle(finals(frame.of(ACCURACY, name), "train_score")) for name in (SUBGRADIENT, PROJECTED, BOX)}
    left = {
        name: middle(way_left(frame, trial)[-1] for trial in frame.of(STEPS, name)) for name in frame.solvers(STEPS)
    }
    stepped = {name: value for name, value in left.items() if name.startswith(PROJECTED)}
    parts = [
        Part(
            "box-constrained ascent is as accurate as the others (within half a point)",
            scores[BOX] >= max(scores.values()) - SLACK,
            ", ".join(f"{name} {percent(score)}" for name, score in scores.items()),
        ),
        Part(
            "projected ascent with some step is 10 times as far from the optimum as with its best one",
            max(stepped.values()) >= 10.0 * max(min(stepped.values()), 1e-12),
            "; ".join(f"{name}: {percent(value, 3)} of the way left" for name, value in stepped.items()),
        ),
        Part(
            "box-constrained ascent is at least as near as projected ascent with its best step",
            left[BOX] <= min(stepped.values()) + 1e-6,
            f"{percent(left[BOX], 3)} of the way left",
        ),
    ]
    return verdict(parts)
