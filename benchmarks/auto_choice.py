"""`auto` beside the solvers it chooses from: seconds to 1e-6 on problems of the rivals bench, measured in turn.

    DUALGAP_DATA=… python benchmarks/auto_choice.py [--problems TEXT …]

A problem is marked where auto takes more than 1.5 times as long as the better of Newton and SDCA with shrinking, and more than 10 ms
longer. Medians of 5 fits with two threads; a solver that is not certified within ten times auto's first fit is not timed further.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import dualgap as dg
from rival_problems import PROBLEMS, load, prepare

REPEATS, THREADS, TOL = 5, 2, 1e-6
# What auto may take more than the best single solver: a factor, or seconds.
FACTOR, SECONDS = 1.5, 0.01
SOLVERS = {"auto": "auto", "newton": dg.Newton(), "sdca": dg.SDCA(shrinking=True)}


def fit(data: tuple, name: str, solver: object, max_seconds: float | None) -> tuple[float, bool]:
    problem = PROBLEMS[name]
    began = time.perf_counter()
    given = dg.Problem(*data, problem.loss, problem.strength(data[0].shape[0]))
    result = dg.solve(given, solver, tol=TOL, n_jobs=THREADS, max_seconds=max_seconds, record_every=float("inf"))
    return time.perf_counter() - began, result.status is dg.Status.CERTIFIED


def compare(data: tuple, name: str) -> dict[str, float]:
    fit(data, name, "auto", None)
    patience = max(1.0, 10.0 * fit(data, name, "auto", None)[0])
    timed = [
        "auto",
        *(label for label, solver in SOLVERS.items() if label != "auto" and fit(data, name, solver, patience)[1]),
    ]
    times: dict[str, list[float]] = {label: [] for label in timed}
    for _ in range(REPEATS):
        for label in timed:
            times[label].append(fit(data, name, SOLVERS[label], None)[0])
    return {label: statistics.median(taken) for label, taken in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="*", default=["hinge", "logistic"], help="parts of names of problems")
    asked = parser.parse_args()
    chosen = [name for name in PROBLEMS if any(part in name for part in asked.problems)]
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            prepare(Path(folder), [PROBLEMS[name].data])
            medians = compare(load(Path(folder), PROBLEMS[name].data), name)
            best = (
                min(seconds for label, seconds in medians.items() if label != "auto")
                if len(medians) > 1
                else float("inf")
            )
            is_slow = medians["auto"] > max(FACTOR * best, best + SECONDS)
            shown = "  ".join(f"{label} {1e3 * seconds:.1f} ms" for label, seconds in medians.items())
            print(f"{name}: {shown}{'  SLOW' if is_slow else ''}", flush=True)


if __name__ == "__main__":
    main()
