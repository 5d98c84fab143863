"""Rows for a model that exists already: columns of a frame or file matched to those of the fit, by name where both have names.

A target column is welcome and not needed, and so are columns the fit did not have.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets import readers, tables
from dualgap.datasets.catalog import load, source_of
from dualgap.datasets.text import opened

SHOWN = 4


def matched(X: Any, fitted: Sequence[str] | None) -> Any:
    """A frame's columns in the order of the fit; anything without names of columns is left as it is."""
    if fitted is None or not hasattr(X, "columns"):
        return X
    order = positions([str(name) for name in X.columns], fitted)
    if order is None:
        return X
    names = list(X.columns)
    return X[[names[place] for place in order]]


def positions(names: Sequence[str], fitted: Sequence[str]) -> list[int] | None:
    """Where the fitted columns stand among `names`; None where fitted names that stand twice can only go by place."""
    if len(set(fitted)) < len(fitted):
        return None
    times = Counter(names)
    missing = [name for name in fitted if name not in times]
    if missing:
        shown = ", ".join(map(repr, missing[:SHOWN])) + (f" and {len(missing) - SHOWN} more" if missing[SHOWN:] else "")
        raise ValueError(f"the model needs column {shown}, which the data lacks; add it, or fit again without it")
    doubled = [name for name in fitted if times[name] > 1]
    if doubled:
        raise ValueError(f"the data has column {doubled[0]!r} twice, and the model needs one; drop the other")
    where = {name: place for place, name in enumerate(names)}
    return [where[name] for name in fitted]


def read_rows(text: str, fitted: Sequence[str] | None, width: int, target: str | None = None) -> Any:
    """The rows that `text` stands for (a name, a spec or a file), as a model of `width` columns needs them.

    Columns without names go by place: all but the target where there is one more of them than the model has.
    """
    path = Path(text)
    is_file = source_of(text) is None and "\0" not in text and path.is_file()
    if not is_file:
        return _rows_of(text, "", path, fitted, width, target)
    with readers.refusing_damage(path):
        return _rows_of(text, readers.kind_of(path), path, fitted, width, target)


def _rows_of(text: str, kind: str, path: Path, fitted: Sequence[str] | None, width: int, target: str | None) -> Any:
    if kind in readers.TABLES:
        return _table(path, fitted, width, target)
    if kind == ".parquet":
        return _parquet(path, fitted, width, target)
    if kind == ".npz":
        X, names = _archive(path)
    else:
        dataset = load(text)
        X, names = dataset.X, dataset.feature_names
    order = None if names is None or fitted is None else positions(names, fitted)
    if order is not None:
        return X[:, order]
    if kind in readers.SVMLIGHT and X.shape[1] < width:
        # Such text names only columns that are not zero, so the last ones may be missing.
        X.resize((X.shape[0], width))
    return X


def _parquet(path: Path, fitted: Sequence[str] | None, width: int, target: str | None) -> Any:
    from dualgap.datasets import parquet

    names = parquet.column_names(path)
    order = None if fitted is None else positions(names, fitted)
    if order is None:
        order = _by_place(path.name, names, True, width, target)
    return parquet.numbers(path, [names[place] for place in order])


def _archive(path: Path) -> tuple[Any, tuple[str, ...] | None]:
    """The rows of an npz archive, which may lack y, and the names of its columns."""
    parts = readers.read_npz(path)
    if "y" in parts or not {"X", "shape"} & parts.keys():
        dataset = readers.read(path)
        return dataset.X, dataset.feature_names
    X, _ = readers.part_of(path, parts | {"y": np.zeros(_count(path, parts))}, "")
    return X, readers.names_of(path, parts)


def _count(path: Path, parts: dict[str, Any]) -> int:
    """How many rows an archive without targets has."""
    rows = parts["X"] if "X" in parts else parts.get("indptr", np.empty(0))
    if rows.ndim < 1 or len(rows) < 1:
        raise ValueError(f"{str(path)!r} should hold n rows, and has none")
    return len(rows) if "X" in parts else len(rows) - 1


def _table(path: Path, fitted: Sequence[str] | None, width: int, target: str | None) -> Any:
    def opener() -> Any:
        return opened(path)

    with opener() as file:
        first = next((line for line in file if line.strip()), "")
    if not first:
        raise ValueError(f"{path.name} is empty")
    delimiter = max(tables.DELIMITERS, key=first.count)
    cells = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    header = tables.is_header(cells)
    names = cells if header else [str(place) for place in range(len(cells))]
    order = positions(names, fitted) if header and fitted is not None else None
    if order is None:
        order = _by_place(path.name, names, header, width, target)
    # The last fitted column stands in for the target, which a table has and these rows do not need.
    layout = tables.Layout(delimiter, names, header, order[:-1], order[-1])
    try:
        X = tables.numbers_of(opener, layout, order)
    except ValueError:
        tables.refuse(opener, path.name, layout, target_may_be_text=False)
        raise
    if X.shape[0] == 0:
        raise ValueError(f"{path.name} has a header and no rows")
    if not np.isfinite(X).all():
        tables.refuse(opener, path.name, layout, target_may_be_text=False)
    return np.ascontiguousarray(X)


def _by_place(name: str, names: list[str], header: bool, width: int, target: str | None) -> list[int]:
    """All columns, or all but the target; pandas' unnamed first column of row numbers is no measurement."""
    order = list(range(1 if header and names[0] == "" and len(names) > width else 0, len(names)))
    if len(order) == width + 1:
        order.remove(tables.target_column(name, names, header, target))
    if len(order) != width:
        raise ValueError(f"the model needs {width} columns as in training, got {len(order)} in {name}; select the same")
    return order
