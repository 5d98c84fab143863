"""Columns that stand beside those a model needs: a target to score predictions against, and columns to copy beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets import cells, readers, tables
from dualgap.datasets.catalog import load, source_of
from dualgap.datasets.dataset import signs_of
from dualgap.datasets.layout import Layout, TextOptions, column_named, first_row, records
from dualgap.datasets.text import opened


def target_of(
    text: str,
    target: str | None,
    fitted: Sequence[str] | None,
    width: int,
    options: TextOptions,
    positive: Sequence[str],
) -> np.ndarray[Any, Any] | None:
    """The labels or targets of the data that `text` names; None where it has none, or some are missing.

    `target` is the name or position of the column in the data of the fit, which had the columns `fitted`, or `width` of them.
    """
    path = Path(text)
    kind = _kind(text)
    y: np.ndarray[Any, Any] | None
    if kind in readers.TABLES:
        with readers.refusing_damage(path, options.encoding):
            y = _of_csv(path, target, fitted, width, options)
    elif kind == ".parquet":
        y = _of_parquet(path, target, fitted)
    elif kind == ".npz":
        y = readers.read_npz(path).get("y")
    else:
        y = load(text).y
    return y if y is None or not positive else signs_of(y, positive)


def _kind(text: str) -> str:
    path = Path(text)
    is_file = source_of(text) is None and "\0" not in text and path.is_file()
    return readers.kind_of(path) if is_file else ""


def _of_csv(
    path: Path, target: str | None, fitted: Sequence[str] | None, width: int, options: TextOptions
) -> np.ndarray[Any, Any] | None:
    def opener() -> Any:
        return opened(path, options.encoding)

    delimiter, names, header = first_row(opener, path.name)
    if header and fitted is not None:
        if target is None or target not in names or target in fitted:
            return None
        place = names.index(target)
    elif len(names) == width + 1:
        place = len(names) - 1 if target is None else column_named(path.name, names, header, target)
    else:
        return None
    layout = Layout(delimiter, names, header, [place], place, options.decimal)
    kinds, layout = tables.scanned(opener, path.name, layout)
    if cells.GAP in kinds[place]:
        return None
    return tables.labels_of(opener, path.name, layout, kinds)


def _of_parquet(path: Path, target: str | None, fitted: Sequence[str] | None) -> np.ndarray[Any, Any] | None:
    from dualgap.datasets import parquet

    if target is None or target not in parquet.column_names(path) or target in (fitted or ()):
        return None
    values = parquet.columns(path, [target])[0]
    is_missing = (values == "") if values.dtype == object else np.isnan(values)
    return None if is_missing.any() else parquet.labels(path, target)


def kept_columns(text: str, wanted: Sequence[str], options: TextOptions) -> tuple[list[str], list[list[str]]]:
    """The names of some columns of a table, and their cells as they are written."""
    path, kind = Path(text), _kind(text)
    if kind in readers.TABLES:

        def opener() -> Any:
            return opened(path, options.encoding)

        with readers.refusing_damage(path, options.encoding):
            delimiter, names, header = first_row(opener, path.name)
            places = [column_named(path.name, names, header, name) for name in wanted]
            layout = Layout(delimiter, names, header, places, places[-1])
            rows = [[row[place] for place in places] for _, row in records(opener, path.name, layout)]
        return [names[place] for place in places], [list(column) for column in zip(*rows, strict=True)]
    if kind == ".parquet":
        from dualgap.datasets import parquet

        names = parquet.column_names(path)
        chosen = [names[column_named(path.name, names, True, name)] for name in wanted]
        return chosen, [[str(value) for value in column.tolist()] for column in parquet.columns(path, chosen)]
    raise ValueError(f"--keep copies columns of csv and parquet files, and {text!r} is neither; leave it out")
