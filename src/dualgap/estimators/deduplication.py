"""Equal rows merged into one weighted row, so that a weight of 3 and three equal rows are the same problem to the last bit.

Rows of weight zero are dropped and the remaining rows are sorted by a key of their values. Data that differs only in the
order of its rows, or in weights against repetitions, becomes the same arrays, and a solver returns the same bits for it.
Without deduplication the two answers agree up to tol. Equal rows whose summed weight would be rounded are not merged.
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

# Data with more stored values, its rows included, is used as given. Deduplication copies and sorts the data: a few
# milliseconds at this size, and a noticeable part of the memory and of the fit beyond it.
MAX_VALUES = 1 << 18

# Targets are hashed as columns from this number on, which no matrix of 32-bit column indices has.
TARGET_COLUMN = 1 << 32


class Deduplicated(NamedTuple):
    """Distinct rows with their targets and summed weights, and the map from the given rows to them."""

    rows: Rows
    targets: NDArray[Any]
    weights: Vector | None
    """Summed sample weights of the distinct rows; None where all are 1."""
    given_weights: Vector | None
    """Sample weights of the given rows; None where all are 1."""
    inverse: NDArray[np.intp] | None
    """Index of each given row in `rows`, −1 for a dropped row; None where the rows are used as given."""

    @property
    def given_count(self) -> int:
        """Number of given rows."""
        return self.rows.count if self.inverse is None else self.inverse.size

    def expand(self, duals: Vector) -> Vector:
        """Duals of the given rows from those of the distinct rows: equal rows have equal duals, a dropped row has 0."""
        if self.inverse is None:
            return duals
        return np.where(self.inverse >= 0, duals[self.inverse], 0.0)

    def reduce(self, duals: Vector) -> Vector:
        """Duals of the distinct rows from those of the given rows.

        The weighted mean over equal rows has the same w(α), and D at it is no smaller.
        """
        if self.inverse is None:
            return duals
        kept = self.inverse >= 0
        indices, values = self.inverse[kept], duals[kept]
        sample_weight = np.ones(values.size) if self.given_weights is None else self.given_weights[kept]
        count = self.rows.count
        return np.bincount(indices, sample_weight * values, count) / np.bincount(indices, sample_weight, count)


def deduplicate(X: Any, targets: NDArray[Any], weights: Vector | None, merge: bool = True) -> Deduplicated:
    """Merge equal rows with equal targets; with `merge=False`, or more than MAX_VALUES values, use the rows as given."""
    is_sparse = _is_sparse(X)
    values = X.shape[0] + (X.data.size if is_sparse else X.size)
    if not merge or values > MAX_VALUES:
        return Deduplicated(as_rows(X), targets, weights, weights, None)
    kept = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    if is_sparse:
        X = X.copy()  # sum_duplicates works in place, and the matrix belongs to the caller
        X.sum_duplicates()
    keys = (_sparse_keys(X) if is_sparse else _dense_keys(X)) + _dense_keys(_as_columns(targets), TARGET_COLUMN)
    order = kept[np.argsort(keys[kept], kind="stable")]
    is_new = np.ones(order.size, dtype=bool)
    same_key = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    is_new[same_key + 1] = ~_are_equal(X, targets, order[same_key], order[same_key + 1])
    if weights is not None:
        # A rounded sum is the weight of another problem, and a certificate of that problem does not hold for the given one.
        is_new |= ~_are_sums_exact(weights[order], np.cumsum(is_new) - 1)
    indices = np.cumsum(is_new) - 1
    inverse = np.full(X.shape[0], -1, dtype=np.intp)
    inverse[order] = indices
    sums = np.bincount(indices, None if weights is None else weights[order]).astype(np.float64)
    first = order[is_new]
    return Deduplicated(as_rows(X[first]), targets[first], None if (sums == 1.0).all() else sums, weights, inverse)


def _are_sums_exact(weights: Vector, groups: NDArray[np.intp]) -> NDArray[np.bool_]:
    """For each weight, whether the sum over its group is exact in any order.

    Every partial sum is a whole number of times the group's lowest bit, and float64 holds up to 2⁵³ of those exactly.
    """
    mantissas, exponents = np.frexp(weights)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    lowest_bits = np.ldexp((integers & -integers).astype(np.float64), exponents - 53)
    lowest_of_group = np.full(groups[-1] + 1, np.inf)
    np.minimum.at(lowest_of_group, groups, lowest_bits)
    with np.errstate(over="ignore"):
        return (np.bincount(groups, weights) <= 2.0**53 * lowest_of_group)[groups]


def _as_columns(targets: NDArray[Any]) -> NDArray[Any]:
    return targets.reshape(targets.shape[0], -1)


def _mix(bits: Keys) -> Keys:
    """The finalizer of SplitMix64: each input bit changes about half of the output bits, and 0 is mapped to 0."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _hash_values(values: NDArray[Any]) -> Keys:
    # Adding 0 turns −0 into +0: the two compare equal and need the same key.
    return _mix((values.astype(np.float64) + 0.0).view(np.uint64))


def _column_factors(count: int, first_column: int = 0) -> Keys:
    """An odd factor for each column, so that a value's contribution to the key depends on its column."""
    return _mix(np.arange(first_column + 1, first_column + count + 1, dtype=np.uint64)) | np.uint64(1)


def _dense_keys(X: NDArray[Any], first_column: int = 0) -> Keys:
    """A hash of the values of each row; unsigned integers wrap around, so that the order of summation has no effect."""
    factors = _column_factors(X.shape[1], first_column)
    keys: Keys = (_hash_values(np.ascontiguousarray(X)) * factors).sum(axis=1, dtype=np.uint64)
    return keys


def _sparse_keys(X: Any) -> Keys:
    """The keys of the equal dense matrix: a zero adds nothing, stored or not."""
    contributions = _hash_values(X.data) * _column_factors(X.shape[1])[X.indices]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(contributions)])
    keys: Keys = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    return keys


def _are_equal(X: Any, targets: NDArray[Any], one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether rows are equal pair by pair; different rows may have equal keys, although this is unlikely."""
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
