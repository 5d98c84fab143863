"""Rows: any matrix becomes dense or sparse rows that kernels and the judge can trust, or is refused in one sentence.

C-ordered float32 and float64 arrays and canonical CSR matrices are used in place; everything else is converted once.
Products with the rows run in float64 over blocks of rows, so float32 data is never copied whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.threads import mapped, runs

Vector = NDArray[np.float64]

# Rows are converted to float64 in blocks of about this many bytes: small against the data, large against the call.
BLOCK_BYTES = 1 << 20
# Products with more than this many stored values, and so many a column, are cut into parts, which threads may share: a few
# small ones, and from some size on parts of twice as many values.
PART_VALUES, PART_WIDTHS, FEW_PARTS = 1 << 18, 8, 16
# Products of all rows with each other are sums over at most so many runs of columns, of at least so many each.
GRAM_PARTS, GRAM_COLUMNS = 4, 512
# Dense float64 rows of at most so many values are multiplied as they are: the call costs more than the product.
PLAIN_VALUES = 1 << 19
# Rows longer than this are squared quicker by a dot product each; sparse ones of up to so many columns are mostly short, and
# summed quicker by a product. The choice must not hang on which rows come together.
SHORT, NARROW = 64, 4096


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
        self.squared_norms = self._squared_norms() if squared_norms is None else squared_norms
        values = arrays.values if isinstance(arrays, DenseRows) and arrays.values.dtype == np.float64 else None
        self._wrapped: dict[int, tuple[Any, Any]] = {}
        self.plain = values if values is not None and values.size <= PLAIN_VALUES else None

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.arrays, SparseRows)

    @cached_property
    def empty(self) -> NDArray[Any]:
        """Numbers of the rows that are all zeros."""
        return np.flatnonzero(self.squared_norms == 0.0)

    @property
    def stored(self) -> int:
        """How many values are stored."""
        return int(self.arrays.data.size if isinstance(self.arrays, SparseRows) else self.arrays.values.size)

    def of_width(self, dimension: int) -> Rows:
        """These rows, if they are as long as those of training."""
        if self.dimension != dimension:
            raise ValueError(
                f"X needs {dimension} columns as in training, got {self.dimension}; select the same columns"
            )
        return self

    def take(self, picked: NDArray[Any]) -> Rows:
        """A copy of some rows, by their numbers."""
        norms = self.squared_norms[picked]
        if isinstance(self.arrays, DenseRows):
            return Rows(DenseRows(self.arrays.values[picked]), picked.size, self.dimension, norms)
        part = _csr(*self.arrays, (self.count, self.dimension))[picked]
        unsigned = [values.view(UNSIGNED[values.dtype]) for values in (part.indices, part.indptr)]
        return Rows(SparseRows(part.data, *unsigned), picked.size, self.dimension, norms)

    def dense(self) -> Rows:
        """A copy of the rows with every zero stored."""
        if isinstance(self.arrays, DenseRows):
            return self
        values = _csr(*self.arrays, (self.count, self.dimension)).toarray()
        return Rows(DenseRows(values), self.count, self.dimension, self.squared_norms)

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
        return _csr(
            a.data[low:high].astype(np.float64, copy=False),
            a.indices[low:high],
            indptr if low == 0 else indptr - a.indptr.dtype.type(low),
            (rows.stop - rows.start, self.dimension),
        )

    def parts(self) -> list[slice]:
        """Runs of rows to share between threads; they depend on the size alone, so that sums have the same bits."""
        worth = self.stored // max(PART_VALUES, PART_WIDTHS * self.dimension)
        pieces = min(max(1, min(2 * worth, FEW_PARTS), worth // 2), self.count)
        return runs(self.count, pieces)

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
        """X w."""
        if self.plain is not None:
            return np.asarray(self.plain @ weights)
        out = np.empty(self.count)

        def fill(part: slice) -> None:
            for rows, block, _ in self._ready(part):
                out[rows] = block @ weights

        for _ in mapped(fill, self.parts()):
            pass
        return out

    def combination(self, coefficients: Vector) -> Vector:
        """Xᵀ c."""
        if self.plain is not None:
            return np.asarray(self.plain.T @ coefficients)

        def summed(part: slice) -> Vector:
            total = np.zeros(self.dimension)
            for rows, _, transposed in self._ready(part):
                total += transposed @ coefficients[rows]
            return total

        return _added(mapped(summed, self.parts()))

    def through(self, weights: Vector, coefficients: Callable[[slice, Vector], Vector]) -> tuple[Vector, Vector]:
        """X w, and Xᵀ c for the c that `coefficients` makes of some rows and their scores: large data is read only once.

        What it does to the scores in place stays done.
        """
        if self.plain is not None:
            out = np.asarray(self.plain @ weights)
            return out, np.asarray(self.plain.T @ coefficients(slice(0, self.count), out))
        out = np.empty(self.count)

        def passed(part: slice) -> Vector:
            total = np.zeros(self.dimension)
            for rows, block, transposed in self._ready(part):
                out[rows] = block @ weights
                total += transposed @ coefficients(rows, out[rows])
            return total

        return out, _added(mapped(passed, self.parts()))

    def gram(self) -> Vector:
        """X Xᵀ as a dense matrix."""
        if isinstance(self.arrays, DenseRows) and self.arrays.values.dtype == np.float64:
            values, pieces = self.arrays.values, min(GRAM_PARTS, max(1, self.dimension // GRAM_COLUMNS))
            # Cut by columns, the sum is shared by threads and needs no copy.
            return _added(mapped(lambda part: values[:, part] @ values[:, part].T, runs(self.dimension, pieces)))
        out = np.empty((self.count, self.count))
        for rows, block in self.blocks(small=True):
            # A dense block costs little, and a product with it is far quicker than one of two sparse matrices.
            others: Any = block.toarray().T if self.is_sparse else block.T
            for columns, own in self.blocks(small=not self.is_sparse):
                out[columns, rows] = own @ others
        return out

    def _squared_norms(self) -> Vector:
        a, out = self.arrays, np.zeros(self.count)
        with np.errstate(over="ignore", under="ignore"):
            for rows in self.runs(slice(0, self.count)):
                # One row at a time, so that a row has the same bits in whatever company it comes.
                if isinstance(a, SparseRows):
                    out[rows] = _row_sums(a, rows, self.dimension)
                    continue
                block = self.block(rows)
                long = self.dimension > SHORT
                out[rows] = np.vecdot(block, block) if long else np.einsum("ij,ij->i", block, block)
        return out


def _row_sums(a: SparseRows, rows: slice, dimension: int) -> Vector:
    """The sum of squares of some rows."""
    ends = a.indptr[rows.start : rows.stop + 1]
    squares = np.square(a.data[ends[0] : ends[-1]], dtype=np.float64)
    starts = ends - ends[0]
    if dimension <= NARROW:
        # A product with one column of ones, in which every value stands.
        column = np.zeros(squares.size, dtype=a.indices.dtype)
        return np.asarray(_csr(squares, column, starts, (starts.size - 1, 1)) @ np.ones(1))
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


def _csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> Any:
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


def as_rows(X: Any, name: str = "X") -> Rows:
    """Rows from an array, a sparse matrix, a data frame or a list of lists; refuses what no solver could use."""
    if isinstance(X, Rows):
        return X
    if sp.issparse(X):
        return _sparse_rows(X, name)
    if hasattr(X, "sparse") and hasattr(X, "dtypes"):  # a pandas frame of sparse columns keeps its zeros unstored
        return _sparse_rows(X.sparse.to_coo(), name)
    values = _dense(X, name)
    if values.ndim != 2:
        raise ValueError(
            f"{name} needs two dimensions (rows × columns), got {values.ndim}; use reshape(-1, 1) for one column"
        )
    _refuse_empty(values.shape, name)
    values = np.ascontiguousarray(values, dtype=_float_type(values.dtype, name))
    return _finite(Rows(DenseRows(values), *values.shape), values, name)


def _dense(X: Any, name: str) -> NDArray[Any]:
    try:
        values = np.asarray(X)
        if values.dtype == object:
            values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} needs numbers in a rectangular table, got something else ({error}); encode text columns as numbers first"
        ) from None
    return values


def _float_type(dtype: np.dtype[Any], name: str) -> type[np.float32] | type[np.float64]:
    """float32 where it is exact for the given type, else float64."""
    if dtype.kind == "c":
        raise ValueError(f"{name} needs real numbers, got complex ones; pass the real and imaginary parts as columns")
    if dtype.kind not in "fiub":
        raise ValueError(f"{name} needs numbers, got values of type {dtype}; encode them as numbers first")
    return np.float32 if np.can_cast(dtype, np.float32, "safe") else np.float64


def _refuse_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise ValueError(
            f"{name} needs at least one row and one column, got {shape[0]} × {shape[1]}; check the selection that made it"
        )


def _finite(rows: Rows, values: NDArray[Any], name: str) -> Rows:
    """The rows, if their squared lengths are finite: those see every value, so no other pass has to."""
    if np.isfinite(rows.squared_norms).all():
        return rows
    if not np.isfinite(values).all():
        raise ValueError(f"{name} needs finite numbers, got NaN or infinity; impute or drop the rows that hold them")
    raise ValueError(
        f"{name} needs rows whose squared length is a finite float64, got values too large to square; "
        f"divide {name} by its largest absolute value"
    )


def _sparse_rows(X: Any, name: str) -> Rows:
    shape = X.shape
    if len(shape) != 2:
        raise ValueError(f"{name} needs two dimensions (rows × columns), got {len(shape)}; reshape it")
    _refuse_empty(shape, name)
    kind = _float_type(X.dtype, name)
    if X.format == "csr":
        _refuse_malformed(X, name)
    else:
        X = X.tocsr()
    data, indices, indptr = (
        np.ascontiguousarray(part) for part in (X.data.astype(kind, copy=False), X.indices, X.indptr)
    )
    stored = int(indptr[-1])
    data, indices = data[:stored], indices[:stored]
    matrix = _csr(data, indices, indptr, shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    arrays = SparseRows(data, indices.view(UNSIGNED[indices.dtype]), indptr.view(UNSIGNED[indptr.dtype]))
    return _finite(Rows(arrays, *shape), data, name)


def _refuse_malformed(X: Any, name: str) -> None:
    """Kernels check no bounds, so a CSR matrix whose parts disagree must not reach one."""
    indptr, indices = X.indptr, X.indices
    advice = "rebuild the matrix from (data, (row, column))"
    if indptr.size != X.shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError(
            f"{name} needs a CSR indptr that starts at 0 and never falls, one entry a row, got a broken one; {advice}"
        )
    stored = int(indptr[-1])
    if stored > min(indices.size, X.data.size):
        raise ValueError(
            f"{name} needs as many CSR indices and values as indptr says ({stored}), got {min(indices.size, X.data.size)}; {advice}"
        )
    used = indices[:stored]
    if stored and (int(used.min()) < 0 or int(used.max()) >= X.shape[1]):
        raise ValueError(
            f"{name} needs CSR column indices from 0 to {X.shape[1] - 1}, got {int(used.min())} to {int(used.max())}; {advice}"
        )
