"""The figures of R3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dualgap.replication.gathering import Gathered
from dualgap.replication.measures import finals, middle
from dualgap.replication.panels import Figure, Panel, Table, curves
from dualgap.replication.rules_r3 import ACCURACY, BOX, PROJECTED, STEPS, SUBGRADIENT
from dualgap.replication.verdicts import percent
from dualgap.workbench.store import FinishedRun
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
    """D(α_t) of the algorithm's own duals with P*, on the first draw as it is, and on all draws as a fraction of P*.

    Results without `own_dual` have the judge's bound instead, and a sentence that says so.
    """

    def made(gathered: Gathered) -> Sequence[Panel]:
        runs = [run for run in gathered.of(ACCURACY) if run.settings["solver"] == solver]
        is_known = bool(runs) and all(np.isfinite(column(run, "own_dual")).any() for run in runs)
        if not is_known:
            return [curves(gathered, ACCURACY, "dual", "epoch", title=BOUND_ONLY, solvers=(solver,), log_y=False)]
        first = str(runs[0].settings["data"])
        title = "the first draw" if len(runs) > 1 else ""
        one = curves(gathered, ACCURACY, "own_dual", "epoch", title=title, solvers=(solver,), data=first, log_y=False)
        if len(runs) == 1:
            return [one]
        scaled = replace(gathered, runs=tuple(_by_optimum(gathered, run) for run in runs))
        every = curves(scaled, ACCURACY, "own_dual", "epoch", title="all draws", solvers=(solver,), log_y=False)
        return [one, replace(every, y_label="own dual value D(α) / P*", levels={"P* (proven)": 1.0})]

    return made


def _by_optimum(gathered: Gathered, run: FinishedRun) -> FinishedRun:
    """A run with its own dual values divided by the optimum of its problem."""
    trial = next(
        one for one in gathered.frame.trials if one.problem[:3] == (ACCURACY, run.settings["data"], run.strength)
    )
    values = column(run, "own_dual") / gathered.frame.optimum(trial)
    return replace(run, records=run.records | {"own_dual": values.tolist()})


def steps(gathered: Gathered) -> Sequence[Table]:
    """How near each step brings projected ascent in 50 epochs."""
    rows = []
    for name in gathered.frame.solvers(STEPS):
        trials = gathered.frame.of(STEPS, name)
        excess = np.array([trial.last("primal") / gathered.frame.optimum(trial) - 1.0 for trial in trials])
        score = middle(finals(trials, "train_score"))
        rows.append((name, percent(middle(excess)), f"{score:.3f}"))
    return [Table("After 50 epochs", ("method", "P above P*, in percent of P*", "accuracy"), tuple(rows))]


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
    Figure(
        "R3 steps",
        "steps",
        "How near P comes to P* in 50 epochs: projected ascent depends on its step.",
        (STEPS,),
        steps,
    ),
)
