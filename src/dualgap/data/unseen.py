"""Categories that the fit did not see: which, in how many rows, and the one sentence that is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHOWN = 4  # of what a sentence lists


@dataclass(frozen=True)
class Unseen:
    """Cells of one column of text that are none of the fit's categories."""

    column: str
    values: frozenset[str]
    """What they hold; "" for a missing cell."""
    rows: int

    @property
    def sentence(self) -> str:
        """What they are, as a clause."""
        return (
            f"column {self.column} has {some(sorted(repr(value or '(missing)') for value in self.values))} in "
            f"{self.rows:,} row{'' if self.rows == 1 else 's'}, which the fit did not see"
        )

    @property
    def note(self) -> str:
        """The same, and what they became."""
        return f"{self.sentence}: zeros in all columns of {self.column}"


def joined(found: Iterable[Unseen]) -> tuple[Unseen, ...]:
    """One of each column, of what several parts of the rows have."""
    columns: dict[str, Unseen] = {}
    for one in found:
        known = columns.get(one.column, Unseen(one.column, frozenset(), 0))
        columns[one.column] = Unseen(one.column, known.values | one.values, known.rows + one.rows)
    return tuple(columns.values())


def some(values: Sequence[str]) -> str:
    """The first few of a list, and how many more there are."""
    return ", ".join(values[:SHOWN]) + (f" and {len(values) - SHOWN} more" if values[SHOWN:] else "")
