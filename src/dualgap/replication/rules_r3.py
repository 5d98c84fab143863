"""The rules of R3's claims: pure functions of a frame."""

from __future__ import annotations

import math

import numpy as np

from dualgap.replication.frames import Frame, Numbers, Trial
from dualgap.replication.intervals import is_inside, mean_interval, median_interval, ratio_interval
from dualgap.replication.margins import FAR_MORE, PRINTED_ACCURACY, VERY_FAST
from dualgap.replication.measures import CUT_SHORT, differences, end, end_left, finals, left_at, middle, over, pairs
from dualgap.replication.verdicts import Finding, Verdict, all_of, number, part, percent, verdict

SUBGRADIENT, PROJECTED, BOX = "sub-gradient descent", "projected ascent", "box-constrained ascent"
ACCURACY = "R3.methods"
STEPS = "R3.steps"
PRINTED = {SUBGRADIENT: 0.98, PROJECTED: 0.995, BOX: 0.995}
FEW_EPOCHS = 10.0
# Below this fraction of the way float64 rounding decides, and ratios of it say nothing.
ROUNDING = 1e-9


def epochs_to_best(trial: Trial) -> float:
    """The first epoch at which a run has the training accuracy it ends with; nan where that is its first or last record."""
    scores = trial.column("train_score")
    reached = int(np.flatnonzero(scores >= scores[-1] - 1e-12)[0])
    is_censored = trial.status in CUT_SHORT or reached in (0, scores.size - 1)
    return math.nan if is_censored else float(trial.column("epoch")[reached])


def accuracies(frame: Frame) -> Verdict:
    """R3.1: training accuracy at the end, and the epochs it takes."""

    def near(name: str) -> Finding:
        found = mean_interval(finals(frame.of(ACCURACY, name), "train_score"))
        margin = PRINTED_ACCURACY.value + 1e-9  # what float64 adds to the difference of two decimals
        return is_inside(found, PRINTED[name] - margin, PRINTED[name] + margin, percent)

    def few(name: str) -> Finding:
        found = median_interval(over(frame.of(ACCURACY, name), epochs_to_best))
        return is_inside(found, 0.0, FEW_EPOCHS - 1e-9, number, f"{name}: epoch ")

    def more(name: str) -> Finding:
        first, second = pairs(frame.of(ACCURACY, SUBGRADIENT), frame.of(ACCURACY, name))
        found = ratio_interval(over(first, epochs_to_best), over(second, epochs_to_best))
        return is_inside(found, FAR_MORE.value, math.inf, number, f"times the epochs of {name}: ")

    parts = [part(f"{name} reaches {printed} (within a point)", near, name) for name, printed in PRINTED.items()]
    parts += [
        part("both dual methods take fewer than 10 epochs", lambda: all_of([few(PROJECTED), few(BOX)])),
        part("sub-gradient descent takes at least 10 times as many", lambda: all_of([more(PROJECTED), more(BOX)])),
    ]
    rows = frame.of(ACCURACY, BOX)[0].rows
    return verdict(
        parts,
        f"A row of {rows} is {percent(1.0 / rows)}; the epochs counted are those until the last accuracy is first reached.",
    )


def _ends(frame: Frame, name: str) -> Numbers:
    return np.maximum(over(frame.of(STEPS, name), lambda trial: end_left(frame, trial)), ROUNDING)


def best_method(frame: Frame) -> Verdict:
    """R3.2: box-constrained ascent is as accurate as the others, and a step size decides how projected ascent fares."""

    def accurate() -> Finding:
        margin = PRINTED_ACCURACY.value / 2
        found = [
            is_inside(
                mean_interval(
                    differences(
                        frame.of(ACCURACY, BOX), frame.of(ACCURACY, name), lambda trial: end(trial, "train_score")
                    )
                ),
                *(-margin - 1e-9, math.inf, "{:+.4f}".format, f"minus {name}: "),
            )
            for name in (SUBGRADIENT, PROJECTED)
        ]
        return all_of(found)

    def stepped() -> list[str]:
        return sorted(frame.solvers(STEPS, PROJECTED), key=lambda name: middle(_ends(frame, name)))

    def depends() -> Finding:
        best, *_, worst = stepped()
        found = ratio_interval(_ends(frame, worst), _ends(frame, best))
        return is_inside(found, FAR_MORE.value, math.inf, number, f"way left with {worst} by that with {best}: ")

    def nearer() -> Finding:
        best = stepped()[0]
        found = ratio_interval(_ends(frame, BOX), _ends(frame, best))
        return is_inside(found, 0.0, 1.0, number, f"way left by box-constrained ascent by that with {best}: ")

    parts = [
        part("box-constrained ascent is as accurate as the others (within half a point)", accurate),
        part("projected ascent with some step is 10 times as far from the optimum as with its best one", depends),
        part("box-constrained ascent is at least as near as projected ascent with its best step", nearer),
    ]
    return verdict(parts)


def very_fast(frame: Frame) -> Verdict:
    """R3.3: after 10 epochs at most a hundredth of the way to P* is left."""

    def left(name: str) -> Finding:
        trials = frame.of(ACCURACY, name)
        values = over(trials, lambda trial: left_at(frame, trial, "epoch", FEW_EPOCHS))
        if any(trial.status in CUT_SHORT for trial in trials):
            values = np.full(values.size, math.nan)
        return is_inside(median_interval(values), -ROUNDING, VERY_FAST.value, percent, "way left after 10 epochs: ")

    parts = [part(f"{name} converges very fast", left, name) for name in (PROJECTED, BOX)]
    try:
        after = ", ".join(
            f"{name} {percent(middle(over(frame.of(ACCURACY, name), lambda one: end_left(frame, one))))}"
            for name in (PROJECTED, BOX)
        )
    except LookupError:
        return verdict(parts)
    return verdict(parts, f"Way left in P after the last epoch: {after}. An accuracy can settle long before P does.")
