"""LogisticRegression of several classes beside scikit-learn's, and beside an earlier revision: seconds to 1e-3 and 1e-6.

    DUALGAP_DATA=… python benchmarks/softmax.py [--before REVISION] [--data letter …]

C = 1 and a free intercept for everybody; seconds are those of the complete `fit`, on two threads, imports and compilers outside
the clock. dualgap is given the goal as its `tol`, and proves it. scikit-learn's lbfgs and newton-cholesky prove nothing: their
tolerance is tightened tenfold until P, computed here from the fitted weights, is within the goal of the optimum; the fit that got
there counts, at the median of FITS. The optimum is dualgap's certified lower bound at OPTIMUM_TOL. Rows go to softmax.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp

from revisions import check_out
from rival_problems import standardized, stored, sublinear, unit_rows

OUT = Path(__file__).with_name("softmax.csv")
SOURCE = Path(__file__).resolve().parent.parent
GOALS = (1e-3, 1e-6)
OPTIMUM_TOL = 1e-8
# Fits of each contender at the tolerance that counts; the median is told.
FITS = 3
# A rung of scikit-learn's ladder that takes longer than this, in seconds, is the last one.
BUDGET = 100.0
LADDER = tuple(10.0**-k for k in range(1, 13))
# newton-cholesky factors a matrix of this side at most, columns × classes: 0.8 GB.
LARGEST_SIDE = 10_000
COVTYPE_ROWS = 100_000


def covtype() -> tuple[Any, np.ndarray]:
    X, y = stored("covtype")
    chosen = np.random.default_rng(0).choice(len(y), COVTYPE_ROWS, replace=False)
    return standardized(X[:, X[chosen].std(axis=0) > 0.0])[chosen], y[chosen]


def text() -> tuple[Any, np.ndarray]:
    X, y = stored("newsgroups20_counts")
    return unit_rows(sublinear(X)), y


def letter() -> tuple[Any, np.ndarray]:
    X, y = stored("letter")
    return standardized(X), y


def mnist() -> tuple[Any, np.ndarray]:
    X, y = stored("mnist")
    return X / 255.0, y


DATA = {"letter": letter, "newsgroups": text, "covtype": covtype, "mnist": mnist}


def primal(X: Any, y: np.ndarray, model: Any) -> float:
    """P of a fitted model."""
    scores = X @ model.coef_.T + model.intercept_
    own = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.mean(logsumexp(scores, axis=1) - own) + 0.5 * np.sum(model.coef_**2) / len(y))


def child(data: str) -> None:
    """Fit whenever a line names a contender and a tolerance; say how long it took, P, and the certified lower bound if any."""
    import sklearn.linear_model

    import dualgap as dg

    warnings.simplefilter("ignore")
    X, y = DATA[data]()
    for line in sys.stdin:
        contender, tol = json.loads(line)
        if contender == "dualgap":
            model: Any = dg.LogisticRegression(tol=tol, max_iter=100_000, n_jobs=2)
        else:
            model = sklearn.linear_model.LogisticRegression(tol=tol, max_iter=100_000, solver=contender)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        dual = model.certificate_.dual if contender == "dualgap" else None
        print(json.dumps([seconds, primal(X, y, model), dual]), flush=True)


class Side:
    """A process that fits one data set with the dualgap of one source tree."""

    def __init__(self, source: Path, data: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--child", data],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source / "src")},
        )

    def fit(self, contender: str, tol: float) -> tuple[float, float, float | None]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([contender, tol]) + "\n")
        self.process.stdin.flush()
        seconds, value, dual = json.loads(self.process.stdout.readline())
        return seconds, value, dual

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def ladder(side: Side, solver: str, best: float) -> dict[float, tuple[float, float]]:
    """For each goal that scikit-learn's solver reaches: the loosest tolerance that does it, and its seconds."""
    reached: dict[float, tuple[float, float]] = {}
    for tol in LADDER:
        seconds, value, _ = side.fit(solver, tol)
        for goal in GOALS:
            if goal not in reached and value - best <= goal * value:
                times = [seconds, *(side.fit(solver, tol)[0] for _ in range(FITS - 1))]
                reached[goal] = tol, statistics.median(times)
        if len(reached) == len(GOALS) or seconds > BUDGET:
            break
    return reached


def measure(data: str, sources: dict[str, Path]) -> list[dict[str, Any]]:
    """All contenders on one data set, the revisions of dualgap in turn."""
    sides = {name: Side(source, data) for name, source in sources.items()}
    rows = []
    try:
        for side in sides.values():
            side.fit("dualgap", GOALS[0])
        own = sides["dualgap"]
        _, _, best = own.fit("dualgap", OPTIMUM_TOL)
        assert best is not None
        for goal in GOALS:
            fits = [{name: side.fit("dualgap", goal) for name, side in sides.items()} for _ in range(FITS)]
            for name in sides:
                above = max((fit[name][1] - best) / fit[name][1] for fit in fits)
                seconds = statistics.median(fit[name][0] for fit in fits)
                rows.append(row(data, name, goal, goal, seconds) | {"above": f"{above:.2g}"})
        X, y = DATA[data]()
        for solver in ("lbfgs", "newton-cholesky"):
            if solver == "newton-cholesky" and X.shape[1] * len(set(y)) > LARGEST_SIDE:
                continue
            found = ladder(own, solver, best)
            rows += [row(data, f"scikit-learn {solver}", goal, *found.get(goal, (None, None))) for goal in GOALS]
    finally:
        for side in sides.values():
            side.close()
    return rows


def row(data: str, contender: str, goal: float, tol: float | None, seconds: float | None) -> dict[str, Any]:
    shown = "not reached" if seconds is None else f"{seconds:.4g}"
    return {"data": data, "contender": contender, "goal": goal, "tolerance": tol, "seconds": shown, "above": ""}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="a revision to measure beside this one")
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        sources = {"dualgap": SOURCE}
        if asked.before:
            sources[f"dualgap {asked.before}"] = check_out(asked.before, Path(folder) / "before")
        for data in asked.data:
            for line in measure(data, sources):
                rows.append(line)
                print(*line.values(), flush=True)
    part = OUT.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    part.replace(OUT)


if __name__ == "__main__":
    main()
