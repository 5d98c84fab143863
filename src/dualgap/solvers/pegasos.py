"""Pegasos: stochastic sub-gradient descent with step 1/(λt), one row or a batch, with or without projection."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from dualgap import kernels
from dualgap.solvers.primal import PrimalSolver, Step, StepFacts, first_update


@dataclass(frozen=True, kw_only=True)
class Pegasos(PrimalSolver):
    """Primal estimated sub-gradient solver (Shalev-Shwartz, Singer, Srebro & Cotter, 2007).

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.Pegasos(), tol=0.1, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    projection: bool = False

    name: ClassVar[str] = "pegasos"
    summary: ClassVar[str] = "sub-gradient steps of size 1/(λt) on one row or a batch"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.projection, bool):
            raise ValueError(f"pegasos needs projection to be true or false, got {self.projection!r}")

    def step_for(self, facts: StepFacts) -> Step:
        # Where the slope is unbounded, as for squares, early steps of 1/λ overflow: t starts late enough to be stable.
        unbounded = not np.isfinite(facts.loss.lipschitz)
        late = facts.loss.smoothness * facts.longest_row / facts.strength if unbounded else 0.0
        # A first step of 1/λ in b takes long to undo, because nothing shrinks b as it shrinks w.
        delay = first_update(facts.strength, facts.default_step()) - late
        return Step(kernels.primal.INVERSE, 1.0 + late, max(delay, 0.0))

    def radius(self, facts: StepFacts) -> float:
        """√(P(0)/λ), which ‖w*‖ never exceeds: at the optimum λ‖w*‖² is the conjugates' mean minus D, at most P(0)."""
        return sqrt(facts.primal_at_zero / facts.strength) if self.projection else 0.0
