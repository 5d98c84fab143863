"""The figures of R3."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dualgap.replication.gathering import Gathered
from dualgap.replication.measures import finals, middle
from dualgap.replication.panels import Figure, Panel, Table, curves
from dualgap.replication.rules_r3 import ACCURACY, BOX, PROJECTED, STEPS, SUBGRADIENT

WORDS = {"primal": "Objective", "dual": "Dual objective", "train_score": "Accuracy", "support": "Support vectors"}
PLAN = (
    (SUBGRADIENT, "primal"),
    (SUBGRADIENT, "train_score"),
    (PROJECTED, "dual"),
    (PROJECTED, "train_score"),
    (PROJECTED, "support"),
    (BOX, "dual"),
    (BOX, "train_score"),
    (BOX, "support"),
)


def _curve(solver: str, y: str) -> Callable[[Gathered], Sequence[Panel]]:
    return lambda gathered: [curves(gathered, ACCURACY, y, "epoch", solvers=(solver,), log_y=False)]


def steps(gathered: Gathered) -> Sequence[Table]:
    """How near each step brings projected ascent in 50 epochs."""
    rows = []
    for name in gathered.frame.solvers(STEPS):
        trials = gathered.frame.of(STEPS, name)
        excess = np.array([trial.last("primal") / gathered.frame.optimum(trial) - 1.0 for trial in trials])
        score = middle(finals(trials, "train_score"))
        rows.append((name, f"{100 * middle(excess):.4g} %", f"{score:.3f}"))
    return [Table("After 50 epochs", ("method", "P above P*", "accuracy"), tuple(rows))]


FIGURES = (
    *(
        Figure(
            f"R3 figure {number}",
            f"{y.replace('_', '-')}-{solver.replace(' ', '-')}",
            f"{WORDS[y]} per epoch, {solver}.",
            (ACCURACY,),
            _curve(solver, y),
        )
        for number, (solver, y) in enumerate(PLAN, start=1)
    ),
    Figure("R3 steps", "steps", "Projected ascent depends on its step.", (STEPS,), steps),
)
