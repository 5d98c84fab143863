"""Parquet files as blocks: batches of rows, columns of text or categories one-hot with the categories of all files.

Batches are decoded anew in every pass; the categories are found in a pass over their columns alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# A categorical column with more values is refused: it is a name or a number of a row.
MAX_CATEGORIES = 1_000_000
# More columns than this, some of them one-hot, make sparse rows.
DENSE_COLUMNS = 64
# Decoded text of a batch, and the arrays it becomes, take a few times the bytes of the rows.
DECODED_PARTS = 2


class Parquet:
    """Parquet files with the same columns: which of them are rows, labels and weights."""

    def __init__(
        self,
        paths: Sequence[str],
        target: str | None,
        weight: str | None,
        columns: Sequence[str] | None,
        block_bytes: int,
    ) -> None:
        try:
            import pyarrow.dataset
        except ImportError:
            raise ImportError("Parquet files need pyarrow, which is not installed; pip install 'dualgap[io]'") from None
        self.dataset = pyarrow.dataset.dataset(list(paths), format="parquet")
        self.target, self.weight = target, weight
        known = self.dataset.schema.names
        chosen = list(columns) if columns is not None else [name for name in known if name not in (target, weight)]
        for name in (*chosen, *(name for name in (target, weight) if name is not None)):
            if name not in known:
                raise ValueError(f"a column needs to be one of {', '.join(known)}, got {name!r}; check its name")
        if not chosen:
            raise ValueError("Parquet files need columns beside the target, got none; choose columns")
        self.columns = chosen
        self.categories = self._categories()
        widths = [len(self.categories.get(name, ())) or 1 for name in chosen]
        self.width = sum(widths)
        self.is_sparse = bool(self.categories) and self.width > DENSE_COLUMNS
        self.kind = np.float32 if all(self._is_float32(name) for name in chosen) else np.float64
        row_bytes = (len(chosen) * 12 if self.is_sparse else self.width * np.dtype(self.kind).itemsize) * DECODED_PARTS
        self.batch_rows = max(block_bytes // row_bytes, 1)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of the rows: a category's is that of its column and its value."""
        names: list[str] = []
        for name in self.columns:
            values = self.categories.get(name)
            names += [name] if values is None else [f"{name}={value}" for value in values]
        return names

    def readers(self) -> Iterator[tuple[Any, Any, Any]]:
        """The blocks in order, read anew."""
        return map(self._block, self._batches(self._wanted))

    def parts(self) -> list[Callable[[], tuple[Any, Any, Any]]]:
        """A function for each group of rows of each file, which reads it as a block."""
        return [
            partial(self._read, group)
            for fragment in self.dataset.get_fragments()
            for group in fragment.split_by_row_group()
        ]

    def _read(self, fragment: Any) -> tuple[Any, Any, Any]:
        batches = fragment.to_table(columns=self._wanted).combine_chunks().to_batches()
        return self._block(batches[0])

    @property
    def _wanted(self) -> list[str]:
        extra = [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys([*self.columns, *extra]))

    def _block(self, batch: Any) -> tuple[Any, Any, Any]:
        labels = None if self.target is None else _plain(batch, self.target)
        weights = None if self.weight is None else _plain(batch, self.weight)
        return self._rows(batch), labels, weights

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        rows = getattr(self, "batch_rows", 1 << 16)
        scanner = self.dataset.scanner(
            columns=list(dict.fromkeys(columns)),
            batch_size=rows,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
        )
        return (batch for batch in scanner.to_batches() if batch.num_rows)

    def _is_category(self, name: str) -> bool:
        import pyarrow.types as types

        kind = self.dataset.schema.field(name).type
        return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind))

    def _is_float32(self, name: str) -> bool:
        if self._is_category(name):
            return True
        kind = self.dataset.schema.field(name).type.to_pandas_dtype()
        return bool(np.can_cast(kind, np.float32, "safe"))

    def _categories(self) -> dict[str, NDArray[Any]]:
        """The values of each column of text or categories, in order."""
        import pyarrow.compute as compute

        names = [name for name in self.columns if self._is_category(name)]
        found: dict[str, set[Any]] = {name: set() for name in names}
        for batch in self._batches(names) if names else ():
            for name in names:
                found[name].update(compute.unique(_decoded(batch, name)).to_pylist())
                if len(found[name]) > MAX_CATEGORIES:
                    raise ValueError(
                        f"column {name!r} needs at most {MAX_CATEGORIES:,} categories, got more; leave it out of columns"
                    )
        # A missing value is no category: its row has zeros in all columns of the categories.
        return {
            name: np.array(sorted(value for value in values if value is not None)) for name, values in found.items()
        }

    def _rows(self, batch: Any) -> Any:
        if self.is_sparse:
            return sp.hstack([self._sparse_column(batch, name) for name in self.columns], format="csr")
        out = np.zeros((batch.num_rows, self.width), self.kind)
        begin = 0
        for name in self.columns:
            values = self.categories.get(name)
            if values is None:
                out[:, begin] = _plain(batch, name)
                begin += 1
            else:
                rows, places = _places(batch, name, values)
                out[rows, begin + places] = 1.0
                begin += values.size
        return out

    def _sparse_column(self, batch: Any, name: str) -> Any:
        values = self.categories.get(name)
        if values is None:
            return sp.csr_matrix(np.asarray(_plain(batch, name), self.kind)[:, None])
        rows, places = _places(batch, name, values)
        return sp.csr_matrix((np.ones(rows.size, self.kind), (rows, places)), (batch.num_rows, values.size))


def _decoded(batch: Any, name: str) -> Any:
    """A column with its values in place of numbers of a dictionary."""
    column = batch.column(name)
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _plain(batch: Any, name: str) -> NDArray[Any]:
    """A column as numbers, NaN where a value is missing, or as text."""
    column = _decoded(batch, name)
    values = np.asarray(column.to_numpy(zero_copy_only=False))
    return values.astype(str) if values.dtype == object and not column.null_count else values


def _places(batch: Any, name: str, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows that have a category, and its place among all of them."""
    column = _decoded(batch, name)
    rows = np.flatnonzero(np.asarray(column.is_valid().to_numpy(zero_copy_only=False)))
    return rows, np.searchsorted(values, np.asarray(column.drop_null().to_pylist(), dtype=values.dtype))
