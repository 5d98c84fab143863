"""The numbers that decide how a sparse Newton run goes, each with what it bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Numbers of the working set, of the inner Newton steps, and of the path of γ."""

    least_added: int = 50
    """Columns that enter the working set at a time, at least; as many as have a weight already, if those are more."""
    few_columns: int = 500
    """A working set of at most 500 columns has a dense Hessian, of 2 MB; with more columns the Hessian must have at most half as many values as the rows."""
    strength_decay: float = 0.1
    """λ of a stage divided by λ of the one before; the first stage has 0.1 of the λ that makes all weights zero, the last has the problem's own."""
    stage_gap: float = 0.01
    """A stage before the last one ends at this relative gap."""
    inner_part: float = 0.1
    """The inner steps end once their estimated gap is 0.1 of the gap on all columns: a smaller gap would be reached on the wrong columns."""
    target_part: float = 0.3
    """The inner steps end at 0.3 of the gap to reach, too; the rest is for the other columns and for kinks."""
    inner_steps: int = 12
    """Newton steps on one working set at most."""
    quadratic_part: float = 0.1
    """A quadratic model is solved until its optimality conditions are violated by 0.1 of their violation at the start of the step."""
    gamma_decay: float = 0.2
    """γ after it falls, as a part of the one before; multipliers bring more than γ does, and a small γ is stiff."""
    solved_part: float = 0.3
    """An inner problem is solved once its own gap is 0.3 of the gap that kinks leave; multipliers and γ change only then."""
    slow_part: float = 0.2
    """γ falls where kinks leave more than 0.2 of the gap that they left at the multipliers before."""
    least_gamma: float = 1e-6
    """γ stays above 1e-6 of the first γ: below it the rounding of scores, divided by γ, shows in the duals; multipliers go on."""
    slope_part: float = 0.1
    """A line search ends where the slope is within 0.1 of the slope at the start, or its bracket within 0.1 of its lower end."""
    trials: int = 30
    """Trials of a line search at most."""
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
