"""SGD: stochastic sub-gradient descent with a step size and a schedule that the caller chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dualgap import kernels
from dualgap.solvers.primal import SCHEDULES, PrimalSolver, Step, StepFacts, first_update


@dataclass(frozen=True, kw_only=True)
class SGD(PrimalSolver):
    """Stochastic sub-gradient descent; schedule is constant, inverse (step/(1 + λ·step·t)) or sqrt (step/√t).

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.SGD(), tol=0.1, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    step: float | None = None
    schedule: str = "inverse"

    name: ClassVar[str] = "sgd"
    summary: ClassVar[str] = "sub-gradient steps whose size and schedule are options"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("schedule", tuple(SCHEDULES))
        self.positive("step")

    def step_for(self, facts: StepFacts) -> Step:
        step = facts.default_step() if self.step is None else float(self.step)
        if self.schedule == "inverse":
            return Step(kernels.primal.INVERSE, first_update(facts.strength, step))
        return Step(getattr(kernels.primal, SCHEDULES[self.schedule]), step)
