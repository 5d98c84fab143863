"""Made-up frames for tests of verdicts: trials whose curves come down where a test wants them to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dualgap.replication.frames import OPTIMUM, Frame, Trial

BEST, START = 0.2, 1.0
POINTS = 51
REPEATS = 6


def made_trial(
    experiment: str,
    solver: str,
    *,
    down: float = 500.0,
    total: float = 5000.0,
    data: str = "made up",
    strength: float = 0.01,
    seed: int = 0,
    end: float = 0.0,
    jump: float = 0.0,
    score: Any = 0.9,
    gap: Any = 1e-6,
    rows: int = 1000,
    batch: int = 1,
    pace: float = 1e-3,
    **more: Any,
) -> Trial:
    """Nothing of the way is gone before `down` updates, all but `end` of it after, give or take `jump`."""
    updates = np.linspace(0.0, total, POINTS)
    wave = np.where(np.arange(POINTS) % 2 == 0, 0.0, jump)
    remaining = np.where(updates < down, 1.0, end + wave)
    remaining[0] = 1.0
    records = {
        "epoch": updates * batch / rows,
        "updates": updates,
        "cpu_seconds": updates * pace,
        "primal": BEST + (START - BEST) * remaining,
        "gap": np.broadcast_to(gap, updates.shape),
        "relative_gap": np.broadcast_to(gap, updates.shape),
        "train_score": np.broadcast_to(score, updates.shape),
        "test_score": np.broadcast_to(score, updates.shape),
    }
    lists = {name: values.tolist() for name, values in records.items()}
    return Trial(experiment, solver, data, strength, seed, lists, rows, **more)


def made_optimum(experiment: str, **options: Any) -> Trial:
    return made_trial(experiment, OPTIMUM, down=0.0, **options)


def frame_of(*trials: Trial, repeats: int = REPEATS, **facts: Any) -> Frame:
    """A frame of trials, with a certified optimum beside each problem that lacks one; a lone trial is repeated."""
    lone: dict[tuple[str, str, str, float], list[Trial]] = {}
    for trial in trials:
        lone.setdefault((trial.experiment, trial.solver, trial.data, trial.strength), []).append(trial)
    made = [
        replace(one, seed=seed)
        for some in lone.values()
        for one in some
        for seed in (range(repeats) if len(some) == 1 and one.solver != OPTIMUM else (one.seed,))
    ]
    problems = {(t.experiment, t.data, t.strength) for t in made if t.solver != OPTIMUM}
    known = {(t.experiment, t.data, t.strength) for t in made if t.solver == OPTIMUM}
    optima = [made_optimum(e, data=d, strength=s) for e, d, s in sorted(problems - known)]
    return Frame((*made, *optima), facts)


def _changed(frame: Frame, change: Callable[[Trial], Trial | None]) -> Frame:
    """The same frame with its trials changed, certified optima excepted."""
    made = [trial if trial.solver == OPTIMUM else change(trial) for trial in frame.trials]
    return Frame(tuple(trial for trial in made if trial is not None), frame.facts)


def censored(frame: Frame) -> Frame:
    """Runs cut short, of which only the first and the last record are known."""

    def change(trial: Trial) -> Trial:
        records = {name: [values[0], values[-1]] for name, values in trial.records.items()}
        return replace(trial, records=records, status="TIME_EXHAUSTED")

    return _changed(frame, change)


def too_short(frame: Frame) -> Frame:
    """Two repeats of everything."""
    few = Frame((), {name: value[:2] if isinstance(value, list) else value for name, value in frame.facts.items()})
    kept: dict[tuple[str, str, float], int] = {}

    def change(trial: Trial) -> Trial | None:
        key = (trial.experiment, trial.solver, trial.strength)
        kept[key] = kept.get(key, 0) + 1
        return trial if kept[key] <= 2 else None

    return Frame(_changed(frame, change).trials, few.facts)


def noisy(frame: Frame, repeats: int = 32) -> Frame:
    """Each solver is as often far better as far worse than it was, in repeats of its own: any two of them are unrelated."""
    names = sorted({trial.solver for trial in frame.trials})
    firsts: dict[tuple[str, str, str, float], Trial] = {}
    for trial in frame.trials:
        firsts.setdefault((trial.experiment, trial.solver, trial.data, trial.strength), trial)
    strengths = sorted({trial.strength for trial in frame.trials})
    made = []
    for trial in firsts.values():
        if trial.solver == OPTIMUM:
            made.append(trial)
            continue
        # Rows of a Hadamard matrix are unrelated: bits in common, counted modulo 2.
        row = 1 + (names.index(trial.solver) + 7 * strengths.index(trial.strength)) % (repeats - 1)
        for seed in range(repeats):
            is_good = (row & seed).bit_count() % 2 == 0
            made.append(_disturbed(replace(trial, seed=seed), is_good))
    facts = {name: [0.5, 1.0] * 16 if isinstance(value, list) else value for name, value in frame.facts.items()}
    return Frame(tuple(made), facts)


def _disturbed(trial: Trial, is_good: bool) -> Trial:
    updates = np.array(trial.records["updates"])
    count = updates.size
    wave = np.where(np.arange(count) % 2 == 0, 0.0, 0.0002 if is_good else 0.3)
    down = updates[2] if is_good else updates[-4]
    remaining = np.where(updates < down, 1.0, 0.0) + wave * (updates >= updates[-8]) + (0.0 if is_good else 0.3)
    remaining[0] = 1.0
    score = 1.0 if is_good else 0.3
    epochs = np.array(trial.records["epoch"])
    turn = 0.0 if is_good else 1.5
    return replace(
        trial,
        records=dict(trial.records)
        | {
            "primal": (BEST + (START - BEST) * remaining).tolist(),
            "cpu_seconds": (np.array(trial.records["cpu_seconds"]) * (0.02 if is_good else 1.0)).tolist(),
            "gap": np.where(np.arange(count) < (3 if is_good else count - 3), 1.0, 1e-9).tolist(),
            "relative_gap": [1e-9 if is_good else 1.0] * count,
            "test_score": np.where(epochs < (epochs[3] if is_good else epochs[-3]), 0.5, score + wave).tolist(),
            "train_score": np.where(epochs < (epochs[3] if is_good else epochs[-3]), 0.2, score).tolist(),
        },
        weights=None if trial.weights is None else (math.cos(turn), math.sin(turn)),
    )
