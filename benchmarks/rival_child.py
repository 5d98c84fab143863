"""One job of the rivals bench in a process of its own: a job comes as JSON, what happens is told as lines of JSON.

A rival may crash, hang or take all memory; then this process is lost, and the bench goes on.
"""

from __future__ import annotations

import inspect
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import dualgap as dg
from dualgap.workbench.rivals import RIVALS
from rival_problems import PROBLEMS, load
from rival_tables import BUDGET, GOALS, GOT_THERE, OURS, within

Tell = Callable[..., None]

# Below so many seconds one measurement is repeated.
QUICK, QUICK_IN_TURN, REPEATS = 1.0, 5.0, 3
TINY, WARM_UP, TIGHTER = 40, 1000, 4
MEMORY = 14 * 2**30


class Bench:
    """A problem's arrays in memory, and how our side and a rival are timed on them."""

    def __init__(self, folder: Path, name: str) -> None:
        self.given = PROBLEMS[name]
        self.X, self.y = load(folder, self.given.data)
        self.strength = self.given.strength(self.X.shape[0])
        self.problem = dg.Problem(self.X, self.y, self.given.loss, self.strength)

    def primal(self, weights: np.ndarray) -> float:
        if weights.shape != (self.X.shape[1],) or not np.isfinite(weights).all():
            raise ValueError("its weights are not finite numbers, one a column")
        return self.problem.primal(self.problem.scores(weights), weights)

    def tiny(self) -> tuple[Any, np.ndarray]:
        """A few rows with both labels, in the same form."""
        order = np.argsort(self.y, kind="stable")
        chosen = np.sort(np.r_[order[:TINY], order[-TINY:]])
        return self.X[chosen], self.y[chosen]

    def ready_ours(self, solvers: list[str], goal: float) -> None:
        """Compile and start whatever our side needs, on a few rows and then on the problem itself."""
        X, y = self.tiny()
        few = dg.Problem(X, y, self.given.loss, self.given.strength(len(y)))
        for solver in {*solvers, "newton", "sdca"}:
            dg.solve(few, solver, tol=1e-3, max_seconds=5.0, **both_cores())
        for solver in solvers:
            dg.solve(self.problem, solver, tol=goal, max_seconds=2.0, **both_cores())

    def ours(self, solver: str, goal: float, seconds: float = BUDGET) -> tuple[float, Any]:
        begin = time.perf_counter()
        problem = dg.Problem(self.X, self.y, self.given.loss, self.strength)
        result = dg.solve(problem, solver, tol=goal, max_seconds=seconds, **both_cores())
        return time.perf_counter() - begin, result


class Racer:
    """A rival on a problem: imported, started up, and its rows in its own form."""

    def __init__(self, bench: Bench, name: str, threads: int) -> None:
        self.bench, self.rival, self.threads = bench, RIVALS[name], threads
        np.ones((512, 512)) @ np.ones((512, 512))  # the threads of BLAS
        X, y = bench.tiny()
        self._fit(self.rival.table(X, y), self.rival.loosest, len(y), WARM_UP)
        self.table = self.rival.table(bench.X, bench.problem.labels)

    def fit(self, tolerance: float) -> tuple[float, np.ndarray, bool]:
        """Seconds, weights, and whether it converged by its own account."""
        return self._fit(self.table, tolerance, self.bench.X.shape[0], self.rival.most_iterations)

    def sure(self, tolerance: float, optimum: float, goal: float) -> float:
        """The first of its tolerances, from the given one on, that brings it within the goal here and now."""
        rungs = [rung for rung in self.rival.tolerances() if rung <= tolerance]
        for rung in rungs[:TIGHTER]:
            if within(self.bench.primal(self.fit(rung)[1]), optimum, goal):
                return rung
        return tolerance

    def _fit(self, table: Any, tolerance: float, rows: int, iterations: int) -> tuple[float, np.ndarray, bool]:
        limit: AbstractContextManager[Any] = threadpool_limits(self.threads) if self.threads == 1 else nullcontext()
        with warnings.catch_warnings(record=True) as said, limit:
            warnings.simplefilter("always")
            begin = time.perf_counter()
            fit = self.rival.fit(
                *table,
                self.bench.problem.loss,
                self.bench.strength * self.bench.X.shape[0] / rows,
                tolerance,
                rows=rows,
                seed=0,
                iterations=iterations,
                threads=self.threads,
            )
            seconds = time.perf_counter() - begin
        gave_up = any("ConvergenceWarning" in (kind.__name__ for kind in w.category.__mro__) for w in said)
        return seconds, fit.weights, not gave_up


def both_cores() -> dict[str, int]:
    return {"n_jobs": 2} if "n_jobs" in inspect.signature(dg.solve).parameters else {}


def climb(job: dict[str, Any], tell: Tell) -> None:
    """A rival's ladder: from its loosest tolerance down, until P is within the last goal or a rung fails."""
    bench = Bench(Path(job["folder"]), job["problem"])
    racer = Racer(bench, job["rival"], job["threads"])
    optimum, spent = job["optimum"], 0.0
    waiting = list(GOALS)
    for tolerance in racer.rival.tolerances():
        tell("rung", tolerance=tolerance, left=BUDGET - spent)
        seconds, weights, converged = racer.fit(tolerance)
        primal = bench.primal(weights)
        spent += seconds
        met = [goal for goal in waiting if within(primal, optimum, goal)]
        if met and seconds < QUICK:
            tell("again", left=10.0 * QUICK)
            seconds = statistics.median([seconds, *(racer.fit(tolerance)[0] for _ in range(REPEATS - 1))])
        waiting = [goal for goal in waiting if goal not in met]
        tell("done", tolerance=tolerance, seconds=seconds, primal=primal)
        if not waiting:
            return tell("end", words=GOT_THERE)
        if not converged:
            return tell("end", words=f"it did not converge at its tolerance {tolerance:g}")
        if spent >= BUDGET:
            return tell("end", words=f"its fits took the {BUDGET:g} s they had")
    return tell("end", words="its tightest tolerance was reached")


def optimum(job: dict[str, Any], tell: Tell) -> None:
    """The best P and D that our solvers prove, one after the other until the gap is small enough."""
    bench = Bench(Path(job["folder"]), job["problem"])
    primal, dual, used, begin = np.inf, -np.inf, [], time.perf_counter()
    for solver in job["solvers"]:
        result = dg.solve(bench.problem, solver, tol=job["tol"], max_seconds=job["seconds"], **both_cores())
        primal, dual = min(primal, result.certificate.primal), max(dual, result.certificate.dual)
        used.append(solver)
        if primal - dual <= job["enough"] * primal:
            break
    stored = bench.X.size if isinstance(bench.X, np.ndarray) else bench.X.nnz
    tell(
        "end",
        rows=bench.X.shape[0],
        columns=bench.X.shape[1],
        stored=stored,
        primal=primal,
        dual=dual,
        solvers=" ".join(used),
        seconds=round(time.perf_counter() - begin, 1),
    )


def duel(job: dict[str, Any], tell: Tell) -> None:
    """Our side and the given rivals at their known rungs, in turn."""
    bench = Bench(Path(job["folder"]), job["problem"])
    goal = job["goal"]
    bench.ready_ours(["auto"], goal)
    racers = {}
    for known in job["known"]:
        racer = Racer(bench, known["rival"], known["threads"])
        # Threads make some of them arrive elsewhere each time; this is also their warm-up.
        known["tolerance"] = racer.sure(known["tolerance"], job["optimum"], goal)
        racers[known["rival"]] = (racer, known)
    taken: dict[str, list[float]] = {name: [] for name in (OURS, *racers)}
    words: dict[str, str] = {}
    reached: dict[str, bool] = {}
    for _ in range(REPEATS):
        for name, seconds in taken.items():
            if seconds and seconds[0] > QUICK_IN_TURN:
                continue
            if name == OURS:
                one, result = bench.ours("auto", goal)
                words[name], reached[name] = result.reason, result.status.name == "CERTIFIED"
            else:
                racer, known = racers[name]
                one, weights, _ = racer.fit(known["tolerance"])
                reached[name] = reached.get(name, False) or within(bench.primal(weights), job["optimum"], goal)
                words[name] = ""
            seconds.append(one)
    for name, seconds in taken.items():
        known = racers[name][1] if name in racers else {"threads": 2 if both_cores() else 1, "tolerance": goal}
        tell(
            "row",
            contender=name,
            threads=known["threads"],
            tolerance=known["tolerance"],
            seconds=float(f"{statistics.median(seconds):.4g}"),
            repeats=len(seconds),
            reached=reached[name],
            words=words[name],
        )
    tell("end")


def ours(job: dict[str, Any], tell: Tell) -> None:
    """Our solvers in turn; a single method need not go on long after `auto` has arrived."""
    bench = Bench(Path(job["folder"]), job["problem"])
    goal, solvers = job["goal"], job["solvers"]
    taken: dict[str, list[float]] = {}
    last: dict[str, Any] = {}
    for solver in solvers:
        try:
            bench.ready_ours([solver], goal)
            taken[solver] = []
        except ValueError as refusal:
            tell("row", solver=solver, seconds=BUDGET, repeats=0, reached=False, words=str(refusal))
    for _ in range(REPEATS):
        for solver, seconds in taken.items():
            if seconds and (seconds[0] > QUICK_IN_TURN or last[solver].status.name != "CERTIFIED"):
                continue
            limit = BUDGET if solver == solvers[0] else min(BUDGET, 2.0 * taken[solvers[0]][0] + 0.2)
            one, last[solver] = bench.ours(solver, goal, limit)
            seconds.append(one)
    for solver, seconds in taken.items():
        tell(
            "row",
            solver=solver,
            seconds=float(f"{statistics.median(seconds):.4g}"),
            repeats=len(seconds),
            reached=last[solver].status.name == "CERTIFIED",
            words=last[solver].reason if solver == "auto" else last[solver].status.name,
        )
    tell("end")


JOBS = {"climb": climb, "optimum": optimum, "duel": duel, "ours": ours}


def main() -> None:
    # What a rival prints must not come between the lines of the report.
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    job = json.loads(sys.argv[1])

    def tell(event: str, **facts: Any) -> None:
        print(json.dumps({"event": event, **facts}), file=report)

    try:
        JOBS[job["work"]](job, tell)
    except Exception as error:
        # A rival's failure is a result; ours is seen in the same words.
        tell("error", words=" ".join(f"{type(error).__name__}: {error}".split())[:300])


if __name__ == "__main__":
    main()
