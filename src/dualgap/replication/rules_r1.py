"""The rules of R1's claims: pure functions of a frame. docs/replication.md lists what was changed after a result."""

from __future__ import annotations

import math

import numpy as np

from dualgap.replication.frames import Frame, Numbers
from dualgap.replication.measures import at_epoch, band, median_down, middle, way_left
from dualgap.replication.verdicts import Part, Verdict, number, percent, times, verdict

SDCA, SGD_FIRST, PEGASOS = "SDCA", "SDCA after an SGD epoch", "Pegasos"
RAW, REDUCED = "R1.raw", "R1.reduced"
PRINTED_ERROR = 0.26
COMPILED = (
    "Here both are compiled and read each row once an epoch; the report's are Python, a row or a batch at a time."
)
POINT = 0.01
NEAR = 0.03


def errors(frame: Frame, experiment: str, solver: str, data: str) -> Numbers:
    """The median test error at the end of each epoch, from 0 on."""
    trials = frame.of(experiment, solver, data=data)
    last = round(max(trial.last("epoch") for trial in trials))
    return np.array([1.0 - middle(at_epoch(trials, "test_score", passes)) for passes in range(last + 1)])


def fitting(frame: Frame, experiment: str = RAW) -> str:
    """The reading of the report (pixel range, centering) that is judged: one under which SDCA's loss comes down, as its
    figures show, and among those on raw images the one whose error after two epochs is nearest to the printed one."""

    def misfit(data: str) -> tuple[bool, float]:
        trials = frame.of(experiment, SDCA, data=data)
        off = abs(_after_two(frame, experiment, data) - PRINTED_ERROR) if experiment == RAW else 0.0
        return math.isinf(median_down(frame, trials, "epoch")), off

    return min(frame.data(experiment), key=misfit)


def _after_two(frame: Frame, experiment: str, data: str) -> float:
    """The median test error of SDCA after two epochs."""
    curve = errors(frame, experiment, SDCA, data)
    return float(curve[min(2, curve.size - 1)])


def _settled(curve: Numbers) -> int:
    """The first epoch from which on the error stays within a point of its last value."""
    away = np.flatnonzero(np.abs(curve - curve[-1]) > POINT)
    return int(away[-1]) + 1 if away.size else 0


def _readings(frame: Frame, experiment: str) -> str:
    said = []
    for data in frame.data(experiment):
        trials = frame.of(experiment, SDCA, data=data)
        left = middle(float(way_left(frame, trial)[-1]) for trial in trials)
        said.append(
            f"{data}: {percent(_after_two(frame, experiment, data))}, {percent(left)} of the way left at the end"
        )
    return "Test error of SDCA after 2 epochs by reading: " + "; ".join(said) + "."


def raw_images(frame: Frame) -> Verdict:
    """R1.1: CPU time of SDCA against Pegasos, the error after 2 epochs within 3 points of 26 %, and Pegasos' settling."""
    data = fitting(frame)
    sdca, pegasos = (frame.of(RAW, name, data=data) for name in (SDCA, PEGASOS))
    seconds = [median_down(frame, trials, "cpu_seconds") for trials in (sdca, pegasos)]
    ratio = times(seconds[1], seconds[0])
    after_two = 1.0 - at_epoch(sdca, "test_score", 2.0)
    low, high = band(after_two)
    settled = _settled(errors(frame, RAW, PEGASOS, data))
    parts = [
        Part(
            "Pegasos takes about 3 times the CPU time (2 to 4.5)",
            2.0 <= ratio <= 4.5,
            f"{number(seconds[1])} s against {number(seconds[0])} s, {number(ratio)} times",
        ),
        Part(
            "the test error of SDCA after 2 epochs is within 3 points of 26 %",
            abs(middle(after_two) - PRINTED_ERROR) <= NEAR,
            f"median {percent(middle(after_two))}, 5–95 %: {percent(low)} to {percent(high)}",
        ),
        Part("the test error of Pegasos settles at epoch 4 (3 to 5)", 3 <= settled <= 5, f"at epoch {settled}"),
    ]
    return verdict(parts, f"Read as {data}. {_readings(frame, RAW)}")


def first_epoch(frame: Frame) -> Verdict:
    """R1.2: P after epoch 1 with and without the modified-SGD epoch, and test errors from then on."""
    data = fitting(frame)
    losses = [middle(at_epoch(frame.of(RAW, name, data=data), "primal", 1.0)) for name in (SDCA, SGD_FIRST)]
    curves = [errors(frame, RAW, name, data)[1:] for name in (SDCA, SGD_FIRST)]
    length = min(curve.size for curve in curves)
    apart = float(np.abs(curves[0][:length] - curves[1][:length]).max()) if length else math.nan
    parts = [
        Part(
            "the loss after epoch 1 is lower with it",
            losses[1] < losses[0],
            f"{number(losses[1])} with, {number(losses[0])} without",
        ),
        Part(
            "test errors never differ by more than a point after epoch 1",
            apart <= POINT,
            f"at most {percent(apart)} apart",
        ),
    ]
    return verdict(parts, f"Read as {data}.")


def reduced_images(frame: Frame) -> Verdict:
    """R1.3: after PCA, test errors from epoch 2 on within a point; CPU time of an epoch of Pegasos against SDCA."""
    data = fitting(frame, REDUCED)
    curves = {name: errors(frame, REDUCED, name, data)[2:] for name in (SDCA, SGD_FIRST, PEGASOS)}
    length = min(curve.size for curve in curves.values())
    table = np.array([curve[:length] for curve in curves.values()])
    apart = float((table.max(axis=0) - table.min(axis=0)).max()) if length else math.nan
    paces = [
        middle(trial.last("cpu_seconds") / trial.last("epoch") for trial in frame.of(REDUCED, name, data=data))
        for name in (SDCA, PEGASOS)
    ]
    parts = [
        Part("all three have the same test error (within a point)", apart <= POINT, f"at most {percent(apart)} apart"),
        Part(
            "an epoch of Pegasos takes less than half of SDCA's CPU time",
            paces[1] < 0.5 * paces[0],
            f"{1e3 * paces[1]:.3g} ms against {1e3 * paces[0]:.3g} ms",
        ),
    ]
    return verdict(parts, f"Read as {data}.", COMPILED)


def shapes(frame: Frame) -> Verdict:
    """R1.4: CPU time until the curve has come down, for n ≪ d (raw images) and n ≫ d (after PCA)."""
    parts = []
    for experiment, better, worse, shape in (
        (RAW, SDCA, PEGASOS, "more columns than rows"),
        (REDUCED, PEGASOS, SDCA, "more rows than columns"),
    ):
        data = fitting(frame, experiment)
        first, second = (
            median_down(frame, frame.of(experiment, name, data=data), "cpu_seconds") for name in (better, worse)
        )
        said = f"{better} {number(first)} s, {worse} {number(second)} s"
        parts.append(Part(f"{better} is better with {shape}", first < second, said))
    return verdict(parts, failing=COMPILED)
