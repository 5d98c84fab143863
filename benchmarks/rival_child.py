"""One job of the rivals bench in a process of its own: a job comes as JSON, what happens is told as lines of JSON.

A rival may crash, hang or take all memory; then this process is lost, and the bench goes on.
"""

from __future__ import annotations

import inspect
import json
import os
import random
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

# A measurement below QUICK seconds is repeated; in a duel every one but the slow is repeated, and quicker ones more often: the
# fastest of many rivals would otherwise be the luckiest one.
QUICK, REPEATS = 1.0, 3
SLOW_IN_TURN, TINY_SECONDS, TINY_REPEATS, TINIEST_SECONDS, MOST_REPEATS = 5.0, 0.1, 5, 0.02, 9
# Threads of BLAS and OpenMP go on spinning for a while after their last work; the next contender must not pay for that.
SETTLE = 0.06
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
            dg.solve(few, solver, tol=1e-3, max_seconds=0.2, **both_cores())
        for solver in solvers:
            dg.solve(self.problem, solver, tol=goal, max_seconds=1.0, **both_cores())

    def ours(self, solver: str, goal: float, seconds: float = BUDGET) -> tuple[float, Any]:
        begin = time.perf_counter()
        problem = dg.Problem(self.X, self.y, self.given.loss, self.strength)
        # Judged as rarely as proving the goal allows, for a single method too.
        result = dg.solve(problem, solver, tol=goal, max_seconds=seconds, record_every=float("inf"), **both_cores())
        return time.perf_counter() - begin, result

    def proved(self, solver: str, goal: float, seconds: float = BUDGET) -> tuple[float, bool, str]:
        """Seconds, whether the goal was certified, and our reason."""
        taken, result = self.ours(solver, goal, min(seconds, BUDGET))
        is_certified = result.status.name == "CERTIFIED"
        return taken, is_certified, result.reason if solver == "auto" else result.status.name


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
        return self._fit(self.table, tolerance, self.bench.X.shape[0], self.rival.max_iterations)

    def fit_to_goal(self, tolerance: float, optimum: float, goal: float) -> tuple[float, bool, str]:
        """Seconds, and whether P is within the goal."""
        seconds, weights, _ = self.fit(tolerance)
        return seconds, within(self.bench.primal(weights), optimum, goal), ""

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


class Timed:
    """The fits of one contender, measured in turn with the others': how long they took and what the last one brought."""

    def __init__(self, fit: Callable[[], tuple[float, bool, str]]) -> None:
        self.fit = fit
        self.seconds: list[float] = []
        self.reached, self.words = False, ""

    def again(self) -> None:
        """One more measurement, unless it is slow enough to be reliable or would not get there anyway."""
        if self.seconds and (self.median > SLOW_IN_TURN or not self.reached):
            return
        if len(self.seconds) >= self.repeats:
            return
        time.sleep(SETTLE)
        if not self.seconds or self.median < TINY_SECONDS:
            self.fit()  # so that a tiny one finds its own code and data in the caches, not those of the last contender
        one, self.reached, self.words = self.fit()
        self.seconds.append(one)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def repeats(self) -> int:
        """How many measurements a contender as quick as this has."""
        if not self.seconds or self.median < TINIEST_SECONDS:
            return MOST_REPEATS
        return TINY_REPEATS if self.median < TINY_SECONDS else REPEATS

    def row(self) -> dict[str, Any]:
        seconds = float(f"{self.median:.4g}")
        return {"seconds": seconds, "repeats": len(self.seconds), "reached": self.reached, "words": self.words}


def duel(job: dict[str, Any], tell: Tell) -> None:
    """For each goal our side, our single methods and the given rivals at their known rungs, in turn."""
    bench = Bench(Path(job["folder"]), job["problem"])
    racers: dict[tuple[str, int], Racer] = {}
    for goal, known in zip(job["goals"], job["known"], strict=True):
        own = {OURS: Timed(lambda goal=goal: bench.proved("auto", goal))}
        bench.ready_ours(["auto"], goal)
        # A single method need not go on long after `auto` has come to the goal.
        limit = 2.0 * own[OURS].fit()[0] + 0.2
        rivals: dict[tuple[str, int], tuple[float, Timed]] = {}
        for one in known:
            who = (one["rival"], one["threads"])
            racer = racers[who] = racers.get(who) or Racer(bench, *who)
            # Threads make some of them arrive elsewhere each time; this is also their warm-up.
            tolerance = racer.sure(one["tolerance"], job["optimum"], goal)
            fit = lambda racer=racer, at=tolerance, goal=goal: racer.fit_to_goal(at, job["optimum"], goal)
            rivals[who] = (tolerance, Timed(fit))
        for solver in job["solvers"]:
            try:
                bench.ready_ours([solver], goal)
            except ValueError as refusal:
                tell("ours", goal=goal, solver=solver, seconds=BUDGET, repeats=0, reached=False, words=str(refusal))
                continue
            own[solver] = Timed(lambda solver=solver, goal=goal, limit=limit: bench.proved(solver, goal, limit))
        contenders = [*own.values(), *(timed for _, timed in rivals.values())]
        for turn in range(MOST_REPEATS):
            # Some rivals leave threads spinning for longer than the pause here: no rival may always come after the same one,
            # neither on this problem nor on all of them.
            random.Random(f"{job['problem']} {goal:g} {turn}").shuffle(contenders)
            for timed in contenders:
                timed.again()
        for name, timed in own.items():
            tell("ours", goal=goal, solver="auto" if name == OURS else name, **timed.row())
        tell("row", goal=goal, contender=OURS, threads=2, tolerance=goal, **own[OURS].row())
        for name in {name for name, _ in rivals}:
            # On the number of threads that suits it, where several were measured.
            threads = min((t for n, t in rivals if n == name), key=lambda t: _worth(rivals[name, t][1]))
            tolerance, timed = rivals[name, threads]
            tell("row", goal=goal, contender=name, threads=threads, tolerance=tolerance, **timed.row())
    tell("end")


def _worth(timed: Timed) -> tuple[bool, float]:
    return not timed.reached, timed.median


JOBS = {"climb": climb, "optimum": optimum, "duel": duel}


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
