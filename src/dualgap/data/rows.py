"""Rows, dense or sparse: their storage, their squared norms, and products with them.

Products run in float64 over blocks of rows, so float32 data is never copied whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.lazy import lazy
from dualgap.linalg.parallel import checkpoint, even_slices, parallel_map

Vector = NDArray[np.float64]

# Rows are converted to float64 in blocks of about this many bytes: small against the data, large against the call.
BLOCK_BYTES = 1 << 20
BLOCK_VALUES = BLOCK_BYTES // 8
# Products with more than this many stored values, and so many a column, are cut into parts, which threads may share: a few
# small ones, and from some size on parts of twice as many values.
PART_VALUES, PART_WIDTHS, FEW_PARTS = 1 << 19, 8, 16
# Products of long rows with each other are sums over at most so many runs of columns, of at least so many each, where there
# are so many products for each run: fewer take less time than a thread to wake.
GRAM_PARTS, GRAM_COLUMNS, GRAM_SUMS = 4, 512, 1 << 26
# Those of many rows are made for some rows at a time, of at least so many, where they are about so many: more take longer than
# a tenth of a second, in which no time limit is seen. The other half is copied in tiles of so many rows and columns, which
# fit into the cache.
GRAM_ROWS, GRAM_PRODUCTS, GRAM_TILE = 128, 1 << 29, 128
# Of sparse rows about so many values at a time are made dense for their products with all rows: 4 MB, or one row.
GRAM_DENSE_VALUES = 1 << 19
# Dense float64 rows of at most so many values are multiplied as they are: the call costs more than the product.
PLAIN_VALUES = 1 << 19
# Values are squared in lines of so many: BLAS takes threads of its own to longer ones, which stay in the way for a while.
LINE_VALUES = 1 << 13
# Rows longer than this are squared quicker by a dot product each; sparse ones of up to so many columns are mostly short, and
# summed quicker by a product. The choice must not hang on which rows come together.
SHORT, NARROW = 64, 4096
# So many rows say which column is without zeros.
PROBED = 64


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
        values = arrays.values if isinstance(arrays, DenseRows) and arrays.values.dtype == np.float64 else None
        self._wrapped: dict[int, tuple[Any, Any]] = {}
        self.plain = values if values is not None and values.size <= PLAIN_VALUES else None

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.arrays, SparseRows)

    @lazy
    def squared_size(self) -> float:
        """The sum of all squared norms; infinite or no number where a value is."""
        a, total = self.arrays, 0.0
        with np.errstate(over="ignore", under="ignore"):
            if isinstance(a, DenseRows) and self.dimension > SHORT:
                # Row by row long ones take no longer, and somebody may need their norms.
                return float(self.squared_norms.sum())
            values = a.data if isinstance(a, SparseRows) else a.values.reshape(-1)
            for begin in range(0, values.size, BLOCK_VALUES):
                block = values[begin : begin + BLOCK_VALUES].astype(np.float64, copy=False)
                even = block[: block.size // LINE_VALUES * LINE_VALUES].reshape(-1, LINE_VALUES)
                rest = block[even.size :]
                total += float(np.vecdot(even, even).sum()) + float(np.vecdot(rest, rest))
            return total

    @lazy
    def empty(self) -> NDArray[Any]:
        """Numbers of the rows that are all zeros."""
        # Mostly one value of each row says that there are none, and then nobody needs the norms.
        ends = None if "squared_norms" in self.__dict__ else self._end_values()
        if ends is not None and (np.square(ends, dtype=np.float64) > 0.0).all():
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.squared_norms == 0.0)

    def _end_values(self) -> NDArray[Any] | None:
        """One stored value of each row, the last or, where that is often zero, the first; None where a row has none."""
        a = self.arrays
        if isinstance(a, DenseRows):
            some = a.values[:PROBED]
            return a.values[:, 0 if some[:, 0].all() and not some[:, -1].all() else -1]
        return a.data[a.indptr[1:] - a.indptr.dtype.type(1)] if (a.indptr[1:] > a.indptr[:-1]).all() else None

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

    @property
    def combination_operations(self) -> int:
        """How many additions a product x_ij·c_i passes through at most in `combination`: those in its part, then those of parts."""
        if self.plain is not None:
            return self.count
        parts = self.parts()
        # A part that is converted is summed run by run: one addition more for each of its runs, which hold a row at least.
        return 2 * max(int(part.stop - part.start) for part in parts) + len(parts)

    def of_width(self, dimension: int) -> Rows:
        """These rows, if they are as long as those of training."""
        if self.dimension != dimension:
            raise ValueError(
                f"X needs {dimension} columns as in training, got {self.dimension}; select the same columns"
            )
        return self

    def take(self, picked: NDArray[Any]) -> Rows:
        """A copy of some rows, by their numbers."""
        known = self.__dict__.get("squared_norms")
        norms = None if known is None else known[picked]
        if isinstance(self.arrays, DenseRows):
            return Rows(DenseRows(self.arrays.values[picked]), picked.size, self.dimension, norms)
        part = csr(*self.arrays, (self.count, self.dimension))[picked]
        unsigned = [values.view(UNSIGNED[values.dtype]) for values in (part.indices, part.indptr)]
        return Rows(SparseRows(part.data, *unsigned), picked.size, self.dimension, norms)

    def dense(self) -> Rows:
        """A copy of the rows with every zero stored."""
        if isinstance(self.arrays, DenseRows):
            return self
        values = csr(*self.arrays, (self.count, self.dimension)).toarray()
        return Rows(DenseRows(values), self.count, self.dimension, self.__dict__.get("squared_norms"))

    def blocks(self, small: bool = False, size: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Blocks of rows as float64 matrices (NumPy or CSR), with the rows they hold.

        float64 data comes uncopied as one block, unless the caller is about to copy and asks for small ones.
        """
        a = self.arrays
        values = a.data if isinstance(a, SparseRows) else a.values
        if values.dtype == np.float64 and not small:
            height = self.count
        else:
            height = max(1, int((size or BLOCK_BYTES) * self.count / max(8 * self.stored, 1)))
        for begin in range(0, self.count, height):
            rows = slice(begin, min(begin + height, self.count))
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

    def parts(self, limit: int | None = None) -> list[slice]:
        """The partition of the rows that threads share; it follows from the data's size alone, so that sums have the same bits."""
        worth = self.stored // max(PART_VALUES, PART_WIDTHS * self.dimension)
        pieces = min(max(1, min(2 * worth, FEW_PARTS), worth // 2), self.count)
        return even_slices(self.count, pieces if limit is None else min(pieces, limit))

    def runs(self, part: slice, size: int = BLOCK_BYTES) -> Iterator[slice]:
        """Shorter runs of a part, of about so many bytes, for data that must be converted or that a caller is about to copy."""
        height = max(1, int(size * self.count / max(8 * self.stored, 1)))
        for begin in range(part.start, part.stop, height):
            yield slice(begin, min(begin + height, part.stop))

    def ready(self, part: slice) -> Iterator[slice]:
        """The part itself where its rows are float64 in place, else runs short enough to convert."""
        a = self.arrays
        values = a.data if isinstance(a, SparseRows) else a.values
        return iter((part,)) if values.dtype == np.float64 else self.runs(part)

    def _ready(self, part: slice) -> Iterator[tuple[slice, Any, Any]]:
        """Runs of a part, each as a float64 matrix and transposed; sparse ones in place are wrapped by SciPy only once."""
        if not self.is_sparse or self.arrays[0].dtype != np.float64:
            blocks = ((rows, self.block(rows)) for rows in self.ready(part))
            return ((rows, block, _transposed(block)) for rows, block in blocks)
        known = self._wrapped.get(part.start)
        if known is None:
            block = self.block(part)
            known = self._wrapped[part.start] = (block, _transposed(block))
        return iter(((part, *known),))

    def __getstate__(self) -> dict[str, Any]:
        # Wrapped parts are views, which a pickle would write as copies.
        return self.__dict__ | {"_wrapped": {}}

    def scores(self, weights: Vector) -> Vector:
        """X w; for several columns of weights as many columns."""
        if self.plain is not None:
            return np.asarray(self.plain @ weights)
        out = np.empty((self.count, *weights.shape[1:]))

        def fill(part: slice) -> None:
            for rows, block, _ in self._ready(part):
                out[rows] = block @ weights

        for _ in parallel_map(fill, self.parts()):
            pass
        return out

    def combination(self, coefficients: Vector) -> Vector:
        """Xᵀ c."""
        if self.plain is not None:
            return np.asarray(self.plain.T @ coefficients)

        def summed(part: slice) -> Vector:
            return _added(transposed @ coefficients[rows] for rows, _, transposed in self._ready(part))

        return _added(parallel_map(summed, self.parts()))

    def through(self, weights: Vector, coefficients: Callable[[slice, Vector], Vector]) -> tuple[Vector, Vector]:
        """X w, and Xᵀ c for the c that `coefficients` makes of some rows and their scores: large data is read only once.

        What it does to the scores in place stays done.
        """
        if self.plain is not None:
            out = np.asarray(self.plain @ weights)
            return out, np.asarray(self.plain.T @ coefficients(slice(0, self.count), out))
        out = np.empty((self.count, *weights.shape[1:]))

        def passed(rows: slice, block: Any, transposed: Any) -> Vector:
            out[rows] = block @ weights
            return np.asarray(transposed @ coefficients(rows, out[rows]))

        def summed(part: slice) -> Vector:
            return _added(passed(*ready) for ready in self._ready(part))

        return out, _added(parallel_map(summed, self.parts()))

    def gram(self) -> Vector:
        """X Xᵀ as a dense matrix."""
        if isinstance(self.arrays, DenseRows) and self.arrays.values.dtype == np.float64:
            return _dense_gram(self.arrays.values)
        out = np.empty((self.count, self.count))
        if self.is_sparse:
            self._without_empty_columns()._fill_gram(out)
            return out
        for rows, block in self.blocks(small=True):
            for columns, own in self.blocks(small=True):
                checkpoint()
                out[columns, rows] = own @ block.T
        return out

    def _fill_gram(self, out: Vector) -> None:
        """X Xᵀ of sparse rows: all of them times a few that are made dense, which is far quicker than a sparse product."""
        height = max(1, GRAM_DENSE_VALUES // self.dimension)
        for begin in range(0, self.count, height):
            rows = slice(begin, min(begin + height, self.count))
            dense = self.block(rows).toarray().T
            for others, block in self.blocks():
                checkpoint()
                out[others, rows] = block @ dense

    def _without_empty_columns(self) -> Rows:
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
            # One row at a time, so that a row has the same bits in whatever company it comes.
            if isinstance(a, SparseRows):
                out[rows] = _row_sums(a, rows, self.dimension)
                return
            block = self.block(rows)
            long = self.dimension > SHORT
            out[rows] = np.vecdot(block, block) if long else np.einsum("ij,ij->i", block, block)

        with np.errstate(over="ignore", under="ignore"):
            for _ in parallel_map(fill, list(self.runs(slice(0, self.count)))):
                pass
        return out


def _dense_gram(values: Vector) -> Vector:
    """X Xᵀ; where products are many, in pieces that threads may share: by columns of long rows, else by rows."""
    count, dimension = values.shape
    if dimension <= count:
        return _gram_by_rows(values)
    pieces = max(1, min(GRAM_PARTS, dimension // GRAM_COLUMNS, count * count * dimension // GRAM_SUMS))
    # Cut by columns, the sum needs no copy.
    return _added(parallel_map(lambda part: values[:, part] @ values[:, part].T, even_slices(dimension, pieces)))


def _gram_by_rows(values: Vector) -> Vector:
    """X Xᵀ; of many products only those on and below the diagonal are made, some rows at a time."""
    count, dimension = values.shape
    if count * count * dimension <= GRAM_PRODUCTS:
        return np.asarray(values @ values.T)
    height = max(GRAM_ROWS, GRAM_PRODUCTS // (count * dimension))
    out = np.empty((count, count))

    def fill(begin: int) -> None:
        end = min(begin + height, count)
        out[begin:end, :end] = values[begin:end] @ values[:end].T

    def mirror(begin: int) -> None:
        end = min(begin + GRAM_TILE, count)
        corner = out[begin:end, begin:end]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        for column in range(end, count, GRAM_TILE):
            out[begin:end, column : column + GRAM_TILE] = out[column : column + GRAM_TILE, begin:end].T

    for _ in parallel_map(fill, range(0, count, height)):
        pass
    # Only now: the first number written to a line of the matrix has the system clear its memory.
    for _ in parallel_map(mirror, range(0, count, GRAM_TILE)):
        pass
    return out


def _row_sums(a: SparseRows, rows: slice, dimension: int) -> Vector:
    """The sum of squares of some rows."""
    ends = a.indptr[rows.start : rows.stop + 1]
    squares = np.square(a.data[ends[0] : ends[-1]], dtype=np.float64)
    starts = ends - ends[0]
    if dimension <= NARROW:
        # A product with one column of ones, in which every value stands.
        column = np.zeros(squares.size, dtype=a.indices.dtype)
        return np.asarray(csr(squares, column, starts, (starts.size - 1, 1)) @ np.ones(1))
    # A sum begins at each row that holds something; an empty one would repeat its neighbour's first.
    out, filled = np.zeros(starts.size - 1), np.flatnonzero(ends[1:] > ends[:-1])
    if filled.size:
        out[filled] = np.add.reduceat(squares, starts[filled].astype(np.intp))
    return out


def _added(terms: Iterator[Vector]) -> Vector:
    """The sum in the order given."""
    total = next(terms)
    for term in terms:
        total += term
    return total


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
