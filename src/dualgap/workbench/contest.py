"""A contest: the data and problem of one heat in this process's memory, and one run of it carried out on a fair clock."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from dualgap import spec
from dualgap.certificate import Certificate
from dualgap.datasets import Dataset
from dualgap.fitted_features import FittedMap
from dualgap.losses import LOSSES
from dualgap.problem import Problem
from dualgap.result import Result, Status
from dualgap.run import solve
from dualgap.solvers import AnySolver, Auto
from dualgap.trace import Record
from dualgap.workbench import machine, store
from dualgap.workbench.calls import Call, on_call_clock, timed_call
from dualgap.workbench.columns import read_parts
from dualgap.workbench.contenders import find
from dualgap.workbench.plan import Run, strength_of
from dualgap.workbench.rivals import RIVALS, Rival
from dualgap.workbench.rivals.ladder import Ladder, Task

# Curves of long runs need not show every epoch; but tol is tested at records, so these must not be far apart.
TARGET_RECORDS = 1000  # of a run
MAX_RECORD_EVERY = 20.0  # epochs


class Told(NamedTuple):
    """What a run gave: its answer, its records by name, and the seconds of the updates in the call that was timed by itself."""

    result: Result
    records: dict[str, Any]
    update_seconds: float | None


class Contest:
    """What the runs of one heat share: the rows, the problem, and what is known of both."""

    def __init__(self, run: Run, threads: int = 1, keep_iterates: bool = False) -> None:
        self.dataset = prepared_data(run)
        self.strength = strength_of(run.strength, self.dataset.shape[0])
        self.options: dict[str, Any] = {"loss": run.loss, "strength": self.strength, "intercept": run.intercept}
        self.problem = Problem(self.dataset.X, self.dataset.y, **self.options)
        # Labels turned round, or columns in other units, would set the weights against another truth than they know.
        self.beta = None if run.positive or run.standardize or run.features else self.dataset.beta
        self.data = _facts(self.dataset, self.problem.loss.task, self.beta) | {"centered": is_centered(run)}
        self.threads, self.keep_iterates = threads, keep_iterates
        self.ladders: dict[str, Ladder] = {}
        self.libraries: ThreadpoolController | None = None

    @property
    def test(self) -> tuple[Any, Any] | None:
        """The rows held out and their labels, where there are any."""
        return None if self.dataset.y_test is None else (self.dataset.X_test, self.dataset.y_test)

    def prepare(self, run: Run) -> None:
        """Compile what a run will need, or load it; refuses, in one sentence, what the run's solver cannot do."""
        self.libraries = None  # more of them may be loaded now
        if run.kind != "solver":
            self._ladder(run)
            return
        ready = _solver_of(run)
        if isinstance(ready, Auto):
            ready, _ = ready.choose(self.problem, ())
        ready.check(self.problem)
        ready.prepare(self.problem)

    def limited_threads(self) -> AbstractContextManager[Any]:
        """Hold the libraries loaded by now (BLAS, OpenMP) to the asked number of threads."""
        if self.libraries is None:
            self.libraries = ThreadpoolController()
        limited: AbstractContextManager[Any] = self.libraries.limit(limits=self.threads)
        return limited

    def finish(self, run: Run, tell: Callable[[Record], object]) -> store.FinishedRun:
        """Carry out one run, telling each record as it is made."""
        started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        if run.kind != "solver":
            climbed = self._ladder(run).climb(run.seed, run.seconds)
            return self._kept(run, started, **climbed._asdict())
        solver = _solver_of(run)
        result = solve(
            self.problem,
            solver,
            **self._limits(run),
            test=self.test,
            record_every=run.every or min(max(1.0, (run.epochs or 0.0) / TARGET_RECORDS), MAX_RECORD_EVERY),
            callback=lambda record: tell(record) is True,
            keep_iterates=self.keep_iterates,
        )
        iterates = result.trace.iterates() if self.keep_iterates else None
        told = Told(result, result.trace.columns(), None)
        # A replication compares algorithms by their updates, and has no use for a second call.
        if run.experiment is None and result.status is not Status.INTERRUPTED:
            told = self._on_call_clock(run, solver, result)
        result = told.result
        return self._kept(
            run,
            started,
            weights=result.weights,
            intercept=result.intercept,
            certificate=result.certificate,
            status=result.status.name,
            sentence=result.sentence,
            reason=result.reason,
            records=told.records,
            update_seconds=told.update_seconds,
            iterates=iterates,
        )

    def _on_call_clock(self, run: Run, solver: AnySolver | Auto, recorded: Result) -> Told:
        """What a run gave, with the seconds of the whole call at each record."""
        call = self._timed_call(run, solver, recorded.status)
        called, records = call.result, recorded.trace.columns()
        if called.status is Status.INTERRUPTED:
            return Told(replace(recorded, status=called.status, sentence=called.sentence), records, None)
        if recorded.status is Status.TIME_EXHAUSTED:
            # The recorded run spent a part of its time on records, which the limit is not for.
            records = _extended(records, called.trace[-1])
            return Told(called, _timed(records, call.seconds), call.update_seconds)
        if recorded.status is not Status.CERTIFIED:
            return Told(recorded, _timed(records, records["seconds"][-1] + call.seconds - call.update_seconds), None)
        if called.status is Status.CERTIFIED:
            return Told(recorded, _timed(records, call.seconds), call.update_seconds)
        # The call, which is certified elsewhere, met its limit first.
        return Told(recorded, records | {"call_seconds": [None] * len(recorded.trace)}, None)

    def _timed_call(self, run: Run, solver: AnySolver | Auto, status: Status) -> Call:
        """The whole call that a user makes, timed by itself.

        A run that was neither certified nor out of time is not carried out twice: one epoch tells what a call takes besides its updates.
        """
        limits = self._limits(run)
        if status is Status.TIME_EXHAUSTED:
            limits["test"] = self.test  # its last record is the run's, score and all
        elif status is not Status.CERTIFIED:
            limits["max_epochs"] = 1.0
        return timed_call(self.dataset.X, self.dataset.y, self.options, solver, limits)

    def _limits(self, run: Run) -> dict[str, Any]:
        """What decides how long a call of `solve` goes on."""
        return {
            "tol": run.tol,
            "gap_tol": run.gap_tol,
            "max_epochs": run.epochs,
            "max_seconds": run.seconds,
            "seed": run.seed,
            "n_jobs": self.threads,
        }

    def refused(self, run: Run, sentence: str) -> store.FinishedRun:
        """What is kept of a solver that cannot do this problem: its sentence, and no numbers."""
        return store.FinishedRun(
            run=run.id,
            settings=run.settings,
            data=self.data,
            strength=self.strength,
            status=store.REFUSED,
            sentence=sentence,
            reason="",
            certificate={},
            records={},
            machine=machine.machine() | {"threads": self.threads},
            versions=machine.versions() | _versions_of(run),
        )

    def _ladder(self, run: Run) -> Ladder:
        if run.solver not in self.ladders:
            rival = find(run.solver)
            assert isinstance(rival, Rival)
            task = Task(self.problem, self.dataset.X, self.test, run.tol, run.gap_tol or 0.0)
            self.ladders[run.solver] = Ladder(rival, task)
        return self.ladders[run.solver]

    def _kept(
        self, run: Run, started: str, *, certificate: Certificate, weights: Any, intercept: float, **ending: Any
    ) -> store.FinishedRun:
        known = self.beta is not None
        return store.FinishedRun(
            run=run.id,
            settings=run.settings,
            data=self.data,
            strength=self.strength,
            certificate={
                "primal": certificate.primal,
                "dual": certificate.dual,
                "gap": certificate.gap,
                "relative_gap": certificate.relative_gap,
            },
            started=started,
            machine=machine.machine() | {"threads": self.threads},
            versions=machine.versions() | _versions_of(run),
            weights=np.asarray(weights).tolist() if known else None,
            intercept=float(intercept) if known else None,
            **ending,
        )


def _extended(records: dict[str, Any], last: Record) -> dict[str, Any]:
    """Records by name, up to another run's last one, which ends them."""
    kept = sum(updates < last.updates for updates in records["updates"])
    return {name: [*values[:kept], getattr(last, name)] for name, values in records.items()}


def _timed(records: dict[str, Any], call: float) -> dict[str, Any]:
    """Records by name, with their seconds on the clock of a whole call."""
    return records | {"call_seconds": on_call_clock(records["seconds"], call)}


def _solver_of(run: Run) -> AnySolver | Auto:
    solver = find(run.solver)
    assert not isinstance(solver, Rival)
    return solver


def prepared_data(run: Run) -> Dataset:
    """The data of a run: loaded, labels fit for its loss, split, standardized and mapped to features where asked."""
    task = spec.build(run.loss, LOSSES, "loss").task
    dataset = read_parts(run, task)
    if is_centered(run):
        dataset = _centered(dataset)
    return dataset if run.features is None else _mapped(dataset, run.features)


def is_centered(run: Run) -> bool:
    """Whether the mean of the training targets is taken away: a model without an intercept could not have it.

    Targets of counts cannot be negative, and a replication races on its reports' own problems.
    """
    loss = spec.build(run.loss, LOSSES, "loss")
    is_free = loss.task == "regression" and not isfinite(loss.smallest_label)
    return is_free and not run.intercept and run.experiment is None


def _centered(dataset: Dataset) -> Dataset:
    mean = float(np.mean(dataset.y))
    y_test = None if dataset.y_test is None else dataset.y_test - mean
    return replace(dataset, y=dataset.y - mean, y_test=y_test)


def _mapped(dataset: Dataset, features: str) -> Dataset:
    """The data set with the features of a map that is fitted to the training part in place of its columns."""
    fitted = FittedMap.fit(features, dataset.X)
    X_test = None if dataset.X_test is None else fitted.transform(dataset.X_test)
    return replace(dataset, name=f"{dataset.name}, {fitted.spec}", X=fitted.transform(dataset.X), X_test=X_test)


def _versions_of(run: Run) -> dict[str, str]:
    """A rival's package has a version too."""
    return machine.version_of(RIVALS[run.solver].package) if run.kind == "rival" else {}


def _facts(dataset: Dataset, task: str, beta: Any) -> dict[str, Any]:
    rows, columns = dataset.shape
    facts = {
        "name": dataset.name,
        "task": task,
        "rows": rows,
        "columns": columns,
        "test_rows": 0 if dataset.X_test is None else int(dataset.X_test.shape[0]),
        "sparse": not isinstance(dataset.X, np.ndarray),
        "source": dataset.source,
    }
    return facts if beta is None else facts | {"beta": np.asarray(beta).tolist()}
