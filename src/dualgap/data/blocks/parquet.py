"""Parquet files as blocks: batches of rows, columns of text or categories one-hot with the categories of all files.

Batches are decoded anew in every pass; the categories are found in a pass over their columns alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.damage import refusing_damage
from dualgap.data.preparation import Preparation
from dualgap.data.sheet import as_cell
from dualgap.data.unseen import Unseen, some
from dualgap.lazy import lazy

# pandas keeps the numbers of the rows under such a name; they are no measurement.
INDEX = "__index_level_"
# A categorical column with more values is refused: it is a name or a number of a row.
MAX_CATEGORIES = 1_000_000
# More columns than this, some of them one-hot, make sparse rows.
DENSE_COLUMNS = 64
# A batch and the matrix it becomes are held beside two blocks, so that batches are smaller than blocks by this factor. A fit on four
# times its memory_limit peaks at 1.1 times the limit with a factor of 4, at 1.5 times with 2.
DECODED_PARTS = 4
# Bytes of a column of a row group that are read at a time; read whole, a column takes memory by the size of the row group.
READ_BYTES = 1 << 16
# Rows of a part in the pass that finds the categories.
CATEGORY_ROWS = 1 << 16


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
        self.named = repr(paths[0]) if len(paths) == 1 else f"{paths[0]!r}, or another file of the {len(paths)},"
        with refusing_damage(self.named):
            self.dataset = pyarrow.dataset.dataset(list(paths), format="parquet")
        self.target, self.weight = target, weight
        known = [name for name in self.dataset.schema.names if not name.startswith(INDEX)]
        chosen = list(columns) if columns is not None else [name for name in known if name not in (target, weight)]
        for name in (*chosen, *(name for name in (target, weight) if name is not None)):
            if name not in known:
                raise ValueError(f"a column needs to be one of {', '.join(known)}, got {name!r}; check its name")
        if not chosen:
            raise ValueError("Parquet files need columns beside the target, got none; choose columns")
        self.columns = chosen
        self.takes_all = columns is None
        self.block_bytes = block_bytes
        self.unseen: list[Unseen] = []
        """Cells that are none of the categories, in the blocks that were read."""

    def aligned(self, names: Sequence[str]) -> Self:
        """The same files with the columns and categories that `names` are of, in that order."""
        found: dict[str, list[str]] = {}
        missing = []
        for name in names:
            column, category = self._source_of(name)
            if column is None:
                missing.append(repr(name))
            else:
                found.setdefault(column, []).extend([] if category is None else [category])
        if missing:
            raise ValueError(
                f"the model needs column {some(missing)}, which the files lack; add it, or fit again without it"
            )
        self.refuse_lacking(list(found))
        made = copy(self)
        for cached in ("kind", "_where"):
            made.__dict__.pop(cached, None)
        made.columns, made.unseen = list(found), []
        made.__dict__["categories"] = {name: np.array(values) for name, values in found.items() if values}
        if made.column_names != list(names):
            raise ValueError(
                "the model needs the categories of one column side by side, got others between them; fit on Parquet files"
            )
        return made

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Whether each column of the rows stands for a category."""
        counts = [len(self.categories.get(name, (name,))) for name in self.columns]
        return np.repeat([name in self.categories for name in self.columns], counts)

    @property
    def preparation(self) -> Preparation | None:
        """How these columns become those of the rows; None where all are numbers."""
        if not self.categories:
            return None
        count = len(self.columns)
        places = {self.columns.index(name): tuple(values.tolist()) for name, values in self.categories.items()}
        return Preparation(
            tuple(self.columns),
            True,
            np.full(count, np.nan),
            np.zeros(count),
            np.ones(count),
            dict(sorted(places.items())),
        )

    @property
    def is_laid_out(self) -> bool:
        """Whether the categories are known without a pass over the files."""
        return "categories" in self.__dict__

    @property
    def width(self) -> int:
        """How many columns the rows have."""
        return sum(len(self.categories.get(name, (name,))) for name in self.columns)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return bool(self.categories) and self.width > DENSE_COLUMNS

    @lazy
    def kind(self) -> type[np.float32] | type[np.float64]:
        """float32 where it is exact for all columns."""
        return np.float32 if all(self._is_float32(name) for name in self.columns) else np.float64

    @property
    def batch_rows(self) -> int:
        """Rows of a block at most."""
        width = len(self.columns) * 12 if self.is_sparse else self.width * np.dtype(self.kind).itemsize
        return max(self.block_bytes // (width * DECODED_PARTS), 1)

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
        return map(self._block, self.batches(self._columns_read, self.batch_rows))

    def parts(self) -> list[Callable[[], tuple[Any, Any, Any]]]:
        """A function for each group of rows of each file, which reads it as a block."""
        return [
            partial(self._read, group)
            for fragment in self.dataset.get_fragments()
            for group in fragment.split_by_row_group()
            if group.row_groups[0].num_rows
        ]

    def _read(self, fragment: Any) -> tuple[Any, Any, Any]:
        with refusing_damage(self.named):
            batches = fragment.to_table(columns=self._columns_read).combine_chunks().to_batches()
        return self._block(batches[0])

    @property
    def _columns_read(self) -> list[str]:
        extra = [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys([*self.columns, *extra]))

    def _block(self, batch: Any) -> tuple[Any, Any, Any]:
        labels = None if self.target is None else self._plain(batch, self.target)
        weights = None if self.weight is None else self._plain(batch, self.weight)
        return self._rows(batch), labels, weights

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """The named columns in parts of at most `rows` rows, file by file; a scanner of the data set reads whole row groups."""
        from pyarrow.parquet import ParquetFile

        wanted = list(dict.fromkeys(columns))
        for path in self.dataset.files:
            with refusing_damage(repr(path)), ParquetFile(path, pre_buffer=False, buffer_size=READ_BYTES) as file:
                for batch in file.iter_batches(rows, columns=wanted, use_threads=False):
                    if batch.num_rows:
                        yield batch

    def _is_category(self, name: str) -> bool:
        import pyarrow.types as types

        kind = self.dataset.schema.field(name).type
        return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind))

    def _is_float32(self, name: str) -> bool:
        if self._is_category(name):
            return True
        kind = self.dataset.schema.field(name).type.to_pandas_dtype()
        return bool(np.can_cast(kind, np.float32, "safe"))

    @lazy
    def categories(self) -> dict[str, NDArray[Any]]:
        """The values of each column of text or categories, in order, found in a pass over these columns."""
        import pyarrow.compute as compute

        self.refuse_lacking(self._columns_read, self.takes_all)
        self._refuse_other_types()
        names = [name for name in self.columns if self._is_category(name)]
        found: dict[str, set[str]] = {name: set() for name in names}
        for batch in self.batches(names, CATEGORY_ROWS) if names else ():
            for name in names:
                found[name].update(map(as_cell, compute.unique(_decoded(batch, name)).to_pylist()))
                if len(found[name]) > MAX_CATEGORIES:
                    raise ValueError(
                        f"column {name!r} needs at most {MAX_CATEGORIES:,} categories, got more; leave it out of columns"
                    )
        for name, values in found.items():
            if values <= {""}:
                raise ValueError(f"column {name!r} of {self._name} has no value in any row; leave it out")
        # A missing value is no category: its row has zeros in all columns of the categories.
        return {name: np.array(sorted(values - {""})) for name, values in found.items()}

    def _source_of(self, name: str) -> tuple[str | None, str | None]:
        """The column that a column of the rows is made of, and the category that it stands for; None where there is none."""
        if name in self.columns and not self._is_category(name):
            return name, None
        holders = [column for column in self.columns if self._is_category(column) and name.startswith(f"{column}=")]
        if not holders:
            return None, None
        column = max(holders, key=len)
        return column, name.removeprefix(f"{column}=")

    def refuse_lacking(self, columns: Sequence[str], takes_all: bool = False) -> None:
        """A refusal of a file without one of the columns, and, where all are taken, of one with another column."""
        for fragment in self.dataset.get_fragments():
            names = [name for name in fragment.physical_schema.names if not name.startswith(INDEX)]
            missing = [repr(name) for name in columns if name not in names]
            others = [repr(name) for name in names if name not in columns] if takes_all else []
            if missing or others:
                what = f"lacks {some(missing)}" if missing else f"alone has {some(others)}"
                raise ValueError(
                    f"Parquet files need the same columns, and {Path(fragment.path).name} {what}; mend the file, or choose columns"
                )

    def _refuse_other_types(self) -> None:
        """A refusal of columns that are no numbers, truth values, text or categories, such as dates and lists."""
        import pyarrow.types as types

        fits = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        for name in self.columns:
            kind = self.dataset.schema.field(name).type
            if not (self._is_category(name) or any(fit(kind) for fit in fits)):
                advice = "leave the column out"
                if types.is_temporal(kind):
                    advice = f"write days since a fixed day, or the month and the weekday, in their place, or {advice}"
                raise ValueError(
                    f"{self._name} has values of type {kind} in column {name!r}, and a linear model needs numbers; {advice}"
                )

    @property
    def _name(self) -> str:
        """What a refusal calls the files."""
        paths = [Path(path).name for path in self.dataset.files]
        return paths[0] if len(paths) == 1 else f"{paths[0]} … {paths[-1]}"

    def _plain(self, batch: Any, name: str) -> NDArray[Any]:
        """A column as numbers or as text; a missing value is refused with the name of its file."""
        column = _decoded(batch, name)
        if column.null_count:
            place = next(
                (
                    Path(fragment.path).name
                    for fragment in self.dataset.get_fragments()
                    if fragment.count_rows(filter=_field(name).is_null())
                ),
                self._name,
            )
            raise ValueError(f"column {name!r} of {place} has missing values; fill them, or leave these rows out")
        values = np.asarray(column.to_numpy(zero_copy_only=False))
        return values.astype(str) if values.dtype == object and name in (self.target, self.weight) else values

    def _rows(self, batch: Any) -> Any:
        if self.is_sparse:
            return sp.hstack([self._sparse_column(batch, name) for name in self.columns], format="csr")
        out = np.zeros((batch.num_rows, self.width), self.kind)
        begin = 0
        for name in self.columns:
            values = self.categories.get(name)
            if values is None:
                out[:, begin] = self._plain(batch, name)
                begin += 1
            else:
                rows, places = self._places(batch, name)
                out[rows, begin + places] = 1.0
                begin += values.size
        return out

    def _sparse_column(self, batch: Any, name: str) -> Any:
        values = self.categories.get(name)
        if values is None:
            return sp.csr_matrix(np.asarray(self._plain(batch, name), self.kind)[:, None])
        rows, places = self._places(batch, name)
        return sp.csr_matrix((np.ones(rows.size, self.kind), (rows, places)), (batch.num_rows, values.size))

    def _places(self, batch: Any, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows that have one of the categories, and its place among them; other values are kept in mind."""
        column = batch.column(name)
        if not hasattr(column, "dictionary"):
            column = column.dictionary_encode()
        cells = [*map(as_cell, column.dictionary.to_pylist()), ""]
        numbers = np.asarray(column.indices.cast("int64").fill_null(len(cells) - 1).to_numpy(zero_copy_only=False))
        where = self._where[name]
        places = np.array([where.get(cell, -1) for cell in cells], dtype=np.intp)[numbers]
        is_unseen = np.array([bool(cell) and cell not in where for cell in cells])[numbers]
        if is_unseen.any():
            values = frozenset(cells[k] for k in np.unique(numbers[is_unseen]).tolist())
            self.unseen.append(Unseen(name, values, int(is_unseen.sum())))
        rows = np.flatnonzero(places >= 0)
        return rows, places[rows]

    @lazy
    def _where(self) -> dict[str, dict[str, int]]:
        """The place of each category."""
        return {name: {value: k for k, value in enumerate(values.tolist())} for name, values in self.categories.items()}


def _decoded(batch: Any, name: str) -> Any:
    """A column with its values in place of numbers of a dictionary."""
    column = batch.column(name)
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _field(name: str) -> Any:
    import pyarrow.compute as compute

    return compute.field(name)
