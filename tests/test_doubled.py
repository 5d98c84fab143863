"""Double-double arithmetic: what a pair misses is within its bound, by exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualgap.linalg.double_double import BLOCK_VALUES, pair_error, products, row_sums, two_product, two_sum


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-20, 20, size=shape)


def exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in np.ravel(values)]


def test_a_sum_and_a_product_with_their_errors_are_exact() -> None:
    rng = np.random.default_rng(0)
    a, b = numbers(rng, (500,)), numbers(rng, (500,))
    for function, operation in ((two_sum, Fraction.__add__), (two_product, Fraction.__mul__)):
        high, low = function(a, b)
        for x, y, h, e in zip(exact(a), exact(b), exact(high), exact(low), strict=True):
            assert operation(x, y) == h + e


@pytest.mark.parametrize("columns", [1, 2, 3, 17, 64, 301])
@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_products_are_within_their_bound(columns: int, form: str) -> None:
    rng = np.random.default_rng(columns)
    X, w = numbers(rng, (12, columns)), numbers(rng, (columns,))
    # Rows that cancel, an empty one, and one of a single value.
    X[1] = -X[0]
    X[2, :] = 0.0
    X[3, 1:] = 0.0
    if form != "dense":
        X[rng.random(X.shape) < 0.5] = 0.0
    matrix = X if form == "dense" else sp.csr_matrix(X).asformat(form)
    pair = products(matrix, w)
    for i in range(X.shape[0]):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(X[i].tolist(), w.tolist(), strict=True)]
        missed = abs(sum(terms) - Fraction(float(pair.high[i])) - Fraction(float(pair.low[i])))
        assert missed <= Fraction(pair_error(columns)) * sum(map(abs, terms))


def test_rows_longer_than_a_block_are_summed_in_halves() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(1, 2 * BLOCK_VALUES + 3)), rng.normal(size=2 * BLOCK_VALUES + 3)
    pair = row_sums(x, w)
    terms = [Fraction(a) * Fraction(b) for a, b in zip(x[0].tolist(), w.tolist(), strict=True)]
    missed = abs(sum(terms) - Fraction(float(pair.high[0])) - Fraction(float(pair.low[0])))
    assert missed <= Fraction(pair_error(w.size)) * sum(map(abs, terms))
