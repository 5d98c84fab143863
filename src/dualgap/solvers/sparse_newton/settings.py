"""The numbers that decide how a sparse Newton run goes, each with what it bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Numbers of the working set, of the inner Newton steps, and of the path of γ."""

    least_added: int = 50
    """The fewest columns that enter the working set in a round; with more nonzero weights than that, as many columns enter."""
    inner_part: float = 0.1
    """The inner steps end at an estimated gap of 0.1 times the gap on all columns; more accuracy would fit the wrong columns."""
    inner_steps: int = 12
    """The most Newton steps on one working set."""
    quadratic_part: float = 0.03
    """A quadratic model is solved until its optimality conditions are violated by 0.03 times the violation at the start of the step."""
    gamma_decay: float = 0.2
    """γ of a kinked loss is multiplied by this factor after each round; multipliers bring more than a small γ, with which steps are short."""
    least_gamma: float = 1e-6
    """The smallest γ, divided by the first: below, the rounding of scores divided by γ shows in the duals. Multipliers go on there."""
    damping: float = 1e-10
    """Added to the Hessian's diagonal, as a fraction of its mean: without an L2 part nothing else bounds the Hessian from below."""
    first_floor: float = 0.01
    """The floor of φ″, divided by its largest value, where no row is curved."""
    least_floor: float = 1e-6
    """The smallest floor of φ″, divided by its largest value. A poor step raises the floor, since few rows were curved; a good one lowers it."""
    floor_decay: float = 0.03
    """A good step multiplies the floor by this factor, and a poor one divides it."""
    good_step: float = 0.3
    """The smallest step size that shows that the quadratic model holds."""
    poor_step: float = 0.05
    """A smaller step size shows that the quadratic model does not hold."""


SETTINGS = Settings()
