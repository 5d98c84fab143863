"""Auto: the policy that chooses a solver for a problem and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dualgap.problem import Problem
from dualgap.solvers.base import Solver
from dualgap.solvers.newton import Newton
from dualgap.solvers.sdca import SDCA

if TYPE_CHECKING:
    from dualgap.trace import Record


# Up to so many columns (or rows) the products of a Newton step cost about as much as a few passes over the data.
SMALL_SIDE = 512


@dataclass(frozen=True)
class Auto:
    """Chooses, may switch, and says why; it has no options."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses the solver for the problem and says why"

    def choose(self, problem: Problem, records: Sequence[Record]) -> tuple[Solver, str]:
        """The solver to go on with, given what the records show so far."""
        count, dimension = problem.rows.count, problem.rows.dimension
        side = min(count, dimension)
        if side <= SMALL_SIDE:
            what = "columns" if dimension <= count else "rows"
            return Newton(), f"newton: with {side} {what} a second-order step costs little, on data of any scale"
        return (
            SDCA(),
            f"sdca: {count} × {dimension} is too large for second-order steps, and dual steps need no step size",
        )
