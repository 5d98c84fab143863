"""The columns of a working set: a copy by rows where few columns make a small Hessian, and otherwise by columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.data.rows import DenseRows, Rows, SparseRows
from dualgap.solvers.base import Vector, integer_type
from dualgap.solvers.sparse_newton.settings import SETTINGS


class WorkingSet(NamedTuple):
    """Some columns of the rows, and products with them."""

    columns: NDArray[np.intp]
    """Their numbers, in rising order."""
    rows: Rows
    """The rows with these columns alone, or these columns as rows."""
    is_by_columns: bool

    @classmethod
    def of(cls, rows: Rows, columns: NDArray[np.intp]) -> WorkingSet:
        """A copy of some columns; all columns without a copy where a copy would take more than half of the memory of the rows."""
        if is_large(rows, columns.size):
            return cls(columns, columns_as_rows(rows, columns), True)
        if not is_large(rows, rows.dimension) and 2 * int(rows.column_counts[columns].sum()) > rows.stored:
            return cls(np.arange(rows.dimension), rows, False)
        return cls(columns, rows.take_columns(columns), False)

    @property
    def size(self) -> int:
        return self.columns.size

    def scores(self, weights: Vector) -> Vector:
        """X w for weights of these columns."""
        return self.rows.combination(weights) if self.is_by_columns else self.rows.scores(weights)

    def combination(self, coefficients: Vector) -> Vector:
        """Xᵀ c on these columns."""
        return self.rows.scores(coefficients) if self.is_by_columns else self.rows.combination(coefficients)


class Copies:
    """The copy of the working set in use. The one before is freed before the next one is made."""

    def __init__(self) -> None:
        self._kept: WorkingSet | None = None

    def of(self, rows: Rows, columns: NDArray[np.intp]) -> WorkingSet:
        """The working set of these columns, or of all columns where they need no copy."""
        kept = self._kept
        if kept is None or not (kept.rows is rows or np.array_equal(kept.columns, columns)):
            self._kept = kept = None
            self._kept = kept = WorkingSet.of(rows, columns)
        return kept


def is_large(rows: Rows, columns: int) -> bool:
    """Whether the Hessian of some columns would take too much memory beside the rows; if not, steps with it are quicker."""
    return columns > SETTINGS.few_columns and columns**2 > rows.stored // 2


def columns_as_rows(rows: Rows, columns: NDArray[np.intp]) -> Rows:
    """A copy of some columns, by their numbers in rising order: each is a row."""
    a = rows.arrays
    if isinstance(a, DenseRows):
        return Rows(DenseRows(np.take(a.values.T, columns, axis=0)), columns.size, rows.count)
    counts = rows.column_counts[columns]
    indptr = np.zeros(columns.size + 1, dtype=np.intp)
    np.cumsum(counts, out=indptr[1:])
    places = np.full(rows.dimension, -1, dtype=np.intp)
    places[columns] = np.arange(columns.size)
    data, indices = np.empty(indptr[-1], dtype=a.data.dtype), np.empty(indptr[-1], dtype=integer_type(rows.count))
    kernels.columns.take_columns(a, places, indptr[:-1].copy(), data, indices)
    return Rows(SparseRows(data, indices, indptr.astype(a.indptr.dtype)), columns.size, rows.count)
