"""Σ c_i x_i x_iᵀ: dense and sparse rows against NumPy, and the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualgap.data.validation import as_rows
from dualgap.linalg.gram import compile_gram, weighted_gram
from dualgap.linalg.parallel import use_threads
from dualgap.solvers.newton.systems import square_rows

FACTORS = {
    "all": lambda random, n: random.uniform(0.1, 2.0, n),
    "some": lambda random, n: np.where(random.uniform(size=n) < 0.3, random.uniform(0.1, 2.0, n), 0.0),
    "alike": lambda random, n: np.full(n, 0.7),
    "none": lambda random, n: np.zeros(n),
}


@pytest.mark.kernels
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("factors", FACTORS)
def test_it_is_the_sum_of_squares_of_rows(form: str, kind: type, factors: str) -> None:
    random = np.random.default_rng(3)
    X = (random.normal(size=(61, 13)) * (random.uniform(size=(61, 13)) < 0.6)).astype(kind)
    X[5] = 0.0
    weights = FACTORS[factors](random, 61)
    rows = as_rows(sp.csr_matrix(X) if form == "sparse" else X)
    if form == "sparse":
        compile_gram(rows, square_rows(rows))
    expected = X.astype(np.float64).T @ (weights[:, None] * X)
    np.testing.assert_allclose(
        weighted_gram(rows, weights, square_rows(rows)),
        expected,
        rtol=1e-6 if kind == np.float32 else 1e-13,
        atol=1e-13,
    )


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_threads_change_no_bit(form: str) -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(20_000, 70))
    rows = as_rows(sp.csr_matrix(X) if form == "sparse" else X)
    factors = random.uniform(0.0, 1.0, 20_000)
    assert len(rows.partition) > 3
    made = []
    for jobs in (1, 2, 3):
        with use_threads(jobs):
            made.append(weighted_gram(rows, factors, square_rows(rows)))
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])
    np.testing.assert_allclose(made[0], X.T @ (factors[:, None] * X), rtol=1e-10, atol=1e-9)
