"""Cost as work grows: seconds of an SDCA epoch against stored values, and seconds to a certified 1e-6 against rows.

    python benchmarks/growth.py [--largest 1e8] [--rows 1e6]

Simulated data. Epochs: sparse rows of 100 values in 100,000 columns, hinge, one thread, the median of 3 to 51 epochs after
the first. To 1e-6: `auto` on dense rows with 50 columns and λ = 1/n, hinge and logistic, two threads, the certificate included,
kernels compiled before; the median of three below one second. Writes benchmarks/growth.csv.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from dualgap.workbench.machine import machine

FILE = Path(__file__).with_name("growth.csv")
COLUMNS = ("figure", "size", "seconds", "words", "date", "machine")
PER_ROW, WIDTH, DIMENSION = 100, 100_000, 50
QUICK, REPEATS, MOST, MUCH = 1.0, 3, 51, 10**8


def sparse(stored: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of unit norm with PER_ROW values each, and labels that a few columns decide."""
    rng = np.random.default_rng(stored)
    count = stored // PER_ROW
    indices = rng.integers(0, WIDTH, size=stored, dtype=np.int32).reshape(count, PER_ROW)
    indices.sort(axis=1)
    values = rng.random(stored) / np.sqrt(PER_ROW / 3.0)
    indptr = np.arange(0, stored + 1, PER_ROW, dtype=np.int64 if stored >= 2**31 else np.int32)
    X = sp.csr_matrix((values, indices.ravel(), indptr), shape=(count, WIDTH))
    X.sum_duplicates()
    return X, np.where(X @ rng.standard_normal(WIDTH) > 0.0, 1.0, -1.0)


def dense(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows, and labels of a plane with a tenth of them turned."""
    rng = np.random.default_rng(count)
    X = rng.standard_normal((count, DIMENSION))
    y = np.sign(X @ rng.standard_normal(DIMENSION))
    y[rng.random(count) < 0.1] *= -1.0
    return X, y


def epoch_seconds(stored: int) -> tuple[int, float]:
    X, y = sparse(stored)
    problem = dg.Problem(X, y, "hinge", 1.0 / X.shape[0])
    solver = dg.SDCA(sampling="permutation")
    solver.prepare(problem)
    state = solver.start(problem, None)
    taken = []
    # A short epoch is easily disturbed, so there are more of them.
    for epoch in range(1 + max(REPEATS, min(MOST, MUCH // stored))):
        order = solver.plan(problem, state, epoch, np.random.default_rng)
        begin = time.perf_counter()
        state = solver.advance(problem, state, order)
        taken.append(time.perf_counter() - begin)
    return X.nnz, statistics.median(taken[1:])


def solve_seconds(count: int, loss: str) -> tuple[float, str]:
    X, y = dense(count)
    threads = {"n_jobs": 2} if "n_jobs" in inspect.signature(dg.solve).parameters else {}
    dg.solve(dg.Problem(X[:200], y[:200], loss, 1.0 / 200), tol=1e-3, **threads)
    taken: list[float] = []
    while not taken or (taken[0] < QUICK and len(taken) < REPEATS):
        begin = time.perf_counter()
        result = dg.solve(dg.Problem(X, y, loss, 1.0 / count), tol=1e-6, **threads)
        taken.append(time.perf_counter() - begin)
        if result.status.name != "CERTIFIED":
            raise SystemExit(f"{loss}, {count} rows: {result.status.value}")
    return statistics.median(taken), result.reason


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=float, default=1e8, help="stored values")
    parser.add_argument("--rows", type=float, default=1e6)
    options = parser.parse_args()
    where = machine()
    shared = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": f"{where['processor']}, {where['cores']} cores, {where['system']}",
    }
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()

        def keep(figure: str, size: int, seconds: float, words: str) -> None:
            row = {"figure": figure, "size": size, "seconds": f"{seconds:.4g}", "words": words}
            writer.writerow({**row, **shared})
            file.flush()
            print(figure, size, f"{seconds:.4g} s", words)

        for stored in (round(10 ** (power / 2)) for power in range(10, 17)):
            if stored <= options.largest:
                size, seconds = epoch_seconds(stored // PER_ROW * PER_ROW)
                keep("epoch", size, seconds, "sdca")
        for count in (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000):
            for loss in ("hinge", "logistic"):
                if count <= options.rows:
                    keep(f"to 1e-6, {loss}", count, *solve_seconds(count, loss))


if __name__ == "__main__":
    main()
