"""Rows: any matrix becomes dense or sparse rows that kernels and the judge can trust, or is refused in one sentence.

C-ordered float32 and float64 arrays and canonical CSR matrices are used in place; everything else is converted once.
Products with the rows run in float64 over blocks of rows, so float32 data is never copied whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# Rows are converted to float64 in blocks of about this many bytes: small against the data, large against the call.
BLOCK_BYTES = 1 << 20
# A product of a block with itself wants taller ones.
GRAM_BLOCK_BYTES, GRAM_BLOCK_ROWS = 1 << 20, 256


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

    def __init__(self, arrays: DenseRows | SparseRows, count: int, dimension: int) -> None:
        self.arrays = arrays
        self.count = count
        self.dimension = dimension
        self.squared_norms = self._squared_norms()
        if not np.isfinite(self.squared_norms).all():
            raise ValueError(
                "X needs rows whose squared length is a finite float64, got values too large to square; "
                "divide X by its largest absolute value"
            )

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.arrays, SparseRows)

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
            if isinstance(a, DenseRows):
                yield rows, a.values[rows].astype(np.float64, copy=False)
            else:
                low, high = int(a.indptr[rows.start]), int(a.indptr[rows.stop])
                indptr = a.indptr[rows.start : rows.stop + 1]
                yield (
                    rows,
                    _csr(
                        a.data[low:high].astype(np.float64, copy=False),
                        a.indices[low:high],
                        indptr if low == 0 else indptr - a.indptr.dtype.type(low),
                        (rows.stop - rows.start, self.dimension),
                    ),
                )

    def scores(self, weights: Vector) -> Vector:
        """X w."""
        out = np.empty(self.count)
        for rows, block in self.blocks():
            out[rows] = block @ weights
        return out

    def combination(self, coefficients: Vector) -> Vector:
        """Xᵀ c."""
        out = np.zeros(self.dimension)
        for rows, block in self.blocks():
            out += block.T @ coefficients[rows]
        return out

    def gram(self) -> Vector:
        """X Xᵀ as a dense matrix."""
        out = np.empty((self.count, self.count))
        for rows, block in self.blocks(small=True):
            # A dense block costs little, and a product with it is far quicker than one of two sparse matrices.
            others: Any = block.toarray().T if self.is_sparse else block.T
            for columns, own in self.blocks(small=not self.is_sparse):
                out[columns, rows] = own @ others
        return out

    def weighted_gram(self, factors: Vector) -> tuple[Vector, Vector]:
        """Σ c_i x_i x_iᵀ and Σ c_i x_i over rows whose factor c_i ≥ 0 is not zero, in blocks: no copy of X."""
        out = np.zeros((self.dimension, self.dimension))
        size = max(GRAM_BLOCK_BYTES, GRAM_BLOCK_ROWS * 8 * self.stored // self.count)
        for rows, block in self.blocks(small=True, size=size):
            kept = np.flatnonzero(factors[rows])
            if not kept.size:
                continue
            roots = np.sqrt(factors[rows][kept])
            part: Any = block[kept] if kept.size < block.shape[0] else block
            if self.is_sparse:
                part = _csr(part.data * np.repeat(roots, np.diff(part.indptr)), part.indices, part.indptr, part.shape)
                out += (part.T @ part).toarray()
            else:
                part = part * roots[:, None]
                out += part.T @ part
        return out, self.combination(factors)

    def _squared_norms(self) -> Vector:
        out = np.empty(self.count)
        with np.errstate(over="ignore", under="ignore"):
            for rows, block in self.blocks(small=True):
                if self.is_sparse:
                    squares = _csr(block.data * block.data, block.indices, block.indptr, block.shape)
                    out[rows] = squares @ np.ones(self.dimension)
                else:
                    out[rows] = np.einsum("ij,ij->i", block, block)
        return out


def _csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> Any:
    """A CSR matrix around arrays that were checked already: no copy and no second check."""
    matrix = sp.csr_matrix(shape, dtype=data.dtype)
    signed = {np.dtype(np.uint32): np.int32, np.dtype(np.uint64): np.int64}
    matrix.data = data
    matrix.indices = indices.view(signed.get(indices.dtype, indices.dtype))
    matrix.indptr = indptr.view(signed.get(indptr.dtype, indptr.dtype))
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
    _refuse_not_finite(values, name)
    return Rows(DenseRows(values), *values.shape)


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


def _refuse_not_finite(values: NDArray[Any], name: str) -> None:
    # The sum is finite whenever all values are (short of an overflow), and costs no temporary.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum(dtype=np.float64))
    if suspicious and not np.isfinite(values).all():
        raise ValueError(f"{name} needs finite numbers, got NaN or infinity; impute or drop the rows that hold them")


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
    _refuse_not_finite(data, name)
    unsigned = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}
    return Rows(SparseRows(data, indices.view(unsigned[indices.dtype]), indptr.view(unsigned[indptr.dtype])), *shape)


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
