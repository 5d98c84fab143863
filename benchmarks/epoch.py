"""One SDCA epoch against the two products X @ w and Xᵀ @ v, on one thread, in one run.

    python benchmarks/epoch.py [NAME …] > docs/internals/epoch.md

Reads the data sets from the folder in DUALGAP_DATA. Hinge, permutation, no shrinking, float64, kernels compiled before
the clock starts; each figure is the median of five, the two sides taken in turn so that a noisy moment hurts both.
"""

from __future__ import annotations

import os
import sys

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import statistics
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dualgap import SDCA, Problem

NAMES = ("a9a", "news20_multiclass", "newsgroups20_counts", "covtype", "mnist")
REPEATS = 5


def load(folder: Path, name: str) -> tuple[object, np.ndarray]:
    """X in float64 (cast before any clock) and two-valued labels: the upper half of the classes against the rest."""
    with np.load(folder / f"{name}.npz") as parts:
        y = parts["y"]
        if "indptr" in parts:
            data = parts["data"].astype(np.float64)
            X = sp.csr_matrix((data, parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        else:
            X = np.ascontiguousarray(parts["X"], dtype=np.float64)
    return X, y > np.median(np.unique(y))


def seconds_of(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(X, y) -> tuple[float, float]:
    problem = Problem(X, y, "hinge", 1.0 / X.shape[0])
    solver = SDCA(sampling="permutation")
    solver.prepare(problem)
    state = solver.start(problem, None)
    w, v = np.ones(X.shape[1]), np.ones(X.shape[0])
    epochs, products = [], []
    for epoch in range(REPEATS):
        order = solver.plan(problem, state, epoch, np.random.default_rng)
        epochs.append(seconds_of(lambda order=order: solver.advance(problem, state, order)))
        products.append(seconds_of(lambda: (X @ w, X.T @ v)))
    return statistics.median(epochs), statistics.median(products)


def main() -> None:
    folder = Path(os.environ.get("DUALGAP_DATA", "."))
    print("# One epoch against two products\n")
    print(
        "Made by `DUALGAP_DATA=… python benchmarks/epoch.py > docs/internals/epoch.md`: seconds on one thread, median of five.\n"
    )
    print(
        "| data | rows × columns | stored values | SDCA epoch | X @ w and Xᵀ @ v | ratio |\n|---|---|---|---|---|---|"
    )
    for name in sys.argv[1:] or NAMES:
        X, y = load(folder, name)
        epoch, product = compare(X, y)
        stored = X.nnz if sp.issparse(X) else X.size
        print(
            f"| {name} | {X.shape[0]:,} × {X.shape[1]:,} | {stored:,} | {epoch:.4f} | {product:.4f} | {epoch / product:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
