"""The rules of R1's claims: pure functions of a frame."""

from __future__ import annotations

import math

import numpy as np

from dualgap.replication.frames import Frame, Numbers
from dualgap.replication.heights import HEIGHTS, Reach, descent, faster, times_as_many
from dualgap.replication.intervals import (
    from_draws,
    is_above_zero,
    is_inside,
    mean_interval,
    ratio_interval,
    resamples,
)
from dualgap.replication.margins import (
    FAR_CHEAPER,
    FOURTH_EPOCH,
    PRINTED_ERROR,
    SAME_ACCURACY,
    SETTLED,
    THREE_TIMES,
)
from dualgap.replication.measures import at_epoch, end, middle, over, pairs
from dualgap.replication.verdicts import Finding, Verdict, all_of, number, part, percent, verdict
from dualgap.spec import parse

SDCA, SGD_FIRST, PEGASOS = "SDCA", "SDCA after an SGD epoch", "Pegasos"
RAW, REDUCED = "R1.raw", "R1.reduced"
PRINTED = 0.26
COMPILED = (
    "Here both are compiled and read each row once an epoch; the report's are Python, a row or a batch at a time."
)


def errors(frame: Frame, experiment: str, solver: str, data: str) -> Numbers:
    """The test error at the end of each epoch from 0 on, a row for each repeat."""
    trials = frame.of(experiment, solver, data=data)
    last = round(max(trial.last("epoch") for trial in trials))
    return np.array([1.0 - at_epoch(trials, "test_score", passes) for passes in range(last + 1)]).T


def fitting(frame: Frame, experiment: str = RAW) -> str:
    """The reading of the report (pixel range, centering) that is judged: one under which SDCA's loss comes down, as its
    figures show, and among those on raw images the one whose error after two epochs is nearest to the printed one."""

    def misfit(data: str) -> tuple[bool, float]:
        off = abs(_after_two(frame, experiment, data) - PRINTED) if experiment == RAW else 0.0
        down = descent(frame, frame.of(experiment, SDCA, data=data), "epoch").reach[HEIGHTS.index(0.1)]
        return down is Reach.NOT_REACHED, off

    return min(frame.data(experiment), key=misfit)


def in_words(data: str) -> str:
    """A reading of the report, such as cells(plain=True), in words."""
    options = parse(data)[1]
    words = [f"pixels 0–{options.get('pixels', 1)}"]
    if options.get("plain"):
        words.append("black frames kept")
    if "components" in options:
        words.append(f"{options['components']} components")
        words.append("centered" if options.get("centered", True) else "not centered")
    return ", ".join(words)


def _after_two(frame: Frame, experiment: str, data: str) -> float:
    """The median test error of SDCA after two epochs."""
    curve = errors(frame, experiment, SDCA, data)
    return middle(curve[:, min(2, curve.shape[1] - 1)])


def _readings(frame: Frame) -> str:
    said = [f"{in_words(data)}: {percent(_after_two(frame, RAW, data))}" for data in frame.data(RAW)]
    return (
        f"Judged with {in_words(fitting(frame))}, which of the readings under which the loss comes down has the test error of SDCA "
        f"after 2 epochs nearest to the printed one: {'; '.join(said)}."
    )


def _settled(curves: Numbers) -> Numbers:
    """For each curve the first epoch from which on the error stays within a point of its last value."""
    away = np.abs(curves - curves[:, -1:]) > SETTLED.value
    length = curves.shape[1]
    return np.where(away.any(axis=1), length - np.argmax(away[:, ::-1], axis=1), 0).astype(float)


def raw_images(frame: Frame) -> Verdict:
    """R1.1: CPU time of SDCA against Pegasos, the error after 2 epochs, and the epoch at which Pegasos settles."""
    data = fitting(frame)

    def three_times() -> Finding:
        sdca, pegasos = (frame.of(RAW, name, data=data) for name in (SDCA, PEGASOS))
        return times_as_many(frame, sdca, pegasos, *THREE_TIMES, x="cpu_seconds")

    def best() -> Finding:
        found = mean_interval(1.0 - at_epoch(frame.of(RAW, SDCA, data=data), "test_score", 2.0))
        return is_inside(found, PRINTED - PRINTED_ERROR.value, PRINTED + PRINTED_ERROR.value, percent, "error ")

    def settles() -> Finding:
        curves = errors(frame, RAW, PEGASOS, data)
        if np.isnan(curves).any() or curves.shape[1] <= FOURTH_EPOCH[1]:
            return Finding(None, f"the runs end before epoch {FOURTH_EPOCH[1] + 1:g}")
        draws = _settled(np.median(curves[resamples(len(curves))], axis=1))
        found = from_draws(float(_settled(np.median(curves, axis=0)[None])[0]), draws, len(curves))
        return is_inside(found, *FOURTH_EPOCH, number, "at epoch ")

    parts = [
        part("Pegasos takes about 3 times the CPU time (2 to 4.5)", three_times),
        part("the test error of SDCA after 2 epochs is within 3 points of 26 %", best),
        part("the test error of Pegasos settles at epoch 4 (3 to 5)", settles),
    ]
    return verdict(parts, _readings(frame), COMPILED)


def _same_errors(frame: Frame, experiment: str, data: str, first: str, second: str, start: int) -> Finding:
    """The mean difference of two solvers' test errors is at most a point at every epoch from `start` on."""
    mine, others = pairs(frame.of(experiment, first, data=data), frame.of(experiment, second, data=data))
    last, margin = round(max(trial.last("epoch") for trial in mine)), SAME_ACCURACY.value
    found = [
        mean_interval(at_epoch(others, "test_score", passes) - at_epoch(mine, "test_score", passes))
        for passes in range(start, last + 1)
    ]
    if not found:
        return Finding(None, f"the runs end before epoch {start}")
    findings = [is_inside(one, -margin, margin) for one in found]
    widest = max(found, key=lambda one: -1.0 if math.isnan(one.estimate) else abs(one.estimate))
    said = is_inside(widest, -margin, margin, "{:+.4f}".format, f"{first} minus {second}, largest mean difference: ")
    return Finding(all_of(findings).holds, said.numbers)


def first_epoch(frame: Frame) -> Verdict:
    """R1.2: P after epoch 1 with and without the modified-SGD epoch, and test errors from then on."""
    data = fitting(frame)

    def lower() -> Finding:
        plain, modified = pairs(frame.of(RAW, SDCA, data=data), frame.of(RAW, SGD_FIRST, data=data))
        found = mean_interval(at_epoch(plain, "primal", 1.0) - at_epoch(modified, "primal", 1.0))
        return is_above_zero(found, 0.0, "{:+.3g}".format, "P without minus P with it: ")

    parts = [
        part("the loss after epoch 1 is lower with it", lower),
        part(
            "test errors differ by at most a point at every epoch",
            *(_same_errors, frame, RAW, data, SDCA, SGD_FIRST, 1),
        ),
    ]
    return verdict(parts, f"Judged with {in_words(data)}.")


def reduced_images(frame: Frame) -> Verdict:
    """R1.3: after PCA, test errors from epoch 2 on, and CPU time of an epoch of Pegasos against SDCA."""
    data = fitting(frame, REDUCED)

    def alike() -> Finding:
        both = ((SDCA, SGD_FIRST), (SDCA, PEGASOS), (SGD_FIRST, PEGASOS))
        return all_of([_same_errors(frame, REDUCED, data, *two, 2) for two in both])

    def cheaper() -> Finding:
        pegasos, sdca = pairs(frame.of(REDUCED, PEGASOS, data=data), frame.of(REDUCED, SDCA, data=data))
        paces = [over(some, lambda one: end(one, "cpu_seconds") / one.last("epoch")) for some in (pegasos, sdca)]
        found = ratio_interval(*paces)
        return is_inside(found, 0.0, FAR_CHEAPER.value, number, "an epoch of Pegasos by one of SDCA, CPU time: ")

    parts = [
        part("all three have the same test error (within a point)", alike),
        part("an epoch of Pegasos takes less than half of SDCA's CPU time", cheaper),
    ]
    return verdict(parts, f"Judged with {in_words(data)}.", COMPILED)


def shapes(frame: Frame) -> Verdict:
    """R1.4: CPU time at every height, for n ≪ d (raw images) and n ≫ d (after PCA)."""

    def better(experiment: str, quick: str, slow: str) -> Finding:
        data = fitting(frame, experiment)
        first, second = (frame.of(experiment, name, data=data) for name in (quick, slow))
        return faster(frame, first, second, x="cpu_seconds")

    parts = [
        part("SDCA is better with more columns than rows", better, RAW, SDCA, PEGASOS),
        part("Pegasos is better with more rows than columns", better, REDUCED, PEGASOS, SDCA),
    ]
    return verdict(parts, failing=COMPILED)
