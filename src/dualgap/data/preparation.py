"""How columns of a table become the numbers of a model: missing cells filled, text one-hot, numbers standardized.

A number x of column j becomes (x − mean_j)/scale_j, a missing one first fill_j. A column of text becomes one column for each
of its categories, 1 where the cell is that category and 0 elsewhere; a missing cell is a category of its own where the
training rows have one, and a category that they do not have is 0 in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.columns import CONSTANT_PART, mean_squares
from dualgap.data.sheet import Sheet
from dualgap.data.unseen import Unseen, some
from dualgap.data.validation import as_rows
from dualgap.memory import refuse_beyond_memory

Vector = NDArray[np.float64]

FILLS: dict[str, Callable[[Vector], Any]] = {"mean": np.nanmean, "median": np.nanmedian}
# A text column with more categories than this, and than half of its rows, names its rows and is no property of them.
MANY_CATEGORIES = 20
ADVICE = "leave columns of many categories out with --drop"


class Prepared(NamedTuple):
    """A matrix of numbers, and the categories that could not be taken as they are."""

    X: Any
    unseen: tuple[Unseen, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each column with categories that the fit did not see."""
        return tuple(one.note for one in self.unseen)


@dataclass(frozen=True, eq=False)
class Preparation:
    """What a fit learned of the columns of its training rows, and how new rows are treated alike."""

    names: tuple[str, ...]
    """Of the columns that it takes; their positions where the table has no names."""
    has_names: bool
    fills: Vector
    """For each column what stands for a missing number; NaN where a missing one is refused."""
    means: Vector
    scales: Vector
    """0 and 1 where a column is text, or is not standardized."""
    categories: Mapping[int, tuple[str, ...]]
    """Of the columns of text, by their places: ascending, "" for a missing cell."""

    def __post_init__(self) -> None:
        count = len(self.names)
        if count < 1 or any(values.shape != (count,) for values in (self.fills, self.means, self.scales)):
            raise ValueError("a preparation needs a fill, a mean and a scale for each of its columns, got others")
        if not (np.isfinite(self.means).all() and np.isfinite(self.scales).all() and (self.scales > 0.0).all()):
            raise ValueError("a preparation needs finite means and finite scales > 0, got others")
        if np.isinf(self.fills).any():
            raise ValueError("a preparation needs finite fills, or none, got others")
        for place, values in self.categories.items():
            if not 0 <= place < count or not values or list(values) != sorted(set(values)):
                raise ValueError(
                    "the categories of a preparation ascend and belong to one of its columns, and here not so"
                )
            if self.means[place] != 0.0 or self.scales[place] != 1.0:
                raise ValueError("a preparation does not standardize columns of text, and here it does")

    @staticmethod
    def fit_sheet(sheet: Sheet, impute: str | None, standardize: bool) -> Preparation:
        """Categories of its text, and of its numbers fills, means and scales."""
        count = len(sheet.names)
        fills, means, scales = np.full(count, np.nan), np.zeros(count), np.ones(count)
        categories = {}
        for place, column in enumerate(sheet.columns):
            if sheet.is_text(place):
                categories[place] = tuple(sorted(set(column.tolist())))
                continue
            if np.isnan(column).all():
                raise ValueError(
                    f"column {sheet.names[place]} of {sheet.name} has no value in the training rows; drop it"
                )
            if impute is not None:
                fills[place] = FILLS[impute](column)
                column = np.where(np.isnan(column), fills[place], column)
            if standardize and not np.isnan(column).any():
                means[place], scales[place] = _mean_and_scale(column, sheet.names[place])
        return Preparation(sheet.names, sheet.has_names, fills, means, scales, categories)

    @staticmethod
    def fit_matrix(X: Any, names: tuple[str, ...] | None) -> Preparation:
        """Means and scales of a matrix without gaps; of a sparse one scales alone, because a mean would fill its zeros."""
        rows = as_rows(X)
        count = rows.dimension
        told = tuple(map(str, range(count))) if names is None else names
        means, scales = np.zeros(count), np.ones(count)
        if rows.is_sparse:
            deviations = np.sqrt(mean_squares(rows, centered=True))
            scales = np.where(deviations > 0.0, deviations, 1.0)
        else:
            for place in range(count):
                column = np.asarray(X[:, place], dtype=np.float64)
                means[place], scales[place] = _mean_and_scale(column, f"{told[place]}")
        return Preparation(told, names is not None, np.full(count, np.nan), means, scales, {})

    @property
    def width(self) -> int:
        """How many columns it makes."""
        return len(self.names) - len(self.categories) + sum(map(len, self.categories.values()))

    @property
    def needs_table(self) -> bool:
        """Whether it takes cells that are no numbers."""
        return bool(self.categories) or self.needs_filling

    @property
    def needs_filling(self) -> bool:
        """Whether it knows what stands for a missing number."""
        return not bool(np.isnan(self.fills).all())

    @property
    def is_standardized(self) -> bool:
        """Whether numbers are centered or scaled."""
        return bool((self.means != 0.0).any() or (self.scales != 1.0).any())

    @property
    def prepared_names(self) -> tuple[str, ...]:
        """Names of the columns that it makes: `job=nurse` for a category of the column job."""
        found: list[str] = []
        for place, name in enumerate(self.names):
            values = self.categories.get(place)
            found += [name] if values is None else [f"{name}={value or '(missing)'}" for value in values]
        return tuple(found)

    def of_matrix(self, X: Any) -> Any:
        """The prepared rows of a matrix of numbers, all columns in place."""
        if not sp.issparse(X):
            X = np.asarray(X, dtype=np.float64)
            # A matrix of another width is refused below.
            gaps = np.isnan(X) if X.ndim == 2 and X.shape[1] == len(self.names) else np.zeros(X.shape, dtype=bool)
            X = np.where(gaps, self.fills, X) if gaps.any() else X
        rows = as_rows(X).of_width(len(self.names))
        matrix = rows.block(slice(0, rows.count))
        if rows.is_sparse:
            if self.means.any():
                return (matrix.toarray() - self.means) / self.scales
            scaled = sp.csr_matrix(matrix, dtype=np.float64, copy=True)
            scaled.data /= self.scales[scaled.indices]
            return scaled
        return (matrix - self.means) / self.scales

    def of_sheet(self, sheet: Sheet, strict: bool = False) -> Prepared:
        """The prepared rows of a sheet with these columns in this order; with `strict` a new category is refused."""
        refuse_beyond_memory(8 * sheet.count * self.width, f"{sheet.count:,} × {self.width:,} numbers", ADVICE)
        X, unseen, at = np.empty((sheet.count, self.width)), list[Unseen](), 0
        for place, column in enumerate(sheet.columns):
            values = self.categories.get(place)
            if values is None:
                X[:, at] = self._numbers(place, column, sheet)
                at += 1
                continue
            block = X[:, at : at + len(values)]
            found = _one_hot(block, column, values, self.names[place])
            if found is not None and strict:
                raise ValueError(
                    f"{sheet.name}: {found.sentence}; fit again with them, or leave --strict out for zeros"
                )
            unseen += [] if found is None else [found]
            at += len(values)
        return Prepared(X, tuple(unseen))

    def _numbers(self, place: int, column: NDArray[Any], sheet: Sheet) -> Vector:
        gaps = np.isnan(column)
        if gaps.any():
            if np.isnan(self.fills[place]):
                raise ValueError(
                    f"column {self.names[place]} of {sheet.name} has {int(gaps.sum())} missing cells, and the fit had no "
                    "--impute; fill them, or fit again with --impute median"
                )
            column = np.where(gaps, self.fills[place], column)
        found: Vector = (column - self.means[place]) / self.scales[place]
        return found


def refuse_names_of_rows(sheet: Sheet, insisted: Collection[str]) -> None:
    """A refusal of text columns that say which row it is, such as names and tickets; those in `insisted` may."""
    found = []
    for place, name in enumerate(sheet.names):
        if sheet.is_text(place) and name not in insisted:
            values = [cell for cell in sheet.columns[place].tolist() if cell]
            different = len(set(values))
            if different > MANY_CATEGORIES and different * 2 > len(values):
                found.append(f"{name} ({different:,} different in {len(values):,} cells)")
    if found:
        first = found[0].rpartition(" (")[0]
        raise ValueError(
            f"{sheet.name} has text that nearly names its rows, in column {some(found)}; leave it out with --drop {first!r}, or "
            f"take it nevertheless with --category {first!r}"
        )


def _mean_and_scale(column: Vector, name: str) -> tuple[float, float]:
    """Mean and deviation; the scale of a constant column is 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variance, size = float(column.mean()), float(column.var()), float(np.square(column).mean())
    if not np.isfinite([mean, variance, size]).all():
        raise ValueError(f"column {name} has values too large to standardize; divide it, or leave --standardize out")
    return mean, float(np.sqrt(variance)) if variance > CONSTANT_PART**2 * size else 1.0


def _one_hot(block: NDArray[np.float64], column: NDArray[Any], values: tuple[str, ...], name: str) -> Unseen | None:
    """Fill the block in place; the cells that are none of the values."""
    block[:] = 0.0
    where = {value: place for place, value in enumerate(values)}
    cells = column.tolist()
    places = np.array([where.get(cell, -1) for cell in cells], dtype=np.intp)
    known = places >= 0
    block[np.flatnonzero(known), places[known]] = 1.0
    if known.all():
        return None
    return Unseen(name, frozenset(cells) - where.keys(), int((~known).sum()))
