"""Validation: any matrix becomes dense or sparse rows that kernels and the judge can trust, or is refused in one sentence.

C-ordered float32 and float64 arrays and canonical CSR matrices are used in place; everything else is converted once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.rows import UNSIGNED, DenseRows, Rows, SparseRows, csr

REBUILT = "rebuild the matrix from (data, (row, column))"


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
    """The rows, if their squared lengths are finite: their sum sees every value, so no other pass has to."""
    if np.isfinite(rows.squared_size) or np.isfinite(rows.squared_norms).all():
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
    matrix = csr(data, indices, indptr, shape)
    is_canonical = matrix.has_canonical_format
    _refuse_outside(indices, indptr, is_canonical, shape[1], name)
    if not is_canonical:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    arrays = SparseRows(data, indices.view(UNSIGNED[indices.dtype]), indptr.view(UNSIGNED[indptr.dtype]))
    return _finite(Rows(arrays, *shape), data, name)


def _refuse_outside(indices: NDArray[Any], indptr: NDArray[Any], is_sorted: bool, columns: int, name: str) -> None:
    """No index may be that of a column that is not there; in sorted rows the first and the last say so for all."""
    if is_sorted:
        filled = indptr[:-1] < indptr[1:]
        indices = np.concatenate([indices[indptr[:-1][filled]], indices[indptr[1:][filled] - 1]])
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= columns):
        raise ValueError(
            f"{name} needs CSR column indices from 0 to {columns - 1}, got {int(indices.min())} to {int(indices.max())}; {REBUILT}"
        )


def _refuse_malformed(X: Any, name: str) -> None:
    """Kernels check no bounds, so a CSR matrix whose parts disagree must not reach one."""
    indptr, indices = X.indptr, X.indices
    if indptr.size != X.shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError(
            f"{name} needs a CSR indptr that starts at 0 and never falls, one entry a row, got a broken one; {REBUILT}"
        )
    stored = int(indptr[-1])
    if stored > min(indices.size, X.data.size):
        raise ValueError(
            f"{name} needs as many CSR indices and values as indptr says ({stored}), got {min(indices.size, X.data.size)}; {REBUILT}"
        )
