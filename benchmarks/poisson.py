"""PoissonRegressor beside scikit-learn's, on simulated counts: seconds of a fit, and how far each ends above the optimum.

    python benchmarks/poisson.py

Both minimize half the mean Poisson deviance plus (alpha/2)‖w‖², with a free intercept. Each runs at the first of its tolerances, one a
decade, that brings the objective within 1e-6 of the optimum, relative to the objective; dualgap proves it at tol=1e-6. The objective is
computed by one function for all, the optimum is dualgap's certified lower bound at tol=1e-10. Fits are timed in turn, on one thread;
a number is the median of FITS wall times. Rows go to poisson.csv.
"""

from __future__ import annotations

import csv
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import PoissonRegressor
from threadpoolctl import threadpool_limits

import dualgap as dg

OUT = Path(__file__).with_name("poisson.csv")
SIZES = ((20_000, 20), (200_000, 20), (2_000, 300))
GOAL, FITS = 1e-6, 5
LADDER = tuple(10.0**-k for k in range(3, 13))
FIELDS = ("rows", "columns", "alpha", "contender", "tolerance", "seconds", "above_optimum", "version")


def counts(rows: int, columns: int) -> tuple[Any, Any]:
    """Counts of mean e^⟨x, w⟩, with x standard normal and ‖w‖ about 0.5."""
    random = np.random.default_rng(0)
    X = random.standard_normal((rows, columns))
    weights = 0.5 / np.sqrt(columns) * random.standard_normal(columns)
    return X, random.poisson(np.exp(0.5 + X @ weights)).astype(np.float64)


def timed(model: Any, X: Any, y: Any) -> float:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.perf_counter() - began


def compared(rows: int, columns: int, alpha: float) -> list[dict[str, Any]]:
    X, y = counts(rows, columns)
    problem = dg.Problem(X, y, "poisson", alpha, intercept=True)
    optimum = dg.solve(problem, tol=1e-10).certificate.dual

    def above(model: Any) -> float:
        """(P − P*)/P*."""
        return problem.primal(problem.scores(model.coef_, float(model.intercept_)), model.coef_) / optimum - 1.0

    contenders = {"dualgap": (dg.PoissonRegressor(alpha=alpha, tol=GOAL), GOAL)}
    for solver in ("lbfgs", "newton-cholesky"):
        for tolerance in LADDER:
            model = PoissonRegressor(alpha=alpha, solver=solver, tol=tolerance, max_iter=10_000)
            timed(model, X, y)
            contenders[solver] = (model, tolerance)
            if above(model) <= GOAL:
                break
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(FITS):
        for name, (model, _) in contenders.items():
            seconds[name].append(timed(model, X, y))
    return [
        {
            "rows": rows,
            "columns": columns,
            "alpha": alpha,
            "contender": name,
            "tolerance": tolerance,
            "seconds": f"{statistics.median(seconds[name]):.4f}",
            "above_optimum": f"{above(model):.1e}",
            "version": dg.__version__ if name == "dualgap" else sklearn.__version__,
        }
        for name, (model, tolerance) in contenders.items()
    ]


def main() -> None:
    with OUT.open("w", newline="", encoding="utf-8") as file, threadpool_limits(1):
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for rows, columns in SIZES:
            for line in compared(rows, columns, 1.0 / rows):
                table.writerow(line)
                print(*line.values(), flush=True)


if __name__ == "__main__":
    main()
