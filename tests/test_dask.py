"""Fits on Dask: the answers and the bits of other homes, lazy predictions, and workers that die, join and leave."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.blocks.homes import HomeLost, InMemory

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

CHUNKS = (900, 1, 2099, 2000)
# Dask warns of what it does itself, as of large graphs and of ports in use.
pytestmark = pytest.mark.filterwarnings("default")


def rows(count: int = 5000) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, 5))
    z = X @ np.array([1.0, -2.0, 0.5, 0.0, 0.3])
    return X, z, rng.uniform(0.5, 2.0, size=count)


X, Z, S = rows()
LABELS = np.where(Z + np.random.default_rng(1).normal(size=5000) > 0.0, "b", "a")
THREE = np.array(["p", "q", "r"])[np.argmax(X[:, :3], axis=1)]
TARGETS = np.exp(0.2 * Z) + np.random.default_rng(2).uniform(size=5000)


def on_dask(values: Any) -> Any:
    return da.from_array(values, chunks=(CHUNKS, 3) if values.ndim == 2 else (CHUNKS,))


ESTIMATORS = [
    (dg.LogisticRegression(class_weight="balanced"), LABELS),
    (dg.LinearSVC(), THREE),
    (dg.LogisticRegression(class_weight={"q": 2.0, "p": 1.0, "r": 0.5}), THREE),
    (dg.RidgeClassifier(class_weight={"q": 2.0, "p": 1.0, "r": 0.5}), THREE),
    (dg.LinearSVR(epsilon=0.1), TARGETS),
    (dg.Ridge(), TARGETS),
    (dg.QuantileRegressor(quantile=0.7, alpha=1e-3, l1_ratio=0), TARGETS),
    (dg.PoissonRegressor(), TARGETS),
]


@pytest.mark.parametrize(
    ("model", "y"), ESTIMATORS, ids=[f"{type(model).__name__}-{k}" for k, (model, _) in enumerate(ESTIMATORS)]
)
def test_every_estimator_fits_and_predicts_lazily(model: Any, y: Any) -> None:
    model.set_params(tol=1e-6)
    model.fit(X, y, S)
    known, primal = model.predict(X), np.ravel(model.certificate_)[0].primal
    model.fit(on_dask(X), on_dask(y), sample_weight=on_dask(S))
    assert np.ravel(model.certificate_)[0].primal == pytest.approx(primal, rel=2e-6)
    assert all(status is dg.Status.CERTIFIED for status in np.ravel(model.status_))
    lazily = model.predict(on_dask(X))
    assert isinstance(lazily, da.Array)
    assert lazily.dtype == known.dtype
    assert lazily.shape == known.shape
    score = model.score(on_dask(X), on_dask(y), sample_weight=on_dask(S))
    assert isinstance(score, da.Array)
    known_score = model.score(X, y, S)
    assert score.compute() == pytest.approx(known_score, abs=1e-12)
    parts = [(X[c], y[c], S[c]) for c in (slice(0, 700), slice(700, 5000))]
    assert model.score(dg.Blocks(parts)) == pytest.approx(known_score, abs=1e-12)
    assert model.score(dg.Blocks(lambda: iter(parts))) == pytest.approx(known_score, abs=1e-12)
    with pytest.raises(ValueError, match="hold y and sample_weight themselves"):
        model.score(dg.Blocks(parts), y)
    if known.dtype.kind == "U":
        assert (lazily.compute() == known).mean() > 0.999
    else:
        assert np.abs(lazily.compute() - known).max() < 2e-2
    loaded = pickle.loads(pickle.dumps(model))
    assert np.array_equal(loaded.predict(X), lazily.compute())


def test_columns_are_standardized_where_they_are() -> None:
    parts = [(X[:2000], LABELS[:2000]), (X[2000:], LABELS[2000:])]
    here = dg.LogisticRegression(tol=1e-6).fit(dg.Blocks(parts, standardize=True))
    there = dg.LogisticRegression(tol=1e-6).fit(dg.Blocks([dask.delayed(part) for part in parts], standardize=True))
    assert there.coef_.tobytes() == here.coef_.tobytes()
    assert there.intercept_.tobytes() == here.intercept_.tobytes()
    assert there.predict(on_dask(X)).compute().tolist() == here.predict(X).tolist()


def test_probabilities_and_scores_have_known_shapes() -> None:
    model = dg.LogisticRegression().fit(on_dask(X), on_dask(LABELS))
    assert model.predict_proba(on_dask(X)).shape == (5000, 2)
    assert model.decision_function(on_dask(X)).shape == (5000,)
    np.testing.assert_allclose(model.predict_proba(on_dask(X)).compute(), model.predict_proba(X))
    several = dg.LinearSVC().fit(on_dask(X), on_dask(THREE))
    assert several.decision_function(on_dask(X)).shape == (5000, 3)


def test_sparse_chunks_frames_delayed_parts_and_unknown_sizes() -> None:
    known = dg.LogisticRegression(tol=1e-6).fit(X, LABELS)
    sparse = on_dask(X).rechunk({1: -1}).map_blocks(sp.csr_matrix, dtype=float)
    parts = [dask.delayed((X[c], LABELS[c])) for c in (slice(0, 2000), slice(2000, 2000), slice(2000, 5000))]
    for source, labels in ((sparse, on_dask(LABELS)), (parts, None)):
        model = dg.LogisticRegression(tol=1e-6).fit(source, labels)
        assert model.certificate_.primal == pytest.approx(known.certificate_.primal, rel=2e-6)
    kept = on_dask(X)[:, 0] > 0.0  # sizes of chunks become unknown
    model = dg.LogisticRegression(tol=1e-6).fit(on_dask(X)[kept], on_dask(LABELS)[kept])
    own = X[:, 0] > 0.0
    assert model.certificate_.primal == pytest.approx(
        dg.LogisticRegression(tol=1e-6).fit(X[own], LABELS[own]).certificate_.primal, rel=2e-6
    )
    score = model.score(on_dask(X)[kept], on_dask(LABELS)[kept]).compute()
    assert score == pytest.approx(model.score(X[own], LABELS[own]), abs=1e-12)
    assert model.score(parts).compute() == pytest.approx(model.score(X, LABELS), abs=1e-12)
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame(X, columns=list("abcde")), npartitions=3)
    labels = frames.from_pandas(pandas.Series(LABELS), npartitions=3)
    model = dg.LogisticRegression(tol=1e-6).fit(frame, labels)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.certificate_.primal == pytest.approx(known.certificate_.primal, rel=2e-6)
    assert np.array_equal(
        np.asarray(model.predict(frame).compute()), model.predict(pandas.DataFrame(X, columns=list("abcde")))
    )


def test_refusals_name_the_block() -> None:
    broken = X.copy()
    broken[950, 2] = np.nan
    with pytest.raises(ValueError, match="block 2: X needs finite numbers"):
        dg.LogisticRegression().fit(on_dask(broken), on_dask(LABELS))
    third = LABELS.copy()
    third[4000] = "c"
    with pytest.raises(ValueError, match="block 3: a classification loss needs two labels"):
        dg.Problem(dg.Blocks(on_dask(X), on_dask(third)))
    with pytest.raises(TypeError, match="y needs to be on Dask as X is"):
        dg.LogisticRegression().fit(on_dask(X), LABELS)
    with pytest.raises(ValueError, match="needs a penalty"):
        dg.LogisticRegression(C=np.inf).fit(on_dask(X), on_dask(LABELS))
    with pytest.raises(ValueError, match="y needs as many chunks as X"):
        dg.Blocks([dask.delayed(X)], [dask.delayed(LABELS)] * 2)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


def slow_rows(number: int) -> tuple[Any, Any]:
    """A block that is made again where it was lost."""
    rng = np.random.default_rng(number)
    values = rng.normal(size=(20_000, 5))
    return values, np.where(values @ np.array([1.0, -2.0, 0.5, 0.0, 0.3]) + rng.normal(size=20_000) > 0.0, 1, -1)


def delayed_blocks() -> list[Any]:
    make = dask.delayed(slow_rows)
    return [make(number) for number in range(6)]


def test_workers_give_the_bits_of_one_process_and_survive_a_kill(cluster: Any) -> None:
    known = dg.solve(dg.Problem(dg.Blocks([slow_rows(k) for k in range(6)]), loss="hinge", strength=1e-5), tol=1e-3)
    with distributed.Client(cluster) as client:
        problem = dg.Problem(dg.Blocks(delayed_blocks()), loss="hinge", strength=1e-5)
        there = dg.solve(problem, tol=1e-3)
        assert there.weights.tobytes() == known.weights.tobytes()
        assert there.certificate == known.certificate

        pids = list(client.run(os.getpid).values())
        killed = []

        def kill(record: Any) -> bool:
            if record.epoch >= 2 and not killed:
                killed.append(os.kill(pids[0], signal.SIGKILL))
            return False

        again = dg.solve(problem, tol=1e-3, callback=kill)
        assert killed
        assert again.weights.tobytes() == known.weights.tobytes()

        # Two fits at once on the same workers.
        found: list[Any] = []

        def fit() -> None:
            with client.as_current():
                found.append(dg.solve(problem, tol=1e-3))

        threads = [threading.Thread(target=fit) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert [result.weights.tobytes() for result in found] == [known.weights.tobytes()] * 2


def test_a_lost_home_leaves_the_best_certified_weights() -> None:
    class Lost(InMemory):
        def sum(self, function: Any, message: Any, plus: Any) -> Any:
            rounds.append(function)
            if len(rounds) > 2:
                raise HomeLost("Dask's scheduler does not answer (CommClosedError)")
            return super().sum(function, message, plus)

    rounds: list[Any] = []
    problem = dg.Problem(dg.Blocks([(X[:2000], LABELS[:2000]), (X[2000:], LABELS[2000:])]), loss="hinge", strength=1e-5)
    problem.home = Lost(problem.home.blocks)  # type: ignore[attr-defined]
    result = dg.solve(problem, tol=1e-12)
    assert result.status is dg.Status.INTERRUPTED
    assert "scheduler does not answer" in result.sentence
    assert result.certificate.gap == min(record.gap for record in result.trace)
