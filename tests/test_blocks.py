"""Fits on row blocks: the same answers as in memory, certificates recomputed apart, the same bits everywhere, refusals by block."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.blocks.blocks import memory_bytes
from dualgap.data.blocks.homes import InMemory
from dualgap.linalg.partial_sums import tree_depth, tree_sum
from dualgap.rounds import one_score
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
        monkeypatch.setattr(one_score, "SETTINGS", replace(SETTINGS, preconditioner_columns=0))
        again = dg.solve(problem, tol=tol, start=(np.zeros(2100), 0.0, None))
        assert again.status is dg.Status.CERTIFIED
        assert again.trace[-1].epoch > rounds  # the sample's Hessian saves products


@pytest.mark.parametrize(("loss", "message", "answer"), [("logistic", 1, 2), ("hinge", 2, 4)])
def test_rounds_without_a_matrix_send_few_vectors(
    loss: str, message: int, answer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[tuple[int, int]] = []

    class Measured(InMemory):
        def sum(self, function: Any, message: Any, plus: Any) -> Any:
            found = super().sum(function, message, plus)
            sizes.append((len(pickle.dumps(message)), len(pickle.dumps(found))))
            return found

    d = 1000
    monkeypatch.setattr(one_score, "SETTINGS", replace(SETTINGS, dense_columns=d - 1))
    X = sp.random(300, d, 0.02, format="csr", random_state=np.random.default_rng(2))
    y = np.where(np.asarray(X[:, :20].sum(axis=1)).ravel() > 0.1, 1, 0)
    problem = dg.Problem(dg.Blocks([(X[:200], y[:200]), (X[200:], y[200:])]), loss=loss, strength=1e-3)
    problem.home = Measured(problem.home.blocks)  # type: ignore[attr-defined]
    dg.solve(problem, tol=1e-3, max_epochs=20, start=(np.zeros(d), 0.0, None))
    vectors = [(sent / (8 * d), returned / (8 * d)) for sent, returned in sizes]
    # A product with the Hessian sends a direction beside the place, and returns one vector.
    products, evaluations, probes = (message + 1, 1), (message, answer), (message + 1, 0)
    found_kinds = {(int(sent), int(returned)) for sent, returned in vectors}
    assert {products, evaluations} <= found_kinds <= {products, evaluations, probes}
    assert max(np.modf(found)[0].max() for found in vectors) < 0.1  # of a vector, for all the rest


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
