"""The columns of a working set: a copy by rows where few columns make a small Hessian, and otherwise by columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows
from dualgap.solvers.base import Vector


class WorkingSet(NamedTuple):
    """Some columns of the rows, and products with them."""

    columns: NDArray[np.intp]
    """Their numbers, in rising order."""
    rows: Rows
    """The rows with these columns alone, or these columns as rows."""
    is_by_columns: bool

    @classmethod
    def of(cls, rows: Rows, columns: NDArray[np.intp]) -> WorkingSet:
        if is_large(rows, columns.size):
            return cls(columns, rows.take_columns_as_rows(columns), True)
        return cls(columns, rows.take_columns(columns), False)

    @property
    def size(self) -> int:
        return self.columns.size

    def scores(self, weights: Vector) -> Vector:
        """X w for weights of these columns."""
        return self.rows.combination(weights) if self.is_by_columns else self.rows.scores(weights)

    def combination(self, coefficients: Vector) -> Vector:
        """Xᵀ c on these columns."""
        return self.rows.scores(coefficients) if self.is_by_columns else self.rows.combination(coefficients)


def is_large(rows: Rows, columns: int) -> bool:
    """Whether the Hessian of some columns would take more than half of the values of the rows; if not, steps with it are quicker."""
    return columns**2 > rows.stored // 2
