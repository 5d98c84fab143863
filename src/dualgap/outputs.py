"""Which iterate a run returns: the last one, the mean of those from T₀ = average_from·T on, or one of those at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.problem import BaseProblem
from dualgap.schedule import ROW_ROUNDING
from dualgap.solvers import Answer, AnySolver


class Output:
    """Collects the iterates that a solver's option `output` asks for."""

    def __init__(self, solver: AnySolver, problem: BaseProblem, max_epochs: float) -> None:
        self.solver, self.problem = solver, problem
        self.is_collecting = False
        """Whether iterates count from here on."""
        self.first_row = np.inf if solver.output == "last" else solver.average_from * max_epochs * problem.rows.count
        """Rows touched before the first iterate that counts; infinite for the last iterate."""
        self.candidates = 0
        """Updates since collecting began."""
        self.drawn: Answer | None = None

    def begin_if_due(self, touched: float, state: Any) -> tuple[Any, bool]:
        """The solver's state, and whether collecting begins with it."""
        if self.is_collecting or touched < self.first_row - ROW_ROUNDING:
            return state, False
        self.is_collecting = True
        if self.solver.output == "average":
            state = self.solver.begin_average(self.problem, state)
        return state, True

    def draws(self, updates: int, random: Callable[[], np.random.Generator]) -> list[int]:
        """After which of the next updates the drawn iterate is replaced: reservoir sampling, ahead of time.

        `random` makes the generator, which takes longer than a small plan and is needed for a random output alone.
        """
        if self.solver.output != "random" or not self.is_collecting or updates <= 0:
            return []
        position = self.candidates + np.arange(1, updates + 1)
        is_drawn = random().random(updates) * position < 1.0
        return (np.flatnonzero(is_drawn) + 1).tolist()

    def count(self, updates: int) -> None:
        """Count updates that were made."""
        if self.is_collecting:
            self.candidates += updates

    def draw(self, state: Any) -> None:
        """Keep a copy of the iterate as the drawn one."""
        answer = self.solver.answer(self.problem, state)
        duals = None if answer.duals is None else answer.duals.copy()
        self.drawn = Answer(answer.weights.copy(), np.copy(answer.intercept)[()], duals)

    def answer(self, state: Any) -> Answer:
        """The output at a state; the last iterate before any counts."""
        if self.candidates and self.solver.output == "average":
            return self.solver.average(self.problem, state)
        return self.drawn or self.solver.answer(self.problem, state)
