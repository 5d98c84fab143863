"""How a csv file is laid out: delimiter, header, the names of its columns, the target, and the columns that are left out."""

from __future__ import annotations

import csv
import difflib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from dualgap.data.sheet import MISSING
from dualgap.data.unseen import some
from dualgap.datasets.cells import is_number

# In the order in which they are tried: a decimal comma looks like a delimiter in files that have another one.
DELIMITERS = "\t;,"
SAMPLED = 50  # records that a delimiter must cut into rows of one length
COUNTING = 5  # more numbers than this that count up by one are names of columns, not measurements

Opener = Callable[[], IO[str]]


@dataclass(frozen=True)
class TextOptions:
    """What a text file does not always say of itself, and the columns that are not wanted."""

    encoding: str | None = None
    """None: UTF-8, or what a byte-order mark says."""
    decimal: str | None = None
    """`.` or `,`; None: found out, and refused where it cannot be."""
    drop: tuple[str, ...] = ()
    """Columns that are neither features nor target, by name or position."""

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"a decimal mark is . or , and not {self.decimal!r}")

    def given(self) -> str | None:
        """The name of an option that only a table of text takes, where one is given."""
        told = {"an encoding": self.encoding, "a decimal mark": self.decimal, "columns to drop": self.drop}
        return next((name for name, value in told.items() if value), None)


AS_IT_IS = TextOptions()


@dataclass(frozen=True)
class Layout:
    """Of a csv file: what is between its cells, its columns, and which of them are features and which the target."""

    delimiter: str
    names: list[str]
    """Of all columns; positions where the file has no header."""
    header: bool
    features: list[int]
    target: int
    decimal: str | None = None

    @property
    def target_text(self) -> str:
        """What chooses the target: its name, or its position where the name stands twice."""
        name = self.names[self.target]
        return name if self.names.count(name) == 1 else str(self.target)

    @property
    def watched(self) -> list[int]:
        """The columns that are read."""
        return [*self.features, self.target]


def layout_of(opener: Opener, name: str, target: str | int | None, options: TextOptions) -> Layout:
    """The layout of a table with a target."""
    delimiter, names, header = first_row(opener, name)
    # pandas writes the row index under an empty first name; it is no measurement.
    skipped = {0} if header and names[0] == "" and len(names) > 2 else set()
    if len(names) - len(skipped) < 2:
        raise ValueError(f"{name} has {len(names) - len(skipped)} column; at least one feature and a target are needed")
    dropped = {column_named(name, names, header, column) for column in options.drop}
    left = [column for column in range(len(names)) if column not in dropped | skipped]
    if len(left) < 2:
        raise ValueError(f"{name} has no feature or no target left beside the dropped columns; drop fewer")
    chosen = left[-1] if target is None else column_named(name, names, header, target)
    if chosen in dropped:
        raise ValueError(f"column {names[chosen]} of {name} is the target and cannot be dropped; drop others")
    features = [column for column in left if column != chosen]
    return Layout(delimiter, names, header, features, chosen, options.decimal)


def first_row(opener: Opener, name: str) -> tuple[str, list[str], bool]:
    """The delimiter, the names of the columns (positions where there is no header), and whether there is a header."""
    with opener() as file:
        first = next((line for line in file if line.strip()), "")
    if not first:
        raise ValueError(f"{name} is empty")
    delimiter = _delimiter(opener, first)
    cells = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    header = is_header(cells)
    return delimiter, cells if header else [str(position) for position in range(len(cells))], header


def _delimiter(opener: Opener, first: str) -> str:
    """The delimiter that cuts the first records into rows of one length; where none does, the most frequent one."""
    for delimiter in DELIMITERS:
        with opener() as file:
            try:
                rows = itertools.islice(filter(None, csv.reader(file, delimiter=delimiter)), SAMPLED)
                widths = {len(row) for row in rows}
            except csv.Error:
                continue
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    return max(reversed(DELIMITERS), key=first.count)


def is_header(cells: Sequence[str]) -> bool:
    """A first row without any number, or one that merely counts its columns, is a header."""
    numbers = [float(cell) for cell in cells if is_number(cell)]
    if not numbers:
        return any(cell.lower() not in MISSING for cell in cells)
    return len(numbers) > COUNTING and numbers[0] in (0, 1) and all(b - a == 1 for a, b in itertools.pairwise(numbers))


def column_named(name: str, names: list[str], header: bool, column: str | int) -> int:
    """The position of a column that is named or counted."""
    if header and str(column) in names:
        return names.index(str(column))
    try:
        position = int(column)
    except ValueError:
        near = difflib.get_close_matches(str(column), names, n=1) if header else []
        hint = f"did you mean {near[0]!r}?" if near else f"its columns are {some(names)}"
        if not header:
            hint = f"it has no header, so give a position from 0 to {len(names) - 1}"
        raise ValueError(f"{name} has no column {column!r}; {hint}") from None
    if not -len(names) <= position < len(names):
        raise ValueError(f"{name} has {len(names)} columns, counted from 0, and no column {position}")
    return position % len(names)


def records(opener: Opener, name: str, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header, each with the number of its last line; a row of another length is refused."""
    width, is_first = len(layout.names), True
    with opener() as file:
        rows = csv.reader(file, delimiter=layout.delimiter)
        for row in filter(None, rows):
            if len(row) != width:
                raise ValueError(f"line {rows.line_num} of {name} has {len(row)} cells where the first has {width}")
            if not (is_first and layout.header):
                yield rows.line_num, row
            is_first = False
