"""Parquet files as numbers: the target column found, text columns and missing cells refused with advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets.tables import Table, some, target_column
from dualgap.memory import refuse_beyond_memory

# pandas keeps the numbers of the rows under such a name; they are no measurement.
INDEX = "__index_level_"


def read_parquet(path: Path, target: str | int | None) -> Table:
    """All columns but the target as float64; the target may be words."""
    names = column_names(path)
    if len(names) < 2:
        raise ValueError(f"{path.name} has {len(names)} column; at least one feature and a target are needed")
    chosen = target_column(path.name, names, True, target)
    features = [name for place, name in enumerate(names) if place != chosen]
    X = numbers(path, features)
    return Table(X, _labels(path, names[chosen]), tuple(features), names[chosen])


def column_names(path: Path) -> list[str]:
    """The columns of a file, those with the numbers of its rows left out."""
    parquet = _pyarrow_parquet()
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty")
    with _refusing_damage(path):
        schema = parquet.read_schema(path)
    return [name for name in schema.names if not name.startswith(INDEX)]


def numbers(path: Path, columns: Sequence[str]) -> np.ndarray[Any, Any]:
    """The named columns as a matrix; text, dates and missing cells are refused."""
    _refuse_too_large(path, len(columns))
    table = _table(path, columns)
    if table.num_rows == 0:
        raise ValueError(f"{path.name} has no rows")
    text = [name for name in columns if not _is_number(table.column(name).type)]
    if text:
        cell = next((str(value) for value in table.column(text[0]).to_pylist() if value is not None), "nothing")
        raise ValueError(
            f"{path.name} has text in column {some(text)} (for example {cell!r}); turn it into numbers first, for "
            "instance with pandas.get_dummies or scikit-learn's OneHotEncoder, or leave those columns out"
        )
    X = np.empty((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        # Missing cells become NaN here, as those that were written as NaN are.
        with _refusing_damage(path):
            X[:, place] = table.column(name).cast("float64").to_numpy()
    gaps = np.isnan(X)
    if gaps.any():
        missing = [name for place, name in enumerate(columns) if gaps[:, place].any()]
        raise ValueError(
            f"{path.name} has {int(gaps.sum())} missing cells, in column {some(missing)}, the first in row "
            f"{int(np.flatnonzero(gaps.any(axis=1))[0]) + 1}; fill them first, for instance with scikit-learn's "
            "SimpleImputer, or leave those rows or columns out"
        )
    return X


def _refuse_too_large(path: Path, columns: int) -> None:
    """A few bytes of a parquet file can stand for any number of equal rows, and its metadata says how many."""
    with _refusing_damage(path):
        rows = _pyarrow_parquet().read_metadata(path).num_rows
    if rows < 0:
        raise ValueError(f"{str(path)!r} is damaged or not parquet: it says that it has {rows} rows")
    # The table and the matrix made of it are held at the same time.
    refuse_beyond_memory(2 * 8 * rows * columns, f"{str(path)!r} with {rows:,} rows")


def _labels(path: Path, name: str) -> np.ndarray[Any, Any]:
    column = _table(path, [name]).column(name)
    if _is_number(column.type):
        return numbers(path, [name])[:, 0]
    words = column.to_pylist()
    if None in words:
        raise ValueError(f"{path.name} has {words.count(None)} missing cells, in column {name}; leave those rows out")
    return np.array([str(word) for word in words])


def _table(path: Path, columns: Sequence[str]) -> Any:
    with _refusing_damage(path):
        return _pyarrow_parquet().read_table(path, columns=list(columns))


@contextmanager
def _refusing_damage(path: Path) -> Iterator[None]:
    """One sentence for what pyarrow refuses to read."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, ValueError, OSError, KeyError, NotImplementedError, OverflowError) as error:
        raise ValueError(f"{str(path)!r} is damaged or not parquet: {_first_line(error)}") from None


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _pyarrow_parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ImportError("parquet files need pyarrow, which is not installed; pip install 'dualgap[io]'") from None
    return parquet
