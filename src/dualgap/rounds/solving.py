"""solve_blocks: the run that belongs to a problem on row blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.problem import BlockProblem, MultinomialBlockProblem
from dualgap.problem.block_base import BaseBlockProblem
from dualgap.result import Result
from dualgap.rounds.one_score import OneScoreRun
from dualgap.rounds.softmax import SoftmaxRun
from dualgap.solvers import AnySolver, Auto, Newton
from dualgap.trace import Record


def solve_blocks(
    problem: BaseBlockProblem,
    chosen: AnySolver | Auto,
    limits: Limits,
    seed: int,
    tell: Callable[[Record], bool],
    interrupt: Interrupt,
    start: tuple[Any, Any] | None = None,
) -> Result:
    """Solve a problem on row blocks to its limits."""
    if not isinstance(chosen, Auto | Newton):
        raise ValueError(
            f"row blocks need solver 'auto' or 'newton', got {chosen.name}; fit a sample in memory with it"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(problem, MultinomialBlockProblem):
            return SoftmaxRun(problem, limits, seed, tell, interrupt).run(start)
        assert isinstance(problem, BlockProblem)
        return OneScoreRun(problem, limits, seed, tell, interrupt).run(start)
