"""Digests of training data: the same rows, labels and weights give the same SHA-256, in whatever form they are held.

Dense and sparse matrices, float32 and float64, and labels 1 and 1.0 are the same content. A row that is more than half
full is hashed as it stands, any other by its non-zero values and their columns, so that neither form is ever unfolded.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows

DIGESTED = ("the rows", "the labels", "the sample weights")
LABELS_AT_A_TIME = 1 << 16  # hashed together, so that the text of a long column is never held twice


@dataclass(frozen=True)
class DataDigest:
    """How many rows and columns the data has, and the SHA-256 of its rows, its labels and its sample weights."""

    rows: int
    columns: int
    X: str
    y: str
    sample_weight: str | None = None
    """None where every row weighs the same 1."""

    def differences(self, other: DataDigest) -> list[str]:
        """What of `other` is not what it is here."""
        if (self.rows, self.columns) != (other.rows, other.columns):
            return [
                f"the data has {other.rows:,} rows and {other.columns:,} columns, "
                f"and the model was fitted to {self.rows:,} rows and {self.columns:,} columns"
            ]
        ours, theirs = ((one.X, one.y, one.sample_weight) for one in (self, other))
        parts = zip(DIGESTED, ours, theirs, strict=True)
        return [f"{name} are not those of the fit" for name, own, other_one in parts if own != other_one]


def digest(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> DataDigest:
    """The digest of rows (a matrix or Rows), labels or targets, and sample weights; all weights 1 count as none."""
    rows = as_rows(X)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights is not None and bool((weights == 1.0).all()):
        weights = None
    return DataDigest(
        rows.count, rows.dimension, _of_rows(rows), _of_labels(y), None if weights is None else _of_labels(weights)
    )


def _of_rows(rows: Rows) -> str:
    width = np.dtype("<u4" if rows.dimension <= 1 << 32 else "<u8")
    counts, full, columns, values = (hashlib.sha256() for _ in range(4))
    for _, block in rows.blocks():
        if rows.is_sparse:
            # A stored zero is a zero.
            stored = block.copy() if (block.data == 0.0).any() else block
            if stored is not block:
                stored.eliminate_zeros()
            filled = np.diff(stored.indptr)
        else:
            stored, filled = block, np.count_nonzero(block, axis=1)
        dense = 2 * filled > rows.dimension
        counts.update(_whole(filled, np.dtype("<u8")))
        if dense.any():
            dense_rows = stored if dense.all() else stored[dense]
            dense_rows = dense_rows.toarray() if rows.is_sparse else dense_rows
            full.update(_little(dense_rows + 0.0))  # −0 and 0 are the same number
        if not dense.all():
            rest = stored[~dense] if dense.any() else stored
            if rows.is_sparse:
                columns.update(_whole(rest.indices, width))
                values.update(_little(rest.data))
            else:
                place = np.nonzero(rest)
                columns.update(_whole(place[1], width))
                values.update(_little(rest[place]))
    together = hashlib.sha256(f"dualgap rows {rows.count} {rows.dimension}".encode())
    for part in (counts, full, columns, values):
        together.update(part.digest())
    return together.hexdigest()


def _of_labels(y: ArrayLike) -> str:
    given = np.asarray(y)
    columns = given.shape[1] if given.ndim == 2 else 1
    labels = given.ravel()
    if labels.dtype == object:
        # A frame's column may hold Python objects; NumPy tells numbers from text once it sees them as a list.
        labels = np.asarray(labels.tolist())
    numbers = labels.dtype.kind in "biuf"
    found = hashlib.sha256(f"dualgap labels {labels.size} {columns} {'numbers' if numbers else 'text'}".encode())
    for begin in range(0, labels.size, LABELS_AT_A_TIME):
        some = labels[begin : begin + LABELS_AT_A_TIME]
        if numbers:
            found.update(_little(some.astype(np.float64) + 0.0))
        else:
            # Lengths come first, so that no two lists of words run together to the same text.
            for word in map(str, some.tolist()):
                found.update(f"{len(word)} {word}".encode())
    return found.hexdigest()


def _whole(values: NDArray[Any], kind: np.dtype[Any]) -> Any:
    """Whole numbers as contiguous little-endian ones of a kind."""
    return np.ascontiguousarray(values, dtype=kind)


def _little(values: NDArray[Any]) -> Any:
    """The values as contiguous little-endian float64."""
    return np.ascontiguousarray(values, dtype="<f8")
