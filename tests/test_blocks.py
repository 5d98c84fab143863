"""Fits on row blocks: the same answers as in memory, certificates recomputed apart, the same bits everywhere, refusals by block."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.blocks.blocks import memory_bytes
from dualgap.linalg.partial_sums import tree_depth, tree_sum
from dualgap.rounds import one_score, run
from dualgap.rounds.settings import SETTINGS

TOL = 1e-6
EDGES = (0, 1, 400, 401, 1500, 3000)


def data(task: str, form: str = "dense") -> tuple[Any, Any, Any]:
    """Rows with an empty and a repeated one and a constant column; labels sorted at the front, so that blocks have one class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6)) * np.array([1.0, 3.0, 0.2, 1.0, 1.0, 1.0])
    X[:, 5], X[7], X[9] = 1.0, 0.0, X[8]
    if form == "sparse":
        X[np.abs(X) < 0.5] = 0.0
    z = X[:, :5] @ np.array([1.0, -0.5, 2.0, 0.0, 0.3])
    if task == "classification":
        y = np.where(z + rng.normal(size=3000) > 0.3, "yes", "no")
        y[:400] = "no"
    else:
        y = z + rng.standard_t(2, size=3000)
    return (sp.csr_matrix(X) if form == "sparse" else X), y, rng.uniform(0.0, 3.0, size=3000)


def cut(X: Any, y: Any, weights: Any = None) -> list[tuple[Any, ...]]:
    """Uneven blocks, some of one row and some of one class."""
    extra = () if weights is None else (weights,)
    parts = [slice(a, b) for a, b in pairwise(EDGES)]
    return [(X[c], y[c], *(v[c] for v in extra)) for c in parts]


CASES = [(name, form) for name in dg.LOSSES for form in ("dense", "sparse")]


@pytest.mark.parametrize(("loss", "form"), CASES)
def test_every_loss_is_certified_as_in_memory(loss: str, form: str) -> None:
    X, y, weights = data(dg.LOSSES[loss].task, form)
    if loss == "poisson":
        y = np.floor(np.abs(y))
    s = weights if form == "dense" else None
    result = dg.solve(dg.Problem(dg.Blocks(cut(X, y, s)), loss=loss, strength=1e-3, intercept=True), tol=TOL)
    problem = dg.Problem(X, y, loss, 1e-3, s, True)
    known = dg.solve(problem, tol=TOL)
    assert result.status is dg.Status.CERTIFIED
    c = result.certificate
    assert abs(c.primal - known.certificate.primal) <= 2 * TOL * known.certificate.primal
    # The same numbers from the problem in memory, with the duals that are computed for its rows.
    scores = problem.scores(result.weights, result.intercept)
    assert c.primal == pytest.approx(problem.primal(scores, result.weights), rel=1e-12)
    duals = result.duals.of(X, y)
    assert abs(problem.dual_sums(duals)) <= 1e-12 * np.abs(duals).max()
    dual = problem.dual(problem.clipped_duals(duals), problem.weights_of(duals))
    # D at scaled duals is at least what the sums of the blocks say of it.
    assert dual >= c.dual - 1e-12 * c.primal
    assert c.gap >= c.primal - dual
    assert c.relative_gap <= TOL


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_bits_do_not_depend_on_threads_or_home(loss: str) -> None:
    X, y, weights = data("classification")
    parts = cut(X, y, weights)

    def source() -> Iterator[tuple[Any, ...]]:
        return iter(parts)

    found = []
    for blocks, jobs in ((dg.Blocks(parts), 1), (dg.Blocks(parts), 2), (dg.Blocks(source), 1), (dg.Blocks(source), 2)):
        found.append(dg.solve(dg.Problem(blocks, loss=loss, strength=1e-4, intercept=True), tol=1e-4, n_jobs=jobs))
    for other in found[1:]:
        assert other.weights.tobytes() == found[0].weights.tobytes()
        assert other.certificate == found[0].certificate


def test_very_small_gamma_is_reached_on_unscaled_columns() -> None:
    rng = np.random.default_rng(1)
    X = np.exp(rng.normal(size=(400, 4)) * [1.0, 2.0, 3.0, 1.0]) * [1.0, 100.0, 1e3, 1e-2]
    y = np.where(np.log(X) @ [1.0, 0.5, -0.4, 0.1] + rng.normal(size=400) > 5.0, 1, -1)
    problem = dg.Problem(dg.Blocks([(X[:150], y[:150]), (X[150:], y[150:])]), loss="hinge", strength=0.01 / 400)
    result = dg.solve(problem, tol=TOL)
    assert result.status is dg.Status.CERTIFIED
    assert result.duals.recipe.gamma < 1e-3
    known = dg.solve(dg.Problem(X, y, "hinge", 0.01 / 400), tol=TOL).certificate.primal
    assert result.certificate.primal == pytest.approx(known, rel=2 * TOL)


@pytest.mark.parametrize(("loss", "tol"), [("logistic", TOL), ("hinge", 1e-3)])
def test_many_columns_take_hessian_products(loss: str, tol: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    X = sp.random(500, 2100, 0.02, format="csr", random_state=rng)
    y = np.where(np.asarray(X[:, :20].sum(axis=1)).ravel() > 0.1, 1, 0)
    problem = dg.Problem(dg.Blocks([(X[:200], y[:200]), (X[200:], y[200:])]), loss=loss, strength=1e-3, intercept=True)
    known = dg.solve(dg.Problem(X, y, loss, 1e-3, intercept=True), tol=tol)
    # Away from the sample's answer, which here is that of all rows.
    result = dg.solve(problem, tol=tol, start=(np.zeros(2100), 0.0, None))
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.primal == pytest.approx(known.certificate.primal, rel=2 * tol)
    rounds = result.trace[-1].epoch
    if loss == "logistic":
        monkeypatch.setattr(one_score, "SETTINGS", SETTINGS._replace(preconditioner_columns=0))
        again = dg.solve(problem, tol=tol, start=(np.zeros(2100), 0.0, None))
        assert again.status is dg.Status.CERTIFIED
        assert again.trace[-1].epoch > rounds  # the sample's Hessian saves products


def test_arrays_files_and_memory_maps_are_cut(tmp_path: Path) -> None:
    X, y, weights = data("classification")
    X = np.tile(X, (60, 1)).astype(np.float32)
    labels = np.where(np.tile(y, 60) == "yes", 1, -1)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", labels)
    s = np.tile(weights, 60)
    known = dg.solve(dg.Problem(X, labels, "logistic", 1e-4, s), tol=TOL)
    for source, y_source in ((X, labels), (tmp_path / "X.npy", tmp_path / "y.npy")):
        blocks = dg.Blocks(source, y_source, s, memory_limit="64MiB")
        blocks_result = dg.solve(dg.Problem(blocks, loss="logistic", strength=1e-4), tol=TOL)
        assert blocks_result.status is dg.Status.CERTIFIED
        assert blocks_result.certificate.primal == pytest.approx(known.certificate.primal, rel=2 * TOL)
        assert np.array_equal(blocks_result.predict(blocks), blocks_result.predict(X))
    assert dg.Blocks(tmp_path / "X.npy", labels, memory_limit="64MiB").block_bytes == 8 << 20


def test_parquet_files_with_categories(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y, weights = data("classification")
    frame = pandas.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["kind"] = np.array(["x", "z", "y"])[np.arange(3000) % 3]
    frame["label"], frame["s"] = y, weights
    frame.loc[5, "kind"] = None
    for k, part in enumerate((slice(0, 1000), slice(1000, 3000))):
        frame[part].to_parquet(tmp_path / f"part-{k}.parquet", row_group_size=700)
    blocks = dg.Blocks(tmp_path / "*.parquet", target="label", weight="s")
    assert blocks.column_names == ["a", "b", "c", "kind=x", "kind=y", "kind=z"]
    result = dg.solve(dg.Problem(blocks, loss="hinge", strength=1e-3, intercept=True), tol=TOL)
    dense = np.concatenate([X[:, :3], pandas.get_dummies(frame["kind"]).to_numpy(float)], axis=1)
    known = dg.solve(dg.Problem(dense, y, "hinge", 1e-3, weights, True), tol=TOL)
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.primal == pytest.approx(known.certificate.primal, rel=2 * TOL)
    assert np.array_equal(result.predict(blocks), result.predict(dense))
    assert dg.Blocks(tmp_path, target="label", columns=["b", "a"]).column_names == ["b", "a"]
    with pytest.raises(ValueError, match="a column needs to be one of"):
        dg.Blocks(tmp_path, target="labels")


def bad(number: int, **change: Any) -> list[tuple[Any, ...]]:
    """Blocks of which one is wrong."""
    X, y, weights = data("classification")
    parts = [list(part) for part in cut(X, y, weights)]
    for place, name in enumerate(("X", "y", "s")):
        if name in change:
            parts[number][place] = change[name](parts[number][place].copy())
    return [tuple(part) for part in parts]


def with_nan(values: Any) -> Any:
    values[0] = np.nan
    return values


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (bad(2, X=lambda X: X[:0]), "block 2: X needs at least one row"),
        (bad(3, X=with_nan), "block 3: X needs finite numbers, got NaN or infinity"),
        (bad(4, X=lambda X: X[:, :4]), "block 4: X needs 6 columns as in block 0, got 4"),
        (bad(2, y=lambda y: y[:-1]), "block 2: y needs one value a row"),
        (bad(3, s=with_nan), "block 3: sample_weight needs finite numbers"),
        (
            bad(4, y=lambda y: np.append(y[:-1], "maybe")),
            "block 4: a classification loss needs two labels, got 'maybe' beside 'no' and 'yes'",
        ),
        ([(np.eye(2),)], "block 0: a block needs to be"),
    ],
)
def test_a_bad_block_is_named(parts: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        dg.Problem(dg.Blocks(parts), loss="hinge")
    with pytest.raises((ValueError, TypeError), match=sentence):
        dg.Problem(dg.Blocks(lambda: iter(parts)), loss="hinge")


def test_refusals() -> None:
    X, y, _ = data("classification")
    with pytest.raises(TypeError, match="got an iterator, which can be read once"):
        dg.Blocks(iter(cut(X, y)))
    with pytest.raises(ValueError, match="got an empty list"):
        dg.Blocks([])
    with pytest.raises(ValueError, match="hold y and sample_weight themselves"):
        dg.Blocks(cut(X, y), y)
    with pytest.raises(ValueError, match="needs one value a row"):
        dg.Blocks(X, y[:-1])
    with pytest.raises(ValueError, match=r"only \['no'\]|got only"):
        dg.Problem(dg.Blocks(cut(X, y)[:2]))
    with pytest.raises(ValueError, match="row blocks need solver 'auto' or 'newton', got sdca"):
        dg.solve(dg.Problem(dg.Blocks(cut(X, y))), "sdca")
    with pytest.raises(ValueError, match="test needs rows in memory"):
        dg.solve(dg.Problem(dg.Blocks(cut(X, y))), test=(X, y))


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
    monkeypatch.setattr(run, "SETTINGS", SETTINGS._replace(first_round_seconds=0.1))
    with pytest.raises(
        TimeoutError, match="a certificate needs one round over all blocks, got none within max_seconds=0.1"
    ):
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


@pytest.mark.parametrize(("text", "count"), [("2GB", 2 * 10**9), ("1.5 GiB", 3 << 29), (1 << 30, 1 << 30)])
def test_memory_limits_are_read(text: Any, count: int) -> None:
    assert memory_bytes(text) == count


@pytest.mark.parametrize("text", ["much", "1MB", -1, "nan", "inf"])
def test_other_memory_limits_are_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="memory_limit needs at least 64 MiB"):
        memory_bytes(text)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 7, 8, 13])
def test_a_tree_adds_neighbours_first(count: int) -> None:
    def levels(terms: list[str]) -> str:
        while len(terms) > 1:
            pairs = [f"({a}{b})" for a, b in zip(terms[::2], terms[1::2], strict=False)]
            terms = pairs + (terms[-1:] if len(terms) % 2 else [])
        return terms[0]

    names = [chr(97 + k) for k in range(count)]
    found = tree_sum(iter(names), lambda a, b: f"({a}{b})")
    assert found == levels(names)
    depth = max(reduce(lambda d, c: [*d, d[-1] + (c == "(") - (c == ")")], found, [0]))
    assert depth == tree_depth(count)


def test_limits_callbacks_and_starts() -> None:
    X, y, _ = data("classification")
    problem = dg.Problem(dg.Blocks(cut(X, y)), loss="hinge", strength=1e-5)
    assert dg.solve(problem, tol=0, max_epochs=3).status is dg.Status.EPOCHS_EXHAUSTED
    assert dg.solve(problem, tol=0, callback=lambda record: True).status is dg.Status.STOPPED
    assert dg.solve(problem, tol=0, max_seconds=1e-6).status is dg.Status.TIME_EXHAUSTED
    known = dg.solve(problem, tol=1e-4)
    again = dg.solve(problem, tol=1e-4, start=known)
    assert again.status is dg.Status.CERTIFIED
    best = min(record.gap for record in known.trace)
    assert known.certificate.gap == best
    assert known.trace[-1].train_score == pytest.approx((known.predict(X) == y).mean(), abs=1e-12)
    copied = pickle.loads(pickle.dumps(known))
    assert np.array_equal(copied.duals.of(X, y), known.duals.of(X, y))


MEMORY = """
import threading, time
import numpy as np
import dualgap as dg

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

peak, is_over = 0, threading.Event()

def watch():
    global peak
    while not is_over.is_set():
        peak = max(peak, anonymous())
        time.sleep(0.005)

thread = threading.Thread(target=watch)
thread.start()
X = np.lib.format.open_memmap({path!r}, mode="r")
y = np.lib.format.open_memmap({labels!r}, mode="r")
blocks = dg.Blocks(X, y, memory_limit={limit})
result = dg.solve(dg.Problem(blocks, loss="logistic", strength=1e-6), tol=1e-6)
is_over.set()
thread.join()
print(result.status.name, peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_memory_map_of_four_times_the_limit_stays_within_it(tmp_path: Path) -> None:
    limit = 200 << 20
    count = 4 * limit // (4 * 32)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (count, 32))
    rng = np.random.default_rng(0)
    w = rng.normal(size=32)
    y = np.empty(count, np.int8)
    for begin in range(0, count, 1 << 17):
        part = rng.standard_normal((min(1 << 17, count - begin), 32), np.float32)
        X[begin : begin + (1 << 17)] = part
        y[begin : begin + (1 << 17)] = part @ w > rng.logistic(size=part.shape[0])
    X.flush()
    np.save(tmp_path / "y.npy", y)
    del X
    code = textwrap.dedent(MEMORY).format(path=str(tmp_path / "X.npy"), labels=str(tmp_path / "y.npy"), limit=limit)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env={**os.environ})
    assert done.returncode == 0, done.stderr
    status, peak = done.stdout.split()
    assert status == "CERTIFIED"
    assert int(peak) <= 1.2 * limit, f"{int(peak) / 2**20:.0f} MiB"
