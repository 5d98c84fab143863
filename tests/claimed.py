"""Made-up frames for tests of verdicts: trials whose curves come down where a test wants them to."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.replication.frames import OPTIMUM, Frame, Trial

BEST, START = 0.2, 1.0
POINTS = 51


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
    left = np.where(updates < down, 1.0, end + wave)
    left[0] = 1.0
    records = {
        "epoch": updates * batch / rows,
        "updates": updates,
        "cpu_seconds": updates * pace,
        "primal": BEST + (START - BEST) * left,
        "gap": np.broadcast_to(gap, updates.shape),
        "relative_gap": np.broadcast_to(gap, updates.shape),
        "train_score": np.broadcast_to(score, updates.shape),
        "test_score": np.broadcast_to(score, updates.shape),
    }
    lists = {name: values.tolist() for name, values in records.items()}
    return Trial(experiment, solver, data, strength, seed, lists, rows, **more)


def made_optimum(experiment: str, **options: Any) -> Trial:
    return made_trial(experiment, OPTIMUM, down=0.0, **options)


def frame_of(*trials: Trial, **facts: Any) -> Frame:
    """A frame of trials, with a certified optimum beside each problem that lacks one."""
    problems = {(t.experiment, t.data, t.strength) for t in trials if t.solver != OPTIMUM}
    known = {(t.experiment, t.data, t.strength) for t in trials if t.solver == OPTIMUM}
    optima = [made_optimum(e, data=d, strength=s) for e, d, s in sorted(problems - known)]
    return Frame((*trials, *optima), facts)
