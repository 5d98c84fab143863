"""Comma-separated text as numbers: at full speed where NumPy can read it, else cell by cell, or refused with advice."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualgap.data.sheet import as_cell
from dualgap.datasets import cells
from dualgap.datasets.cells import Kinds
from dualgap.datasets.layout import AS_IT_IS, Layout, Opener, TextOptions, layout_of, records

# What the fast reader of numbers takes; a decimal comma and truth values are read cell by cell.
FAST = (None, ".")


@dataclass(frozen=True)
class Table:
    """The numbers of a csv file, its target column apart."""

    X: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    feature_names: tuple[str, ...] | None
    target: str


def read_table(opener: Opener, name: str, target: str | int | None, options: TextOptions = AS_IT_IS) -> Table:
    """Read once at full speed; only a file that fails is read again, cell by cell, or refused in one sentence."""
    layout = layout_of(opener, name, target, options)
    found = fast_numbers(opener, layout, layout.watched)
    if found is None:
        X, y = _read_slowly(opener, name, layout)
    else:
        X, y = found[:, :-1], found[:, -1]
    if len(y) == 0:
        raise ValueError(f"{name} has a header and no rows")
    names = tuple(layout.names[column] for column in layout.features) if layout.header else None
    return Table(np.ascontiguousarray(X), y.copy(), names, layout.target_text)


def _read_slowly(opener: Opener, name: str, layout: Layout) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Words are welcome in the target alone."""
    kinds, layout = scanned(opener, name, layout)
    _refuse_missing_labels(name, layout, kinds)
    watched = set(layout.features) | ({layout.target} if _is_measured(kinds, layout) else set())
    refuse(name, layout, {column: kinds[column] for column in sorted(watched)})
    labels = labels_of(opener, name, layout, kinds)
    return np.column_stack(columns_of(opener, name, layout, layout.features)), labels


def fast_numbers(opener: Opener, layout: Layout, columns: list[int]) -> np.ndarray[Any, Any] | None:
    """The columns as a matrix of finite numbers; None where NumPy's reader finds anything else."""
    try:
        found = _loaded(opener, layout, columns) if layout.decimal in FAST else None
    except UnicodeDecodeError:
        raise
    except ValueError:
        return None
    return found if found is not None and np.isfinite(found).all() else None


def _loaded(opener: Opener, layout: Layout, columns: list[int]) -> np.ndarray[Any, Any]:
    all_columns = sorted(columns) == list(range(len(layout.names)))
    with opener() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # numpy warns of a file without rows; the caller refuses it
        found = np.loadtxt(
            file,
            delimiter=layout.delimiter,
            skiprows=int(layout.header),
            # With a choice of columns numpy lets rows of any length pass.
            usecols=None if all_columns else columns,
            comments=None,
            quotechar='"',
            ndmin=2,
        )
    if all_columns and found.size:
        if found.shape[1] != len(layout.names):
            raise ValueError("every row has another length than the header")
        return found[:, columns]
    _refuse_other_lengths(opener, layout)
    return found.reshape(-1, len(columns))


def _refuse_other_lengths(opener: Opener, layout: Layout) -> None:
    with opener() as file:
        for line in file:
            if line.count(layout.delimiter) != len(layout.names) - 1 and line.strip():
                raise ValueError("a row has another length, or quotes a delimiter")


def scanned(opener: Opener, name: str, layout: Layout) -> tuple[dict[int, Kinds], Layout]:
    """What the cells of every watched column are, and the layout with the decimal mark that they have."""
    kinds: dict[int, Kinds] = {column: {} for column in layout.watched}
    for line, row in records(opener, name, layout):
        for column, found in kinds.items():
            cells.note(found, row[column].strip(), line)
    mark = layout.decimal or cells.decimal_mark(name, layout.delimiter, kinds.values())
    return kinds, replace(layout, decimal=mark)


def refuse(name: str, layout: Layout, kinds: dict[int, Kinds], may_be_missing: bool = False) -> None:
    """A refusal where one of the columns is no column of numbers."""
    columns = {layout.names[column]: found for column, found in kinds.items()}
    cells.refuse_columns(name, columns, layout.decimal or ".", may_be_missing=may_be_missing)


def columns_of(
    opener: Opener, name: str, layout: Layout, columns: list[int], text: Collection[int] = ()
) -> list[np.ndarray[Any, Any]]:
    """The columns one by one: float64 with NaN for missing cells, those in `text` as text with nothing for them."""
    decimal = layout.decimal or "."
    numbers = {column: array("d") for column in columns if column not in text}
    words: dict[int, list[str]] = {column: [] for column in columns if column in text}
    for _, row in records(opener, name, layout):
        for column, values in numbers.items():
            values.append(cells.number_of(row[column].strip(), decimal))
        for column, texts in words.items():
            texts.append(as_cell(row[column]))
    found: dict[int, np.ndarray[Any, Any]] = {column: np.array(values) for column, values in numbers.items()}
    return [found[column] if column in found else np.array(words[column], dtype=object) for column in columns]


def labels_of(opener: Opener, name: str, layout: Layout, kinds: dict[int, Kinds]) -> np.ndarray[Any, Any]:
    """The target as numbers where it is numbers, else as words; a missing label is refused."""
    target = layout.target
    _refuse_missing_labels(name, layout, kinds)
    if _is_measured(kinds, layout):
        return columns_of(opener, name, layout, [target])[0]
    odd = next((kinds[target][kind] for kind in (cells.GROUPED, cells.COMMA) if kind in kinds[target]), None)
    if odd is not None and cells.is_numeric(kinds[target], ","):
        raise ValueError(
            f"the target of {name} has {odd.cell!r} in line {odd.line}, which is no number; {cells.reading_advice(odd.cell)}"
        )
    labels = _words(opener, name, layout)
    if any("\0" in label for label in labels):
        raise ValueError(f"{name} has a label with a NUL byte, which arrays of text cannot hold; write another label")
    return np.array(labels)


def _refuse_missing_labels(name: str, layout: Layout, kinds: dict[int, Kinds]) -> None:
    if cells.GAP in kinds[layout.target]:
        cells.refuse_missing_labels(name, layout.names[layout.target], kinds[layout.target][cells.GAP])


def _words(opener: Opener, name: str, layout: Layout) -> list[str]:
    """The labels without blanks at their ends; two that differ in these alone are refused, because labels are never merged."""
    first: dict[str, tuple[str, int]] = {}
    labels = []
    for line, row in records(opener, name, layout):
        written = row[layout.target]
        label = written.strip()
        other, where = first.setdefault(label, (written, line))
        if other != written:
            raise ValueError(
                f"{name} has the labels {other!r} in line {where} and {written!r} in line {line}, which differ in blanks "
                "alone; write them one way, or as two words"
            )
        labels.append(label)
    return labels


def _is_measured(kinds: dict[int, Kinds], layout: Layout) -> bool:
    """Whether the target is numbers, infinite ones included, which are refused; True and False are words."""
    numeric = (cells.NUMERIC[layout.decimal or "."] | {cells.INFINITE}) - {cells.TRUE_FALSE}
    return kinds[layout.target].keys() <= numeric
