"""Row blocks on a cluster and within a limit: workers that die, bytes a round, the driver's memory, memory maps and Parquet files.

python benchmarks/scale_faults.py kills                 # one of two workers killed at random moments of ten fits
python benchmarks/scale_faults.py bytes                 # bytes a round and worker, from Dask's counters, and the driver's memory
python benchmarks/scale_faults.py memory                # peak anonymous memory and seconds of a fit on four times its memory_limit

Each writes lines of CSV; docs/scale.md has the tables and says on what machine they were made.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from scale import show

FITS, BLOCKS = 10, 8
KILLED_BEFORE = 0.8
"""A worker is killed before this part of an undisturbed fit's seconds."""
LIMIT = 200 << 20
"""memory_limit of the fits that `memory` measures; their data is four times as large."""


def made_block(number: int, rows: int, columns: int) -> tuple[Any, Any]:
    """A block of a logistic model, the same wherever it is made."""
    truth = np.random.default_rng(0).normal(size=columns).astype(np.float32) / 4
    rng = np.random.default_rng((1, number))
    X = rng.standard_normal((rows, columns), np.float32)
    return X, np.where(X @ truth > rng.logistic(size=rows), 1, -1)


def anonymous_bytes() -> int:
    """The resident anonymous memory of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


@contextmanager
def cluster(steals: bool = True) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.work-stealing": steals}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as running,
        Client(running) as client,
    ):
        yield client


def blocks_on_workers(rows: int, columns: int) -> dg.Blocks:
    import dask

    return dg.Blocks([dask.delayed(made_block)(number, rows, columns) for number in range(BLOCKS)])


def run_kills(rows: int) -> None:
    """Seconds of fits of which each loses a worker at a random moment of its run, beside fits that are left alone."""
    rng = np.random.default_rng(0)
    with cluster() as client:
        begun = time.perf_counter()
        problem = dg.Problem(blocks_on_workers(rows, 50), loss="hinge", strength=1e-6)
        loading = time.perf_counter() - begun
        for _ in range(2):  # workers import and compile what they need
            dg.solve(problem, tol=1e-3)
        seconds_alone = []
        for _ in range(3):
            begun = time.perf_counter()
            alone = dg.solve(problem, tol=1e-3)
            seconds_alone.append(time.perf_counter() - begun)
        undisturbed = float(np.median(seconds_alone))
        number, tries = 0, 0
        while number < FITS:
            tries += 1
            if tries > 3 * FITS:
                raise SystemExit(f"{tries} fits for {number} that were hit; the machine is too busy, or --rows too few")
            pids = list(client.run(os.getpid).values())
            after = float(rng.uniform(0.0, KILLED_BEFORE * undisturbed))
            hits: list[float] = []

            def kill(pid: int = pids[number % 2], hits: list[float] = hits) -> None:
                os.kill(pid, signal.SIGKILL)
                hits.append(time.perf_counter())

            timer = threading.Timer(after, kill)
            begun = time.perf_counter()
            timer.start()
            result = dg.solve(problem, tol=1e-3)
            ended = time.perf_counter()
            timer.join()
            wait_for_workers(client)
            # The restarted worker loads its blocks and imports before the next fit.
            dg.solve(problem, tol=1e-3)
            if hits[0] >= ended:
                continue  # the fit was over
            seconds = ended - begun
            row = {
                "fit": number,
                "killed_after": round(after, 2),
                "status": result.status.name,
                "same_weights": result.weights.tobytes() == alone.weights.tobytes(),
                "seconds": round(seconds, 2),
                "undisturbed": round(undisturbed, 2),
                "loading": round(loading, 2),
                "within": seconds <= 2 * undisturbed + loading,
            }
            show(row, number == 0)
            number += 1


def wait_for_workers(client: Any) -> None:
    """Wait until both workers are there; one that was just killed may still be counted, and fail what it is asked."""
    for _ in range(60):
        try:
            client.wait_for_workers(2, timeout=60)
            client.run(os.getpid)
            return
        except (OSError, TimeoutError):
            time.sleep(0.5)
    raise SystemExit("a killed worker did not come back")


def run_bytes() -> None:
    """What leaves each worker in a round, beside 8·(d² + 4d), or 8·4d without a matrix; and the driver's memory.

    Dask's work stealing, which copies a block to a worker that has nothing to do, is off.
    """
    is_first = True
    with cluster(steals=False) as client:
        for rows, columns in ((5_000, 50), (50_000, 50), (5_000, 300), (2_000, 3_000)):
            problem = dg.Problem(blocks_on_workers(rows, columns), loss="logistic", strength=1e-5)
            before, memory = sent_bytes(client), anonymous_bytes()
            result = dg.solve(problem, tol=1e-8)
            rounds = result.trace[-1].epoch
            allowed = 8 * (columns**2 + 4 * columns if columns <= 2000 else 4 * columns)
            row = {
                "rows": rows * BLOCKS,
                "columns": columns,
                "rounds": int(rounds),
                "bytes_a_round_and_worker": int((sent_bytes(client) - before) / rounds / 2),
                "allowed_without_constant": allowed,
                "driver_grew_by": max(anonymous_bytes() - memory, 0),
                "data_bytes": rows * BLOCKS * columns * 4,
            }
            show(row, is_first)
            is_first = False


def sent_bytes(client: Any) -> int:
    """Bytes that left the workers, by their own counters."""
    return int(sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values()))


def write_rows(folder: Path, limit: int) -> None:
    """Rows of a logistic model in every form that `run_within` reads, each of four times the limit."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    columns, part = 32, 1 << 17
    count = 4 * limit // (4 * columns)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (count, columns))
    y = np.empty(count, np.int8)
    names = [f"c{j}" for j in range(columns)]
    (folder / "files").mkdir()
    for number, begin in enumerate(range(0, count, part)):
        rows, labels = made_block(number, min(part, count - begin), columns)
        X[begin : begin + part], y[begin : begin + part] = rows, labels
        table = pa.table({name: rows[:, j] for j, name in enumerate(names)} | {"label": labels})
        parquet.write_table(table, folder / "files" / f"{number:04}.parquet")
    X.flush()
    np.save(folder / "y.npy", y)
    # One file of float64 values, with the row groups of 1,048,576 rows that pyarrow writes by default.
    columns = 16
    schema = pa.schema([(f"c{j}", pa.float64()) for j in range(columns)] + [("label", pa.int64())])
    with parquet.ParquetWriter(folder / "one.parquet", schema) as writer:
        for number in range(max(4 * limit // (8 * columns << 20), 1)):
            rows, labels = made_block(number, 1 << 20, columns)
            writer.write_table(pa.table([*rows.astype(np.float64).T, labels], schema=schema), row_group_size=1 << 20)
    # CSR: 16 values a row in 1,000 columns, 12 bytes each.
    stored, columns = 16, 1000
    count = 4 * limit // (12 * stored)
    rng = np.random.default_rng(0)
    truth = rng.normal(size=columns)
    data = np.lib.format.open_memmap(folder / "data.npy", "w+", np.float64, (count * stored,))
    indices = np.lib.format.open_memmap(folder / "indices.npy", "w+", np.int32, (count * stored,))
    y = np.empty(count, np.int8)
    for begin in range(0, count, part):
        end = min(begin + part, count)
        places = rng.integers(0, columns // stored, (end - begin, stored)) + np.arange(stored) * (columns // stored)
        values = rng.normal(size=places.shape)
        data[begin * stored : end * stored], indices[begin * stored : end * stored] = values.ravel(), places.ravel()
        y[begin:end] = np.where((values * truth[places]).sum(axis=1) > rng.logistic(size=end - begin), 1, -1)
    np.save(folder / "indptr.npy", np.arange(count + 1, dtype=np.int32) * stored)
    np.save(folder / "y_csr.npy", y)
    # int8 values, which a fit needs as float32: those are of four times the limit.
    count, columns = 4 * limit // (4 * 32), 32
    X = np.lib.format.open_memmap(folder / "int8.npy", "w+", np.int8, (count, columns))
    y = np.empty(count, np.int8)
    for number, begin in enumerate(range(0, count, part)):
        rows, labels = made_block(number, min(part, count - begin), columns)
        X[begin : begin + part], y[begin : begin + part] = np.clip(np.rint(8 * rows), -127, 127), labels
    np.save(folder / "y_int8.npy", y)


HOMES = ("memory_map", "files", "one_file", "csr", "int8", "in_memory")


def run_memory() -> None:
    """Fits on four times the limit, each in a process of its own; and the memory map's rows in memory."""
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), LIMIT)
        for number, home in enumerate(HOMES):
            command = [sys.executable, __file__, home, "--folder", folder, "--limit", str(LIMIT)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            head, line = done.stdout.split()
            print(head + "\n" + line if number == 0 else line, flush=True)


def problem_within(home: str, folder: str, limit: int) -> Any:
    """The problem of one of the fits of `memory`."""
    if home == "in_memory":
        return dg.Problem(np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy"), "logistic", 1e-6)
    if home == "csr":
        parts = [np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")]
        X = sp.csr_matrix(tuple(parts), shape=(parts[2].size - 1, 1000))
        blocks = dg.Blocks(X, f"{folder}/y_csr.npy", memory_limit=limit)
    elif home == "int8":
        blocks = dg.Blocks(f"{folder}/int8.npy", f"{folder}/y_int8.npy", memory_limit=limit)
    elif home == "memory_map":
        blocks = dg.Blocks(f"{folder}/X.npy", f"{folder}/y.npy", memory_limit=limit)
    else:
        path = f"{folder}/files" if home == "files" else f"{folder}/one.parquet"
        blocks = dg.Blocks(path, target="label", memory_limit=limit)
    return dg.Problem(blocks, loss="logistic", strength=1e-6)


def run_within(home: str, folder: str, limit: int) -> None:
    """One of the fits of `memory`, in this process."""
    peak, is_over = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not is_over.wait(0.005):
            peak = max(peak, anonymous_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun, cpu = time.perf_counter(), time.process_time()
    problem = problem_within(home, folder, limit)
    result = dg.solve(problem, tol=1e-6)
    row = {
        "home": home,
        "status": result.status.name,
        "seconds": round(time.perf_counter() - begun, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "passes": int(result.trace[-1].epoch),
        "limit": limit,
        "peak_anonymous": peak,
    }
    is_over.set()
    watcher.join()
    show(row | {"peak_by_limit": round(peak / limit, 3)}, True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("kills", "bytes", "memory", "write", *HOMES))
    parser.add_argument("--rows", type=int, default=60_000, help="rows of each block of `kills`")
    parser.add_argument("--folder", default="")
    parser.add_argument("--limit", type=int, default=LIMIT, help="memory_limit of a fit on the rows in --folder")
    given = parser.parse_args()
    if given.what == "write":
        write_rows(Path(given.folder), given.limit)
    elif given.folder:
        run_within(given.what, given.folder, given.limit)
    else:
        {"kills": lambda: run_kills(given.rows), "bytes": run_bytes, "memory": run_memory}[given.what]()
