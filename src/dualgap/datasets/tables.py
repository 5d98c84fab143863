"""Comma-separated text as numbers: header and target found, text columns and missing cells refused with advice."""

from __future__ import annotations

import csv
import difflib
import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "-nan"}
DELIMITERS = ",;\t"
SHOWN_COLUMNS = 4
COUNTING = 5  # more numbers than this that count up by one are names of columns, not measurements

Opener = Callable[[], IO[str]]


@dataclass(frozen=True)
class Table:
    """The numbers of a csv file, its target column apart."""

    X: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    feature_names: tuple[str, ...] | None
    target: str


@dataclass(frozen=True)
class Layout:
    delimiter: str
    names: list[str]  # of all columns; positions where the file has no header
    header: bool
    features: list[int]
    target: int


def read_table(opener: Opener, name: str, target: str | int | None) -> Table:
    """Read once at full speed; only a file that fails is read again, to say in one sentence what is wrong with it."""
    layout = _layout(opener, name, target)
    try:
        cells = numbers_of(opener, layout, [*layout.features, layout.target])
        X, y = cells[:, :-1], cells[:, -1]
    except ValueError:
        # Text in the target column alone is fine: labels may be words.
        refuse(opener, name, layout, target_may_be_text=True)
        X, y = numbers_of(opener, layout, layout.features), _words(opener, layout)
    if len(y) == 0:
        raise ValueError(f"{name} has a header and no rows")
    if not np.isfinite(X).all() or (y.dtype.kind == "f" and not np.isfinite(y).all()):
        refuse(opener, name, layout, target_may_be_text=False)
    names = tuple(layout.names[column] for column in layout.features) if layout.header else None
    return Table(np.ascontiguousarray(X), y.copy(), names, layout.names[layout.target])


def _layout(opener: Opener, name: str, target: str | int | None) -> Layout:
    with opener() as file:
        first = file.readline()
        while first and not first.strip():
            first = file.readline()
    if not first:
        raise ValueError(f"{name} is empty")
    delimiter = max(DELIMITERS, key=first.count)
    cells = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    header = is_header(cells)
    # pandas writes the row index under an empty first name; it is no measurement.
    skipped = 1 if header and cells[0] == "" and len(cells) > 2 else 0
    names = cells if header else [f"{position}" for position in range(len(cells))]
    if len(cells) - skipped < 2:
        raise ValueError(f"{name} has {len(cells) - skipped} column; at least one feature and a target are needed")
    chosen = target_column(name, names, header, target)
    features = [column for column in range(skipped, len(cells)) if column != chosen]
    return Layout(delimiter, names, header, features, chosen)


def is_header(cells: Sequence[str]) -> bool:
    """A first row without any number, or one that merely counts its columns, is a header."""
    numbers = [float(cell) for cell in cells if _is_number(cell)]
    if not numbers:
        return any(cell.lower() not in MISSING for cell in cells)
    return len(numbers) > COUNTING and numbers[0] in (0, 1) and all(b - a == 1 for a, b in itertools.pairwise(numbers))


def target_column(name: str, names: list[str], header: bool, target: str | int | None) -> int:
    """The position of the target: the last, or the one that is named or counted."""
    if target is None:
        return len(names) - 1
    if header and str(target) in names:
        return names.index(str(target))
    try:
        position = int(target)
    except ValueError:
        near = difflib.get_close_matches(str(target), names, n=1) if header else []
        hint = f"did you mean {near[0]!r}?" if near else f"its columns are {some(names)}"
        if not header:
            hint = f"it has no header, so give a position from 0 to {len(names) - 1}"
        raise ValueError(f"{name} has no column {target!r}; {hint}") from None
    if not -len(names) <= position < len(names):
        raise ValueError(f"{name} has {len(names)} columns, counted from 0, and no column {position}")
    return position % len(names)


def numbers_of(opener: Opener, layout: Layout, columns: list[int]) -> np.ndarray[Any, Any]:
    all_columns = sorted(columns) == list(range(len(layout.names)))
    with opener() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # numpy warns of a file without rows; the caller refuses it
        cells = np.loadtxt(
            file,
            delimiter=layout.delimiter,
            skiprows=int(layout.header),
            # With a choice of columns numpy lets rows of any length pass.
            usecols=None if all_columns else columns,
            comments=None,
            quotechar='"',
            ndmin=2,
        )
    if all_columns and cells.size:
        if cells.shape[1] != len(layout.names):
            raise ValueError("every row has another length than the header")
        return cells[:, columns]
    _refuse_other_lengths(opener, layout)
    return cells


def _refuse_other_lengths(opener: Opener, layout: Layout) -> None:
    with opener() as file:
        for line in file:
            if line.count(layout.delimiter) != len(layout.names) - 1 and line.strip() and '"' not in line:
                raise ValueError("a row has another length")


def _words(opener: Opener, layout: Layout) -> np.ndarray[Any, Any]:
    with opener() as file:
        rows = csv.reader(file, delimiter=layout.delimiter)
        words = [row[layout.target].strip() for row in rows if row]
    return np.array(words[int(layout.header) :])


def refuse(opener: Opener, name: str, layout: Layout, target_may_be_text: bool) -> None:
    """Raise with what keeps the file from being numbers; return where that is the target alone, and it may be text."""
    width, count = len(layout.names), 0
    text: dict[int, list[tuple[int, str]]] = {}
    missing: dict[int, list[int]] = {}
    watched = [*layout.features, layout.target]
    with opener() as file:
        rows = csv.reader(file, delimiter=layout.delimiter)
        for row in (row for row in rows if row):
            if rows.line_num == 1 and layout.header:
                continue
            if len(row) != width:
                raise ValueError(f"line {rows.line_num} of {name} has {len(row)} cells where the first has {width}")
            count += 1
            for column in watched:
                cell = row[column].strip()
                if cell.lower() in MISSING:
                    missing.setdefault(column, []).append(rows.line_num)
                elif not _is_number(cell):
                    text.setdefault(column, []).append((rows.line_num, cell))
    if target_may_be_text and layout.target in text:
        del text[layout.target]
    if text:
        column = min(text)
        line, cell = text[column][0]
        if len(text[column]) * 2 < count:
            raise ValueError(
                f"line {line} of {name} has {cell!r} in column {layout.names[column]}, which is no finite number as "
                "most rows have there; correct it, or leave the row out"
            )
        raise ValueError(
            f"{name} has text in column {some([layout.names[column] for column in sorted(text)])} (for example "
            f"{cell!r} in line {line}); turn it into numbers first, for instance with pandas.get_dummies or "
            "scikit-learn's OneHotEncoder, or leave those columns out"
        )
    if missing:
        columns = some([layout.names[column] for column in sorted(missing)])
        raise ValueError(
            f"{name} has {sum(map(len, missing.values()))} missing cells, in column {columns}, the first in line "
            f"{min(map(min, missing.values()))}; fill them first, for instance with scikit-learn's SimpleImputer, or "
            "leave those rows or columns out"
        )


def _is_number(cell: str) -> bool:
    try:
        finite = math.isfinite(float(cell))
    except ValueError:
        return False
    # Python reads 1_000 as a number, a csv file does not mean it.
    return finite and "_" not in cell


def some(names: Sequence[str]) -> str:
    """The first few of many names."""
    shown = ", ".join(names[:SHOWN_COLUMNS])
    return shown if len(names) <= SHOWN_COLUMNS else f"{shown} and {len(names) - SHOWN_COLUMNS} more"
