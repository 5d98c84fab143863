"""The sparse bench: L1 and elastic net beside others that minimize the same objective, each on one thread.

    DUALGAP_DATA=… python benchmarks/sparse_rivals.py [--problems TEXT …] [--again] [--minutes 15]

One process measures a problem after the other: our certified run, then each rival's ladder of its own tolerances, one a decade, judged
at the weights it returns, then those that are quick enough again, in turn. Rows go to sparse_rivals.csv as they come; a problem that is there is not
measured again unless --again asks for it. A rival that met no goal at one strength is not tried at a smaller one of the same data and loss.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SPARSE_OURS = "dualgap"
# One thread each, set before BLAS is loaded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
if __name__ == "__main__":
    os.environ.update(ONE_THREAD)

import numpy as np

import dualgap as dg
from rival_tables import GOALS, Rung, first_within, sparse, within
from rivals import provenance
from sparse_problems import (
    SPARSE_PROBLEMS,
    SPARSE_RIVALS,
    SparseProblem,
    SparseRival,
    rows_of,
)

# Seconds that our run has; a rival says its own.
LIMIT = 10.0
# The optimum that rivals are judged by, found by ours before the clock starts.
OPTIMUM_TOL, OPTIMUM_SECONDS = 1e-9, 5.0
# A fit below these seconds is repeated in turn with the others; a rival NEAR times slower than the fastest is not.
SLOW, NEAR, TURNS, QUICK, QUICK_TURNS = 2.0, 4.0, 3, 0.05, 5
# What the compilers of a first fit, and a fit that does not look at the clock, have beyond their time.
START, SLACK = 240.0, 5.0
TINY = 40


class TooLong(Exception):
    pass


def _too_long(*_: object) -> None:
    raise TooLong


class Arena:
    """The data of the last problem, and the rivals that are compiled and warm."""

    def __init__(self) -> None:
        self.name, self.warm = "", set[tuple[str, str, float, bool]]()
        self.tables: dict[type[SparseRival], tuple[Any, Any]] = {}
        signal.signal(signal.SIGALRM, _too_long)

    def load(self, name: str) -> None:
        if name != self.name:
            (self.X, self.y), self.name = rows_of(name), name
            self.tables = {}

    def table(self, rival: SparseRival) -> tuple[Any, Any]:
        if type(rival) not in self.tables:
            self.tables[type(rival)] = rival.table(self.X, self.y)
        return self.tables[type(rival)]

    def fit(self, rival: SparseRival, problem: dg.Problem, tolerance: float, left: float) -> tuple[float, np.ndarray]:
        rows, labels = self.table(rival)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal.setitimer(signal.ITIMER_REAL, left + 1.0)
            try:
                begin = time.perf_counter()
                weights = rival.fit(rows, labels, problem, tolerance, left)
                return time.perf_counter() - begin, np.asarray(weights, dtype=np.float64)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)

    def warm_up(self, rival: SparseRival, given: SparseProblem, problem: dg.Problem) -> None:
        key = (rival.name, given.loss, given.l1_ratio, isinstance(self.X, np.ndarray))
        if key in self.warm:
            return
        order = np.argsort(self.y, kind="stable")
        few = np.sort(np.r_[order[:TINY], order[-TINY:]]) if len(self.y) > 2 * TINY else order
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rival.fit(*rival.table(self.X[few], self.y[few]), problem, 0.1, 1.0)
        self.warm.add(key)

    def ours(self, given: SparseProblem, strength: float, tol: float, seconds: float = LIMIT) -> tuple[float, Any]:
        begin = time.perf_counter()
        problem = dg.Problem(self.X, self.y, given.loss, strength, l1_ratio=given.l1_ratio)
        result = dg.solve(problem, tol=tol, max_seconds=seconds, record_every=float("inf"))
        return time.perf_counter() - begin, result


class Match:
    """One problem: ours and the rivals, first alone, then in turn."""

    def __init__(self, arena: Arena, given: SparseProblem, tell: Any) -> None:
        self.arena, self.given, self.tell = arena, given, tell
        arena.load(given.data)
        whole = dg.Problem(arena.X, arena.y, given.loss, 1.0, l1_ratio=given.l1_ratio)
        self.problem = whole.with_strength(given.part * whole.strength_max)
        self.taken: dict[tuple[float, str], list[float]] = {}
        self.tolerance: dict[tuple[float, str], float] = {}
        self.words: dict[str, str] = {}

    def run(self, names: list[str]) -> Iterator[dict[str, Any]]:
        strength = self.problem.strength
        best, floor = self.prove(strength)
        ladders = {}
        for name in names:
            ladders[name] = self.climb(SPARSE_RIVALS[name], floor)
        best = min([best, *(rung.primal for rungs in ladders.values() for rung in rungs)])
        for goal in GOALS:
            for name, rungs in ladders.items():
                rung = first_within(rungs, best, goal)
                if rung is not None:
                    self.taken[goal, name], self.tolerance[goal, name] = [rung.seconds], rung.tolerance
            self.in_turn(goal, strength)
        for goal in GOALS:
            for name in (SPARSE_OURS, *names):
                seconds = self.taken.get((goal, name))
                yield {
                    "goal": f"{goal:g}",
                    "contender": name,
                    "strength": f"{strength:.6g}",
                    "rows": len(self.arena.y),
                    "columns": self.arena.X.shape[1],
                    "tolerance": self.tolerance.get((goal, name), ""),
                    "seconds": f"{statistics.median(seconds):.4g}" if seconds else "",
                    "repeats": len(seconds or ()),
                    "reached": seconds is not None,
                    "words": self.words.get(name, ""),
                    "load": f"{os.getloadavg()[0]:.1f}",
                }

    def prove(self, strength: float) -> tuple[float, float]:
        """The least P and the greatest D of ours; which goals it certifies in its time."""
        self.tell("trying", contender=SPARSE_OURS, left=3 * LIMIT + START)
        self.arena.ours(self.given, strength, 0.1, 1.0)  # compiles
        _, sharp = self.arena.ours(self.given, strength, OPTIMUM_TOL, OPTIMUM_SECONDS)
        best, floor = sharp.certificate.primal, sharp.certificate.dual
        for goal in GOALS:
            seconds, result = self.arena.ours(self.given, strength, goal)
            best, floor = min(best, result.certificate.primal), max(floor, result.certificate.dual)
            if result.certificate.proves(goal):
                self.taken[goal, SPARSE_OURS], self.tolerance[goal, SPARSE_OURS] = [seconds], goal
            self.words[SPARSE_OURS] = (
                f"{result.status.name}, relative gap {result.certificate.relative_gap:.1e}, "
                f"{np.count_nonzero(result.weights)} nonzero weights"
            )
            if not result.certificate.proves(goal):
                break
        return best, floor

    def climb(self, rival: SparseRival, floor: float) -> list[Rung]:
        """Its rungs until P is within the last goal of a lower bound of the optimum, or its time is over."""
        rungs: list[Rung] = []
        left = rival.seconds
        try:
            self.tell("trying", contender=rival.name, left=START)
            self.arena.warm_up(rival, self.given, self.problem)
            for tolerance in rival.tolerances():
                self.tell("trying", contender=rival.name, left=left + SLACK)
                seconds, weights = self.arena.fit(rival, self.problem, tolerance, left)
                left -= seconds
                primal = self.problem.primal(self.problem.scores(weights), weights)
                if seconds <= rival.seconds:
                    rungs.append(Rung(tolerance, seconds, primal))
                if within(primal, floor, GOALS[-1]):
                    return rungs
                if left <= 0.0:
                    break
            self.words[rival.name] = "its time was over" if left <= 0.0 else "its tightest tolerance"
        except (TooLong, TimeoutError):
            self.words[rival.name] = "its time was over"
        except Exception as error:
            # A rival's failure is a result.
            self.words[rival.name] = " ".join(f"{type(error).__name__}: {error}".split())[:100]
        return rungs

    def in_turn(self, goal: float, strength: float) -> None:
        """Measure again those that got there quickly, one after the other."""
        fastest = min((s[0] for (at, _), s in self.taken.items() if at == goal), default=0.0)
        for turn in range(QUICK_TURNS):
            for name in (SPARSE_OURS, *SPARSE_RIVALS):
                seconds = self.taken.get((goal, name))
                if seconds is None or seconds[0] > SLOW:
                    continue
                if name != SPARSE_OURS and seconds[0] > NEAR * fastest:
                    continue
                if turn >= (QUICK_TURNS if seconds[0] < QUICK else TURNS):
                    continue
                if turn == 0:
                    seconds.clear()  # the first was with cold caches
                self.tell("trying", contender=name, left=LIMIT + START)
                if name == SPARSE_OURS:
                    seconds.append(self.arena.ours(self.given, strength, goal)[0])
                else:
                    rival = SPARSE_RIVALS[name]
                    seconds.append(self.arena.fit(rival, self.problem, self.tolerance[goal, name], LIMIT)[0])


def child() -> None:
    """Read a problem a line, tell what happens in lines."""
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    arena = Arena()

    def tell(event: str, **facts: Any) -> None:
        print(json.dumps({"event": event, **facts}), file=report)

    for line in sys.stdin:
        job = json.loads(line)
        for row in Match(arena, SPARSE_PROBLEMS[job["problem"]], tell).run(job["rivals"]):
            tell("row", row=row)
        tell("end")


def key_of(given: SparseProblem) -> dict[str, str]:
    return {"data": given.data, "loss": given.loss, "l1_ratio": f"{given.l1_ratio:g}", "part": f"{given.part:g}"}


def is_of(row: dict[str, str], given: SparseProblem) -> bool:
    return all(row[name] == text for name, text in key_of(given).items())


class Bench:
    """The process that measures, and the table."""

    def __init__(self, folder: Path) -> None:
        self.table = sparse(folder)
        # Who met no goal, at which part of the largest strength: it is not tried at smaller ones.
        self.missed: dict[tuple[tuple[str, str, float], str], float] = {}
        for given in SPARSE_PROBLEMS.values():
            self.remember(given, [row for row in self.table.rows.values() if is_of(row, given)])
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.lines: queue.Queue[str] = queue.Queue()
            threading.Thread(target=self.listen, args=(self.process, self.lines), daemon=True).start()
        return self.process

    @staticmethod
    def listen(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, given: SparseProblem, names: list[str]) -> tuple[list[dict[str, Any]] | None, str]:
        """The rows of a problem; or None and who was at work when the process was lost or had to be ended."""
        process = self.start()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"problem": given.name, "rivals": names}) + "\n")
        process.stdin.flush()
        rows, left, at_work = [], START, SPARSE_OURS
        while True:
            try:
                line = self.lines.get(timeout=left)
            except queue.Empty:
                line = ""
            if not line:
                self.stop()
                return None, at_work
            told = json.loads(line)
            match told["event"]:
                case "trying":
                    left, at_work = told["left"], told["contender"]
                case "row":
                    rows.append(told["row"])
                case "end":
                    return rows, ""

    def remember(self, given: SparseProblem, rows: list[dict[str, Any]]) -> None:
        """Which rivals met no goal here."""
        for name in {row["contender"] for row in rows} - {SPARSE_OURS}:
            if not any(str(row["reached"]) == "True" for row in rows if row["contender"] == name):
                self.miss(given, name)

    def miss(self, given: SparseProblem, name: str) -> None:
        self.missed[given.family, name] = max(given.part, self.missed.get((given.family, name), 0.0))

    def is_hopeless(self, given: SparseProblem, name: str) -> bool:
        return given.part < self.missed.get((given.family, name), 0.0)

    def measure(self, given: SparseProblem) -> None:
        names = [name for name, rival in SPARSE_RIVALS.items() if rival.fits(given)]
        tried = [name for name in names if not self.is_hopeless(given, name)]
        while True:
            rows, lost = self.ask(given, tried)
            if rows is not None:
                break
            if lost == SPARSE_OURS:
                raise SystemExit(f"the process of {given.name} ended in our own run")
            self.miss(given, lost)
            tried.remove(lost)
        for name in names:
            if name not in tried:
                blank = dict.fromkeys(("tolerance", "seconds"), "") | {"repeats": 0, "reached": False}
                not_tried = self.is_hopeless(given, name)
                told = {"words": "not tried: at a larger strength it met no goal" if not_tried else "its time was over"}
                rows += [{**rows[0], **blank, **told, "goal": f"{goal:g}", "contender": name} for goal in GOALS]
        self.remember(given, rows)
        for row in rows:
            package = SPARSE_RIVALS[row["contender"]].package if row["contender"] in SPARSE_RIVALS else None
            self.table.put({**key_of(given), **row, **provenance(package)})
        said = [f"{row['contender']} {row['seconds'] or '–'}" for row in rows if row["goal"] == f"{GOALS[-1]:g}"]
        print(f"{time.strftime('%H:%M:%S')} {given.name}: {', '.join(said)}", flush=True)

    def is_known(self, given: SparseProblem) -> bool:
        return (*key_of(given).values(), f"{GOALS[-1]:g}", SPARSE_OURS) in self.table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="*", default=[], help="parts of names, such as 'logistic golub'")
    parser.add_argument("--again", action="store_true", help="measure again what is there")
    parser.add_argument("--minutes", type=float, default=15.0, help="after which no problem is begun")
    parser.add_argument("--results", default=str(HERE), help="the folder of the table")
    parser.add_argument("--mnist", action="store_true", help="with mnist, which takes as long as the others together")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return
    bench, end = Bench(Path(options.results)), time.monotonic() + 60.0 * options.minutes
    try:
        for name, given in SPARSE_PROBLEMS.items():
            if options.problems and not any(text in name for text in options.problems):
                continue
            if (given.data == "mnist" and not options.mnist) or (bench.is_known(given) and not options.again):
                continue
            if time.monotonic() > end:
                print("the minutes are over; the same command goes on from here")
                break
            bench.measure(given)
    finally:
        bench.stop()
        bench.table.tidy()


if __name__ == "__main__":
    main()
