"""Row blocks at scale: rounds by number of blocks, data that is never in memory, Dask's workers, and a model of the cost.

python benchmarks/scale.py blocks                       # rounds and seconds by the number of blocks, in one process
python benchmarks/scale.py generated --rows 20000000    # rows × 50 that are generated block by block in every pass
python benchmarks/scale.py workers --copies 10          # covtype, copied with noise, on one and two workers; needs DUALGAP_DATA
python benchmarks/scale.py tasks                        # what Dask takes for a task
python benchmarks/scale.py products                     # CPU seconds a stored value of a product with the Hessian, sparse rows
python benchmarks/scale.py figure                       # docs/scale.svg, from benchmarks/scale.csv and the model
python benchmarks/scale.py model                        # seconds a round for larger data, from the constants at the top

Each writes lines of CSV; docs/scale.md has the tables and says on what machine they were made.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Iterator
from itertools import pairwise
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.blocks import Block

HERE = Path(__file__).parent

COLUMNS = 50
# Measured by `blocks`, `products` and `tasks`: CPU seconds a row and round with a matrix (dense, 50 columns, logistic), CPU seconds a stored value
# and product (sparse), and seconds of Dask's scheduler for a task. Bandwidth is that of a plain network.
ROW_SECONDS, VALUE_SECONDS, TASK_SECONDS, BYTES_A_SECOND = 8.2e-7, 5.7e-8, 4.0e-3, 1.0e9
BLOCKS_PER_WORKER = 4


def generated(count: int, block_rows: int = 250_000) -> Iterator[tuple[Any, Any]]:
    """Blocks of a logistic model with 50 columns, made anew in every pass."""
    truth = np.random.default_rng(0).normal(size=COLUMNS).astype(np.float32) / 4
    for number, begin in enumerate(range(0, count, block_rows)):
        rng = np.random.default_rng((1, number))
        X = rng.standard_normal((min(block_rows, count - begin), COLUMNS), np.float32)
        yield X, np.where(X @ truth > rng.logistic(size=X.shape[0]), 1, -1)


def timed(blocks: dg.Blocks, loss: str, tol: float, strength: float, **options: Any) -> dict[str, Any]:
    begun, cpu = time.perf_counter(), time.process_time()
    result = dg.solve(dg.Problem(blocks, loss=loss, strength=strength), tol=tol, **options)
    return {
        "loss": loss,
        "tol": tol,
        "status": result.status.name,
        "relative_gap": f"{result.certificate.relative_gap:.2e}",
        "rounds": int(result.trace[-1].epoch),
        "seconds": round(time.perf_counter() - begun, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "seconds_in_rounds": round(result.trace[-1].seconds, 2),
    }


def show(row: dict[str, Any], is_first: bool) -> None:
    if is_first:
        print(",".join(row))
    print(",".join(map(str, row.values())), flush=True)


def run_blocks(rows: int) -> None:
    X, y = (np.concatenate(parts) for parts in zip(*generated(rows), strict=True))
    is_first = True
    for number in (1, 4, 16, 64, 256, 1024):
        ends = np.linspace(0, rows, number + 1).astype(int)
        blocks = dg.Blocks([(X[a:b], y[a:b]) for a, b in pairwise(ends)])
        for loss, tol in (("logistic", 1e-6), ("hinge", 1e-3)):
            show({"blocks": number, **timed(blocks, loss, tol, 1.0 / rows)}, is_first)
            is_first = False


def run_generated(rows: int) -> None:
    blocks = dg.Blocks(lambda: generated(rows))
    for k, (loss, tol) in enumerate((("logistic", 1e-6), ("hinge", 1e-3))):
        show({"rows": rows, **timed(blocks, loss, tol, 1.0 / rows, n_jobs=2)}, k == 0)


def run_workers(copies: int) -> None:
    """The same fits on one and on two workers and in memory with two threads; seconds are of the wall, and others may use the cores."""
    import dask
    from distributed import Client, LocalCluster

    path = str(Path(os.environ["DUALGAP_DATA"]) / "covtype.npz")
    cases = (("logistic", 1e-6), ("hinge", 1e-3))
    is_first = True
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            blocks = dg.Blocks([dask.delayed(noisy_copy)(path, number) for number in range(copies)])
            for loss, tol in cases:
                before = sum(client.run(time.process_time).values())
                found = timed(blocks, loss, tol, 1e-6)
                found |= {"cpu_seconds": round(sum(client.run(time.process_time).values()) - before, 2)}
                show({"home": f"{workers} workers", "copies": copies, **found, "load": os.getloadavg()[0]}, is_first)
                is_first = False
    X, y = (np.concatenate(parts) for parts in zip(*(noisy_copy(path, k) for k in range(copies)), strict=True))
    for loss, tol in cases:
        begun, cpu = time.perf_counter(), time.process_time()
        result = dg.solve(dg.Problem(X, y, loss, 1e-6), tol=tol, n_jobs=2)
        row = {
            "home": "memory",
            "copies": copies,
            "loss": loss,
            "tol": tol,
            "status": result.status.name,
            "relative_gap": f"{result.certificate.relative_gap:.2e}",
            "rounds": int(result.trace[-1].epoch),
            "seconds": round(time.perf_counter() - begun, 2),
            "cpu_seconds": round(time.process_time() - cpu, 2),
            "seconds_in_rounds": round(result.trace[-1].seconds, 2),
            "load": os.getloadavg()[0],
        }
        show(row, False)


def noisy_copy(path: str, number: int) -> tuple[Any, Any]:
    """covtype with noise on its ten numeric columns, scaled, and class 2 against the rest."""
    with np.load(path) as stored:
        names = stored.files
        X, y = (stored[name] for name in names[:2])
    X = np.array(X, dtype=np.float32)
    rng = np.random.default_rng(number)
    numeric = X[:, :10]
    numeric += 0.1 * numeric.std(axis=0) * rng.standard_normal(numeric.shape, np.float32)
    X /= np.maximum(np.abs(X).max(axis=0), 1e-6)
    return X, np.where(y == np.unique(y)[-1] if np.unique(y).size == 2 else y == 2, 1, -1)


def run_tasks(count: int = 1000) -> None:
    import dask
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        add = dask.delayed(lambda a, b: a + b, pure=False)
        dask.compute(*[add(k, 1) for k in range(100)])
        begun = time.perf_counter()
        dask.compute(*[add(k, 1) for k in range(count)])
        print(f"{(time.perf_counter() - begun) / count * 1e3:.2f} ms a task")


def run_products(rows: int = 40_000, columns: int = 1_000_000, stored: int = 50) -> None:
    from dualgap.solvers.newton.rounds import Multiply, Place, multiply_block

    rng = np.random.default_rng(0)
    X = sp.csr_matrix(
        (rng.normal(size=rows * stored), rng.integers(0, columns, rows * stored), np.arange(rows + 1) * stored),
        (rows, columns),
    )
    block = Block.of(0, X, rng.choice([-1.0, 1.0], rows))
    zeros = np.zeros(columns)
    asked = Multiply(dg.Logistic(), Place(zeros, zeros, 0.0, 0.0, 0.0), rng.normal(size=columns), 0.0)
    multiply_block(block, asked)
    begun = time.process_time()
    for _ in range(3):
        multiply_block(block, asked)
    print(f"{(time.process_time() - begun) / (3 * rows * stored):.2e} CPU seconds a stored value and product")


def figure() -> None:
    """Rounds by blocks as measured, and seconds a round by workers as modelled."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with (HERE / "scale.csv").open() as file:
        measured = list(csv.DictReader(file))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for loss in ("logistic", "hinge"):
        own = [row for row in measured if row["loss"] == loss]
        tol = own[0]["tol"]
        left.plot([int(r["blocks"]) for r in own], [int(r["rounds"]) for r in own], "o-", label=f"{loss}, tol {tol}")
    left.set(
        xscale="log", xlabel="blocks", ylabel="rounds", ylim=(0, None), title="200,000 × 50, one process: measured"
    )
    left.legend()
    workers = np.geomspace(1, 1000, 61)
    for label, stored, columns, has_matrix in (
        ("10⁹ × 50 dense, with a matrix", COLUMNS, COLUMNS, True),
        ("10⁹ × 10⁶ sparse, one product", 50, 1e6, False),
    ):
        seconds = [round_seconds(1e9, stored, columns, int(w), has_matrix) for w in workers]
        right.plot(workers, seconds, label=label)
    right.set(
        xscale="log", yscale="log", xlabel="workers of one core", ylabel="seconds a round", title="10⁹ rows: cost model"
    )
    right.legend()
    plt.rcParams["svg.hashsalt"] = "scale"
    fig.savefig(HERE.parent / "docs" / "scale.svg", metadata={"Date": None})


def round_seconds(rows: float, stored: float, columns: float, workers: int, has_matrix: bool) -> float:
    """Work of the slowest worker, the scheduler's tasks, and the tree of partial sums."""
    blocks = BLOCKS_PER_WORKER * workers
    work = rows * ROW_SECONDS if has_matrix else rows * stored * VALUE_SECONDS
    numbers = columns * (columns + 1) / 2 + 5 * columns if has_matrix else columns
    return work / workers + 2 * blocks * TASK_SECONDS + ceil(log2(max(workers, 2))) * 8 * numbers / BYTES_A_SECOND


def run_model() -> None:
    print("workers,dense_1e9x50,sparse_1e9x1e6_50_stored")
    for workers in (10, 30, 100, 300, 1000):
        dense = round_seconds(1e9, COLUMNS, COLUMNS, workers, True)
        sparse = round_seconds(1e9, COLUMNS, 1e6, workers, False)
        print(f"{workers},{dense:.2f},{sparse:.2f}")


RUNS = {
    "blocks": lambda given: run_blocks(given.rows),
    "generated": lambda given: run_generated(given.rows),
    "workers": lambda given: run_workers(given.copies),
    "tasks": lambda given: run_tasks(),
    "products": lambda given: run_products(),
    "model": lambda given: run_model(),
    "figure": lambda given: figure(),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(RUNS))
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--copies", type=int, default=4)
    given = parser.parse_args()
    RUNS[given.what](given)
