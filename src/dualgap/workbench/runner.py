"""The runner: carries out a plan run by run, tells a watcher what happens, and writes each finished run to disk."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dualgap import spec
from dualgap.datasets import Dataset, for_task, load, split
from dualgap.losses import LOSSES
from dualgap.problem import Problem
from dualgap.run import Result, Status, solve
from dualgap.solvers import SOLVERS
from dualgap.solvers.auto import Auto
from dualgap.trace import Record
from dualgap.workbench import machine, store
from dualgap.workbench.plan import Heat, Plan, Run, strength_of

# Curves of long runs need not show every epoch; but tol is tested at records, so these must not be far apart.
ENOUGH_RECORDS = 1000
SPARSEST_RECORDS = 20.0


class Watcher:
    """Hears what happens in a race. Every method does nothing here; a view overrides what it wants to show."""

    def loaded(self, heat: Heat, data: dict[str, Any], strength: float) -> None:
        """The data of a heat is in memory and its problem stands."""

    def preparing(self, solver: str) -> None:
        """The kernels of a solver are being compiled, or read from the cache."""

    def refused(self, solver: str, sentence: str) -> None:
        """A solver cannot do this problem, and says why."""

    def started(self, run: Run) -> None:
        """A run begins."""

    def recorded(self, run: Run, record: Record) -> None:
        """A run was looked at."""

    def finished(self, run: Run, finished: store.FinishedRun) -> None:
        """A run ended by itself, or by Ctrl-C."""


@dataclass
class HeatResult:
    """What a heat gave: its finished runs, and the sentences of the solvers that refused."""

    heat: Heat
    data: dict[str, Any]
    strength: float
    runs: list[store.FinishedRun] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)


@dataclass
class RaceResult:
    """What a race gave, whole or up to a Ctrl-C."""

    heats: list[HeatResult] = field(default_factory=list)
    interrupted: bool = False

    @property
    def runs(self) -> list[store.FinishedRun]:
        """The finished runs of all heats."""
        return [finished for heat in self.heats for finished in heat.runs]


def race(plan: Plan, results: Path | None = None, watcher: Watcher | None = None) -> RaceResult:
    """Carry out the plan. Ctrl-C ends it with what there is; a run cut short is not counted as finished."""
    watcher = watcher or Watcher()
    gathered = RaceResult()
    try:
        for heat in plan.heats():
            if not _race_heat(heat, results, watcher, gathered):
                gathered.interrupted = True
                break
    except KeyboardInterrupt:
        gathered.interrupted = True
    return gathered


def _race_heat(heat: Heat, results: Path | None, watcher: Watcher, gathered: RaceResult) -> bool:
    """Run one heat, adding to `gathered` as it goes; False where it was interrupted."""
    first = heat.runs[0]
    dataset = prepared_data(first)
    strength = strength_of(first.strength, dataset.shape[0])
    problem = Problem(dataset.X, dataset.y, loss=first.loss, strength=strength, intercept=first.intercept)
    here = HeatResult(heat, _facts(dataset, problem.loss.task), strength)
    gathered.heats.append(here)
    watcher.loaded(heat, here.data, strength)
    for solver in dict.fromkeys(run.solver for run in heat.runs):
        try:
            ready = spec.build(solver, SOLVERS, "solver")
            if isinstance(ready, Auto):
                ready, _ = ready.choose(problem, ())
            ready.check(problem)
            watcher.preparing(solver)
            ready.prepare(problem)
        except ValueError as refusal:
            here.refusals[solver] = str(refusal)
            watcher.refused(solver, str(refusal))
    for run in heat.runs:
        if run.solver in here.refusals:
            continue
        finished = _finish(run, problem, dataset, here, watcher)
        interrupted = finished.status == Status.INTERRUPTED.name
        if not interrupted:
            here.runs.append(finished)
            if results is not None:
                store.append(results, finished)
        watcher.finished(run, finished)
        if interrupted:
            return False
    return True


def prepared_data(run: Run) -> Dataset:
    """The data of a run: loaded, labels fit for its loss, split, standardized where asked."""
    task = spec.build(run.loss, LOSSES, "loss").task
    dataset = for_task(load(run.data, run.target, run.positive), task)
    return split(dataset, run.test_size, run.split_seed, run.standardize, stratify=task == "classification")


def _finish(run: Run, problem: Problem, dataset: Dataset, here: HeatResult, watcher: Watcher) -> store.FinishedRun:
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    watcher.started(run)
    result = solve(
        problem,
        run.solver,
        tol=run.tol,
        max_epochs=run.epochs,
        max_seconds=run.seconds,
        seed=run.seed,
        test=None if dataset.y_test is None else (dataset.X_test, dataset.y_test),
        record_every=min(max(1.0, (run.epochs or 0.0) / ENOUGH_RECORDS), SPARSEST_RECORDS),
        callback=lambda record: watcher.recorded(run, record),
    )
    return _kept(run, result, here, started)


def _kept(run: Run, result: Result, here: HeatResult, started: str) -> store.FinishedRun:
    certificate = result.certificate
    return store.FinishedRun(
        run=run.id,
        settings=run.settings,
        data=here.data,
        strength=here.strength,
        status=result.status.name,
        sentence=str(result.status.value),
        reason=result.reason,
        certificate={
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
            "relative_gap": certificate.relative_gap,
        },
        records=result.trace.columns(),
        started=started,
        machine=machine.machine(),
        versions=machine.versions(),
    )


def _facts(dataset: Dataset, task: str) -> dict[str, Any]:
    rows, columns = dataset.shape
    return {
        "name": dataset.name,
        "task": task,
        "rows": rows,
        "columns": columns,
        "test_rows": 0 if dataset.X_test is None else int(dataset.X_test.shape[0]),
        "sparse": not isinstance(dataset.X, np.ndarray),
        "source": dataset.source,
    }
