"""The figures of R3."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dualgap.replication.gathering import Gathered
from dualgap.replication.measures import finals, middle
from dualgap.replication.panels import Figure, Panel, Table, curves
from dualgap.replication.rules_r3 import ACCURACY, BOX, PROJECTED, STEPS, SUBGRADIENT
from dualgap.workbench.summary import column

WORDS = {"primal": "Objective", "own_dual": "Dual objective", "train_score": "Accuracy", "support": "Support vectors"}
NAMES = {"own_dual": "dual"}  # as a figure is asked for on the command line
PLAN = (
    (SUBGRADIENT, "primal"),
    (SUBGRADIENT, "train_score"),
    (PROJECTED, "own_dual"),
    (PROJECTED, "train_score"),
    (PROJECTED, "support"),
    (BOX, "own_dual"),
    (BOX, "train_score"),
    (BOX, "support"),
)


# The title of a figure of D that is made of results without `own_dual`.
BOUND_ONLY = (
    "The judge's bound: these results have no D of the algorithm's own duals. Run the experiment anew to see it."
)


def _curve(solver: str, y: str) -> Callable[[Gathered], Sequence[Panel]]:
    return lambda gathered: [curves(gathered, ACCURACY, y, "epoch", solvers=(solver,), log_y=False)]


def _own_dual_curve(solver: str) -> Callable[[Gathered], Sequence[Panel]]:
    """D(α_t) of the algorithm's own duals with P*; of older results the judge's bound, and a sentence that says so."""

    def made(gathered: Gathered) -> Sequence[Panel]:
        runs = [run for run in gathered.of(ACCURACY) if run.settings["solver"] == solver]
        is_known = bool(runs) and all(np.isfinite(column(run, "own_dual")).any() for run in runs)
        y, title = ("own_dual", "") if is_known else ("dual", BOUND_ONLY)
        return [curves(gathered, ACCURACY, y, "epoch", title=title, solvers=(solver,), log_y=False)]

    return made


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
            f"{NAMES.get(y, y).replace('_', '-')}-{solver.replace(' ', '-')}",
            f"{WORDS[y]} per epoch, {solver}.",
            (ACCURACY,),
            _own_dual_curve(solver) if y == "own_dual" else _curve(solver, y),
        )
        for number, (solver, y) in enumerate(PLAN, start=1)
    ),
    Figure("R3 steps", "steps", "Projected ascent depends on its step.", (STEPS,), steps),
)
