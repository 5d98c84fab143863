"""Auto: the policy that chooses a solver for a problem and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dualgap.problem import Problem
from dualgap.solvers.base import Solver
from dualgap.solvers.sdca import SDCA

if TYPE_CHECKING:
    from dualgap.trace import Record


@dataclass(frozen=True)
class Auto:
    """Chooses, may switch, and says why; it has no options."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses the solver for the problem and says why"

    def choose(self, problem: Problem, records: Sequence[Record]) -> tuple[Solver, str]:
        """The solver to go on with, given what the records show so far."""
        return SDCA(), "sdca: exact dual steps need no step size and handle every loss, weights and a free intercept"
