"""Tables with columns of text and missing cells: csv files, parquet files and data frames as sheets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.data.sheet import Sheet, as_cell
from dualgap.datasets import cells, parquet, tables
from dualgap.datasets.cells import Kinds
from dualgap.datasets.layout import Layout, Opener, TextOptions, column_named, first_row, layout_of
from dualgap.datasets.text import opened


@dataclass(frozen=True)
class Wanted:
    """Which columns may be what: the choice of whoever fits a model to them."""

    onehot: bool = False
    """Whether columns of text are categories."""
    category: tuple[str, ...] = ()
    """Columns that are categories whatever they hold, by name or position."""
    impute: bool = False
    """Whether numbers may be missing."""


def read_csv(
    path: Path, target: str | int | None, options: TextOptions, wanted: Wanted
) -> tuple[Sheet, np.ndarray[Any, Any], str]:
    """The columns of a csv file, its target, and what that is called."""

    def opener() -> Any:
        return opened(path, options.encoding)

    layout = layout_of(opener, path.name, target, options)
    kinds, layout = tables.scanned(opener, path.name, layout)
    forced = {column_named(path.name, layout.names, layout.header, name) for name in wanted.category}
    if layout.target in forced:
        raise ValueError(f"column {layout.names[layout.target]} is the target, whose labels are categories already")
    features = {layout.names[column]: kinds[column] for column in layout.features if column not in forced}
    text = forced | {
        column
        for column in layout.features
        if layout.names[column] in categorical(features, layout.decimal or ".", wanted)
    }
    tables.refuse(
        path.name,
        layout,
        {column: kinds[column] for column in layout.features if column not in text},
        may_be_missing=wanted.impute,
    )
    if not kinds[layout.target]:
        raise ValueError(f"{path.name} has a header and no rows")
    labels = tables.labels_of(opener, path.name, layout, kinds)
    return _sheet(opener, path.name, layout, text), labels, layout.target_text


def categorical(columns: dict[str, Kinds], decimal: str, wanted: Wanted) -> set[str]:
    """The columns of text, where they may be categories; dates, and numbers with a few words among them, are none."""
    if not wanted.onehot:
        return set()
    return {
        name
        for name, kinds in columns.items()
        if not cells.is_numeric(kinds, decimal)
        and not cells.is_date(kinds)
        and not cells.is_mostly_numbers(kinds, decimal)
    }


def _sheet(opener: Opener, name: str, layout: Layout, text: Collection[int]) -> Sheet:
    columns = tables.columns_of(opener, name, layout, layout.features, text)
    names = tuple(layout.names[column] for column in layout.features)
    return Sheet(name, names, tuple(columns), layout.header)


def read_parquet(
    path: Path, target: str | int | None, drop: tuple[str, ...], wanted: Wanted
) -> tuple[Sheet, np.ndarray[Any, Any], str]:
    """The columns of a parquet file, its target, and what that is called."""
    names = parquet.column_names(path)
    features, chosen = parquet.chosen(path.name, names, target, drop)
    forced = {names[column_named(path.name, names, True, name)] for name in wanted.category}
    found = dict(zip(features, parquet.columns(path, features), strict=True))
    kinds = {name: cells.kinds_of(values.tolist()) for name, values in found.items() if values.dtype == object}
    text = categorical({name: one for name, one in kinds.items() if name not in forced}, ".", wanted) | forced
    gaps = {name: _gaps(values) for name, values in found.items() if values.dtype != object}
    cells.refuse_columns(
        path.name,
        {name: one for name, one in (kinds | gaps).items() if name not in text},
        ".",
        "row",
        may_be_missing=wanted.impute,
    )
    columns = [as_text(found[name]) if name in text else as_numbers(found[name]) for name in features]
    return Sheet(path.name, tuple(features), tuple(columns)), parquet.labels(path, chosen), chosen


def _gaps(values: np.ndarray[Any, Any]) -> Kinds:
    rows = np.flatnonzero(np.isnan(values))
    return {cells.GAP: cells.Seen(rows.size, int(rows[0]) + 1, "")} if rows.size else {}


def as_text(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers as they are typed, text without the spellings of a missing cell."""
    if values.dtype != object:
        values = np.array([_typed(value) for value in values.tolist()], dtype=object)
    return np.array([as_cell(value) for value in values.tolist()], dtype=object)


def _typed(value: float) -> str:
    return "" if value != value else str(int(value)) if float(value).is_integer() else str(value)


def as_numbers(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Text that was found to be numbers, as numbers."""
    return np.array([cells.number_of(cell, ".") for cell in values.tolist()]) if values.dtype == object else values


def as_sheet(name: str, names: Sequence[str], columns: Sequence[np.ndarray[Any, Any]]) -> Sheet:
    """Named columns as a sheet."""
    return Sheet(name, tuple(names), tuple(columns))


def frame_sheet(frame: Any) -> Sheet:
    """The columns of a data frame: numbers and truth values as float64, everything else as text."""
    names = tuple(str(name) for name in frame.columns)
    columns = [_frame_column(np.asarray(frame[name], dtype=object)) for name in frame.columns]
    return Sheet("X", names, tuple(columns))


def _frame_column(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = [None if is_missing(value) else value for value in values.tolist()]
    if all(value is None or isinstance(value, int | float | bool | np.number) for value in found):
        return np.array([np.nan if value is None else float(value) for value in found])
    return np.array(["" if value is None else str(value).strip() for value in found], dtype=object)


def is_missing(value: Any) -> bool:
    """None, NaN, and pandas' NA and NaT, which answer no comparison."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def matched_sheet(sheet: Sheet, categories: Collection[int]) -> Sheet:
    """The same columns as a preparation needs them: text in the places of `categories`, numbers in all others."""
    columns = []
    for place, (name, column) in enumerate(zip(sheet.names, sheet.columns, strict=True)):
        if place in categories:
            columns.append(as_text(column))
            continue
        if column.dtype == object:
            cells.refuse_columns(sheet.name, {name: cells.kinds_of(column.tolist())}, ".", "row", may_be_missing=True)
        columns.append(as_numbers(column))
    return Sheet(sheet.name, sheet.names, tuple(columns), sheet.has_names)


def read_csv_columns(
    path: Path, options: TextOptions, places: Callable[[list[str], bool], list[int]], categories: Collection[int]
) -> Sheet:
    """The columns of a csv file that `places` chooses of its names, as a preparation needs them; no target."""

    def opener() -> Any:
        return opened(path, options.encoding)

    delimiter, names, header = first_row(opener, path.name)
    order = places(names, header)
    layout = Layout(delimiter, names, header, order[:-1], order[-1], options.decimal)
    kinds, layout = tables.scanned(opener, path.name, layout)
    if not any(kinds.values()):
        raise ValueError(f"{path.name} has a header and no rows")
    text = {order[place] for place in categories}
    numeric = {column: kinds[column] for column in order if column not in text}
    tables.refuse(path.name, layout, numeric, may_be_missing=True)
    columns = tables.columns_of(opener, path.name, layout, order, text)
    return Sheet(path.name, tuple(names[column] for column in order), tuple(columns), header)
