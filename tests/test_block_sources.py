"""What row blocks are read from: passes that differ, limits within a pass, memory maps, Parquet files, and the memory they take."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.blocks.homes import Streamed
from dualgap.data.blocks.parquet import Parquet
from dualgap.rounds import run
from dualgap.rounds.settings import SETTINGS
from test_blocks import TOL, cut, data

LIMIT = 200 << 20
"""memory_limit of the fits whose memory is measured."""


def changing(blocks: list[tuple[Any, ...]], later: list[tuple[Any, ...]], passes: int) -> Any:
    """A source that gives other blocks after some passes."""
    begun = []

    def source() -> Iterator[tuple[Any, ...]]:
        begun.append(None)
        return iter(blocks if len(begun) <= passes else later)

    return source


def changed(X: Any, y: Any, how: str) -> list[tuple[Any, ...]]:
    s = np.ones(y.size)
    first, (rows, labels, weights) = (X[:1800], y[:1800], s[:1800]), (X[1800:].copy(), y[1800:].copy(), s[1800:])
    if how == "fewer":
        return [first]
    if how == "none":
        return []
    if how == "more":
        return [first, (rows, labels, weights), first]
    if how == "signs":  # the squared size stays
        rows = -rows
    elif how == "order":
        rows = rows[::-1]
    elif how == "labels":
        labels = labels[::-1]
    elif how == "weights":
        weights = 2.0 * weights
    return [first, (rows, labels, weights)]


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize(
    ("how", "number"),
    [("fewer", 1), ("none", 0), ("more", 2), ("signs", 1), ("order", 1), ("labels", 1), ("weights", 1)],
)
def test_a_pass_unlike_the_first_is_refused(how: str, number: int, passes: int) -> None:
    X, y, _ = data("classification")
    source = changing(changed(X, y, ""), changed(X, y, how), passes)
    with pytest.raises(ValueError, match=f"block {number}: every pass needs the blocks of the first one, got"):
        dg.solve(dg.Problem(dg.Blocks(source), loss="logistic", strength=1e-4))


@pytest.mark.parametrize("how", ["signs", "labels"])
@pytest.mark.parametrize("kind", [object, str])
def test_one_block_with_text_labels_is_compared_too(how: str, kind: Any) -> None:
    X, y, _ = data("classification")
    first, other = (
        [(X, y.astype(kind))],
        [(-X if how == "signs" else X, (y[::-1] if how == "labels" else y).astype(kind))],
    )
    problem = dg.Problem(dg.Blocks(changing(first, first, 9)), loss="logistic", strength=1e-4)
    assert dg.solve(problem).status is dg.Status.CERTIFIED
    with pytest.raises(ValueError, match="block 0: every pass needs the blocks of the first one"):
        dg.solve(dg.Problem(dg.Blocks(changing(first, other, 2)), loss="logistic", strength=1e-4))


def test_a_memory_map_that_is_written_to_is_refused(tmp_path: Path) -> None:
    X, y, _ = data("classification")
    np.save(tmp_path / "X.npy", X)
    problem = dg.Problem(dg.Blocks(tmp_path / "X.npy", y), loss="logistic", strength=1e-4)
    np.load(tmp_path / "X.npy", mmap_mode="r+")[5, 2] += 1.0
    with pytest.raises(ValueError, match="block 0: every pass needs the blocks of the first one"):
        dg.solve(problem)


def test_used_up_and_empty_sources_are_refused() -> None:
    X, y, _ = data("classification")
    once = iter(cut(X, y))
    with pytest.raises(ValueError, match="block 0: every pass needs the blocks of the first one, got none"):
        dg.Problem(dg.Blocks(lambda: once), loss="logistic")
    with pytest.raises(ValueError, match="Blocks needs at least one block, got a source without any"):
        dg.Problem(dg.Blocks(lambda: iter([])), loss="logistic")


def test_arguments_of_a_problem_on_blocks() -> None:
    X, y, weights = data("classification")
    blocks = dg.Blocks(X, y)
    problem = dg.Problem(blocks, None, "logistic", 1e-3, None, True)
    assert repr(problem) == repr(dg.Problem(blocks, loss="logistic", strength=1e-3, intercept=True))
    for make in (
        lambda: dg.Problem(blocks, sample_weight=weights),
        lambda: dg.Problem(blocks, "logistic"),
        lambda: dg.MultinomialProblem(blocks, y),
    ):
        with pytest.raises(ValueError, match="Blocks hold y and sample_weight themselves, got"):
            make()
    with pytest.raises(ValueError, match="block 0: a fit needs y, got none"):
        dg.Problem(dg.Blocks(X), loss="logistic")


class Slow:
    """Blocks that take their time; every pass notes how many it gave."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.given = seconds, 0
        self.X, self.y, _ = data("classification")

    def __call__(self) -> Iterator[tuple[Any, ...]]:
        for begin in range(0, 3000, 150):
            time.sleep(self.seconds)
            self.given += 1
            yield self.X[begin : begin + 150], self.y[begin : begin + 150]


def test_a_pass_over_a_stream_ends_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Slow(0.0)
    problem = dg.Problem(dg.Blocks(source), loss="hinge", strength=1e-4)
    source.given = 0

    def slow(record: Any) -> bool:
        source.seconds = 0.05
        return False

    # The first round is quick, the second one would take a second.
    begun = time.perf_counter()
    result = dg.solve(problem, tol=1e-12, max_seconds=0.3, callback=slow)
    assert result.status is dg.Status.TIME_EXHAUSTED
    assert result.certificate.gap == min(record.gap for record in result.trace)
    assert time.perf_counter() - begun < 0.9
    assert source.given < 40
    # Without a certified point, the first round is waited for a while.
    monkeypatch.setattr(run, "SETTINGS", replace(SETTINGS, first_round_seconds=0.1))
    with pytest.raises(TimeoutError, match="a certificate needs one round over all blocks, got none within"):
        dg.solve(problem, max_seconds=0.1, start=(np.zeros(6), 0.0, None))


@pytest.mark.skipif(os.name != "posix", reason="sends itself SIGINT")
def test_an_interrupt_within_a_pass_returns_the_certified_point() -> None:
    source = Slow(0.0)
    problem = dg.Problem(dg.Blocks(source), loss="hinge", strength=1e-4)

    def slow(record: Any) -> bool:
        source.seconds = 0.05
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return False

    begun = time.perf_counter()
    result = dg.solve(problem, tol=1e-12, callback=slow)
    assert result.status is dg.Status.INTERRUPTED
    assert len(result.trace) == 1
    assert time.perf_counter() - begun < 0.9
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):  # nothing is certified yet
        dg.solve(problem, start=(np.zeros(6), 0.0, None))


@pytest.fixture(scope="module")
def rows_on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of four times the limit in each form that `benchmarks/scale_faults.py` reads."""
    folder = tmp_path_factory.mktemp("rows")
    run_faults("write", folder)
    return folder


def run_faults(what: str, folder: Path) -> str:
    script = Path(__file__).parents[1] / "benchmarks" / "scale_faults.py"
    command = [sys.executable, str(script), what, "--folder", str(folder), "--limit", str(LIMIT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("home", ["memory_map", "files", "one_file", "csr", "int8"])
def test_rows_of_four_times_the_limit_stay_within_it(home: str, rows_on_disk: Path) -> None:
    pytest.importorskip("pyarrow")
    names, values = (line.split(",") for line in run_faults(home, rows_on_disk).split())
    found = dict(zip(names, values, strict=True))
    assert found["status"] == "CERTIFIED"
    assert float(found["peak_by_limit"]) <= 1.2, found


def test_mapped_csr_and_small_integers_are_streamed_in_blocks_of_the_limit(tmp_path: Path) -> None:
    X, y, _ = data("classification", "sparse")
    known = dg.solve(dg.Problem(X, y, "logistic", 1e-3), tol=TOL)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
    mapped = sp.csr_matrix(
        tuple(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")), X.shape
    )
    blocks = dg.Blocks(mapped, y)
    assert isinstance(blocks.home, Streamed)
    result = dg.solve(dg.Problem(blocks, loss="logistic", strength=1e-3), tol=TOL)
    assert result.certificate.primal == pytest.approx(known.certificate.primal, rel=2 * TOL)
    # Blocks of a matrix in memory are views of it.
    assert np.shares_memory(dg.Blocks(X, y).home.blocks[0].rows.arrays.data, X.data)  # type: ignore[attr-defined]
    small = np.lib.format.open_memmap(tmp_path / "small.npy", "w+", np.int8, (1 << 16, 256))
    assert dg.Blocks(small, np.zeros(1 << 16), memory_limit="64MiB").count == 8  # of 8 MiB, as float32
    assert isinstance(dg.Blocks(np.asarray(small)).home, Streamed)


def test_empty_row_groups_and_files_are_left_out(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y, _ = data("classification")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": y})
    with parquet.ParquetWriter(tmp_path / "0.parquet", table.schema) as writer:
        for part in (table[:0], table[:1000], table[:0], table[1000:]):
            writer.write_table(part)
    parquet.write_table(table[:0], tmp_path / "1.parquet")
    result = dg.solve(dg.Problem(dg.Blocks(tmp_path, target="label"), loss="logistic", strength=1e-3))
    known = dg.solve(dg.Problem(X[:, :2], y, "logistic", 1e-3))
    assert result.certificate.primal == pytest.approx(known.certificate.primal, rel=2 * TOL)
    parts = Parquet([str(tmp_path / f"{k}.parquet") for k in range(2)], "label", None, None, 1 << 20).parts()
    assert [len(part()[1]) for part in parts] == [1000, 2000]
    with pytest.raises(ValueError, match="got a source without any"):
        dg.Problem(dg.Blocks(tmp_path / "1.parquet", target="label"), loss="logistic")
