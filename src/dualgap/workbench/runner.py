"""The runner: carries out a plan run by run, tells a watcher what happens, and writes each finished run to disk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dualgap.result import Status
from dualgap.workbench import store
from dualgap.workbench.contest import Contest, prepared_data
from dualgap.workbench.plan import Heat, Plan, Run
from dualgap.workbench.pool import Pool
from dualgap.workbench.watcher import Watcher

__all__ = ["HeatResult", "RaceResult", "Watcher", "prepared_data", "race"]


@dataclass
class HeatResult:
    """What a heat gave: its finished runs, and the sentences of the solvers that refused."""

    heat: Heat
    data: dict[str, Any]
    strength: float
    runs: list[store.FinishedRun] = field(default_factory=list)
    refused: list[store.FinishedRun] = field(default_factory=list)

    @property
    def refusals(self) -> dict[str, str]:
        """The sentence of each solver that refused."""
        return {str(finished.settings["solver"]): finished.sentence for finished in self.refused}

    def refuse(self, run: Run, sentence: str, contest: Contest) -> None:
        """Keep the refusal of a run's solver, once."""
        if run.solver not in self.refusals:
            self.refused.append(contest.refused(run, sentence))


@dataclass
class RaceResult:
    """What a race gave, whole or up to a Ctrl-C."""

    heats: list[HeatResult] = field(default_factory=list)
    interrupted: bool = False

    @property
    def runs(self) -> list[store.FinishedRun]:
        """The finished runs of all heats."""
        return [finished for heat in self.heats for finished in heat.runs]

    @property
    def refused(self) -> list[store.FinishedRun]:
        """The refusals of all heats."""
        return [finished for heat in self.heats for finished in heat.refused]


def race(
    plan: Plan,
    results: Path | None = None,
    watcher: Watcher | None = None,
    *,
    jobs: int = 1,
    threads: int = 1,
    keep_iterates: bool = False,
    done: Iterable[store.FinishedRun] = (),
) -> RaceResult:
    """Carry out the plan. Ctrl-C ends it with what there is; a run cut short is not counted as finished.

    With `jobs` above 1 runs go on in that number of processes at once: quicker, but the clocks then disturb each other.
    Each run may use `threads` threads: solvers their own, rivals those of BLAS and OpenMP. Runs in `done` are taken as they are and not run again.
    `keep_iterates` keeps those of every record: in a file beside `results` for each run, or without results in the runs.
    """
    if jobs < 1 or threads < 1:
        raise ValueError(
            f"a race needs at least one job and one thread, got {min(jobs, threads)}; leave it out for one"
        )
    gathered = RaceResult()
    known = {finished.run: finished for finished in done}
    jobs = min(jobs, sum(run.id not in known for heat in plan.heats() for run in heat.runs))
    try:
        with ExitStack() as closing:
            pool = closing.enter_context(Pool(jobs, threads, keep_iterates)) if jobs > 1 else None
            for heat in plan.heats():
                contest = functools.partial(Contest, threads=threads, keep_iterates=keep_iterates)
                if not _race_heat(heat, known, results, watcher or Watcher(), gathered, contest, pool):
                    gathered.interrupted = True
                    break
    except KeyboardInterrupt:
        gathered.interrupted = True
    return gathered


def check_data(plan: Plan) -> None:
    """Refuse what any data set of a race cannot be, before the first of several is raced on.

    Each is read once more later: two in memory at a time would be too much for large ones.
    """
    for heat in plan.heats() if len(plan.data) > 1 else ():
        if heat.strength == plan.strengths[0]:
            prepared_data(heat.runs[0])


def _race_heat(
    heat: Heat,
    known: dict[str, store.FinishedRun],
    results: Path | None,
    watcher: Watcher,
    gathered: RaceResult,
    contest_of: Callable[[Run], Contest],
    pool: Pool | None,
) -> bool:
    """Run one heat, adding to `gathered` as it goes; False where it was interrupted."""
    watcher.loading(heat)
    contest = contest_of(heat.runs[0])
    here = HeatResult(heat, contest.data, contest.strength)
    gathered.heats.append(here)
    watcher.loaded(heat, here.data, here.strength)
    for run in heat.runs:
        if run.id in known and known[run.id].is_refused:
            here.refused.append(known[run.id])
            watcher.refused(run.solver, known[run.id].sentence)
        elif run.id in known:
            here.runs.append(known[run.id])
            watcher.already(run, known[run.id])
    try:
        return _race_rest(heat, known, results, watcher, here, contest, pool)
    finally:
        # A file of results begins with a finished run: where none is, nothing is left behind.
        if results is not None and results.exists():
            for refused in here.refused:
                if refused.run not in known and "experiment" not in refused.settings:
                    store.append(results, refused)
        # Processes end their runs in any order; what a race gives has one.
        place = {run.id: number for number, run in enumerate(heat.runs)}
        here.runs.sort(key=lambda finished: place[finished.run])


def _race_rest(
    heat: Heat,
    known: dict[str, store.FinishedRun],
    results: Path | None,
    watcher: Watcher,
    here: HeatResult,
    contest: Contest,
    pool: Pool | None,
) -> bool:
    """The runs of a heat that are not known yet; False where it was interrupted."""
    todo = _prepared([run for run in heat.runs if run.id not in known], contest, here, watcher)
    with contest.limited_threads():
        for run, finished in _carried_out(todo, contest, watcher, pool):
            if isinstance(finished, str):
                here.refuse(run, finished, contest)
                watcher.refused(run.solver, finished)
                continue
            interrupted = finished.status == Status.INTERRUPTED.name
            if not interrupted:
                if results is not None:
                    # First: a line of results says that all of the run is on the disk.
                    store.write_iterates(results, finished)
                    finished = replace(finished, iterates=None)
                    store.append(results, finished)
                here.runs.append(finished)
            watcher.finished(run, finished)
            if interrupted:
                return False
    return True


def _prepared(runs: list[Run], contest: Contest, here: HeatResult, watcher: Watcher) -> list[Run]:
    """The runs whose solvers can do this problem; by then whatever they need is compiled."""
    firsts: dict[str, Run] = {}
    for run in runs:
        if run.solver not in here.refusals:
            firsts.setdefault(run.solver, run)
    for run in firsts.values():
        try:
            watcher.preparing(run.solver)
            contest.prepare(run)
        except ValueError as refusal:
            here.refuse(run, str(refusal), contest)
            watcher.refused(run.solver, str(refusal))
    return [run for run in runs if run.solver not in here.refusals]


def _carried_out(
    runs: list[Run], contest: Contest, watcher: Watcher, pool: Pool | None
) -> Iterator[tuple[Run, store.FinishedRun | str]]:
    """Each run with what it gave, or with the sentence by which it refused."""
    if pool is not None:
        yield from pool.carry_out(runs, watcher)
        return
    refused: set[str] = set()
    for run in runs:
        if run.solver in refused:
            continue
        watcher.started(run)
        try:
            yield run, contest.finish(run, functools.partial(watcher.recorded, run))
        except ValueError as refusal:
            refused.add(run.solver)
            yield run, str(refusal)
