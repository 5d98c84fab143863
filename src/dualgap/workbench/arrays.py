"""Arrays in memory as a data set of the table, for as long as a race on them runs."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualgap import spec
from dualgap.datasets import DATASETS, Dataset

# A list, because two threads may race on equal arrays, and the first to finish must not take the other's away.
_HELD: dict[str, list[Dataset]] = {}
_LOCK = threading.Lock()
ROWS_AT_A_TIME = 4096  # hashed together, so that X is never copied in full


@dataclass(frozen=True)
class Arrays:
    """Rows and targets that a caller holds; the hash of their values tells them from any others."""

    hash: str = ""
    name: ClassVar[str] = "arrays"
    summary: ClassVar[str] = "arrays in memory"
    source: ClassVar[str] = "memory"
    loss: ClassVar[str] = "hinge"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.load().shape

    def load(self) -> Dataset:
        """The arrays themselves, while they are held."""
        if not _HELD.get(self.hash):
            raise ValueError("these arrays were in the memory of another program; pass them to dg.race again")
        return _HELD[self.hash][-1]


@contextmanager
def held(X: Any, y: Any, name: str) -> Iterator[str]:
    """The spec under which X and y can be loaded inside the `with` block."""
    X, y, columns = _checked(X, y)
    # A letter in front keeps a hash of digits from being read as a number.
    entry = Arrays("x" + _digest(X, y))
    text = spec.text_of(entry)
    dataset = Dataset(name, X, y, feature_names=columns, description="arrays in memory", source=text)
    with _LOCK:
        _HELD.setdefault(entry.hash, []).append(dataset)
        DATASETS[Arrays.name] = Arrays
    try:
        yield text
    finally:
        with _LOCK:
            _HELD[entry.hash] = [other for other in _HELD[entry.hash] if other is not dataset]
            if not any(_HELD.values()):
                DATASETS.pop(Arrays.name, None)


def _checked(X: Any, y: Any) -> tuple[Any, np.ndarray[Any, Any], tuple[str, ...] | None]:
    """Rows as an array or CSR, targets as an array, and the names of the columns where a frame has them."""
    columns = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    y = np.asarray(y)
    if X.dtype.kind not in "biuf":
        try:
            X = X.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise ValueError(f"the rows of a race are numbers, and these are not: {error}") from None
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != y.shape[0]:
        raise ValueError(f"a race needs n rows X and n targets y, got X of shape {X.shape} and y of shape {y.shape}")
    # A frame's column may hold Python objects; NumPy tells numbers from text once it sees them as a list.
    return X, np.asarray(y.tolist()) if y.dtype == object else y, columns


def _digest(X: Any, y: np.ndarray[Any, Any]) -> str:
    digest = hashlib.sha256(repr((X.shape, X.dtype.str, y.dtype.str)).encode())
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    for part in (*parts, y):
        for start in range(0, len(part), ROWS_AT_A_TIME):
            digest.update(part[start : start + ROWS_AT_A_TIME].tobytes())
    return digest.hexdigest()[:10]
