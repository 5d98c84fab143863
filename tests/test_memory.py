"""Peak extra memory of a solve, as a part of its input, where rows hold 240 bytes or more."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg

COUNT = 200_000


def dense(kind: type) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(COUNT, 240 // np.dtype(kind).itemsize)).astype(kind)


def sparse(kind: type) -> sp.csr_matrix:
    """Rows of 20 stored values, 12 or 8 bytes each with their index: 240 or 160 bytes, so 30 for float32."""
    width = 20 if kind is np.float64 else 30
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, 2_000, (COUNT, width), dtype=np.int32), axis=1).ravel()
    matrix = sp.csr_matrix(
        (rng.normal(size=indices.size).astype(kind), indices, np.arange(COUNT + 1, dtype=np.int32) * width)
    )
    matrix.sum_duplicates()
    return matrix


def size_of(X: object) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["sdca", "asdca", "pegasos", "subgradient", "projected_ascent"])
def test_peak_extra_memory_is_below_half_of_the_input(make, kind: type, solver: str) -> None:
    X = make(kind)
    y = np.where(np.arange(COUNT) % 3 == 0, 1.0, -1.0)
    # Compiles outside the measure.
    dg.solve(dg.Problem(X[:1000], y[:1000], "hinge", 1e-3), solver, max_epochs=1, tol=0)
    tracemalloc.start()
    try:
        dg.solve(dg.Problem(X, y, "hinge", 1e-3), solver, max_epochs=2, tol=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.3 * size_of(X)


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_peak_extra_memory_of_a_certified_fit(make, kind: type, loss: str) -> None:
    X = make(kind)
    rng = np.random.default_rng(1)
    y = np.where(X @ rng.normal(size=X.shape[1]) + rng.normal(size=COUNT) > 0.0, 1.0, -1.0)
    dg.solve(dg.Problem(X[:3000], y[:3000], loss, 1e-3), max_epochs=2)
    tracemalloc.start()
    try:
        result = dg.solve(dg.Problem(X, y, loss, 1e-3), tol=1e-6)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.status is dg.Status.CERTIFIED
    assert peak < 0.5 * size_of(X)
