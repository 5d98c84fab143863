"""The numbers that decide how a sparse Newton run goes, each with what it bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Numbers of the working set, of the inner Newton steps, and of the path of γ."""

    least_added: int = 50
    """Columns that enter the working set at a time, at least; as many as have a weight already, if those are more."""
    inner_part: float = 0.1
    """The inner steps end once they estimate this part of the gap on all columns: less would be spent on the wrong columns."""
    inner_steps: int = 12
    """Newton steps on one working set at most."""
    quadratic_part: float = 0.03
    """A quadratic model is solved until its gradient is off by this part of what it was off at the start of the step."""
    gamma_decay: float = 0.2
    """γ of a kinked loss after each round, as a part of the one before; multipliers bring more than γ does, and a small γ is stiff."""
    least_gamma: float = 1e-6
    """γ stays above this part of the first: below it the rounding of scores, divided by γ, shows in the duals; multipliers go on."""
    damping: float = 1e-10
    """This part of the mean diagonal is added to a Hessian that no L2 part bounds from below."""
    first_floor: float = 0.01
    """Where no row is curved, every φ″ counts as this part of the largest."""
    least_floor: float = 1e-6
    """The smallest floor of φ″ as a part of the largest: it is raised after a poor step, since few rows were curved, and falls after a good one."""
    floor_decay: float = 0.03
    """The floor after a good step, as a part of the one before; a poor one raises it as much."""
    good_step: float = 0.3
    """A step of this size or more shows that the quadratic model holds."""
    poor_step: float = 0.05
    """A step that is cut to less than this shows that it does not."""


SETTINGS = Settings()
