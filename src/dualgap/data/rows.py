"""Rows, dense or sparse: their storage, their squared norms, and products with them.

Products run in float64 over the slices of the partition, so at most a few slices of float32 data are in float64 at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.lazy import lazy
from dualgap.linalg.gram import row_gram
from dualgap.linalg.partition import even_slices, partition, run_slices, sum_slices

Vector = NDArray[np.float64]

# Columns over which one sum runs, at most, where the score of a dense row is a sum of sums. A product then passes through fewer
# additions than there are columns: more columns leave a larger bound on rounding, which double-double sums have to lower; fewer cost
# calls.
STRIP_COLUMNS = 256

# Indices as SciPy holds them and as kernels see them.
UNSIGNED: dict[Any, Any] = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}


class DenseRows(NamedTuple):
    """Rows as a C-ordered matrix, as kernels see them."""

    values: NDArray[Any]


class SparseRows(NamedTuple):
    """Rows in canonical CSR, as kernels see them; unsigned indices spare the check for negative ones."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]


class Rows:
    """The rows x_i of a problem: their storage, their squared norms, and products with them in float64."""

    def __init__(
        self, arrays: DenseRows | SparseRows, count: int, dimension: int, squared_norms: Vector | None = None
    ) -> None:
        self.arrays = arrays
        self.count = count
        self.dimension = dimension
        if squared_norms is not None:
            self.squared_norms = squared_norms
        self._wrapped: dict[tuple[int, int], tuple[Any, Any]] = {}

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.arrays, SparseRows)

    @lazy
    def partition(self) -> list[slice]:
        """The slices of rows that threads share, and whose sums are added in their order."""
        return self.partition_for(1)

    def partition_for(self, columns: int) -> list[slice]:
        """The partition for a sum of `columns` columns; a slice is at least as large as the sum, which its product is added to.

        A value that is converted to float64 counts twice, because a slice is then copied.
        """
        row_values = self.stored / self.count * (1 if self.arrays[0].dtype == np.float64 else 2)
        return partition(self.count, row_values, self.dimension * columns)

    @lazy
    def squared_size(self) -> float:
        """The sum of all squared norms; infinite or no number where a value is."""
        a, total = self.arrays, 0.0
        values = a.data if isinstance(a, SparseRows) else a.values.reshape(-1)
        with np.errstate(over="ignore", under="ignore"):
            for part in partition(values.size, 1):
                some = values[part].astype(np.float64, copy=False)
                # BLAS would take threads of its own, which stay in the way for a while.
                total += float(np.einsum("i,i->", some, some))
        return total

    @lazy
    def empty(self) -> NDArray[Any]:
        """Numbers of the rows that are all zeros."""
        # Mostly one value of each row says that there are none, and the norms are not needed.
        if "squared_norms" not in self.__dict__ and self._has_no_empty_row():
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.squared_norms == 0.0)

    def _has_no_empty_row(self) -> bool:
        """Whether the last or the first value of every row shows that its squared norm is positive."""
        a = self.arrays
        if isinstance(a, DenseRows):
            ends = (a.values[:, -1], a.values[:, 0])
        elif (a.indptr[1:] > a.indptr[:-1]).all():
            ends = (a.data[a.indptr[1:] - a.indptr.dtype.type(1)], a.data[a.indptr[:-1]])
        else:
            return False
        return any(bool((np.square(values, dtype=np.float64) > 0.0).all()) for values in ends)

    @property
    def stored(self) -> int:
        """How many values are stored."""
        return int(self.arrays.data.size if isinstance(self.arrays, SparseRows) else self.arrays.values.size)

    @lazy
    def longest(self) -> int:
        """The most values that are stored for one row."""
        a = self.arrays
        if isinstance(a, DenseRows):
            return self.dimension
        return int((a.indptr[1:] - a.indptr[:-1]).max())

    @lazy
    def _strips(self) -> list[slice]:
        """The columns that are summed apart in a score."""
        return even_slices(self.dimension, 1 if self.is_sparse else ceil(self.dimension / STRIP_COLUMNS))

    @property
    def score_operations(self) -> int:
        """The operations that a product x_ij·w_j passes through at most in `scores`: those in its strip, then those of strips."""
        if self.is_sparse:
            return self.longest
        return ceil(self.dimension / len(self._strips)) + len(self._strips) - 1

    def combination_operations(self, columns: int = 1) -> int:
        """The additions that a product x_ij·c_i passes through at most in `combination`, of one column or of `columns` columns.

        They are those in its slice, then those of slices.
        """
        partitions = (self.partition, self.partition_for(columns))
        return max(max(int(part.stop - part.start) for part in slices) + len(slices) + 1 for slices in partitions)

    def of_width(self, dimension: int) -> Rows:
        """These rows, if they are as long as those of training."""
        if self.dimension != dimension:
            raise ValueError(
                f"X needs {dimension} columns as in training, got {self.dimension}; select the same columns"
            )
        return self

    def take(self, numbers: NDArray[Any]) -> Rows:
        """A copy of some rows, by their numbers."""
        known = self.__dict__.get("squared_norms")
        norms = None if known is None else known[numbers]
        if isinstance(self.arrays, DenseRows):
            return Rows(DenseRows(self.arrays.values[numbers]), numbers.size, self.dimension, norms)
        part = csr(*self.arrays, (self.count, self.dimension))[numbers]
        unsigned = [values.view(UNSIGNED[values.dtype]) for values in (part.indices, part.indptr)]
        return Rows(SparseRows(part.data, *unsigned), numbers.size, self.dimension, norms)

    def take_columns(self, numbers: NDArray[Any]) -> Rows:
        """A copy of some columns, by their numbers in rising order."""
        if isinstance(self.arrays, DenseRows):
            return Rows(DenseRows(np.take(self.arrays.values, numbers, axis=1)), self.count, numbers.size)
        part = csr(*self.arrays, (self.count, self.dimension))[:, numbers]
        unsigned = [values.view(UNSIGNED[values.dtype]) for values in (part.indices, part.indptr)]
        return Rows(SparseRows(part.data, *unsigned), self.count, numbers.size)

    @lazy
    def column_counts(self) -> NDArray[np.intp]:
        """How many values each column stores."""
        if isinstance(self.arrays, DenseRows):
            return np.full(self.dimension, self.count)
        counts, indices = np.zeros(self.dimension, dtype=np.intp), self.arrays.indices
        for part in partition(indices.size, 1):
            counts += np.bincount(indices[part].astype(np.intp), minlength=self.dimension)
        return counts

    def dense(self) -> Rows:
        """A copy of the rows with every zero stored."""
        if isinstance(self.arrays, DenseRows):
            return self
        values = csr(*self.arrays, (self.count, self.dimension)).toarray()
        return Rows(DenseRows(values), self.count, self.dimension, self.__dict__.get("squared_norms"))

    def blocks(self, row_values: float | None = None) -> Iterator[tuple[slice, Any]]:
        """Slices of rows as float64 matrices, NumPy or CSR; shorter slices where each row grows to more values."""
        for rows in self.partition if row_values is None else partition(self.count, row_values):
            yield rows, self.block(rows)

    def block(self, rows: slice) -> Any:
        """Some rows as a float64 matrix, NumPy or CSR; float64 data is not copied."""
        a = self.arrays
        if isinstance(a, DenseRows):
            return a.values[rows].astype(np.float64, copy=False)
        low, high = int(a.indptr[rows.start]), int(a.indptr[rows.stop])
        indptr = a.indptr[rows.start : rows.stop + 1]
        return csr(
            a.data[low:high].astype(np.float64, copy=False),
            a.indices[low:high],
            indptr if low == 0 else indptr - a.indptr.dtype.type(low),
            (rows.stop - rows.start, self.dimension),
        )

    def _matrices(self, rows: slice) -> tuple[Any, Any]:
        """A slice as a float64 matrix and transposed; sparse rows in place are wrapped by SciPy only once."""
        known = self._wrapped.get((rows.start, rows.stop))
        if known is not None:
            return known
        block = self.block(rows)
        found = (block, _transposed(block))
        if self.is_sparse and self.arrays[0].dtype == np.float64:
            self._wrapped[rows.start, rows.stop] = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        # Wrapped slices are views, which a pickle would write as copies.
        return self.__dict__ | {"_wrapped": {}}

    def scores(self, weights: Vector) -> Vector:
        """X w; for several columns of weights as many columns."""
        out = np.empty((self.count, *weights.shape[1:]))

        def fill(rows: slice) -> None:
            out[rows] = self._product(self._matrices(rows)[0], weights)

        run_slices(fill, self.partition)
        return out

    def _product(self, matrix: Any, weights: Vector) -> Vector:
        """A slice times weights, strip by strip."""
        if len(self._strips) == 1:
            return np.asarray(matrix @ weights)
        return np.asarray(sum(matrix[:, strip] @ weights[strip] for strip in self._strips))

    def combination(self, coefficients: Vector) -> Vector:
        """Xᵀ c; for several columns of coefficients as many columns."""

        def add(rows: slice, out: Vector) -> None:
            out += self._matrices(rows)[1] @ coefficients[rows]

        slices = self.partition_for(prod(coefficients.shape[1:]))
        return sum_slices(add, slices, (self.dimension, *coefficients.shape[1:]))

    def through(self, weights: Vector, coefficients: Callable[[slice, Vector], Vector]) -> tuple[Vector, Vector]:
        """X w, and Xᵀ c for the c that `coefficients` makes of a slice and its scores: large data is read only once.

        `coefficients` may change the scores in place.
        """
        out = np.empty((self.count, *weights.shape[1:]))

        def add(rows: slice, combination: Vector) -> None:
            matrix, transposed = self._matrices(rows)
            out[rows] = self._product(matrix, weights)
            combination += transposed @ coefficients(rows, out[rows])

        return out, sum_slices(add, self.partition_for(prod(weights.shape[1:])), weights.shape)

    def gram(self) -> Vector:
        """X Xᵀ as a dense matrix."""
        return row_gram(self)

    def without_empty_columns(self) -> Rows:
        """Sparse rows with only the columns that hold a value, where those are fewer for sure; the order stays."""
        a = self.arrays
        if not isinstance(a, SparseRows) or self.dimension <= self.stored:
            return self
        columns, places = np.unique(a.indices, return_inverse=True)
        indices = places.reshape(-1).astype(a.indices.dtype)
        return Rows(SparseRows(a.data, indices, a.indptr), self.count, max(columns.size, 1))

    @lazy
    def squared_norms(self) -> Vector:
        """‖x_i‖²."""
        a, out = self.arrays, np.zeros(self.count)

        def fill(rows: slice) -> None:
            # Each row is summed alone, so that its bits do not depend on the other rows.
            if isinstance(a, SparseRows):
                out[rows] = _row_sums(a, rows)
            else:
                block = self.block(rows)
                out[rows] = np.vecdot(block, block)

        with np.errstate(over="ignore", under="ignore"):
            run_slices(fill, self.partition)
        return out


def _row_sums(a: SparseRows, rows: slice) -> Vector:
    """The sum of squares of each row of a slice."""
    ends = a.indptr[rows.start : rows.stop + 1]
    squares = np.square(a.data[ends[0] : ends[-1]], dtype=np.float64)
    starts = ends - ends[0]
    # A product with one column of ones, in which every value stands.
    column = np.zeros(squares.size, dtype=a.indices.dtype)
    return np.asarray(csr(squares, column, starts, (starts.size - 1, 1)) @ np.ones(1))


def csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> Any:
    """A CSR matrix around arrays that were checked already: no copy and no second check."""
    matrix = sp.csr_matrix(shape, dtype=data.dtype)
    signed = {np.dtype(kind): plain for plain, kind in UNSIGNED.items()}
    matrix.data = data
    matrix.indices = indices.view(signed.get(indices.dtype, indices.dtype))
    matrix.indptr = indptr.view(signed.get(indptr.dtype, indptr.dtype))
    return matrix


def _transposed(block: Any) -> Any:
    """A block's transpose, without the copy SciPy makes of a CSR matrix's parts."""
    if isinstance(block, np.ndarray):
        return block.T
    matrix = sp.csc_matrix(block.shape[::-1], dtype=block.dtype)
    matrix.data, matrix.indices, matrix.indptr = block.data, block.indices, block.indptr
    return matrix
