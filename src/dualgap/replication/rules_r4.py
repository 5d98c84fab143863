"""The rules of R4's claims: pure functions of a frame. docs/replication.md lists what was changed after a result."""

from __future__ import annotations

import math

import numpy as np

from dualgap.replication.frames import OPTIMUM, Frame, Trial
from dualgap.replication.measures import finals, middle, over
from dualgap.replication.verdicts import Part, Verdict, number, percent, proven, times, verdict

SGD, SDCA = "SGD", "SDCA"
AVERAGE, RANDOM = "SDCA, average output", "SDCA, random output"
NEWTON, CLOSED = "Newton step", "closed-form step"
SETS = ("arrhythmia", "adult")
# λ of each algorithm by table 1: 1/c for SGD, c for SDCA.
STRENGTHS = {"arrhythmia": (1e-3, 0.1), "adult": (1e-4, 0.05)}
PRINTED_TIMES = {"arrhythmia": 401_549, "adult": 629_840}
NEEDED_GAP = 1e-3
FAR_MORE = 10.0


def _late_variation(trial: Trial) -> float:
    """The deviation of the test accuracy over the second half of the records."""
    scores = trial.column("test_score")
    return float(np.nanstd(scores[scores.size // 2 :]))


def better_and_trapped(frame: Frame) -> Verdict:
    """R4.1: final accuracies, late variation, and whether SDCA is proven to sit at the optimum of its own problem."""
    parts, equal = [], []
    for data in SETS:
        own = dict(zip((SGD, SDCA), STRENGTHS[data], strict=True))
        trials = {name: frame.of(f"R4.{data}", name, strength=strength) for name, strength in own.items()}
        scores = {name: middle(finals(found, "test_score")) for name, found in trials.items()}
        moves = {name: middle(over(found, _late_variation)) for name, found in trials.items()}
        gap = middle(finals(trials[SDCA], "relative_gap"))
        parts += [
            Part(
                f"SGD ends with a better accuracy on {data} data",
                scores[SGD] > scores[SDCA],
                f"{percent(scores[SGD])} against {percent(scores[SDCA])}",
            ),
            Part(
                f"on {data} data SGD keeps varying and SDCA settles",
                moves[SGD] > 2.0 * moves[SDCA],
                f"late deviation {percent(moves[SGD], 2)} against {percent(moves[SDCA], 2)}",
            ),
            Part(
                f"on {data} data SDCA is trapped away from the optimum",
                gap > 1e-2,
                f"its proven relative gap at the end is {proven(gap)}",
            ),
        ]
        for strength in STRENGTHS[data]:
            pair = [
                middle(finals(frame.of(f"R4.{data}", name, strength=strength), "test_score")) for name in (SGD, SDCA)
            ]
            equal.append(f"{data}, λ = {strength:g}: {percent(pair[0])} and {percent(pair[1])}")
    why = (
        "The two were given different objectives (λ = 1/c for SGD, λ = c for SDCA), and a convex problem has no local "
        f"minimum. At equal λ SGD and SDCA score: {'; '.join(equal)}."
    )
    return verdict(parts, why)


def stopping_times(frame: Frame) -> Verdict:
    """R4.2: the theorem's numbers, exactly, and at least ten times the updates that a gap of 1e-3 takes."""
    parts = []
    for data, printed in PRINTED_TIMES.items():
        computed = int(frame.fact(f"R4.stopping/{data}"))
        parts.append(Part(f"{printed:,} updates suffice for {data}", computed == printed, f"computed {computed:,}"))
    for data in PRINTED_TIMES:
        needed = middle(over(frame.of(f"R4.stopping, {data}", SDCA), updates_needed))
        ratio = times(float(PRINTED_TIMES[data]), needed)
        said = f"a gap of 1e-3 is proven after {number(needed)} updates, {number(ratio)} times fewer"
        parts.append(Part(f"far more than {data} needs (10 times)", ratio >= FAR_MORE, said))
    return verdict(parts, "The two strengths are exchanged between tables 1 and 2 of the report.")


def updates_needed(trial: Trial) -> float:
    """The updates after which a gap of 1e-3 was first proven."""
    reached = np.flatnonzero(trial.column("gap") <= NEEDED_GAP)
    return float(trial.column("updates")[reached[0]]) if reached.size else math.inf


def logistic_steps(frame: Frame) -> Verdict:
    """R4.3: trouble of the closed form, stability of Newton's step, and the CPU time of an epoch."""
    trials = {name: frame.of("R4.steps", name) for name in (CLOSED, NEWTON)}
    broken = {name: sum(trial.status == "BROKEN" for trial in found) for name, found in trials.items()}
    gaps = {name: middle(finals(found, "relative_gap")) for name, found in trials.items()}
    paces = {
        name: middle(trial.last("cpu_seconds") / max(trial.last("epoch"), 1e-12) for trial in found)
        for name, found in trials.items()
    }
    slower = times(paces[NEWTON], paces[CLOSED])
    parts = [
        Part(
            "the closed form fails, or ends at 10 times the gap of Newton's step",
            broken[CLOSED] > 0 or gaps[CLOSED] >= 10.0 * gaps[NEWTON],
            f"{broken[CLOSED]} of {len(trials[CLOSED])} runs broke; final gap {gaps[CLOSED]:.1e} against {gaps[NEWTON]:.1e}",
        ),
        Part("Newton's step never fails", broken[NEWTON] == 0, f"{broken[NEWTON]} of {len(trials[NEWTON])} runs broke"),
        Part(
            "Newton's step takes at least 10 times as long",
            slower >= FAR_MORE,
            f"{1e3 * paces[NEWTON]:.3g} ms an epoch against {1e3 * paces[CLOSED]:.3g} ms, {number(slower)} times",
        ),
    ]
    return verdict(
        parts, "Either step is one equation in one unknown, next to which an epoch's products with rows weigh."
    )


def endings(frame: Frame) -> Verdict:
    """R4.4: a random iterate, or the average of the last ones, within a point of the optimum's accuracy and 1 % of its P."""
    parts = []
    for data in SETS:
        experiment, strength = f"R4.{data}", STRENGTHS[data][1]
        best = middle(finals(frame.of(experiment, OPTIMUM, strength=strength), "test_score"))
        for name in (RANDOM, AVERAGE):
            trials = frame.of(experiment, name, strength=strength)
            score = middle(finals(trials, "test_score"))
            excess = middle(trial.last("primal") / frame.optimum(trial) - 1.0 for trial in trials)
            parts.append(
                Part(
                    f"{name} is good on {data} data",
                    abs(score - best) <= 0.01 and excess <= 0.01,
                    f"accuracy {percent(score)} (optimum {percent(best)}), P {percent(excess, 2)} above the optimum",
                )
            )
    return verdict(parts)
