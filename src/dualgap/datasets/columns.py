"""Rows for a model that exists already: columns of a frame or file matched to those of the fit, by name where both have names.

A target column is welcome and not needed, and so are columns the fit did not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets import readers, tables
from dualgap.datasets.catalog import load, source_of
from dualgap.datasets.layout import AS_IT_IS, Layout, TextOptions, column_named, first_row
from dualgap.datasets.text import checked_encoding, opened

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


def read_rows(
    text: str,
    fitted: Sequence[str] | None,
    width: int,
    target: str | None = None,
    options: TextOptions = AS_IT_IS,
) -> Any:
    """The rows that `text` stands for (a name, a spec or a file), as a model of `width` columns needs them.

    Columns without names go by place: all but the target where there is one more of them than the model has.
    """
    checked_encoding(options.encoding)
    path = Path(text)
    is_file = source_of(text) is None and "\0" not in text and path.is_file()
    if not is_file:
        return _rows_of(text, "", path, fitted, width, target, options)
    with readers.refusing_damage(path, options.encoding):
        return _rows_of(text, readers.kind_of(path), path, fitted, width, target, options)


def _rows_of(
    text: str,
    kind: str,
    path: Path,
    fitted: Sequence[str] | None,
    width: int,
    target: str | None,
    options: TextOptions,
) -> Any:
    if kind in readers.TABLES:
        return _table(path, fitted, width, target, options)
    if kind == ".parquet":
        return _parquet(path, fitted, width, target, options)
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


def _parquet(path: Path, fitted: Sequence[str] | None, width: int, target: str | None, options: TextOptions) -> Any:
    from dualgap.datasets import parquet

    names = parquet.column_names(path)
    order = None if fitted is None else positions(names, fitted)
    if order is None:
        order = _by_place(path.name, names, True, width, target, options.drop)
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


def _table(path: Path, fitted: Sequence[str] | None, width: int, target: str | None, options: TextOptions) -> Any:
    def opener() -> Any:
        return opened(path, options.encoding)

    delimiter, names, header = first_row(opener, path.name)
    order = wanted_columns(path.name, names, header, fitted, width, target, options.drop)
    # The last fitted column stands in for the target, which a table has and these rows do not need.
    layout = Layout(delimiter, names, header, order[:-1], order[-1], options.decimal)
    X = tables.fast_numbers(opener, layout, order)
    if X is None:
        kinds, layout = tables.scanned(opener, path.name, layout)
        tables.refuse(path.name, layout, {column: kinds[column] for column in sorted(order)})
        X = np.column_stack(tables.columns_of(opener, path.name, layout, order))
    if X.shape[0] == 0:
        raise ValueError(f"{path.name} has a header and no rows")
    return np.ascontiguousarray(X)


def wanted_columns(
    name: str,
    names: list[str],
    header: bool,
    fitted: Sequence[str] | None,
    width: int,
    target: str | None,
    drop: Sequence[str],
) -> list[int]:
    """The places of the fitted columns: by name where both have names, else in order without the dropped and the target."""
    order = positions(names, fitted) if header and fitted is not None else None
    return _by_place(name, names, header, width, target, drop) if order is None else order


def _by_place(
    name: str, names: list[str], header: bool, width: int, target: str | None, drop: Sequence[str] = ()
) -> list[int]:
    """All columns, or all but those that were dropped and the target; pandas' unnamed first one is no measurement."""
    order = list(range(1 if header and names[0] == "" and len(names) > width else 0, len(names)))
    if len(order) > width and drop:
        dropped = {column_named(name, names, header, column) for column in drop}
        order = [column for column in order if column not in dropped]
    if len(order) == width + 1:
        order.remove(order[-1] if target is None else column_named(name, names, header, target))
    if len(order) != width:
        raise ValueError(f"the model needs {width} columns as in training, got {len(order)} in {name}; select the same")
    return order
