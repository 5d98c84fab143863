"""Parquet files as numbers: the target column found, text columns and missing cells refused with advice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.data.blocks.parquet import INDEX
from dualgap.data.damage import refusing_damage
from dualgap.datasets import cells
from dualgap.datasets.layout import column_named
from dualgap.datasets.tables import Table
from dualgap.memory import refuse_beyond_memory


def read_parquet(path: Path, target: str | int | None, drop: Sequence[str] = ()) -> Table:
    """All columns but the target and the dropped ones as float64; the target may be words."""
    names = column_names(path)
    features, name = chosen(path.name, names, target, drop)
    return Table(numbers(path, features), labels(path, name), tuple(features), name)


def chosen(file: str, names: list[str], target: str | int | None, drop: Sequence[str]) -> tuple[list[str], str]:
    """The names of the features, and that of the target."""
    dropped = {column_named(file, names, True, column) for column in drop}
    left = [place for place in range(len(names)) if place not in dropped]
    if len(left) < 2:
        raise ValueError(f"{file} has {len(left)} column; at least one feature and a target are needed")
    found = left[-1] if target is None else column_named(file, names, True, target)
    if found in dropped:
        raise ValueError(f"column {names[found]} of {file} is the target and cannot be dropped; drop others")
    return [names[place] for place in left if place != found], names[found]


def column_names(path: Path) -> list[str]:
    """The columns of a file, those with the numbers of its rows left out."""
    parquet = _pyarrow_parquet()
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty")
    with refusing_damage(repr(str(path))):
        schema = parquet.read_schema(path)
    return [name for name in schema.names if not name.startswith(INDEX)]


def numbers(path: Path, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """The named columns as a matrix; text, dates and missing cells are refused."""
    return matrix_of(path.name, names, columns(path, names))


def matrix_of(file: str, names: Sequence[str], found: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Columns as `columns` gives them as a matrix; text, dates and missing cells are refused."""
    X = np.empty((len(found[0]), len(names)))
    for place, (name, values) in enumerate(zip(names, found, strict=True)):
        if values.dtype == object:
            cells.refuse_columns(file, {name: cells.kinds_of(values.tolist())}, ".", "row")
            values = np.array([cells.number_of(cell, ".") for cell in values.tolist()])
        X[:, place] = values
    gaps = np.isnan(X)
    if gaps.any():
        missing = {
            name: {cells.GAP: cells.Seen(int(column.sum()), int(np.flatnonzero(column)[0]) + 1, "")}
            for name, column in zip(names, gaps.T, strict=True)
            if column.any()
        }
        cells.refuse_columns(file, missing, ".", "row")
    return X


def columns(path: Path, names: Sequence[str]) -> list[np.ndarray[Any, Any]]:
    """The named columns: numbers and truth values as float64 with NaN for missing cells, others as text."""
    _refuse_too_large(path, len(names))
    table = _table(path, names)
    if table.num_rows == 0:
        raise ValueError(f"{path.name} has no rows")
    found = []
    for name in names:
        column = table.column(name)
        with refusing_damage(repr(str(path))):
            found.append(values_of(column))
    return found


def values_of(column: Any) -> np.ndarray[Any, Any]:
    """A column: numbers and truth values as float64 with NaN for missing cells, others as text."""
    if _is_number(column.type):
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False))
    values = ["" if value is None else str(value).strip() for value in column.to_pylist()]
    return np.array(values, dtype=object)


def _refuse_too_large(path: Path, columns: int) -> None:
    """A few bytes of a parquet file can stand for any number of equal rows, and its metadata says how many."""
    with refusing_damage(repr(str(path))):
        rows = _pyarrow_parquet().read_metadata(path).num_rows
    if rows < 0:
        raise ValueError(f"{str(path)!r} is damaged or not parquet: it says that it has {rows} rows")
    # The table and the matrix made of it are held at the same time.
    refuse_beyond_memory(2 * 8 * rows * columns, f"{str(path)!r} with {rows:,} rows")


def labels(path: Path, name: str) -> np.ndarray[Any, Any]:
    """The target column: numbers, or words."""
    column = _table(path, [name]).column(name)
    found = labels_of(column)
    if found is None:
        gone = [row for row, value in enumerate(column.to_pylist(), 1) if value is None or value != value]
        cells.refuse_missing_labels(path.name, name, cells.Seen(len(gone), gone[0], ""), "row")
    assert found is not None
    return found


def labels_of(column: Any) -> np.ndarray[Any, Any] | None:
    """A target column as numbers or words; None where some are missing."""
    if _is_number(column.type):
        found = values_of(column)
        return None if np.isnan(found).any() else found
    words = column.to_pylist()
    return None if None in words else np.array([str(word) for word in words])


def _table(path: Path, columns: Sequence[str]) -> Any:
    with refusing_damage(repr(str(path))):
        return _pyarrow_parquet().read_table(path, columns=list(columns))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks)


def _pyarrow_parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ImportError("parquet files need pyarrow, which is not installed; pip install 'dualgap[io]'") from None
    return parquet
