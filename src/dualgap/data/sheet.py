"""Columns of a table before they are numbers: some are numbers with gaps, some are text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Spellings of a missing cell, in lower case.
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-nan"})


def as_cell(value: Any) -> str:
    """A value of a column of text without blanks at its ends; "" for a missing one."""
    cell = "" if value is None else str(value).strip()
    return "" if cell.lower() in MISSING else cell


@dataclass(frozen=True, eq=False)
class Sheet:
    """Named columns of one length: float64 with NaN for missing cells, or text (objects) with "" for them."""

    name: str
    """What a refusal calls the table."""
    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    has_names: bool = True
    """Whether names are the table's own; else they are positions."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.columns[0])

    def is_text(self, place: int) -> bool:
        """Whether a column is text."""
        return self.columns[place].dtype == object

    def taken(self, rows: NDArray[np.intp]) -> Sheet:
        """Some of the rows."""
        return Sheet(self.name, self.names, tuple(column[rows] for column in self.columns), self.has_names)

    def selected(self, places: Sequence[int]) -> Sheet:
        """Some of the columns, in this order."""
        names = tuple(self.names[place] for place in places)
        return Sheet(self.name, names, tuple(self.columns[place] for place in places), self.has_names)
