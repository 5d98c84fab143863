"""One row at a time: products with a vector, additions to one, and what is fetched ahead."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from dualgap.data.validation import as_rows
from dualgap.kernels.compile import is_interpreted, kernel
from dualgap.kernels.rows import PREFETCH, add_to, dot
from examples import FORMS

pytestmark = pytest.mark.kernels


@kernel
def one_dot(rows, i, weights):
    return dot(rows, i, weights)


@kernel
def one_add(rows, i, scale, weights):
    add_to(rows, i, scale, weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_a_row_times_a_vector_and_a_row_added_to_one(form: str, dtype: type) -> None:
    # Rows of 0 to 11 values: the sparse product takes four at a time and then the rest.
    random = np.random.default_rng(1)
    X = np.tril(random.normal(size=(12, 12)), k=-1).astype(dtype)
    rows = as_rows(sparse.csr_matrix(X) if form == "csr" else X).arrays
    weights = random.normal(size=12)
    scale = np.float64(0.3)
    for i in range(12):
        exact = X[i].astype(np.float64)
        for function in (dot, one_dot):
            assert function(rows, np.uint32(i), weights) == pytest.approx(exact @ weights, rel=1e-13, abs=1e-14)
        for function in (add_to, one_add):
            moved = weights.copy()
            function(rows, np.uint32(i), scale, moved)
            np.testing.assert_allclose(moved, weights + 0.3 * exact, rtol=1e-14, atol=1e-15)


@pytest.mark.skipif(not is_interpreted(), reason="compiled code prefetches in the processor, where no test can see it")
@pytest.mark.parametrize("width", [40, 100])
@pytest.mark.parametrize("form", FORMS)
def test_prefetching_stays_inside_the_row(form: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from dualgap.kernels import rows as module

    X = np.tril(np.ones((width, width)))
    rows = as_rows(sparse.csr_matrix(X) if form == "csr" else X).arrays
    asked: list[int] = []
    monkeypatch.setattr(module, "fetch", lambda array, position: asked.append(int(position)))
    for i in (0, 3, width - 1):
        asked.clear()
        PREFETCH[type(rows)](rows, np.uint32(i))
        ends = (i * width, (i + 1) * width) if form == "dense" else (int(rows.indptr[i]), int(rows.indptr[i + 1]))
        # One request a cache line, from the first value on, and no more than eight of them.
        assert sorted(set(asked)) == list(range(ends[0], min(ends[1], ends[0] + 64), 8))
