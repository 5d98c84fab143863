"""One order for equal data: rows of weight zero are dropped, equal rows merged into a weight, and all put in an order of their own.

A row of weight 3 and a row given three times are the same problem. Solved in the order in which they came, the two end
within tol of each other; gathered here first, they are the same arrays, and so the same answer to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows

Vector = NDArray[np.float64]
Keys = NDArray[np.uint64]

# Gathering copies the data and sorts the rows: a few milliseconds up to so many values. Beyond, it would cost memory and
# a noticeable part of the fit, and weights are equal to repetitions up to tol.
GATHERED_VALUES = 1 << 18


class Gathered(NamedTuple):
    """Rows with their targets and weights, and where each of the given rows went."""

    rows: Rows
    targets: NDArray[Any]
    weights: Vector | None
    given_weights: Vector | None
    groups: NDArray[np.intp] | None
    """For each given row its place in `rows`, −1 where it was dropped; None where nothing was moved."""

    @property
    def given_count(self) -> int:
        """How many rows were given."""
        return self.rows.count if self.groups is None else self.groups.size

    def spread(self, duals: Vector) -> Vector:
        """Duals of the given rows: equal rows share theirs, dropped ones have 0."""
        if self.groups is None:
            return duals
        return np.where(self.groups >= 0, duals[self.groups], 0.0)

    def folded(self, duals: Vector) -> Vector:
        """Duals of the gathered rows: the weighted mean of equal ones, which has the same w(α) and no smaller D."""
        if self.groups is None:
            return duals
        kept = self.groups >= 0
        places, parts = self.groups[kept], duals[kept]
        shares = np.ones(parts.size) if self.given_weights is None else self.given_weights[kept]
        count = self.rows.count
        return np.bincount(places, shares * parts, count) / np.bincount(places, shares, count)


def gathered(X: Any, targets: NDArray[Any], weights: Vector | None, wanted: bool = True) -> Gathered:
    """The data in its one order, or as it came where it is large or `wanted` is false."""
    is_sparse = _is_sparse(X)
    values = X.shape[0] + (X.data.size if is_sparse else X.size)
    if not wanted or values > GATHERED_VALUES:
        return Gathered(as_rows(X), targets, weights, weights, None)
    kept = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    if is_sparse:
        X = X.copy()  # duplicates are summed in place, and the matrix belongs to the caller
        X.sum_duplicates()
    keys = (_sparse_keys(X) if is_sparse else _dense_keys(X)) + _dense_keys(_as_columns(targets), 1 << 32)
    order = kept[np.argsort(keys[kept], kind="stable")]
    is_new = np.ones(order.size, dtype=bool)
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    is_new[same + 1] = ~_are_equal(X, targets, order[same], order[same + 1])
    places = np.cumsum(is_new) - 1
    groups = np.full(X.shape[0], -1, dtype=np.intp)
    groups[order] = places
    sums = np.bincount(places, None if weights is None else weights[order]).astype(np.float64)
    chosen = order[is_new]
    return Gathered(as_rows(X[chosen]), targets[chosen], None if (sums == 1.0).all() else sums, weights, groups)


def _as_columns(targets: NDArray[Any]) -> NDArray[Any]:
    return targets.reshape(targets.shape[0], -1)


def _mixed(bits: Keys) -> Keys:
    """Every bit of a word moves about half of the bits of the result; 0 stays 0 (the finalizer of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _bits(values: NDArray[Any]) -> Keys:
    # Adding 0 turns −0 into +0, which compare equal.
    return _mixed((values.astype(np.float64) + 0.0).view(np.uint64))


def _factors(count: int, begin: int = 0) -> Keys:
    """An odd number for each column."""
    return _mixed(np.arange(begin + 1, begin + count + 1, dtype=np.uint64)) | np.uint64(1)


def _dense_keys(X: NDArray[Any], begin: int = 0) -> Keys:
    """A number for each row that depends on its values alone; integers wrap around, so no order of summing matters."""
    keys: Keys = (_bits(np.ascontiguousarray(X)) * _factors(X.shape[1], begin)).sum(axis=1, dtype=np.uint64)
    return keys


def _sparse_keys(X: Any) -> Keys:
    """The same numbers as for the dense matrix: a zero adds nothing, stored or not."""
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_bits(X.data) * _factors(X.shape[1])[X.indices])])
    keys: Keys = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    return keys


def _are_equal(X: Any, targets: NDArray[Any], one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether rows are equal pair by pair: equal keys of different rows are unlikely, not impossible."""
    columns = _as_columns(targets)
    same: NDArray[np.bool_] = (columns[one] == columns[other]).all(axis=1)
    if not one.size:
        return same
    if _is_sparse(X):
        different = csr_matrix(X[one] != X[other])
        different.eliminate_zeros()
        same &= np.diff(different.indptr) == 0
    else:
        same &= (X[one] == X[other]).all(axis=1)
    return same


def _is_sparse(X: Any) -> bool:
    return bool(issparse(X))
