"""The table of solvers."""

from __future__ import annotations

from dualgap.solvers.auto import Auto
from dualgap.solvers.base import Answer, Solver
from dualgap.solvers.sdca import SDCA

SOLVERS: dict[str, type[Solver] | type[Auto]] = {solver.name: solver for solver in (SDCA, Auto)}

__all__ = ["SOLVERS", "Answer", "Solver", *(solver.__name__ for solver in SOLVERS.values())]
